"""What handlers give by names that no site has, or not every one: an error, for else it would have no effect."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.errors import StanUnsupportedError

MIXED = """
    data { int N; vector[N] y; }
    parameters { real m; array[N] int<lower=0, upper=1> z; }
    model { m ~ normal(0, 1); z ~ bernoulli(0.3); for (n in 1:N) y[n] ~ normal(m * z[n], 1); }"""
PARTS = """
    parameters { complex c; tuple(real, complex) t; array[2] tuple(real, real) q; }
    model { [get_real(c), get_imag(c), t.1, get_real(t.2), get_imag(t.2)] ~ normal(0, 1); q[1].1 ~ normal(0, 1); }"""
OBSERVED = {
    "a recurrence": "real h = 0; for (n in 1:N) { h = m * h + 1; y[n] ~ normal(h, 1); }",
    "a law of the program": "y ~ mine(m);",
    "a law of vectors": "for (n in 2:N) y[n - 1:n] ~ multi_normal(rep_vector(m, 2), identity_matrix(2));",
    "two statements": "y ~ normal(m, 1); y ~ normal(m, 2);",
    "parts": "y[1] ~ normal(m, 1); y[2:N] ~ normal(m, 2);",
    "no law": "target += -square(y[1] - m) + normal_lpdf(y[2] | m, 1);",
}
SOURCE = """
    functions { real mine_lpdf(vector y, real m) { return normal_lpdf(y | m, 1); } }
    data { int N; vector[N] y; }
    parameters { real m; }
    model { m ~ normal(0, 1); %s }"""
Y = [1.0, 2.0, 3.0]


def traced(module, data, handler="condition", **inputs):
    """The sites of a model under a handler that gives values, and its log density."""
    if module.stan.backend == "pyro":
        import pyro
        import torch

        given = {k: torch.as_tensor(np.asarray(v, float)) for k, v in data.items()}
        trace = pyro.poutine.trace(getattr(pyro.poutine, handler)(module.model, data=given)).get_trace(**inputs)
        return float(trace.log_prob_sum())
    import numpyro.handlers
    from numpyro.handlers import seed
    from numpyro.infer.util import log_density

    given = {k: np.asarray(v) for k, v in data.items()}
    return float(log_density(seed(getattr(numpyro.handlers, handler)(module.model, data=given), 0), (), inputs, {})[0])


BACKENDS = [("numpyro", h) for h in ("condition", "substitute", "do")] + [("pyro", h) for h in ("condition", "do")]


@pytest.mark.parametrize("backend, handler", BACKENDS)
def test_discrete_parameters(backend, handler, x64, torch_double):
    module = stanimport.loads(MIXED, backend=backend)
    with pytest.raises(StanUnsupportedError, match="^z is summed out of the density.*declare it in.*data"):
        traced(module, {"m": 0.5, "z": [1, 0, 1]}, handler, N=3, y=Y)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend, handler", BACKENDS)
@pytest.mark.parametrize("name, parts", [("c", "c.real, c.imag"), ("t", "t.1, t.2.real, t.2.imag"), ("q", "q.1, q.2")])
def test_parameters_of_parts(backend, handler, name, parts, x64, torch_double):
    module = stanimport.loads(PARTS, backend=backend)
    with pytest.raises(StanUnsupportedError, match=f"^{name} has no site of its own: give its parts {parts}"):
        traced(module, {name: [0.0, 0.0]}, handler)


def test_parts_beside_the_whole_they_make(x64):
    """As the samples of NumPyro's MCMC have them."""
    import jax
    from numpyro.infer import Predictive

    source = "parameters { complex c; } model { get_real(c) ~ normal(0, 1); get_imag(c) ~ normal(0, 1); }"
    module = stanimport.loads(source)
    given = {"c": 1 + 2j, "c.real": 1.0, "c.imag": 2.0}
    assert traced(module, given, "substitute") == pytest.approx(-np.log(2 * np.pi) - 2.5)
    Predictive(module.model, {k: np.full(4, v) for k, v in given.items()})(jax.random.PRNGKey(0))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("body", OBSERVED.values(), ids=OBSERVED)
def test_data(backend, body, x64, torch_double):
    module = stanimport.loads(SOURCE % body, backend=backend)
    with pytest.raises(stanimport.StanError, match="^y .*(transformed_data|declared with sizes)"):
        traced(module, {"m": 0.5, "y": np.add(Y, 1)}, N=3, y=Y)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_data_that_discrete_parameters_couple(backend, x64, torch_double):
    module = stanimport.loads(MIXED, backend=backend)
    with pytest.raises(StanUnsupportedError, match="^y has log densities"):
        traced(module, {"m": 0.5, "y": np.add(Y, 1)}, N=3, y=Y)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_what_sites_take(backend, x64, torch_double):
    """One statement with a law, and all sites of two."""
    bodies = ("y ~ normal(m, 1);", OBSERVED["parts"])
    once, twice = (stanimport.loads(SOURCE % body, backend=backend) for body in bodies)
    new = np.add(Y, 1)
    given = {"m": 0.5, "y": new}
    assert traced(once, given, N=3, y=Y) == pytest.approx(traced(once, {"m": 0.5}, N=3, y=new))
    parts = {"m": 0.5, "y": new[0], "y__2": new[1:]}
    assert traced(twice, parts, N=3, y=Y) == pytest.approx(traced(twice, {"m": 0.5}, N=3, y=new))


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_names_in_scopes(backend, x64, torch_double):
    module = stanimport.loads(MIXED, backend=backend)
    if backend == "numpyro":
        from numpyro.handlers import condition, scope, seed

        outer, inner = scope(module.model, prefix="first"), {"data": {"first/z": np.zeros(3)}}
        run = seed(condition(outer, **inner), 0)
        other = seed(condition(outer, data={"z": np.zeros(3)}), 0)
    else:
        import torch
        from pyro.contrib.autoname import scope
        from pyro.poutine import condition

        outer, value = scope(module.model, prefix="first"), torch.zeros(3)
        run, other = condition(outer, data={"first/z": value}), condition(outer, data={"z": value})
    with pytest.raises(StanUnsupportedError, match="^z is summed out"):
        run(N=3, y=Y)
    other(N=3, y=Y)


