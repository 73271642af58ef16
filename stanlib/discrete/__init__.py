"""Sums over discrete variables: factors over their elements, an order of elimination, sums and draws along it."""

WEIGHT = "discrete_weight__"
"""The site of what the laws of discrete parameters add up to within their bounds, where these are drawn by them."""

LAW, UNKNOWN = "", "?"
"""What a term observes that observes no variable of the data: a discrete parameter itself, and what is not known."""

TOLD = 3
"""How many arguments tell of each term, before those of `discrete_log_sum__`, what it observes."""
