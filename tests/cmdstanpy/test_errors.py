"""Scripts for CmdStanPy catch RuntimeError around each run."""
import pickle

import pytest

import stanimport
from stanimport import cmdstanpy

PROGRAM = """
data { int N; array[N] int<lower=1, upper=9> at; }
parameters { real<lower=0, upper=1> theta; }
model { vector[2] v = rep_vector(theta, 2); target += v[at[N]]; }
generated quantities { int y = bernoulli_rng(theta + at[1] - 1); }
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("errors") / "indices.stan"
    path.write_text(PROGRAM)
    return cmdstanpy.CmdStanModel(stan_file=path)


@pytest.mark.parametrize("data, kind, told", [
    (None, stanimport.StanDataError, "N and at are missing"), ({"N": 1, "at": [0]}, ValueError, "at"),
    ({"N": 1, "at": [3]}, IndexError, "line 4"),
])  # fmt: skip
@pytest.mark.parametrize("method", ["sample", "optimize", "variational", "pathfinder", "log_prob", "diagnose"])
def test_they_are_runtime_errors(model, method, data, kind, told):
    options = {"params": {"theta": 0.5}} if method == "log_prob" else {}
    with pytest.raises(RuntimeError, match=told) as caught:
        getattr(model, method)(data=data, **options)
    assert isinstance(caught.value, kind) and isinstance(caught.value, stanimport.StanError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and told in str(again)


def test_others_stay_what_they_are(model, tmp_path):
    with pytest.raises(stanimport.StanSyntaxError) as caught:
        (tmp_path / "wrong.stan").write_text("model { target += ; }")
        cmdstanpy.CmdStanModel(stan_file=tmp_path / "wrong.stan")
    assert isinstance(caught.value, ValueError) and not isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, SyntaxError) and caught.value.lineno == 1
    with pytest.raises(stanimport.StanDataError) as caught:
        stanimport.sample(model.module)
    assert not isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize("text, kind", [
    ("model { target += ; }", stanimport.StanSyntaxError), ("model { y ~ normal(0, 1); }", stanimport.StanSemanticError)
])  # fmt: skip
def test_programs_that_are_wrong_are_value_errors(text, kind, tmp_path):
    path = tmp_path / "wrong.stan"
    path.write_text(text)
    later = cmdstanpy.CmdStanModel(stan_file=path, compile=False)
    for refused in (lambda: cmdstanpy.CmdStanModel(stan_file=path), later.compile, later.src_info,
                    lambda: cmdstanpy.compile_stan_file(path)):  # fmt: skip
        with pytest.raises(ValueError) as caught:
            refused()
        assert isinstance(caught.value, kind)
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and str(again) == str(caught.value)
