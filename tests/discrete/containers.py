"""Programs whose terms read containers of transformed parameters, set in many ways; and random ones."""
from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.discrete.styles import Style, Variable

N, T = 2, 3
_rng = np.random.default_rng(5)
DATA: dict[str, Any] = {
    "N": N, "T": T, "first": [1, 2], "k": [[1, 2, 1], [2, 2, 1]], "ix": [2, 1, 2],
    "y": _rng.integers(0, 2, (N, T)).tolist(), "x": _rng.normal(size=(N, T)).round(2).tolist(),
}  # fmt: skip
HEAD = """functions { real twice(real a) { return 2 * a; } }
data { int N; int T; array[N] int first; array[N, T] int k; array[T] int ix; array[N, T] int y; matrix[N, T] x;
  %given% }
parameters { vector[T] b; real a; vector[N] e; simplex[2] th; %discrete% }
transformed parameters { %derived% }
"""
CHAINS = """model { for (i in 1:N) { z[i, 1] ~ bernoulli_logit(a);
    for (t in 2:T) z[i, t] ~ bernoulli(z[i, t - 1] * inv_logit(c[i, t - 1]) + 0.1);
    for (t in 1:T) y[i, t] ~ bernoulli_logit(z[i, t] * c[i, t]); } }
"""
Z = Variable("z", (N, T), 0, 2)


def _style(derived: str, model: str = CHAINS, *variables: Variable) -> Style:
    return Style(HEAD.replace("%derived%", derived) + model, variables or (Z,), DATA, 10**5)


def _matrix(statements: str, model: str = CHAINS) -> Style:
    return _style("matrix[N, T] c; " + statements, model)


