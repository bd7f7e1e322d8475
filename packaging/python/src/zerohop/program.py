"""The program that this package starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from zerohop.error import Error

Word = str | os.PathLike[str]


def program() -> Path:
    """The program zerohop: the one that was installed with this package, else the one on the PATH.

    Raises FileNotFoundError if there is none.
    """
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))]
    for folder in [*folders, None]:
        found = shutil.which("zerohop", path=folder)
        if found:
            return Path(found)
    raise FileNotFoundError("there is no program zerohop, neither beside this Python nor on the PATH")


def run(*arguments: Word) -> str:
    """Runs any command of zerohop, as in `run("index", "ref.fa")`, and returns what it prints on standard output.

    Raises Error if it fails. If an exception ends the waiting (KeyboardInterrupt, or SystemExit of a handler of
    SIGTERM), the program is told to end, and takes its unfinished files away. A signal that ends Python without an
    exception does not reach the program.
    """
    return start([str(program()), *(os.fspath(argument) for argument in arguments)])


def start(command: Sequence[str]) -> str:
    """Runs a command to its end."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, encoding="utf-8",
                          errors="replace") as process:
        try:
            printed, said = process.communicate()
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode != 0:
        raise Error(process.returncode, message(said, process.returncode), command)
    return printed


def message(said: str, exit_code: int) -> str:
    """What the program said of its failure."""
    words = said.strip()
    if not words:
        return f"zerohop was ended by signal {-exit_code}" if exit_code < 0 else "zerohop said nothing"
    return words[len("error: "):] if words.startswith("error: ") else words
