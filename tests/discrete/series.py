"""Random pieces of programs about series in which something changes, at bounds of loops and slices."""
from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.discrete.numbers import Numbers, Sum

Values = Mapping[str, Any]
Term = Callable[[Numbers, Values, Mapping[str, Any]], Any]  # the logarithm of a weight


@dataclass(frozen=True)
class Series:
    """Statements about change points, and their weight; `values` are those that each of them can have."""

    declared: str = ""
    data_text: str = ""
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, range] = field(default_factory=dict)
    term: Term | None = None

    @property
    def shared(self) -> bool:
        """Whether there is one change point of all."""
        return "u" in self.values

    def weight(self, n: Numbers, values: Values, data: Mapping[str, Any]) -> Sum:
        return Sum(n.one) if self.term is None else Sum.of_log(self.term(n, values, data))


def _log(n: Numbers, x: float, mean: Any) -> Any:
    return -0.5 * ((x - mean) / n.s) ** 2 - np.log(n.s) - 0.5 * np.log(2 * np.pi)


def _over(mean: Callable[[Numbers, int], Any], lower: int, upper: int) -> Term:
    """The sum over a stretch from `lower` to `upper`, which may be of length zero."""
    return lambda n, v, d: sum((_log(n, d["r"][t - 1], mean(n, t)) for t in range(lower, upper + 1)), 0 * n.one)


def _means(r: random.Random) -> tuple[str, str, Callable[[Numbers, int], Any]]:
    """A mean in a loop, and over a slice FROM:TO, which is constant, or differs."""
    k = r.randint(1, 3)
    return r.choice((
        (f"m[{k}]", f"m[{k}]", lambda n, t: n.m[k - 1]),
        (f"m[{k}] * h[t]", f"m[{k}] * h[FROM:TO]", lambda n, t: n.m[k - 1] * _H[t - 1]),
        ("phi[2] + p[1, t]", "phi[2] + p[1, FROM:TO]", lambda n, t: n.phi[1] + n.p[0, t - 1]),
    ))  # fmt: skip


_H = [round(0.3 * t % 1 - 0.4, 2) for t in range(1, 60)]


def _stretch(r: random.Random, lower: str, upper: str) -> tuple[str, Term]:
    """Text and term of all from one place to another, which are expressions of u and w, and T."""
    loop, slice_, mean = _means(r)
    text = r.choice((
        f"for (t in {lower}:{upper}) r[t] ~ normal({loop}, s);",
        f"for (t in {lower}:{upper}) {{ target += normal_lpdf(r[t] | {loop}, s); }}",
        f"r[{lower}:{upper}] ~ normal({slice_}, s);", f"r[{lower}:{upper}] ~ normal({slice_}, s);",
        f"target += normal_lpdf(r[{lower}:{upper}] | {slice_}, s);",
    )).replace("FROM", lower).replace("TO", upper)  # fmt: skip

    def term(n: Numbers, v: Values, d: Mapping[str, Any]) -> Any:
        names = {"u": v.get("u"), "q": v.get("q"), "T": d["T"], "min": min, "max": max}
        return _over(mean, eval(lower, {}, names), eval(upper, {}, names))(n, v, d)

    return text, term


