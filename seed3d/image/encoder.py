"""EfficientNet-Lite0 as a frozen image encoder.

The network is EfficientNet-B0 (Tan and Le, arXiv:1905.11946, table 1) in its "Lite" variant:
no squeeze-and-excitation, ReLU6 instead of swish, stem and head of fixed width. BatchNorm is
folded into the convolutions, so it's an inference network.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from seed3d.checkpoints import load_state, load_strict

MODEL = "efficientnet-lite0"
# Not ImageNet's mean and deviation: the Lite models were trained on (x - 127) / 128, x in 0..255.
MEAN = 127.0 / 255.0
STD = 128.0 / 255.0

# Table 1 of the paper: expansion, channels, layers, stride, kernel.
STAGES = (
    (1, 16, 1, 1, 3),
    (6, 24, 2, 2, 3),
    (6, 40, 2, 2, 5),
    (6, 80, 3, 2, 3),
    (6, 112, 3, 1, 5),
    (6, 192, 4, 2, 5),
    (6, 320, 1, 1, 3),
)
STEM_CHANNELS = 32
HEAD_CHANNELS = 1280
CLASSES = 1000


class Features(NamedTuple):
    """Feature maps of a batch of N images of H x W pixels."""

    stride8: Tensor
    """(N, 40, H/8, W/8)"""
    stride16: Tensor
    """(N, 112, H/16, W/16)"""
    stride32: Tensor
    """(N, 320, H/32, W/32)"""
    pooled: Tensor
    """(N, 1280): mean of the head over the image."""


class SamePadConv(nn.Conv2d):
    """Convolution with TensorFlow's SAME padding: output side = ceil(input side / stride)."""

    def forward(self, x: Tensor) -> Tensor:  # (N, C, H, W)
        """Pad (more at the right and bottom where it's uneven), then convolve."""
        kernel, stride = self.kernel_size[0], self.stride[0]
        pads = []
        for side in (x.shape[-1], x.shape[-2]):
            total = max((-(-side // stride) - 1) * stride + kernel - side, 0)
            pads += [total // 2, total - total // 2]
        return super().forward(functional.pad(x, pads))


class Block(nn.Module):
    """Inverted residual: 1x1 expand, depthwise, 1x1 project without activation."""

    def __init__(self, c_in: int, c_out: int, expansion: int, stride: int, kernel: int) -> None:
        super().__init__()
        mid = c_in * expansion
        self.expand = nn.Conv2d(c_in, mid, 1) if expansion > 1 else None
        self.depthwise = SamePadConv(c_in * expansion, mid, kernel, stride, groups=mid)
        self.project = nn.Conv2d(mid, c_out, 1)
        self.residual = stride == 1 and c_in == c_out

    def forward(self, x: Tensor) -> Tensor:  # (N, c_in, H, W) -> (N, c_out, H/s, W/s)
        """Apply the block."""
        y = x if self.expand is None else functional.relu6(self.expand(x))
        y = self.project(functional.relu6(self.depthwise(y)))
        return x + y if self.residual else y


class EfficientNetLite0(nn.Module):
    """The network; sRGB in [0, 1] in, features or class logits out."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = SamePadConv(3, STEM_CHANNELS, 3, 2)
        stages, channels = [], STEM_CHANNELS
        for expansion, c_out, layers, stride, kernel in STAGES:
            blocks = []
            for i in range(layers):
                blocks.append(Block(channels, c_out, expansion, stride if i == 0 else 1, kernel))
                channels = c_out
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.ModuleList(stages)
        self.head = nn.Conv2d(channels, HEAD_CHANNELS, 1)
        self.classifier = nn.Linear(HEAD_CHANNELS, CLASSES)

    def features(self, rgb: Tensor) -> Features:
        """Encode a batch.

        Args:
            rgb: (N, 3, H, W) float, sRGB in [0, 1]; any size, 224 is what it was trained on.

        Returns:
            Maps at strides 8, 16, 32 and the pooled vector.

        Raises:
            ValueError: Wrong shape.
        """
        if rgb.ndim != 4 or rgb.shape[1] != 3:
            raise ValueError(f"rgb: got shape {tuple(rgb.shape)}; wanted (N, 3, H, W)")
        x = functional.relu6(self.stem((rgb - MEAN) / STD))
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        pooled = functional.relu6(self.head(x)).mean(dim=(2, 3))  # (N, 1280)
        return Features(maps[2], maps[4], maps[6], pooled)

    def forward(self, rgb: Tensor) -> Tensor:
        """Return the logits (N, 1000) of the ImageNet-1k classes."""
        return self.classifier(self.features(rgb).pooled)


@lru_cache(maxsize=2)
def load_encoder(device: str = "cpu") -> EfficientNetLite0:
    """Return the pretrained encoder, frozen, in evaluation mode; loaded once per device.

    Raises:
        CheckpointError: The weight file is missing or damaged.
    """
    state, _ = load_state(MODEL)
    model = EfficientNetLite0()
    load_strict(model, state, MODEL)
    return model.requires_grad_(False).to(device)


@torch.no_grad()
def features(rgb: Tensor) -> Features:
    """Encode (N, 3, H, W) float sRGB in [0, 1] with the pretrained encoder, on its device."""
    return load_encoder(str(rgb.device)).features(rgb.float())
