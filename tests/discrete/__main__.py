"""Random small programs against the sum over all joint assignments: python -m tests.discrete --count 1000 --first 0"""
from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.discrete.trial import Skipped, trial


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    wrong, skipped = 0, Counter[str]()
    for seed in range(given.first, given.first + given.count):
        try:
            found = trial(seed)
        except Skipped as e:
            skipped[str(e)] += 1
            continue
        if found:
            wrong += 1
            print(f"{seed}: {found}", flush=True)
    compared = given.count - skipped.total()
    reasons = "; ".join(f"{n} {reason}" for reason, n in skipped.items())
    print(f"{compared} programs compared, {wrong} differences; {skipped.total()} skipped: {reasons or 'none'}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
