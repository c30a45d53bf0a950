"""Rectified flow: x_sigma = (1 - sigma) clean + sigma noise, velocity = noise - clean.

Liu et al., arXiv:2209.03003; logit-normal times after Esser et al., arXiv:2403.03206. The models
predict the clean latent; the velocity is (x_sigma - clean) / sigma.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

SIGMA_FLOOR = 0.4
"""The loss weight 1 / sigma^2 of the velocity is held below this sigma."""


EARLY_SHARE = 0.5
"""Share of the training times in [0.6, 1], most of them near 1."""


def noisy_at(clean: torch.Tensor, noise: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
    """Interpolate clean (B, ...) and noise at sigma (B,)."""
    s = sigma.view(-1, *([1] * (clean.dim() - 1)))
    return (1 - s) * clean + s * noise


def training_sigma(count: int, shift: float, generator: torch.Generator) -> torch.Tensor:
    """Logit-normal sigmas (count,), pushed towards noise by `shift` (> 1: more noise).

    A share of them is drawn close to 1, where everything comes from the photo: with logit-normal
    times alone the model learns last what decides most.
    """
    sigma = shifted(torch.sigmoid(torch.randn(count, generator=generator)), shift)
    early = 1 - 0.4 * torch.rand(count, generator=generator) ** 2
    return torch.where(torch.rand(count, generator=generator) < EARLY_SHARE, early, sigma)


def shifted(sigma: torch.Tensor, shift: float) -> torch.Tensor:
    """Length-aware time shift: s sigma / (1 + (s - 1) sigma) (arXiv:2403.03206, eq. 23)."""
    return shift * sigma / (1 + (shift - 1) * sigma)


def schedule(steps: int, shift: float) -> torch.Tensor:
    """Sigmas from 1 to 0, (steps + 1,)."""
    return shifted(torch.linspace(1.0, 0.0, steps + 1), shift)


def loss(predicted: torch.Tensor, clean: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
    """Velocity loss of a clean-latent prediction, mean over the batch."""
    weight = 1.0 / sigma.clamp(min=SIGMA_FLOOR) ** 2
    return ((predicted - clean).square().flatten(1).mean(dim=1) * weight).mean()


def sample(
    predict_clean: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    noise: torch.Tensor,
    steps: int,
    shift: float,
) -> torch.Tensor:
    """Integrate from noise to clean latents by Euler steps.

    Args:
        predict_clean: (x (B, ...), sigma (B,)) -> clean latents; holds any guidance.
        noise: (B, ...) standard normal.
        steps: Euler steps.
        shift: See `shifted`.
    """
    x = noise
    sigmas = schedule(steps, shift)
    for sigma, following in pairwise(sigmas):
        clean = predict_clean(x, sigma.expand(len(x)))
        velocity = (x - clean) / sigma
        x = x + (following - sigma) * velocity
    return x


def guided(
    model: Any, tokens: torch.Tensor, local: torch.Tensor, guidance: float
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Clean-latent predictor with classifier-free guidance (arXiv:2207.12598)."""

    def predict(x: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        with_photo = model.denoise(x, sigma, tokens, local)
        if guidance == 1.0:
            return with_photo
        everything = torch.ones(len(x), dtype=torch.bool, device=x.device)
        without = model.denoise(x, sigma, tokens, local, everything)
        return without + guidance * (with_photo - without)

    return predict
