"""Rectified-flow diffusion transformer over VecSet tokens, as TripoSG publishes it.

Self-attention over the tokens and the time, cross-attention to the photo's tokens, long skip
connections from the first half to the second (arXiv:2502.06608); the published parameter names.
"""

from __future__ import annotations

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from diffusers.models.embeddings import TimestepEmbedding, get_timestep_embedding
from diffusers.models.normalization import FP32LayerNorm
from torch import nn

from seed3d.geometry.set_attention import NORM_EPS, SetBlock


class VecSetDiT(ModelMixin, ConfigMixin):
    """Predicts the velocity (clean - noise) of latents; published names and option names.

    Args:
        num_attention_heads: Attention heads.
        width: Width D.
        in_channels: Numbers per token C.
        num_layers: Blocks; an odd number, the middle one has no skip connection.
        cross_attention_dim: Width of the photo's tokens.
    """

    @register_to_config
    def __init__(
        self,
        num_attention_heads: int = 16,
        width: int = 2048,
        in_channels: int = 64,
        num_layers: int = 21,
        cross_attention_dim: int = 1024,
    ) -> None:
        super().__init__()
        self.time_proj = TimestepEmbedding(width, 4 * width, act_fn="gelu", out_dim=width)
        self.proj_in = nn.Linear(in_channels, width)
        self.blocks = nn.ModuleList(
            SetBlock(
                width,
                num_attention_heads,
                cross_width=cross_attention_dim,
                qk_norm=True,
                skip=i > num_layers // 2,
            )
            for i in range(num_layers)
        )
        self.norm_out = FP32LayerNorm(width, eps=NORM_EPS)
        self.proj_out = nn.Linear(width, in_channels)

    def forward(
        self, latents: torch.Tensor, timestep: torch.Tensor, condition: torch.Tensor
    ) -> torch.Tensor:
        """Velocity (B, T, C) at latents (B, T, C).

        Args:
            latents: (1 - s) clean + s noise.
            timestep: (B,) 1000 s.
            condition: (B, P, cross_attention_dim) tokens of the photo; zeros for none.
        """
        wave = get_timestep_embedding(
            timestep, self.config.width, flip_sin_to_cos=False, downscale_freq_shift=0
        )
        time = self.time_proj(wave.to(latents.dtype))[:, None]  # (B, 1, D)
        x = torch.cat([time, self.proj_in(latents)], dim=1)  # (B, 1 + T, D)
        skips: list[torch.Tensor] = []
        half = len(self.blocks) // 2
        for i, block in enumerate(self.blocks):
            x = block(x, condition, skips.pop() if i > half else None)
            if i < half:
                skips.append(x)
        return self.proj_out(self.norm_out(x)[:, 1:])
