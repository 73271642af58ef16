"""Compiled programs on disk, so that a new process finds what another one compiled.

They lie in the folder `stanimport.settings.jit_cache()`, are found by a digest of all that XLA was given, and are used
only if nobody but the user can have written them: they are machine code. Nothing about them is ever an error: what is
damaged, or can't be read or written, is as if it were not there. Where JAX's own cache is on (its option
`jax_compilation_cache_dir`), that one is used instead.
"""
from __future__ import annotations

import hashlib
import os
import pickle
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from .. import cache as translations
from .. import files, ownership, settings, versions

ROOM = 2**29  # bytes on disk: the files used longest ago go
_MAGIC = b"stanimport program 3\n"
_SUFFIX = ".xla"


def load(key: bytes, device: Any = None) -> Any:
    """The compiled program for a device, or JAX's default one; None if there is none that can be used."""
    content = read(key)
    if content is None:
        return None
    import jax  # only now: processes may run without it
    from jax.experimental import serialize_executable

    try:
        used = [device or jax.local_devices()[0]]
        serialized, inputs, outputs = content
        deserialize = serialize_executable.deserialize_and_load
        return deserialize(serialized, inputs, outputs, backend=used[0].client, execution_devices=used)
    except Exception:  # whatever XLA has against it: it is compiled anew
        return None


def store(key: bytes, compiled: Any) -> None:
    """Keep a compiled program for other processes."""
    if _path(key) is None:
        return
    import jax
    from jax.experimental import serialize_executable

    try:
        content = serialize_executable.serialize(compiled)
    except (ValueError, TypeError, jax.errors.JaxRuntimeError):
        return  # some devices' programs can't be written
    write(key, content)


def read(key: bytes) -> Any:
    """What was written for a key; None if there is nothing that can be used."""
    path = _path(key)
    if path is None:
        return None
    try:
        content = ownership.read_private(path) if translations.is_private(path.parent) else None
        found = _decode(path, content) if content else None
        if found is not None:
            os.utime(path)  # used now
        return found
    except OSError:
        return None


def write(key: bytes, content: object) -> None:
    """Keep what pickles for other processes."""
    path = _path(key)
    if path is None:
        return
    try:
        payload = pickle.dumps(content)
        ownership.make_private(path.parent)
        if ownership.why_not_private(path.parent):
            return
        files.write(path, _MAGIC + _digest(path, payload) + payload, 0o600)
        _trim(path.parent)
    except (OSError, ValueError, TypeError, AttributeError, pickle.PicklingError):
        return


def _digest(path: Path, payload: bytes) -> bytes:
    """Of what a file holds and for which key: under another name it would be the program of another one."""
    return files.digest(path.name.encode() + payload)


def _decode(path: Path, content: bytes) -> object:
    """What was pickled into a file; None if it is damaged, another key's, of another format, or can't be unpickled."""
    head = len(_MAGIC)
    start = head + hashlib.sha256().digest_size
    payload = content[start:]
    if not content.startswith(_MAGIC) or _digest(path, payload) != content[head:start]:
        return None
    try:
        return pickle.loads(payload)
    except Exception:  # of another version, say
        return None


def _path(key: bytes) -> Path | None:
    folder = settings.jit_cache()
    if folder is None or _jax_keeps_its_own():
        return None
    return folder / (hashlib.sha256(_machine() + key).hexdigest() + _SUFFIX)


def _jax_keeps_its_own() -> bool:
    """Whether JAX was given a cache of its own."""
    if "jax" not in sys.modules:
        return bool(os.environ.get("JAX_COMPILATION_CACHE_DIR"))
    import jax  # waits for a thread that is just loading it: until then it has no options

    own: str | None = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]  # an attribute at run time
    return bool(own)


@cache
def _machine() -> bytes:
    """What else compiled programs depend on: versions, XLA's flags, the processor."""
    parts = os.environ.get("XLA_FLAGS", ""), platform.machine(), platform.system(), _processor()
    return b"\n".join([versions.text_of("jax"), versions.text_of("jaxlib"), *(p.encode() for p in parts)])


def _processor() -> str:
    """The instructions that this processor has, where the system tells; else its name, which some ask a program for."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    return next((line for line in text.splitlines() if line.startswith(("flags", "Features"))), "")


def _trim(folder: Path) -> None:
    """Remove the files used longest ago, until what is left has room."""
    known = sorted((f.stat().st_mtime, f.stat().st_size, f) for f in folder.glob(f"*{_SUFFIX}"))
    total = sum(size for _, size, _ in known)
    for _, size, file in known:
        if total <= ROOM:
            return
        file.unlink(missing_ok=True)
        total -= size
