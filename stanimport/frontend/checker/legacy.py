"""What older versions of stanc accepted and newer ones don't, each with a deprecation warning outside of strict mode.

Densities that end in _log and distribution functions in _cdf_log and _ccdf_log (removed in Stan 2.33), a comma for the
bar of a cdf, a suffix behind `~`, functions of the program that are the library's now. Source: Stan Reference Manual,
"Removed features"; what stanc 2.26 to 2.35 accept.
"""
from __future__ import annotations

from dataclasses import replace

from stanlib import registry

from .. import ast
from .context import Context

# what names ended in before Stan 2.33, and what they may end in now
SUFFIXES = {"_ccdf_log": ("_lccdf",), "_cdf_log": ("_lcdf",), "_log": ("_lpmf", "_lpdf")}
USER_DENSITY = "_log"  # what the user's densities ended in


def modern(c: Context, name: str) -> str:
    """Today's name of a function of the library; the same name if it is today's, or unknown."""
    if c.strict or registry.is_known(name) or c.functions.find(name):
        return name
    for old, suffixes in SUFFIXES.items():
        if name.endswith(old):
            stems = (name.removesuffix(old) + new for new in suffixes)
            return next((s for s in stems if registry.is_known(s)), name)
    return name


def warn(c: Context, name: ast.Name, successor: str) -> None:
    message = f"{name.text} has been removed from Stan (2.33)"
    c.diagnostics.deprecate(message, name.span, f"write {successor}", successor)


def warn_user_density(c: Context, s: ast.Tilde, is_discrete: bool) -> None:
    """`y ~ f(...)` where the program's own density is called f_log."""
    family = s.distribution.text
    message, hint = f"{family} has been removed from Stan (2.33)", f"write {family}_lpdf or {family}_lpmf"
    c.diagnostics.deprecate(message, s.distribution.span, hint, family + ("_lpmf" if is_discrete else "_lpdf"))


def users_cdf(c: Context, family: ast.Name, suffix: str) -> str:
    """The function that truncation calls: `foo_lcdf`, or the program's own `foo_cdf_log` where there is no such."""
    name = family.text + suffix
    old = next(family.text + o for o, now in SUFFIXES.items() if suffix in now)
    if c.strict or c.functions.find(name) or not c.functions.find(old):
        return name
    warn(c, family, name)
    return old


def is_cdf_with_comma(c: Context, name: ast.Name) -> bool:
    """Whether this is a cdf, which took a comma for the bar behind its first argument."""
    if c.strict or not name.text.endswith("_cdf"):
        return False
    message = f"{name.text} without a bar has been removed from Stan (2.33)"
    c.diagnostics.deprecate(message, name.span, "write f(y | ...)")
    return True


def without_suffix(c: Context, s: ast.Tilde) -> ast.Tilde:
    """`y ~ normal_lpdf(0, 1);` as `y ~ normal(0, 1);`. Raises CheckError in strict mode."""
    family, _, suffix = s.distribution.text.rpartition("_")
    if suffix not in ("lpdf", "lpmf", "lupdf", "lupmf"):
        return s
    message = f"a distribution is named without its suffix: {family}"
    if c.strict:
        c.fail(message, s.distribution.span)
    c.diagnostics.deprecate(message, s.distribution.span, f"write ~ {family}(...)", family)
    return replace(s, distribution=ast.Name(family, s.distribution.span))


def adds_to_jacobian(node: ast.Node) -> bool:
    """Whether a function's text has `jacobian +=`, or calls what by its name may."""
    if isinstance(node, ast.Increment) and node.kind == "jacobian":
        return True
    if isinstance(node, (ast.Call, ast.CallStatement)) and node.function.text.endswith("_jacobian"):
        return True
    return any(map(adds_to_jacobian, ast.children(node)))


def is_jacobian_by_name_alone(c: Context, name: ast.Name) -> bool:
    """Whether a user's function ends in _jacobian, which was a name like others before Stan 2.36, and adds nothing."""
    functions = c.functions.find(name.text)
    if c.strict or not functions or any(f.adds for f in functions):
        return False
    c.diagnostics.deprecate(f"{name.text!r} adds nothing to the Jacobian", name.span, "call it something else")
    return True


def is_younger(c: Context, name: ast.Name, function: registry.Function) -> bool:
    """Whether programs may define this function of the library: it came after they were written, or has gone."""
    if c.strict or not (function.removed or name.text in _YOUNG):
        return False
    if not function.removed:
        message = f"{name.text!r} is a function of the library now; this program's own is meant"
        c.diagnostics.deprecate(message, name.span, "call it something else")
    return True


