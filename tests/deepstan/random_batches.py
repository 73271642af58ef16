"""Random programs about rows of data: what is right of a minibatch of them, whatever a minibatch makes of them.

Their expressions mix what rows have for themselves with what takes them together, so that many are to be refused.
"""
from __future__ import annotations

import random
from collections.abc import Callable

_HEAD = """
functions {
  real total(vector v, real a) { real s = 0; for (i in 1:num_elements(v)) s += v[i] * a; return s; }
  vector shifted(vector v, real a) { vector[rows(v)] u = v; for (i in 1:rows(v)) u[i] = v[i] + a; return u; }
  real own(vector v, int n) { return tanh(v[n]); }
  void adds_lp(vector v, real a) { v ~ normal(a, 2); }
  real part(array[] real v, int start, int end, real a, vector u) { return sum(a * to_vector(v) .* u[start:end]); }
  real counted(vector v, real a) { real s = 0; for (i in 1:3) { if (a * sum(v) > i) break; s += 0.5; } return s; }
  real refused(vector v, real a) { if (a * sum(v) > 1) reject("far"); return a; }
  vector either(vector u, vector v, real a) { if (a > 0) return u; return v; }
  real carried(vector v) { real s = 0; for (i in 1:rows(v)) s = tanh(s + v[i]); return s; }
}
data { int N; int K; vector[N] y; matrix[N, K] x; array[N] int<lower=1, upper=K> g; vector[K] w;
  matrix[K, N] t; array[N] vector[K] a; array[N] real r; }
parameters { real m; vector[N] z; vector[K] b; matrix[K, N] e; }
"""


def _program(lines: list[str]) -> str:
    return f"{_HEAD}model {{ {' '.join(lines)} }}"


