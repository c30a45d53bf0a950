"""Which colour, roughness and metal lie under a photo's light: a network with two streams.

As in Seed3D-PBR the task is decomposition, not generation, and the streams for albedo and for
metallic-roughness have their own weights after a shared trunk. The albedo stream doesn't paint:
it predicts by what the photo is to be divided (shading), and where a colour replaces it
(highlights, reflections), so that what the photo shows sharply stays sharp.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional

NET_SIZE = 112
"""Side of the photo the network sees [pixel]."""
SHADE_LIMIT = 2.0
"""Largest log shading, in the photo's sRGB values."""
MID_CHANNELS, DEEP_CHANNELS, POOLED_CHANNELS = 40, 112, 1280
CUES = 19
"""Channels of `local_cues`."""
METALLIC_GAIN = 4.0
RANDOM = 96
"""Random combinations of the cues, rectified."""
LOCAL_CHANNELS = MID_CHANNELS + DEEP_CHANNELS + CUES + RANDOM


class Semantics(NamedTuple):
    """Frozen EfficientNet-Lite0 features of a photo of NET_SIZE."""

    mid: torch.Tensor
    """(B, 40, 14, 14)"""
    deep: torch.Tensor
    """(B, 112, 7, 7)"""
    pooled: torch.Tensor
    """(B, 1280)"""


class Decomposition(NamedTuple):
    """What the network says of each pixel, (B, C, S, S)."""

    shade: torch.Tensor
    """(B, 3, S, S) log of photo / albedo, in sRGB values."""
    cover: torch.Tensor
    """(B, 1, S, S) share of `color` in the albedo."""
    color: torch.Tensor
    """(B, 3, S, S) sRGB in [0, 1]."""
    roughness: torch.Tensor
    """(B, 1, S, S) in [0, 1]."""
    metallic_logit: torch.Tensor
    """(B, 1, S, S)"""

    @property
    def metallic(self) -> torch.Tensor:
        """(B, 1, S, S) in [0, 1]: nearly 0 or 1, as real surfaces are."""
        return torch.sigmoid(METALLIC_GAIN * self.metallic_logit)

    def albedo(self, rgb: torch.Tensor) -> torch.Tensor:
        """SRGB albedo (B, 3, S, S) of the photo (B, 3, S, S)."""
        lit = rgb * torch.exp(-self.shade)
        return lit + self.cover * (self.color - lit)


class Block(nn.Module):
    """Residual block: two 3x3 convolutions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(width // 8, width)
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)  # type: ignore[arg-type]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, C, H, W) to the same."""
        return x + self.second(functional.silu(self.first(functional.silu(self.norm(x)))))


class Up(nn.Module):
    """Twice the size, plus what the encoder saw there."""

    def __init__(self, width: int, skip: int, out: int) -> None:
        super().__init__()
        self.deep = nn.Conv2d(width, out, 1)
        self.skip = nn.Conv2d(skip, out, 1)
        self.block = Block(out)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        """X (B, C, H, W) and skip (B, K, 2H, 2W) to (B, out, 2H, 2W)."""
        x = functional.interpolate(self.deep(x), scale_factor=2.0, mode="bilinear")
        return self.block(x + self.skip(skip))


