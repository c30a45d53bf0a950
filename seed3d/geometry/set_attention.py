"""Transformer blocks of the VecSet models, with the parameter names of the published weights.

Written from the published weights' names and shapes and from the papers: 3DShape2VecSet
(arXiv:2301.11445), TripoSG (arXiv:2502.06608).
"""

from __future__ import annotations

import torch
from diffusers.models.attention import FeedForward
from diffusers.models.normalization import FP32LayerNorm
from torch import nn
from torch.nn import functional

NORM_EPS = 1e-5


class SetAttention(nn.Module):
    """Attention over a set, to itself or to another set.

    The published weights interleave the projections head by head: queries, keys and values are
    concatenated by channel first and cut into heads after, so that head h of a query is not
    channels [h d, (h + 1) d] of ``to_q``. A split per projection computes another function.

    Args:
        width: Width D of the tokens that ask.
        heads: Attention heads H; D = H d.
        cross_width: Width of the tokens that are asked; None for self-attention.
        qk_norm: RMS normalisation of queries and keys per head.
        norm_cross: LayerNorm of the tokens that are asked.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        cross_width: int | None = None,
        qk_norm: bool = False,
        norm_cross: bool = False,
    ) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of the {heads} heads")
        self.heads, self.cross = heads, cross_width is not None
        source = width if cross_width is None else cross_width
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(source, width, bias=False)
        self.to_v = nn.Linear(source, width, bias=False)
        self.to_out = nn.ModuleList([nn.Linear(width, width)])
        self.norm_q = nn.RMSNorm(width // heads, eps=1e-6) if qk_norm else None
        self.norm_k = nn.RMSNorm(width // heads, eps=1e-6) if qk_norm else None
        self.norm_cross = FP32LayerNorm(source, eps=NORM_EPS) if norm_cross else None

    def forward(self, x: torch.Tensor, context: torch.Tensor | None = None) -> torch.Tensor:
        """X (B, N, D) attends to context (B, M, C), or to itself where that's None."""
        if (context is not None) != self.cross:
            raise ValueError(
                f"context: got {type(context).__name__}; cross-attention: {self.cross}"
            )
        source = x if context is None else context
        if self.norm_cross is not None:
            source = self.norm_cross(source)
        k, v = self.keys(source) if self.cross else (None, None)
        return self.attend(x, k, v)

    def keys(self, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values (B, H, M, d) of cross-attention; `source` already normalised."""
        joint = torch.cat([self.to_k(source), self.to_v(source)], dim=-1)  # (B, M, 2 D)
        k, v = joint.unflatten(-1, (self.heads, -1)).transpose(1, 2).chunk(2, dim=-1)
        return (k if self.norm_k is None else self.norm_k(k)), v

    def attend(
        self, x: torch.Tensor, k: torch.Tensor | None, v: torch.Tensor | None
    ) -> torch.Tensor:
        """Attention of x (B, N, D) with the keys of `keys`, or its own where they're None."""
        if k is None or v is None:
            joint = torch.cat([self.to_q(x), self.to_k(x), self.to_v(x)], dim=-1)  # (B, N, 3 D)
            q, k, v = joint.unflatten(-1, (self.heads, -1)).transpose(1, 2).chunk(3, dim=-1)
            if self.norm_k is not None:
                k = self.norm_k(k)
        else:
            q = self.to_q(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # (B, H, N, d)
        q = q if self.norm_q is None else self.norm_q(q)
        assert k is not None and v is not None
        k, v = k.to(q.dtype), v.to(q.dtype)
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.to_out[0](y.transpose(1, 2).flatten(2))


class SetBlock(nn.Module):
    """Pre-norm block: self-attention, cross-attention (each optional), feed-forward.

    Args:
        width: Width D of the tokens.
        heads: Attention heads.
        self_attention: Has ``norm1`` and ``attn1``.
        cross_width: Width of the tokens that are asked; None has no ``norm2`` and ``attn2``.
        qk_norm: As in SetAttention.
        norm_cross: As in SetAttention.
        skip: Takes a long skip connection: ``skip_linear`` and ``skip_norm``.
    """

    def __init__(
        self,
        width: int,
        heads: int,
        *,
        self_attention: bool = True,
        cross_width: int | None = None,
        qk_norm: bool = False,
        norm_cross: bool = False,
        skip: bool = False,
    ) -> None:
        super().__init__()
        if self_attention:
            self.norm1 = FP32LayerNorm(width, eps=NORM_EPS)
            self.attn1 = SetAttention(width, heads, qk_norm=qk_norm)
        if cross_width is not None:
            self.norm2 = FP32LayerNorm(width, eps=NORM_EPS)
            self.attn2 = SetAttention(width, heads, cross_width, qk_norm, norm_cross)
        self.norm3 = FP32LayerNorm(width, eps=NORM_EPS)
        self.ff = FeedForward(width, activation_fn="gelu")
        if skip:
            self.skip_linear = nn.Linear(2 * width, width)
            self.skip_norm = FP32LayerNorm(width, eps=NORM_EPS)
        self.has_self, self.has_cross = self_attention, cross_width is not None

    def forward(
        self,
        x: torch.Tensor,
        context: torch.Tensor | None = None,
        skip: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """X (B, N, D), context (B, M, C), skip (B, N, D)."""
        if skip is not None:
            x = self.skip_norm(self.skip_linear(torch.cat([skip, x], dim=-1)))
        if self.has_self:
            x = x + self.attn1(self.norm1(x))
        if self.has_cross:
            x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))
