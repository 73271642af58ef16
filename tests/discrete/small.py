"""Random small programs with discrete parameters, and what they must compute: the sum over all joint assignments.

Each assignment is put into the same program as data, whose log density another implementation of Stan computes.
"""
from __future__ import annotations

import functools
import itertools
import random
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tests.random_programs.referee import ours

ASSIGNMENTS = 300  # at most


@dataclass(frozen=True)
class Variable:
    """An array of ints with `values` values from `lower` on, or as many as `own` says of every element."""

    name: str
    shape: tuple[int, ...]
    lower: int
    values: int
    own: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def declaration(self) -> str:
        sizes = f"array[{', '.join(map(str, self.shape))}] " if self.shape else ""
        upper = str(self.lower + self.values - 1)
        if self.own:
            own = (self.lower - 1 + np.array(self.own)).reshape(self.shape).tolist()
            upper = str(own).replace("[", "{").replace("]", "}")
        return f"{sizes}int<lower={self.lower}, upper={upper}> {self.name};"

    @property
    def ranges(self) -> list[range]:
        """The values of every element."""
        return [range(self.lower, self.lower + n) for n in self.own or (self.values,) * self.size]

    @property
    def assignments(self) -> int:
        return int(np.prod([len(r) for r in self.ranges]))


@dataclass(frozen=True)
class Small:
    """A program; its text with the discrete parameters among the parameters, or among the data."""

    variables: tuple[Variable, ...]
    statements: tuple[str, ...]
    data: dict[str, Any]
    derived: tuple[str, ...] = ()  # in transformed parameters

    def text(self, of_data: bool = False) -> str:
        declared = " ".join(v.declaration for v in self.variables)
        body, derived = "\n  ".join(self.statements), "\n  ".join(self.derived)
        given, summed = (declared, "") if of_data else ("", declared)
        return f"""functions {{ real term(int k, real y, vector m) {{ return k > 1 ? -square(y - m[1]) : m[2] * k; }}
  real total(array[] int k, vector m) {{ real t = 0;
    for (i in 1:size(k)) {{ if (i > 1) t += k[i] == k[i - 1] ? m[1] : -m[2]; t += m[k[i] + 1] * i; }}
    return t; }}
  vector means(array[] int k, vector m) {{ vector[size(k)] v;
    for (i in 1:size(k)) v[i] = m[k[i] + 1] / i;
    return v; }} }}
data {{ int N; vector[N] y; array[N] int ii; array[N] int jj; array[N] int b; {given} }}
parameters {{ vector[4] m; real<lower=0> s; real<lower=0, upper=1> p; {summed} }}
transformed parameters {{
  {derived}
}}
model {{
  {body}
}}
"""


