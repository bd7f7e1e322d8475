"""What a failed run of the program becomes."""

from __future__ import annotations

from collections.abc import Sequence


class Error(RuntimeError):
    """The program failed.

    exit_code: 1 is a failure, 2 wrong usage; -N where signal N ended the program
    message: what the program said on standard error, without the word "error"
    command: its command, word by word
    """

    def __init__(self, exit_code: int, message: str, command: Sequence[str]) -> None:
        # all of them, so that pickle can make it anew in another process
        super().__init__(exit_code, message, command)
        self.exit_code = exit_code
        self.message = message
        self.command = list(command)

    def __str__(self) -> str:
        return f"{self.message} (exit status {self.exit_code} of zerohop)"
