"""Names of sites by which what a program adds to the log density is told apart."""
from __future__ import annotations

import re
from collections.abc import Container

JACOBIAN = "jacobian:"  # what `jacobian +=` adds: no identifier of Stan's begins so, data can't be called like that
REJECTED = "rejected__"  # the site of models that can reject draws


def variable_of(site: str, names: Container[str]) -> str:
    """The variable that a site is called after, by the names of those that there are.

    The second site of `y` is `y__2` (`stanimport.ir.fresh`), which a variable of a program may be called too.
    """
    return site if site in names else re.sub(r"__\d+$", "", site)
