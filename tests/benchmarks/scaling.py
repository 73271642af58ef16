"""How the gradients of models grow with the data: python tests/benchmarks/scaling.py [--largest 10000000]

Independent observations (logistic_regression_loop), parameters by group (hierarchical_index, five or ten observations
to a group, or ten on average, of which some groups have thousands; data of groups one after the other, which a counter
goes through; vectors of slopes with a covariance), and recurrences (garch11, and one that begins anew with each group,
where data tell). A line shows the
microseconds of one gradient and the nanoseconds per row, in processor time of one core, the seconds to plan, trace and
compile it, the data in MB, and what the process takes in memory beside them at most. Each line is measured in a process
of its own, in double precision, as inference compiles. With --plain nothing is computed in blocks.

`--stan` measures Stan's own gradients beside them, at 100,000 and 1,000,000 observations; it needs PyStan and a C++
compiler, as stan_gradients.py tells, which takes about a minute for each model.

`--threads 2` compares the wall time of a gradient with that of one thread instead, in turns; it needs as many cores
that do nothing else. Where there are none, the ratio of processor times tells what dividing the work costs.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "models")]

import numpy as np  # noqa: E402


def grouped(n: int, each: int = 5, is_even: bool = True) -> dict[str, Any]:
    """Weights of rats, each weighed at so many times, in random order; or some very often, most less."""
    rng = np.random.default_rng(1)
    rats = n // each
    shares = np.full(rats, 1.0) if is_even else rng.pareto(1.2, rats) + 0.1
    counts = np.full(rats, each) if is_even else rng.multinomial(n, shares / shares.sum())
    rat = rng.permutation(np.repeat(np.arange(1, rats + 1), counts))
    age = rng.choice([8.0, 15.0, 22.0, 29.0, 36.0], n)
    weight = rng.normal(240, 15, rats)[rat - 1] + rng.normal(6, 0.5, rats)[rat - 1] * (age - 22) + rng.normal(0, 6, n)
    return dict(rats=rats, N=n, rat=rat, age=age, weight=weight)


def independent(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n, 3))
    y = (rng.random(n) < 1 / (1 + np.exp(-0.5 - x @ np.array([1.0, -0.5, 0.2])))).astype(np.int64)
    return dict(N=n, K=3, x=x, y=y)


def recurrence(n: int) -> dict[str, Any]:
    return dict(T=n, returns=np.random.default_rng(1).normal(0, 1.2, n), first_volatility=1.0)


def in_turn(n: int) -> dict[str, Any]:
    """Groups of eight on average, the observations of each one after the other, and which of them are the first."""
    rng = np.random.default_rng(1)
    sizes = rng.multinomial(n, np.full(n // 8, 1 / (n // 8)))
    first = np.zeros(n, int)
    first[(np.cumsum(sizes) - sizes)[sizes > 0]] = 1
    return dict(N=n, J=len(sizes), s=sizes, first=first, x=rng.normal(size=n), y=rng.normal(size=n))


def slopes(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return dict(N=n, J=n // 10, g=rng.integers(1, n // 10 + 1, n), x=rng.normal(size=n), y=rng.normal(size=n))


SEGMENTS = """data { int N; int J; array[J] int s; vector[N] x; vector[N] y; }
parameters { vector[J] a; real b; real<lower=0> sigma; real<lower=0> tau; }
model {
  int pos = 1;
  a ~ normal(0, tau);
  for (j in 1:J) {
    segment(y, pos, s[j]) ~ normal(a[j] + b * segment(x, pos, s[j]), sigma);
    pos += s[j];
  }
}"""
RESETS = """data { int N; array[N] int first; vector[N] y; }
parameters { real<lower=0, upper=1> rate; real begin; real<lower=0> sigma; }
model {
  vector[N] level;
  for (n in 1:N) {
    if (first[n] == 1) level[n] = begin;
    else level[n] = level[n - 1] + rate * (y[n - 1] - level[n - 1]);
  }
  y ~ normal(level, sigma);
}"""
SLOPES = """data { int N; int J; array[N] int g; vector[N] x; vector[N] y; }
parameters {
  vector[2] mu;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  array[J] vector[2] b;
  real<lower=0> sigma;
}
model {
  L ~ lkj_corr_cholesky(2);
  b ~ multi_normal_cholesky(mu, diag_pre_multiply(tau, L));
  for (n in 1:N) y[n] ~ normal(b[g[n], 1] + b[g[n], 2] * x[n], sigma);
}"""
# by name: a file in models/ or the program's text, and what makes the data
CASES: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "independent": ("logistic_regression_loop", independent),
    "grouped, 5 each": ("hierarchical_index", grouped),
    "grouped, 10 each": ("hierarchical_index", lambda n: grouped(n, 10)),
    "grouped, unequal": ("hierarchical_index", lambda n: grouped(n, 10, is_even=False)),
    "grouped, segments": (SEGMENTS, in_turn),
    "grouped, slopes": (SLOPES, slopes),
    "recurrence": ("garch11", recurrence),
    "recurrence, by groups": (RESETS, in_turn),
}


def memory() -> float:
    """MB that the process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def loaded(model: str) -> Any:
    import stanimport

    return stanimport.loads(model) if "{" in model else stanimport.load(ROOT / f"models/{model}.stan")


