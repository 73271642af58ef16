"""Times of translation and import: python tests/benchmarks/translation.py [FOLDER ...]

Prints the translation time of every program in models/ without a cache (of all programs below the folders given, such
as a checkout of posteriordb: median and longest), the memory that it took, the cost of importing a cached program over
that of an equal Python file, and of `import stanimport`. Each time is the least processor time of several runs.
"""
from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))


def best(run, repeats: int = 5) -> float:
    """The least processor time of several runs, in milliseconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def in_a_fresh_process(statement: str, repeats: int = 7) -> float:
    """The least time of a statement in a new interpreter, its start not counted."""
    code = f"import sys, time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeats)]
    return 1e3 * min(float(r.stdout.split()[-1]) for r in runs)


def translation() -> None:
    import stanimport

    first = time.process_time()
    files = sorted((ROOT / "models").glob("*.stan"))
    stanimport.translate(files[0])
    print(f"first translation in a process (loads PLY and the library): {1e3 * (time.process_time() - first):.0f} ms")
    times = {f.stem: best(lambda f=f: stanimport.translate(f)) for f in files}
    for name, ms in times.items():
        print(f"  {name:28} {ms:7.1f} ms")
    print(f"translation: median {statistics.median(times.values()):.1f} ms, longest {max(times.values()):.1f} ms")


def corpus(folder: Path) -> None:
    """The programs of a folder; those that are refused are counted."""
    import stanimport

    times, refused = {}, 0
    for f in sorted(folder.rglob("*.stan")):
        try:
            times[f.stem] = best(lambda f=f: stanimport.translate(f), repeats=3)
        except stanimport.StanError:
            refused += 1
    longest = max(times, key=times.__getitem__)
    print(f"{folder.name}: {len(times)} programs, {refused} refused")
    print(f"  median {statistics.median(times.values()):.1f} ms, longest {times[longest]:.1f} ms ({longest})")


def memory() -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"memory: at most {peak:.0f} MB")


def cached_import() -> None:
    program = "parameters { real mu; } model { mu ~ normal(0, 1); }\n"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "stan_program.stan").write_text(program)
        (Path(folder) / "python_program.py").write_text("def model():\n    pass\n")
        path = f"import sys; sys.dont_write_bytecode = False; sys.path.insert(0, {folder!r})"
        setup = f"{path}; import stanimport, stanlib.backend"
        for module in ("stan_program", "python_program"):
            subprocess.run([sys.executable, "-c", f"{setup}; import {module}"], check=True)
        timed = "t = time.process_time(); import {m}"
        stan, python = (in_a_fresh_process(f"{setup}; {timed.format(m=m)}") for m in ("stan_program", "python_program"))
    print(f"cached import: {stan:.1f} ms, of an equal .py {python:.1f} ms: {stan - python:.1f} ms more")


def package_import() -> None:
    print(f"import stanimport: {in_a_fresh_process('import stanimport'):.1f} ms")


if __name__ == "__main__":
    translation()
    for given in sys.argv[1:]:
        corpus(Path(given))
    memory()
    cached_import()
    package_import()
