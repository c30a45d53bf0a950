"""Photo to camera, metric size, mean density, category and material: a small network on frozen features."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from torch import nn
from torch.nn import functional

from seed3d.geometry.photo import PhotoFeatures

BINS = 24
"""Azimuth bins over the full turn; bin k is centred at 2 pi k / BINS."""


class HeadOutput(NamedTuple):
    """Raw predictions for B photos."""

    azimuth_logits: torch.Tensor
    """(B, BINS)."""
    azimuth_offset: torch.Tensor
    """(B, BINS) from the bin's centre [bin widths]."""
    pose: torch.Tensor
    """(B, 5): elevation [rad], log distance, log(focal / distance), center_u, center_v."""
    log_size: torch.Tensor
    """(B, 2): mean and log standard deviation of ln(longest side / m)."""
    category_logits: torch.Tensor
    """(B, categories)."""
    material_logits: torch.Tensor
    """(B, materials)."""
    log_density: torch.Tensor
    """(B, 2): mean and log standard deviation of ln(mass / (kg/m3 * convex hull's volume))."""


class PhotoHead(ModelMixin, ConfigMixin):
    """Two convolutions on encoder features, colours and the mask at 14 x 14, then a perceptron.

    Args:
        categories: Names of the categories it tells apart, in the order of its logits.
        materials: Names of the materials, likewise.
        width: Width of the hidden layers.
    """

    @register_to_config
    def __init__(
        self,
        categories: tuple[str, ...] = (),
        materials: tuple[str, ...] = (),
        width: int = 384,
    ) -> None:
        super().__init__()
        self.deep_in = nn.Conv2d(320, 64, 1)
        self.mid_in = nn.Conv2d(112, 64, 1)
        self.conv = nn.Sequential(
            nn.Conv2d(132, 96, 3, padding=1), nn.GroupNorm(8, 96), nn.GELU(), nn.Dropout2d(0.1),
            nn.Conv2d(96, 96, 3, stride=2, padding=1), nn.GroupNorm(8, 96), nn.GELU(),
        )  # fmt: skip
        inputs = 1280 + 96 * 49
        self.body = nn.Sequential(
            nn.Dropout(0.2), nn.Linear(inputs, width), nn.LayerNorm(width), nn.GELU(),
            nn.Dropout(0.2), nn.Linear(width, width), nn.LayerNorm(width), nn.GELU(),
        )  # fmt: skip
        self.sizes = [BINS, BINS, 5, 2, max(len(categories), 1), max(len(materials), 1), 2]
        self.out = nn.Linear(width, sum(self.sizes))
        nn.init.normal_(self.out.weight, std=0.01)
        nn.init.zeros_(self.out.bias)

    def forward(self, photo: PhotoFeatures) -> HeadOutput:
        """Predict from features of B photos."""
        deep = functional.interpolate(self.deep_in(photo.deep), scale_factor=2, mode="nearest")
        local = functional.avg_pool2d(photo.local, 4)
        maps = self.conv(torch.cat([self.mid_in(photo.mid), deep, local], dim=1))  # (B, 96, 7, 7)
        x = self.body(torch.cat([photo.pooled, maps.flatten(1)], dim=1))
        return HeadOutput(*self.out(x).split(self.sizes, dim=1))


