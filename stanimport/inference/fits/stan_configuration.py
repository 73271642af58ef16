"""The configuration at the head of CmdStan's CSV files: the options of a run under CmdStan's names.

Source: CmdStan Guide, "Stan CSV File Format".
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .result import Result

METHODS = {"generate": "generate_quantities"}
# By method, the keys of options that CmdStan calls otherwise, and those that all its files have.
_NAMES: dict[str, tuple[dict[str, str], dict[str, object]]] = {
    "variational": ({"draws": "output_samples"}, {"elbo_samples": 100, "eval_elbo": 100}),
    "pathfinder": ({"draws": "num_psis_draws", "num_single_draws": "num_draws"}, {"calculate_lp": True}),
}


def configuration(fit: Result, chain: int) -> dict[str, object]:
    """CmdStan's nested configuration of a chain."""
    seeds = fit.settings.get("chain_seeds")
    return {
        "stan_version_major": 2, "stan_version_minor": 39, "stan_version_patch": 0,
        "model": f"{fit.program.name}_model", "method": (METHODS.get(fit.method, fit.method), _method(fit, chain)),
        "id": fit.chain_ids[chain], "data": {"file": ""}, "init": 2,
        "random": {"seed": seeds[chain] if seeds else fit.settings.get("seed", 0)},
        "output": {"file": "output.csv"}, "stanc_version": "stanimport",
    }  # fmt: skip


def _method(fit: Result, chain: int) -> dict[str, Any]:
    """The options of the method, for a chain."""
    s = fit.settings
    if fit.method == "sample" and s.get("fixed_param"):
        warmup = 1000  # its usual length, which its files have though there is none: CmdStanPy refuses 0
        return {"num_samples": s["iter_sampling"], "num_warmup": warmup, "save_warmup": False, "thin": s["thin"],
                "algorithm": "fixed_param"}  # fmt: skip
    if fit.method == "sample":
        metric = "diag_e" if fit.metric is None or fit.metric.ndim == 2 else "dense_e"
        metric = "unit_e" if isinstance(s.get("metric"), str) and s["metric"] == "unit_e" else metric
        nuts = {"engine": ("nuts", {"max_depth": s["max_treedepth"]}), "metric": metric,
                "stepsize": _step_size(s, chain)}  # fmt: skip
        return {
            "num_samples": fit.draws_per_chain * s["thin"], "num_warmup": s["iter_warmup"],
            "save_warmup": fit.has_warmup, "thin": s["thin"],
            "adapt": {"engaged": s["adapt_engaged"], "delta": s["adapt_delta"], **_windows(s)},
            "algorithm": ("hmc", nuts),
        }  # fmt: skip
    kept = {n: v for n, v in s.items() if n != "seed" and isinstance(v, (bool, int, float, str))}
    if fit.method in _NAMES:
        names, usual = _NAMES[fit.method]
        return {**usual, **{names.get(n, n): v for n, v in kept.items()}}
    return kept | ({"save_iterations": int(fit.warmup is not None)} if fit.method == "optimize" else {})


def _step_size(settings: Mapping[str, Any], chain: int) -> object:
    """The step size that a chain began with."""
    given = settings.get("step_size")
    given = given[chain] if isinstance(given, (list, tuple)) else given
    return 1 if given is None else given


def _windows(settings: Mapping[str, Any]) -> dict[str, int]:
    """The lengths of the phases of warm-up that were asked for; CmdStan's where none were."""
    asked = {"init_buffer": ("adapt_init_phase", 75), "term_buffer": ("adapt_step_size", 50),
             "window": ("adapt_metric_window", 25)}  # fmt: skip
    return {key: usual if settings.get(name) is None else settings[name] for key, (name, usual) in asked.items()}
