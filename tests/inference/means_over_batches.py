"""Whether the mean over batches of the scaled density and its gradient is that of all data."""
from __future__ import annotations

import itertools

import numpy as np

from stanimport.inference.methods.minibatch.fitting import _of_batches


def assert_unbiased(module, given, totals, parts, atol=1e-11):
    """Over all batches that have the rows of one of `parts`, of as many rows each, in every one of some sizes.

    Args:
        given: the data.
        totals: how many rows there are, by size.
        parts: places of rows.
        atol: what components of the gradient may be off by, beside 1e-9 of them.
    """
    held = len(parts[0])
    model = module.model.with_batches(**dict.fromkeys(totals, held))
    scaled = _of_batches(module, model, totals)
    shapes, of_all = density_of(module, module.transformed_data(**given))
    rng = np.random.default_rng(5)
    point = {n: rng.normal(size=s) for n, s in shapes.items()}
    expected, slopes = of_all(point)
    value, found = 0.0, {n: np.zeros(s) for n, s in shapes.items()}
    batches = list(itertools.product(parts, repeat=len(totals)))
    for batch in batches:
        chosen = dict(zip(totals, batch))
        places = {n: places_of(n, np.shape(v), chosen, model) for n, v in {**given, **point}.items()}
        cut = {n: v[places[n]] if np.ndim(v) else v for n, v in given.items()} | dict.fromkeys(totals, held)
        _, density = density_of(scaled, scaled.transformed_data(**cut))
        one, gradient = density({n: v[places[n]] for n, v in point.items()})
        value += float(one) / len(batches)
        for name, g in gradient.items():
            found[name][places[name]] += np.asarray(g) / len(batches)
    np.testing.assert_allclose(value, float(expected), rtol=1e-10)
    for name, g in slopes.items():
        np.testing.assert_allclose(found[name], np.asarray(g), rtol=1e-9, atol=atol, err_msg=name)


def places_of(name, shape, chosen, model):
    """The places of a batch in an array."""
    index = [np.arange(k) for k in shape]
    for size, rows in chosen.items():
        axis = model.batches.rows[size].axes.get(name)
        if axis is not None:
            index[axis] = rows
    return np.ix_(*index) if index else ()


def density_of(module, inputs):
    """The shapes of the unconstrained parameters, and the log density of them as a dict, with its gradient."""
    if module.stan.backend == "numpyro":
        import jax
        from interpreted import traced

        from stanimport.inference.density.posterior import Posterior

        made = Posterior(module, inputs)

        def density(values):
            return made.log_density(jax.numpy.concatenate([values[n].ravel() for n in made.names]))

        return made.shapes, traced(jax.value_and_grad(density))  # every batch is another program, that runs once
    import torch

    from stanimport.inference.methods.pyro_methods import Density

    made = Density(module, {}, inputs)

    def both(values):
        leaves = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
        value = made(torch.cat([leaves[n].reshape(-1) for n in made.shapes]))
        value.backward()
        return value.item(), {n: leaf.grad.numpy() for n, leaf in leaves.items()}

    return made.shapes, both
