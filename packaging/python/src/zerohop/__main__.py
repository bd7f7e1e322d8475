"""`python -m zerohop`: the program, also where its folder is not on the PATH."""

import os
import sys

from zerohop.program import program

path = str(program())
os.execv(path, [path, *sys.argv[1:]])
