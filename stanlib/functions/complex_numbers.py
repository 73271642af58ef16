"""Complex numbers: construction, parts, and Fourier transforms.

Source: Stan Functions Reference, "Complex-Valued Basic Functions", "Complex Matrix Operations".
"""
from __future__ import annotations

from ..arrays.base import Array, Namespace
from ..registry import stan_function


@stan_function("complex to_complex()", examples=[()])
def complex_zero(xp: Namespace) -> Array:
    return xp.complex(0.0, 0.0)


@stan_function("complex to_complex(real re)", elementwise=True, examples=[(0.5,)])
def real_to_complex(xp: Namespace, re: Array) -> Array:
    return xp.complex(re, 0.0)


@stan_function(
    "complex to_complex(real re, real im)", "ComplexOfK to_complex(K re, K im)", "ComplexOfK to_complex(K re, real im)",
    "ComplexOfK to_complex(real re, K im)", elementwise=True, examples=[(0.5, -2.0)],
)  # fmt: skip
def to_complex(xp: Namespace, re: Array, im: Array) -> Array:
    return xp.complex(re, im)


@stan_function("RealOfC get_real(C z)", examples=[(0.5 - 2j,)])
def get_real(xp: Namespace, z: Array) -> Array:
    return xp.real_part(z)


@stan_function("RealOfC get_imag(C z)", examples=[(0.5 - 2j,)])
def get_imag(xp: Namespace, z: Array) -> Array:
    return xp.imag_part(z)


@stan_function("C conj(C z)", examples=[(0.5 - 2j,)])
def conj(xp: Namespace, z: Array) -> Array:
    return xp.conj(z)


@stan_function("real arg(complex z)", examples=[(0.5 - 2j,)])
def arg(xp: Namespace, z: Array) -> Array:
    """The angle in (-pi, pi]."""
    return xp.arctan2(xp.imag_part(z), xp.real_part(z))


@stan_function("real norm(complex z)", examples=[(0.5 - 2j,)])
def norm(xp: Namespace, z: Array) -> Array:
    """The square of the modulus."""
    return xp.square(xp.real_part(z)) + xp.square(xp.imag_part(z))


@stan_function("complex polar(real r, real theta)", elementwise=True, examples=[(2.0, 0.7)])
def polar(xp: Namespace, r: Array, theta: Array) -> Array:
    return xp.complex(r * xp.cos(theta), r * xp.sin(theta))


@stan_function("complex proj(complex z)", examples=[(0.5 - 2j,)])
def proj(xp: Namespace, z: Array) -> Array:
    """The projection onto the Riemann sphere, which has one point at infinity."""
    re, im = xp.real_part(z), xp.imag_part(z)
    infinite = xp.isinf(re) | xp.isinf(im)
    return xp.complex(
        xp.where(infinite, xp.inf, re), xp.where(infinite, xp.where(im < 0, -0.0, 0.0), im)
    )  # fmt: skip


@stan_function("complex_vector fft(complex_vector z)", examples=[([1.0, 2j, -1.0],)])
def fft(xp: Namespace, z: Array) -> Array:
    return xp.fft(z) if xp.shape(z)[0] else z


@stan_function("complex_vector inv_fft(complex_vector z)", examples=[([1.0, 2j, -1.0],)])
def inv_fft(xp: Namespace, z: Array) -> Array:
    return xp.ifft(z) if xp.shape(z)[0] else z


@stan_function("complex_matrix fft2(complex_matrix z)", examples=[([[1.0, 2j], [3.0, -1.0]],)])
def fft2(xp: Namespace, z: Array) -> Array:
    return z if 0 in xp.shape(z) else xp.fft(xp.fft(z, axis=0), axis=1)


@stan_function("complex_matrix inv_fft2(complex_matrix z)", examples=[([[1.0, 2j], [3.0, -1.0]],)])
def inv_fft2(xp: Namespace, z: Array) -> Array:
    return z if 0 in xp.shape(z) else xp.ifft(xp.ifft(z, axis=0), axis=1)
