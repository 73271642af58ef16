"""CmdStanPy's own tests, from a checkout of it, on stanimport.cmdstanpy."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
# Those that ask neither for files of CmdStan's processes, nor for its console, messages and log.
PASS = {
    "compliance": "optimize_copy_ability optimize_pickle_ability sample_copy_ability sample_pickle_ability "
                  "variational_copy_ability variational_pickle_ability",
    "laplace": "from_opt_csv runs_opt bad_jacobian_mismatch bad_two_modes outputs create_inits init_sampling from_csv",
    "log_prob": "lp_good[11-expected0-expected_unadjusted0] lp_good[3-expected1-expected_unadjusted1]",
    "logging": "disable_logging disable_logging_context_manager disable_logging_context_manager_nested",
    "model": "cpp_options file_does_not_exist model_format_options model_none model_syntax_error_without_compile repr "
             "model_compile_with_explicit_includes print",
    "optimize": "instantiate_from_csvfiles instantiate_from_csvfiles_save_iterations variable_bern variables_3d "
                "optimize_good negative_parameter_values parameters_are_floats optimize_good_dict optimize_rosenbrock "
                "optimize_no_data single_row_csv complex_output attrs timeout serialization optimize_create_inits "
                "optimize_init_sampling",
    "variational": "instantiate_from_csvfiles variables variables_3d single_row_csv complex_output attrs timeout "
                   "serialization variational_create_inits variational_init_sampling",
    "generate_quantities": "pd_xr_agreement from_previous_fit from_previous_fit_draws from_previous_fit_variables "
                           "from_optimization from_vb sample_plus_quantities_dedup single_row_csv complex_output attrs "
                           "timeout serialization",
    "pathfinder": "outputs from_csv single create_inits init_sampling no_psis",
    "sample": "bernoulli_good bernoulli_unit_e multi_proc_2 pd_xr_agreement xarray_draws from_csv_fixed_param "
              "from_csv_no_param_hmc fixed_param_good custom_step_size custom_seed adapt_schedule "
              "sample_dense_mass_matrix save_warmup save_warmup_thin warmup_no_adapt no_output_draws sampler_diags "
              "variable_bern variables_2d variables_3d variables_issue_361 validate validate_summary_sig_figs "
              "validate_sample_sig_figs single_row_csv overlapping_names complex_output attrs json_edges timeout "
              "json_junk_alongside_data csv_roundtrip serialization mcmc_create_inits mcmc_init_sampling tuple_data_in",
}  # fmt: skip
PREFIXES = {"laplace": "laplace_", "pathfinder": "pathfinder_"}
NAMES = {"single": "test_single_pathfinder", "file_does_not_exist": "test_model_file_does_not_exist"}


@pytest.mark.parametrize("method", PASS)
def test_they_pass(method, tmp_path):
    checkout = os.environ.get("CMDSTANPY")
    if checkout is None or not Path(checkout, "test").is_dir():
        pytest.skip("$CMDSTANPY names no checkout of CmdStanPy")
    shutil.copytree(Path(checkout, "test"), tmp_path / "test")
    (tmp_path / "test" / "conftest.py").unlink(missing_ok=True)  # it cleans the checkout
    names = [NAMES.get(n, f"test_{PREFIXES.get(method, '')}{n}") for n in PASS[method].split()]
    asked = [f"test/test_{method}.py::{n}" for n in names]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}", "MPLBACKEND": "agg"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "as_cmdstanpy", "-p", "no:cacheprovider", "-W", "ignore",
               f"--rootdir={tmp_path}", *asked]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0 and "skipped" not in done.stdout, done.stdout[-4000:]