@pytest.mark.parametrize("source, name, shape", [(MIXED, "z", (4, 3)), (PARTS, "c", (4,))])
def test_samples_of_predictive(source, name, shape, x64):
    """A complex number would be drawn from its law, in place of what is given."""
    import jax
    from numpyro.infer import Predictive

    module, inputs = stanimport.loads(source), {"N": 3, "y": Y} if source == MIXED else {}
    with pytest.raises(StanUnsupportedError, match=f"^{name} (is summed out|has no site)"):
        Predictive(module.model, {name: np.ones(shape), "m": np.zeros(4)})(jax.random.PRNGKey(0), **inputs)


COMPUTING = """
    data { int N; vector[N] y; }
    parameters { real mu; }
    transformed parameters { real d = 2 * mu; vector[2] e = [mu, d]'; }
    model { mu ~ normal(0, 5); y ~ normal(d, 1); }
"""
OF_COMPUTING = {"N": 2, "y": [1.0, 2.0]}
OTHERS = {"d": 3.0, "e": [0.3, 0.7]}


def numpyro_density(handler, given, prefix=""):
    """The log density of the program under a handler that gives values, at mu = 0.3."""
    from numpyro import handlers
    from numpyro.infer.util import log_density

    model = stanimport.loads(COMPUTING).model
    model = handlers.scope(model, prefix=prefix) if prefix else model
    site = f"{prefix}/" if prefix else ""
    given = {f"{site}{name}": np.asarray(value) for name, value in given.items()}
    changed = getattr(handlers, handler)(model, data=given)
    return float(log_density(changed, (), OF_COMPUTING, {f"{site}mu": 0.3})[0])


def pyro_density(handler, given):
    import torch
    from pyro import poutine

    model = stanimport.loads(COMPUTING, backend="pyro").model
    changed = getattr(poutine, handler)(model, data={k: torch.as_tensor(v) for k, v in given.items()})
    return float(poutine.trace(poutine.condition(changed, data={"mu": torch.tensor(0.3)}))
                 .get_trace(**OF_COMPUTING).log_prob_sum())  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_transformed_parameters_have_no_other_value(name, x64, torch_double):
    """The trace had it, and the density was that of what the program computes."""
    for handler in ("substitute", "condition", "do"):
        for prefix in ("", "here"):
            with pytest.raises(StanUnsupportedError, match=f"{name} is a transformed parameter, which the program"):
                numpyro_density(handler, {name: OTHERS[name]}, prefix)
    for handler in ("condition", "do"):
        with pytest.raises(StanUnsupportedError, match=f"{name} is a transformed parameter, which the program"):
            pyro_density(handler, {name: OTHERS[name]})


def test_draws_hold_transformed_parameters(x64, torch_double):
    """As files have them, with six digits."""
    draw, expected = {"d": 0.600001, "e": [0.3, 0.599999]}, stats.norm(0, 5).logpdf(0.3)
    expected += stats.norm(0.6, 1).logpdf(OF_COMPUTING["y"]).sum()
    for handler in ("substitute", "condition"):
        assert numpyro_density(handler, draw) == pytest.approx(expected)
    assert pyro_density("condition", draw) == pytest.approx(expected)


def test_samplers_take_no_fixed_transformed_parameter(x64):
    import jax
    from numpyro import handlers
    from numpyro.infer import MCMC, NUTS

    model = handlers.substitute(stanimport.loads(COMPUTING).model, data={"d": 3.0})
    with pytest.raises(StanUnsupportedError, match="d is a transformed parameter"):
        MCMC(NUTS(model), num_warmup=1, num_samples=1, progress_bar=False).run(jax.random.PRNGKey(0), **OF_COMPUTING)


def test_predictions_and_likelihoods_take_draws_with_transformed_parameters(x64, torch_double):
    """Of other data, too, for which the program would compute others."""
    import jax
    from numpyro.infer import MCMC, NUTS, Predictive, log_likelihood
    from pyro import infer

    model = stanimport.loads(COMPUTING).model
    mcmc = MCMC(NUTS(model), num_warmup=50, num_samples=20, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0), **OF_COMPUTING)
    draws = mcmc.get_samples()
    assert draws["e"].shape == (20, 2)
    found = log_likelihood(model, draws, **OF_COMPUTING)["y"]
    means = 2 * np.asarray(draws["mu"])[:, None]
    np.testing.assert_allclose(found, stats.norm.logpdf(OF_COMPUTING["y"], means, 1))
    drawn = Predictive(model, draws, exclude_deterministic=False)(jax.random.PRNGKey(1), N=3, y=None)
    assert drawn["y"].shape == (20, 3)
    given = {name: torch_double.as_tensor(np.array(v)) for name, v in {**draws, "d": draws["d"] + 9}.items()}
    other = stanimport.loads(COMPUTING, backend="pyro").model
    for parallel in (False, True):
        made = infer.Predictive(other, given, return_sites=["y"], parallel=parallel)(N=3, y=None)["y"]
        assert made.shape == (20, 3) and abs(made.mean() - means.mean()) < 2