class Writer:
    """Writes one program from a source of random numbers."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.locals = 0

    def program(self) -> Small:
        r, n = self.random, 3
        variables: list[Variable] = []
        count = 1
        for name in ("z", "w")[: r.choice((1, 1, 2))]:
            shape = r.choice(((), (3,), (3,), (4,), (4,), (5,), (6,), (8,), (2, 2), (3, 2), (2, 3), (2, 4)))
            values = r.choice((2, 2, 2, 3))
            own = tuple(r.randint(1, values) for _ in range(int(np.prod(shape)))) if shape and r.random() < 0.15 else ()
            v = Variable(name, shape, r.choice((0, 0, 1)), max(own, default=values), own)
            if count * v.assignments <= ASSIGNMENTS:
                variables.append(v)
                count *= v.assignments
        self.variables = variables or [Variable("z", (3,), 0, 2)]
        self.derived: list[str] = []
        statements = ["m ~ normal(0, 2);"]
        for _ in range(r.randint(1, 5)):
            statements += self.statement()
        first = min((v.shape[0] for v in self.variables if v.shape), default=1)
        data = {
            "N": n, "y": [round(r.gauss(0, 1), 2) for _ in range(n)], "b": [r.randint(0, 1) for _ in range(n)],
            "ii": [r.randint(1, first) for _ in range(n)], "jj": [r.randint(1, first) for _ in range(n)],
        }  # fmt: skip
        return Small(tuple(self.variables), tuple(statements), data, tuple(self.derived))

    def statement(self) -> list[str]:
        v = self.random.choice(self.variables)
        forms = [self.one] if not v.shape else [self.one, self.each, self.each, self.chain, self.chain, self.pairs,
                                                self.whole, self.style, self.style, self.style]  # fmt: skip
        if len(v.shape) == 2:
            forms = [self.rows, self.rows, self.one, self.whole]
        return self.random.choice(forms)(v)

    # --- statements

    def one(self, v: Variable) -> list[str]:
        """About single elements at constant places."""
        e = self.at(v, [str(self.random.randint(1, n)) for n in v.shape])
        other = self.random.choice(self.variables)
        f = self.at(other, [str(self.random.randint(1, n)) for n in other.shape])
        return [self.random.choice((
            f"target += {self.real(e)};", f"if ({e} == {v.lower}) target += {self.real(f)};",
            f"y ~ normal({self.real(e)}, s);", f"target += {self.real(e)} * {self.real(f)};",
        ))]  # fmt: skip

    def each(self, v: Variable) -> list[str]:
        """About every element by itself."""
        n = v.shape[0]
        return self.random.choice((
            lambda: self.law(v),
            lambda: [f"for (n in 1:{n}) target += {self.real(f'{v.name}[n]')};"],
            lambda: [f"for (n in 1:{n}) {{ real t = {self.real(f'{v.name}[n]')}; y[1] ~ normal(t, s); }}"],
            lambda: [f"for (n in 1:N) y[n] ~ normal({self.real(f'{v.name}[ii[n]]')}, s);"],
            lambda: [f"for (n in 1:N) if (b[n] == 1) target += {self.real(f'{v.name}[ii[n]]')}; else target += s;"],
            lambda: [f"for (n in 1:{n}) if ({v.name}[n] > {v.lower}) target += m[2]; else target += -square(m[1]);"],
            lambda: self.local(f"for (n in 1:{n})", f"{v.name}[n]"),
            lambda: self.carried(n, f"{v.name}[n]"), lambda: self.carried(n, f"{v.name}[n]"),
        ))()  # fmt: skip

    def law(self, v: Variable) -> list[str]:
        if (v.lower, v.values) == (0, 2):
            return [self.random.choice((f"{v.name} ~ bernoulli(p);", f"{v.name} ~ bernoulli_logit(m[1]);",
                                        f"target += bernoulli_lpmf({v.name} | p);"))]  # fmt: skip
        if v.lower == 1:
            return [f"{v.name} ~ categorical_logit(m[1:{v.values}]);"]
        # with `~` the reference drops the coefficients, which are no constants here
        return [f"target += binomial_lpmf({v.name} | {v.lower + v.values - 1}, p);"]

    def chain(self, v: Variable) -> list[str]:
        """About neighbours, or elements further apart."""
        lag = self.random.choice((1, 1, 1, 2)) if v.shape[0] > 2 else 1
        here, before = f"{v.name}[t]", f"{v.name}[t - {lag}]"
        n = v.shape[0]
        return self.random.choice((
            [f"for (t in {lag + 1}:{n}) target += {self.pair(here, before)};"],
            [f"for (t in 1:{n}) {{ if (t > {lag}) target += {self.pair(here, before)}; else target += "
             f"{self.real(here)}; }}"],
            [f"for (t in {lag + 1}:{n}) if ({here} != {before}) target += m[3];"],
            [f"for (t in {lag + 1}:{n}) {{ int d = {here} - {before}; target += d * m[2]; }}"],
        ))  # fmt: skip

    def pairs(self, v: Variable) -> list[str]:
        """About elements that data choose."""
        a, b = f"{v.name}[ii[n]]", f"{v.name}[jj[n]]"
        return [f"for (n in 1:N) {{ target += {self.pair(a, b)}; }}"]

    def rows(self, v: Variable) -> list[str]:
        n, k = v.shape
        e = f"{v.name}[i, j]"
        return self.random.choice((
            [f"for (i in 1:{n}) for (j in 1:{k}) target += {self.real(e)};"],
            [f"for (i in 1:{n}) {{ real t = 0; for (j in 1:{k}) t += {self.real(e)}; target += -square(t); }}"],
            [f"for (i in 1:{n}) y[1] ~ normal(sum({v.name}[i]) * m[2], s);"],
            [f"for (i in 1:{n}) {{ int all = 1; for (j in 1:{k}) if ({e} > {v.lower}) all = 0;"
             " target += all * m[1]; }"],
            [f"for (i in 2:{n}) for (j in 1:{k}) target += {self.pair(e, f'{v.name}[i - 1, j]')};"],
            [f"for (j in 1:{k}) {{ real t = p; for (i in 1:{n}) t += m[i % 4 + 1] * {e}; y[1] ~ normal(t, s); }}"],
            [f"for (j in 1:{k}) for (i in 1:{n}) if (i > 1 && {e} == {v.name}[i - 1, j]) target += m[1];"],
            [f"for (j in 2:{k}) for (i in 1:{n}) target += {self.pair(e, f'{v.name}[i, j - 1]')};"],
            [f"for (j in 1:{k}) target += m[1] * sum({v.name}[:, j]);"],
        ))  # fmt: skip

    def whole(self, v: Variable) -> list[str]:
        """About all elements at once."""
        everything = v.name if len(v.shape) == 1 else f"to_array_1d({v.name})"
        return self.random.choice((
            [f"target += -square(sum({everything}) * m[1] - p);"], [f"target += max({everything}) * m[2];"],
        ))  # fmt: skip

    def local(self, loop: str, e: str) -> list[str]:
        self.locals += 1
        name = f"lp{self.locals}"
        return [f"real {name} = 0; {loop} {name} += {self.real(e)}; target += {name};"]

    def carried(self, n: int, e: str) -> list[str]:
        """A variable that goes from one iteration to the next, and loops that end early."""
        self.locals += 1
        c = f"c{self.locals}"
        return self.random.choice((
            [f"real {c} = 0; for (n in 1:{n}) {{ {c} = p * {c} + {self.real(e)}; target += -square({c}); }}"],
            [f"real {c} = 0; for (n in 1:{n}) {{ {c} = p * {c} + m[2]; target += {c} * {self.real(e)}; }} "
             f"target += {c};"],
            [f"real {c} = 0; for (n in 1:{n}) {{ target += {c} * {self.real(e)}; {c} += m[1]; }} target += {c};"],
            [f"for (n in 1:{n}) {{ if (b[1 + n % 3] == 1) continue; target += {self.real(e)}; }}"],
            [f"for (n in 1:{n}) {{ if (b[1 + n % 3] == 1) break; target += {self.real(e)}; }}"],
            [f"int {c} = 1; while ({c} <= {n}) {{ target += {self.real(e.replace('[n]', f'[{c}]'))}; {c} += 1; }}"],
            [f"vector[{n}] {c}; for (n in 1:{n}) {{ {c}[n] = m[1]; if ({e} == 1) {c}[n] += s; }} "
             f"target += -dot_self({c}); target += {c}[1];"],
            [f"for (n in 1:{n}) {{ real {c} = m[1]; if ({e} == 1) {c} += s; {c} *= p; target += -square({c}); }}"],
            [f"for (n in 1:{n}) for (i in 1:{e}) target += m[i] * n;"],
        ))  # fmt: skip

    def style(self, v: Variable) -> list[str]:
        """The same in other words: copies, counters, lists, functions, slices, transformed parameters."""
        self.locals += 1
        n, z, c = v.shape[0], v.name, f"c{self.locals}"
        top, here = v.lower + v.values - 1, f"{z}[n]"
        each = f"for (n in 1:{n})"
        return self.random.choice((
            lambda: [f"array[{n}] int {c}; {each} {c}[n] = {top + v.lower} - {here}; "
                     f"{each} target += {self.real(f'{c}[n]')};"],
            lambda: [f"array[{n}] int {c} = {z}; for (n in 2:{n}) target += {self.pair(f'{c}[n]', f'{c}[n - 1]')};"],
            lambda: [f"vector[{n}] {c} = rep_vector(p, {n}); for (n in 1:N) {c}[ii[n]] = {self.real(f'{z}[jj[n]]')}; "
                     f"{each} target += -square({c}[n] - m[3]);"],
            lambda: [f"vector[{n}] {c}; {each} {{ {c}[n] = {self.real(here)}; if ({here} > {v.lower}) {c}[n] *= p; "
                     f"else {c}[n] += m[4]; }} target += sum({c}); y[1] ~ normal({c}, s);"],
            lambda: [f"int {c} = {z}[1]; for (n in 2:{n}) {{ target += {self.pair(here, c)}; {c} = {here}; }}"],
            lambda: [f"real {c} = s; {each} {{ target += {c} * {self.real(here)}; {c} = {self.real(here)}; }}"],
            lambda: [f"int {c} = 0; {each} {{ {c} += 1 + b[1 + n % 3]; if ({c} <= {n}) "
                     f"target += {self.real(f'{z}[{c}]')}; }}"],
            lambda: [f"int {c} = 1; for (i in 1:2) {{ for (n in {c}:{n}) {{ if (n > {c} + i) continue; "
                     f"target += {self.pair(here, f'{z}[{c}]')}; }} {c} += 1 + b[i]; }}"],
            lambda: [f"target += total({z}, m) * p;"], lambda: [f"{z}[1:2] ~ normal(means({z}[1:2], m), s);"],
            lambda: [f"for (k in {z}) target += {self.real('k')};"],
            lambda: [f"for (n in 1:N) {{ int {c} = b[n] == 1 ? {z}[ii[n]] : 1; target += {self.real(c)}; }}"],
            lambda: [f"{each} if (n > 1 && {z}[max(n - 1, 1)] == {here}) target += m[2]; else target += -s * {here};"],
            lambda: [f"{each} target += (n == 1 || {z}[n - (n > 1)] != {here}) ? m[1] : {self.real(here)};"],
            lambda: [f"to_vector({z}[2:{n}]) ~ normal(m[{z}[1:{n - 1}]], s);"] if v.lower else
                    [f"target += normal_lpdf(to_vector({z}[2:{n}]) | to_vector({z}[1:{n - 1}]) * p, s);"],
            lambda: [f"{each} {{ real q; real r; if ({here} == {v.lower}) {{ q = m[1]; r = s; }} else {{ q = m[2]; "
                     f"r = 1; }} y[1] ~ normal(q, r); target += -log(r); }}"],
            lambda: [f"vector[{n}] {c}; vector[{n}] d{c}; {each} {{ if ({here} == {v.lower}) {{ {c}[n] = m[1]; "
                     f"d{c}[n] = s; }} else {{ {c}[n] = m[2]; d{c}[n] = 2; }} }} "
                     f"target += normal_lpdf(y[1] | {c}, d{c});"],
            lambda: [f"{each} target += logistic_lpdf(y[2] | m[{here} + 1], s) "
                     f"- logistic_lccdf(-{here} | m[{here} + 1], s);"],
            lambda: [f"{each} for (k in {v.lower}:{top}) {{ if ({here} != k) continue; target += {self.real('k')}; }}"],
            lambda: [f"target += m[1] - p * (dot_self(m[{z if v.lower else '{1, 2}'}]) / 2 + 1); "
                     f"target += -0.5 * sum(square(to_vector({z}) - m[3]));"],
            lambda: self.transformed(v, c),
            lambda: [f"vector[{n}] {c} = rep_vector(m[1], {n}); {each} {{ if ({here} > {v.lower}) {c}[n] = s; "
                     f"else if (n % 2 == 0) {c}[n] += m[2]; }} {each} {c}[n] *= p; target += -dot_self({c});"],
            lambda: [f"for (n in 2:{n}) if (b[1 + n % 3] == 1) target += {self.pair(here, f'{z}[n - 1]')};"],
            lambda: [f"{each} for (i in n:min(n + b[1 + n % 3], {n})) target += {self.pair(here, f'{z}[i]')} / i;"],
            lambda: [f"array[{n}] int {c} = reverse(linspaced_int_array({n}, 1, {n})); "
                     f"for (n in 2:{n}) target += {self.pair(f'{z}[{c}[n]]', f'{z}[{c}[n - 1]]')};"],
            lambda: [f"for (n in 1:{n - 1}) {{ real q = 0; for (k in segment({z}, n, 2)) q += {self.real('k')}; "
                     "target += q * p; }"],
            lambda: [f"int {c} = 1; while ({c} < {n}) {{ target += {self.pair(f'{z}[{c}]', f'{z}[{c} + 1]')}; "
                     f"{c} += 1; }}"],
        ))()  # fmt: skip

    def transformed(self, v: Variable, c: str) -> list[str]:
        n, here = v.shape[0], f"{v.name}[n]"
        self.derived.append(self.random.choice((
            f"vector[{n}] {c}; for (n in 1:{n}) {c}[n] = {self.real(here)};",
            f"vector[{n}] {c} = m[1] * to_vector({v.name});",
            f"vector[{n}] {c}; for (n in 1:{n}) {{ if ({here} > {v.lower}) {c}[n] = s; else {c}[n] = m[1] / n; }}",
        )))  # fmt: skip
        return [self.random.choice((f"{c} ~ normal(p, s); ", f"target += sum({c});",
                                    f"for (n in 1:{n}) target += -square({c}[n]) * p;"))]  # fmt: skip

    # --- expressions

    def at(self, v: Variable, indices: list[str]) -> str:
        return f"{v.name}[{', '.join(indices)}]" if indices else v.name

    def real(self, e: str) -> str:
        return self.random.choice((
            f"m[{e} + 1]", f"m[2] * {e}", f"-square({e} - p)", f"({e} == 1 ? m[1] : -s)", f"term({e}, y[1], m)",
            f"normal_lpdf(y[1] | m[{e} + 1], s)", f"log1p_exp(m[3] * {e} - p)",
        ))  # fmt: skip

    def pair(self, a: str, b: str) -> str:
        return self.random.choice((
            f"m[1] * {a} * {b}", f"({a} == {b} ? m[4] : -s)", f"-square(m[{a} + 1] - {b})",
            f"normal_lpdf(y[2] | m[{b} + 1] * {a}, s)", f"m[{a} + 1] * p - m[{b} + 1]",
        ))  # fmt: skip


def program(seed: int) -> Small:
    return Writer(seed).program()


class Program(Protocol):
    """A program whose discrete parameters can be declared as data."""

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def data(self) -> dict[str, Any]: ...

    def text(self, of_data: bool = False) -> str: ...


def assignments(small: Program) -> list[dict[str, Any]]:
    """All values of the discrete parameters, as data."""
    ranges = [r for v in small.variables for r in v.ranges]
    out = []
    for flat in itertools.product(*ranges):
        rest, values = list(flat), {}
        for v in small.variables:
            own, rest = rest[: v.size], rest[v.size :]
            values[v.name] = np.array(own).reshape(v.shape).tolist()
        out.append(values)
    return out


def size_of(small: Program) -> int:
    """The number of its unconstrained parameters."""
    import stanli

    data = {**small.data, **assignments(small)[0]}
    return int(stanli.Model(stan_code=small.text(of_data=True), data=data).n_unconstrained)


Term = list[tuple[float, np.ndarray]]


def _evaluated(text: str, data: dict[str, Any], points: list[np.ndarray]) -> Term:
    import stanli

    model = stanli.Model(mir=_compiled(text), data=data)
    try:
        return [model.log_prob_grad(q) for q in points]
    except RuntimeError as e:
        if "domain error" not in str(e):
            raise
        return [(np.nan, np.full(len(q), np.nan)) for q in points]


@functools.lru_cache(maxsize=1)
def _compiled(text: str) -> str:
    """What the other implementation makes of a program's text, once for all assignments."""
    import stanli

    made: str = stanli.stan_to_mir(text)
    return made


