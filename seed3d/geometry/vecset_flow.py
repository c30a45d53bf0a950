"""The flow of the VecSet models: published velocity convention, sampler and training targets.

x_s = (1 - s) clean + s noise; the models predict clean - noise, the negative of
`seed3d.geometry.flow`'s velocity, at timestep 1000 s.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

from seed3d.geometry.flow import noisy_at, shifted

TIMESTEPS = 1000
"""The models are asked at timestep TIMESTEPS * s."""


def length_shift(tokens: int, base_tokens: int = 256) -> float:
    """Time shift of a set of `tokens`: more of them need more noise to hide the same shape.

    Noise is averaged over tokens, so its strength relative to the signal falls with the square
    root of their number (arXiv:2403.03206, section 5.3.2).
    """
    return (tokens / base_tokens) ** 0.5


def sigmas(steps: int, shift: float = 1.0) -> torch.Tensor:
    """Noise levels from 1 to 0, (steps + 1,): s_i = 1 - i / steps, then shifted."""
    return shifted(1.0 - torch.arange(steps + 1) / steps, shift)


def sample(
    model: Callable[..., torch.Tensor],
    noise: torch.Tensor,
    condition: torch.Tensor,
    steps: int = 50,
    guidance: float = 7.0,
    shift: float = 1.0,
    on_step: Callable[[int], Any] | None = None,
) -> torch.Tensor:
    """Integrate noise (B, T, C) to latents by Euler steps, guided by the condition.

    Args:
        model: (latents, timestep, condition) -> velocity clean - noise.
        noise: Standard normal.
        condition: (B, P, D) photo tokens; the unconditional half gets zeros, first in the batch.
        steps: Euler steps.
        guidance: Classifier-free guidance (arXiv:2207.12598); 1 is off and asks once a step.
        shift: See `sigmas`.
        on_step: Called with the number of each finished step.
    """
    both = torch.cat([torch.zeros_like(condition), condition])
    x = noise
    for i, (now, following) in enumerate(pairwise(sigmas(steps, shift).tolist())):
        double = guidance != 1.0
        time = torch.full((len(x) * (1 + double),), TIMESTEPS * now, device=x.device)
        velocity = model(torch.cat([x, x]) if double else x, time, both if double else condition)
        if double:
            without, with_photo = velocity.chunk(2)
            velocity = without + guidance * (with_photo - without)
        x = x + (now - following) * velocity
        if on_step is not None:
            on_step(i + 1)
    return x


def flow_loss(
    model: Callable[..., torch.Tensor],
    clean: torch.Tensor,
    condition: torch.Tensor,
    generator: torch.Generator,
    shift: float = 1.0,
    drop: float = 0.1,
) -> torch.Tensor:
    """Velocity loss at logit-normal times, with the condition dropped for a share of the batch.

    Args:
        model: As in `sample`.
        clean: (B, T, C) latents.
        condition: (B, P, D).
        generator: On the CPU; every random number comes from it.
        shift: Length-aware shift of the times.
        drop: Share of conditions replaced by zeros.
    """
    batch = len(clean)
    s = shifted(torch.sigmoid(torch.randn(batch, generator=generator)), shift).to(clean.device)
    noise = torch.randn(clean.shape, generator=generator).to(clean.device)
    keep = (torch.rand(batch, generator=generator) >= drop).to(clean.device)
    condition = condition * keep[:, None, None]
    velocity = model(noisy_at(clean, noise, s), TIMESTEPS * s, condition)
    return (velocity.float() - (clean - noise)).square().mean()
