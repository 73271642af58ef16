"""`python -m tests.mutants FOLDER ...`: published programs, mutated, against Stan.

Every program below the folders that has data is mutated in several ways; each mutant's log density, gradient and
variables must be Stan's, as in `tests.random_programs`, and where Stan throws no number may come out. Mutants that
differ are written into a folder, with their data. The last line is the count.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.random_programs.program import RandomProgram
from tests.random_programs.trial import WALKED, Verdict, Way, trial, without_stanli

from . import grafts
from .published import programs, text_of

Task = tuple[str, str, dict[str, Any], list[str]]  # name, text, data, seeds


def judged(program: RandomProgram, way: Way, seed: str) -> Verdict:
    """The verdict on a mutant: where stanli differs, what evaluates it statement by statement has the last word."""
    verdict = trial(program, [way], seed)
    if verdict.what == "differs" and verdict.referee == "Stan":
        other = without_stanli(program, [way], seed, "stanli differs")
        if other.referee == WALKED and other.what in ("same", "rejected"):
            return replace(verdict, what="stanli alone differs")
        verdict.reason = f"{other.what} by {other.referee}"
    return verdict


def _serve(send: Connection, task: Task) -> None:
    """Try mutants of one program, and send seed, verdict, what differs, and the text of each."""
    from .mutants import as_program, mutant, way_of

    warnings.simplefilter("ignore")
    _, text, data, seeds = task
    for seed in seeds:
        made = mutant(text, seed)
        if made is None:
            send.send((seed, "none", "", ""))
            continue
        changed, names = made
        send.send((seed, "begun", ", ".join(names), changed))
        way = way_of(seed)
        try:
            verdict = judged(as_program(changed, data), way, seed)
            said = "\n".join([*sum(verdict.found.values(), []), f"{way} by {verdict.referee}", verdict.reason])
            send.send((seed, verdict.what, said, changed))
        except Exception as e:
            send.send((seed, "generator", f"{type(e).__name__}: {e}", changed))


def outcomes(task: Task, limit: float) -> Iterator[tuple[str, str, str, str]]:
    """The fates of a program's mutants; one that takes its process down, or too long, is followed by the next."""
    name, text, data, seeds = task
    while seeds:
        receive, send = multiprocessing.Pipe(False)
        process = multiprocessing.get_context("fork").Process(target=_serve, args=(send, (name, text, data, seeds)))
        process.start()
        send.close()
        begun, what = ("", "", "", ""), ""
        try:
            while seeds and receive.poll(limit):
                found = receive.recv()
                if found[1] == "begun":
                    begun = found
                    continue
                seeds = seeds[1:]
                yield found
            what = "slow"
        except EOFError:
            what = "crashes"
        finally:
            process.kill()
            process.join()
        if seeds:
            yield (seeds[0], what, begun[2], begun[3])
            seeds = seeds[1:]


def _load() -> None:
    """Load what all forks need; none may run JAX before it is forked."""
    for name in ("numpyro.infer.util", "pyro.infer.autoguide", "stanli"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    options.out.mkdir(parents=True, exist_ok=True)
    grafts.DONORS[:] = sorted(p for folder in options.folders for p in folder.rglob("*.stan"))
    _load()
    counts: Counter[str] = Counter()
    for folder in options.folders:
        for path, data in programs(folder, options.bytes):
            text = text_of(path) if re.search(options.only, str(path)) else None
            if text is None:
                continue
            seeds = [f"{path.stem}-{n}" for n in range(options.start, options.start + options.count)]
            for seed, what, said, changed in outcomes((str(path), text, data, seeds), options.limit):
                counts[what] += 1
                if sum(counts.values()) % 100 == 0:
                    print(f"{time.strftime('%H:%M')} {dict(counts)}", flush=True)
                if what not in ("same", "rejected", "none", "unrefereed"):
                    _keep(options.out / seed, what, said, changed, data)
    wrong = sum(counts[w] for w in ("differs", "crashes"))
    print(", ".join(f"{n} {w}" for w, n in counts.most_common()))
    print(f"{sum(counts.values())} mutants, {counts['same']} the same, {wrong} differ")
    return int(wrong > 0)


def _keep(path: Path, what: str, said: str, text: str, data: dict[str, Any]) -> None:
    print(f"{time.strftime('%H:%M')} {path.name}: {what}: {' | '.join(said.splitlines())[:300]}", flush=True)
    if text:
        path.with_name(f"{path.name}.stan").write_text(text)
        path.with_name(f"{path.name}.json").write_text(json.dumps(data))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=10, help="mutants of each program")
    parser.add_argument("--start", type=int, default=0, help="number of the first")
    parser.add_argument("--bytes", type=int, default=20000, help="programs with more data are left out")
    parser.add_argument("--limit", type=float, default=30, help="seconds for one mutant")
    parser.add_argument("--only", default="", help="programs whose path this regular expression finds")
    parser.add_argument("--out", type=Path, default=Path(".mutants"), help="where mutants that differ are written")
    return parser


if __name__ == "__main__":
    sys.exit(main())
