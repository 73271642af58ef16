"""Data from dicts, files and tables, and what is said of those that can't be read."""
import importlib.resources
import json
import zipfile
from collections import namedtuple

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import stanimport
from stanimport.errors import StanDataError
from stanimport.inference.io.data import read_data, write_json
from stanimport.inference.io.rdump import parse
from stanimport.inference.methods.minibatch.sources import open_data


def equal(a, b):
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])


@pytest.mark.parametrize(
    "text, value",
    [
        ("3", 3), ("-2.5e3", -2500.0), ("1e-3", 1e-3), (".5", 0.5), ("7L", 7), ("c(1, 2, 3)", [1, 2, 3]),
        ("c(1.5, -2)", [1.5, -2]), ("2:5", [2, 3, 4, 5]), ("3:1", [3, 2, 1]), ("c(1:3, 9)", [1, 2, 3, 9]),
        ("integer(0)", []), ("double(2)", [0.0, 0.0]), ("c()", []), ("Inf", np.inf),
        ("c(-Inf, NaN)", [-np.inf, np.nan]),
        ("structure(c(1,2,3,4,5,6), .Dim = c(2,3))", [[1, 3, 5], [2, 4, 6]]),
        ("structure(1:4, .Dim = c(2L, 2L))", [[1, 3], [2, 4]]),
    ],
)  # fmt: skip
def test_r_dump_values(text, value):
    np.testing.assert_array_equal(parse(f"x <- {text}\n")["x"], value)


@pytest.mark.parametrize(
    "text, value",
    [
        ("TRUE", 1), ("c(TRUE, FALSE, T, F)", [1, 0, 1, 0]), ("c(a = 1, `b c` = 2.5)", [1, 2.5]),
        ('structure(c(a = 1, b = 2), .Names = c("a", "b"))', [1, 2]),
        ('structure(1:4, .Dim = c(2L, 2L), .Dimnames = list(c("a", "b"), NULL))', [[1, 3], [2, 4]]),
        ('structure(c(1L, 3L, 1L), levels = c("a", "b", "c"), class = "factor")', [1, 3, 1]),
        ('structure(2:1, .Label = c("lo", "hi"), class = c("ordered", "factor"))', [2, 1]),
        ('structure(c(u = 3L, v = 4L), dim = 2L, dimnames = structure(list(c("u", "v")), names = ""), class = "table")',
         [3, 4]),
        ('structure(1:4, dim = c(2L, 2L), dimnames = list(row = NULL, col = c("x", "y")))', [[1, 3], [2, 4]]),
    ],
)  # fmt: skip
def test_r_dump_as_r_writes_it(text, value):
    """What `dump` makes of logical values, and of vectors and matrices with names."""
    np.testing.assert_array_equal(parse(f"x <- {text}")["x"], value)


@pytest.mark.parametrize("text, told", [("c(1, NA)", "missing"), ("structure(18262, class = \"Date\")", "class Date"),
                                        ('structure(1e-323, class = c("table", "integer64"))', "class integer64"),
                                        ("structure(1:2, .Dimnames = list(", "expected")])  # fmt: skip
def test_r_dump_that_is_no_data(text, told):
    with pytest.raises(stanimport.StanDataError, match=told):
        parse(f"x <- {text}")


def test_files_of_packages_in_archives(tmp_path, monkeypatch):
    """Data and a program as importlib.resources names them where the package is in a zip file."""
    with zipfile.ZipFile(tmp_path / "shipped.zip", "w") as archive:
        archive.writestr("shipped_models/__init__.py", "")
        archive.writestr("shipped_models/m.stan", "data { int N; } parameters { real x; } model { x ~ normal(N, 1); }")
        archive.writestr("shipped_models/m.json", '{"N": 3}')
    monkeypatch.syspath_prepend(tmp_path / "shipped.zip")
    folder = importlib.resources.files("shipped_models")
    assert read_data(folder / "m.json") == read_data(str(folder / "m.json")) == {"N": 3}
    mode = stanimport.optimize(folder / "m.stan", folder / "m.json", seed=1)
    assert float(mode.stan_variable("x")) == pytest.approx(3)
    with pytest.raises(stanimport.StanDataError, match=r"none\.json: can't be read"):
        read_data(folder / "none.json")


def test_r_dump_of_several_variables():
    found = parse('# data\nN <- 2; "y" <-\nc(1,\n 2)\n`a.b` = 3')
    equal(found, {"N": 2, "y": [1, 2], "a.b": 3})
    assert isinstance(found["N"], int) and found["y"].dtype.kind == "i"


@pytest.mark.parametrize(
    "text, line",
    [("N <- 1\ny <- c(1,\n", 3), ("N <- ?", 1), ("N 1", 1), ("a <- 1\nb <- structure(c(1,2), .Dim=c(3))", 2)],
)
def test_r_dump_that_is_none_tells_the_line(text, line):
    with pytest.raises(stanimport.StanDataError, match=rf"x\.R, line {line}: "):
        parse(text, "x.R")


def test_sources_of_the_same_data(tmp_path):
    expected = {"N": 3, "y": [1.5, 2.0, 3.5]}
    (tmp_path / "d.json").write_text(json.dumps(expected))
    (tmp_path / "d.data.R").write_text("N <- 3\ny <- c(1.5, 2, 3.5)")
    (tmp_path / "d.csv").write_text("y\n1.5\n2.0\n3.5\n")
    for name in ("d.json", "d.data.R", "d.csv"):
        equal(read_data(tmp_path / name), expected)
        equal(read_data(str(tmp_path / name)), expected)
    equal(read_data(expected), expected)
    equal(read_data(namedtuple("Data", "N y")(3, [1.5, 2.0, 3.5])), expected)
    columns = {"y": expected["y"]}
    equal(read_data(pd.DataFrame(columns)), expected)  # as of the same table in a file
    equal(read_data(pd.DataFrame({"N": [7, 8]})), {"N": [7, 8]})
    equal(read_data(xr.Dataset({"y": ("n", expected["y"])})), expected | {"n": 3})
    assert read_data(None) == {}


