"""How the equation of a scan has its inputs."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def counts(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """How many of its first inputs stay, and how many of the next are carried along.

    JAX has two numbers among an equation's parameters, from 0.11 on a tree of each kind of inputs.
    """
    if "ft_in" in parameters:
        constants, carried, _ = map(len, parameters["ft_in"].unpack())
        return constants, carried
    return parameters["num_consts"], parameters["num_carry"]
