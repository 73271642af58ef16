"""The mean over disjoint batches of the unconstrained density, and of its gradient, is that of all data."""
from __future__ import annotations

import itertools

import numpy as np
import pytest

import stanimport
from stanimport.inference.methods.minibatch.fitting import _of_batches

N = 4
PROGRAMS = {
    "half-normal locals": """
        data { int N; vector[N] y; } parameters { real<lower=0> s; vector<lower=0>[N] z; }
        model { s ~ normal(0, 1); z ~ normal(0, s); y ~ normal(z, 2); }
    """,
    "the same in a loop": """
        data { int N; vector[N] y; } parameters { real<lower=0> s; vector<lower=0>[N] z; }
        model { s ~ normal(0, 1); for (n in 1:N) { z[n] ~ normal(0, s); y[n] ~ normal(z[n], 2); } }
    """,
    "simplexes of rows": """
        data { int N; array[N, 3] int y; } parameters { vector<lower=0>[3] a; array[N] simplex[3] p; }
        model { a ~ gamma(2, 1); for (n in 1:N) { p[n] ~ dirichlet(a); y[n] ~ multinomial(p[n]); } }
    """,
    "two sizes": """
        data { int N; int M; matrix[N, M] y; }
        parameters { vector<lower=0>[N] a; vector[M] b; real<lower=0> s; }
        model {
          a ~ exponential(1); b ~ normal(0, s); s ~ exponential(1);
          for (n in 1:N) for (m in 1:M) y[n, m] ~ normal(a[n] * b[m], s);
        }
    """,
    "discrete parameters of rows": """
        data { int N; vector[N] y; array[N] int most; }
        parameters {
          simplex[2] theta; ordered[2] mu; vector[N] b;
          array[N] int<lower=1, upper=2> z; array[N, 2] int<lower=0, upper=1> v; array[N] int<lower=0, upper=most> k;
        }
        transformed parameters { vector[N] q; for (n in 1:N) q[n] = mu[z[n]] + b[n] * v[n, 1] * v[n, 2]; }
        model {
          mu ~ normal(0, 5); b ~ normal(0, 1); z ~ categorical(theta); k ~ poisson(2);
          for (n in 1:N) { v[n] ~ bernoulli(0.3); if (v[n, 1] == 0) target += -0.3 * z[n]; }
          y ~ normal(q + 0.1 * to_vector(k), 1);
        }
    """,
}  # fmt: skip


def data_of(program):
    rng, given = np.random.default_rng(3), {"N": N, "M": N}
    for v in program.data:
        if v.shape:
            shape = tuple(given.get(s, 3) for s in v.shape)
            given[v.name] = rng.integers(1, 4, shape) if v.type.endswith("int") else rng.normal(size=shape)
    return {v.name: given[v.name] for v in program.data}


def density_of(module, inputs):
    """The shapes of the unconstrained parameters, and the log density of them as a dict, with its gradient."""
    if module.stan.backend == "numpyro":
        import jax

        from stanimport.inference.density.posterior import Posterior

        made = Posterior(module, inputs)

        def density(values):
            return made.log_density(jax.numpy.concatenate([values[n].ravel() for n in made.names]))

        return made.shapes, jax.jit(jax.value_and_grad(density))
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    made = Density(module, {}, inputs)

    def both(values):
        leaves = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
        value = made(torch.cat([leaves[n].reshape(-1) for n in made.shapes]))
        value.backward()
        return value.item(), {n: leaf.grad.numpy() for n, leaf in leaves.items()}

    return made.shapes, both


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case, held", [*((c, 2) for c in PROGRAMS), ("half-normal locals", 1)])
def test_disjoint_batches(case, held, backend, x64, torch_double):
    module = stanimport.loads(PROGRAMS[case], backend=backend)
    given = data_of(module.stan)
    sizes = {s: held for s in ("N", "M") if s in given}
    model = module.model.with_batches(**sizes)
    scaled = _of_batches(module, model, {s: N for s in sizes})
    shapes, of_all = density_of(module, module.transformed_data(**given))
    rng = np.random.default_rng(5)
    point = {n: rng.normal(size=s) for n, s in shapes.items()}
    expected, slopes = of_all(point)
    value, found = 0.0, {n: np.zeros(s) for n, s in shapes.items()}
    parts = [np.arange(start, start + held) for start in range(0, N, held)]
    batches = list(itertools.product(parts, repeat=len(sizes)))
    for batch in batches:
        chosen = dict(zip(sizes, batch))
        places = {n: places_of(n, np.ndim(v), chosen, model) for n, v in {**given, **point}.items()}
        cut = {n: v[places[n]] if np.ndim(v) else v for n, v in given.items()} | {s: held for s in sizes}
        _, density = density_of(scaled, scaled.transformed_data(**cut))
        one, gradient = density({n: v[places[n]] for n, v in point.items()})
        value += float(one) / len(batches)
        for name, g in gradient.items():
            found[name][places[name]] += np.asarray(g) / len(batches)
    np.testing.assert_allclose(value, float(expected), rtol=1e-10)
    for name, g in slopes.items():
        np.testing.assert_allclose(found[name], np.asarray(g), rtol=1e-9, atol=1e-11, err_msg=name)


def places_of(name, dims, chosen, model):
    """The places of a batch in an array."""
    index = [slice(None)] * dims
    for size, rows in chosen.items():
        axis = model.batches.rows[size].axes.get(name)
        if axis is not None:
            index[axis] = slice(rows[0], rows[-1] + 1)
    return tuple(index)