# The functions that Stan has had since versions 2.20 to 2.39, but for those whose arguments no program can name.
_YOUNG = frozenset(
    """
    add_diag arg bernoulli_logit_glm_lpmf bernoulli_logit_glm_rng bernoulli_logit_rng beta_neg_binomial_cdf
    beta_neg_binomial_lccdf beta_neg_binomial_lcdf beta_neg_binomial_lpmf beta_neg_binomial_rng
    beta_proportion_lccdf beta_proportion_lcdf beta_proportion_lpdf beta_proportion_rng binomial_logit_glm_lpmf
    categorical_logit_glm_lpmf categorical_logit_rng chol2inv cholesky_factor_corr_constrain
    cholesky_factor_corr_jacobian cholesky_factor_corr_unconstrain cholesky_factor_cov_constrain
    cholesky_factor_cov_jacobian cholesky_factor_cov_unconstrain complex_schur_decompose complex_schur_decompose_t
    complex_schur_decompose_u conj corr_matrix_constrain corr_matrix_jacobian corr_matrix_unconstrain
    cov_matrix_constrain cov_matrix_jacobian cov_matrix_unconstrain csr_extract dirichlet_multinomial_lpmf
    dirichlet_multinomial_rng discrete_range_cdf discrete_range_lccdf discrete_range_lcdf discrete_range_lpmf
    discrete_range_rng eigendecompose eigendecompose_sym eigenvalues eigenvectors fft fft2 generalized_inverse
    generate_laplace_options get_imag get_real gp_dot_prod_cov gp_exp_quad_cov gp_exponential_cov gp_matern32_cov
    gp_matern52_cov gp_periodic_cov hmm_hidden_state_prob hmm_latent_rng hmm_marginal hypergeometric_1F0
    hypergeometric_2F1 hypergeometric_3F2 hypergeometric_pFq hypergeometric_rng identity_matrix inv_erfc inv_fft
    inv_fft2 inv_inc_beta inv_wishart_cholesky_lpdf inv_wishart_cholesky_rng inverse_spd lambert_w0 lambert_wm1
    linspaced_array linspaced_int_array linspaced_row_vector linspaced_vector lkj_corr_cholesky_rng lkj_cov_lpdf
    log_determinant_spd log_inv_logit_diff log_modified_bessel_first_kind loglogistic_cdf loglogistic_lpdf
    loglogistic_rng lower_bound_constrain lower_bound_jacobian lower_bound_unconstrain lower_upper_bound_constrain
    lower_upper_bound_jacobian lower_upper_bound_unconstrain matrix_power multi_gp_cholesky_lpdf
    multi_normal_cholesky_rng multi_student_t_cholesky_lpdf multi_student_t_cholesky_rng multi_student_t_rng
    multinomial_logit_lpmf multinomial_logit_rng neg_binomial_2_log_glm_lpmf norm norm1 norm2 normal_id_glm_lpdf
    offset_multiplier_constrain offset_multiplier_jacobian offset_multiplier_unconstrain one_hot_array
    one_hot_int_array one_hot_row_vector one_hot_vector ones_array ones_int_array ones_row_vector ones_vector
    ordered_constrain ordered_jacobian ordered_logistic_glm_lpmf ordered_probit_lpmf ordered_probit_rng
    ordered_unconstrain poisson_log_glm_lpmf polar positive_ordered_constrain positive_ordered_jacobian
    positive_ordered_unconstrain proj qr qr_thin quantile reverse simplex_constrain simplex_jacobian
    simplex_unconstrain skew_double_exponential_cdf skew_double_exponential_lccdf skew_double_exponential_lcdf
    skew_double_exponential_lpdf skew_double_exponential_rng std_normal_cdf std_normal_lccdf std_normal_lcdf
    std_normal_log_qf std_normal_lpdf std_normal_qf std_normal_rng stochastic_column_constrain
    stochastic_column_jacobian stochastic_column_unconstrain stochastic_row_constrain stochastic_row_jacobian
    stochastic_row_unconstrain student_t_qf sum_to_zero_constrain sum_to_zero_jacobian sum_to_zero_unconstrain svd
    svd_U svd_V symmetrize_from_lower_tri to_complex to_int trace_dot uniform_simplex unit_vector_constrain
    unit_vector_jacobian unit_vector_unconstrain upper_bound_constrain upper_bound_jacobian
    upper_bound_unconstrain von_mises_cdf von_mises_lccdf von_mises_lcdf wiener_lccdf_unnorm wiener_lcdf_unnorm
    wishart_cholesky_lpdf wishart_cholesky_rng yule_simon_cdf yule_simon_lccdf yule_simon_lcdf yule_simon_lpmf
    yule_simon_rng zeros_array zeros_int_array zeros_row_vector zeros_vector
    """.split()
)
