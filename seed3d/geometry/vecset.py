"""VecSet VAE: points on a surface to a set of latent tokens, and those to a signed distance field.

The architecture of 3DShape2VecSet (arXiv:2301.11445) as TripoSG publishes it (arXiv:2502.06608);
same parameter names, so published weights load strictly. With ``salient=True`` it's the Seed3D
paper's and Dora's (arXiv:2412.17808): a second cross-attention reads points on sharp edges.
Tokens carry no position, so any number of them can be encoded and decoded by one model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from diffusers.models.normalization import FP32LayerNorm
from torch import nn

from seed3d.geometry.points import farthest_points, gathered
from seed3d.geometry.set_attention import NORM_EPS, SetBlock

QUERY_CHUNK = 8192
"""Most query points decoded at once: attention to all tokens needs memory for each."""


@dataclass(frozen=True)
class LatentDistribution:
    """Diagonal normal distribution of latents, mean and log variance (B, T, C)."""

    mean: torch.Tensor
    logvar: torch.Tensor

    def sample(self, noise: torch.Tensor | None = None) -> torch.Tensor:
        """A sample (B, T, C); `noise` is standard normal, drawn where it's None."""
        noise = torch.randn_like(self.mean) if noise is None else noise
        return self.mean + noise * (0.5 * self.logvar).exp()

    def kl(self) -> torch.Tensor:
        """Kullback-Leibler divergence to the standard normal, mean over numbers, (B,)."""
        terms = self.mean.square() + self.logvar.exp() - 1.0 - self.logvar
        return 0.5 * terms.flatten(1).mean(dim=1)


def frequencies(points: torch.Tensor, count: int, include_pi: bool) -> torch.Tensor:
    """Fourier features [x, sin(2^k x), cos(2^k x)], (..., 3) to (..., 3 + 6 count)."""
    scale = 2.0 ** torch.arange(count, device=points.device, dtype=points.dtype)
    if include_pi:
        scale = scale * torch.pi
    angle = (points[..., None] * scale).flatten(-2)  # (..., 3 count), point-major
    return torch.cat([points, angle.sin(), angle.cos()], dim=-1)


class SetEncoder(nn.Module):
    """Token queries read the surface, then each other."""

    def __init__(self, inputs: int, width: int, heads: int, layers: int, salient: bool) -> None:
        super().__init__()
        self.proj_in = nn.Linear(inputs, width)
        first = SetBlock(width, heads, self_attention=False, cross_width=width, norm_cross=True)
        self.blocks = nn.ModuleList([first, *(SetBlock(width, heads) for _ in range(layers))])
        self.norm_out = FP32LayerNorm(width, eps=NORM_EPS)
        self.salient_block = (
            SetBlock(width, heads, self_attention=False, cross_width=width, norm_cross=True)
            if salient
            else None
        )

    def forward(
        self, query: torch.Tensor, surface: torch.Tensor, salient: torch.Tensor | None
    ) -> torch.Tensor:
        """Embedded queries (B, T, I), surface (B, P, I), salient (B, S, I) to (B, T, D)."""
        q = self.proj_in(query)
        x = self.blocks[0](q, self.proj_in(surface))
        if self.salient_block is not None and salient is not None:
            x = 0.5 * (x + self.salient_block(q, self.proj_in(salient)))
        for block in self.blocks[1:]:
            x = block(x)
        return self.norm_out(x)


