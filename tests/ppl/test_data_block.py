"""Reading data: what is accepted, and errors that name the variable, its declaration and what was given."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.errors import StanDataError

PROGRAM = """data {
  int<lower=1> N;
  vector<lower=0>[N] y;
  array[2] int<upper=9> k;
  matrix[N, 2] X;
  simplex[2] p;
  real<lower=y[1]> b;
  tuple(int, vector[N]) t;
  array[2] complex z;
}
"""
GOOD = {
    "N": 3, "y": [1, 2.5, 0], "k": [1, -2], "X": [[1, 2], [3, 4], [5, 6]], "p": [0.25, 0.75], "b": 1,
    "t": [7, [1, 2, 3]], "z": [[1, 2], [0, -1]],
}  # fmt: skip


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="reads")


def test_json_values_become_arrays(module):
    data = module.transformed_data(**GOOD)
    assert data["N"] == 3 and type(data["N"]) is int
    assert data["y"].dtype == np.float64 and data["y"].tolist() == [1.0, 2.5, 0.0]
    assert data["k"].dtype == np.int64
    assert data["X"].shape == (3, 2)
    assert isinstance(data["b"], np.float64)
    assert data["t"][0] == 7 and data["t"][1].tolist() == [1.0, 2.0, 3.0]
    assert data["z"].tolist() == [1 + 2j, -1j]


@pytest.mark.parametrize(
    "name, value",
    [
        ("N", np.int32(3)),
        ("N", np.array(3)),
        ("N", True + 2),
        ("y", np.array([1, 2, 3], np.float32)),
        ("y", (1, 2, 3)),
        ("k", np.array([True, False])),
        ("b", "Infinity"),
        ("t", {"1": 7, "2": [1, 2, 3]}),
        ("z", np.array([1j, 2])),
    ],
)
def test_other_forms_of_the_same_values(module, name, value):
    module.transformed_data(**{**GOOD, name: value})


def test_columns_of_a_data_frame(module):
    pandas = pytest.importorskip("pandas", reason="the test extra is not installed")
    frame = pandas.DataFrame({"a": [1.0, 3.0, 5.0], "b": [2.0, 4.0, 6.0]})
    data = module.transformed_data(**{**GOOD, "X": frame, "y": frame["a"]})
    assert data["X"].tolist() == GOOD["X"] and data["y"].tolist() == [1.0, 3.0, 5.0]


def test_what_the_program_does_not_declare_is_ignored(module):
    assert "extra" not in module.transformed_data(**GOOD, extra=1)


def test_reading_twice_changes_nothing(module):
    data = module.transformed_data(**GOOD)
    again = module.transformed_data(**data)
    assert all(np.array_equal(np.asarray(data[k], object), np.asarray(again[k], object)) for k in data if k != "t")


BAD = {
    "missing": ({"y": None}, "y is missing"),
    "misspelt": ({"y": None, "yy": [1, 2, 3]}, "was 'yy' meant for it"),
    "wrong shape": ({"y": [1, 2]}, r"y must have shape \(3\), not \(2\)"),
    "wrong dimensions": ({"X": [1, 2, 3]}, r"X must have shape \(3, 2\), not \(3\)"),
    "ragged": ({"X": [[1, 2], [3], [4, 5]]}, "X is ragged"),
    "real for int": ({"N": 2.5}, "N must be of type int, not real: 2.5"),
    "whole real for int": ({"N": 3.0}, "N must be of type int"),
    "NaN for int": ({"k": [1, float("nan")]}, r"k must be of type int, not real: \[2\] is nan"),
    "real among ints": ({"k": [1, 2.5]}, r"k must be of type int, not real: \[2\] is 2.5"),
    "text": ({"y": ["a", "b", "c"]}, "y must hold numbers, not 'a': number categories from 1, as pandas.factorize.x"),
    "numbers as text": ({"y": ["1", "2", "x"]}, "y must hold numbers, not '1': declared"),
    "missing as text": ({"y": [1, "NA", 2]}, "y must hold numbers, not 'NA': declared"),
    "too large": ({"k": [1, 2**40]}, "more than 32 bits"),
    "below": ({"N": 0}, r"N is out of bounds: N is 0, but must be greater than or equal to 1"),
    "component below": ({"y": [1, 2, -1]}, r"y\[3\] is -1.0, but must be greater than or equal to 0"),
    "above": ({"k": [1, 10]}, r"k\[2\] is 10, but must be less than or equal to 9"),
    "bound by other data": ({"b": 0.5}, "b is 0.5, but must be greater than or equal to 1"),
    "misspelt in case": ({"y": None, "Y": [1, 2, 3]}, "was 'Y' meant for it"),
    "several missing": ({"y": None, "b": None, "B": 1.0}, r"y and b are missing .*`, line \d+ \(was 'B' meant for it"),
    "no simplex": ({"p": [0.5, 0.6]}, r"p is not a simplex \(its components sum to 1\.1\)"),
    "tuple too short": ({"t": [7]}, "t must have 2 items, not 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data(module, case):
    change, message = BAD[case]
    data = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    with pytest.raises(StanDataError, match=message) as caught:
        module.transformed_data(**data)
    line = 1 + [text.split()[-1].rstrip(";") for text in PROGRAM.splitlines()].index(caught.value.variable)
    assert caught.value.lineno == line
    assert f"line {line}" in str(caught.value) and "declared as `" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_model_takes_raw_data_too(x64):
    from numpyro.infer.util import log_density

    module = stanimport.loads(
        "data { int N; array[N] real y; } transformed data { real s = sum(y); } parameters { real m; }"
        "model { m ~ normal(s, 1); }"
    )
    raw = {"N": 2, "y": [1, 2]}
    values = [
        float(log_density(module.model, (), data, {"m": 3.0})[0]) for data in (raw, module.transformed_data(**raw))
    ]
    assert values[0] == values[1] == pytest.approx(-0.5 * np.log(2 * np.pi))


def test_a_draw_without_a_parameter_says_so():
    module = stanimport.loads("parameters { real mu; } generated quantities { real x = mu; }")
    with pytest.raises(StanDataError, match="the draw lacks parameter mu"):
        module.generated_quantities()


@pytest.mark.parametrize("sizes, fits", [((3,), True), ((1,), False), ((2,), False)])
def test_bounds_that_are_containers_have_the_size_of_the_data(sizes, fits):
    """Stan does not broadcast a container of size 1."""
    module = stanimport.loads("data { int K; vector[K] L; vector<lower=L>[3] y; }", name="bounds")
    given = {"K": sizes[0], "L": np.zeros(sizes), "y": np.ones(3)}
    if fits:
        assert module.transformed_data(**given)["y"].shape == (3,)
    else:
        with pytest.raises(StanDataError, match=f"lower is of size {sizes[0]}.*line 1"):
            module.transformed_data(**given)
