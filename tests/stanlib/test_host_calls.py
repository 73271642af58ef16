"""Functions that compiled JAX code computes on the host, whichever thread the calls run in."""
import numpy as np
import pytest
import scipy.special

from stanlib import registry
from stanlib.arrays.jax import callbacks

registry.load()


CASES = {
    "bessel_first_kind": ((1, 0.7312345678901234), scipy.special.jv(1, 0.7312345678901234)),
    "modified_bessel_second_kind": ((2, 1.3123456789012345), scipy.special.kv(2, 1.3123456789012345)),
    "hypergeometric_2F1": ((0.5, 1.25, 2.1, 0.3123456789), scipy.special.hyp2f1(0.5, 1.25, 2.1, 0.3123456789)),
}


@pytest.mark.parametrize("symbol", CASES)
def test_numbers_keep_all_their_digits(symbol, x64):
    import jax

    args, expected = CASES[symbol]
    *fixed, x = args
    got = jax.jit(lambda x: registry.by_symbol(symbol)(*fixed, x))(x)
    np.testing.assert_allclose(got, expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4", "i8"])
def test_arrays_travel_whatever_precision_the_thread_has(dtype, x64):
    """The thread of the call is made to forget of 64 bits before the arrays are handed over."""
    import jax

    given = (np.arange(1, 7).reshape(2, 3) * np.array(1.1 + 0.3j if dtype[0] == "c" else 1.1)).astype(dtype)
    seen = []

    def double(x):
        seen.append(x)
        return [x + x]

    def run(x):
        return callbacks.call(double, [jax.ShapeDtypeStruct(x.shape, x.dtype)], x, vmap_method="sequential")

    compiled = jax.jit(run).lower(jax.ShapeDtypeStruct(given.shape, given.dtype)).compile()
    with jax.enable_x64(True):
        argument = jax.device_put(given)
    with jax.enable_x64(False):
        (out,) = compiled(argument)
        out.block_until_ready()
    with jax.enable_x64(True):
        np.testing.assert_array_equal(np.asarray(out), given + given)
    assert seen[0].dtype == given.dtype and np.array_equal(seen[0], given)