class SetDecoder(nn.Module):
    """Tokens exchange, then query points read them."""

    def __init__(self, inputs: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        last = SetBlock(width, heads, self_attention=False, cross_width=width, norm_cross=True)
        self.blocks = nn.ModuleList([*(SetBlock(width, heads) for _ in range(layers)), last])
        self.proj_query = nn.Linear(inputs, width)
        self.norm_out = FP32LayerNorm(width, eps=NORM_EPS)
        self.proj_out = nn.Linear(width, 1)

    def tokens(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values that every query point reads; computed once per shape."""
        for block in self.blocks[:-1]:
            x = block(x)
        last: Any = self.blocks[-1]
        return last.attn2.keys(last.attn2.norm_cross(x))

    def read(self, query: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Embedded query points (B, N, I) to values (B, N), negative inside."""
        last: Any = self.blocks[-1]
        x = self.proj_query(query)
        x = x + last.attn2.attend(last.norm2(x), k, v)
        x = x + last.ff(last.norm3(x))
        return self.proj_out(self.norm_out(x))[..., 0]


class VecSetVAE(ModelMixin, ConfigMixin):
    """Variational autoencoder of shapes as sets of tokens; published names and option names.

    Args:
        in_channels: Coordinates of a point.
        latent_channels: Numbers per token C.
        num_attention_heads: Attention heads of both halves.
        width_encoder: Width of the encoder.
        width_decoder: Width of the decoder.
        num_layers_encoder: Self-attention blocks of the encoder.
        num_layers_decoder: Self-attention blocks of the decoder.
        embedding_type: "frequency", the only one.
        embed_frequency: Fourier frequencies 2^0 ... 2^(n - 1) of coordinates.
        embed_include_pi: Multiply frequencies by pi.
        salient: Second cross-attention to points on sharp edges (not in the published weights).
        truncation: The decoder's value 1 in canonical units: distances over it are clipped in
            training (TSDF). 1 for weights that predict plain distances.
    """

    @register_to_config
    def __init__(
        self,
        in_channels: int = 3,
        latent_channels: int = 64,
        num_attention_heads: int = 8,
        width_encoder: int = 512,
        width_decoder: int = 1024,
        num_layers_encoder: int = 8,
        num_layers_decoder: int = 16,
        embedding_type: str = "frequency",
        embed_frequency: int = 8,
        embed_include_pi: bool = False,
        salient: bool = False,
        truncation: float = 1.0,
    ) -> None:
        super().__init__()
        if embedding_type != "frequency":
            raise ValueError(f"embedding_type: got {embedding_type!r}; wanted 'frequency'")
        point = in_channels * (1 + 2 * embed_frequency)
        heads = num_attention_heads
        self.encoder = SetEncoder(point + 3, width_encoder, heads, num_layers_encoder, salient)
        self.quant = nn.Linear(width_encoder, 2 * latent_channels)
        self.post_quant = nn.Linear(latent_channels, width_decoder)
        self.decoder = SetDecoder(point, width_decoder, heads, num_layers_decoder)

    def embed(self, points: torch.Tensor) -> torch.Tensor:
        """Points (B, N, 3) or (B, N, 6) with normals to features; normals stay as they are."""
        features = frequencies(
            points[..., :3], self.config.embed_frequency, self.config.embed_include_pi
        )
        return torch.cat([features, points[..., 3:]], dim=-1)

    def encode(
        self,
        surface: torch.Tensor,
        tokens: int,
        salient: torch.Tensor | None = None,
        queries: torch.Tensor | None = None,
    ) -> LatentDistribution:
        """Encode points on surfaces.

        Args:
            surface: (B, P, 6) uniform points and unit normals, canonical frame.
            tokens: Number of latent tokens T.
            salient: (B, S, 6) points on sharp edges; half of the tokens start at them.
            queries: (B, T, 6) points to start the tokens from; by default farthest points.

        Raises:
            ValueError: The model reads salient points and got none.
        """
        if self.config.salient and salient is None:
            raise ValueError("salient: got None; this model reads points on edges as well")
        if queries is None:
            sets = [surface] if salient is None else [surface, salient]
            share = [tokens - tokens // 2, tokens // 2] if len(sets) == 2 else [tokens]
            queries = torch.cat(
                [
                    gathered(points, farthest_points(points[..., :3], n))
                    for points, n in zip(sets, share, strict=True)
                ],
                dim=1,
            )
        edges = None if salient is None else self.embed(salient)
        x = self.encoder(self.embed(queries), self.embed(surface), edges)
        mean, logvar = self.quant(x).chunk(2, dim=-1)
        return LatentDistribution(mean, logvar.clamp(-30.0, 20.0))

    def decode(self, latents: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        """Latents (B, T, C) and points (B, N, 3) to values (B, N), positive inside.

        The published decoders give the network's value times -1; `field` has this project's sign.
        """
        keys = self.decoder.tokens(self.post_quant(latents))
        return -self.decoder.read(self.embed(points), *keys)

    def field(
        self, latents: torch.Tensor, chunk: int = QUERY_CHUNK
    ) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return sdf(points (B, N, 3)) -> (B, N) [canonical units], negative inside.

        The tokens are decoded once here; the points in pieces of `chunk`.
        """
        k, v = self.decoder.tokens(self.post_quant(latents))

        def sdf(points: torch.Tensor) -> torch.Tensor:
            parts = [
                self.decoder.read(self.embed(piece), k, v) for piece in points.split(chunk, dim=1)
            ]
            return torch.cat(parts, dim=1) * self.config.truncation

        return sdf
