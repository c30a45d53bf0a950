"""A perceptual distance between pictures: differences of a classifier's features.

In the manner of LPIPS (Zhang et al., arXiv:1801.03924, eq. 1, without its learned weights):
feature maps are scaled to unit length at each place, and their squared differences averaged over
places and summed over layers. The network is the bundled EfficientNet-Lite0, not the ones that
LPIPS was fitted on, so figures compare with each other, not with published LPIPS figures.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LAYERS = (0, 1, 2, 4, 6)
"""Stages of the encoder that are compared: strides 2, 4, 8, 16, 32."""


def perceptual_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distance (N,) of N pairs of pictures: 0 for equal ones, 1 for unrelated ones.

    Args:
        a: (N, H, W, 3) float sRGB in [0, 1], both sides at least 32.
        b: Alike.

    Raises:
        ValueError: The shapes differ.
        CheckpointError: The encoder's weights are missing or damaged.
    """
    import torch

    if a.shape != b.shape or a.ndim != 4 or a.shape[-1] != 3:
        raise ValueError(f"pictures: got {a.shape} and {b.shape}; wanted (N, H, W, 3) twice")
    both = torch.from_numpy(np.concatenate([a, b]).astype(np.float32)).permute(0, 3, 1, 2)
    total = np.zeros(len(a))
    with torch.no_grad():
        for maps in _layers(both.contiguous()):
            unit = maps / (maps.square().sum(dim=1, keepdim=True).sqrt() + 1e-6)
            gap = (unit[: len(a)] - unit[len(a) :]).square().sum(dim=1)  # (N, h, w), 0 to 4
            total += gap.mean(dim=(1, 2)).numpy().astype(np.float64)
    return total / len(LAYERS)


def _layers(rgb: Any) -> list[Any]:
    """Feature maps of LAYERS, less their mean over ImageNet-like inputs' own places."""
    from torch.nn import functional

    from seed3d.image.encoder import MEAN, STD, load_encoder

    encoder = load_encoder()
    x = functional.relu6(encoder.stem((rgb - MEAN) / STD))
    maps = []
    for index, stage in enumerate(encoder.stages):
        x = stage(x)
        if index in LAYERS:
            maps.append(x)
    return maps
