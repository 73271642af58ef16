"""A package with Stan programs: built into a wheel, installed, imported where nothing can be translated or written."""
from __future__ import annotations

import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile
from typing import Any

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
FORBES = json.loads((ROOT / "models" / "linear_regression.json").read_text())

# Run before an import: PLY is missing, and whoever opens a file for writing fails.
FROZEN = """
import sys
sys.modules["ply"] = None
def refuse(event, arguments):
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        raise PermissionError(30, "read-only", arguments[0])
    if event in ("os.mkdir", "os.rename"):
        raise PermissionError(30, "read-only", arguments[0])
sys.addaudithook(refuse)
"""
# What a user of the example package does; prints what came of it as JSON.
USE = """
import json
from example_models import boiling, data
from example_models.regression import counts
print(json.dumps({
    "file": boiling.__file__, "filename": boiling.stan.filename, "code": boiling.model.function.__code__.co_filename,
    "x": boiling.transformed_data(**data("boiling"))["x"].tolist(), "counts": counts.stan.names("data", "parameters"),
}))
"""
# The same with JAX, which takes seconds to load.
QUANTITIES = """
import json, numpy
from example_models import boiling, data
fitted = boiling.generated_quantities(**data("boiling"), level=203.0, slope=5.5, sigma=1.0)["fitted"]
print(json.dumps(numpy.asarray(fitted).tolist()))
"""


def run(*command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, timeout=300,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def use(*paths: object, before: str = "", code: str = USE) -> Any:
    path = os.pathsep.join(map(str, [*paths, ROOT]))
    return json.loads(run(sys.executable, "-c", before + code, PYTHONPATH=path, JAX_PLATFORMS="cpu"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> pathlib.Path:
    """The example package, built as its users build theirs."""
    hooks = importlib.metadata.entry_points(group="setuptools.finalize_distribution_options")
    if "stanimport" not in {h.name for h in hooks}:
        pytest.skip("stanimport is not installed, so setuptools does not know its hook")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(HERE / "example_package", folder / "project", ignore=shutil.ignore_patterns("__pycache__", "build"))
    run(
        sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "--no-index",
        "--wheel-dir", folder / "made", folder / "project",
    )  # fmt: skip
    return next((folder / "made").glob("*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory) -> pathlib.Path:
    """A folder that the wheel is installed in."""
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel)
    return folder


def standardized(x):
    mean = sum(x) / len(x)
    sd = (sum((v - mean) ** 2 for v in x) / (len(x) - 1)) ** 0.5
    return [(v - mean) / sd for v in x]


def check(result, place):
    assert result["x"] == pytest.approx(standardized(FORBES["pressure"]), rel=1e-12)
    assert result["counts"] == ["N", "x", "y", "alpha", "beta"]
    assert result["file"] == result["filename"] == result["code"] == str(place / "example_models" / "boiling.stan")


def test_what_is_in_the_wheel(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for model in ("boiling", "regression/counts"):
        assert f"example_models/{model}.stan" in names
        assert f"example_models/{model}.pyi" in names
        for backend in ("numpyro", "pyro"):
            assert f"example_models/{model}.{backend}-mixed.stanc" in names
    assert not [n for n in names if n.endswith(".cache") or n.startswith("example_models/standardize.numpyro")]


def test_no_path_of_the_building_machine_is_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            assert str(wheel.parent.parent).encode() not in archive.read(name), name


def test_installed_read_only_and_without_the_parser(site):
    before = sorted(site.rglob("*"))
    check(use(site, before=FROZEN), site)
    expected = [203.0 + 5.5 * v for v in standardized(FORBES["pressure"])]
    assert use(site, before=FROZEN, code=QUANTITIES) == pytest.approx(expected, rel=1e-6)
    assert sorted(site.rglob("*")) == before


@pytest.mark.slow
def test_from_the_wheel_itself(wheel):
    check(use(wheel, before=FROZEN), wheel)


@pytest.mark.slow
def test_from_a_zip_without_translations(site, tmp_path):
    """The programs are translated, an included file among them, and cached in the chosen folder."""
    archive = tmp_path / "models.zip"
    with zipfile.ZipFile(archive, "w") as z:
        for path in site.rglob("*"):
            if path.is_file() and path.suffix != ".stanc":
                z.write(path, path.relative_to(site))
    cache = tmp_path / "cache"
    before = f"import os; os.environ['STANIMPORT_CACHE_DIR'] = {str(cache)!r}\n"
    check(use(archive, before=before), archive)
    assert len(list(cache.rglob("*.cache"))) == 2
    check(use(archive, before=before + "import sys; sys.modules['ply'] = None\n"), archive)


@pytest.mark.slow
def test_a_changed_program_is_translated_anew(site, tmp_path):
    copy = tmp_path / "site"
    shutil.copytree(site, copy)
    program = copy / "example_models" / "boiling.stan"
    program.write_text(program.read_text().replace("x = standardize", "x = 1000 + standardize"))
    expected = [v + 1000 for v in standardized(FORBES["pressure"])]
    assert use(copy)["x"] == pytest.approx(expected, rel=1e-12)
    include = copy / "example_models" / "standardize.stanfunctions"
    include.write_text(include.read_text().replace("sd(x)", "1"))
    centred = [v - sum(FORBES["pressure"]) / 17 + 1000 for v in FORBES["pressure"]]
    assert use(copy)["x"] == pytest.approx(centred, rel=1e-12)


@pytest.mark.slow
def test_a_type_checker_reads_the_stubs(site, tmp_path, mypy_cache):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "user.py").write_text(
        "from example_models import boiling\n"
        "inputs = boiling.transformed_data(N=2, pressure=[1.0, 2.0], boiling_point=[3.0, 4.0])\n"
        "reveal_type(inputs['N'])\n"
        "drawn = boiling.model(**inputs); drawn['slope']\n"
        "boiling.transformed_data(N='two', pressure=[], boiling_point=[])\n"
        "boiling.generated_quantities(**inputs, level=0.0, slope=1.0)\n"
        "boiling.no_such_attribute\n"
        "import numpy as np, stanimport\n"
        "stanimport.sample(boiling, inputs, chains=np.int64(2), thin=None, seed=[1, 2])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache, "--follow-imports=silent", "user.py"],
        cwd=tmp_path, text=True, capture_output=True,
        env=os.environ | {"MYPYPATH": os.pathsep.join([str(site), str(ROOT)])},
    )  # fmt: skip
    assert 'user.py:3: note: Revealed type is "int"' in done.stdout
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    assert [line.split(":")[1] for line in errors] == ["5", "6", "7"], done.stdout
    assert "SupportsIndex" in errors[0] and '"sigma"' in errors[1] and "no_such_attribute" in errors[2]
