"""Sums over discrete variables: factors over their elements, an order of elimination, sums and draws along it."""
