"""Processes that try programs, so that one which hangs or takes the process down is counted and no more."""

from __future__ import annotations

import multiprocessing
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .choices import Choices
    from .program import RandomProgram

LIFE = 300  # programs that one process tries: compiled code stays in its memory
SECONDS = 600.0  # Stan's compiler takes minutes where others compute
# one of our translations by lot, all of them, one of programs whose indices may be out of range, one of programs
# that stanli can't run, by Stan's own compiler, the density in blocks of a few rows, of programs that can be divided,
# or a few of programs that are dense nests of loops, or compositions of what is seldom together
MODES = ("quick", "thorough", "rejections", "compiled", "blocks", "nests", "compositions")


@dataclass
class Found:
    """The fate of a program of a seed: `kind` groups those that went wrong alike, `way` is the translation tried,
    `referee` who decided.
    """

    number: int
    what: str
    kind: str = ""
    way: str = ""
    report: str = ""
    referee: str = ""


def kind_of(way: str, wrong: Sequence[str]) -> str:
    """What a difference is called, without its numbers and names."""
    text = (
        re.sub(r"'[^']*'|\"[^\"]*\"", "'_'", wrong[0]) if wrong[0].startswith("raised") else wrong[0].partition(":")[0]
    )
    return f"{way.partition(',')[0]} {re.sub(r'[0-9][0-9.e+-]*|of [A-Za-z]+.*', '#', text)[:120]}"


def tried(seed: int, number: int, mode: str, wanted: tuple[str, ...] = (), crashed: bool = False) -> Found:
    """One program on trial, by number, with the wanted features; see MODES."""
    from .choices import numbered
    from .referee import compiled, ours
    from .trial import judged, ways_of, without_stanli

    name = f"{seed}-{number}"
    made = maker(mode, wanted)(numbered(seed, number))
    if mode == "compiled" and not made.features & {"tuples", "complex"}:
        return Found(number, "left out")
    ways = ways_of(name, mode)
    if mode == "blocks" and not ours.is_divided(made.text, made.data, ways[0].scheme):
        return Found(number, "left out")
    arbiter = "at once" if mode == "compiled" else "at last" if compiled.is_installed() else "never"
    crash = without_stanli(made, ways, name, "stanli crashes", arbiter) if crashed else None
    verdict = crash or judged(made, ways, name, mode, arbiter)
    if verdict.what != "differs":
        return Found(number, verdict.what, "", str(ways[0]) if len(ways) == 1 else mode, verdict.reason[:300],
                     verdict.referee)  # fmt: skip
    way, wrong = next(iter(verdict.found.items()))
    report = "\n".join(f"// {w}: {line}" for w, lines in verdict.found.items() for line in lines)
    return Found(number, "differs", kind_of(way, wrong), way, f"// by {verdict.referee}\n{report}",
                 verdict.referee)  # fmt: skip


def maker(mode: str, wanted: tuple[str, ...]) -> Callable[["Choices"], "RandomProgram"]:
    """What makes the programs of a mode of their choices."""
    from . import compositions, nests
    from .program import program

    if mode == "compositions":
        return partial(compositions.program, wanted=wanted)
    if mode == "nests":
        return nests.program
    return partial(program, wild=mode == "rejections", wanted=wanted)


def shrink(
    seed: int, number: int, mode: str, wanted: tuple[str, ...], kind: str, way: str, seconds: float
) -> tuple[str, dict[str, Any]]:
    """The text and data of the smallest program found that goes wrong alike in one translation."""
    from .choices import Choices, numbered
    from .shrinking import shrunk
    from .trial import PLAIN, THOROUGH, judged, ways_of

    name = f"{seed}-{number}"
    chosen = [next(w for w in [*ways_of(name, mode), *THOROUGH] if str(w) == way)]
    make, choices = maker(mode, wanted), numbered(seed, number)
    plain_is_right = not judged(make(choices), [PLAIN], name, mode).found

    def wrong(p: "RandomProgram") -> bool:
        found = judged(p, chosen, name, mode).found
        alike = any(kind_of(w, d) == kind for w, d in found.items())
        return alike and not (plain_is_right and judged(p, [PLAIN], name, mode).found)

    small = make(Choices(given=shrunk(choices.taken, wrong, seconds, make).taken))
    return small.text, small.data


def _serve(connection: Connection) -> None:
    """Answer tasks until the other end closes."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    while True:
        try:
            task, arguments = connection.recv()
        except EOFError:
            return
        try:
            connection.send({"try": tried, "shrink": shrink}[task](*arguments))
        except Exception as e:
            connection.send(e)


class Worker:
    """A process with one task at a time."""

    def __init__(self) -> None:
        self.connection, theirs = multiprocessing.get_context("spawn").Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.tasks = 0

    def ask(self, task: str, *arguments: Any) -> None:
        self.tasks += 1
        self.connection.send((task, arguments))

    def answer(self, seconds: float) -> Any:
        """The answer; TimeoutError or EOFError if there is none."""
        if not self.connection.poll(seconds):
            raise TimeoutError
        answer = self.connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def run(seed: int, numbers: Sequence[int], jobs: int, mode: str, wanted: tuple[str, ...] = ()) -> Iterator[Found]:
    """The fates of programs, as they come."""
    left = iter(numbers)
    busy: dict[Worker, int] = {}
    crashed: set[int] = set()  # those that took the process down, which are tried without stanli then
    for worker in [Worker() for _ in range(jobs)]:
        _next(worker, left, busy, seed, mode, wanted)
    try:
        while busy:
            ready = wait([w.connection for w in busy], timeout=SECONDS)
            done = [w for w in busy if w.connection in ready] or list(busy)
            for worker in done:
                number = busy.pop(worker)
                found = _answer(worker, number)
                if found.what == "crashes" and number not in crashed:
                    crashed.add(number)
                    worker = Worker()
                    busy[worker] = number
                    worker.ask("try", seed, number, mode, wanted, True)
                    continue
                yield found
                alive = worker.tasks < LIFE and worker.process.is_alive()
                if not alive:
                    worker.end()
                    worker = Worker()
                _next(worker, left, busy, seed, mode, wanted)
    finally:
        for worker in busy:
            worker.end()


def _next(
    worker: Worker, left: Iterator[int], busy: dict[Worker, int], seed: int, mode: str, wanted: tuple[str, ...]
) -> None:
    number = next(left, None)
    if number is None:
        worker.end()
        return
    busy[worker] = number
    worker.ask("try", seed, number, mode, wanted)


def _answer(worker: Worker, number: int) -> Found:
    try:
        found = worker.answer(0)
        assert isinstance(found, Found)
        return found
    except TimeoutError:
        worker.end()
        return Found(number, "hangs", "hangs")
    except (EOFError, ConnectionError):
        worker.end()
        return Found(number, "crashes", "crashes")
    except Exception as e:
        return Found(number, "generator", f"generator {type(e).__name__}: {e}")
