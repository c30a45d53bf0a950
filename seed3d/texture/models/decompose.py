"""A prepared photo to albedo, roughness and metallic in the photo's view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from seed3d.types import Subject

if TYPE_CHECKING:
    import torch

GUIDE_RADIUS = 2
"""Window of the guided upsampling: this many of the network's pixels to each side."""
GUIDE_RIDGE = 3e-3
"""Variance of the guide (log sRGB) below which the shading is taken as constant in a window."""
DARK = 0.02
"""Least sRGB value whose logarithm is taken."""


@dataclass(frozen=True)
class PhotoMaterials:
    """What a photo's pixels are made of; of no meaning outside the subject's mask."""

    albedo: np.ndarray
    """(S, S, 3) float32 sRGB in [0, 1]."""
    roughness: np.ndarray
    """(S, S) float32 in [0, 1]."""
    metallic: np.ndarray
    """(S, S) float32 in [0, 1]."""


def decompose(subject: Subject, model: str) -> PhotoMaterials:
    """Take the light off a photo.

    Args:
        subject: The prepared photo.
        model: Name in checkpoints/manifest.yaml.

    Returns:
        Maps of the photo's size.

    Raises:
        CheckpointError: The model's weights are missing, damaged or of another model.
    """
    from seed3d.texture.models.weights import load_pbr

    return decompose_with(load_pbr(model), subject.rgb, subject.mask)


def decompose_with(net: Any, rgb: np.ndarray, mask: np.ndarray) -> PhotoMaterials:
    """As `decompose`, of a photo (S, S, 3) on white with its mask (S, S), by a given network."""
    import torch
    from torch.nn import functional

    from seed3d.image.encoder import load_encoder
    from seed3d.texture.models.pbr import NET_SIZE, semantics_of

    size = len(rgb)
    large = torch.from_numpy(np.dstack([rgb, mask]).astype(np.float32)).permute(2, 0, 1)[None]
    small = functional.interpolate(large, (NET_SIZE, NET_SIZE), mode="bilinear", antialias=True)
    with torch.no_grad():
        image, cover = small[:, :3], small[:, 3:]
        out = net(image, cover, semantics_of(image, load_encoder()))
        lit = out.albedo(image).clamp(min=DARK)
        ratio = (lit / image.clamp(min=DARK)).log()
        gain = guided_upsample(ratio, image, cover, large[:, :3])
        albedo = (large[:, :3].clamp(min=DARK) * gain.exp()).clamp(0.0, 1.0)
        flat = functional.interpolate(
            torch.cat([out.roughness, out.metallic], dim=1), (size, size), mode="bilinear"
        )
    return PhotoMaterials(
        albedo[0].permute(1, 2, 0).contiguous().numpy(),
        flat[0, 0].numpy(),
        flat[0, 1].numpy(),
    )


def guided_upsample(
    value: torch.Tensor, guide: torch.Tensor, weight: torch.Tensor, fine: torch.Tensor
) -> torch.Tensor:
    """Carry a small map to the size of a photo so that its edges fall on the photo's.

    In each window `value` is linear in the guide's log luminance (fast guided filter, He and
    Sun, arXiv:1505.00996); windows weigh the object's pixels only.

    Args:
        value: (1, C, s, s).
        guide: (1, 3, s, s) sRGB, the photo at the map's size.
        weight: (1, 1, s, s) coverage.
        fine: (1, 3, S, S) sRGB, the photo.
    """
    import torch
    from torch.nn import functional

    def mean(maps: torch.Tensor) -> torch.Tensor:
        side = 2 * GUIDE_RADIUS + 1
        return functional.avg_pool2d(maps, side, 1, GUIDE_RADIUS, count_include_pad=False)

    def log_luminance(rgb: torch.Tensor) -> torch.Tensor:
        return rgb.mean(dim=1, keepdim=True).clamp(min=DARK).log()

    total = mean(weight).clamp(min=1e-4)
    light = log_luminance(guide)
    center, middle = mean(weight * light) / total, mean(weight * value) / total
    spread = mean(weight * light * light) / total - center**2
    both = mean(weight * light * value) / total - center * middle
    slope = both / (spread + GUIDE_RIDGE)
    offset = middle - slope * center
    lines = mean(weight * torch.cat([slope, offset], dim=1)) / total
    lines = functional.interpolate(lines, fine.shape[-2:], mode="bilinear")
    slope, offset = lines.chunk(2, dim=1)
    return slope * log_luminance(fine) + offset
