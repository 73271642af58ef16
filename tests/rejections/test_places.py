"""Errors at run time are the package's own, and name the Stan text with its line and column, on both backends."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.errors import StanDomainError, StanError, StanIndexError, StanReject, StanRuntimeError

BLOCKS = {
    "transformed data": "transformed data {{\n  {}\n}}",
    "generated quantities": "generated quantities {{\n  {}\n}}",
}
WRONG = [  # what is wrong in statements of data alone, the error, and where its text begins
    ("real y = log1m(2);", StanDomainError, "log1m: x is 2, but must be less than or equal to 1", "log1m(2)", 12),
    ("vector[2] v = [1, 2]'; real y = v[3];", StanIndexError, "index 3 is out of range: the size is 2", "v[3]", 35),
    ("vector[2] v = [1, 2, 3]';", StanIndexError, "shape", "vector[2] v = [1, 2, 3]';", 3),
    ("{ int n = -1; vector[n] v; }", StanIndexError, "a size is negative", "vector[n] v;", 17),
    ("int n = 0; int m = 3 % n;", StanDomainError, "modulus: b is 0", "3 % n", 22),
    ('reject("no ", 3);', StanReject, "no 3", 'reject("no ", 3);', 3),
    ("real<lower=3> y = 2;", StanReject, "y is 2.0, but must be within its bounds", "y", 3),
]


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("block", BLOCKS)
def test_what_is_wrong_by_data_alone_names_function_value_and_place(block, backend):
    for statement, error, message, text, column in WRONG:
        module = stanimport.loads(BLOCKS[block].format(statement), name="wrong", backend=backend)
        with pytest.raises(error) as caught:
            module.transformed_data()
            module.generated_quantities()
        shown = str(caught.value)
        assert message in shown and f"line 2, column {column}" in shown, (statement, shown)
        assert text in shown or text == "y", (statement, shown)


LINES = {  # expressions over several lines, and what the error says of them
    "function": ("real z = 1 + log1m(\n  2\n  );", "`log1m(`, ", "line 2, column 14"),
    "law": ("real z = normal_lpdf(1 |\n  0,\n  -1);", "`normal_lpdf(1 |`, ", "line 2, column 10"),
    "index": ("vector[2] v = [1, 2]';\n real z = v[\n 3\n ];", "`v[`, ", "line 3, column 11"),
    "range in a loop": (
        "vector[2] v = [1, 2]'; real z = 0;\n for (i in 1:2)\n  z += sum(v[i\n   : (i +\n  1)]);",
        "index 3 is out of range: the size is 2; in `v[i`, ", "line 4, column 12",
    ),
}  # fmt: skip


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", LINES)
def test_what_takes_several_lines_is_told_by_the_first(case, backend):
    statement, text, place = LINES[case]
    module = stanimport.loads(f"generated quantities {{\n{statement}\n}}", name="wrong", backend=backend)
    with pytest.raises(StanError) as caught:
        module.generated_quantities()
    assert text in str(caught.value) and place in str(caught.value), str(caught.value)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_a_range_of_some_iteration_that_is_too_long_is_told(backend):
    program = "data { int N; array[N] int n; vector[N] x; } parameters { real<lower=0> a; } model {\n" \
        "  for (j in 1:N) target += a * min(x[j:(j + n[j] - 1)]);\n}"  # fmt: skip
    module = stanimport.loads(program, name="wrong", backend=backend)
    with pytest.raises(StanIndexError, match="the range 2:4 is out of range: the size is 3; in .*line 2, column 36"):
        log_density(module, module.transformed_data(N=3, n=[2, 3, 1], x=[1.0, 2.0, 3.0]), a=0.3)


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_errors_of_array_libraries_become_ours_with_the_stan_line(backend, monkeypatch):
    from stanlib import registry

    def fails(xp, x):
        raise TypeError("unsupported operand")

    for library in ("numpy", "jax", "torch"):
        monkeypatch.setitem(registry.by_symbol("inv_logit").overrides, library, fails)
    module = stanimport.loads("generated quantities {\n  real x = 1;\n  real y = 2 + inv_logit(x);\n}", backend=backend)
    with pytest.raises(StanRuntimeError, match="TypeError: unsupported operand") as caught:
        module.generated_quantities()
    assert "`inv_logit(x)`" in str(caught.value) and "line 3, column 16" in str(caught.value)
    assert type(caught.value.__cause__) is TypeError


@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
def test_an_error_of_a_density_that_is_computed_after_the_model_names_its_statement(backend, x64, torch_double):
    module = stanimport.loads(
        "data { real s; } parameters { real x; }\nmodel {\n  x ~ normal(0, 1);\n  2.5 ~ normal(x, s);\n}",
        backend=backend, scheme="comprehensive",
    )  # fmt: skip
    inputs = module.transformed_data(s=-1.0)
    with pytest.raises(StanDomainError, match="normal_lpdf: sigma is -1.0, but must be positive!.*line 4, column 3"):
        log_density(module, inputs, x=0.3)


def log_density(module, inputs, **parameters):
    """The log density that the module's backend computes at a point."""
    if module.stan.backend == "numpyro":
        from numpyro.infer.util import log_density

        return float(log_density(module.model, (), inputs, {k: np.asarray(v) for k, v in parameters.items()})[0])
    import pyro
    import torch

    data = {k: torch.as_tensor(np.asarray(v, float)) for k, v in parameters.items()}
    return float(pyro.poutine.trace(pyro.poutine.condition(module.model, data)).get_trace(**inputs).log_prob_sum())


def test_place_pickles():
    import pickle

    module = stanimport.loads("transformed data {\n  real y = log1m(2);\n}", name="wrong")
    with pytest.raises(StanError) as caught:
        module.transformed_data()
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
