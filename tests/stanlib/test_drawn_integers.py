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
    """Names of functions that take ints, one for each way of taking them, with their arguments and the drawn ones.

    Of several ints all are drawn, or one beside others that data tell.
    """
    registry.load()
    for name in sorted(n for n in registry.names() if not n.endswith(("_rng", "_laplace_options"))):
        bodies = {tuple(map(str, k)): c[0] for k, c in registry.exact(name).items()}
        numbers = sorted((ks for ks in bodies if set(ks) <= VALUES.keys()), key=lambda ks: ks.count("real"))
        ways = {tuple("int" in k and k for k in ks): ks for ks in numbers}  # with numbers beside ints, if any
        for kinds in ways.values():
            function, ints = bodies[kinds], [i for i, k in enumerate(kinds) if "int" in k]
            for drawn in sorted({tuple(ints), *((i,) for i in ints)} - {()}):
                yield name, kinds, function, drawn


CASES = [
    pytest.param(name, kinds, function, drawn, id=f"{name}-{'-'.join(kinds)}-{'-'.join(map(str, drawn))}")
    for name, kinds, function, drawn in functions()
]


@pytest.mark.parametrize("name, kinds, function, drawn", CASES)
def test_ints_that_are_drawn(name, kinds, function, drawn, torch_double):
    known = [VALUES[k] for k in kinds]
    given = [torch_double.tensor(v) if i in drawn else v for i, v in enumerate(known)]
    try:
        expected = function(*known)
    except StanError as refused:
        with pytest.raises(type(refused)):
            function(*given)
        return
    found = function(*given)
    np.testing.assert_allclose(found, expected, 1e-9, 1e-12, err_msg=name)
