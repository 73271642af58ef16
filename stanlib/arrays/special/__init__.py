"""Special functions that an array library lacks, or gets wrong in the tails or in a derivative.

Every function here takes the array namespace `xp` first and is closed array code over its primitives: derivatives in
every real argument come from differentiating that code. Branches get safe arguments, so that no NaN of a branch not
taken leaks into a gradient. The namespaces offer all of FUNCTIONS under their own names.
"""
from __future__ import annotations

from .bessel import log_iv
from .gamma import (
    betaln,
    digamma,
    lgamma1p,
    log1mexp,
    log1pmx,
    log_gamma_kernel,
    logaddexp,
    stirling_error,
    trigamma,
)  # fmt: skip
from .incomplete_beta import betainc, log_beta_kernel, log_betainc
from .incomplete_gamma import gammainc, gammaincc, log_gammainc, log_gammaincc
from .lambert import lambertw0, lambertwm1
from .normal import erfcx, log_ndtr, ndtr, ndtri_exp, owens_t
from .quantiles import betaincinv, student_t_quantile

FUNCTIONS = (
    betainc, betaincinv, betaln, digamma, erfcx, gammainc, gammaincc, lambertw0, lambertwm1, lgamma1p, log1mexp,
    log1pmx, log_beta_kernel, log_betainc, log_gamma_kernel, log_gammainc, log_gammaincc, log_iv, log_ndtr, logaddexp,
    ndtr, ndtri_exp, owens_t, stirling_error, student_t_quantile, trigamma,
)  # fmt: skip
