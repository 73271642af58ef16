"""Explicit Runge-Kutta methods: their coefficients, and one step over arrays of any library.

Sources: J. R. Dormand and P. J. Prince, J. Comput. Appl. Math. 6 (1980), 19-26; J. R. Cash and A. H. Karp, ACM Trans.
Math. Softw. 16 (1990), 201-222; E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I
(1993), section II.5 and the code DOP853.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..arrays.base import Array, Real
from ..dataclass import dataclass

Row = tuple[float, ...]


@dataclass(frozen=True)
class Tableau:
    """Stage i is taken at t + c[i] h from the slopes before it weighted by rows[i]; the last row gives the new state.

    `error` weighs the slopes in the difference to the embedded method, which goes with h to the power `power`.
    `damping` is the error of a second embedded method, of lower order, that the first is measured against (DOP853).
    """

    c: Row
    rows: tuple[Row, ...]
    error: Row
    power: int
    damping: Row = ()


DORMAND_PRINCE = Tableau(
    c=(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1),
    rows=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    error=(71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    power=5,
)

CASH_KARP = Tableau(
    c=(0, 1 / 5, 3 / 10, 3 / 5, 1, 7 / 8, 1),
    rows=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (3 / 10, -9 / 10, 6 / 5),
        (-11 / 54, 5 / 2, -70 / 27, 35 / 27),
        (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096),
        (37 / 378, 0, 250 / 621, 125 / 594, 0, 512 / 1771),
    ),
    error=(
        37 / 378 - 2825 / 27648, 0, 250 / 621 - 18575 / 48384, 125 / 594 - 13525 / 55296, -277 / 14336,
        512 / 1771 - 1 / 4,
    ),
    power=5,
)  # fmt: skip

_EIGHTH = (
    5.42937341165687622380535766363e-2, 0, 0, 0, 0, 4.45031289275240888144113950566, 1.89151789931450038304281599044,
    -5.8012039600105847814672114227, 3.1116436695781989440891606237e-1, -1.52160949662516078556178806805e-1,
    2.01365400804030348374776537501e-1, 4.47106157277725905176885569043e-2,
)  # fmt: skip
_THIRD = {0: 31 / 127, 8: 0.733846688281611857341361741547, 11: 3 / 136}

DOP853 = Tableau(
    c=(
        0, 0.526001519587677318785587544488e-1, 0.789002279381515978178381316732e-1, 0.118350341907227396726757197510,
        0.281649658092772603273242802490, 1 / 3, 1 / 4, 4 / 13, 0.651282051282051282051282051282, 3 / 5, 6 / 7, 1, 1,
    ),
    rows=(
        (),
        (5.26001519587677318785587544488e-2,),
        (1.97250569845378994544595329183e-2, 5.91751709536136983633785987549e-2),
        (2.95875854768068491816892993775e-2, 0, 8.87627564304205475450678981324e-2),
        (0.241365134159266685502369798665, 0, -0.884549479328286085344864962717, 0.924834003261792003115737966543),
        (1 / 27, 0, 0, 1.70828608729473871279604482173e-1, 1.25467687566822425016691814123e-1),
        (
            3.7109375e-2, 0, 0, 1.70252211019544039314978060272e-1, 6.02165389804559606850219397283e-2, -1.7578125e-2,
        ),
        (
            3.70920001185047927108779319836e-2, 0, 0, 1.70383925712239993810214054705e-1,
            1.07262030446373284651809199168e-1, -1.53194377486244017527936158236e-2,
            8.27378916381402288758473766002e-3,
        ),
        (
            6.24110958716075717114429577812e-1, 0, 0, -3.36089262944694129406857109825,
            -8.68219346841726006818189891453e-1, 2.75920996994467083049415600797e1, 2.01540675504778934086186788979e1,
            -4.34898841810699588477366255144e1,
        ),
        (
            4.77662536438264365890433908527e-1, 0, 0, -2.48811461997166764192642586468,
            -5.90290826836842996371446475743e-1, 2.12300514481811942347288949897e1, 1.52792336328824235832596922938e1,
            -3.32882109689848629194453265587e1, -2.03312017085086261358222928593e-2,
        ),
        (
            -9.3714243008598732571704021658e-1, 0, 0, 5.18637242884406370830023853209,
            1.09143734899672957818500254654, -8.14978701074692612513997267357, -1.85200656599969598641566180701e1,
            2.27394870993505042818970056734e1, 2.49360555267965238987089396762, -3.0467644718982195003823669022,
        ),
        (
            2.27331014751653820792359768449, 0, 0, -1.05344954667372501984066689879e1,
            -2.00087205822486249909675718444, -1.79589318631187989172765950534e1, 2.79488845294199600499808808837e1,
            -2.85899827713502369474065508674, -8.87285693353062954433549289258, 1.23605671757943030647266201528e1,
            6.43392746015763530355970484046e-1,
        ),
        _EIGHTH,
    ),
    error=(
        0.1312004499419488073250102996e-1, 0, 0, 0, 0, -0.1225156446376204440720569753e1,
        -0.4957589496572501915214079952, 0.1664377182454986536961530415e1, -0.3503288487499736816886487290,
        0.3341791187130174790297318841, 0.8192320648511571246570742613e-1, -0.2235530786388629525884427845e-1,
    ),
    power=8,
    damping=tuple(b - _THIRD.get(i, 0) for i, b in enumerate(_EIGHTH)),
)  # fmt: skip

TABLEAUS = {"rk45": DORMAND_PRINCE, "ckrk": CASH_KARP, "adams": DOP853}


def step(
    tableau: Tableau, slope: Callable[[Any, Any], Any], t: Real, h: Real, y: Array, k: Array
) -> tuple[Any, Any, Any]:
    """The state at t + h, an estimate of its error, and the slopes, from the state y and its slope k at t."""
    slopes = [k]
    for c, row in zip(tableau.c[1:], tableau.rows[1:]):
        state = y + h * _weighted(row, slopes)
        slopes.append(slope(t + c * h, state))
    error = _weighted(tableau.error, slopes)
    if tableau.damping:
        # Hairer, Norsett and Wanner, II.10: the estimate of order 5 against the one of order 3
        squares = error * error + 0.01 * _weighted(tableau.damping, slopes) ** 2
        error = error * abs(error) / (squares + (squares == 0)) ** 0.5
    return state, h * error, slopes


# Inside a step of Dormand and Prince's method the weight of every slope is a polynomial of degree 5 in the share of the
# step: Hermite's cubic, and these numbers times x^2 (1 - x)^2 and times x^3 (1 - x)^2 (Hairer, Norsett and Wanner,
# section II.6; the same ones as in Boost's stepper, which Stan uses).
_BEND = (
    -12793612615 / 11282082432, 0, 88272555100 / 32700410799, -11083301675 / 1880347072, 759212249535 / 199316789632,
    -1648467425 / 822651844, 74144470 / 29380423,
)  # fmt: skip
_TWIST = (
    157015080 / 11282082432, 0, -1570150800 / 32700410799, 785075400 / 1880347072, -114463993320 / 199316789632,
    389220480 / 822651844, -8293050 / 29380423,
)  # fmt: skip


def shape(slopes: Sequence[object]) -> tuple[Any, Any, Any]:
    """What the inside of a step is made of, besides its ends and its last slope."""
    return slopes[0], _weighted(_BEND, slopes), _weighted(_TWIST, slopes)


def inside(where: Real, h: Real, before: Array, after: Array, form: tuple[Array, Array, Array, Array]) -> Array:
    """The state at `where` in [0, 1] of a step of Dormand and Prince's method; `form` begins with its last slope."""
    last, first, bend, twist = form
    rest = 1 - where
    cubic = before + where**2 * (3 - 2 * where) * (after - before)
    cubic = cubic + h * (where * rest**2 * first - where**2 * rest * last)
    return cubic + h * where**2 * rest**2 * (bend + where * twist)


def _weighted(weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    total = None
    for w, s in zip(weights, slopes):
        if w:
            total = w * s if total is None else total + w * s
    return total
