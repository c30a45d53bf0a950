"""Fit to the photo: the camera, then a smooth warp of the shape, then the latents a little.

Latents alone reach the mask too, but by carving: what sticks out of the mask is cut off instead of
moved, thin walls tear, and every other latent drifts as well. A warp moves the rim of a cup and
keeps it whole. The latents then make what no warp can, such as a handle that is missing: only those
that the outline concerns, and only until the shape agrees with the mask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn import functional

from seed3d.geometry.autoencoder import sample_grid
from seed3d.geometry.cameras import moved
from seed3d.geometry.silhouette import silhouette, silhouette_iou
from seed3d.geometry.tsdf import grid_points

# Azimuth, elevation, log distance, log focal, centre: how far each usually is off.
_CAMERA_SIGMA = (0.15, 0.10, 0.15, 0.05, 0.05, 0.05)
_CAMERA_TIE = 0.003
ENOUGH = 0.97
"""Silhouette IoU from which the latents are left alone: further steps make surfaces lumpy."""
CONCERNED = 0.3
"""Share of the largest gradient of a token from which a token moves freely; others less."""
LATENT_SHARE = 0.6
"""Of all steps, the most that the latents get; cameras and warp share the rest."""
CONTROL_POINTS = 6
"""Of the warp, along each side of the cube [-1, 1]^3."""
WARP_TIE = 100.0
"""Weight of the mean squared shift [canonical units^2]."""
WARP_SMOOTHNESS = 300.0
"""Weight of the mean squared difference between neighbouring shifts, summed over the axes."""
_SAMPLES = 48
"""Along a ray while only cameras and the warp move."""

Decode = Callable[[torch.Tensor], torch.Tensor]
"""Latents (B, T, C) to TSDF grids (B, R, R, R)."""


@dataclass(frozen=True)
class Fitted:
    """What the fit to the masks found."""

    latents: torch.Tensor
    """(B, T, C)."""
    shift: torch.Tensor
    """(B, 3, N, N, N): see `warped`."""
    cameras: torch.Tensor
    """(B, 6)."""


def fit_shape(
    decode: Decode,
    latents: torch.Tensor,
    cameras: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
) -> Fitted:
    """Fit cameras, warp and latents, one after the other, so that shapes project onto masks.

    Args:
        decode: See Decode; what it gives is warped.
        latents: (B, T, C), the start.
        cameras: (B, 6), the start.
        mask: (B, S, S) coverage in [0, 1].
        steps: Of all three together.
    """
    for_latents = round(LATENT_SHARE * steps)
    for_cameras = (steps - for_latents) // 2
    with torch.no_grad():
        grid = decode(latents)
    cameras = fit_cameras(grid, cameras, mask, for_cameras)
    shift, cameras = fit_warp(grid, cameras, mask, steps - for_latents - for_cameras)

    def bent(z: torch.Tensor) -> torch.Tensor:
        return warped(decode(z), shift)

    latents, cameras = fit_latents(bent, latents, cameras, mask, for_latents)
    return Fitted(latents, shift, cameras)


def warped(grid: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """Bend grids (B, R, R, R) on the cube [-1, 1]^3: a free-form deformation.

    Args:
        grid: Indexed [x, y, z].
        shift: (B, 3, N, N, N), x, y and z [canonical units] at control points that span the cube,
            trilinear between them. The value at p is that of the old grid at p + shift(p).
    """
    side = grid.shape[-1]
    fine = functional.interpolate(shift, (side,) * 3, mode="trilinear", align_corners=True)
    centres = torch.from_numpy(grid_points(side)).to(grid.device)
    where = centres + fine.movedim(1, -1)
    return sample_grid(grid, where.flatten(1, 3)).view_as(grid)


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
        soft = silhouette(grid, moved_cameras(cameras, change), size, _SAMPLES)
        loss = (mask_loss(soft, mask) + _CAMERA_TIE * change.square().sum(1)).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return moved_cameras(cameras, change).detach()


def fit_warp(
    grid: torch.Tensor, cameras: torch.Tensor, mask: torch.Tensor, steps: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Bend grids (B, R, R, R), and move cameras (B, 6), so that they project onto masks (B, S, S).

    Returns:
        shift (B, 3, N, N, N) for `warped`; cameras (B, 6).
    """
    shape = (len(grid), 3, *(CONTROL_POINTS,) * 3)
    shift = torch.zeros(shape, device=grid.device, requires_grad=True)
    view = torch.zeros_like(cameras, requires_grad=True)
    turn = torch.optim.Adam([view], lr=0.03)
    bend = _SharedAdam(shift, lr=0.01)
    for _ in range(steps):
        seen = moved_cameras(cameras, view)
        soft = silhouette(warped(grid, shift), seen, mask.shape[-1], _SAMPLES)
        loss = mask_loss(soft, mask) + _CAMERA_TIE * view.square().sum(1) + _stiffness(shift)
        turn.zero_grad(set_to_none=True)
        loss.sum().backward()
        bend.step()
        turn.step()
    return shift.detach(), moved_cameras(cameras, view).detach()


