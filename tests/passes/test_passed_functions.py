"""Functions passed as arguments, in loops of which every iteration gives them other integers."""
from __future__ import annotations

import numpy as np
import pytest
from beside_walker import compare

import stanimport
from stanimport.inference import LogProb

SHARDS = """functions {
    vector parts(vector phi, vector theta, data array[] real x_r, data array[] int x_i) {
        vector[x_i[1]] made = rep_vector(phi[1] + theta[1], x_i[1]);
        for (i in 1:x_i[1]) made[i] *= i;
        return made; }
    real weighted(array[] real x, int start, int end, int k, real mu) {
        vector[k] made = rep_vector(mu, k);
        for (i in 1:k) made[i] *= i;
        return x[1] * sum(made); }
    real counted(array[] int x, int start, int end, vector b, real mu) {
        real made = 0;
        for (i in 1:size(x)) made += sum(b[1:x[i]]) * mu;
        return made; }
    vector balance(vector x, int k, real mu) { return x - sum(rep_vector(mu, k)) + 0.1 * sin(x); } }
data { int N; array[N] int y; }
transformed data { array[2, 0] real none; }
parameters { real mu; vector[3] b; }
model { real s = 0; for (n in 1:N) { s = 0.1 * s + %s; target += normal_lpdf(s | 0, 1); } }"""
CALLS = {
    "map_rect": "sum(map_rect(parts, [mu]', {[b[1]]', [b[2]]'}, none, {{y[n]}, {1}}))",
    "reduce_sum": "reduce_sum(weighted, to_array_1d(b), 1, y[n], mu)",
    "reduce_sum, slices": "reduce_sum(counted, {y[n], 1}, 1, b, mu)",
    "solve_newton": "sum(solve_newton(balance, [0.1]', y[n], mu * 0.1))",
}
DATA = {"N": 6, "y": [2, 1, 2, 1, 1, 3]}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("name", CALLS)
def test_sizes_in_passed_functions_are_those_of_each_iteration(name, backend):
    compare(SHARDS % CALLS[name], DATA, np.array([0.3, 0.7, -0.6, 0.4]), "passed", backend, scanned=True)


DECAY = """functions { vector change(real t, vector x, int k, real mu) { %s return -x * rate; } }
data { int N; array[N] int y; }
parameters { real mu; real start; }
model { vector[1] x = [start]';
    for (n in 1:N) { x = ode_%s(change, x, 0, {0.1}, y[n], mu)[1]; } target += sum(x); }"""
RATES = {
    "sizes": "real rate = sum(rep_vector(mu, k));",
    "loops": "real rate = 0; for (i in 1:k) rate += mu;",
    "while": "real rate = 0; int i = 0; while (rate < mu * (k - 0.5)) rate += mu;",
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("method", ["rk45", "bdf"])
@pytest.mark.parametrize("name", RATES)
def test_equations_with_loops_have_the_derivatives_of_their_solution(name, method):
    point = {"mu": 0.4, "start": 1.3}
    found = LogProb(stanimport.loads(DECAY % (RATES[name], method)), DATA)(point)
    time = 0.1 * sum(DATA["y"])
    end = np.exp(-0.4 * time)
    np.testing.assert_allclose(found.lp, 1.3 * end, rtol=1e-6)
    np.testing.assert_allclose(found.gradient, [-time * 1.3 * end, end], rtol=1e-5)
