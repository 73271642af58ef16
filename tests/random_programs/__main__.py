"""`python -m tests.random_programs --count 100000 --seed 1 --jobs 2`: random programs against Stan.

What is done is kept in the folder, so that the same command goes on where it was stopped. Programs that differ are
written there, shrunk, a few of each kind.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path

from .compositions import TOPICS
from .program import FEATURES
from .workers import MODES, Found, Worker, run

EACH = 2  # programs that are shrunk of one kind


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    folder = options.folder or Path(".random_programs")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = tuple(sorted(options.features))
    journal = folder / f"seed-{'-'.join([str(options.seed), options.mode, *wanted])}.jsonl"
    done = _read(journal)
    numbers = [n for n in range(options.start, options.start + options.count) if n not in done]
    begun = time.monotonic()
    with journal.open("a") as file:
        for found in run(options.seed, numbers, options.jobs, options.mode, wanted):
            done[found.number] = found
            file.write(json.dumps(vars(found)) + "\n")
            file.flush()
            _tell(found, len(done), begun)
    tried = [done[n] for n in range(options.start, options.start + options.count) if n in done]
    if options.shrink:
        _shrink(tried, options.seed, options.mode, wanted, folder, options.shrink)
    return _conclude(tried)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first program")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--mode", choices=MODES, default="quick", help="what is tried")
    parser.add_argument("--features", nargs="*", choices=[*FEATURES, *TOPICS], default=(),
                        help="what every program may contain, or what compositions are about")  # fmt: skip
    parser.add_argument("--folder", type=Path, help="where results are kept; .random_programs if not given")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds for making one program smaller; 0: don't")
    return parser


def _read(journal: Path) -> dict[int, Found]:
    """What an earlier run of the same seed found; a last line that was cut off is done again."""
    out: dict[int, Found] = {}
    for line in journal.read_text().splitlines() if journal.exists() else []:
        try:
            found = Found(**json.loads(line))
        except ValueError:
            continue
        out[found.number] = found
    return out


WRONG = ("differs", "hangs", "crashes", "refused", "generator")


def _tell(found: Found, count: int, begun: float) -> None:
    if found.what in WRONG:
        print(f"{found.number}: {found.what}: {found.kind or found.report}", flush=True)
    elif count % 100 == 0:
        print(f"{count} programs, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


def _shrink(
    found: list[Found], seed: int, mode: str, wanted: tuple[str, ...], folder: Path, seconds: float
) -> None:
    """Write programs that differ, a few of each kind."""
    counts: Counter[str] = Counter()
    for one in (f for f in found if f.what == "differs"):
        counts[one.kind] += 1
        path = folder / f"{seed}-{one.number}.stan"
        if counts[one.kind] > EACH or path.exists():
            continue
        worker = Worker()
        try:
            worker.ask("shrink", seed, one.number, mode, wanted, one.kind, one.way, seconds)
            text, data = worker.answer(3 * seconds + 60)
        except (TimeoutError, EOFError):
            continue
        finally:
            worker.end()
        path.write_text(f"// {one.kind}\n{one.report}\n{text}")
        path.with_suffix(".json").write_text(json.dumps(data) + "\n")


def _conclude(found: list[Found]) -> int:
    what, kinds = Counter(f.what for f in found), Counter(f.kind for f in found if f.what in WRONG)
    for kind, count in kinds.most_common():
        print(f"{count:6} {kind}")
    print(", ".join(f"{n} {w}" for w, n in Counter(_kind_of_way(f) for f in found if f.way).most_common()))
    print(", ".join(f"{n} {w}" for w, n in what.most_common()))
    print("by " + ", ".join(f"{r} {n}" for r, n in Counter(f.referee for f in found if f.referee).most_common()))
    reasons = Counter(_reason(f.report) for f in found if f.what == "unrefereed")
    if reasons:
        print("unrefereed: " + "; ".join(f"{n} {r}" for r, n in reasons.most_common()))
    wrong = sum(what[w] for w in WRONG)
    print(f"{len(found)} programs, {wrong} differ")
    return 1 if wrong else 0


REASONS = {  # why stanli does not run a program, by what its messages hold
    "tuples": ("STuple", "malformed sized", "malformed unsized"),
    "complex numbers": ("SComplex", "get_real", "get_imag", "to_complex"),
    "conditions and loops that parameters decide": ("runtime-control", "contradicts lowered dependencies"),
    "integers of the model": ("int argument must be int data", "int size", "size expression"),
    "functions it lacks": ("unsupported function",), "transforms it lacks": ("unsupported parameter transform",),
    "it crashes": ("stanli crashes",), "it contradicts itself": ("contradicts itself",),
    "no variables, where Stan may throw": ("computes no variables",),
}


def _reason(report: str) -> str:
    """The class of a reason; a message of none as it is, without its numbers."""
    known = (name for name, parts in REASONS.items() if any(p in report for p in parts))
    return next(known, re.sub(r"[0-9]+", "#", report.partition(" | ")[0])[:60])


def _kind_of_way(found: Found) -> str:
    """The translation that was tried, but for which pass was left out."""
    backend, *rest = found.way.split(", ")
    return " ".join([backend, *("one pass left out" if r.startswith("without") else r for r in rest)])


if __name__ == "__main__":
    sys.exit(main())