class Programs:
    """Writes programs, each by the seed that is given."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.scalars, self.vectors, self.columns = ["m"], ["y", "z"], ["w", "b"]
        self.inside = 0  # of loops over rows
        self.made = 0

    def one(self, is_accepted: Callable[[str], bool], most: int = 8) -> str:
        """A program of statements of which each is accepted with those before it."""
        lines: list[str] = []
        for _ in range(2 * most):
            known = [list(names) for names in (self.scalars, self.vectors, self.columns)]
            statement = self.statement(2)
            if is_accepted(_program([*lines, statement])):
                lines.append(statement)
            else:
                self.scalars, self.vectors, self.columns = known
            if len(lines) == most:
                break
        sums = [f"target += {n};" for n in self.scalars] + [f"target += sum({n});" for n in self.vectors + self.columns]
        for statement in sums:
            lines += [statement] if is_accepted(_program([*lines, statement])) else []
        return _program(lines)

    def _pick(self, *choices: Callable[[], str]) -> str:
        return self.random.choice(choices)()

    def _name(self) -> str:
        self.made += 1
        return f"v{self.made}"

    # --- expressions: numbers, one for every row, one for every column

    def scalar(self, deep: int) -> str:
        """A number."""
        r, s, v, c = self.random, self.scalar, self.vector, self.column
        plain = [lambda: r.choice(self.scalars), lambda: r.choice(self.scalars), lambda: r.choice(["0", "1", "0.5"])]
        plain += [lambda: "y[n]", lambda: "z[n]", lambda: "x[n, 1]", lambda: "b[g[n]]"] * 2 if self.inside else []
        if deep <= 0:
            return self._pick(*plain)
        d = deep - 1
        more = [
            lambda: f"({s(d)} + {s(d)})", lambda: f"({s(d)} - {s(d)})", lambda: f"({s(d)} * {s(d)})",
            lambda: f"tanh({s(d)})", lambda: f"(K > 1 ? {s(d)} : {s(d)})", lambda: f"({s(d)} > 0 ? {s(d)} : {s(d)})",
            lambda: f"{c(d)}[1]",
        ]  # fmt: skip
        whole = [
            lambda: f"sum({v(d)})", lambda: f"dot_product({v(d)}, {v(d)})", lambda: f"mean({v(d)})", lambda: "N",
            lambda: f"num_elements({v(d)})", lambda: f"total({v(d)}, {s(d)})", lambda: f"carried({v(d)})",
            lambda: f"max({v(d)})", lambda: f"{v(d)}[1]", lambda: f"normal_lpdf({v(d)} | {s(d)}, 2)",
            lambda: f"counted({v(d)}, {s(d)})", lambda: f"refused({v(d)}, {s(d)})",
            lambda: f"reduce_sum(part, r, 1, {s(d)}, {v(d)})", lambda: "size(to_vector(x))",
            lambda: f"squared_distance({v(d)}, {v(d)})", lambda: f"sum({c(d)})",
        ]  # fmt: skip
        if self.inside:
            whole += [lambda: f"own({v(d)}, n)", lambda: f"{v(d)}[n]", lambda: "n",
                      lambda: f"dot_product(x[n], {c(d)})", lambda: f"dot_product(e[, n], {c(d)})"] * 3  # fmt: skip
        return self._pick(*plain, *more, *(whole if r.random() < 0.6 else more))

    def vector(self, deep: int) -> str:
        """A vector of N."""
        if deep <= 0:
            return self.random.choice(self.vectors)
        s, v, c, d = self.scalar, self.vector, self.column, deep - 1
        return self._pick(
            lambda: self.random.choice(self.vectors), lambda: f"({v(d)} + {v(d)})", lambda: f"({v(d)} .* {v(d)})",
            lambda: f"({s(d)} * {v(d)})", lambda: f"({v(d)} - {s(d)})", lambda: f"tanh({v(d)})",
            lambda: f"(x * {c(d)})", lambda: f"{c(d)}[g]", lambda: f"shifted({v(d)}, {s(d)})",
            lambda: f"rep_vector({s(d)}, N)",
            lambda: f"(e' * {c(d)})", lambda: f"rows_dot_product(x, rep_matrix({v(d)}, K))", lambda: "x[, 1]",
            lambda: f"reverse({v(d)})", lambda: f"cumulative_sum({v(d)})", lambda: f"{v(d)}[1:N]", lambda: "e[2]'",
            lambda: f"{v(d)}[g]", lambda: f"softmax({v(d)})", lambda: f"(K > 1 ? {v(d)} : {v(d)})",
            lambda: f"either({v(d)}, {v(d)}, {s(d)})", lambda: self.random.choice(["t[1]'", "to_vector(r)"]),
            lambda: f"rows_dot_product({v(d)}, {v(d)})", lambda: f"append_row({v(d)}[2:N], {s(d)})",
        )  # fmt: skip

    def column(self, deep: int) -> str:
        """A vector of K."""
        if deep <= 0:
            return self.random.choice(self.columns)
        s, v, c, d = self.scalar, self.vector, self.column, deep - 1
        inside = (lambda: "x[n]'", lambda: "e[, n]", lambda: "a[n]", lambda: "t[, n]") if self.inside else ()
        return self._pick(
            lambda: self.random.choice(self.columns), lambda: f"({c(d)} + {c(d)})", lambda: f"({s(d)} * {c(d)})",
            lambda: f"tanh({c(d)})", lambda: f"rep_vector({s(d)}, K)", lambda: f"(x' * {v(d)})",
            lambda: f"(e * {v(d)})", *inside,
        )  # fmt: skip

    # --- statements

    def statement(self, deep: int) -> str:
        """A statement; what it declares is known to those after it in its block."""
        simple = [self.term, self.law, self.declared, self.set_vector, self.set_part]
        simple += [self.set_number] * (4 if self._own(self.scalars) else 1)
        nested = [lambda f=f: f(deep - 1) for f in (self.loop_over_rows, self.loop, self.branch)] if deep else []
        return self._pick(*simple, *nested * 2)

    def term(self) -> str:
        return self._pick(lambda: f"target += {self.scalar(2)};", lambda: f"target += sum({self.vector(2)});")

    def law(self) -> str:
        return self._pick(
            lambda: f"{self.vector(1)} ~ normal({self.vector(2)}, 2);", lambda: f"m ~ normal({self.scalar(2)}, 2);",
            lambda: f"b ~ normal({self.scalar(2)}, 2);", lambda: f"{self.vector(2)} ~ normal({self.scalar(1)}, 2);",
            lambda: f"g ~ categorical(softmax({self.column(1)}));", lambda: f"adds_lp(y, {self.scalar(1)});",
            lambda: f"to_vector(x) ~ normal({self.scalar(1)}, 3);",
            lambda: f"y ~ normal_id_glm(x, {self.vector(1)}, {self.column(1)}, 2);",
            lambda: f"a ~ multi_normal({self.column(1)}, identity_matrix(K));",
            lambda: f"{self.vector(0)} ~ normal({self.scalar(1)}, 2) T[-50, ];",
            lambda: f"adds_lp({self.vector(1)}, {self.scalar(1)});",
        )  # fmt: skip

    def declared(self) -> str:
        kind = self.random.randrange(3)
        name, text = self._name(), (self.scalar, self.vector, self.column)[kind](2)
        start = "0" if kind == 0 and self.random.random() < 0.7 else text
        (self.scalars, self.vectors, self.columns)[kind].append(name)
        return f"{('real', 'vector[N]', 'vector[K]')[kind]} {name} = {start};"

    def _own(self, names: list[str]) -> str | None:
        own = [n for n in names if n.startswith("v")]
        return self.random.choice(own) if own else None

    def set_number(self) -> str:
        name = self._own(self.scalars)
        if name is None:
            return self.declared()
        r, s = self.random, self.scalar
        return r.choice([f"{name} += {s(2)};", f"{name} += {s(2)};", f"{name} = {s(2)};", f"{name} = {s(1)} - {name};",
                         f"{name} -= {s(2)};", f"{name} *= {s(1)};", f"{name} = 0;"])  # fmt: skip

    def set_vector(self) -> str:
        name = self._own(self.vectors)
        value = self.vector(2)
        return self.declared() if name is None else self.random.choice([f"{name} += {value};", f"{name} = {value};"])

    def set_part(self) -> str:
        vector, column = self._own(self.vectors), self._own(self.columns)
        if vector is not None and self.random.random() < 0.7:
            at = self.random.choice(["n", "n", "n", "1"] if self.inside else ["1:N", "1", ""])
            value = self.vector(1) if at in ("1:N", "") else self.scalar(2)
            return f"{vector}[{at}] {self.random.choice(['=', '+='])} {value};"
        if column is None:
            return self.declared()
        at = self.random.choice(["1", "g[n]"]) if self.inside else "1"
        return f"{column}[{at}] {self.random.choice(['=', '+='])} {self.scalar(2)};"

    def _block(self, deep: int, most: int = 3) -> str:
        kept = [list(names) for names in (self.scalars, self.vectors, self.columns)]
        lines = [self.statement(deep) for _ in range(self.random.randint(1, most))]
        self.scalars, self.vectors, self.columns = kept
        return f"{{ {' '.join(lines)} }}"

    def loop_over_rows(self, deep: int) -> str:
        if self.inside:
            return self.loop(deep)
        self.inside += 1
        body = self._block(deep)
        self.inside -= 1
        return f"for (n in 1:N) {body}"

    def loop(self, deep: int) -> str:
        return f"for (k{deep} in 1:K) {self._block(deep)}"

    def branch(self, deep: int) -> str:
        condition = self.random.choice(["K > 1", "K > 2", f"{self.scalar(1)} > 0"])
        otherwise = f" else {self._block(deep, 2)}" if self.random.random() < 0.4 else ""
        return f"if ({condition}) {self._block(deep, 2)}{otherwise}"
