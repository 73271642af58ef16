"""Sizes of what a loop assigns to, or a recurrence asks for: they are what they were before it."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

import stanimport

PROGRAM = """functions {
  real of_data(vector q, real r) {
    real x = r;
    vector[size(q)] m = r * linspaced_vector(size(q), 0.5, 2);
    for (n in 1:size(q)) x = (m[size(q) + 1 - n] > x || x > 2 ? tanh(x + m[size(q)]) : fmin(0.1 * n, m[n]));
    return x;
  }
  real of_whole(vector q) {
    vector[size(q)] m = rep_vector(0.1, size(q));
    for (n in 1:size(q)) m += n %% 2 == 0 ? rep_vector(fmax(m[n], 0.5), size(q)) : m;
    return mean(m);
  }
}
data { int N; vector[N] y; }
parameters { vector[N] b; matrix[N, 2] g; }
model { vector[N] v = b; matrix[N, 2] m = g; array[2] vector[N] w = {b, y}; int k = 1; %s
  target += dot_self(v) + sum(m .* m) + dot_product(w[1], w[2]) + k * b[1]; }"""
LANES = {
    "a vector": "for (n in 1:size(v)) v[n] = tanh(b[n] * n);",
    "a matrix": "for (j in 1:cols(m)) for (n in 1:rows(m)) m[n, j] += b[n] * j;",
    "an item": "for (n in 1:size(w[2])) w[2, n] = b[n] * v[n];",
}
OTHERS = {
    "items that change": "for (x in v) { target += x ^ 2; v[N] = 3 * b[1]; v[2:N] = v[1:N - 1]; }",
    "rows that change": "for (x in m) { target += x * b[1]; m[N, 2] = x + 1; }",
    "a part that the body decides": "for (n in 1:size(v[1:k])) { if (k < 3) k += 1; target += v[n] * k; }",
    "an index that changes": "for (n in k:size(v)) { k = n; v[n] = b[n] * k; }",
    "a recurrence of data": "v *= of_data(b, 0.3);",
    "a recurrence of data that assigns a whole": "v *= of_whole(b);",
}
DATA = {"N": 6, "y": [0.3, -0.7, 1.2, 0.1, -0.2, 0.5]}
AT = np.cos(np.arange(18.0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
@pytest.mark.parametrize("name", LANES | OTHERS)
def test_sizes_are_those_before(name, scheme, backend):
    compare(PROGRAM % (LANES | OTHERS)[name], DATA, AT, "sizes", backend, scheme, scanned=True)


@pytest.mark.parametrize("name", LANES)
def test_loops_up_to_the_size_of_what_they_assign_to_run_at_once(name):
    text = stanimport.translate("sizes.stan", source=PROGRAM % LANES[name])
    assert "while" not in text.partition("def model")[2] and "ppl.lanes(" in text.partition("def model")[2]
