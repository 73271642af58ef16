"""CmdStanPy's own results of our files, where it is installed: names, shapes, order and values are those of ours."""
import numpy as np
import pytest
from test_values import PROGRAM

from stanimport import cmdstanpy

FEW = dict(seed=1, chains=2, iter_warmup=8, iter_sampling=6, show_progress=False)
RUNS = {
    "sample": ("sample", {"save_warmup": True, "thin": 2, **FEW}), "dense": ("sample", {"metric": "dense_e", **FEW}),
    "optimize": ("optimize", {"seed": 1, "save_iterations": True}),
    "pathfinder": ("pathfinder", {"seed": 1, "draws": 9}),
    "laplace": ("laplace_sample", {"seed": 1, "draws": 9}),
    "variational": ("variational", {"seed": 1, "draws": 9, "require_converged": False}),
}  # fmt: skip
PROPERTIES = ("column_names", "num_draws_warmup", "num_draws_sampling", "thin", "metric_type", "metric", "step_size",
              "optimized_params_np", "optimized_params_dict", "optimized_params_pd", "optimized_iterations_np", "eta",
              "variational_params_dict", "variational_params_np", "variational_sample_pd", "is_resampled")  # fmt: skip


@pytest.fixture(scope="module")
def theirs():
    found = pytest.importorskip("cmdstanpy", reason="CmdStanPy is not installed")
    version = getattr(found, "__version__", "0.0")  # a folder of that name has none
    if found is cmdstanpy or tuple(map(int, version.split(".")[:2])) < (1, 2):
        pytest.skip("its place is taken, or it is an older one")
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("programs") / "kinds.stan"
    path.write_text(PROGRAM)
    return cmdstanpy.CmdStanModel(stan_file=path)


@pytest.mark.parametrize("run", RUNS)
def test_results_are_the_same(run, model, theirs, tmp_path):
    method, options = RUNS[run]
    own = getattr(model, method)(output_dir=tmp_path, sig_figs=18, **options)
    other = theirs.from_csv(own.runset.csv_files)
    assert type(other).__name__ == type(own).__name__
    for name in (n for n in PROPERTIES if hasattr(type(other), n)):
        assert_same(getattr(own, name), getattr(other, name))
    assert_same(own.stan_variables(), other.stan_variables())
    for name in ("draws", "draws_pd", "method_variables"):
        if hasattr(type(other), name):
            assert_same(getattr(own, name)(), getattr(other, name)())
    if hasattr(type(other), "draws_xr"):
        mine, read = own.draws_xr(["a", "v"]), other.draws_xr(["a", "v"])
        assert list(mine) == list(read) and mine.v.dims == read.v.dims and mine.attrs == read.attrs
        np.testing.assert_array_equal(mine.v, read.v)


def assert_same(own, other):
    """Of the same kinds, shapes and values; ours may be integers where theirs are floats."""
    if isinstance(other, dict):
        assert list(own) == list(other)
        for name in other:
            assert_same(own[name], other[name])
    elif hasattr(other, "columns"):
        assert list(own.columns) == list(other.columns)
        np.testing.assert_array_equal(own.to_numpy(float), other.to_numpy(float))
    elif isinstance(other, tuple) or isinstance(other, np.ndarray) and other.dtype == object:
        assert type(own) is type(other)
        for mine, read in zip(own, other, strict=True):
            assert_same(mine, read)
    elif isinstance(other, str) or other is None:
        assert own == other
    else:
        np.testing.assert_array_equal(own, other)
        assert np.shape(own) == np.shape(other)
