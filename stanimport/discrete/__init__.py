"""Discrete parameters: from a typed program with them to one in which they are summed out."""
