"""Draws of discrete parameters have their exact conditional law: all joint values are counted and expected."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from stanlib.discrete import sweeps
from tests.discrete.small import Small, Variable, assignments
from tests.random_programs.referee.ours import translated

DATA = {"N": 3, "y": [0.4, -1.0, 1.3], "b": [1, 0, 1], "ii": [1, 3, 2], "jj": [2, 2, 4]}
PROGRAMS = {
    "by themselves": ([Variable("z", (4,), 1, 3)], ["z ~ categorical_logit(m[1:3]);",
        "for (n in 1:N) y[n] ~ normal(m[z[ii[n]]], s);"]),
    "a chain": ([Variable("z", (5,), 0, 2)], ["for (t in 2:5) target += (z[t] == z[t - 1] ? 1 : m[2]);",
        "for (n in 1:N) y[n] ~ normal(m[z[n] + 1], s);"]),
    "chains of different lengths": ([Variable("z", (2, 4), 0, 2)], [
        "for (i in 1:2) for (t in 2:(2 + i)) target += (z[i, t] == z[i, t - 1] ? 1.5 : m[2]) + 0.3 * z[i, t];"]),
    "a chain of second order": ([Variable("z", (8,), 0, 2)], [
        "for (t in 3:8) target += (z[t] == z[t - 1] ? 1 : m[2]) + m[3] * z[t - 2] * (1 - z[t]);",
        "for (n in 1:N) y[n] ~ normal(m[z[2 * n] + 1], s);"]),
    "two chains": ([Variable("z", (5,), 0, 2), Variable("w", (5,), 0, 2)], [
        "for (t in 2:5) target += (z[t] == z[t - 1] ? 1.2 : m[2]) - m[1] * w[t] * w[t - 1];",
        "for (t in 1:5) target += -square(z[t] + 2 * w[t] - m[3] - 1);"]),
    "chains of one class": ([Variable("c", (), 1, 3), Variable("z", (2, 4), 0, 2)], [
        "for (i in 1:2) for (t in 2:(2 + i)) target += (z[i, t] == z[i, t - 1] ? 1.5 : m[c]) + 0.3 * z[i, t];",
        "target += m[c];"]),
    "a chain of two classes": ([Variable("c", (2,), 0, 2), Variable("z", (7,), 0, 2)], [
        "for (t in 2:7) target += z[t] == z[t - 1] ? 0.8 * c[1] : m[2];",
        "for (t in 1:7) target += z[t] * (m[3] - c[2]);", "target += 0.4 * c[1] * c[2];"]),
    "a chain of two classes that stand with it alone": ([Variable("c", (2,), 0, 2), Variable("z", (7,), 0, 2)], [
        "for (t in 2:7) target += z[t] == z[t - 1] ? 0.8 * c[1] : m[2];",
        "for (t in 1:7) target += z[t] * (m[3] - c[2]);", "target += m[1] * c[1] + 0.4 * c[2];"]),
    "what others make of them": ([Variable("z", (2, 3), 0, 2)], ["""for (i in 1:2) { int both = z[i, 1];
        both *= z[i, 2]; y[i] ~ normal(both ? m[1] : m[2], s); for (k in 3:3) both *= z[i, k];
        y[3] ~ normal(both ? m[3] : m[2], s); target += m[1] * sum(z[i]); }"""]),
    "a hub": ([Variable("z", (), 1, 3), Variable("w", (4,), 0, 2)],
        ["for (n in 1:4) target += 0.7 * z * w[n] + m[n] * w[n];", "target += m[z];"]),
    "a circle": ([Variable("z", (4,), 0, 2)], ["for (n in 1:4) target += m[n] * z[n] * z[n % 4 + 1];",
        "target += z[1] * 0.5;"]),
    "rates that loops set": ([Variable("z", (2, 3), 0, 2)], ["""for (i in 1:2) { z[i, 1] ~ bernoulli(0.5);
        for (t in 2:3) z[i, t] ~ bernoulli(z[i, t - 1] * inv_logit(c[i, t - 1]) + 0.1); }"""],
        ["matrix[2, 3] c;", "for (i in 1:2) for (t in 1:3) c[i, t] = m[t];"]),
    "everything at once": ([Variable("z", (5,), 0, 2)], ["target += -square(sum(z) - 2.3);", "target += m[1] * z[2];"]),
}  # fmt: skip
POINT = np.array([0.5, -0.4, 0.8, 0.1, 0.2, -0.3])
COUNT = 100_000


def weights(small):
    """The probability of every assignment at the point."""
    stanli = pytest.importorskip("stanli", reason="stanli is not installed")
    made, logs = stanli.stan_to_mir(small.text(of_data=True)), []
    for z in assignments(small):
        logs.append(stanli.Model(mir=made, data={**small.data, **z}).log_prob_grad(POINT)[0])
    return np.exp(np.array(logs) - np.logaddexp.reduce(logs))


def drawn(small, count):
    """Draws of all discrete parameters at the point, in the order of the assignments."""
    import jax

    from stanimport.inference.density.posterior import Posterior

    module = translated(small.text(), "numpyro", "mixed")
    posterior = Posterior(module, module.transformed_data(**small.data))
    keys = jax.random.split(jax.random.PRNGKey(3), count)
    made = jax.jit(jax.vmap(lambda k: posterior.everything(k, POINT)))(keys)
    return {v.name: np.asarray(made[v.name]) for v in small.variables}


def positions(small, values):
    """Which of the assignments each draw is."""
    at = 0
    for v in small.variables:
        flat = values[v.name].reshape(-1, v.size) - v.lower
        for i in range(v.size):
            at = at * v.values + flat[:, i]
    return at


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_draws_have_their_conditional_law(name, x64, monkeypatch):
    monkeypatch.setattr(sweeps, "LONG", 8)
    monkeypatch.setattr(sweeps, "TIMES", 2)
    variables, statements, *derived = PROGRAMS[name]
    small = Small(tuple(variables), tuple(statements), DATA, *map(tuple, derived))
    values = drawn(small, COUNT)
    assert all(np.issubdtype(v.dtype, np.integer) for v in values.values())
    expected = weights(small) * COUNT
    counts = np.bincount(positions(small, values), minlength=len(expected))
    rare = expected < 10
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 1:
        counts, expected = counts[:-1], expected[:-1]
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 1e-3


def test_generated_quantities_and_transformed_parameters_see_the_draw():
    import stanimport

    text = """data { int N; vector[N] y; }
