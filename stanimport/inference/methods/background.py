"""`sample(..., blocking=False)`: a run in the background, that can be asked, waited for and ended."""
from __future__ import annotations

import functools
import importlib
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol, cast, overload

import numpy as np

from stanlib.data import LARGE
from stanlib.errors import StanError

from ...errors import StanWarning
from ..fits.fit import Fit
from ..running.interrupts import INTERVAL, check, ended_if
from ..samplers.control import ChainProgress, Control

__all__ = ["Sampling"]
P = ParamSpec("P")


class Sampling:
    """A run of `sample` in a thread of its own.

    A program that ends while it runs waits for it, as for every thread; `abort` it if you don't want that. One that
    ends by an error, as by Ctrl-C, ends it.
    """

    def __init__(self, function: Callable[[], Fit]):
        self._control, self._done = Control(), threading.Event()
        self._fit: Fit | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(function,), name="stanimport sampling")
        _wait_at_the_end()
        _running.add(self)
        self._thread.start()

    def _run(self, function: Callable[[], Fit]) -> None:
        try:
            with self._control.active(), ended_if(lambda: self._control.is_in_vain):
                self._fit = function()
        except BaseException as e:  # whatever it is: who waits gets it
            self._error = e
        finally:
            _running.discard(self)
            self._done.set()

    def __repr__(self) -> str:
        state = "failed" if self._error else "done" if self.is_done else "running"
        chains = [f"chain {'-'.join(map(str, {c.chains[0], c.chains[-1]}))}: {c.iteration}/{c.total} {c.phase}"
                  for c in self.progress]  # fmt: skip
        return f"<Sampling, {state}{': ' if chains else ''}{', '.join(chains)}>"

    @property
    def is_done(self) -> bool:
        """Whether the run has ended, by itself, by `abort` or by an error."""
        return self._done.is_set()

    @property
    def progress(self) -> list[ChainProgress]:
        """How far each chain is: iterations, divergences, step size, leapfrog steps, time left."""
        return self._control.progress()

    def wait(self, timeout: float | None = None) -> Fit:
        """The fit, when the run has ended. An interrupt (Ctrl-C) ends the waiting alone.

        Args:
            timeout: seconds to wait at most; for ever if None.

        Raises:
            TimeoutError: if it has not ended by then; it goes on.
            Exception: whatever the run failed with.
        """
        waited = 0.0
        while not self._done.wait(INTERVAL):
            check()
            waited += INTERVAL
            if timeout is not None and waited >= timeout:
                raise TimeoutError(f"sampling has not ended after {timeout:g} seconds")
        return self._result()

    def preview(self) -> Fit:
        """A fit of the draws that all chains have made so far; the run goes on.

        Raises:
            StanError: if some chain has made none yet.
            Exception: whatever the run failed with.
        """
        if self.is_done:
            return self._result()
        draws, finish = self._control.so_far(), self._control.finish
        if draws is None or finish is None:
            raise StanError("there are no draws yet of every chain")
        return Fit.of(finish(draws))

    def abort(self) -> Fit:
        """End the run, and return a fit of the draws that all chains have made.

        Raises:
            StanError: if some chain has made none.
            Exception: whatever the run failed with.
        """
        self._control.end()
        return self.wait()

    def _result(self) -> Fit:
        if isinstance(self._error, KeyboardInterrupt):
            raise StanError("sampling was ended before the first draw of every chain") from None
        if self._error is not None:
            raise self._error
        assert self._fit is not None
        return self._fit

    def _finish(self) -> None:
        """Wait for the run at the end of the program; end it, if that ends by an error or is interrupted now."""
        try:
            if getattr(sys, "last_type", None) is not None:  # of the error that was printed
                self._control.end()
            self._thread.join()
        except KeyboardInterrupt:
            self._control.end()
            self._thread.join()
        if isinstance(self._error, Exception):  # which nobody will ask for
            warnings.warn(f"a run in the background failed: {type(self._error).__name__}: {self._error}", StanWarning,
                          stacklevel=1)


_running: set[Sampling] = set()


@functools.cache
def _wait_at_the_end() -> None:
    """Have Python wait for runs before it ends its pools of threads, which they need to go on.

    Its `atexit` comes too late for that.
    """
    importlib.import_module("concurrent.futures.thread")  # what is registered first is done last
    register = getattr(threading, "_register_atexit", None)
    if register is not None:
        register(_finish_all)


def _finish_all() -> None:
    for run in list(_running):
        run._finish()


class Optional(Protocol[P]):
    """A function that returns a fit, or with `blocking=False` a `Sampling`."""

    @overload  # of the two, mypy does not see that the second has no such literal
    def __call__(  # type: ignore[overload-overlap]
        self, module: Any, data: Any = None, *, blocking: Literal[False], **options: Any
    ) -> Sampling: ...

    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> Fit: ...


def optional(function: Callable[P, Fit]) -> Optional[P]:
    """Decorator of `sample`: with `blocking=False` it runs in the background."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        if options.get("blocking", True):
            return function(*args, **options)
        return Sampling(functools.partial(function, *_settled(args), **_settled(options)))

    return cast(Optional[P], run)


def _settled(given: Any) -> Any:
    """A copy of data or options, for who gave them may change them while the run reads them.

    Large arrays are read where they are, as they are by every run, and so is what can't be copied.
    """
    if isinstance(given, (dict, list, tuple)) and type(given).__module__ == "builtins":
        items = given.items() if isinstance(given, dict) else enumerate(given)
        made = {key: _settled(value) for key, value in items}
        return made if isinstance(given, dict) else type(given)(made.values())
    if isinstance(given, np.ndarray):
        return given if given.size >= LARGE else given.copy()
    return given.copy() if type(given).__module__.startswith("pandas.") else given
