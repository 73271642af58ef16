"""Random programs against the sum over all joint assignments: python -m tests.discrete --count 1000 --first 0

With --histories they are about chains that are longer, and the ways to sum that these take are counted. With --asked
fits are asked for draws, marginal probabilities and most probable values.
"""
from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable

from tests.discrete import asked, long, mechanisms, trial


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--histories", action="store_true")
    kinds.add_argument("--asked", action="store_true")
    given = parser.parse_args()
    used = Counter[str]()
    run: Callable[[int], str] = asked.trial if given.asked else trial.trial
    if given.histories:
        run = lambda seed: long.trial(seed, used)
    wrong, skipped = 0, Counter[str]()
    for seed in range(given.first, given.first + given.count):
        try:
            found = run(seed)
        except trial.Skipped as e:
            skipped[str(e)] += 1
            continue
        if found:
            wrong += 1
            print(f"{seed}: {found}", flush=True)
    compared = given.count - skipped.total()
    reasons = "; ".join(f"{n} {reason}" for reason, n in skipped.items())
    if given.histories:
        print(", ".join(f"{name} {used[name]}" for name in mechanisms.ALL))
        print(f"never used: {', '.join(n for n in mechanisms.ALL if not used[n]) or 'none'}")
    print(f"{compared} programs compared, {wrong} differences; {skipped.total()} skipped: {reasons or 'none'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
