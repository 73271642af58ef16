"""Random small programs against the sum over all joint assignments: python -m tests.discrete --count 1000 --first 0"""
from __future__ import annotations

import argparse
import sys

from tests.discrete.trial import trial


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    wrong = 0
    for seed in range(given.first, given.first + given.count):
        found = trial(seed)
        if found:
            wrong += 1
            print(f"{seed}: {found}", flush=True)
    print(f"{given.count} programs, {wrong} differences")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
