"""Random programs about histories: chains of many individuals that data know in part and that end alike.

States that are never left, rates that are constant or differ, kinds of individuals, occasions on which all changes,
and other discrete parameters beside. Every piece of a program is its text and its weight in plain NumPy, and the whole
is summed by the forward algorithm for every assignment to what all histories depend on.
"""
from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.discrete.numbers import Numbers, Sum, Weight, forward
from tests.discrete.series import Series, series

Values = Mapping[str, Any]  # of discrete parameters: numbers, or one for each individual
Rate = Callable[[Numbers, int, int, Values], Any]  # of an individual on an occasion, both from 0 on
Own = Callable[[Numbers, int, int, int, Values], Weight]  # of its state there
Move = Callable[[Numbers, int, int, int, int, Values], Weight]  # of the state before, and its own

HEAD = """data { int I; int T; array[I, T] int y; array[I, T] int c; array[I, T] real x; array[I] int first;
  array[I] int last; array[I, T] int low; array[I, T] int high; array[I] int g; array[I, T] int age; %series% }
parameters { vector<lower=0, upper=1>[3] phi; array[2] vector<lower=0, upper=1>[T] p; vector[3] m; real<lower=0> s;
  %discrete% }
"""


@dataclass(frozen=True)
class History:
    """A program, its data, and what is to be summed in it."""

    text: str
    data: dict[str, Any]
    first: Own | None  # of the state of an individual on its first occasion
    move: Move
    own: Sequence[Own]
    kinds: Mapping[str, Sequence[int]]  # values of what each individual has one of, or all have in common
    each: frozenset[str]  # which of them are of each individual
    of_kinds: Mapping[str, Callable[[Numbers, int], Weight]]
    series: Series
    backwards: bool = False

    @property
    def size(self) -> int:
        """The number of unconstrained parameters."""
        return 7 + 2 * int(self.data["T"])

    def expected(self, q: np.ndarray) -> tuple[float, np.ndarray]:
        """The log density, and its gradient."""
        n = Numbers(q, self.data["T"])
        shared = {**self.series.values, **{k: v for k, v in self.kinds.items() if k not in self.each}}
        total = Sum(n.one * 0)
        for found in itertools.product(*shared.values()):
            values = dict(zip(shared, found))
            total = total + self._given(n, values)
        prior = np.prod([n.normal(0.0, m, 2.0) for m in n.m], axis=0) * np.exp(-n.s)
        return (total * Sum(n.one * prior * np.exp(n.jacobian))).value

    def _given(self, n: Numbers, values: Values) -> Sum:
        """The sum for one assignment to what all have in common."""
        out = self.series.weight(n, values, self.data)
        for k in self.kinds:
            if k not in self.each:
                out = out * Sum(n.one * self.of_kinds[k](n, values[k]))
        for i in range(self.data["I"]):
            own = {k: v for k, v in self.kinds.items() if k in self.each}
            one = Sum(n.one * 0)
            for found in itertools.product(*own.values()):
                mine = dict(zip(own, found))
                law = np.prod([n.one, *(self.of_kinds[k](n, v) for k, v in mine.items())], axis=0)
                one = one + Sum(law) * self._chain(n, i, {**values, **mine})
            out = out * one
        return out

    def _chain(self, n: Numbers, i: int, values: Values) -> Sum:
        d = self.data
        states = [range(a, b + 1) for a, b in zip(d["low"][i], d["high"][i])]
        order = list(range(d["first"][i] - 1, d["last"][i]))
        apart = np.prod([float(len(s)) for t, s in enumerate(states) if t not in order])
        if self.backwards:
            order.reverse()

        def start(b: int) -> Weight:
            return n.one if self.first is None else n.one * self.first(n, i, order[0], b, values)

        def step(at: int, a: int, b: int) -> Weight:
            t, moved = order[at], self.move(n, i, order[at], a, b, values)
            return np.prod([n.one * moved, *(n.one * f(n, i, t, b, values) for f in self.own)], axis=0)

        if not order:
            return Sum(n.one * apart)
        return Sum(n.one * apart) * forward([states[t] for t in order], start, step)


