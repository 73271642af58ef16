"""Sums over discrete variables: factors over their elements, an order of elimination, sums and draws along it."""

WEIGHT = "discrete_weight__"
"""The site of what the laws of discrete parameters add up to within their bounds, where these are drawn by them."""
