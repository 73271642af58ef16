"""What Stan throws for, as statements on a vector x: at some points Stan throws, at the others it does not.

The cases of functions and laws are made from the domains of their records, those of compositions are written by hand.
"""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import stanimport
from stanlib import registry
from stanlib.domains import Domain

CANDIDATES = (-1.0, 2.5, -3.5, 0.0, 1.5, math.nan, math.inf)


class Case(NamedTuple):
    """Statements that set r from x, and points; `functions` stands on the first line, `lines` on the fifth and on."""

    name: str
    lines: str
    points: tuple[tuple[float, ...], ...]
    functions: str = ""
    stan: tuple[float, ...] = ()  # what Stan gives at the points, where stanli can't tell or computes too little

    @property
    def model(self) -> str:
        """A program whose parameters are x."""
        return (
            f"{self.functions}\nparameters {{ vector[{self.size}] x; }}\nmodel {{\n  real r = 0;\n"
            f"{self.lines}\n  target += r; }}"
        )

    @property
    def quantities(self) -> str:
        """A program whose data are x."""
        return (
            f"{self.functions}\ndata {{ vector[{self.size}] x; }}\ntransformed data {{\n  real r = 0;\n"
            f"{{ {self.lines} }}\n}}\ngenerated quantities {{ real s = r; }}"
        )

    @property
    def size(self) -> int:
        return len(self.points[0])


def of_functions() -> Iterator[Case]:
    """A case for every number among the arguments of a function or a law's function that has a domain."""
    registry.load()
    for name in sorted(registry.names(include_removed=False)):
        for f in registry.FUNCTIONS[name]:
            if f.built and f.domains and f.examples and not f.random:
                yield from _of_record(f)


def _of_record(f: Any) -> Iterator[Case]:
    arguments = f.signatures[0].argument_names
    domains = dict(f.domains)
    if f.distribution is not None:
        variate = f.distribution.variate.get(f.name.rpartition("_")[2])
        domains |= {arguments[0]: variate} if isinstance(variate, Domain) else {}
    example = f.examples[0]
    for i, argument in enumerate(arguments[: len(example)]):
        domain = domains.get(argument)
        if domain is None or not isinstance(example[i], float) or callable(getattr(domain, "bounds", None)):
            continue
        bad = [c for c in CANDIDATES if not np.all(domain.inside(_NUMPY(), np.float64(c)))]
        chosen = [c for c in bad if math.isfinite(c)][:1] + [c for c in bad if math.isnan(c)]
        text = _call(f, example, i)
        if chosen and text is not None:
            points = tuple((c,) for c in (example[i], *chosen))
            stan = STAN.get(f.symbol, ())
            stan = stan and (*stan, *(-math.inf for _ in chosen))
            yield Case(f"{f.symbol}: {argument}", f"  r = {text};", points, stan=stan)


# What stanli does not check, though Stan does: a multiplier must be positive and finite.
STAN = {
    "offset_multiplier_constrain": ((0.3 + 1.2) * 2.5 - 2 * 0.5,),
    "offset_multiplier_unconstrain": ((0.3 + 1.2 + 2 * 0.5) / 2.5,),
}


def _NUMPY() -> Any:
    from stanlib.arrays import named

    return named("numpy")


def _call(f: Any, example: tuple[Any, ...], i: int) -> str | None:
    """The call with x[1] for an argument, if it gives a number for some reading of lists as containers."""
    for written in itertools.product(*map(_literals, example)):
        arguments = ["x[1]" if k == i else a for k, a in enumerate(written)]
        bar = " | " if f.distribution is not None and len(arguments) > 1 else ", "
        text = f"{f.name}({bar.join([arguments[0], ', '.join(arguments[1:])]) if arguments[1:] else arguments[0]})"
        for whole in (text, f"sum({text})"):
            try:
                stanimport.check("case.stan", source=Case("", f"  r = {whole};", ((0.0,),)).model)
            except stanimport.StanError:
                continue
            return whole
    return None


def _literals(value: Any) -> list[str]:
    """A number or container as it may be written in Stan."""
    if isinstance(value, (int, float)):
        return [repr(value)]
    if not isinstance(value, list) or not value or isinstance(value[0], complex):
        return []
    if isinstance(value[0], list):
        rows = ", ".join(f"[{', '.join(map(repr, r))}]" for r in value)
        arrays = ", ".join(f"{{{', '.join(map(repr, r))}}}" for r in value)
        return [f"[{rows}]", f"{{{rows}}}", f"{{{arrays}}}"]
    items = ", ".join(map(repr, value))
    return [f"[{items}]'", f"{{{items}}}", f"[{items}]"]


