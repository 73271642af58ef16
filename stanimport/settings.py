"""Defaults: backend, scheme and include paths, from `configure(...)` or the environment."""
from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from .errors import nearest

BACKENDS = ("numpyro", "pyro")
SCHEMES = ("comprehensive", "mixed", "generative")


@dataclass(frozen=True)
class Settings:
    """What a translation uses unless it is told otherwise."""

    backend: str = "numpyro"
    scheme: str = "mixed"
    include_paths: tuple[Path, ...] = ()


_configured: dict[str, Any] = {}


def configure(**options: Any) -> None:
    """Set defaults for all translations from now on: backend, scheme, include_paths. None takes a setting back.

    Raises:
        ValueError: for an unknown option, backend or scheme, with the one that was probably meant.

    Examples:
        >>> stanimport.configure(backend="pyro")
        >>> stanimport.loads("parameters { real x; } model { }").stan.backend
        'pyro'
        >>> stanimport.configure(backend=None)
        >>> stanimport.configure(backend="numpro")
        Traceback (most recent call last):
        ValueError: backend must be one of numpyro, pyro, not 'numpro'; did you mean 'numpyro'?
    """
    known = [f.name for f in fields(Settings)]
    for name, value in options.items():
        if name not in known:
            raise ValueError(f"there is no option {name!r}{_suggest(name, known)}")
        if value is None:
            _configured.pop(name, None)
        else:
            _configured[name] = _checked(name, value)


def current(**overrides: Any) -> Settings:
    """The settings in force: overrides, then `configure`, then the environment, then the built-in ones."""
    chosen: dict[str, Any] = {}
    for name in ("backend", "scheme"):
        value = os.environ.get(f"STANIMPORT_{name.upper()}")
        if value:
            chosen[name] = _checked(name, value)
    chosen |= _configured
    chosen |= {k: _checked(k, v) for k, v in overrides.items() if v is not None and v != ()}
    return replace(Settings(), **chosen)


def _checked(name: str, value: Any) -> Any:
    if name == "include_paths":
        return _paths(value)
    allowed = BACKENDS if name == "backend" else SCHEMES
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}{_suggest(str(value), allowed)}")
    return value


def _paths(value: Any) -> tuple[Path, ...]:
    """Absolute: a relative one is meant from the folder in which it was given."""
    items: Sequence[Any] = (value,) if isinstance(value, (str, os.PathLike)) else value
    return tuple(Path(v).absolute() for v in items)


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
