"""The Seed3D paper's flow transformer over VecSet tokens: double-stream, then single-stream blocks.

Same call as the published `VecSetDiT`: (latents, timestep, condition) -> velocity clean - noise.
The paper gives the kind of blocks and 1.5 B parameters, not their numbers and widths; those in
configs/train are this project's choice. Tokens carry no position, so any number of them goes.
"""

from __future__ import annotations

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from torch import nn

from seed3d.geometry.layers import DoubleBlock, Modulation, SingleBlock, run_streams, sinusoid


class StreamDiT(ModelMixin, ConfigMixin):
    """Rectified-flow transformer with joint attention of shape and photo tokens.

    Args:
        channels: Numbers per latent token C.
        condition_channels: Numbers per photo token; of several encoders, side by side.
        width: Width D.
        heads: Attention heads.
        double_blocks: Double-stream blocks.
        single_blocks: Single-stream blocks.
    """

    @register_to_config
    def __init__(
        self,
        channels: int = 64,
        condition_channels: int = 2304,
        width: int = 1536,
        heads: int = 12,
        double_blocks: int = 8,
        single_blocks: int = 24,
    ) -> None:
        super().__init__()
        self.proj_in = nn.Linear(channels, width)
        self.condition_in = nn.Linear(condition_channels, width)
        self.time_in = nn.Sequential(nn.Linear(256, width), nn.SiLU(), nn.Linear(width, width))
        self.double_stream = nn.ModuleList(DoubleBlock(width, heads) for _ in range(double_blocks))
        self.single_stream = nn.ModuleList(SingleBlock(width, heads) for _ in range(single_blocks))
        self.modulation_out = Modulation(width, 2)
        self.proj_out = nn.Linear(width, channels)
        nn.init.zeros_(self.proj_out.weight)
        nn.init.zeros_(self.proj_out.bias)

    def forward(
        self, latents: torch.Tensor, timestep: torch.Tensor, condition: torch.Tensor
    ) -> torch.Tensor:
        """Velocity (B, T, C) of latents (B, T, C) at timestep (B,) = 1000 s.

        Args:
            latents: (1 - s) clean + s noise.
            timestep: 1000 s.
            condition: (B, P, condition_channels); zeros for none.
        """
        x, tokens = self.proj_in(latents), self.condition_in(condition)
        vector = self.time_in(sinusoid(timestep, 256).to(latents.dtype)) + tokens.mean(dim=1)
        return run_streams(self, x, tokens, vector)
