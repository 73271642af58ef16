"""Second derivatives are the differences of gradients: of every record on PyTorch, on JAX where it is given rules."""
import jax
import numpy as np
import pytest
import test_examples as examples
import torch
from compiled import direction, leaves
from interpreted import traced
from libraries import lift

import stanimport
from stanlib import registry
from stanlib.errors import StanDerivativeError

STEP = 1e-4
FIRST_ONLY = {"hypergeometric_2F1", "hypergeometric_3F2", "hypergeometric_pFq"}
# JAX differentiates most functions by itself; these have rules of their own somewhere, or steps that are constants.
OF_RULES = [
    "inv_inc_beta", "student_t_qf", "std_normal_qf", "qr", "qr_Q", "eigenvalues", "eigenvectors", "hmm_marginal",
    "complex_schur_decompose_t", "log_sum_exp", "log_mix", "multi_normal_lpdf", "cholesky_decompose", "lambert_w0",
]  # fmt: skip


def is_smooth(function):
    """Whether it has real arguments and results alone."""
    args = examples.finite_arguments(function)
    real = all(np.asarray(x).dtype.kind in "fc" for x in leaves(function(*args)))
    return bool(examples.real_positions(args)) and real


def differences(slope):
    """The derivative of a slope at 0, by central differences of two widths, extrapolated."""
    wide, narrow = ((slope(h) - slope(-h)) / (2 * h) for h in (STEP, STEP / 2))
    return (4 * narrow - wide) / 3


def along(function):
    """The arguments of a record, the places of the real ones, and a direction to move each of these in."""
    args = examples.finite_arguments(function)
    at = examples.real_positions(args)
    return args, at, [direction(np.asarray(args[i]), 7 + j) for j, i in enumerate(at)]


def torch_slope(function, at_zero):
    """The slope along the direction, as a function of the place; with `at_zero` its own derivative at 0."""
    args, at, ways = along(function)
    smooth = examples.smooth(function)

    def total(s):
        moved = [lift("torch", a) for a in args]
        for i, way in zip(at, ways):
            moved[i] = torch.as_tensor(args[i]) + s * torch.as_tensor(way)
        parts = [torch.as_tensor(x).reshape(-1) for x in leaves(smooth(*moved))]
        parts = [p for x in parts for p in ((x.real, x.imag) if x.is_complex() else (x,))]
        return sum((p * torch.cos(torch.arange(len(p)) + 0.5 * i)).sum() for i, p in enumerate(parts))

    def slope(s):
        s = torch.tensor(s, requires_grad=True)
        value = total(s)
        if not value.requires_grad:
            return 0.0
        (first,) = torch.autograd.grad(value, s, create_graph=at_zero)
        if not at_zero:
            return float(first)
        second = torch.autograd.grad(first, s, allow_unused=True)[0] if first.requires_grad else None
        return 0.0 if second is None else float(second)

    return slope


SMOOTH = [p for p in examples.cases() if is_smooth(p.values[0])]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("function", SMOOTH)
def test_second_derivatives_on_torch(function, torch_double):
    if function.symbol in FIRST_ONLY:
        with pytest.raises(StanDerivativeError, match="first derivatives only"):
            torch_slope(function, True)(0.0)
        return
    expected = differences(torch_slope(function, False))
    np.testing.assert_allclose(torch_slope(function, True)(0.0), expected, 2e-5, 2e-5)


def jax_slope(symbol):
    """The slope along the direction as a function of the place."""
    import jax
    import jax.numpy as jnp
    from compiled import total

    function = registry.by_symbol(symbol)
    args, at, ways = along(function)
    call, free = examples.traceable(examples.smooth(function), args, at)
    return jax.grad(lambda s: total(call(*(x + s * way for x, way in zip(free, ways))), jnp))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("symbol", OF_RULES)
def test_second_derivatives_on_jax(symbol, x64):
    import jax

    slope = traced(jax_slope(symbol))
    got = traced(lambda s: jax.jvp(jax_slope(symbol), (s,), (1.0,))[1], 0.0)
    np.testing.assert_allclose(got, differences(lambda s: float(slope(s))), 2e-5, 2e-5)


@pytest.mark.parametrize("symbol", sorted(FIRST_ONLY))
def test_functions_with_first_derivatives_alone_say_so(symbol, x64):
    import jax

    with pytest.raises(StanDerivativeError, match="first derivatives only"):
        jax.jvp(jax_slope(symbol), (0.0,), (1.0,))


AT_CENTRES = {
    "logistic_lpdf(x | 0.5, 2)": (0.5, -1 / 8), "variance([x, 1 - x, 0.5]')": (0.5, 2.0),
    "variance([x, x]')": (0.5, 0.0),
}  # fmt: skip


def curvature(model, name, point, backend):
    """The second derivative of a model's log density by one parameter, a number."""
    if backend == "numpyro":
        from numpyro.infer.util import log_density

        return float(jax.hessian(lambda v: log_density(model, (), {}, {name: v})[0])(point))
    import torch
    from pyro import poutine

    def density(v):
        return poutine.trace(poutine.condition(model, data={name: v})).get_trace().log_prob_sum()

    return float(torch.autograd.functional.hessian(density, torch.as_tensor(point)))


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("term", AT_CENTRES)
def test_at_centres_of_symmetry(term, backend, x64, torch_double):
    """Where an absolute value or a bound of 0 would have none."""
    point, expected = AT_CENTRES[term]
    model = stanimport.loads(f"parameters {{ real x; }} model {{ target += {term}; }}", backend=backend).model
    assert curvature(model, "x", np.asarray(point), backend) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("kind, law", [("cholesky_factor_corr", "lkj_corr_cholesky"), ("corr_matrix", "lkj_corr")])
def test_of_correlations_of_0(kind, law, backend, x64, torch_double):
    """The density of z, whose tanh is the correlation r, is that of r times 1 - r^2: (1 - r^2)^2 for eta = 2."""
    program = f"parameters {{ {kind}[2] L; }} model {{ L ~ {law}(2); }}"
    module = stanimport.loads(program, backend=backend)
    if backend == "numpyro":
        from numpyro.infer.util import potential_energy

        found = jax.hessian(lambda z: -potential_energy(module.model, (), {}, {"L": z}))(np.zeros(1))
    else:
        from pyro.infer.mcmc.util import initialize_model

        _, potential, _, _ = initialize_model(module.model)
        found = torch_double.autograd.functional.hessian(lambda z: -potential({"L": z}), torch_double.zeros(1))
    np.testing.assert_allclose(np.asarray(found), [[-4.0]], rtol=1e-10)
