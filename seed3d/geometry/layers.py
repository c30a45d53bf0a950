"""Attention, modulation and embeddings of the shape DiT (FLUX-like double and single streams)."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional


def sinusoid(value: torch.Tensor, width: int, period: float = 10_000.0) -> torch.Tensor:
    """Sinusoidal embedding of numbers (B,) to (B, width), for values around [0, 1000]."""
    half = width // 2
    frequency = torch.exp(-math.log(period) * torch.arange(half, device=value.device) / half)
    angle = value[:, None].float() * frequency
    return torch.cat([angle.cos(), angle.sin()], dim=-1)


class Attention(nn.Module):
    """Projections of one stream; `attend` joins the streams' queries, keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.norm_q = nn.RMSNorm(width // heads, eps=1e-6)
        self.norm_k = nn.RMSNorm(width // heads, eps=1e-6)
        self.out = nn.Linear(width, width)

    def project(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """(B, N, D) to normalised q, k and v, each (B, H, N, D / H)."""
        batch, count, width = x.shape
        qkv = self.qkv(x).view(batch, count, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # (3, B, H, N, D / H)
        return self.norm_q(q), self.norm_k(k), v


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Scaled dot-product attention, (B, H, N, d) to (B, N, H d)."""
    x = functional.scaled_dot_product_attention(q, k, v)
    return x.transpose(1, 2).flatten(2)


class MLP(nn.Sequential):
    """Two linear layers with GELU, four times wider inside."""

    def __init__(self, width: int) -> None:
        super().__init__(nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width))


class Modulation(nn.Module):
    """Shift, scale and gate from the conditioning vector (adaLN-zero); starts as the identity."""

    def __init__(self, width: int, parts: int) -> None:
        super().__init__()
        self.parts = parts
        self.linear = nn.Linear(width, parts * width)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, vector: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """(B, D) to `parts` tensors (B, 1, D)."""
        return self.linear(functional.silu(vector))[:, None].chunk(self.parts, dim=-1)


def _modulated(x: torch.Tensor, shift: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[-1:], eps=1e-6) * (1 + scale) + shift


class Stream(nn.Module):
    """One stream's own weights in a double-stream block."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.modulation = Modulation(width, 6)
        self.attention = Attention(width, heads)
        self.mlp = MLP(width)


class DoubleBlock(nn.Module):
    """Shape and photo tokens with separate weights and joint attention."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.shape = Stream(width, heads)
        self.photo = Stream(width, heads)

    def forward(
        self, shape: torch.Tensor, photo: torch.Tensor, vector: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Shape (B, T, D), photo (B, P, D), vector (B, D)."""
        streams = ((self.shape, shape), (self.photo, photo))
        parts = [stream.modulation(vector) for stream, _ in streams]
        qkv = [
            stream.attention.project(_modulated(x, p[0], p[1]))
            for (stream, x), p in zip(streams, parts, strict=True)
        ]
        q, k, v = (torch.cat(group, dim=2) for group in zip(*qkv, strict=True))
        joint = attend(q, k, v).split([shape.shape[1], photo.shape[1]], dim=1)
        outputs = []
        for (stream, x), p, mixed in zip(streams, parts, joint, strict=True):
            x = x + p[2] * stream.attention.out(mixed)
            outputs.append(x + p[5] * stream.mlp(_modulated(x, p[3], p[4])))
        return outputs[0], outputs[1]


class SingleBlock(nn.Module):
    """All tokens in one stream; attention and MLP side by side."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.modulation = Modulation(width, 3)
        self.attention = Attention(width, heads)
        self.mlp = MLP(width)

    def forward(self, x: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        """X (B, T + P, D), vector (B, D)."""
        shift, scale, gate = self.modulation(vector)
        y = _modulated(x, shift, scale)
        return x + gate * (self.attention.out(attend(*self.attention.project(y))) + self.mlp(y))


def run_streams(
    model: Any, x: torch.Tensor, tokens: torch.Tensor, vector: torch.Tensor
) -> torch.Tensor:
    """Carry shape tokens x (B, T, D) and photo tokens (B, P, D) through a model's blocks.

    `model` has double_stream, single_stream, modulation_out and proj_out; `vector` is (B, D).

    Returns:
        (B, T, C): what proj_out makes of the shape tokens.
    """
    count = x.shape[1]
    for block in model.double_stream:
        x, tokens = block(x, tokens, vector)
    both = torch.cat([x, tokens], dim=1)  # (B, T + P, D)
    for block in model.single_stream:
        both = block(both, vector)
    shift, scale = model.modulation_out(vector)
    normal = functional.layer_norm(both[:, :count], x.shape[-1:], eps=1e-6)
    return model.proj_out(normal * (1 + scale) + shift)