# Each: a name, statements, points at which Stan does not throw and some at which it does; functions if there are any.
_F = (
    "functions { real low(real y) { return log1m(y); } real never(real y) { if (y > 1) reject(\"y is \", y); "
    "return 2 * y; } real deep(real y, int n) { return n == 0 ? log1m(y) : deep(y, n - 1); } "
    "void must(real y) { if (y > 1) reject(\"no\"); } }"
)
_DECAY = "functions { vector decay(real t, vector y) { return -y; } }"
_TAIL = "functions { real tail(real x, real xc, real k) { return exp(-k * x); } }"
BY_HAND = [
    # indices
    Case("index read", "  r = x[1 + (x[1] > 0) * 5];", ((-0.5, 2.0, 3.0), (0.5, 2.0, 3.0))),
    Case("index of 0", "  r = x[(x[1] > 0)];", ((0.5, 2.0), (-0.5, 2.0))),
    Case("multi-index", "  array[2] int i = {1, 1 + 3 * (x[1] > 0)}; r = sum(x[i]);", ((-0.5, 2.0), (0.5, 2.0))),
    Case("matrix index", "  r = [[1, 2], [3, 4]][1, 1 + 2 * (x[1] > 0)];", ((-0.5,), (0.5,))),
    Case("row index", "  r = sum([[1, 2], [3, 4]][1 + 2 * (x[1] > 0)]);", ((-0.5,), (0.5,))),
    Case("index assigned", "  vector[2] v = x; v[1 + 2 * (x[1] > 0)] = 3; r = sum(v);", ((-0.5, 2.0), (0.5, 2.0))),
    Case("index of an int array", "  array[2] int k = {3, 4}; r = k[1 + 2 * (x[1] > 0)];", ((-0.5,), (0.5,))),
    Case("index in a loop", "  for (n in 1:2) r += x[n + (x[1] > 0)];", ((-0.5, 2.0), (0.5, 2.0))),
    Case("assigned in a loop", "  vector[2] v = x; for (n in 1:2) v[n + (x[1] > 0)] = n * x[1]; r = sum(v);",
         ((-0.5, 2.0), (0.5, 2.0))),
    Case("function of an index", "  r = rank(x, 1 + 2 * (x[1] > 0)) + col([[1, 2], [3, 4]], 1 + (x[1] > 0))[1];",
         ((-0.5, 2.0), (0.5, 2.0)), stan=(1.0, -math.inf)),
    Case("start of a segment", "  r = sum(segment(x, 1 + (x[1] > 0), 2));", ((-0.5, 2.0), (0.5, 2.0)),
         stan=(1.5, -math.inf)),
    # integers
    Case("division by 0", "  r = 3 %/% (x[1] > 0);", ((0.5,), (-0.5,))),
    Case("modulus by 0", "  r = 3 % (x[1] > 0);", ((0.5,), (-0.5,))),
    Case("divisions in a loop", "  for (n in 1:3) r += n %/% ((x[1] > 0) * (n - 1) + 1 - (x[2] > 0));",
         ((0.5, -0.5), (0.5, 0.5))),
    # conditions: only the side that is taken counts
    Case("side taken", "  if (x[1] > 1) r = log1m(x[1]); else r = log1m(x[1] / 4);", ((0.5,), (2.0,))),
    Case("side not taken", "  if (x[1] > 100) r = log1m(x[1]); else r = x[1];", ((0.5,), (2.0,))),
    Case("side never right", "  if (x[1] > 1) r = x[9]; else r = x[1];", ((0.5,), (2.0,)), stan=(0.5, -math.inf)),
    Case("conditional expression", "  r = x[1] > 1 ? log1m(x[1]) : x[1];", ((0.5,), (2.0,))),
    Case("conditional expression, other side", "  r = x[1] > 1 ? x[1] : log1m(2 * x[1]);", ((2.0,), (0.7,))),
    Case("and", "  if (x[1] > 1 && log1m(x[1]) < 0) r = 1; else r = 2;", ((0.5,), (2.0,))),
    Case("or", "  if (x[1] > 1 || log1m(2 * x[1]) < 0) r = 1; else r = 2;", ((2.0,), (0.3,), (0.7,))),
    Case("nested", "  if (x[1] > 0) { if (x[2] > 1) r = log1m(x[2]); else r = x[2]; } else r = 3;",
         ((-1.0, 2.0), (1.0, 0.5), (1.0, 2.0))),
    Case("reject in a branch", '  if (x[1] > 1) reject("x is ", x[1]); r = x[1];', ((0.5,), (2.0,))),
    # loops
    Case("lanes", "  for (n in 1:3) r += log1m(x[n]);", ((0.1, 0.2, 0.3), (0.1, 2.0, 0.3))),
    Case("lanes of a law", "  for (n in 1:3) r += normal_lpdf(n | 0, x[n]);", ((0.1, 0.2, 0.3), (0.1, -2.0, 0.3))),
    Case("lanes of a cdf", "  for (n in 1:3) r += weibull_lcdf(n | x[n], 2);", ((0.1, 0.2, 0.3), (0.1, -2.0, 0.3))),
    Case("a condition in lanes", "  for (n in 1:3) if (x[n] > 0) r += log1m(x[n]); else r += x[n];",
         ((0.1, -2.0, 0.3), (0.1, -0.2, 1.3))),
    Case("a condition in lanes that leaves out", "  for (n in 1:3) if (x[n] > 0) r += log1m(x[n] - 1) * x[n];",
         ((0.1, -2.0, 0.3), (0.1, -0.2, 2.3))),
    Case("an index in a condition in lanes", "  for (n in 1:3) if (x[n] > 0) r += x[n + 1];",
         ((0.1, 0.2, -0.3), (0.1, -0.2, 0.3)), stan=(-0.1, -math.inf)),
    Case("a law in a condition in lanes", "  for (n in 1:3) if (x[n] > 0) r += exponential_lpdf(n | x[n] - 1);",
         ((1.1, -2.0, 1.3), (1.1, -0.2, 0.3))),
    Case("vectors in lanes", "  for (n in 1:2) r += sum(log1m(x[n] * [1, 2]'));", ((0.1, 0.2), (0.1, 0.7))),
    Case("matrices in lanes", "  for (n in 1:2) r += sum(cholesky_decompose([[1, x[n]], [x[n], 1]]));",
         ((0.1, 0.2), (0.1, 2.0))),
    Case("recurrence", "  real z = x[1]; for (n in 1:9) { z = log1m(z) + x[2]; } r = z;", ((0.1, 0.2), (0.1, 1.5))),
    Case("carried vector", "  vector[6] z; z[1] = x[1]; for (n in 2:6) z[n] = 0.5 * z[n - 1] + atanh(x[2]); r = z[6];",
         ((0.1, 0.2), (0.1, 1.5))),
    Case("traced loop", "  vector[2] z = x; for (n in 1:7) { z /= 2; if (z[1] > 1) z[2] += log1m(z[2]); } r = sum(z);",
         ((8.0, 0.2), (8.0, 9.0), (0.1, 9.0))),
    Case("while", "  real z = 0; while (z < 3) { z += 1 - log1m(x[1]); } r = z;", ((0.5,), (2.0,))),
    Case("while that ends before", "  real z = 5; while (z < x[2]) { z += log1m(x[1]) + 9; } r = z;",
         ((2.0, 1.0), (2.0, 7.0))),
    Case("condition of while", "  real z = 0; while (log1m(z) > -9 && z < x[1]) z += 0.4; r = z;", ((0.5,), (2.0,))),
    # times and limits that solvers are given
    Case("time at which an equation begins", "  r = ode_rk45(decay, [1]', x[1], {1.0, 2.0})[2, 1];",
         ((0.5,), (1.0,), (3.0,)), _DECAY),
    Case("times of output", "  r = ode_bdf(decay, [1]', 0, {1.0, x[1]})[2, 1];", ((1.5,), (1.0,), (0.5,)), _DECAY),
    Case("times in a loop", "  for (n in 1:3) r += ode_ckrk(decay, [1]', x[2], {x[1] + n})[1, 1];",
         ((1.5, 0.2), (0.5, 1.7), (-2.0, 0.0)), _DECAY),
    Case("limits of an integral", "  r = integrate_1d_gauss_kronrod(tail, x[1], x[2], 1.5);",
         ((0.5, 1.0), (0.5, 0.5), (1.0, 0.5)), _TAIL,
         stan=((math.exp(-0.75) - math.exp(-1.5)) / 1.5, 0.0, -math.inf)),
    # functions of the program
    Case("function", "  r = low(x[1]);", ((0.5,), (2.0,)), _F),
    Case("function in lanes", "  for (n in 1:3) r += low(x[n]);", ((0.1, 0.2, 0.3), (0.1, 2.0, 0.3)), _F),
    Case("function that rejects", "  r = never(x[1]);", ((0.5,), (2.0,)), _F),
    Case("function that rejects in a branch", "  if (x[2] > 0) r = never(x[1]); else r = 1;",
         ((0.5, 1.0), (2.0, -1.0), (2.0, 1.0)), _F),
    Case("recursion", "  r = deep(x[1], 3);", ((0.5,), (2.0,)), _F),
    Case("function without a value", "  must(x[1]); r = x[1];", ((0.5,), (2.0,)), _F),
    # containers
    Case("simplex", "  r = categorical_lpmf(1 | x);", ((0.4, 0.6), (0.4, 0.7), (-0.4, 1.4))),
    Case("simplex of multinomial", "  r = multinomial_lpmf({1, 2} | x);", ((0.4, 0.6), (0.4, 0.7))),
    Case("simplex of dirichlet", "  r = dirichlet_lpdf(x | [1, 2]');", ((0.4, 0.6), (0.4, 0.7))),
    Case("concentrations", "  r = dirichlet_lpdf([0.4, 0.6]' | x);", ((0.4, 0.6), (0.4, -0.7))),
    Case("mixture weights", "  r = log_mix(x, [1, 2]');", ((0.4, 0.6), (0.4, 1.7)),
         stan=(math.log(0.4 * math.exp(1) + 0.6 * math.exp(2)), -math.inf)),
    Case("mixture weight", "  r = log_mix(x[1], 1, 2);", ((0.4,), (1.3,))),
    Case("cut points", "  r = ordered_logistic_lpmf(2 | 0.3, x);", ((0.4, 0.6), (0.6, 0.4), (math.nan, 0.4))),
    Case("symmetric", "  r = multi_normal_lpdf([1, 2]' | [0, 0]', [[2, x[1]], [x[2], 2]]);", ((0.4, 0.4), (0.4, 0.3))),
    Case("definite", "  r = multi_normal_lpdf([1, 2]' | [0, 0]', [[2, x[1]], [x[1], 2]]);", ((0.4,), (3.0,))),
    Case("lower triangle", "  r = multi_normal_cholesky_lpdf([1, 2]' | [0, 0]', [[2, x[1]], [0.3, 2]]);",
         ((0.0,), (0.3,))),
    Case("diagonal", "  r = multi_normal_cholesky_lpdf([1, 2]' | [0, 0]', [[2, 0], [0.3, x[1]]]);", ((1.0,), (-1.0,))),
    Case("precision", "  r = multi_normal_prec_lpdf([1, 2]' | [0, 0]', [[2, x[1]], [x[2], 2]]);",
         ((0.4, 0.4), (0.4, 0.3))),
    Case("factor", "  r = sum(cholesky_decompose([[2, x[1]], [x[2], 2]]));", ((0.4, 0.4), (0.4, 0.3), (3.0, 3.0))),
    Case("inverse", "  r = sum(inverse_spd([[2, x[1]], [x[2], 2]]));", ((0.4, 0.4), (0.4, 0.3))),
    Case("eigenvalues", "  r = sum(eigenvalues_sym([[2, x[1]], [x[2], 2]]));", ((0.4, 0.4), (0.4, 0.3))),
    Case("correlation", "  r = lkj_corr_lpdf([[1, x[1]], [x[1], x[2]]] | 2);", ((0.4, 1.0), (0.4, 1.5))),
    Case("wishart", "  r = wishart_lpdf([[2, x[1]], [x[2], 2]] | 4, [[1, 0], [0, 1]]);", ((0.4, 0.4), (0.4, 0.3))),
    Case("vector of scales", "  r = normal_lpdf([1, 2]' | 0, x);", ((0.4, 0.6), (0.4, -0.6))),
    Case("vector of probabilities", "  r = bernoulli_lpmf({0, 1} | x);", ((0.4, 0.6), (0.4, 1.6))),
    Case("not a number for a location", "  r = normal_lpdf([1, 2]' | x, 1);", ((0.4, 0.6), (0.4, math.nan))),
    Case("absorbed in a mixture", "  r = log_sum_exp(normal_lpdf(1 | 0, x[1]), 0);", ((0.4,), (-0.4,))),
    Case("not used", "  real z = log1m(x[1]); r = 1;", ((0.4,), (1.4,)), stan=(1.0, -math.inf)),
    Case("compared", "  r = atanh(x[1]) > 0;", ((0.4,), (1.4,))),
    Case("bounds of a transform", "  r = lower_upper_bound_constrain(0.3, x[1], x[2]);", ((0.4, 1.0), (1.0, 0.4)),
         stan=(0.4 + 0.6 / (1 + math.exp(-0.3)), -math.inf)),
]  # fmt: skip