@dataclass
class Writer:
    """Writes one program from a source of random numbers."""

    seed: int
    kinds: dict[str, list[int]] = field(default_factory=dict)
    each: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random, self.rng = random.Random(self.seed), np.random.default_rng(self.seed)
        r = self.random
        self.individuals = r.choice((1, 2, 3, 4, 6))
        self.occasions = r.choice((2, 3, 4, 6, 8, 10, 12, 20))
        self.states, self.lowest = r.choice(((2, 0),) * 6 + ((2, 1), (3, 1)))
        self.backwards = r.random() < 0.15

    def program(self) -> History:
        self._of_kinds()
        data = self.data()
        changes = series(self.random, self.rng, self.occasions)
        rate = self.rate(changes)
        move_text, move = self.move(rate)
        first_text, first = self.first()
        own = [self.own() for _ in range(self.random.choice((0, 1, 1, 2)))]
        body = " ".join([move_text, *(t for t, _ in own)])
        ends = ("first[i]", "last[i] - 1") if self.backwards else ("first[i] + 1", "last[i]")
        loops = self.loops(first_text, body, *ends)
        text = "".join((
            HEAD.replace("%series%", changes.data_text).replace("%discrete%", self.declared(changes)),
            f"model {{\n  target += normal_lpdf(m | 0, 2) - s;\n  {changes.text}\n  {self.laws}\n  {loops}\n}}\n",
        ))  # fmt: skip
        return History(self.named(text), {**data, **changes.data}, first, move, [f for _, f in own], self.kinds,
                       frozenset(self.each), self.of_kinds, changes, self.backwards)  # fmt: skip

    # --- declarations

    def declared(self, changes: Series) -> str:
        """Those of all discrete parameters."""
        sizes = {"[i, t]": "I, T", "[t, i]": "T, I", "[i][t]": "I, T"}
        self.layout = self.random.choice(list(sizes))
        out = [f"array[{sizes[self.layout]}] int<lower={self._bound('low')}, upper={self._bound('high')}> z;"]
        for k, v in self.kinds.items():
            array_ = "array[I] " if k in self.each else ""
            out.append(f"{array_}int<lower={v[0]}, upper={v[-1]}> {k};")
        out.append(changes.declared)
        self.random.shuffle(out)
        return " ".join(out)

    def _bound(self, name: str) -> str:
        """One that is the same for all states, as a number; else that of each."""
        values = set(self.given[name].reshape(-1).tolist())
        if len(values) == 1:
            return str(values.pop())
        return f"turned({name})" if self.layout == "[t, i]" else name

    def named(self, text: str) -> str:
        """The program with elements of z in place of HERE and BEFORE."""
        before = "t + 1" if self.backwards else "t - 1"
        here = f"z{self.layout}"
        first = "last[i]" if self.backwards else "first[i]"
        text = text.replace("HERE", here).replace("BEFORE", here.replace("t", before)).replace(
            "FIRST", here.replace("t", first)
        )
        if self.layout != "[t, i]":
            return text
        return """functions { array[,] int turned(array[,] int a) { array[dims(a)[2], dims(a)[1]] int b;
  for (i in 1:dims(a)[1]) for (t in 1:dims(a)[2]) b[t, i] = a[i, t]; return b; } }
""" + text

    def _of_kinds(self) -> None:
        r = self.random
        self.of_kinds: dict[str, Callable[[Numbers, int], Weight]] = {}
        self.laws = ""
        if r.random() < 0.35:  # kinds of individuals
            self.kinds["w"] = [0, 1]
            self.each.add("w")
            self.of_kinds["w"] = lambda n, k: n.bernoulli(k, n.phi[2])
            self.laws += "w ~ bernoulli(phi[3]);"
        if r.random() < 0.25:  # what all have in common
            self.kinds["v"] = [1, 2, 3]
            self.of_kinds["v"] = lambda n, k: np.exp(n.m[k - 1])
            self.laws += " target += m[v];"
        if r.random() < 0.25:  # what nothing else depends on
            self.kinds["o"] = [-1, 0, 1]
            self.of_kinds["o"] = lambda n, k: np.exp(-((n.m[0] - k) ** 2))
            self.laws += " target += -square(m[1] - o);"

    # --- pieces

    def rate(self, changes: Series) -> tuple[str, Rate]:
        """Of what is between 0 and 1, and may depend on the individual and the occasion."""
        plain: list[tuple[str, Rate]] = [
            ("phi[1]", lambda n, i, t, v: n.phi[0]),
            ("phi[age[i, t]]", lambda n, i, t, v: n.phi[self.given["age"][i, t] - 1]),
            ("phi[g[i]]", lambda n, i, t, v: n.phi[self.given["g"][i] - 1]),
            ("p[1, t]", lambda n, i, t, v: n.p[0, t]),
            ("p[g[i], t]", lambda n, i, t, v: n.p[self.given["g"][i] - 1, t]),
            ("phi[2] * p[1, t]", lambda n, i, t, v: n.phi[1] * n.p[0, t]),
            ("0.4", lambda n, i, t, v: 0.4),
        ]
        if "w" in self.each:
            plain += [("phi[1 + w[i]]", lambda n, i, t, v: n.phi[v["w"]])] * 2
        if "v" in self.kinds and self.individuals < 4:
            plain.append(("phi[v]", lambda n, i, t, v: n.phi[v["v"] - 1]))
        if changes.shared and self.individuals < 4:
            plain.append(("(t < u ? phi[1] : phi[2])", lambda n, i, t, v: n.phi[0 if t + 1 < v["u"] else 1]))
        return self.random.choice(plain)

    def move(self, rate: tuple[str, Rate]) -> tuple[str, Move]:
        """The statement about a state and the one before, of which the highest, or the lowest, is never left."""
        r, text, of = self.random, *rate
        low = self.lowest
        if self.states == 3:
            return self._of_three(text, of)
        if low == 1:
            rows = f"HERE ~ categorical(BEFORE == 1 ? [{text}, 1 - {text}]' : [0, 1]');"
            return rows, lambda n, i, t, a, b, v: n.bernoulli(int(b == 1), of(n, i, t, v) if a == 1 else 0.0)
        dies: Move = lambda n, i, t, a, b, v: n.bernoulli(b, a * of(n, i, t, v))
        return r.choice((
            *((f"HERE ~ bernoulli(BEFORE * {text});", dies), (f"HERE ~ bernoulli({text} * BEFORE);", dies)) * 3,
            (f"HERE ~ bernoulli(1 - (1 - BEFORE) * {text});",
             lambda n, i, t, a, b, v: n.bernoulli(b, 1 - (1 - a) * of(n, i, t, v))),
            (f"if (BEFORE == 1) HERE ~ bernoulli({text}); else HERE ~ bernoulli(0);", dies),
            (f"if (BEFORE == 1) target += bernoulli_lpmf(HERE | {text}); "
             "else if (HERE == 1) target += negative_infinity();", dies),
            ("if (HERE > BEFORE) target += negative_infinity(); else target += m[1] * HERE + m[2] * BEFORE;",
             lambda n, i, t, a, b, v: n.one * 0 if b > a else np.exp(n.m[0] * b + n.m[1] * a)),
            (f"target += HERE < BEFORE ? negative_infinity() : HERE * log({text});",
             lambda n, i, t, a, b, v: n.one * 0 if b < a else n.one * (of(n, i, t, v) if b else 1)),
            (f"HERE ~ bernoulli(BEFORE ? {text} : phi[3]);",
             lambda n, i, t, a, b, v: n.bernoulli(b, of(n, i, t, v) if a else n.phi[2])),
            ("target += HERE == BEFORE ? m[3] : -s;",
             lambda n, i, t, a, b, v: np.exp(n.m[2] if a == b else -n.s)),
        ))  # fmt: skip

    def _of_three(self, text: str, of: Rate) -> tuple[str, Move]:
        """Two states between which individuals move, and one, 3, which is never left."""

        def move(n: Numbers, i: int, t: int, a: int, b: int, v: Values) -> Weight:
            stay = of(n, i, t, v)
            if a == 3:
                return n.one * float(b == 3)
            parts = [stay * n.phi[a - 1], stay * (1 - n.phi[a - 1]), 1 - stay]
            return n.one * parts[b - 1]

        rows = ", ".join(f"[{text} * phi[{a}], {text} * (1 - phi[{a}]), 1 - {text}]" for a in (1, 2))
        return f"{{ array[3] row_vector[3] move = {{{rows}, [0, 0, 1]}}; HERE ~ categorical(move[BEFORE]'); }}", move

    def first(self) -> tuple[str, Own | None]:
        """The statement about the state on the first occasion."""
        low = self.lowest
        options: list[tuple[str, Own | None]] = [
            ("", None), ("target += m[2] * FIRST;", lambda n, i, t, b, v: np.exp(n.m[1] * b)),
        ]  # fmt: skip
        if low == 0:
            options.append(("FIRST ~ bernoulli(phi[2]);", lambda n, i, t, b, v: n.bernoulli(b, n.phi[1])))
        elif self.states == 2:
            options.append(("FIRST ~ categorical([phi[3], 1 - phi[3]]');",
                            lambda n, i, t, b, v: n.bernoulli(2 - b, n.phi[2])))  # fmt: skip
        return self.random.choice(options)

    def own(self) -> tuple[str, Own]:
        """A statement about one state."""
        dead = {0: 0, 1: self.states}[self.lowest]
        here = "HERE" if self.lowest == 0 else f"(HERE < {self.states})"
        alive = lambda b: int(b != dead)
        rates: list[tuple[str, Rate]] = [
            ("p[g[i], t]", lambda n, i, t, v: n.p[self.given["g"][i] - 1, t]),
            ("p[2, t]", lambda n, i, t, v: n.p[1, t]),
            ("p[1, 1]", lambda n, i, t, v: n.p[0, 0]), ("phi[2]", lambda n, i, t, v: n.phi[1]),
        ]  # fmt: skip
        if "w" in self.each:
            rates.append(("p[1 + w[i], t]", lambda n, i, t, v: n.p[v["w"], t]))
        text, of = self.random.choice(rates)
        seen: Own = lambda n, i, t, b, v: n.bernoulli(self.given["y"][i, t], alive(b) * of(n, i, t, v))
        shift = 1 - self.lowest
        return self.random.choice((
            *(self._of_some(here, text, of, alive, shift) if "w" in self.each else ()),
            (f"y[i, t] ~ bernoulli({here} * {text});", seen), (f"y[i, t] ~ bernoulli({here} * {text});", seen),
            (f"if (c[i, t] > 0) y[i, t] ~ bernoulli({here} * {text});",
             lambda n, i, t, b, v: seen(n, i, t, b, v) if self.given["c"][i, t] > 0 else n.one),
            (f"y[i, t] ~ bernoulli({here} ? {text} : 0.1);",
             lambda n, i, t, b, v: n.bernoulli(self.given["y"][i, t], of(n, i, t, v) if alive(b) else 0.1)),
            ("target += m[1] * HERE * c[i, t];", lambda n, i, t, b, v: np.exp(n.m[0] * b * self.given["c"][i, t])),
            (f"x[i, t] ~ normal(m[HERE + {shift}], s);",
             lambda n, i, t, b, v: n.normal(self.given["x"][i, t], n.m[b + shift - 1])),
        ))  # fmt: skip

    def _of_some(
        self, here: str, text: str, of: Rate, alive: Callable[[int], int], shift: int
    ) -> Sequence[tuple[str, Own]]:
        """Statements that say something of individuals of one kind alone."""
        y, x, c = (self.given[name] for name in "yxc")
        return [
            (f"y[i, t] ~ bernoulli(w[i] * {here} * {text});",
             lambda n, i, t, b, v: n.bernoulli(y[i, t], v["w"] * alive(b) * of(n, i, t, v))),
            (f"y[i, t] ~ bernoulli(w[i] * {text} * {here});",
             lambda n, i, t, b, v: n.bernoulli(y[i, t], v["w"] * alive(b) * of(n, i, t, v))),
            (f"if (w[i] == 1) x[i, t] ~ normal(m[HERE + {shift}], s);",
             lambda n, i, t, b, v: n.normal(x[i, t], n.m[b + shift - 1]) if v["w"] else n.one),
            (f"if (!w[i] && {here}) target += m[1] * c[i, t] + m[2] * x[i, t];",
             lambda n, i, t, b, v: n.one if v["w"] or not alive(b) else np.exp(n.m[0] * c[i, t] + n.m[1] * x[i, t])),
        ]  # fmt: skip

    def loops(self, first: str, body: str, lower: str, upper: str) -> str:
        return self.random.choice((
            f"for (i in 1:I) {{ {first} for (t in ({lower}):({upper})) {{ {body} }} }}",
            f"for (i in 1:I) {{ {first} }} for (i in 1:I) for (t in ({lower}):({upper})) {{ {body} }}",
            f"for (t in 1:T) for (i in 1:I) if (t >= {lower} && t <= {upper}) {{ {body} }} "
            f"for (i in 1:I) {{ {first} }}",
        ))

    # --- data

    def data(self) -> dict[str, Any]:
        count, occasions, r, rng = self.individuals, self.occasions, self.random, self.rng
        first = rng.integers(1, min(occasions, 3) + 1, count)
        last = np.full(count, occasions) if r.random() < 0.6 else rng.integers(first, occasions + 1)
        shape = (count, occasions)
        low, high = self._bounds(first, last)
        seen = np.zeros(shape, int) if r.random() < 0.5 else self._sightings(low, high)
        same = r.random() < 0.5
        age = np.ones(shape, int) if same else rng.integers(1, 4, shape)
        if not same and r.random() < 0.5:
            age[:] = age[0]
        g = rng.integers(1, 3, count) if r.random() < 0.5 else np.ones(count, int)
        c = rng.integers(-1, 2, shape) if r.random() < 0.5 else np.ones(shape, int)
        x = np.zeros(shape) if r.random() < 0.5 else rng.normal(size=shape).round(2)
        self.given = {"first": first, "last": last, "low": low, "high": high, "y": seen, "age": age, "g": g, "c": c,
                      "x": x}  # fmt: skip
        return {"I": count, "T": occasions, **{k: v.tolist() for k, v in self.given.items()}}

    def _sightings(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Of which individuals that are known to be alive have most."""
        known = (low == high) & (low == 1)
        return np.where(known, self.rng.integers(0, 2, low.shape), 0)

    def _bounds(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest state of every individual: what was seen of it is known."""
        r, shape = self.random, (self.individuals, self.occasions)
        top, alive = self.lowest + self.states - 1, 1
        low, high = np.full(shape, self.lowest), np.full(shape, top)
        at = np.arange(1, self.occasions + 1)[None]
        if r.random() < 0.7:  # nothing is asked before the first occasion
            low[at < first[:, None]] = high[at < first[:, None]] = alive
        if r.random() < 0.75:  # seen last
            seen = self.rng.integers(0, self.occasions, self.individuals)
            if r.random() < 0.4:
                seen[: self.individuals // 2 + 1] = seen[0]
            inside = (at >= first[:, None]) & (at <= seen[:, None])
            low[inside] = high[inside] = alive
        if r.random() < 0.2:  # found dead
            inside = (at == last[:, None]) & (self.rng.random(shape) < 0.5) & (low < high)
            low[inside] = high[inside] = 0 if self.lowest == 0 else top
        return low, high


def history(seed: int) -> History:
    return Writer(seed).program()
