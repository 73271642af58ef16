"""Functions of ints that programs draw: tensors on PyTorch, also beside numbers and arrays of data."""
import numpy as np
import pytest

from stanlib import registry
from stanlib.errors import StanError

VALUES = {
    "int": 2, "real": 0.5, "vector": np.array([0.5, 0.3]), "row_vector": np.array([0.5, 0.3]),
    "matrix": np.array([[2.0, 0.5], [0.5, 3.0]]), "array[] int": np.array([1, 2]), "array[] real": np.array([0.5, 0.3]),
}  # fmt: skip


def functions():
    """Names of functions that take ints, one for each way of taking them, with their arguments."""
    registry.load()
    for name in sorted(n for n in registry.names() if not n.endswith(("_rng", "_laplace_options"))):
        kinds = {tuple(map(str, k)): c[0] for k, c in registry.exact(name).items()}
        numbers = sorted((ks for ks in kinds if set(ks) <= VALUES.keys()), key=lambda ks: ks.count("real"))
        ways = {tuple("int" in k for k in ks): (ks, kinds[ks]) for ks in numbers}  # with numbers beside ints, if any
        yield from ((name, *way) for places, way in ways.items() if any(places))


CASES = [pytest.param(*f, id=f"{f[0]}-{'-'.join(f[1])}") for f in functions()]


@pytest.mark.parametrize("name, kinds, function", CASES)
def test_ints_that_are_drawn(name, kinds, function, torch_double):
    known = [VALUES[k] for k in kinds]
    drawn = [torch_double.tensor(VALUES[k]) if "int" in k else VALUES[k] for k in kinds]
    try:
        expected = function(*known)
    except StanError as refused:
        with pytest.raises(type(refused)):
            function(*drawn)
        return
    found = function(*drawn)
    np.testing.assert_allclose(found, expected, 1e-9, 1e-12, err_msg=name)