parameters { ordered[2] mu; array[N] int<lower=1, upper=2> z; }
transformed parameters { vector[N] m; vector[2] twice = 2 * mu; for (n in 1:N) m[n] = mu[z[n]]; }
model { mu ~ normal(0, 3); y ~ normal(m, 1); }
generated quantities { int same = z[1] == z[2]; real first = m[1]; }"""
    data = {"N": 4, "y": [-3.0, -2.5, 2.0, 3.0]}
    fit = stanimport.sample(stanimport.loads(text), data, seed=1, chains=2, iter_warmup=200, iter_sampling=200)
    z, m, mu = (fit.stan_variable(n) for n in ("z", "m", "mu"))
    assert z.dtype.kind == "i" and z.shape == (400, 4) and set(np.unique(z)) <= {1, 2}
    np.testing.assert_allclose(m, np.take_along_axis(mu, z - 1, axis=1))
    np.testing.assert_array_equal(fit.stan_variable("same"), z[:, 0] == z[:, 1])
    np.testing.assert_allclose(fit.stan_variable("first"), m[:, 0])
    assert [v.name for v in fit.program.parameters] == ["mu"]
    assert [v.name for v in fit.program.discrete_parameters] == ["z"]
    assert fit.stan_variable("twice").shape == (400, 2)


def test_draws_on_torch():
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    variables, statements = PROGRAMS["chains of different lengths"]
    small = Small(tuple(variables), tuple(statements), DATA)
    module = translated(small.text(), "pyro", "mixed")
    given = {"m": torch.tensor(POINT[:4]), "s": torch.tensor(1.2), "p": torch.tensor(0.4)}
    inputs = module.transformed_data(**small.data)
    torch.manual_seed(1)
    values = np.stack([np.asarray(module.generated_quantities(**inputs, **given)["z"]) for _ in range(200)])
    exact = (weights(small)[:, None] * np.array([np.ravel(z["z"]) for z in assignments(small)])).sum(0)
    found = values.reshape(200, -1).mean(0)
    assert np.abs(found - exact).max() < 4 * 0.5 / np.sqrt(200)
