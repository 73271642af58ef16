"""Stan's outcomes by its own compiler, where httpstan is installed: the arbiter, who takes a minute for a program."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from .outcome import Outcome

_FAST = ["-O0", "-g0", "-std=c++14", "-w"]  # to compile; programs run once or twice


def is_installed() -> bool:
    return importlib.util.find_spec("httpstan") is not None


class Failed(Exception):
    """A program that was not compiled, or whose data can't be handed over."""


def outcomes(text: str, data: dict[str, Any], points: Sequence[np.ndarray]) -> list[Outcome]:
    """What Stan computes at unconstrained points, each (size,).

    Raises:
        Failed: if Stan refuses the program or its data.
    """
    if re.search(r"\bsimplex\[", text):
        raise Failed("httpstan's Stan is 2.35, and 2.37 has another transform of simplexes")
    module = _module(text)
    given = dict(_flat({n: _pairs(v) if n in _complex(text) else v for n, v in data.items()}))
    try:
        names = [entry(n) for n in module.constrained_param_names(given)]
    except RuntimeError as e:
        raise Failed(str(e)) from None
    with _quiet():
        return [_at(module, given, names, p) for p in points]


def _module(text: str) -> Any:
    """The extension module of a program; its files, of which each is large, are removed."""
    import httpstan.cache
    import httpstan.models

    name = httpstan.models.calculate_model_name(text)
    try:
        with _quiet(), mock.patch("httpstan.compile.compile", _translated):
            asyncio.run(httpstan.models.build_services_extension_module(text, _FAST))
        return httpstan.models.import_services_extension_module(name)
    except Exception as e:
        raise Failed(f"{type(e).__name__}: {e}") from None
    finally:
        shutil.rmtree(httpstan.cache.model_directory(name), ignore_errors=True)


def _translated(text: str, name: str) -> tuple[str, str]:
    """C++ by stanc, as httpstan has it, which gives up after a second."""
    import httpstan

    stanc = Path(httpstan.__file__).parent / "stanc"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.stan")
        path.write_text(text)
        done = subprocess.run([stanc, "--name", name, "--print-cpp", path], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    return done.stdout, done.stderr


def _at(module: Any, data: dict[str, Any], names: list[str], point: np.ndarray) -> Outcome:
    try:
        value = module.log_prob(data, list(point), True)
        gradient = np.array(module.log_prob_grad(data, list(point), True))
        return Outcome(value, gradient, dict(zip(names, module.write_array(data, list(point), True, True))))
    except RuntimeError as e:
        return Outcome(rejected=str(e))
    except (ValueError, IndexError) as e:  # what Stan throws of C++'s own kinds
        return Outcome(rejected=f"{type(e).__name__}: {e}")


def entry(name: str) -> str:
    """Stan's "m.1.2", "a.3:2.1", "z.real" as here: "m[1,2]", "a.2[3,1]", "z.real"; words of C++ as written."""
    parts = re.split(r"(?=[.:])", name.removeprefix("_stan_"))
    items = [p[1:] for p in parts[1:] if p[0] == ":"]
    indices = [p[1:] for p in parts[1:] if p[0] == "." and p[1:].isdigit()]
    of_complex = [p for p in parts[1:] if p in (".real", ".imag")]
    return ".".join([parts[0], *items]) + (f"[{','.join(indices)}]" if indices else "") + "".join(of_complex)


def _flat(data: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Items of tuples under names of their own."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat({f"{name}.{item}": v for item, v in value.items()})
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield from _flat({f"{name}.{item}": [v[item] for v in value] for item in value[0]})
        else:
            yield name, value


def _complex(text: str) -> set[str]:
    """The complex variables of the data block."""
    block = re.search(r"^data \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    lines = block.group(1).splitlines() if block else []
    return {re.findall(r"\w+", line)[-1] for line in lines if re.match(r"\s*(array\[.*?\] )?complex", line)}


def _pairs(value: Any) -> Any:
    """Complex numbers so that httpstan, which takes pairs for one more axis, hands each on with its parts together."""
    given = np.asarray(value, float)
    numbers = given.reshape(-1, 2) if given.ndim < 3 else np.swapaxes(given, 0, -2).reshape(-1, 2)
    return numbers.ravel().reshape(given.shape, order="F").tolist()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without what compilers and programs print."""
    sys.stdout.flush()
    kept, nothing = [os.dup(1), os.dup(2)], os.open(os.devnull, os.O_WRONLY)
    try:
        for stream in (1, 2):
            os.dup2(nothing, stream)
        yield
    finally:
        for stream, before in zip((1, 2), kept):
            os.dup2(before, stream)
            os.close(before)
        os.close(nothing)
