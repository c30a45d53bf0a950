"""Batches of cameras as tensors (B, 6), differentiable; the same model as `seed3d.types.Camera`.

Columns: azimuth [rad], elevation [rad], distance [canonical units], focal [half crops],
center_u, center_v.
"""

from __future__ import annotations

import torch

from seed3d.types import Camera


def rotation(cameras: torch.Tensor) -> torch.Tensor:
    """R_camera_world (B, 3, 3)."""
    azimuth, elevation = cameras[:, 0], cameras[:, 1]
    ca, sa, ce, se = azimuth.cos(), azimuth.sin(), elevation.cos(), elevation.sin()
    zero = torch.zeros_like(ca)
    right = torch.stack([-sa, ca, zero], dim=-1)
    down = torch.stack([se * ca, se * sa, -ce], dim=-1)
    ahead = torch.stack([-ce * ca, -ce * sa, -se], dim=-1)
    return torch.stack([right, down, ahead], dim=1)


def to_camera(cameras: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Canonical points (N, 3) to camera coordinates (B, N, 3)."""
    p_cam = torch.einsum("bij,nj->bni", rotation(cameras), points)
    offset = torch.zeros_like(p_cam)
    offset[..., 2] = cameras[:, 2, None]
    return p_cam + offset


def project(cameras: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Canonical points (N, 3) to crop coordinates (B, N, 2)."""
    p_cam = to_camera(cameras, points)
    depth = p_cam[..., 2:].clamp(min=1e-3)
    return cameras[:, None, 3:4] * p_cam[..., :2] / depth + cameras[:, None, 4:6]


def as_row(camera: Camera) -> torch.Tensor:
    """One camera as (1, 6)."""
    return torch.tensor(
        [[camera.azimuth_rad, camera.elevation_rad, camera.distance, camera.focal,
          camera.center_u, camera.center_v]]
    )  # fmt: skip


def as_camera(row: torch.Tensor) -> Camera:
    """A row (6,) as a Camera."""
    return Camera(*(float(v) for v in row))


def mirrored(cameras: torch.Tensor) -> torch.Tensor:
    """Cameras (B, 6) of the mirrored photos (left for right) of the shapes mirrored in y."""
    return cameras * torch.tensor([-1.0, 1, 1, 1, -1, 1], device=cameras.device)


def moved(cameras: torch.Tensor, change: torch.Tensor) -> torch.Tensor:
    """Cameras (B, 6) changed by (B, 6); distance and focal by logarithms, keeping the size seen.

    Columns of `change`: azimuth, elevation, log distance, log focal, centre.
    """
    zoom = change[:, 2].exp()
    return torch.stack(
        [cameras[:, 0] + change[:, 0], cameras[:, 1] + change[:, 1], cameras[:, 2] * zoom,
         cameras[:, 3] * zoom * change[:, 3].exp(), cameras[:, 4] + change[:, 4],
         cameras[:, 5] + change[:, 5]],
        dim=1,
    )  # fmt: skip
