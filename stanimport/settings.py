"""Defaults: backend, scheme and include paths, from `configure(...)` or the environment."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .errors import SettingError, nearest
from .ir.targets import TARGETS

BACKENDS = tuple(TARGETS)
SCHEMES = ("comprehensive", "mixed", "generative", "simulation", "pointwise")


@dataclass(frozen=True)
class Settings:
    """What a translation uses unless it is told otherwise.

    Shipped translations, which are code, are used in `trusted_folders` as they are in installed packages. Networks are
    imported from `network_packages` as they are from the program's own package.
    """

    backend: str = "numpyro"
    scheme: str = "mixed"
    include_paths: tuple[Path, ...] = ()
    trusted_folders: tuple[Path, ...] = ()
    network_packages: tuple[str, ...] = ()
    functions: tuple[tuple[str, str], ...] = ()


# The settings that environment variables give, and what stands between several values.
_ENVIRONMENT = {"backend": "", "scheme": "", "trusted_folders": os.pathsep, "network_packages": ","}
_configured: dict[str, Any] = {}


def configure(**options: object) -> None:
    """Set defaults for all translations from now on; None takes a setting back.

    Args:
        backend: "numpyro" or "pyro".
        scheme: "comprehensive", "mixed", "generative", "simulation" or "pointwise".
        include_paths: folders in which `#include` looks.
        trusted_folders: folders whose `.stanc` files are used, which are code.
        network_packages: packages and modules that programs may name in their block `networks`.
        functions: where Python finds functions that programs declare without a body: {"foo": "package.module.foo"}.

    Raises:
        SettingError: for an unknown option, backend or scheme, with the one that was probably meant.

    Examples:
        >>> stanimport.configure(backend="pyro")
        >>> stanimport.loads("parameters { real x; } model { }").stan.backend
        'pyro'
        >>> stanimport.configure(backend=None)
        >>> stanimport.configure(backend="numpro")
        Traceback (most recent call last):
        stanimport.errors.SettingError: backend must be one of numpyro, pyro, not 'numpro'; did you mean 'numpyro'?
    """
    known = [f.name for f in fields(Settings)]
    for name, value in options.items():
        if name not in known:
            raise SettingError(f"there is no option {name!r}{_suggest(name, known)}")
        if value is None:
            _configured.pop(name, None)
        else:
            _configured[name] = _checked(name, value)


def current(**overrides: object) -> Settings:
    """The settings in force: overrides, then `configure`, then the environment, then the built-in ones.

    Raises:
        SettingError: for a value that an option can't have.
    """
    chosen: dict[str, Any] = {}
    for name, separator in _ENVIRONMENT.items():
        value = os.environ.get(f"STANIMPORT_{name.upper()}")
        if value:
            chosen[name] = _from_environment(name, value.split(separator) if separator else value)
    chosen |= _configured
    chosen |= {k: _checked(k, v) for k, v in overrides.items() if v is not None and v != ()}
    return replace(Settings(), **chosen)


def _from_environment(name: str, value: object) -> Any:
    try:
        return _checked(name, value)
    except SettingError as e:
        raise SettingError(f"STANIMPORT_{name.upper()}: {e}") from None


def _checked(name: str, value: object) -> Any:
    """The value of an option as settings keep it.

    Raises:
        SettingError: for a value that the option can't have.
    """
    if name in ("include_paths", "trusted_folders"):
        return _paths(value)
    if name == "network_packages":
        return _packages(value)
    if name == "functions":
        return _functions(value)
    allowed = BACKENDS if name == "backend" else SCHEMES
    if value not in allowed:
        raise SettingError(f"{name} must be one of {', '.join(allowed)}, not {value!r}{_suggest(str(value), allowed)}")
    return value


def _paths(value: Any) -> tuple[Path, ...]:
    """Absolute: a relative one is meant from the folder in which it was given."""
    items: Sequence[Any] = (value,) if isinstance(value, (str, os.PathLike)) else value
    return tuple(Path(v).absolute() for v in items if os.fspath(v))


def _packages(value: Any) -> tuple[str, ...]:
    names = tuple(n.strip() for n in ((value,) if isinstance(value, str) else value))
    for name in names:
        if not all(part.isidentifier() for part in name.split(".")):
            raise SettingError(f"network_packages must be names of packages or modules, not {name!r}")
    return names


def _functions(value: Any) -> tuple[tuple[str, str], ...]:
    """Names in Stan with dotted paths in Python, in one order."""
    pairs = value.items() if isinstance(value, Mapping) else value
    for name, path in (pairs := [tuple(p) for p in pairs]):
        if not isinstance(path, str) or "." not in path or not all(p.isidentifier() for p in path.split(".")):
            raise SettingError(f"functions must be paths such as 'package.module.{name}', not {path!r}")
    return tuple(sorted(pairs))


def _suggest(name: str, known: Sequence[str]) -> str:
    similar = nearest(name, known, 0.5)
    return f"; did you mean {similar!r}?" if similar else ""


def jit_cache() -> Path | None:
    """Where the command line keeps the programs that XLA compiled; None if STANIMPORT_JIT_CACHE is 0 or off.

    STANIMPORT_JIT_CACHE may name a folder; else it is one in the user's cache, or in STANIMPORT_CACHE_DIR.
    """
    chosen = os.environ.get("STANIMPORT_JIT_CACHE", "")
    if chosen.lower() in ("0", "off", "no", "false"):
        return None
    if chosen and chosen.lower() not in ("1", "on", "yes", "true"):
        return Path(chosen)
    return user_cache() / "jit"


def user_cache() -> Path:
    """The folder for what can be made again: STANIMPORT_CACHE_DIR, or the user's cache of this system."""
    override = os.environ.get("STANIMPORT_CACHE_DIR")
    if override:
        return Path(override)
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("stanimport"))
