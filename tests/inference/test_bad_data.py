"""Data that are wrong end in an error that names the variable or the file, whatever is wrong with them.

Random ones too: `STANIMPORT_FUZZ=100000 pytest tests/inference/test_bad_data.py -k fuzz` tries that many of each kind.
"""
from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stanimport
from stanimport.inference.io.data import read_data
from stanimport.inference.io.rdump import parse

PROGRAM = """data {
  int n;
  int<lower=0> N;
  array[N] int k;
  array[N] real y;
  matrix[N, 2] X;
  tuple(int, vector[N]) t;
  array[2] tuple(real, int) a;
  complex z;
}
"""
GOOD = {
    "n": 1, "N": 2, "k": [1, 2], "y": [1.0, 2.5], "X": [[1.0, 2.0], [3.0, 4.0]], "t": {"1": 1, "2": [1.0, 2.0]},
    "a": [{"1": 1.0, "2": 1}, {"1": 2.0, "2": 2}], "z": [1.0, -1.0],
}  # fmt: skip


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="wanting")


def nested(depth: int) -> list:
    made: list = []
    for _ in range(depth):
        made = [made]
    return made


def circle() -> list:
    made: list = []
    made.append(made)
    return made


VALUES = {
    "none for an int": ("n", None), "none for a real": ("y", [1.0, None]), "none for an array": ("y", None),
    "text": ("y", "ab"), "a number as text": ("y", ["1.5", 1.0]), "an underscore": ("y", ["1_0", 1.0]),
    "infinity in Python's words": ("y", ["inf", 1.0]), "integers as text": ("k", ["1", "2"]),
    "infinity for an int": ("n", "Infinity"), "NaN for an int": ("n", math.nan),
    "a whole real for an int": ("n", 1.0), "one among ints": ("k", [1, 2.0]),
    "more than 32 bits": ("n", 2**31), "unsigned": ("n", np.uint64(2**63)), "more than 64 bits": ("k", [1, 10**30]),
    "more than a double": ("y", [10**400, 1]), "more for an int": ("n", 10**400),
    "masked": ("y", np.ma.array([1.0, 2.0], mask=[0, 1])), "a masked entry": ("y", [1.0, np.ma.masked]),
    "missing in pandas": ("k", pd.array([1, None], dtype="Int64")),
    "truth values and missing": ("k", pd.array([True, None], dtype="boolean")),
    "a set": ("y", {1, 2}), "a dict": ("y", {"1": 1.0}), "bytes": ("y", b"ab"), "an object": ("y", [object(), 1.0]),
    "a generator": ("y", (x for x in [1.0, 2.0])), "dates": ("y", np.array([1, 2], "M8[s]")),
    "fields": ("y", np.array([(1, 2), (3, 4)], "i,i")), "complex": ("y", [1j, 2.0]),
    "ragged": ("X", [[1.0], [2.0, 3.0]]),
    "too deep": ("y", nested(100)), "far too deep": ("y", nested(100_000)), "a circle": ("y", circle()),
    "a number for an array": ("y", 1.0), "an array for a number": ("n", [1]), "a list for a matrix": ("X", [1.0, 2.0]),
    "a number for a tuple": ("t", 7), "text for a tuple": ("t", "ab"), "none for a tuple": ("t", None),
    "a short tuple": ("t", [1]), "a long one": ("t", [1, [1.0, 2.0], 3]),
    "wrong items": ("t", {"1": 1, "3": [1.0, 2.0]}),
    "no items": ("t", {}), "an item too many": ("t", {"1": 1, "2": [1.0, 2.0], "3": 1}),
    "items swapped": ("t", [[1.0, 2.0], 1]), "an item of the wrong type": ("t", [1.5, [1.0, 2.0]]),
    "an item that is none": ("t", [1, None]), "a tuple for an array of them": ("a", {"1": 1.0, "2": 1}),
    "a number for an array of tuples": ("a", 3), "numbers in it": ("a", [1, 2]), "too few tuples": ("a", [[1.0, 1]]),
    "tuples of different lengths": ("a", [[1.0, 1], [1.0]]), "half a complex number": ("z", [1.0]),
    "too much of one": ("z", [1.0, 2.0, 3.0]),
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_values_that_are_refused_by_name(module, case):
    name, value = VALUES[case]
    with pytest.raises(stanimport.StanDataError) as caught:
        module.transformed_data(**GOOD | {name: value})
    assert caught.value.variable.split(".")[0] == name and str(caught.value).startswith(name)
    assert caught.value.filename == module.stan.filename


NESTED = """data {
  int N;
  tuple(int<lower=0>, tuple(real, vector<upper=9>[N])) t;
  array[2] tuple(real, tuple(int, array[N] int)) a;
  tuple(array[2] tuple(int, real), simplex[2]) b;
}
transformed data { real z = t.2.1 + t.2.2[2] + a[1].2.1 + a[2].2.2[1] + b.1[2].2; }
"""
INNER = {
    "N": 2, "t": [1, {"1": 2.0, "2": [3.0, 4.0]}], "a": [[1.0, [10, [20, 30]]], {"1": 2.0, "2": [40, [50, 60]]}],
    "b": [[[1, 100.0], [2, 200.0]], [0.5, 0.5]],
}  # fmt: skip
WRONG_ITEMS = {
    "a bound": ({"t": [-1, [2.0, [3.0, 4.0]]]}, r"t\.1 is -1, but must be"),
    "no tuple": ({"t": [1, 2.0]}, r"t\.2 must be a tuple"),
    "a bound inside": ({"t": [1, [2.0, [3.0, 10.0]]]}, r"t\.2\.2\[2\] is 10"),
    "a size inside": ({"t": [1, [2.0, [3.0]]]}, r"t\.2\.2 must have shape \(2\), not \(1\)"),
    "text inside": ({"t": [1, ["x", [3.0, 4.0]]]}, r"t\.2\.1 must hold numbers"),
    "no simplex": ({"b": [INNER["b"][0], [0.5, 0.6]]}, r"b\.2"),
    "too few": ({"b": [[[1, 2.0]], [0.5, 0.5]]}, r"b\.1\.1 must have shape"),
    "a real": ({"b": [[[1, 2.0], [1.5, 2.0]], [0.5, 0.5]]}, r"b\.1\.1"),
    "an item short": ({"a": [[1.0, [1, [2, 3]]], [2.0, [3]]]}, r"a\.2 must have 2 items"),
}  # fmt: skip


def test_tuples_in_tuples_and_in_arrays():
    inner = stanimport.loads(NESTED)
    found = inner.transformed_data(**INNER)
    assert found["z"] == 2 + 4 + 10 + 50 + 200
    assert found["a"][1][1].tolist() == [[20, 30], [50, 60]]
    for change, told in WRONG_ITEMS.values():
        with pytest.raises(stanimport.StanDataError, match=told):
            inner.transformed_data(**INNER | change)


def test_negative_sizes_are_told_of_the_variable_that_has_them():
    """Of data that are given, and of those that are to be predicted."""
    program = stanimport.loads("data { int N; vector[N] y; } parameters { real x; } model { x ~ std_normal(); "
                               "y ~ normal(x, 1); }")  # fmt: skip
    fit = stanimport.generate_quantities(program, {"N": 1, "y": [0.5]}, previous_fit={"x": [0.0]}, seed=1)
    with pytest.raises(stanimport.StanDataError, match=r"y has a negative size, -1: declared as `vector\[N\] y`"):
        stanimport.optimize(program, {"N": -1, "y": []})
    with pytest.raises(stanimport.StanDataError, match="y has a negative size, -1"):
        fit.posterior_predictive({"N": -1})


@pytest.mark.parametrize(
    "value", [[1, [2]], "a", [1.0, object()], 10**400], ids=["ragged", "text", "an object", "too large"]
)
def test_initial_values_that_are_no_numbers(value):
    vectors = stanimport.loads("parameters { vector[2] x; } model { x ~ normal(0, 1); }")
    with pytest.raises(stanimport.StanDataError, match="the value of x (must|is ragged|holds a number)"):
        stanimport.sample(vectors, inits={"x": value}, chains=1, seed=1)


def test_what_they_differ_from_is_accepted(module):
    forms = {
        "y": np.ma.array([1.0, 2.5]), "k": np.array([True, False]), "t": (1, [1, 2]), "a": ((1, 1), (2, 2)),
        "z": 1 - 1j,
        "X": [["-Inf", 2], ["NaN", 10**30]], "n": np.int8(1),
    }  # fmt: skip
    found = module.transformed_data(**GOOD | forms)
    np.testing.assert_array_equal(found["X"], [[-math.inf, 2.0], [math.nan, 1e30]])
    assert found["k"].tolist() == [1, 0] and found["a"][1].tolist() == [1, 2] and found["z"] == 1 - 1j


TRUTHS = {
    "Python's": True, "NumPy's": np.True_, "of no dimension": np.array(True), "a list": [True, False],
    "among numbers": [1, False], "an array": np.array([True, False]), "objects": np.array([True, False], object),
    "a column": pd.Series([True, False]), "a column of objects": pd.Series([True, False], dtype=object),
    "a column with a mask": pd.array([True, False], dtype="boolean"),
}  # fmt: skip


@pytest.mark.parametrize("given", TRUTHS)
def test_truth_values_are_numbers_wherever_they_stand(module, given):
    """As CmdStanPy writes them, for ints and reals alike; CmdStan's JSON has none."""
    value = TRUTHS[given]
    if np.ndim(value) == 0:
        assert module.transformed_data(**GOOD | {"n": value})["n"] == 1
        value = [value, 0]
    found = module.transformed_data(**GOOD | {"k": value, "y": value})
    assert found["k"].tolist() == [1, 0] and found["y"].tolist() == [1.0, 0.0]
    assert found["k"].dtype == np.int64 and found["y"].dtype == np.float64


def test_columns_are_the_same_whether_they_are_read_before_or_not(module):
    """A tensor that has a gradient, and columns of lists; missing entries are no NaN."""
    torch, pyarrow = pytest.importorskip("torch"), pytest.importorskip("pyarrow")
    rows = pd.Series([[1.0, 2.0], [3.0, 4.0]])
    forms = {
        "k": pyarrow.array([True, False]), "y": torch.ones(2, requires_grad=True), "X": rows,
        "n": torch.tensor(3),
    }  # fmt: skip
    for values in (GOOD | forms, read_data(GOOD | forms)):
        found = module.transformed_data(**values)
        assert found["k"].tolist() == [1, 0] and found["y"].tolist() == [1.0, 1.0] and found["n"] == 3
        assert found["X"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    wrong = {
        "missing entries": pd.array([1.0, None], dtype="Float64"), "missing  entries": pyarrow.array([1.0, None]),
        "not sparse": scipy.sparse.csr_array(np.ones((1, 2))), "BFloat16": torch.ones(2, dtype=torch.bfloat16),
        "sparse": torch.ones(2).to_sparse(), "no data": torch.ones(2, device="meta"),
    }  # fmt: skip
    for value in wrong.values():
        for values in (GOOD | {"y": value}, read_data(GOOD | {"y": value})):
            with pytest.raises(stanimport.StanDataError, match="^y .*declared as"):
                module.transformed_data(**values)


def test_tables_of_polars(module):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"k": [True, False], "y": [1, 2], "unused": ["a", None]})
    found = module.transformed_data(**GOOD | read_data(table) | {"X": table.select("k", "y")})
    assert found["N"] == 2 and found["k"].tolist() == [1, 0] and found["y"].tolist() == [1.0, 2.0]
    assert found["X"].tolist() == [[1.0, 1.0], [0.0, 2.0]]
    assert module.transformed_data(**GOOD | {"X": polars.Series([[1.0, 2.0], [3.0, 4.0]])})["X"].shape == (2, 2)
    with pytest.raises(stanimport.StanDataError, match="collect"):
        read_data(table.lazy())
    lacking = polars.Series([1.0, None])
    for wrong, told in ((lacking, "missing entries"), (polars.col("y"), "collect"), (table.lazy(), "collect")):
        for values in (GOOD | {"y": wrong}, read_data(GOOD | {"y": wrong})):
            with pytest.raises(stanimport.StanDataError, match=f"^y .*{told}"):
                module.transformed_data(**values)


