"""GProb, the paper's small generative language, between the front end and the targets."""
