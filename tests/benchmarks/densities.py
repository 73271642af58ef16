"""The time of one jitted gradient of every density on JAX, beside NumPyro's own class for the same law.

    python tests/benchmarks/densities.py [--only name] [--vector] [--sizes 1,1000,100000] [--markdown]

The outcomes are data, the gradient is in every real parameter: numbers, or with --vector one of each per observation.
A line shows, for each number of observations, microseconds here, microseconds of NumPyro's, and the ratio. Laws of a
single matrix are measured with it as a parameter. hmm_marginal stands among them.
"""
from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import multivariate
import numpy as np
import numpyro.distributions as dist

from stanlib import distribution, registry
from stanlib.arrays import named
from stanlib.random.numpy import NumpyRandom

ROUNDS = 12
COLUMNS = 3  # of the predictors of the generalised linear models
# The class of NumPyro that a generalised linear model is compared with, as a function of y's location.
GLMS: dict[str, Callable[..., Any]] = {
    "normal_id_glm": lambda x, alpha, beta, sigma: dist.Normal(alpha + x @ beta, sigma),
    "bernoulli_logit_glm": lambda x, alpha, beta: dist.BernoulliLogits(alpha + x @ beta),
    "poisson_log_glm": lambda x, alpha, beta: dist.Poisson(jnp.exp(alpha + x @ beta)),
    "neg_binomial_2_log_glm": lambda x, alpha, beta, phi: dist.NegativeBinomial2(jnp.exp(alpha + x @ beta), phi),
}
# The same law with outcomes counted from 0, or written with another parameter.
SIMILAR: dict[str, Callable[..., Any]] = {
    "poisson_log": lambda alpha: dist.Poisson(jnp.exp(alpha)),
    "neg_binomial_2_log": lambda eta, phi: dist.NegativeBinomial2(jnp.exp(eta), phi),
    "categorical": lambda theta: dist.CategoricalProbs(theta),
    "categorical_logit": lambda beta: dist.CategoricalLogits(beta),
    "ordered_logistic": lambda lam, c: dist.OrderedLogistic(lam, c),
    "beta_neg_binomial": lambda r, alpha, beta: dist.BetaNegativeBinomial(beta, alpha, r),
}
FROM_ZERO = {"categorical", "categorical_logit", "ordered_logistic"}


def problem(d: distribution.Distribution, n: int, vector: bool) -> tuple[Any, list[Any]]:
    """Outcomes and parameters for n observations, made from the record's first example."""
    rng = np.random.default_rng(1)
    if d.name in multivariate.PROBLEMS:
        return multivariate.PROBLEMS[d.name](rng, n)
    y, *parameters = d.examples[0]
    if "x" in d.argument_dims:
        return _glm_problem(d, n, rng)
    parameters = [np.asarray(p, float) if np.ndim(p) else p for p in parameters]
    scalars = not d.argument_dims
    if vector:
        parameters = [p if np.ndim(p) else np.full(n, p) for p in parameters]
    if "rng" in d.methods and scalars:
        tiled = [np.full(n, p) for p in d.examples[0][1:]] or [np.zeros(n)]
        y = d.methods["rng"](named("numpy"), NumpyRandom(rng), *tiled) if d.examples[0][1:] else rng.normal(size=n)
        return np.asarray(y), parameters
    if d.name in ("ordered_logistic", "ordered_probit"):
        parameters[0] = rng.normal(size=n)
    ys = np.arange(1, 4) if d.argument_dims else [e[0] for e in d.examples]
    return rng.choice(ys, n), parameters