def test_tables_of_pyarrow(module):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table({"k": [1, 2], "y": [1.0, 2.0]})
    found = module.transformed_data(**GOOD | read_data(table) | {"X": table})
    assert found["N"] == 2 and found["k"].tolist() == [1, 2] and found["X"].tolist() == [[1.0, 1.0], [2.0, 2.0]]


def test_columns_that_the_program_has_no_use_for(module):
    """May be text, or lack entries."""
    table = pd.DataFrame({"k": [1, 2], "y": [1.0, 2.0], "name": ["a", None], "age": pd.array([1, None], dtype="Int64")})
    assert module.transformed_data(**GOOD | read_data(table))["k"].tolist() == [1, 2]
    table.columns = ["k", "y", "k", "age"]
    with pytest.raises(stanimport.StanDataError, match="two columns 'k'"):
        read_data(table)


def test_a_model_checks_the_types_of_arrays_too():
    """Arrays look like what transformed_data returns."""
    counts = stanimport.loads("data { int N; array[N] int k; } parameters { real x; } model { k ~ poisson_log(x); }")
    for wrong in (np.array([1.5, 2.0]), np.ma.array([1, 2], mask=[0, 1])):
        with pytest.raises(stanimport.StanDataError, match="^k "):
            counts.model(N=2, k=wrong)


