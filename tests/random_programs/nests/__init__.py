"""Random programs that are small dense nests of loops over few variables: another grammar of random programs."""

from .program import program

__all__ = ["program"]