def gradient_of(kind: str, n: int, threads: int, count: int) -> tuple[Callable[[], Any], float, float]:
    """A program of so many gradients in a row, the seconds to make it, and the MB of the data."""
    import jax
    from jax.sharding import Mesh

    from stanimport.inference.density.posterior import condition
    from stanimport.inference.programs import Program

    model, make = CASES[kind]
    module, data = loaded(model), make(n)
    began = time.process_time()
    posterior = condition(module, data)
    if threads > 1:
        posterior.divide(Mesh(np.array(jax.devices()[:threads]), ("rows",)), needed=True)
    gradient = jax.value_and_grad(posterior.log_density)

    def repeated(point: Any) -> Any:
        def body(_: int, state: Any) -> Any:
            at, total = state
            value, slope = gradient(at)
            return at + 1e-14 * slope, total + value

        return jax.lax.fori_loop(0, count, body, (point, 0.0))

    point = np.full(posterior.size, 0.1)
    program = Program(repeated, point)
    jax.block_until_ready(program(point))
    return lambda: jax.block_until_ready(program(point)), time.process_time() - began, _megabytes(data)


def _megabytes(data: dict[str, Any]) -> float:
    return sum(a.nbytes for a in data.values() if isinstance(a, np.ndarray)) / 2**20