def series(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    """None at times; one change point, two, or one in each of several series."""
    form = r.choice((_none, _none, _one, _one, _two, _nested, _each, _counts))
    return form(r, rng, occasions)


def _none(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    return Series()


def _given(rng: np.random.Generator, occasions: int) -> tuple[str, dict[str, Any]]:
    data = {"r": rng.normal(size=occasions).round(2).tolist(), "h": _H[:occasions]}
    return "vector[T] r; vector[T] h;", data


def _made(parts: list[tuple[str, Term]], declared: str, values: dict[str, range], rng: np.random.Generator,
          occasions: int) -> Series:  # fmt: skip
    text, data = _given(rng, occasions)

    def term(n: Numbers, v: Values, d: Mapping[str, Any]) -> Any:
        return sum(f(n, v, d) for _, f in parts)

    return Series(declared, text, " ".join(t for t, _ in parts), data, values, term)


def _range(r: random.Random, occasions: int) -> tuple[int, int]:
    """Bounds between which all stretches are within the series."""
    low = r.choice((1, 1, r.randint(1, occasions)))
    high = r.choice((occasions + 1, occasions, r.randint(low, occasions + 1)))
    return low, max(low, high)


def _one(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    low, high = _range(r, occasions)
    parts = [_stretch(r, "1", "(u - 1)"), _stretch(r, "u", "T")]
    parts = r.choice((parts, parts, parts[:1], parts[1:]))
    return _made(parts, f"int<lower={low}, upper={high}> u;", {"u": range(low, high + 1)}, rng, occasions)


def _counts(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    """A class of all counts of a series, of which many are the same."""
    k = rng.integers(0, 3, occasions)
    law: Callable[[Numbers, int, int], Any] = lambda n, u, x: n.m[u - 1] * x - np.exp(n.m[u - 1]) - math.lgamma(x + 1)
    text, of = r.choice((
        ("for (t in 1:T) k[t] ~ poisson_log(m[u]);", law), ("k ~ poisson_log(m[u]);", law),
        ("for (t in 1:T) if (k[t] > 0) k[t] ~ poisson_log(m[u]); else target += -s * u;",
         lambda n, u, x: law(n, u, x) if x > 0 else -n.s * u),
        ("for (j in 1:2) for (t in 1:T) target += m[u] * k[t];", lambda n, u, x: 2 * n.m[u - 1] * x),
        ("for (t in 1:T) for (j in 1:k[t]) target += m[u] * j;", lambda n, u, x: n.m[u - 1] * x * (x + 1) / 2),
    ))  # fmt: skip

    def term(n: Numbers, v: Values, d: Mapping[str, Any]) -> Any:
        return sum((of(n, v["u"], x) for x in k.tolist()), 0 * n.one)

    return Series("int<lower=1, upper=3> u;", "array[T] int k;", text, {"k": k.tolist()}, {"u": range(1, 4)}, term)


def _two(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    """Two change points, whose order is free, or asked for."""
    few = min(occasions, 8)
    (a, b), (c, d) = _range(r, few), _range(r, few)
    parts = [_stretch(r, "1", "(u - 1)"), _stretch(r, "u", "(q - 1)"), _stretch(r, "q", "T")]
    if r.random() < 0.4:
        never: Term = lambda n, v, _: np.full(n.one.shape, -np.inf if v["q"] < v["u"] else 0, n.one.dtype)
        parts.insert(0, ("if (q < u) target += negative_infinity();", never))
    declared = f"int<lower={a}, upper={b}> u; int<lower={c}, upper={d}> q;"
    return _made(parts, declared, {"u": range(a, b + 1), "q": range(c, d + 1)}, rng, occasions)


def _nested(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    """Stretches between the least and the greatest, and loops in loops."""
    few = min(occasions, 6)
    (a, b), (c, d) = _range(r, few - 1), _range(r, few - 1)
    mean, term = _stretch(r, "min(u, q)", "max(u, q)")

    def both(n: Numbers, v: Values, _: Any) -> Any:
        return sum((n.m[0] * i - n.m[1] * t for i in range(1, v["u"] + 1) for t in range(i, v["q"] + 1)), 0 * n.one)

    def grow(n: Numbers, v: Values, _: Any) -> Any:
        return sum((n.m[2] * n.p[1, t - 1] for i in (1, 2) for t in range(v["u"], v["q"] + 1)), 0 * n.one)

    parts = r.sample([
        (mean, term), ("for (i in 1:u) for (t in i:q) target += m[1] * i - m[2] * t;", both),
        ("for (i in 1:2) for (t in u:q) target += m[3] * p[2, t];", grow), _stretch(r, "(u + 1)", "T"),
    ], 2)  # fmt: skip
    declared = f"int<lower={a}, upper={b}> u; int<lower={c}, upper={d}> q;"
    return _made(parts, declared, {"u": range(a, b + 1), "q": range(c, d + 1)}, rng, occasions)


def _each(r: random.Random, rng: np.random.Generator, occasions: int) -> Series:
    """A change point in each of two series, of lengths of their own."""
    few = min(occasions, 6)
    ends = [few, r.randint(0, few)]
    data = {"rr": rng.normal(size=(2, occasions)).round(2).tolist(), "len": ends}
    declared = "array[2] int<lower=1, upper={len[1] + 1, len[2] + 1}> uu;"
    values = {"uu": [(a, b) for a in range(1, ends[0] + 2) for b in range(1, ends[1] + 2)]}
    before, after = r.choice((
        ("for (t in 1:(uu[j] - 1)) rr[j, t] ~ normal(m[1], s);", "for (t in uu[j]:len[j]) rr[j, t] ~ normal(m[2], s);"),
        ("rr[j, 1:(uu[j] - 1)] ~ normal(m[1], s);", "rr[j, uu[j]:len[j]] ~ normal(m[2], s);"),
        ("for (t in 1:(uu[j] - 1)) target += normal_lpdf(rr[j, t] | m[1], s);",
         "target += normal_lpdf(rr[j, uu[j]:len[j]] | m[2], s);"),
    ))  # fmt: skip

    def term(n: Numbers, v: Values, d: Mapping[str, Any]) -> Any:
        return sum((_log(n, d["rr"][j][t - 1], n.m[0 if t < v["uu"][j] else 1])
                    for j in (0, 1) for t in range(1, d["len"][j] + 1)), 0 * n.one)  # fmt: skip

    text = f"for (j in 1:2) {{ {before} {after} }}"
    return Series(declared, "array[2, T] real rr; array[2] int len;", text, data, values, term)
