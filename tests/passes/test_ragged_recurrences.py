"""Recurrences that are longer in some lanes than in others, and variables of which each iteration has its own part.

Stan's value and gradient, by stanli, are what is expected.
"""
from __future__ import annotations

import numpy as np
import pytest
import stanli

import stanimport
from stanimport.inference import LogProb

DATA = {
    "N": 5, "T": 6, "K": 3, "M": 2, "len": [6, 0, 3, 1, 4], "first": [2, 6, 1, 3, 5],
    "y": np.random.default_rng(0).integers(1, 4, (5, 6)).tolist(),
    "x": np.random.default_rng(1).normal(size=(5, 6)).round(2).tolist(),
    "lengths": [[3, 0], [1, 4], [6, 2], [5, 5], [0, 1]],
}  # fmt: skip
PROGRAM = """data {
  int N; int T; int K; int M; array[N] int<lower=0, upper=T> len; array[N] int<lower=1, upper=T> first;
  array[N, T] int<lower=1, upper=K> y; matrix[N, T] x; array[N, M] int lengths;
}
parameters { real a; real<lower=0, upper=1> b; vector[K] v0; array[K] row_vector[K] W; vector[N] u; }
model {
  a ~ normal(0, 1); v0 ~ normal(0, 1); u ~ normal(0, 1); for (k in 1:K) W[k] ~ normal(0, 1);
  %s
}"""

# what is carried through lanes of different lengths
CARRIED = {
    "learning": """for (i in 1:N) { vector[K] v = v0;
        for (t in 1:len[i]) { y[i, t] ~ categorical_logit(a * v); v[y[i, t]] += b * (x[i, t] - v[y[i, t]]); }
        target += 0.1 * sum(v); }""",
    "number": "for (i in 1:N) { real s = u[i]; for (t in 1:len[i]) s = a * s + b * x[i, t]; s ~ normal(0, 1); }",
    "branch": """for (i in 1:N) { real s = u[i];
        for (t in first[i]:T) { if (t > 3) s = a * s + b * x[i, t]; else s = s + t * a; } s ~ normal(0, 1); }""",
    "branch on parameters": """for (i in 1:N) { real s = u[i];
        for (t in first[i]:T) { if (s > 0.1) s = a * s + b * x[i, t]; else s = s * 0.5 + t * a; } target += -s^2; }""",
    "two loops around": """for (i in 1:N) for (m in 1:M) { real s = u[i];
        for (t in 1:lengths[i, m]) s = a * s + b * x[i, t] + m; target += normal_lpdf(s | 0, 1); }""",
    "two back": """for (i in 1:N) { vector[T] s = rep_vector(a, T);
        for (t in 3:len[i]) s[t] = b * s[t - 1] - 0.2 * s[t - 2] + x[i, t]; target += normal_lpdf(s | 0, 1); }""",
    "counter": """for (i in 1:N) { int c = 0; real s = 0;
        for (t in 1:len[i]) { if (y[i, t] == 2) c = 0; else c += 1; s = s * b + a * c; } target += c * u[i] - s^2; }""",
    "running sum": """for (i in 1:N) { vector[T] s = rep_vector(0, T); s[1] = u[i];
        for (t in 2:len[i]) s[t] = s[t - 1] + exp(a * x[i, t]); target += -sum(s); }""",
    "no lane": "for (i in 1:N) { real s = u[i]; for (t in (len[i] + 1):len[i]) s = a * s; s ~ normal(0, 1); }",
    "as long in all": """for (i in 1:N) { real s = u[i];
        for (t in i:(i + 2)) { if (t > 3) s = a * s + t; else s = s * b; } s ~ normal(0, 1); }""",
    "vector": """for (i in 1:N) { vector[K] s = v0; for (t in first[i]:len[i]) { vector[K] n;
        for (k in 1:K) n[k] = W[k] * s * 0.2 + (k == y[i, t] ? a : b); s = n; } s ~ normal(0, 1); }""",
    "last": """{ real s; for (i in 1:N) { s = u[i]; for (t in 1:len[i]) s = a * s + b * x[i, t]; target += s; }
        target += 2 * s; }""",
}
# arrays declared outside of a loop of which every iteration reads what it has written itself
OWN = {
    "hidden states": """{ array[T] vector[K] g; array[K] real acc; for (i in 1:N) { if (len[i] > 0) {
        for (k in 1:K) g[1, k] = W[k, y[i, 1]];
        for (t in 2:len[i]) for (k in 1:K) {
          for (j in 1:K) acc[j] = g[t - 1, j] + W[j, k] + u[i] * x[i, t]; g[t, k] = log_sum_exp(acc); }
        target += log_sum_exp(g[len[i]]); } } }""",
    "capture": """{ array[T] vector[K] g; array[K] real acc; for (i in 1:N) {
        for (k in 1:K) g[first[i], k] = W[k, y[i, first[i]]];
        for (t in (first[i] + 1):T) for (k in 1:K) {
          for (j in 1:K) acc[j] = g[t - 1, j] + W[j, k] + v0[y[i, t]]; g[t, k] = log_sum_exp(acc); }
        target += log_sum_exp(g[T]); } }""",
    "backwards": """{ array[T] vector[K] g; for (i in 1:N) { if (len[i] > 0) { g[len[i]] = v0;
        for (s in 1:(len[i] - 1)) { int t = len[i] - s; g[t] = 0.3 * g[t + 1] * W[1, 2] + u[i]; }
        target += sum(g[1]) * a; } } }""",
    "backwards over all": """{ vector[T] g; for (i in 1:N) { g[T] = u[i];
        for (s in 1:(T - 1)) g[T - s] = g[T - s + 1] * a + b; target += -log_sum_exp(g); } }""",
    "components by name": """{ array[T] vector[2] g; for (i in 1:N) { g[1, 1] = u[i]; g[1, 2] = a;
        for (t in 2:T) { g[t, 1] = a * g[t - 1, 1] + g[t - 1, 2]; g[t, 2] = b * g[t - 1, 1]; }
        g[T] ~ normal(0, 1); } }""",
    "numbers": """{ vector[3] g; for (i in 1:N) { g[1] = u[i]; g[2] = a * x[i, 1]; g[3] = b;
        target += -log_sum_exp(g); } }""",
    "both sides": """{ vector[T] g; for (i in 1:N) { for (t in 1:T) { if (t != i) g[t] = u[i] * t; else g[t] = b; }
        target += -log_sum_exp(g); } }""",
}
# those that read what an iteration before has left
LEFT = {
    "shorter": """{ array[T] real g; for (k in 1:T) g[k] = a * k;
        for (i in 1:N) { g[1] = u[i]; for (t in 2:len[i]) g[t] = b * g[t - 1] + x[i, t]; target += g[T]; } }""",
    "first": """{ vector[T] g = rep_vector(a, T);
        for (i in 1:N) { for (t in 2:T) g[t] = u[i] * t; target += -log_sum_exp(g); g[1] = b * i; } }""",
    "ends before": """{ vector[T] g = rep_vector(a, T);
        for (i in 1:N) { for (t in 1:len[i]) g[t] = u[i] * t; target += -log_sum_exp(g); } }""",
    "one side": """{ vector[T] g = rep_vector(a, T);
        for (i in 1:N) { for (t in 1:T) if (t != i) g[t] = u[i] * t; target += -log_sum_exp(g); } }""",
    "one component": """{ array[T] vector[2] g = rep_array(rep_vector(0.3, 2), T); for (i in 1:N) { g[1, 1] = u[i];
        for (t in 2:T) { g[t, 1] = a * g[t - 1, 1] + g[t - 1, 2]; if (i == 2) g[t, 2] = b * g[t - 1, 1]; }
        g[T] ~ normal(0, 1); } }""",
    "leaves the loop": """{ vector[T] g = rep_vector(a, T); for (i in 1:N) {
        for (t in 1:T) { if (t > len[i]) break; g[t] = u[i] * t; } target += -log_sum_exp(g); } }""",
    "next one": """{ vector[T] g = rep_vector(a, T); int k = 1;
        for (i in 1:N) { g[k] = u[i]; k += 1; target += g[k]; } }""",
    "read before": """{ vector[T] g = rep_vector(a, T);
        for (i in 1:N) { for (t in 1:T) { target += g[t] * x[i, t]; g[t] = u[i] * t; } } }""",
    "ahead": """{ vector[T] g = rep_vector(a, T);
        for (i in 1:N) { for (t in 1:(T - 1)) { g[t] = u[i] * t; target += g[t + 1]; } } }""",
    "every other": """{ vector[T] g = rep_vector(a, T);
        for (i in 1:N) { for (t in 1:(T %/% 2)) g[2 * t] = u[i] * t; target += -log_sum_exp(g); } }""",
}
GROUPS = {"carried": CARRIED, "own": OWN, "left": LEFT}


