"""How JAX's programs are compiled in tests: most of the time goes there, where each test compiles programs of its own.

In the folders named here they are compiled without LLVM's optimisations, in a third of the time. XLA's own passes
(simplification, fusion, layouts) are those that users have; what differs is how their outcome becomes machine code, so
values differ by rounding alone. Processes that tests start with `quickly` compile so too. Elsewhere, in tests marked
`optimised`, and in other processes, programs are compiled as users compile them: models, random programs, importers.
"""
from __future__ import annotations

import functools
import importlib.metadata
import pathlib
import sys
import threading
from collections.abc import Mapping
from typing import Any

QUICK = (  # files, and beginnings of their paths
    "cmdstanpy/", "constructs/", "contexts/", "deepstan/", "discrete/", "docs/", "emit/", "frontend/", "inference/",
    "ir/", "mutants/", "passes/", "ppl/", "rejections/", "schemes/", "shell/", "stanlib/",
)  # fmt: skip
OPTIONS = {
    "xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0,
    "xla_cpu_parallel_codegen_split_count": 1,  # one LLVM module of a program, not one for each of its kernels
}  # fmt: skip
_NOT_SINCE = {"xla_cpu_use_fusion_emitters": (0, 11)}  # versions of jaxlib: an unknown flag ends a process
_VERSION = tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2]))
FLAGS = " ".join(  # for a process of its own
    f"--{name}={str(value).lower()}" for name, value in OPTIONS.items() if _VERSION < _NOT_SINCE.get(name, (99,))
)
_wanted = False


def quickly(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process whose programs are compiled without optimisations."""
    return {**environment, "XLA_FLAGS": f"{environment.get('XLA_FLAGS', '')} {FLAGS}".strip()}


def is_quick(item: Any) -> bool:
    """Whether a test's programs are compiled without optimisations."""
    path = item.path.relative_to(pathlib.Path(__file__).parent).as_posix()
    return path.startswith(QUICK) and item.get_closest_marker("optimised") is None


def without_optimisation(wanted: bool) -> None:
    """Whether what is compiled from now on is not optimised; only where JAX has been imported, and has the options."""
    global _wanted
    if _wanted != wanted and "jax" in sys.modules and _prepare():
        _wanted = wanted


@functools.cache
def _prepare() -> bool:
    """Have JAX ask for the options; they can't be set for a process, since they may change from test to test."""
    import jax
    from jax._src import compiler

    original = getattr(compiler, "get_compile_options", None)
    if original is None:
        return False
    try:
        jax.jit(lambda: 0.0).lower().compile(compiler_options=OPTIONS)
    except Exception:  # another version of XLA, which has none of this name
        return False

    @functools.wraps(original)
    def with_options(*args: Any, **named: Any) -> Any:
        if _wanted and "env_options_overrides" in named:
            named["env_options_overrides"] = OPTIONS | (named["env_options_overrides"] or {})
        return original(*args, **named)

    compiler.get_compile_options = with_options
    _keep_contexts()
    return True


def _keep_contexts() -> None:
    """Have each thread lower in one MLIR context: a new one loads all dialects, a sixth of a small program's time."""
    from jax._src.interpreters import mlir

    original, kept = getattr(mlir, "make_ir_context", None), threading.local()
    if original is None:
        return

    def context() -> Any:
        if mlir.ir.Context.current is not None:  # lowering within lowering: a module must not stand in another one
            return original()
        if not hasattr(kept, "context"):
            kept.context = original()
        return kept.context

    mlir.make_ir_context = context