FILES = {
    "true": ("d.json", '{"n": true}', "n must hold numbers, not 'true'"),
    "true in a tuple": ("d.json", '{"t": {"1": true, "2": [1, 2]}}', "t.1 must hold numbers, not 'true'"),
    "false among reals": ("d.json", '{"y": [1.0, false]}', "y must hold numbers, not 'false'"),
    "null": ("d.json", '{"y": [1, null]}', "y"),
    "text": ("d.json", '{"y": ["1", 2]}', "y"), "a name twice": ("d.json", '{"n": 1, "n": 2}', "n is there twice"),
    "an item twice": ("d.json", '{"t": {"1": 1, "1": 2, "2": [1, 2]}}', "1 is there twice"),
    "10^400": ("d.json", '{"n": 1' + 400 * "0" + "}", "too large"),
    "1e400": ("d.json", '{"y": [1e400, 1]}', "too large"),
    "a long integer": ("d.json", '{"n": ' + 10_000 * "7" + "}", "too large"),
    "deep": ("d.json", 100_000 * "[", "nested too deeply"), "deep objects": ("d.json", 100_000 * '{"a":', "nested"),
    "1.0 for an int": ("d.json", '{"n": 1.0}', "n must be of type int"),
    "1e0 for an int": ("d.json", '{"n": 1e0}', "n must be of type int"),
    "an underscore": ("d.json", '{"n": 1_000}', "JSON"),
    "no numeral": ("d.json", '{"n": 01}', "JSON"), "NaN for an int": ("d.json", '{"n": NaN}', "n must be of type int"),
    "two columns of a name": ("d.csv", "k,k\n1,2\n3,4\n", "two columns 'k'"),
    "spaces in a name": ("d.csv", "k, k\n1,2\n3,4\n", "two columns 'k'"),
    "1_000": ("d.csv", "k\n1_000\n2\n", "k must hold numbers, not '1_000'"),
    "an empty cell": ("d.csv", "k\n1\n\"\"\n", "k must hold numbers, not ''"),
    "NA": ("d.csv", "y\nNA\n1\n", "y must hold numbers, not 'NA'"),
    "1e999": ("d.csv", "y\n1e999\n1\n", "y must hold numbers, not '1e999'"),
    "other digits": ("d.csv", "k\n\u0661\n2\n", "k must hold numbers"),
    "a NUL": ("d.csv", "k\n1\0\n2\n", "d.csv|k must hold numbers"),
    "a long field": ("d.csv", "k\n" + 200_000 * "1" + "\n2\n", "d.csv"),
    "reals for ints": ("d.csv", "k\n1.0\n2.0\n", "k must"),
    "a range to a real": ("d.R", "k <- 1:1e9", "no range of integers"),
    "an endless range": ("d.R", "k <- 1:1000000000000", "more than"),
    "endless zeros": ("d.R", "y <- double(1000000000000)", "more than"),
    "zeros of no size": ("d.R", "y <- double(1.5)", "no size"),
    "fewer than none": ("d.R", "y <- integer(-1)", "no size"), "zeros by text": ("d.R", "y <- integer('a')", "no size"),
    "a shape of NaN": ("d.R", "y <- structure(c(1, 2), .Dim = c(NaN))", "nan is no size"),
    "a shape of text": ("d.R", "y <- structure(c(1, 2), .Dim = 'a')", "a is no size"),
    "a shape of reals": ("d.R", "y <- structure(c(1, 2), .Dim = c(2.0))", "2.0 is no size"),
    "a negative shape": ("d.R", "y <- structure(c(1, 2), .Dim = c(-1, -2))", "-1 is no size"),
    "a shape that overflows": ("d.R", "y <- structure(integer(0), .Dim = c(4294967296, 4294967296))", "is no size"),
    "a large empty shape": ("d.R", "y <- structure(integer(0), .Dim = c(0, 2000000000, 2000000000))",
    "too large a shape"),
    "a shape not filled": ("d.R", "y <- structure(c(1, 2), .Dim = c(100000, 100000))", "do not fill"),
    "text among numbers": ("d.R", "y <- c(1, '2')", "numbers and text"), "NA in R": ("d.R", "y <- c(1, NA)", "line 1"),
    "TRUTH in R": ("d.R", "n <- TRUTH", "line 1"), "assigned twice": ("d.R", "n <- 1\nn <- 2", "n is assigned twice"),
    "1e999 in R": ("d.R", "y <- c(1e999, 1)", "too large"), "deep in R": ("d.R", "y <- " + 10_000 * "c(", "deep"),
    "a long integer in R": ("d.R", "n <- " + 5000 * "7", "too large"),
    "a structure of one": ("d.R", "y <- structure(" * 2000, "line 1"),
    "nothing": ("d.nc", "", "no readable NetCDF"), "no NetCDF": ("d.nc", "CDF junk", "no readable NetCDF"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_files_that_are_refused(module, tmp_path, case):
    name, text, told = FILES[case]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(stanimport.StanDataError, match=told):
        module.transformed_data(**GOOD | read_data(tmp_path / name))


def test_a_path_that_can_be_none():
    with pytest.raises(stanimport.StanDataError, match="can't be read"):
        read_data("a\0b.json")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of h5netcdf's half-opened files
def test_damaged_netcdf(tmp_path):
    """Every hundredth byte changed, in turn, and cut at every twentieth of its length: numbers or an error."""
    xarray = pytest.importorskip("xarray", reason="the inference extra is not installed")
    path = tmp_path / "d.nc"
    xarray.Dataset({"k": ("n", [1, 2]), "y": ("n", [1.0, 2.5])}).to_netcdf(path, engine="h5netcdf")
    whole, errors = path.read_bytes(), 0
    cuts = [whole[: len(whole) * i // 20] for i in range(20)]
    changed = [whole[:i] + bytes([whole[i] ^ 0xFF]) + whole[i + 1 :] for i in range(0, len(whole), len(whole) // 60)]
    for content in cuts + changed:
        path.write_bytes(content)
        try:
            read_data(path)
        except stanimport.StanDataError as e:
            assert "d.nc" in str(e)
            errors += 1
    assert errors > 20


def test_missing_entries_of_columns():
    frame = pd.DataFrame({"k": pd.array([1, None], dtype="Int64")})
    counts = stanimport.loads("data { int N; array[N] int k; }")
    with pytest.raises(stanimport.StanDataError, match="k has missing entries"):
        counts.transformed_data(**read_data(frame))
    assert np.isnan(read_data(pd.DataFrame({"y": [1.0, None]}))["y"][1])  # a NaN among floating point numbers


LITTLE = """
import resource, sys
import stanimport
from stanimport.inference.io.data import read_data
from stanlib.errors import StanDataError
import numpy
used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for text in ("x <- 1:1000000000000", "x <- 1:2000000000", "x <- double(1000000000000)", "x <- integer(2000000000)",
             "x <- structure(integer(0), .Dim = c(0, 1000000000000))", "x <- c(1:9000000, 1:9000000)"):
    open(sys.argv[1], "w").write(text)
    try:
        read_data(sys.argv[1])
    except StanDataError:
        continue
    print("read:", text)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used) * 1024 < 200e6)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
def test_no_memory_is_taken_for_what_is_refused(tmp_path):
    done = subprocess.run([sys.executable, "-c", LITTLE, str(tmp_path / "d.R")], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stdout + done.stderr


# --- random data -----------------------------------------------------------------------------------------------------

COUNT = int(os.environ.get("STANIMPORT_FUZZ", "0"))
FUZZ = settings(
    max_examples=COUNT or 60, derandomize=not COUNT, deadline=None, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip
numbers = st.one_of(
    st.integers(-3, 3), st.integers(), st.sampled_from([2**31, -(2**31) - 1, 2**63, 2**64, 10**30, 10**400]),
    st.floats(),
)  # fmt: skip
leaves = st.one_of(
    numbers, st.none(), st.booleans(), st.text(max_size=3), st.sampled_from(["Inf", "-Infinity", "NaN", "1", "inf",
    "1_0"]),
    st.binary(max_size=2),
)  # fmt: skip
values = st.recursive(leaves, lambda v: st.one_of(
    st.lists(v, max_size=3), st.tuples(v, v), st.dictionaries(st.sampled_from(["1", "2", "3", "x"]), v, max_size=3),
), max_leaves=8)  # fmt: skip
datasets = st.dictionaries(st.sampled_from([*GOOD]), values, max_size=3)


def numbers_in(value) -> list[float]:
    """What should be read of a nested value that is accepted, by the rules alone."""
    if isinstance(value, dict):
        return [x for i in range(len(value)) for x in numbers_in(value[str(i + 1)])]
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in numbers_in(v)]
    return [float(value.replace("Inf", "inf")) if isinstance(value, str) else float(value)]


def check(module, data) -> None:
    """The data are read as they stand, or refused by name."""
    try:
        found = module.transformed_data(**GOOD | data)
    except stanimport.StanDataError as e:
        assert e.variable.split(".")[0] in GOOD
        return
    for name in set(data) - {"a", "z", "t"}:
        np.testing.assert_array_equal(np.ravel(found[name]).astype(float), numbers_in(data[name]))
    assert type(found["n"]) is int and found["k"].dtype.kind == "i" and found["y"].dtype == float


@FUZZ
@given(datasets)
def test_fuzz_dicts(module, data):
    check(module, data)


def jsonable(value) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(jsonable, value))
    return all(map(jsonable, value.values())) if isinstance(value, dict) else not isinstance(value, bytes)


def damaged(draw, text: str) -> str:
    """A text with some characters of data replaced, removed or doubled."""
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 3))
        text = text[:at] + draw(st.sampled_from(PIECES)) + text[at + cut :]
    return text


PIECES = (
    "", "0", "9", "-", ".", "e", "E5", "e999", "99999999999999999999", "[", "]", "{", "}", "(", ")", ",",
    ":", '"', "'", "L", "1:",
    ":1e9", "1000000000000", "NaN", "Inf", "NA", "null", "true", "c(", "structure(", ".Dim", "=", "<-", "\n", "\0",
    "\u0661",
    "integer(", "double(", "# ", ";", " ", "_", '"k"', "\ud7ff", "k,",
)  # fmt: skip
R_DUMP = """n <- 1
N <- 2L
k <- c(1, 2)
y <- structure(c(1.0, 2.5), .Dim = 2:2)
X <- structure(c(1, 3, 2, 4), .Dim = c(2, 2))
z <- c(double(1), 1:1)
"""
TABLE = "k,y,n\n1,1.5,3\n2,-2e3,4\n"


def read_or_refused(module, path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        data = read_data(path)
    except stanimport.StanDataError as e:
        assert path.name in str(e)
        return
    try:
        module.transformed_data(**GOOD | data)
    except stanimport.StanDataError as e:
        assert e.variable.split(".")[0] in GOOD


@FUZZ
@given(st.data())
def test_fuzz_json(module, tmp_path, data):
    given_data = data.draw(datasets.filter(jsonable))
    read_or_refused(module, tmp_path / "d.json", damaged(data.draw, json.dumps(GOOD | given_data)))


@FUZZ
@given(st.data())
def test_fuzz_r_dumps(module, tmp_path, data):
    read_or_refused(module, tmp_path / "d.R", damaged(data.draw, R_DUMP))


@FUZZ
@given(st.data())
def test_fuzz_tables(module, tmp_path, data):
    read_or_refused(module, tmp_path / "d.csv", damaged(data.draw, TABLE))


finite = st.floats(allow_nan=False, allow_infinity=False)


@FUZZ
@given(st.lists(finite, min_size=1, max_size=4), st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=4))
def test_fuzz_the_same_data_in_all_forms(tmp_path, reals, integers):
    """What is written in each form is read back, bit for bit."""
    expected = {"y": reals, "k": integers}
    (tmp_path / "d.json").write_text(json.dumps(expected))
    forms = [read_data(tmp_path / "d.json")]
    forms.append(parse("".join(f"{n} <- c({', '.join(map(repr, v))})\n" for n, v in expected.items())))
    for name, items in expected.items():
        (tmp_path / "d.csv").write_text("\n".join([name, *map(repr, items)]))
        forms.append(read_data(tmp_path / "d.csv"))
    for form in forms:
        for name in form.keys() & expected.keys():
            assert np.asarray(form[name]).tolist() == expected[name]
            assert (np.asarray(form[name]).dtype.kind == "i") == (name == "k")
