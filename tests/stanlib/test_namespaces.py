"""The array namespaces: each library has every primitive of the contract."""
from __future__ import annotations

import inspect

import numpy as np
import pytest

from stanlib import arrays, registry
from stanlib.arrays import base


@pytest.mark.parametrize("library", ("numpy", "jax", "torch"))
def test_every_primitive_is_there(library):
    namespace = arrays.named(library)
    assert len(base.PRIMITIVES) > 150
    assert [name for name in base.PRIMITIVES if not hasattr(namespace, name)] == []
    assert namespace.LIBRARY == library


def refused(function, contract):
    """Why a primitive does not take what its contract says; nothing if it does."""
    given = [p for p in contract.parameters.values() if p.name != "self"]
    fixed = [p for p in given if p.kind is p.POSITIONAL_ONLY]
    least = sum(p.default is p.empty for p in fixed)
    keywords = {p.name: 0 for p in given if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    if isinstance(function, np.ufunc):
        return "" if function.nin == least == len(fixed) and not keywords else f"takes {function.nin}"
    try:
        own = inspect.signature(function, follow_wrapped=False)
    except ValueError:  # one of NumPy's, behind what asks arrays first
        own = inspect.signature(function)
    try:
        for count, named in ((least, {}), (len(fixed), {}), (least, keywords)):
            own.bind(*[0] * count, **named)
    except TypeError as e:
        return str(e)
    return ""


@pytest.mark.parametrize("library", ("numpy", "jax", "torch"))
def test_every_primitive_takes_what_its_contract_says(library):
    """Names of keywords and numbers of arguments; those of `svd` decide what it gives, and are told nowhere."""
    namespace = arrays.named(library)
    found = {n: inspect.signature(f) for n, f in vars(base.Namespace).items() if inspect.isfunction(f) and n[0] != "_"}
    assert {n for n, s in found.items() if any(p.kind is p.VAR_KEYWORD for p in s.parameters.values())} == {"svd"}
    wrong = {n: refused(getattr(namespace, n), s) for n, s in found.items() if n != "svd"}
    assert {n: why for n, why in wrong.items() if why} == {}


def test_primitives_that_take_something_else_are_told():
    def contract(x, y, /, axis=0): ...

    given = inspect.signature(contract)
    assert refused(lambda a, b, axis=None: 0, given) == refused(lambda *args, **options: 0, given) == ""
    for wrong in (lambda a, axis=None: 0, lambda a, b, c, axis=None: 0, lambda a, b: 0, lambda a, b, dim=0: 0, np.add):
        assert refused(wrong, given)


def test_values_of_torch_are_looked_at_where_nothing_is_traced():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    xp, positive = arrays.named("torch"), torch.tensor([1.0, 2.0])
    assert xp.holds(positive > 0) and not xp.holds(positive > 1) and xp.glance(positive[0]) == 1.0
    seen = []

    def looked_at(x):
        seen.append((xp.holds(x > 0), xp.glance(x)))
        return x

    torch.vmap(looked_at)(positive)
    torch.jit.trace(looked_at, positive[0], check_trace=False)
    assert seen and set(seen) == {(False, None)}


@pytest.mark.parametrize("is_first", [True, False])
def test_derivatives_of_a_real_number_beside_complex_ones(is_first):
    """d/dx of the sum of real parts of `where(c, z, x)`, which PyTorch's own has not."""
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    from stanlib.arrays import torch as xp

    x, z, chosen = torch.tensor([1.0, 2.0], requires_grad=True), np.array([2 + 1j, 3 - 1j]), np.array([True, False])
    made = xp.where(chosen, z, x) if is_first else xp.where(chosen, x, z)
    (found,) = torch.autograd.grad(xp.real_part(made).sum(), x)
    assert found.tolist() == ([0.0, 1.0] if is_first else [1.0, 0.0])


def test_numpy_reads_conjugates_of_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from stanlib.arrays import torch as xp

    z = xp.conj(torch.tensor([1 + 2j, -3j]))
    np.testing.assert_array_equal(np.asarray(z), [1 - 2j, 3j])
    np.testing.assert_array_equal(np.asarray(xp.imag_part(z)), [-2, 3])


@pytest.mark.parametrize("kind", [bool, np.int8, np.int16, np.int32, np.int64])
def test_ints_and_truth_values_of_data_become_doubles(kind):
    xp = arrays.named("numpy")
    assert xp.real(np.array([1, 0, 1], kind)).dtype == np.float64
    assert xp.real(np.array([0.5], np.float32)).dtype == np.float32
    one_hot = registry.by_symbol("one_hot_row_vector")(3, 2)
    assert np.tanh(0.2 * one_hot.sum()) == np.tanh(0.2)
