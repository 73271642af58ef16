"""Stan's own arithmetic, and ours, at the same points of the unconstrained scale."""
