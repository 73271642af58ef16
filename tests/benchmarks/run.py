"""All benchmarks, one after the other: python tests/benchmarks/run.py

They write nothing and print tables. Those against Stan are skipped where STANIMPORT_BENCH_PYSTAN names no interpreter
with PyStan; stan_gradients.py says what else it needs. Each script can be run alone and says in its first lines what it
measures.
"""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = ("gradients", "scaling", "sampling", "stan_gradients", "densities", "translation")


def main() -> int:
    """The number of scripts that failed."""
    failed = 0
    for name in SCRIPTS:
        print(f"\n## {name}\n", flush=True)
        failed += bool(subprocess.run([sys.executable, str(Path(__file__).parent / f"{name}.py")]).returncode)
    return failed


if __name__ == "__main__":
    sys.exit(main())
