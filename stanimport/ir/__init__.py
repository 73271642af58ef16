"""GProb, the paper's small generative language between the front end and emission, and what works on all of it."""
