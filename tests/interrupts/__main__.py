"""python -m tests.interrupts: see moments.py."""
from __future__ import annotations

import argparse
import sys
from collections import Counter

from .moments import at_random


def main() -> int:
    parser = argparse.ArgumentParser(description="Interrupt runs at random moments.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=1000)
    options = parser.parse_args()
    phases, slowest, wrong = Counter[str](), 0.0, 0
    for outcome in at_random(options.count, options.seed, options.iterations):
        phases[outcome.phase] += 1
        slowest = max(slowest, outcome.seconds)
        if outcome.wrong:
            wrong += 1
            print(f"after {outcome.after:.3f} s, {outcome.phase}: {outcome.wrong}", flush=True)
    told = ", ".join(f"{n} {phase}" for phase, n in phases.items())
    print(f"{options.count} interrupts, {wrong} wrong; the slowest end took {slowest:.2f} s; {told}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
