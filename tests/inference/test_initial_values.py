"""Initial values: given ones, random ones, and the statement that keeps a program from starting."""
import json
import re

import numpy as np
import pytest
from conftest import FLIPS, QUICK

import stanimport
from stanimport.inference import InitialValueError

SHORT = QUICK | dict(iter_warmup=100, iter_sampling=100)


def test_inits_from_a_file_and_another_fit(beta_module, beta_fit, tmp_path):
    """Where parameters are fixed, the draws are the initial values."""
    file = tmp_path / "inits.json"
    file.write_text(json.dumps({"theta": 0.9}))
    for inits, expected in ((str(file), [0.9, 0.9]), ([{"theta": 0.2}, file], [0.2, 0.9])):
        fit = stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits=inits, fixed_param=True))
        np.testing.assert_allclose(fit.variables["theta"][:, 0], expected)
    again = stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits=beta_fit, fixed_param=True))
    for start in again.variables["theta"][:, 0]:
        assert np.isclose(start, beta_fit.stan_variable("theta"), rtol=1e-12).any()


def test_start_at_the_given_values(beta_module):
    fixed = stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits={"theta": 0.9}, fixed_param=True))
    np.testing.assert_allclose(fixed.stan_variable("theta"), 0.9)


@pytest.mark.parametrize("inits, told", [
    ({"theta": 1.5}, "theta is 1.5, outside its domain: declared as `real<lower=0, upper=1> theta`"),
    ({"theta": [0.1, 0.2]}, "must have shape"), ({"tetha": 0.5}, "did you mean 'theta'"),
    ("none.json", "can't be read"),
])  # fmt: skip
def test_wrong_inits(beta_module, inits, told):
    with pytest.raises(stanimport.StanDataError, match=told):
        stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits=inits))


@pytest.mark.parametrize("statement, told", [
    ("target += log(-exp(x));", "line 3"), ("y ~ normal(x, -1 - square(x));", r"positive.*line 3"),
    ("if (x < 100) reject(\"never\");", r"reject.*line 3"),
    ("target += negative_infinity() * square(x);", "line 3"),
])  # fmt: skip
def test_no_initial_value_names_the_statement(statement, told):
    module = stanimport.loads(f"data {{ real y; }}\nparameters {{ real x; }} model {{\n{statement}\n}}")
    with pytest.raises(InitialValueError, match="100 random initial values") as caught:
        stanimport.sample(module, {"y": 0.0}, **SHORT)
    assert re.search(told, str(caught.value)) and caught.value.line == 3
