"""Options that would have no effect beside others are refused by their names, in the shell too."""
import json
from functools import partial

import numpy as np
import pytest

import stanimport
from stanimport.__main__ import main
from stanimport.inference.options import OptionError

PROGRAM = "data { real y; } parameters { real a; } model { a ~ normal(0, 1); y ~ normal(a, 1); }"
DATA = {"y": 1.0}
SHORT = {"chains": 1, "iter_warmup": 50, "iter_sampling": 20}


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="unheeded")


def guide(**data):
    """Never run."""


STEPS = {"step_size": 0.5, "max_treedepth": 8, "metric": "dense_e", "inv_metric": [2.0]}
ADAPTATION = {"adapt_delta": 0.9, "adapt_init_phase": 20, "adapt_metric_window": 20, "adapt_step_size": 20}
sample, optimize = partial(stanimport.sample, **SHORT), stanimport.optimize
CASES = [
    *((sample, n, v, {"fixed_param": True}) for n, v in {**STEPS, **ADAPTATION, "adapt_engaged": False}.items()),
    *((sample, n, v, {"adapt_engaged": False}) for n, v in ADAPTATION.items()),
    *((sample, n, v, {"iter_warmup": 0}) for n, v in ADAPTATION.items()),
    (sample, "parallel_chains", 2, {"chain_method": "sequential"}),
    (sample, "parallel_chains", 2, {"chain_method": "vectorized"}),
    *((optimize, n, 0.1, {"algorithm": "newton"})
      for n in ("tol_grad", "tol_rel_obj", "tol_rel_grad", "tol_obj", "tol_param")),
    (optimize, "history_size", 9, {"algorithm": "newton"}),
    (optimize, "history_size", 9, {"algorithm": "bfgs"}),
    (stanimport.advi, "adapt_iter", 10, {"adapt_engaged": False}),
    (stanimport.laplace_sample, "inits", 0.5, {"mode": {"a": 0.5}}),
    (stanimport.variational, "guide", guide, {"algorithm": "meanfield"}),
    (stanimport.pathfinder, "draws", 500, {"psis_resample": False, "num_paths": 4, "num_single_draws": 100}),
]  # fmt: skip


@pytest.mark.parametrize("method, name, value, beside", CASES)
def test_an_option_without_effect_is_refused(module, method, name, value, beside):
    with pytest.raises(OptionError, match=rf"^{name}\b.*({'|'.join(beside)})"):
        method(module, DATA, **{**beside, name: value})


@pytest.mark.slow
def test_what_has_an_effect_is_taken(module):
    """Defaults that are written out, too."""
    still = stanimport.sample(module, DATA, fixed_param=True, adapt_delta=0.8, max_treedepth=np.int64(10), chains=1,
                              iter_sampling=5, inits={"a": 0.5}, metric="auto", adapt_init_phase=None)  # fmt: skip
    np.testing.assert_array_equal(still.stan_variable("a"), np.full(5, 0.5))
    kept = stanimport.sample(module, DATA, adapt_engaged=False, step_size=0.5, max_treedepth=6, seed=1, **SHORT)
    assert (kept.stats["stepsize__"] == 0.5).all() and kept.stats["treedepth__"].max() <= 6
    one = stanimport.sample(module, DATA, chain_method="sequential", parallel_chains=1, seed=1, **SHORT)
    assert one.num_draws == 20
    whole = {"num_paths": 2, "num_single_draws": 50, "draws": 100}
    paths = stanimport.pathfinder(module, DATA, psis_resample=False, seed=1, **whole)
    assert len(np.unique(paths.stan_variable("a"))) == 100


def test_the_shell_refuses_them_too(tmp_path, capsys):
    program, data = tmp_path / "m.stan", tmp_path / "m.json"
    program.write_text(PROGRAM)
    data.write_text(json.dumps(DATA))
    with pytest.raises(SystemExit):
        main(["sample", str(program), "--data", str(data), "--fixed-param", "--adapt-delta", "0.9"])
    assert "adapt_delta has no effect with fixed_param=True" in capsys.readouterr().err
