"""Bounds that depend on other parameters: what NUTS reports satisfies them and has the right law, on both backends."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport

TRIANGLE = """
    parameters { real<lower=0, upper=1> b; real<lower=0, upper=1 - b> a; vector<lower=b>[2] v; }
    model { v - b ~ exponential(1); }
"""  # uniform on a triangle: both of b and a have the law beta(1, 2)


def verify(draws, count):
    a, b, v = (np.asarray(draws[n]).reshape(count, *s) for n, s in (("a", ()), ("b", ()), ("v", (2,))))
    assert np.all(a > 0) and np.all(a + b < 1) and np.all(v > b[:, None])
    thin = slice(None, None, max(1, count // 150))
    for draw in (a, b):
        assert stats.kstest(draw[thin], stats.beta(1, 2).cdf).pvalue > 1e-3
    assert stats.kstest((v - b[:, None])[thin, 0], "expon").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_numpyro(scheme, x64):
    import jax
    from numpyro.infer import MCMC, NUTS

    module = stanimport.loads(TRIANGLE, scheme=scheme)
    mcmc = MCMC(NUTS(module.model), num_warmup=300, num_samples=1500, progress_bar=False)
    mcmc.run(jax.random.PRNGKey(0))
    verify(mcmc.get_samples(), 1500)


def of_pyro(scheme):
    """What Pyro's HMC makes of the program: the potential of unconstrained parameters, and their transforms."""
    from pyro.infer.mcmc.util import initialize_model

    module = stanimport.loads(TRIANGLE, scheme=scheme, backend="pyro")
    _, potential, transforms, _ = initialize_model(module.model)
    return potential, transforms


def constrained(z):
    b = 1 / (1 + np.exp(-z["b"]))
    return {"b": b, "a": (1 - b) / (1 + np.exp(-z["a"])), "v": b[..., None] + np.exp(z["v"])}


def log_density(z):
    """Of the unconstrained parameters, with the Jacobian of their transform."""
    x, share = constrained(z), 1 / (1 + np.exp(-z["a"]))
    jacobian = np.log(x["b"] * (1 - x["b"])) + np.log((1 - x["b"]) * share * (1 - share)) + z["v"].sum()
    return jacobian - (x["v"] - x["b"]).sum()


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_pyro_transforms_follow_the_other_parameters(scheme, torch_double):
    potential, transforms = of_pyro(scheme)
    rng, shifts = np.random.default_rng(0), []
    for _ in range(4):
        z = {"b": rng.normal(), "a": rng.normal(), "v": rng.normal(size=2)}
        value = potential({k: torch_double.as_tensor(v) for k, v in z.items()})
        shifts.append(float(value) + log_density({k: np.asarray(v) for k, v in z.items()}))
    np.testing.assert_allclose(shifts, shifts[0], atol=1e-10)


def test_pyro_transforms_draws_of_several_chains_at_once(torch_double):
    _, transforms = of_pyro("comprehensive")
    rng = np.random.default_rng(1)
    z = {"b": rng.normal(size=(2, 5)), "a": rng.normal(size=(2, 5)), "v": rng.normal(size=(2, 5, 2))}
    made = {k: transforms[k].inv(torch_double.as_tensor(v)).numpy() for k, v in z.items()}
    for k, value in constrained(z).items():
        np.testing.assert_allclose(made[k], value, rtol=1e-12)


def test_pyro_says_where_the_order_of_transforms_is_not_that_of_the_program(torch_double):
    """Pyro's just-in-time compilation transforms parameters in the order of their names."""
    potential, _ = of_pyro("comprehensive")
    z = {"a": torch_double.zeros(()), "b": torch_double.zeros(()), "v": torch_double.zeros(2)}
    with pytest.raises(stanimport.StanError, match="jit_compile=False"):
        potential(z)


def test_numpyros_guides_of_reparametrised_sites_have_the_bounds_of_each_run(x64):
    """By themselves they transform by those of the first run, which is refused below."""
    from numpyro.distributions import biject_to
    from numpyro.handlers import reparam, replay, seed, trace
    from numpyro.infer.autoguide import AutoNormal
    from numpyro.infer.reparam import ExplicitReparam
    from numpyro.infer.util import log_density as density_of_numpyro

    def unconstrained(site):
        return ExplicitReparam(biject_to(site["fn"].support).inv) if site["name"] in "av" else None

    free = reparam(stanimport.loads(TRIANGLE).model, config=unconstrained)
    rng = np.random.default_rng(0)
    z = {"b": rng.normal(), "a": rng.normal(), "v": rng.normal(size=2)}
    given = {"b": constrained(z)["b"], "a_base": z["a"], "v_base": z["v"]}
    b = constrained(z)["b"]
    got = float(density_of_numpyro(free, (), {}, given)[0])
    assert got == pytest.approx(log_density(z) - np.log(b * (1 - b)), rel=1e-12)
    guide = seed(AutoNormal(free, init_scale=1.0), 0)
    for _ in range(5):
        draw = trace(replay(free, trace(guide).get_trace())).get_trace()
        a, b, v = (draw[n]["value"] for n in "abv")
        assert 0 < a < 1 - b and np.all(v > b)