_ALL = "for (i in 1:N) for (t in 1:T)"
NAMED: dict[str, Style] = {
    "by time alone": _matrix(f"{_ALL} c[i, t] = b[t];"),
    "by first": _matrix("""for (i in 1:N) { for (t in 1:(first[i] - 1)) c[i, t] = 0.5;
  for (t in first[i]:T) c[i, t] = b[t] + a; }"""),
    "by a lookup": _matrix(f"{_ALL} c[i, t] = b[k[i, t]];"),
    "by a row": _matrix(f"{_ALL} c[i, t] = e[i] * a;"),
    "by both": _matrix(f"{_ALL} c[i, t] = e[i] * b[t];"),
    "by data": _matrix(f"{_ALL} c[i, t] = a * x[i, t];"),
    "set again": _matrix(f"{_ALL} c[i, t] = b[t]; for (t in 1:2) c[2, t] = e[t];"),
    "the next one set again": _matrix("""for (i in 1:N) c[i, 1] = 0;
  for (i in 1:N) for (t in 1:T) { c[i, t] = b[t]; if (t < T) c[i, t + 1] = a; }"""),
    "the one before set again": _matrix(f"{_ALL} {{ c[i, t] = b[1]; if (t > 1) c[i, t - 1] = e[i]; }}"),
    "branches of data": _matrix(f"{_ALL} {{ if (k[i, t] == 1) c[i, t] = b[t]; else c[i, t] = a; }}"),
    "branches of parameters": _matrix(f"{_ALL} {{ if (b[t] > 0) c[i, t] = b[t]; else c[i, t] = e[i]; }}"),
    "a sum carried on": _matrix(f"real s = 0; {_ALL} {{ s += b[t]; c[i, t] = s; }}"),
    "a local": _matrix(f"{_ALL} {{ real s = b[t] + e[i]; c[i, t] = s; }}"),
    "steps": _matrix("for (i in 1:N) { c[i, 1] = b[1]; for (t in 2:T) c[i, t] = c[i, t - 1] * a + b[t]; }"),
    "steps down": _matrix("for (t in 1:T) { c[1, t] = b[t]; c[2, t] = c[1, t] + 1; }"),
    "added to": _matrix(f"{_ALL} {{ c[i, t] = a; c[i, t] += b[t]; }}"),
    "added to again": _matrix(f"c = rep_matrix(a, N, T); {_ALL} c[i, 1] += b[t];"),
    "all, then some": _matrix("c = rep_matrix(a, N, T); for (t in 1:T) c[1, t] = b[t];"),
    "some, then all": _matrix("for (t in 1:T) c[1, t] = b[t]; c = rep_matrix(a, N, T);"),
    "all of them": _matrix("c = rep_matrix(b', N);"),
    "columns": _matrix("for (t in 1:T) c[:, t] = e * b[t];"),
    "rows": _matrix("for (i in 1:N) c[i] = b' * e[i];"),
    "of another": _matrix(f"vector[T] d; for (t in 1:T) d[t] = a; {_ALL} c[i, t] = d[t];"),
    "of another that changes": _matrix("""vector[T] d = b; for (i in 1:N) { for (t in 1:T) c[i, t] = d[t];
  for (t in 1:T) d[t] = e[i]; }"""),
    "of another that changed": _matrix("""vector[T] d; for (t in 1:T) d[t] = b[1]; for (t in 1:T) c[1, t] = d[t];
  for (t in 1:T) d[t] = b[t]; for (t in 1:T) c[2, t] = d[t];"""),
    "by a function": _matrix(f"{_ALL} c[i, t] = twice(b[ix[t]]);"),
    "at other places": _matrix(f"{_ALL} c[i, ix[t]] = b[t]; for (i in 1:N) {{ c[i, 3] = 1; c[i, 1] = e[i]; }}"),
    "a choice": _matrix(f"{_ALL} c[i, t] = t > 1 ? b[t - 1] : a;"),
    "a choice by a lookup": _matrix(f"{_ALL} c[i, t] = t > 1 ? b[k[i, t - 1]] : a;"),
    "a loop over values": _matrix("for (i in 1:N) { int t = 1; for (v in b) { c[i, t] = v; t += 1; } }"),
    "a loop that is left": _matrix("""c = rep_matrix(a, N, T);
  for (i in 1:N) for (t in 1:T) { if (k[i, t] == 1) continue; c[i, t] = b[t]; }"""),
    "vectors in an array": _style("array[N] vector[T] c; " + f"{_ALL} c[i][t] = b[t];"),
    "a declared value": _style("matrix[N, T] c = rep_matrix(a, N, T);"),
    "choices of the term": _style("", f"""model {{ {_ALL} {{
    z[i, t] ~ bernoulli_logit(t > 1 ? b[k[i, t - 1]] : a);
    y[i, t] ~ bernoulli_logit(z[i, t] * (t == 1 || k[i, t - 1] == 1 ? b[t] : a)); }} }}"""),
    "of the model": _style("", CHAINS.replace("model {", f"model {{ matrix[N, T] c; {_ALL} c[i, t] = b[t];")),
    "of the model, changed between": _style("", f"""model {{ matrix[N, T] c; {_ALL} c[i, t] = b[t];
  for (i in 1:N) for (t in 1:T) z[i, t] ~ bernoulli_logit(c[i, t]);
  for (i in 1:N) for (t in 1:T) c[i, t] = e[i] * b[t];
  for (i in 1:N) for (t in 1:T) y[i, t] ~ bernoulli_logit(z[i, t] * c[i, t]); }}"""),
    "in a loop of the model": _style("", f"""model {{ matrix[N, T] c;
  for (i in 1:N) {{ for (t in 1:T) c[i, t] = b[t]; for (t in 1:T) z[i, t] ~ bernoulli_logit(c[i, t]); }}
  {_ALL} y[i, t] ~ bernoulli_logit(z[i, t] * c[i, t]); }}"""),
    "simplexes that values choose": _style(f"""array[2, N, T] simplex[2] ps; array[2] simplex[2] po;
  {_ALL} {{ ps[1, i, t, 1] = th[1]; ps[1, i, t, 2] = th[2]; ps[2, i, t] = [0.3, 0.7]'; }}
  for (j in 1:2) {{ po[j, 1] = th[j]; po[j, 2] = 1 - th[j]; }}""", """model { for (i in 1:N) {
  s[i, 1] ~ categorical(th);
  for (t in 2:T) s[i, t] ~ categorical(ps[s[i, t - 1], i, t - 1]);
  for (t in 1:T) (y[i, t] + 1) ~ categorical(po[s[i, t]]); } }""", Variable("s", (N, T), 1, 2)),
    "simplexes by components": _style(f"""array[2, N, T] simplex[2] ps;
  {_ALL} for (j in 1:2) {{ ps[j, i, t, 1] = j == 1 ? inv_logit(b[t]) : inv_logit(a);
    ps[j, i, t, 2] = 1 - ps[j, i, t, 1]; }}
  """, """model { for (i in 1:N) { s[i, 1] ~ categorical(th);
  for (t in 2:T) s[i, t] ~ categorical(ps[s[i, t - 1], i, t - 1]);
  for (t in 1:T) y[i, t] ~ bernoulli_logit(s[i, t] * b[t]); } }""", Variable("s", (N, T), 1, 2)),
    "simplexes at once": _style(f"""array[2, N, T] simplex[2] ps; array[2] vector[3] po;
  for (j in 1:2) {_ALL} ps[j, i, t] = [th[j], 1 - th[j]]'; for (i in 1:N) ps[2, i, 1] = [0.3, 0.7]';
  ps[1, 2, 2, 1] = inv_logit(a); ps[1, 2, 2, 2] = 1 - ps[1, 2, 2, 1];
  for (j in 1:2) {{ po[j] = b * j; po[j, 2] = a; }}""", """model { for (i in 1:N) { s[i, 1] ~ categorical(th);
  for (t in 2:T) s[i, t] ~ categorical(ps[s[i, t - 1], i, t - 1]);
  for (t in 1:T) y[i, t] ~ bernoulli_logit(po[s[i, t], t]); } }""", Variable("s", (N, T), 1, 2)),
    "rows at once": _matrix("for (i in 1:N) c[i] = b' * e[k[i, 2]]; for (i in 1:N) c[i, 2] = a;"),
    "rows at once, the same": _matrix("for (i in 1:N) c[i] = b';"),
    "where values choose the row": _style(
        "array[2, N] real c; for (j in 1:2) for (i in 1:N) c[j, i] = j == 1 ? a : e[i];",
        """model { for (i in 1:N) { w[i] ~ categorical(th);
  for (t in 1:T) y[i, t] ~ bernoulli_logit(c[w[i], i] * b[t]); } }""",
        Variable("w", (N,), 1, 2)),
}  # fmt: skip