def head_loss(
    out: HeadOutput,
    cameras: torch.Tensor,
    size_m: torch.Tensor,
    category: torch.Tensor,
    material: torch.Tensor,
    azimuth_known: torch.Tensor,
    density: torch.Tensor,
) -> dict[str, torch.Tensor]:
    """Losses by name.

    Args:
        out: Predictions for B photos.
        cameras: (B, 6) true cameras.
        size_m: (B,) true longest side [m].
        category: (B,) index, -1 where unknown.
        material: (B,) index, -1 where unknown.
        azimuth_known: (B,) bool; False for objects without a front.
        density: (B,) true mass over the volume of the convex hull [kg/m3], nan where unknown.
    """
    azimuth, elevation, distance, focal, u, v = cameras.unbind(-1)
    turn = azimuth / (2 * math.pi) * BINS
    nearest = turn.round()
    bins = nearest.long() % BINS
    picked = out.azimuth_offset.gather(1, bins[:, None])[:, 0]
    known = azimuth_known.float()
    share = known.sum().clamp(min=1)
    azimuth_ce = functional.cross_entropy(
        out.azimuth_logits, bins, reduction="none", label_smoothing=0.05
    )
    pose = torch.stack([elevation, distance.log(), (focal / distance).log(), u, v], dim=-1)
    return {
        "azimuth": (azimuth_ce * known).sum() / share,
        "offset": (
            functional.smooth_l1_loss(picked, turn - nearest, reduction="none") * known
        ).sum()
        / share,
        "pose": 4 * functional.smooth_l1_loss(out.pose, pose, beta=0.1),
        "size": 0.3 * _log_normal(out.log_size, size_m),
        "category": 0.5 * functional.cross_entropy(out.category_logits, category, ignore_index=-1),
        "material": 0.3 * functional.cross_entropy(out.material_logits, material, ignore_index=-1)
        if (material >= 0).any()
        else out.material_logits.sum() * 0,
        "density": 0.3 * _log_normal(out.log_density, density),
    }


def _log_normal(predicted: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Mean negative log likelihood of the true values (B,) that are known, but for a constant."""
    known = true.isfinite()
    log_std = predicted[:, 1].clamp(-3, 2)
    error = (true.nan_to_num(nan=1.0).log() - predicted[:, 0]) / log_std.exp()
    value = 0.5 * error.square() + log_std
    return (value * known).sum() / known.sum().clamp(min=1)


def candidate_cameras(out: HeadOutput, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The `count` likeliest cameras of each photo.

    Returns:
        cameras (B, count, 6) and their probabilities (B, count), neighbours of a bin counted
        with it, so that the second is another view and not the bin next door.
    """
    p = out.azimuth_logits.softmax(dim=1)
    near = p + p.roll(1, 1) + p.roll(-1, 1)
    peak = (p >= p.roll(1, 1)) & (p >= p.roll(-1, 1))
    score, bins = torch.where(peak, near, near * 1e-3).topk(count, dim=1)
    offset = out.azimuth_offset.gather(1, bins).clamp(-0.5, 0.5)
    azimuth = (bins + offset) * (2 * math.pi / BINS)
    azimuth = torch.remainder(azimuth + math.pi, 2 * math.pi) - math.pi
    elevation, distance, ratio, u, v = (x[:, None].expand_as(azimuth) for x in out.pose.unbind(-1))
    d = distance.exp()
    cameras = torch.stack([azimuth, elevation, d, ratio.exp() * d, u, v], dim=-1)
    return cameras, score


def of_both_ways(out: HeadOutput) -> HeadOutput:
    """One answer (B 1) from those for a photo and for its mirror image (B 2)."""
    first, second = HeadOutput(*(x[:1] for x in out)), HeadOutput(*(x[1:] for x in out))
    back = -torch.arange(BINS, device=out.pose.device) % BINS  # bin of the mirrored azimuth
    sign = torch.tensor([1.0, 1, 1, -1, 1], device=out.pose.device)

    def mean_log(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return ((a.softmax(1) + b.softmax(1)) / 2).log()

    return HeadOutput(
        mean_log(first.azimuth_logits, second.azimuth_logits[:, back]),
        (first.azimuth_offset - second.azimuth_offset[:, back]) / 2,
        (first.pose + second.pose * sign) / 2,
        (first.log_size + second.log_size) / 2,
        mean_log(first.category_logits, second.category_logits),
        mean_log(first.material_logits, second.material_logits),
        (first.log_density + second.log_density) / 2,
    )
