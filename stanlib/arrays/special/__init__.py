"""Special functions that an array library lacks, or gets wrong in the tails or in a derivative.

Every function here takes the array namespace `xp` first and is closed array code over its primitives: derivatives in
every real argument come from differentiating that code. Branches get safe arguments, so that no NaN of a branch not
taken leaks into a gradient. The namespaces offer all of them under their own names.
"""
from __future__ import annotations

from .bessel import log_iv  # noqa: F401
from .gamma import (  # noqa: F401
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
from .incomplete_beta import betainc, log_beta_kernel, log_betainc, log_betainc_inside  # noqa: F401
from .incomplete_gamma import gammainc, gammaincc, log_gammainc, log_gammaincc  # noqa: F401
from .lambert import lambertw0, lambertwm1  # noqa: F401
from .normal import erfcx, log_ndtr, ndtr, ndtri_exp, owens_t  # noqa: F401
from .quantiles import betaincinv, student_t_quantile  # noqa: F401