class PBRNet(nn.Module):
    """Photo to albedo, roughness and metallic.

    Args:
        widths: Channels at strides 2, 4, 8 and 16.
        blocks: Residual blocks at strides 8 and 16.
    """

    def __init__(self, widths: tuple[int, ...] = (16, 40, 96, 160), blocks: int = 1) -> None:
        super().__init__()
        self.config = {"widths": list(widths), "blocks": blocks}
        a, b, c, d = widths
        self.stem = nn.Conv2d(6, a, 4, 2, 1)
        self.down4 = nn.Conv2d(a, b, 2, 2)
        self.block4 = Block(b)
        self.down8 = nn.Conv2d(b, c, 2, 2)
        self.mid_in = nn.Conv2d(MID_CHANNELS, c, 1)
        self.block8 = nn.Sequential(*(Block(c) for _ in range(blocks)))
        self.down16 = nn.Conv2d(c, d, 2, 2)
        self.deep_in = nn.Conv2d(DEEP_CHANNELS, d, 1)
        self.pooled_in = nn.Linear(POOLED_CHANNELS + 4, d)
        self.block16 = nn.Sequential(*(Block(d) for _ in range(blocks)))
        # A first answer, linear in global and local features: log shading per channel, logits of
        # roughness and metallic. Fitted in closed form, then left alone: the rest of the network
        # learns what it misses.
        self.whole = nn.Linear(POOLED_CHANNELS + 4, 5).requires_grad_(False)
        self.local = nn.Conv2d(LOCAL_CHANNELS, 5, 1).requires_grad_(False)
        self.random = nn.Conv2d(CUES, RANDOM, 1).requires_grad_(False)
        for layer in (self.whole, self.local):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        nn.init.normal_(self.random.weight, std=1.0)
        nn.init.normal_(self.random.bias, std=0.5)  # type: ignore[arg-type]
        self.up8 = Up(d, c, c)
        self.up4 = Up(c, b, b)
        # Two streams: albedo goes on to stride 2, materials vary less.
        self.albedo_up = Up(b, a, a)
        self.albedo_out = nn.Conv2d(a, 7, 3, padding=1)
        self.material = Block(b)
        self.material_out = nn.Conv2d(b, 2, 3, padding=1)
        for layer in (self.albedo_out, self.material_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, rgb: torch.Tensor, mask: torch.Tensor, semantics: Semantics) -> Decomposition:
        """Decompose photos.

        Args:
            rgb: (B, 3, S, S) sRGB in [0, 1], on white; S a multiple of 16.
            mask: (B, 1, S, S) coverage.
            semantics: Of the same photos.
        """
        size = rgb.shape[-1]
        line = torch.linspace(-1.0, 1.0, size, device=rgb.device)
        down = line.view(1, 1, size, 1).expand(len(rgb), 1, size, size)
        light = (rgb * mask).clamp(min=0.02).log() * 0.5  # shading is additive in the logarithm
        x2 = self.stem(torch.cat([light, mask, rgb.mean(1, True), down], dim=1))
        x4 = self.block4(self.down4(x2))
        x8 = self.block8(self.down8(x4) + _fit(self.mid_in(semantics.mid), size // 8))
        summary = summarize(rgb, mask, semantics.pooled)
        deep = self.down16(x8) + _fit(self.deep_in(semantics.deep), size // 16)
        x16 = self.block16(deep + self.pooled_in(summary)[..., None, None])
        trunk = self.up4(self.up8(x16, x8), x4)
        albedo = self.albedo_out(functional.silu(self.albedo_up(trunk, x2)))
        material = self.material_out(functional.silu(self.material(trunk)))
        albedo, material = _fit(albedo, size), _fit(material, size)
        first = self.local(self.local_features(rgb, mask, semantics))
        first = _fit(first + self.whole(summary)[..., None, None], size)
        shade, material = albedo[:, :3] + first[:, :3], material + first[:, 3:]
        return Decomposition(
            SHADE_LIMIT * torch.tanh(shade / SHADE_LIMIT),
            albedo[:, 3:4].clamp(0.0, 1.0),  # 0 before training, and still with a gradient
            torch.sigmoid(albedo[:, 4:]),
            torch.sigmoid(material[:, :1]),
            material[:, 1:],
        )

    def local_features(
        self, rgb: torch.Tensor, mask: torch.Tensor, semantics: Semantics
    ) -> torch.Tensor:
        """What the first answer's local part is linear in: (B, LOCAL_CHANNELS, S / 4, S / 4)."""
        cues = local_cues(rgb, mask)
        maps = (_fit(semantics.mid, cues.shape[-1]), _fit(semantics.deep, cues.shape[-1]))
        return torch.cat([*maps, cues, functional.relu(self.random(cues))], dim=1)


def local_cues(rgb: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Brightness and colour of a place against its surroundings: (B, CUES, S / 4, S / 4)."""
    size = rgb.shape[-1] // 4
    weight = functional.avg_pool2d(mask, 4)
    small = functional.avg_pool2d(rgb * mask, 4) / weight.clamp(min=1e-3)
    light = small.clamp(min=0.02).log() * (weight > 1e-3)
    grey = light.mean(dim=1, keepdim=True)
    cues = [light, small.amax(1, True) - small.amin(1, True), small, grey.square()]
    for reach in (3, 7, 15, 2 * size - 1):
        total = functional.avg_pool2d(weight, reach, 1, reach // 2).clamp(min=1e-4)
        around = functional.avg_pool2d(grey * weight, reach, 1, reach // 2) / total
        cues += [grey - around, (grey - around).relu()]
    line = torch.linspace(-1.0, 1.0, size, device=rgb.device)
    down = line.view(1, 1, size, 1).expand(len(rgb), 1, size, size)
    mean = (down * weight).sum(dim=(2, 3), keepdim=True) / weight.sum(dim=(2, 3), keepdim=True)
    return torch.cat([*cues, down - mean, weight, down.square()], dim=1)


def summarize(rgb: torch.Tensor, mask: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
    """Global features (B, 1284): the encoder's, the object's mean colour and its share."""
    inside = mask.sum(dim=(2, 3)).clamp(min=1.0)
    mean = (rgb * mask).sum(dim=(2, 3)) / inside  # (B, 3)
    return torch.cat([pooled, mean, inside / rgb.shape[-1] ** 2], dim=1)


def semantics_of(rgb: torch.Tensor, encoder: object) -> Semantics:
    """Frozen features of photos (B, 3, NET_SIZE, NET_SIZE)."""
    with torch.no_grad():
        maps = encoder.features(rgb)  # type: ignore[attr-defined]
    return Semantics(maps.stride8, maps.stride16, maps.pooled)


def _fit(maps: torch.Tensor, size: int) -> torch.Tensor:
    if maps.shape[-1] == size:
        return maps
    return functional.interpolate(maps, (size, size), mode="bilinear")