def program(group):
    return PROGRAM % "\n  ".join(GROUPS[group].values())


def points(reference):
    rng = np.random.default_rng(3)
    return [rng.normal(size=reference.n_unconstrained) * 0.5 for _ in range(2)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("group", GROUPS)
def test_stans_value_and_gradient(group):
    reference = stanli.Model(stan_code=program(group), data=DATA)
    density = LogProb(stanimport.loads(program(group)), DATA)
    off = []
    for point in points(reference):
        value, gradient = reference.log_prob_grad(point)
        found = density.at(point)
        np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-9)
        off.append(found.lp - value)  # the constants, which stanli leaves out
    assert off[1] == pytest.approx(off[0], abs=1e-8)


@pytest.mark.parametrize("group", GROUPS)
def test_pyros_value(group, torch_double):
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    reference = stanli.Model(stan_code=program(group), data=DATA)
    density = Density(stanimport.loads(program(group), backend="pyro"), DATA)
    off = [float(density(torch.tensor(q))) - reference.log_prob_grad(q)[0] for q in points(reference)]
    assert off[1] == pytest.approx(off[0], abs=1e-8)


def translated(statements, folder):
    """The Python text of a program."""
    path = folder / "loops.stan"
    path.write_text(PROGRAM % statements)
    return stanimport.translate(path)


@pytest.mark.parametrize("name", [*CARRIED, *OWN])
def test_no_iteration_waits_for_another(name, tmp_path):
    """Loops over individuals run at once: what is left is a recurrence over time."""
    assert "for_loop" not in translated((CARRIED | OWN)[name], tmp_path)


@pytest.mark.parametrize("name", LEFT)
def test_iterations_that_need_those_before_run_one_after_the_other(name, tmp_path):
    text = translated(LEFT[name], tmp_path)
    assert "with ppl.lanes(1, N) as i" not in text or "ppl.recur(i," in text
