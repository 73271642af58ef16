"""The no-U-turn sampler on one flat vector: `tree` a transition, `metric` and `adaptation` what warm-up learns."""
