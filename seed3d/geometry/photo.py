"""What the geometry models see of a photo, computed alike for training and for use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

ENCODER_SIZE = 224
LOCAL_SIZE = 56
MASK_REACH = 0.25
"""The mask's signed distance is clipped to this [crop units] and divided by it."""


class PhotoFeatures(NamedTuple):
    """A batch of photos as features. Maps cover the crop, row 0 at its top."""

    mid: torch.Tensor
    """(B, 112, 14, 14) encoder features at stride 16."""
    deep: torch.Tensor
    """(B, 320, 7, 7) encoder features at stride 32."""
    pooled: torch.Tensor
    """(B, 1280) global encoder features."""
    local: torch.Tensor
    """(B, 4, 56, 56): RGB in [-1, 1], and the mask's signed distance in [-1, 1], inside < 0."""

    def take(self, index: torch.Tensor) -> PhotoFeatures:
        """The photos at `index`, in float32."""
        return PhotoFeatures(*(value[index].float() for value in self))


def local_maps(rgb: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """RGB and signed mask distance at LOCAL_SIZE, (4, 56, 56) float32.

    Args:
        rgb: (S, S, 3) in [0, 1], on white; S a multiple of LOCAL_SIZE.
        mask: (S, S) in [0, 1].
    """
    from scipy import ndimage

    solid = mask > 0.5
    size = len(mask)
    if not solid.any():
        raise ValueError("mask is empty; wanted at least one pixel over 0.5")
    outside = np.asarray(ndimage.distance_transform_edt(~solid))
    inside = np.asarray(ndimage.distance_transform_edt(solid))
    distance = (outside - inside) * (2.0 / size) / MASK_REACH
    stack = np.concatenate([rgb * 2.0 - 1.0, np.clip(distance, -1, 1)[..., None]], axis=-1)
    cell = size // LOCAL_SIZE
    small = stack.reshape(LOCAL_SIZE, cell, LOCAL_SIZE, cell, 4).mean(axis=(1, 3))
    return small.transpose(2, 0, 1).astype(np.float32)


def encode_photo(rgb: np.ndarray, mask: np.ndarray, encoder: Any) -> PhotoFeatures:
    """Features of one photo (S, S, 3) on white with its mask (S, S).

    Args:
        rgb: sRGB in [0, 1].
        mask: Coverage in [0, 1].
        encoder: `seed3d.image.encoder.load_encoder()`.
    """
    stacked = torch.from_numpy(np.dstack([rgb, mask]).astype(np.float32)).permute(2, 0, 1)[None]
    if stacked.shape[-1] != ENCODER_SIZE:
        size = (ENCODER_SIZE, ENCODER_SIZE)
        stacked = functional.interpolate(stacked, size, mode="bilinear", antialias=True)
    small = stacked[0].permute(1, 2, 0).numpy()
    with torch.no_grad():
        maps = encoder.features(stacked[:, :3])
    local = torch.from_numpy(local_maps(small[..., :3], small[..., 3]))[None]
    return PhotoFeatures(maps.stride16, maps.stride32, maps.pooled, local)
