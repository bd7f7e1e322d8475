"""What is wrong becomes an exception, and leaves nothing behind."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import zerohop


def test_a_failure(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(zerohop.Error) as failure:
        zerohop.align(reference, tmp_path / "nowhere.fq", out=tmp_path / "out.bam")
    assert failure.value.exit_code == 1
    assert failure.value.message.startswith(f"{tmp_path}/nowhere.fq: cannot open")
    assert failure.value.command[:2] == [str(zerohop.program()), "align"]
    assert failure.value.message in str(failure.value)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_is_named(reference: Path, tmp_path: Path) -> None:
    reads = tmp_path / "reads.fq"
    reads.write_text("@first\nACGT\n+\nIIII\n@second\nACGT\n+\nIII\n")
    with pytest.raises(zerohop.Error, match="reads.fq: record 2 .*'second'"):
        zerohop.align(reference, reads, out=tmp_path / "out.bam")
    assert list(tmp_path.iterdir()) == [reads]


def test_wrong_usage(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    with pytest.raises(zerohop.Error, match="--no-such-option") as failure:
        zerohop.align(reference, *reads, out=tmp_path / "out.bam", options=["--no-such-option"])
    assert failure.value.exit_code == 2


def test_an_error_goes_to_other_processes() -> None:
    error = zerohop.Error(1, "what", ["zerohop", "align"])
    again = pickle.loads(pickle.dumps(error))
    assert (again.exit_code, again.message, again.command) == (1, "what", ["zerohop", "align"])


def test_names_that_begin_with_a_dash(
    reference: Path, reads: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(zerohop.Error, match="^-nowhere.fq: cannot open"):
        zerohop.align(reference, "-nowhere.fq", out="out.bam")
    zerohop.align(reference, *reads, out="-o.bam", json="-run.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["-o.bam", "-run.json"]


def test_options_are_words(reference: Path, reads: list[Path], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"as in \['--sort', '--mark-duplicates'\]"):
        zerohop.align(reference, *reads, out=tmp_path / "out.bam", options="--sort --mark-duplicates")
    assert list(tmp_path.iterdir()) == []


def test_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sysconfig.get_path", lambda *_: "/nowhere")
    with pytest.raises(FileNotFoundError, match="no program zerohop"):
        zerohop.program()


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for text in ('{"run": 1}', "[]", "what"):
        file.write_text(text)
        with pytest.raises(ValueError):
            zerohop.load(file)
    file.write_text('{"schema_version": 99, "run": {}, "figures": {}}')
    with pytest.raises(ValueError, match="version 99"):
        zerohop.load(file)


#: What docs/python.md tells those to do whose Python is ended by SIGTERM.
HANDLER = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))"


def test_the_documented_handler_is_tested() -> None:
    assert HANDLER in (Path(__file__).parents[3] / "docs" / "python.md").read_text()


@pytest.mark.parametrize("name, handler, status", [("SIGINT", "", -2), ("SIGTERM", HANDLER, 143)])
def test_an_interrupt_ends_the_program(name: str, handler: str, status: int, reference: Path, tmp_path: Path) -> None:
    """Whoever interrupts a notebook sends the signal to Python alone; so do many who end a service."""
    pipe, out = tmp_path / "reads.fq", tmp_path / "out" / "out.sam"
    out.parent.mkdir()
    os.mkfifo(pipe)
    words = f"import signal, sys, zerohop; {handler}\nzerohop.align(sys.argv[1], sys.argv[2], out=sys.argv[3])"
    python = subprocess.Popen([sys.executable, "-c", words, reference, pipe, out], start_new_session=True,
                              stderr=subprocess.PIPE)
    # the program opens the pipe to read: then it runs
    with open(pipe, "wb"):
        time.sleep(0.1)
        python.send_signal(signal.Signals[name])
        said = python.communicate(timeout=60)[1]
    assert python.returncode == status, said
    with pytest.raises(ProcessLookupError):
        os.killpg(python.pid, 0)
    assert list(out.parent.iterdir()) == []
