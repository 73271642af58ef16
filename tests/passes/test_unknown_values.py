"""Sizes that parameters decide: refused when a program is translated, and none that are known when it runs."""
from __future__ import annotations

import re

import numpy as np
import pytest

import stanimport
from stanimport.errors import StanSemanticError
from stanimport.inference import LogProb

PROGRAM = """functions {
  real from(vector v, int k) { return norm2(v[k:]); }
  real twice(vector v, int k) { return from(v, k) + from(v, 1); }
  real down(vector v, int k) { return k < 1 ? 0 : sd(v[k:]) + down(v, k - 1); }
}
data { int N; vector[N] y; }
parameters { real a; matrix[N, N] M; }
model {
  int k = 1;
  while (k < a) k += 1;
  %s
}"""

REFUSED = {
    "after a while": ("target += sd(y[1:k]);", "k"),
    "rows": ("target += sum(M[k:]);", "k"),
    "columns": ("target += sum(M[, :k]);", "k"),
    "a computed bound": ("int j = 2 * k; target += sd(y[1:j - 1]);", "j - 1"),
    "a branch on parameters": ("int j = 1; if (a > 1) j = 2; target += sd(y[j:]);", "j"),
    "what was decided before": ("int j = k; k = 1; target += sd(y[j:]);", "j"),
    "both sides of a branch on data": ("int j; if (N > 2) j = k; else j = k + 1; target += sd(y[j:]);", "j"),
    "the index of a loop that parameters end": ("for (i in 1:k) { real s = sd(y[i:]); target += s * target(); }", "i"),
    "a size": ("vector[k] v = rep_vector(a, k); target += sum(v);", "k"),
    "an array with a part of theirs": ("array[2] int j = {1, 2}; j[1] = k; target += sd(y[j[2]:]);", "j[2]"),
    "an array of which they choose a part": ("array[2] int j = {1, 2}; j[k] = 1; target += sd(y[j[2]:]);", "j[2]"),
    "an array of what they decide": ("array[2] int j = {k, 2}; target += sd(y[j[2]:]);", "j[2]"),
    "in a function": ("target += from(y, k);", "k"),
    "in a function of a function": ("target += twice(y, k);", "k"),
    "in a function that calls itself": ("target += down(y, k);", "k"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_sizes_that_parameters_decide_are_refused_at_translation(case):
    statement, size = REFUSED[case]
    with pytest.raises(StanSemanticError, match=re.escape(f"the size {size} depends on parameters")) as e:
        stanimport.loads(PROGRAM % statement)
    text = PROGRAM.splitlines()[e.value.lineno - 1]
    assert text == "  %s" or "function" in case and "v[k:]" in text
    stanimport.loads(PROGRAM % statement, backend="pyro")


# Statements whose sizes are known although parameters decide something, and what they add for a of 0.5.
Y = np.array([0.5, 2.0, -1.0, 3.0])
ACCEPTED = {
    "the other item of a tuple": ("array[1] tuple(int, int) j; j[1].1 = k; j[1].2 = 2; target += a * sd(y[j[1].2:]);",
                                  lambda a: a * Y[1:].std(ddof=1)),
    "another array": ("array[2] int i = {k, 2}; array[2] int j = {1, 2}; i[1] = j[1]; target += a * sd(y[j[2]:]);",
                      lambda a: a * Y[1:].std(ddof=1)),
    "known again": ("k = 2; target += a * sd(y[k:]);", lambda a: a * Y[1:].std(ddof=1)),
    "decided by data": ("int j = 1; if (N > 2) j = 2; target += a * sd(y[j:]);", lambda a: a * Y[1:].std(ddof=1)),
    "in a loop over data": ("for (i in 2:N) { int j = i; target += a * sd(y[1:j]); }",
                            lambda a: a * sum(Y[:i].std(ddof=1) for i in range(2, 5))),
    "known before and in each iteration": (
        "int j = 1; for (i in 2:N) { target += a * norm2(y[j:i]); j = i; }",
        lambda a: a * sum(np.linalg.norm(Y[max(i - 2, 0):i]) for i in range(2, 5))),
    "another function's": ("target += twice(a * y, 2);", lambda a: a * np.linalg.norm(Y[1:]) + a * np.linalg.norm(Y)),
    "a size of what is unknown": ("vector[N] v = y * a; target += norm2(v[1:size(v)]);",
                                  lambda a: a * np.linalg.norm(Y)),
}  # fmt: skip


@pytest.mark.parametrize("case", ACCEPTED)
def test_sizes_that_are_known_are_compiled(case):
    statement, added = ACCEPTED[case]
    density = LogProb(stanimport.loads(PROGRAM % statement), {"N": 4, "y": Y})
    without = LogProb(stanimport.loads(PROGRAM % ""), {"N": 4, "y": Y})
    point = np.r_[0.5, np.zeros(16)]
    assert np.isclose(density.at(point)[0] - without.at(point)[0], added(0.5))
