"""Imported by the benchmarks before NumPy and JAX: one core, double precision, no compilation cache.

LAPACK's threads would otherwise wait for each other on the one core.
"""
from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
os.environ.update(JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu", JAX_ENABLE_COMPILATION_CACHE="0")
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