def _translated(text: str, data: dict[str, Any], points: list[np.ndarray]) -> Term:
    found = ours.outcomes(text, data, points, "pyro")
    return [(np.nan, np.full(len(q), np.nan)) if o.rejected else (o.log_density, o.gradient)
            for o, q in zip(found, points)]  # fmt: skip


def terms(small: Program, points: list[np.ndarray]) -> list[Term]:
    """The log density of every assignment, and its gradient, at points.

    Where the other implementation throws or says NaN, the terms are those of our translation of the program with data;
    one that it rejects makes the sum NaN.
    """
    text, given = small.text(of_data=True), [{**small.data, **z} for z in assignments(small)]
    found = [_evaluated(text, data, points) for data in given]
    if np.isnan([value for t in found for value, _ in t]).any():
        found = [_translated(text, data, points) for data in given]
    return found


def summed(small: Program, points: list[np.ndarray]) -> list[tuple[float, np.ndarray]]:
    """The log of the sum over all assignments, up to a constant, and its gradient.

    An impossible assignment has a term of -inf, whatever its gradient.
    """
    found = terms(small, points)
    logs, slopes = (np.array([[part[i] for part in t] for t in found]) for i in (0, 1))
    total = np.logaddexp.reduce(logs, axis=0)
    weights = np.exp(logs - total)
    slopes = np.where(weights[..., None] > 0, slopes, 0.0)
    return [(float(t), (weights[:, i, None] * slopes[:, i]).sum(0)) for i, t in enumerate(total)]
