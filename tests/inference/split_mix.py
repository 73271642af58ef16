"""The random numbers of compiled loops, one at a time in plain Python: what `samplers.uniforms` has to equal."""


class SplitMix:
    """The generator, a number at a time."""

    def __init__(self, state):
        self.state = int(state)

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        x = self.state
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
        return x ^ x >> 31

    def uniform(self):
        return ((self.bits() >> 11) + 0.5) / 2**53
