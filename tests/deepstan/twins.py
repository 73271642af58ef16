"""What multimodal.stan, vae.stan and mlp.stan say, written by hand in Pyro."""
from __future__ import annotations

import pyro
import pyro.distributions as dist
import torch
from torch.func import functional_call


class Multimodal:
    def model(self):
        cluster = pyro.sample("cluster", dist.Normal(0.0, 1.0))
        pyro.sample("theta", dist.Normal(20.0 if cluster > 0 else 0.0, 1.0))

    def guide(self):
        means = [pyro.param(f"m{k}", lambda: torch.rand(()) * 4 - 2) for k in (1, 2)]
        widths = [
            pyro.param(f"s{k}", lambda: torch.exp(torch.rand(()) * 4 - 2), constraint=dist.constraints.positive)
            for k in (1, 2)
        ]
        cluster = pyro.sample("cluster", dist.Normal(0.0, 1.0))
        k = 0 if cluster > 0 else 1
        pyro.sample("theta", dist.Normal(means[k], widths[k]))


class VAE:
    """The variational auto-encoder; images (batch, pixels) of 0 and 1."""

    def __init__(self, encoder, decoder, total, latent=5):
        self.encoder, self.decoder, self.total, self.latent = encoder, decoder, total, latent

    def model(self, images):
        decoder = pyro.module("decoder", self.decoder)
        with pyro.plate("data", self.total, subsample=images):
            z = pyro.sample("z", dist.Normal(0.0, 1.0).expand([len(images), self.latent]).to_event(1))
            law = dist.Bernoulli(logits=decoder(z), validate_args=False)
            pyro.sample("images", law.to_event(1), obs=images.to(z.dtype))

    def guide(self, images):
        encoder = pyro.module("encoder", self.encoder)
        with pyro.plate("data", self.total, subsample=images):
            centre, width = encoder(images)
            pyro.sample("z", dist.Normal(centre, width).to_event(1))


class MLP:
    """The Bayesian network: all parameters of a module have laws; images (batch, side, side), labels from 1."""

    names = {"l1.weight": "w1", "l1.bias": "b1", "l2.weight": "w2", "l2.bias": "b2"}

    def __init__(self, module, total, prior_sd):
        self.module, self.total, self.prior_sd = module, total, prior_sd
        self.shapes = {n: p.shape for n, p in module.named_parameters()}

    def model(self, images, labels):
        values = {}
        for name, shape in self.shapes.items():
            law = dist.Normal(0.0, self.prior_sd).expand(shape).to_event(len(shape))
            values[name] = pyro.sample(f"mlp.{name}", law)
        log_odds = functional_call(self.module, values, (images,))
        with pyro.plate("data", self.total, subsample=images):
            pyro.sample("labels", dist.Categorical(logits=log_odds), obs=labels - 1)

    def guide(self, images, labels):
        laws = {}
        for name, shape in self.shapes.items():
            centre = 0.1 * pyro.param(f"{self.names[name]}_mu", lambda: torch.rand(shape) * 4 - 2)
            log_width = pyro.param(f"{self.names[name]}_sigma", lambda: torch.full(shape, -3.0))
            laws[name] = dist.Normal(centre, torch.exp(log_width)).to_event(len(shape))
        for name, law in laws.items():
            pyro.sample(f"mlp.{name}", law)