def measure(kind: str, n: int, seconds: float) -> dict[str, float]:
    """In this process, on one core."""
    count = max(5, min(50, 200_000 // n))  # as in a sampler, whose memory is there already
    run, making, data = gradient_of(kind, n, 1, count)
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or not np.isfinite(best):
        start = time.process_time()
        run()
        best = min(best, (time.process_time() - start) / count)
    return {"seconds": best, "making": making, "data": data, "memory": memory()}


def compare(kind: str, n: int, threads: int, seconds: float) -> dict[str, float]:
    """Seconds of one gradient by one thread and by several, in turns: by the clock, and of processor time."""
    runs = [gradient_of(kind, n, k, 1)[0] for k in (1, threads)]
    best, end = np.full((2, 2), np.inf), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for k, run in enumerate(runs):
            start = time.perf_counter(), time.process_time()
            run()
            best[k] = np.minimum(best[k], [time.perf_counter() - start[0], time.process_time() - start[1]])
    return {"one": best[0, 0], "several": best[1, 0], "work": best[1, 1] / best[0, 1]}


def beside_stan(kind: str, n: int, build: Path, seconds: float) -> float:
    """Seconds of one gradient of Stan's compiled program, whose density is checked first to be the same function."""
    import stan_gradients

    import stanimport
    from stanimport.inference.density.posterior import condition

    stan = stan_gradients.httpstan()
    if stan is None:
        raise SystemExit("STANIMPORT_BENCH_PYSTAN names no interpreter with PyStan")
    model, make = CASES[kind]
    program, data = ROOT / f"models/{model}.stan", make(n)
    posterior = condition(stanimport.load(program), data)
    points = [np.full(posterior.size, x) for x in (0.1, 0.2)]
    theirs = stan_gradients.StanModel(stan_gradients.build(stan, program, build), data,
                                      [posterior.constrain(x) for x in points])  # fmt: skip
    stan_gradients.check(kind, posterior, points, theirs.difference)
    count, end, best = max(3, 200_000 // n), time.perf_counter() + seconds, np.inf
    while time.perf_counter() < end or not np.isfinite(best):
        best = min(best, theirs.seconds(count) / count)
    theirs.close()
    return best


def stan_table(a: argparse.Namespace) -> None:
    a.build.mkdir(parents=True, exist_ok=True)
    print("| model | observations | ns per observation, Stan | here | ratio |\n| --- |" + " --: |" * 4, flush=True)
    for kind in (k for k, (model, _) in CASES.items() if a.only in k and "{" not in model):
        for n in (100_000, 1_000_000):
            here = in_process("--one", kind, str(n), "--seconds", str(a.seconds))["seconds"]
            theirs = beside_stan(kind, n, a.build, a.seconds)
            ns = f"{1e9 * theirs / n:.1f} | {1e9 * here / n:.1f}"
            print(f"| {kind} | {n:,} | {ns} | {theirs / here:.1f} |", flush=True)


def in_process(*arguments: str, threads: int = 1) -> dict[str, float]:
    """What another process measures."""
    own = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "JAX_NUM_CPU_DEVICES": str(threads),
           "STANIMPORT_JIT_CACHE": "off", "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip
    command = [sys.executable, __file__, *arguments]
    made = subprocess.run(command, env={**os.environ, **own}, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(made.stdout.splitlines()[-1])
    return found


def table(a: argparse.Namespace) -> None:
    print("| model | observations | gradient, µs | ns per observation | compiling, s | data, MB | memory beside, MB |")
    print("| --- |" + " --: |" * 6, flush=True)
    options = ["--seconds", str(a.seconds), *(["--plain"] if a.plain else [])]
    for kind in (k for k in CASES if a.only in k):
        n = a.smallest
        base = in_process("--one", kind, "1000", *options)["memory"]
        while n <= a.largest:
            f = in_process("--one", kind, str(n), *options)
            print(f"| {kind} | {n:,} | {1e6 * f['seconds']:,.0f} | {1e9 * f['seconds'] / n:.1f} | {f['making']:.1f} "
                  f"| {f['data']:.0f} | {f['memory'] - base - f['data']:.0f} |", flush=True)  # fmt: skip
            n *= 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smallest", type=int, default=100_000)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=float, default=2.0, help="to measure each size for")
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--plain", action="store_true", help="without blocks")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--stan", action="store_true", help="Stan's gradients")
    parser.add_argument("--build", type=Path, default=Path(tempfile.gettempdir()) / "stanimport-stan-models")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "N"), help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.plain and a.one:
        from stanimport.inference.blocks import density, planning

        density.ROWS = planning.NUMBERS = 2**62
    if a.one and a.threads > 1:
        print(json.dumps(compare(a.one[0], int(a.one[1]), a.threads, a.seconds)))
    elif a.one:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        print(json.dumps(measure(a.one[0], int(a.one[1]), a.seconds)))
    elif a.stan:
        stan_table(a)
    elif a.threads > 1:
        for kind in (k for k in CASES if a.only in k and "recurrence" not in k):
            f = in_process("--one", kind, "1000000", "--threads", str(a.threads), "--seconds", str(a.seconds),
                           threads=a.threads)  # fmt: skip
            print(f"{kind}: {1e3 * f['one']:.1f} ms by one thread, {1e3 * f['several']:.1f} by {a.threads}: "
                  f"{f['one'] / f['several']:.2f} times as fast, {f['work']:.2f} times the processor time",
                  flush=True)  # fmt: skip
    else:
        table(a)


if __name__ == "__main__":
    main()
