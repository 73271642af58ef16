"""What takes long to load, loaded as a whole where threads begin with it.

Python locks a part of a package before the package itself. Where one thread loads the package, which loads its parts,
and another begins with a part, each waits for the other, until Python gives one of them a package that is not complete.
"""
from __future__ import annotations

import importlib
import threading

_PACKAGES = ("jax", "numpyro", "stanlib.ppl.numpyro", "stanimport.inference.density.posterior")
_lock = threading.RLock()  # what is loaded may ask again
_loaded = threading.Event()


def in_threads() -> None:
    """In a thread that is not the main one, load the packages that programs run by, one after the other.

    Where a program has to be traced: what is stored of compiled ones runs without. The main thread waits for it, if one
    does so: alone it loads no more than it needs.
    """
    if _loaded.is_set():
        return
    with _lock:
        if threading.current_thread() is not threading.main_thread():
            for name in _PACKAGES:
                importlib.import_module(name)
            _loaded.set()
