"""Random programs that are compositions of what is seldom together: another grammar of random programs."""

from .program import TOPICS, program

__all__ = ["TOPICS", "program"]