def _glm_problem(d: distribution.Distribution, n: int, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    y, *parameters = d.examples[0]
    x = rng.normal(size=(n, COLUMNS))
    sized = {"x": x, "beta": np.full(COLUMNS, 0.1), "N": np.full(n, 10)}
    if d.name == "categorical_logit_glm":
        sized["beta"] = np.full((COLUMNS, 2), 0.1)
    out = [sized.get(name, np.asarray(p) if np.ndim(p) else p) for name, p in zip(d.argument_names, parameters)]
    return np.resize(np.asarray(y), n), out


def rival(d: distribution.Distribution) -> Callable[..., Any] | None:
    """NumPyro's distribution as a function of Stan's parameters, if it has one."""
    for rivals in (GLMS, SIMILAR, multivariate.RIVALS):
        if d.name in rivals:
            return rivals[d.name]
    if d.event_dims:
        return None
    name = d.native.on("numpyro") if d.native else None
    if name is None:
        return None

    def make(*parameters: Any) -> Any:
        given = dict(zip(d.argument_names, parameters))
        ordered = [a(jnp, *parameters) if callable(a) else given[a] for a in d.native.arguments]
        return getattr(dist, name)(*ordered, **{k: given[a] for k, a in d.native.keywords.items()})

    return make


Program = tuple[Callable[..., Any], list[Any]]


def gradient(log_prob: Callable[..., Any], parameters: list[Any], data: set[int]) -> Program:
    """The jitted value and gradient of the summed terms in the real parameters, and these."""
    real = [i for i, p in enumerate(parameters) if np.asarray(p).dtype.kind == "f" and i not in data]

    def total(free: list[Any]) -> Any:
        full = list(parameters)
        for i, p in zip(real, free):
            full[i] = p
        return jnp.sum(log_prob(*full))

    return jax.jit(jax.value_and_grad(total)), [jnp.asarray(parameters[i]) for i in real]


def _seconds(f: Callable[..., Any], x: list[Any]) -> float:
    start = time.perf_counter()
    jax.block_until_ready(f(x))
    return time.perf_counter() - start


def measure(programs: list[Program], budget: float = 0.5) -> list[float]:
    """The least time of each program in microseconds, taken in turns.

    A turn lasts about a millisecond, which a busy machine often leaves undisturbed, and there are at least ROUNDS.
    """
    best = []
    for f, x in programs:
        jax.block_until_ready(f(x))
        best.append(min(_seconds(f, x) for _ in range(5)))
    calls = max(1, min(200, int(0.001 / max(best))))
    end, rounds = time.perf_counter() + budget, 0
    while time.perf_counter() < end or rounds < ROUNDS:
        rounds += 1
        for i, (f, x) in enumerate(programs):
            start = time.perf_counter()
            for _ in range(calls):
                out = f(x)
            jax.block_until_ready(out)
            best[i] = min(best[i], (time.perf_counter() - start) / calls)
    return [1e6 * b for b in best]


def compare(d: distribution.Distribution, n: int, vector: bool) -> tuple[list[float], float]:
    """The times of both densities, and the relative difference of their values."""
    y, parameters = problem(d, n, vector)
    data = {i for i, name in enumerate(d.argument_names) if name == "x"}
    if d.event_dims == 2 and d.name in multivariate.SINGLE:
        return _compare_matrix(d, y, parameters)
    programs = [gradient(lambda *p: d.log_prob(y, *p), parameters, data)]
    other = rival(d)
    if other is not None:
        shifted = y - 1 if d.name in FROM_ZERO else y
        programs.append(gradient(lambda *p: other(*p).log_prob(jnp.asarray(shifted)), parameters, data))
    return timed(programs)


def _compare_matrix(d: distribution.Distribution, y: Any, parameters: list[Any]) -> tuple[list[float], float]:
    """The same for a law of one matrix, with the gradient in it too."""
    programs = [gradient(d.log_prob, [y, *parameters], set())]
    other = rival(d)
    if other is not None:
        programs.append(gradient(lambda y, *p: other(*p).log_prob(y), [y, *parameters], set()))
    return timed(programs)


def hidden_markov(n: int) -> tuple[list[float], float]:
    """hmm_marginal of n observations."""
    marginal = registry.by_symbol("hmm_marginal")
    return timed([gradient(marginal, multivariate.hidden_markov(np.random.default_rng(1), n), set())])


def timed(programs: list[Program]) -> tuple[list[float], float]:
    """The times of one or two programs, and the relative difference of their values."""
    values = [float(f(x)[0]) for f, x in programs]
    return measure(programs), abs(values[0] - values[-1]) / max(1.0, abs(values[0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="distributions whose name contains this")
    parser.add_argument("--vector", action="store_true", help="one parameter of each kind per observation")
    parser.add_argument("--sizes", default="1,1000,100000")
    parser.add_argument("--markdown", action="store_true", help="print the table as docs/performance.md has it")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    registry.load()
    sizes = [int(s) for s in options.sizes.split(",")]
    show = markdown if options.markdown else line
    print(heading(sizes, options.markdown))
    for name, d in sorted(distribution.DISTRIBUTIONS.items()):
        if options.only in name:
            used = sizes[:1] if name in multivariate.SINGLE else sizes
            print(show(name, [compare(d, n, options.vector) for n in used], len(sizes)), flush=True)
    if options.only in "hmm_marginal":
        print(show("hmm_marginal", [hidden_markov(n) for n in sizes], len(sizes)), flush=True)


def heading(sizes: list[int], as_markdown: bool) -> str:
    if not as_markdown:
        return f"{'':24}" + "".join(f"{n:>16} obs  ratio" for n in sizes)
    cells = [f"{n:,} | NumPyro | ratio" for n in sizes]
    return f"| density | {' | '.join(cells)} |\n" + "| --- " * (1 + 3 * len(sizes)) + "|"


def markdown(name: str, results: list[tuple[list[float], float]], columns: int) -> str:
    """A line of the table in the documentation: microseconds to two digits."""
    cells = []
    for times, _ in results:
        shown = [f"{t:.2g}" if t < 100 else f"{float(f'{t:.2g}'):,.0f}" for t in times]
        cells += [*shown, f"{times[0] / times[1]:.2f}"] if len(times) == 2 else [shown[0], "", ""]
    cells += [""] * (3 * columns - len(cells))
    return f"| `{name}` | " + " | ".join(cells) + " |"


def line(name: str, results: list[tuple[list[float], float]], columns: int) -> str:
    cells = []
    for times, difference in results:
        if len(times) == 1:
            cells.append(f"{times[0]:10.1f}{'-':>9}{'-':>7}")
        else:
            flag = "*" if difference > 1e-6 else " "
            cells.append(f"{times[0]:10.1f}{times[1]:9.1f}{times[0] / times[1]:6.2f}{flag}")
    return f"{name:24}" + "".join(cells)


if __name__ == "__main__":
    main()