@pytest.mark.parametrize("domain", ["lower=m", "offset=m"])
@pytest.mark.parametrize("guide", ["AutoNormal", "AutoDiagonalNormal"])
def test_numpyros_guides_do_not_take_the_domain_of_another_run(guide, domain, x64):
    from numpyro.handlers import seed
    from numpyro.infer import autoguide

    source = f"parameters {{ real m; real<{domain}> a; }} model {{ m ~ normal(0, 1); a ~ normal(m, 1); }}"
    with pytest.raises(stanimport.StanError, match="the domain of a depends on other parameters"):
        seed(getattr(autoguide, guide)(stanimport.loads(source).model), 0)()


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_pyros_guides_start_from_medians_within_the_bounds(scheme, torch_double):
    """The medians are those of many values at once, which have no part in other parameters' bounds."""
    import pyro
    from pyro.infer.autoguide import AutoDiagonalNormal

    pyro.clear_param_store()
    guide = AutoDiagonalNormal(stanimport.loads(TRIANGLE, scheme=scheme, backend="pyro").model)
    draw = {name: value.detach().numpy() for name, value in guide().items()}
    assert guide.latent_dim == 4 and torch_double.isfinite(guide.loc).all()
    assert 0 < draw["a"] < 1 - draw["b"] and np.all(draw["v"] > draw["b"])


OF_ITEMS = """
    parameters {
      array[2] tuple(real<lower=1>, vector[2]) p;
      complex z;
      real<lower=p[2].1, upper=p[2].1 + exp(p[1].2[2])> x;
      tuple(real<upper=get_real(z)>, real) y;
      vector<lower=y.1 + get_imag(z)>[2] w;
    }
    model { x + y.1 + y.2 + sum(w) ~ normal(0, 3); }
"""  # bounds by items of tuples in an array, parts of a complex number, and an item that has a bound itself
SIZES_OF_ITEMS = {"p.1": (2,), "p.2": (2, 2), "z.real": (), "z.imag": (), "x": (), "y.1": (), "y.2": (), "w": (2,)}


def items_constrained(u):
    p1, p2 = 1 + np.exp(u["p.1"]), u["p.2"]
    x = p1[..., 1] + np.exp(p2[..., 0, 1]) / (1 + np.exp(-u["x"]))
    y1 = u["z.real"] - np.exp(u["y.1"])
    w = (y1 + u["z.imag"])[..., None] + np.exp(u["w"])
    return u | {"p.1": p1, "x": x, "y.1": y1, "w": w}


def items_log_density(u):
    v, share = items_constrained(u), 1 / (1 + np.exp(-u["x"]))
    jacobian = u["p.1"].sum() + u["p.2"][0, 1] + np.log(share * (1 - share)) + u["y.1"] + u["w"].sum()
    return jacobian - ((v["x"] + v["y.1"] + v["y.2"] + v["w"].sum()) / 3) ** 2 / 2


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed"])
def test_pyros_bounds_follow_tuples_and_complex_numbers(scheme, torch_double):
    """The density up to a constant, and draws of several chains at once."""
    from pyro.infer.mcmc.util import initialize_model

    _, potential, transforms, _ = initialize_model(stanimport.loads(OF_ITEMS, scheme=scheme, backend="pyro").model)
    rng, shifts = np.random.default_rng(2), []
    for _ in range(4):
        u = {n: np.asarray(rng.normal(size=s)) for n, s in SIZES_OF_ITEMS.items()}
        shifts.append(float(potential({n: torch_double.as_tensor(v) for n, v in u.items()})) + items_log_density(u))
    np.testing.assert_allclose(shifts, shifts[0], atol=1e-10)
    u = {n: rng.normal(size=(3, *s)) for n, s in SIZES_OF_ITEMS.items()}
    made = {n: transforms[n].inv(torch_double.as_tensor(u[n])).numpy() for n in SIZES_OF_ITEMS}
    for name, value in items_constrained(u).items():
        np.testing.assert_allclose(made[name], value, rtol=1e-12)
