"""The neural networks of vae.stan and mlp.stan, in PyTorch."""
from __future__ import annotations

import torch
from torch import nn

PIXELS, LATENT, HIDDEN, CLASSES = 64, 5, 512, 10


class Decoder(nn.Module):
    """From latent positions to the log odds of pixels."""

    def __init__(self, latent: int = LATENT, hidden: int = 128, pixels: int = PIXELS):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(latent, hidden), nn.Softplus(), nn.Linear(hidden, pixels))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.layers(z)


class Encoder(nn.Module):
    """From images to the means and standard deviations of their latent positions, one after the other."""

    def __init__(self, latent: int = LATENT, hidden: int = 128, pixels: int = PIXELS):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(pixels, hidden), nn.Softplus())
        self.mean, self.log_sd = nn.Linear(hidden, latent), nn.Linear(hidden, latent)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        hidden = self.hidden(images.to(self.mean.weight.dtype))
        return torch.stack([self.mean(hidden), torch.exp(self.log_sd(hidden))])


class MLP(nn.Module):
    """From images to the log odds of their classes."""

    def __init__(self, pixels: int = PIXELS, hidden: int = HIDDEN, classes: int = CLASSES):
        super().__init__()
        self.l1, self.l2 = nn.Linear(pixels, hidden), nn.Linear(hidden, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.l2(torch.relu(self.l1(images.flatten(1))))


encoder, decoder, mlp = Encoder, Decoder, MLP
