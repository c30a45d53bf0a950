"""Differentiable silhouettes of a TSDF grid: nearest approach of each ray to the inside."""

from __future__ import annotations

import torch

from seed3d.geometry import cameras as cam

SHARPNESS = 12.0
"""Slope of the soft edge, per TSDF unit: about two voxels wide at 64^3."""


def ray_points(cameras: torch.Tensor, size: int, samples: int) -> torch.Tensor:
    """Points along the rays through a crop's pixel centres, (B, size * size, samples, 3).

    Depths run over the sphere around the cube [-1, 1]^3, so every point of it can be met.
    """
    axis = (torch.arange(size, device=cameras.device) + 0.5) / size * 2 - 1
    v, u = torch.meshgrid(axis, axis, indexing="ij")
    uv = torch.stack([u, v], dim=-1).view(1, -1, 2)
    slope = (uv - cameras[:, None, 4:6]) / cameras[:, None, 3:4]  # (B, P, 2)
    steps = torch.linspace(-1.0, 1.0, samples, device=cameras.device) * 3**0.5
    depth = (cameras[:, 2:3] + steps).clamp(min=1e-2)  # (B, S)
    xy = slope[:, :, None] * depth[:, None, :, None]  # (B, P, S, 2)
    z = (depth - cameras[:, 2:3])[:, None, :, None].expand(*xy.shape[:3], 1)
    return torch.einsum("bpsi,bij->bpsj", torch.cat([xy, z], dim=-1), cam.rotation(cameras))


def silhouette(
    grid: torch.Tensor, cameras: torch.Tensor, size: int = 56, samples: int = 64
) -> torch.Tensor:
    """Soft silhouettes in (0, 1), (B, size, size), of TSDF grids (B, R, R, R) seen by (B, 6)."""
    points = ray_points(cameras, size, samples)
    where = points.flip(-1)  # (B, P, S, 3) in z, y, x order
    values = torch.nn.functional.grid_sample(
        grid[:, None], where[:, None], padding_mode="border", align_corners=False
    )  # (B, 1, 1, P, S)
    outside = (points.abs().amax(-1) > 1).float()
    nearest = (values[:, 0, 0] + outside * 2).amin(dim=-1)
    return torch.sigmoid(-SHARPNESS * nearest).view(-1, size, size)


def silhouette_iou(soft: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """IoU of thresholded silhouettes (B, S, S) with masks (B, S, S): (B,)."""
    a, b = soft > 0.5, mask > 0.5
    return (a & b).flatten(1).sum(1) / (a | b).flatten(1).sum(1).clamp(min=1)
