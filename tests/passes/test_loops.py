"""What the passes make of loops, and that the log density and its gradient stay those of the plain translation.

`python tests/passes/approve_loops.py` writes the expected texts anew; read the difference before you commit it.
"""
from __future__ import annotations

import jax
import loop_programs as programs
import numpy as np
import pytest
from densities import module_log_density
from numpyro.infer.util import log_density

from stanimport.passes import loops
from stanlib.errors import StanReject


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", programs.NAMES)
def test_bodies_after_each_pass(name):
    assert programs.shown(name) == (programs.FOLDER / f"{name}.txt").read_text()


def value_and_gradient(module, program):
    inputs = module.transformed_data(**programs.wanted(program))
    params = {k: np.asarray(v) for k, v in programs.drawn(program).items()}
    return jax.jit(jax.value_and_grad(lambda p: log_density(module.model, (), inputs, p)[0]))(params)


def assert_unchanged(name, *switches):
    """The log density and gradient of a program without some passes are those without any."""
    program = programs.text(name)
    plain, expected = value_and_gradient(programs.translated(program, without=loops.PASSES), program)
    assert np.isfinite(plain)
    for without in switches:
        value, gradient = value_and_gradient(programs.translated(program, without=without), program)
        np.testing.assert_allclose(value, plain, rtol=1e-12)
        for parameter in expected:
            found, wanted = gradient[parameter], expected[parameter]
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11, err_msg=parameter)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", programs.NAMES)
def test_log_density_and_gradient_with_all_passes(name, x64):
    assert_unchanged(name, ())


@pytest.mark.slow
@pytest.mark.parametrize("name", programs.NAMES)
def test_log_density_and_gradient_without_one_pass(name, x64):
    assert_unchanged(name, *((p,) for p in loops.PASSES))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", programs.NAMES)
def test_log_density_on_torch(name, x64, torch_double):
    import pyro.poutine as poutine

    program = programs.text(name)
    expected, gradient = value_and_gradient(programs.translated(program, without=loops.PASSES), program)
    module = programs.translated(program, "pyro")
    params = {k: torch_double.tensor(v, requires_grad=True) for k, v in programs.drawn(program).items()}
    inputs = module.transformed_data(**programs.wanted(program))
    value = poutine.trace(poutine.condition(module.model, data=params)).get_trace(**inputs).log_prob_sum()
    np.testing.assert_allclose(float(value), float(expected), rtol=1e-10)
    found = torch_double.autograd.grad(value, list(params.values()), allow_unused=True)
    for name_, g in zip(params, found):
        if g is not None:
            np.testing.assert_allclose(g.numpy(), gradient[name_], rtol=1e-8, atol=1e-10, err_msg=name_)


AROUND = "int left = 1; while (left) { left -= 1;"
NEGATIVE = f"""data {{ int N; array[N] int size; vector[4] y; matrix[3, 3] m; }} parameters {{ real a; }}
model {{ {AROUND} for (n in 1:N) target += a * sum(PART); }} }}"""
ALONE = [(), loops.PASSES, *((p,) for p in loops.PASSES)]  # passes that are left out


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("part", ["segment(y, n, size[n])", "block(m, 1, 1, 2, size[n])", "sub_col(m, n, 1, size[n])"])
def test_negative_sizes_are_rejected_whichever_passes_are_left_out(part, backend, x64, torch_double):
    for head, without in [(h, w) for h in (AROUND, "{") for w in ALONE]:
        program = NEGATIVE.replace(AROUND, head).replace("PART", part)
        module = programs.translated(program, backend, without)
        data = {"N": 3, "y": np.arange(4.0), "m": np.ones((3, 3))}
        right, wrong = (module.transformed_data(**data, size=np.array(s)) for s in ([1, 2, 1], [1, 2, -1]))
        assert np.isfinite(module_log_density(module, right, {"a": 0.3}, backend))
        try:  # an error, or where a loop is traced the density
            assert module_log_density(module, wrong, {"a": 0.3}, backend) == -np.inf
        except StanReject as e:
            assert "-1, but must be nonnegative" in str(e)
