"""The shell: `stanimport COMMAND ...`, also `python -m stanimport COMMAND ...`."""
from __future__ import annotations

import gc
import io
import os
import sys
import threading
from collections.abc import Sequence
from typing import TextIO

from . import commands, deferred
from .commands import parsing
from .errors import SettingError, StanError, nearest

INTERRUPTED = 130
CLOSED_PIPE = 141  # as of programs that the system ends then
UNCOLLECTED = 10.0  # seconds: most commands are done by then


def shell() -> int:
    """The command in a process of its own, which ends with it.

    Searching for cycles among what JAX allocates while it is imported, and once more at the end, takes a fifth of the
    time of a short command, and finds nothing: it begins when the process is older, and leaves out what it ends with.
    """
    gc.disable()
    later = threading.Timer(UNCOLLECTED, gc.enable)
    later.daemon = True
    later.start()
    deferred.begin()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":  # as the standard error does it
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = main()
    finally:
        later.cancel()
        gc.freeze()
    code = _flushed(sys.stdout) or code
    _flushed(sys.stderr)
    if code == INTERRUPTED:  # who interrupts does not wait for what XLA is compiling, as Python would at its end
        os._exit(code)
    return code


def _flushed(stream: TextIO | None) -> int:
    """0 when all that was printed is written; else the exit code: Python would try again at its end, and print why."""
    if stream is None or stream.closed:  # before the command began, or by it, as by the language server
        return 0
    try:
        stream.flush()
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(e, BrokenPipeError):
            return CLOSED_PIPE
        print(f"the output can't be written: {e.strerror}", file=sys.stderr)
        return 1
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code.

    0: done; 1: a program, data or a file that is wrong; 2: an unknown command or option; 130: interrupted; 141: nobody
    reads the output any more.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help") or given == ["help"]:
        print(_usage())
        return 0 if given else 2
    if given[0] == "help":
        return _run(given[1], ["--help"])
    if given[0] == "--version":
        from . import __version__

        print(f"stanimport {__version__}")
        return 0
    return _run(given[0], given[1:])


def _run(name: str, arguments: Sequence[str]) -> int:
    """The exit code of a command, whose errors are printed; an unknown name ends with the nearest as a hint."""
    if name not in commands.COMMANDS:
        similar = nearest(name, commands.COMMANDS, 0.5)
        hint = f"did you mean {similar}?" if similar else "see stanimport --help"
        parsing.exit_with(f"there is no command {name!r}; {hint}")
    options = commands.parser_of(name, parsing.Parser).parse_args(arguments)
    try:
        code: int = options.run(options)
    except StanError as e:
        told = () if isinstance(e, SyntaxError) else getattr(e, "__notes__", ())  # a program's error prints its notes
        print(e if str(e) else repr(e), *told, sep="\n", file=sys.stderr)
        return 1
    except SettingError as e:
        parsing.exit_with(str(e))
    except BrokenPipeError:  # as `| head` leaves it when it has seen enough
        return CLOSED_PIPE
    except OSError as e:
        parsing.tell(e)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _usage() -> str:
    width = max(map(len, commands.COMMANDS))
    lines = [f"  {name:{width}}  {text}" for name, text in commands.COMMANDS.items()]
    return "\n".join([
        "usage: stanimport COMMAND ...", "", "Stan models as Python modules.", "", "commands:", *lines, "",
        "stanimport COMMAND --help tells the options of a command, with examples.",
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(shell())