def test_sizes_of_a_data_set(tmp_path):
    """The dimensions by their names, and the rows where every array has them first: in memory and on disk."""
    table = xr.Dataset({"y": ("day", [1.0, 2.0]), "x": (("day", "K"), np.ones((2, 3))), "s": 4.0}, {"day": [3.0, 5.0]})
    table.to_netcdf(tmp_path / "d.nc", engine="h5netcdf")
    for given in (read_data(table), open_data(table), read_data(tmp_path / "d.nc"), open_data(tmp_path / "d.nc")):
        assert (given["N"], given["K"], given["s"]) == (2, 3, 4.0)
    other = read_data(table.assign(z=("K", [1, 2, 3])))
    assert "N" not in other and other["day"] == 2 and other["z"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "name, content, told",
    [
        ("a.json", "{", "no readable JSON"), ("a.json", "[1]", "must be a JSON object"),
        ("a.json", None, "can't be read"),
        ("a.csv", "x,y\n1\n", "differ in length"),
        ("a.R", "x <- (", "line 1"),
    ],
)  # fmt: skip
def test_files_that_hold_no_data(tmp_path, name, content, told):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(stanimport.StanDataError, match=told) as caught:
        read_data(tmp_path / name)
    assert name in str(caught.value)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.json").write_bytes(b"\xfa\xfe{}")
    with pytest.raises(stanimport.StanDataError, match="is no text in UTF-8: see byte 0xfa in line 1"):
        read_data(tmp_path / "a.json")


def test_data_of_another_kind_are_refused():
    with pytest.raises(stanimport.StanDataError, match="not int"):
        read_data(3)


def test_json_round_trip(tmp_path):
    write_json({"a": np.eye(2), "t": (1, np.zeros(2))}, tmp_path / "d.json")
    assert json.loads((tmp_path / "d.json").read_text()) == {"a": [[1, 0], [0, 1]], "t": {"1": 1, "2": [0, 0]}}


def test_json_as_cmdstan_reads_it(tmp_path):
    """Truth values are 0 and 1, complex numbers pairs, tuples objects, also in arrays."""
    data = {
        "b": True, "k": [True, False], "y": np.array([True, False]), "z": 1 - 2j, "c": np.array([1j, 2.0]),
        "a": [(1, np.zeros(2)), (2, [3.0, 4.0])], "d": {"1": 1, "2": np.True_}, "s": pd.Series([1, 2]), "e": [],
        "w": ["a", "b"],
    }  # fmt: skip
    write_json(data, tmp_path / "d.json")
    assert json.loads((tmp_path / "d.json").read_text()) == {
        "b": 1, "k": [1, 0], "y": [1, 0], "z": [1.0, -2.0], "c": [[0.0, 1.0], [2.0, 0.0]],
        "a": [{"1": 1, "2": [0, 0]}, {"1": 2, "2": [3, 4]}], "d": {"1": 1, "2": 1}, "s": [1, 2], "e": [],
        "w": ["a", "b"],
    }  # fmt: skip
    assert "true" not in (tmp_path / "d.json").read_text()
    for wrong in (None, np.ma.array([1, 2], mask=[0, 1]), object()):
        with pytest.raises(StanDataError, match="^x must hold numbers|^x has entries"):
            write_json({"x": wrong}, tmp_path / "d.json")


def test_text_beside_the_data_of_an_r_dump_is_no_data():
    found = parse('N <- 2\nnames <- c("A", "B C")\ntitle <- \'x\'\ny <- c(1.5, 2)')
    equal({n: found[n] for n in ("N", "y")}, {"N": 2, "y": [1.5, 2.0]})
    wanting = stanimport.loads("data { vector[2] names; }")
    with pytest.raises(stanimport.StanDataError, match="names must hold numbers, not 'A'"):
        wanting.transformed_data(**found)


def test_a_table_is_a_matrix():
    """As a value of its own, where a column is meant elsewhere; without an entry it is refused."""
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    equal(read_data({"M": table}), {"M": [[1.0, 3.0], [2.0, 4.0]]})
    with pytest.raises(StanDataError, match="M has missing entries"):
        wanting = stanimport.loads("data { matrix[2, 1] M; }")
        wanting.transformed_data(**read_data({"M": pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})}))


def test_tables_as_spreadsheets_write_them(tmp_path):
    """Blank lines are no rows, but in a table of one column; a column that is text is no data, if none uses it."""
    (tmp_path / "d.csv").write_bytes(b"\xef\xbb\xbf\"k\",y,name,age\r\n1,2.5,Ann,\r\n\r\n3,4.5,\"B, C\",7\r\n\r\n")
    found = read_data(tmp_path / "d.csv")
    module = stanimport.loads("data { int N; array[N] int k; vector[N] y; }")
    equal(module.transformed_data(**found), {"N": 2, "k": [1, 3], "y": [2.5, 4.5]})
    named = stanimport.loads("data { int N; vector[N] age; }")
    with pytest.raises(StanDataError, match="age must hold numbers, not ''"):
        named.transformed_data(**found)
    (tmp_path / "d.csv").write_text("k\n1\n\n2\n\n")
    with pytest.raises(StanDataError, match="no readable table"):
        read_data(tmp_path / "d.csv")


def test_integers_of_r_with_exponents():
    found = parse("a <- 1e5L\nb <- 1e5\nd <- 1.5")
    assert [type(found[n]) for n in "abd"] == [int, float, float] and found["a"] == 100000
