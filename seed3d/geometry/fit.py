"""Fit to the photo: camera first, then latents, so that the shape projects onto the mask."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from seed3d.geometry.cameras import moved
from seed3d.geometry.silhouette import silhouette

# Azimuth, elevation, log distance, log focal, centre: how far each usually is off.
_CAMERA_SIGMA = (0.15, 0.10, 0.15, 0.05, 0.05, 0.05)


def moved_cameras(cameras: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    """Apply (B, 6) changes in units of _CAMERA_SIGMA."""
    return moved(cameras, change * torch.tensor(_CAMERA_SIGMA, device=change.device))


def mask_loss(soft: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Soft IoU loss plus cross entropy, per photo (B,)."""
    both = (soft * mask).flatten(1).sum(1)
    either = (soft + mask - soft * mask).flatten(1).sum(1)
    entropy = functional.binary_cross_entropy(soft.clamp(1e-4, 1 - 1e-4), mask, reduction="none")
    return 1 - both / either.clamp(min=1) + entropy.flatten(1).mean(1)


def fit_cameras(
    grid: torch.Tensor, cameras: torch.Tensor, mask: torch.Tensor, steps: int
) -> torch.Tensor:
    """Move cameras (B, 6) so that grids (B, R, R, R) project onto masks (B, S, S)."""
    change = torch.zeros_like(cameras, requires_grad=True)
    optimizer = torch.optim.Adam([change], lr=0.08)
    size = mask.shape[-1]
    for _ in range(steps):
        soft = silhouette(grid, moved_cameras(cameras, change), size, 48)
        loss = (mask_loss(soft, mask) + 0.003 * change.square().sum(1)).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return moved_cameras(cameras, change).detach()


def fit_latents(
    decode: Callable[[torch.Tensor], torch.Tensor],
    latents: torch.Tensor,
    cameras: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
    stiffness: float = 0.1,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Refine latents (B, T, C) and cameras together against the masks (B, S, S).

    Args:
        decode: Latents to TSDF grids (B, R, R, R).
        latents: Start; also the prior that the fit is tied to.
        cameras: (B, 6).
        mask: Coverage in [0, 1].
        steps: Adam steps.
        stiffness: Weight of the distance to the start.

    Returns:
        The refined latents and cameras.
    """
    change = torch.zeros_like(latents, requires_grad=True)
    view = torch.zeros_like(cameras, requires_grad=True)
    optimizer = torch.optim.Adam([{"params": [change], "lr": 0.03}, {"params": [view], "lr": 0.05}])
    for _ in range(steps):
        soft = silhouette(decode(latents + change), moved_cameras(cameras, view), mask.shape[-1])
        tie = stiffness * change.square().mean(dim=(1, 2)) + 0.003 * view.square().sum(1)
        loss = (mask_loss(soft, mask) + tie).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return (latents + change).detach(), moved_cameras(cameras, view).detach()