def _stiffness(shift: torch.Tensor) -> torch.Tensor:
    """What a warp costs, (B,)."""
    bends = [shift.diff(dim=axis).square().flatten(1).mean(1) for axis in (2, 3, 4)]
    return WARP_TIE * shift.square().flatten(1).mean(1) + WARP_SMOOTHNESS * sum(bends)


class _SharedAdam:
    """Adam (Kingma and Ba 2015) with one second moment per batch row instead of one per number.

    Control points that hardly matter for the mask then hardly move.
    """

    def __init__(self, weight: torch.Tensor, lr: float) -> None:
        self.weight, self.lr, self.count = weight, lr, 0
        self.mean = torch.zeros_like(weight)
        self.square = torch.zeros((len(weight), *(1,) * (weight.dim() - 1)), device=weight.device)

    def step(self) -> None:
        """Take the gradient and clear it."""
        gradient, self.weight.grad = self.weight.grad, None
        if gradient is None:
            raise ValueError("got no gradient; wanted one from backward()")
        self.count += 1
        now = gradient.square().mean(dim=tuple(range(1, gradient.dim())), keepdim=True)
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.99 * self.square + 0.01 * now
        unbiased = self.mean / (1 - 0.9**self.count)
        scale = (self.square / (1 - 0.99**self.count)).sqrt() + 1e-12
        with torch.no_grad():
            self.weight -= self.lr * unbiased / scale


def fit_latents(
    decode: Decode,
    latents: torch.Tensor,
    cameras: torch.Tensor,
    mask: torch.Tensor,
    steps: int,
    stiffness: float = 0.1,
    enough: float = ENOUGH,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Refine latents (B, T, C) and cameras together against the masks (B, S, S).

    Tokens move as far as the mask concerns them at the start: Adam by itself would move every
    number equally far, and surfaces that were right get lumpy. A row that agrees with its mask
    stays as it is from there on, whatever the others do.

    Args:
        decode: See Decode.
        latents: Start; also the prior that the fit is tied to.
        cameras: (B, 6).
        mask: Coverage in [0, 1].
        steps: Most Adam steps.
        stiffness: Weight of the distance to the start.
        enough: Silhouette IoU at which a row is done.

    Returns:
        The refined latents and cameras.
    """
    change = torch.zeros_like(latents, requires_grad=True)
    view = torch.zeros_like(cameras, requires_grad=True)
    optimizer = torch.optim.Adam([{"params": [change], "lr": 0.03}, {"params": [view], "lr": 0.05}])
    found, seen = latents, cameras
    done = torch.zeros(len(latents), dtype=torch.bool, device=latents.device)
    share = torch.ones_like(latents[..., :1])  # of a step that a token takes, (B, T, 1)
    for step in range(steps + 1):
        trial, at = latents + share * change, moved_cameras(cameras, view)
        soft = silhouette(decode(trial), at, mask.shape[-1])
        found = torch.where(done[:, None, None], found, trial.detach())
        seen = torch.where(done[:, None], seen, at.detach())
        done = done | (silhouette_iou(soft.detach(), mask) >= enough)
        if step == steps or bool(done.all()):
            break
        far = (share * change).square().mean(dim=(1, 2))
        tie = stiffness * far + _CAMERA_TIE * view.square().sum(1)
        optimizer.zero_grad(set_to_none=True)
        (mask_loss(soft, mask) + tie).sum().backward()
        if step == 0 and change.grad is not None:
            pull = change.grad.norm(dim=-1, keepdim=True)
            most = pull.amax(dim=1, keepdim=True).clamp(min=1e-12)
            share = (pull / (CONCERNED * most)).clamp(max=1.0)
        optimizer.step()
    return found, seen