def random_style(seed: int) -> Style:
    """A program with a container that random statements set."""
    r = random.Random(seed)
    statements = ["c = rep_matrix(a, N, T);"] if r.random() < 0.4 else [f"{_ALL} c[i, t] = {_value(r, 'i', 't')};"]
    statements += [_nest(r) for _ in range(r.randint(1, 4))]
    return _matrix("vector[T] d = b; real s = 0.1; " + " ".join(statements))


def _nest(r: random.Random) -> str:
    """Loops with assignments inside."""
    inner = "".join(_assigned(r, "i", "t") for _ in range(r.randint(1, 3)))
    bounds = r.choice(["1:T", "first[i]:T", "1:(first[i] - 1)", "2:T", "1:ix[i]"])
    order = [f"for (i in 1:N) for (t in {bounds})", "for (t in 1:T) for (i in 1:N)"]
    return f"{r.choice(order)} {{ {inner} }}"


def _assigned(r: random.Random, i: str, t: str) -> str:
    at = r.choice([f"{i}, {t}"] * 8 + [f"{i}, ix[{t}]", f"first[{i}], {t}", "1, t", "i, 2", "N + 1 - i, t"])
    kind = r.random()
    if kind < 0.1:
        return f"s += {_value(r, i, t)}; "
    if kind < 0.2:
        return f"d[{t}] = {_value(r, i, t)}; "
    if kind < 0.3:
        return f"c[{r.choice([i, 'first[i]', '1'])}] = {r.choice(['b', 'd'])}' * {_value(r, i, t)}; "
    one = f"c[{at}] {r.choice(['='] * 9 + ['+='])} {_value(r, i, t)};"
    if r.random() < 0.3:
        condition = r.choice([f"k[{i}, {t}] == 1", f"{t} > 1", f"{t} == first[{i}]", f"{i} == 1", f"{i} < {t}"])
        other = f" else c[{at}] = {_value(r, i, t)};" if r.random() < 0.5 else ""
        return f"if ({condition}) {one}{other} "
    return one + " "


def _value(r: random.Random, i: str, t: str) -> str:
    parts = ["a", f"b[{t}]", f"e[{i}]", f"b[k[{i}, {t}]]", f"b[ix[{t}]]", f"d[{t}]", "0.5", f"twice(b[{t}])",
             f"x[{i}, {t}]"]  # fmt: skip
    weights = [6, 8, 1, 5, 3, 1, 2, 2, 0.5]
    others = ["s", f"c[{i}, {t}]", f"c[1, {t}]", f"({t} > 1 ? b[{t} - 1] : a)"]
    found = r.choices([*parts, *others], [*weights, 0.3, 0.3, 0.5, 1])
    return found[0] if r.random() < 0.7 else f"{found[0]} * {r.choices(parts, weights)[0]}"
