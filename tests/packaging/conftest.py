"""What the tests of packages share."""
from __future__ import annotations

import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory) -> pathlib.Path:
    """A folder in which mypy keeps what it found, for all workers: most of it is of NumPy, JAX and this package."""
    own = tmp_path_factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "mypy"
