"""Rectified-flow diffusion transformer over the tokens of a shape, conditioned on a photo.

As in the Seed3D paper: double-stream blocks (shape and photo tokens, joint attention), then
single-stream blocks. Two things are this project's own, for models small enough for a CPU:
every shape token also sees the photo where its block projects through the estimated camera, and
the network predicts the clean latent, from which the velocity follows (after "Back to Basics:
Let Denoising Generative Models Denoise", arXiv:2511.13720).
"""

from __future__ import annotations

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config
from torch import nn
from torch.nn import functional

from seed3d.geometry import cameras as cam
from seed3d.geometry.layers import DoubleBlock, Modulation, SingleBlock, run_streams, sinusoid
from seed3d.geometry.photo import PhotoFeatures

MID_CHANNELS, DEEP_CHANNELS, POOLED_CHANNELS, LOCAL_CHANNELS = 112, 320, 1280, 4


def block_points(tokens_per_side: int, per_side: int) -> torch.Tensor:
    """Sample points of every block (T * per_side^3, 3), token-major."""
    n, k = tokens_per_side, per_side
    axis = (torch.arange(n * k) + 0.5) / (n * k) * 2 - 1
    points = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), dim=-1)
    cut = points.reshape(n, k, n, k, n, k, 3).permute(0, 2, 4, 1, 3, 5, 6)
    return cut.reshape(-1, 3)


class ShapeDiT(ModelMixin, ConfigMixin):
    """Predicts the clean latents of a shape from noisy ones.

    Args:
        tokens_per_side: Blocks along a side of the cube; T = tokens_per_side^3.
        channels: Numbers per token C.
        width: Width of the transformer D.
        heads: Attention heads.
        double_blocks: Double-stream blocks.
        single_blocks: Single-stream blocks.
    """

    @register_to_config
    def __init__(
        self,
        tokens_per_side: int = 4,
        channels: int = 256,
        width: int = 256,
        heads: int = 4,
        double_blocks: int = 2,
        single_blocks: int = 6,
    ) -> None:
        super().__init__()
        tokens = tokens_per_side**3
        self.proj_in = nn.Linear(channels, width)
        self.position = nn.Parameter(torch.randn(tokens, width) * 0.02)
        self.photo_position = nn.Parameter(torch.randn(4, width) * 0.02)
        self.null_photo = nn.Parameter(torch.zeros(5, width))
        self.null_local = nn.Parameter(torch.zeros(width))
        self.fine_in = nn.Linear(64 * LOCAL_CHANNELS, width)
        self.mid_in = nn.Linear(8 * MID_CHANNELS, width)
        self.where_in = nn.Linear(3, width)
        self.deep_in = nn.Linear(DEEP_CHANNELS, width)
        self.pooled_in = nn.Linear(POOLED_CHANNELS, width)
        self.camera_in = nn.Sequential(nn.Linear(7, width), nn.SiLU(), nn.Linear(width, width))
        self.time_in = nn.Sequential(nn.Linear(256, width), nn.SiLU(), nn.Linear(width, width))
        self.double_stream = nn.ModuleList(DoubleBlock(width, heads) for _ in range(double_blocks))
        self.single_stream = nn.ModuleList(SingleBlock(width, heads) for _ in range(single_blocks))
        self.modulation_out = Modulation(width, 2)
        self.proj_out = nn.Linear(width, channels)
        nn.init.zeros_(self.proj_out.weight)
        nn.init.zeros_(self.proj_out.bias)
        self.register_buffer("fine_points", block_points(tokens_per_side, 4), persistent=False)
        self.register_buffer("mid_points", block_points(tokens_per_side, 2), persistent=False)
        self.register_buffer("centers", block_points(tokens_per_side, 1), persistent=False)

    def condition(
        self, photo: PhotoFeatures, cameras: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Photo tokens (B, 5, D) and what each shape token sees (B, T, D)."""
        deep = functional.adaptive_avg_pool2d(photo.deep, 2).flatten(2).transpose(1, 2)
        grid = self.deep_in(deep) + self.photo_position  # (B, 4, D)
        tokens = torch.cat([grid, self.pooled_in(photo.pooled)[:, None]], dim=1)
        fine = self._seen(photo.local, cameras, self.fine_points, 64)
        mid = self._seen(photo.mid, cameras, self.mid_points, 8)
        place = cam.to_camera(cameras, self.centers)
        place = (
            place - torch.stack([0 * cameras[:, 2], 0 * cameras[:, 2], cameras[:, 2]], -1)[:, None]
        )
        local = self.fine_in(fine) + self.mid_in(mid) + self.where_in(place)
        return tokens, local + self._camera_vector(cameras)[:, None]

    def _camera_vector(self, cameras: torch.Tensor) -> torch.Tensor:
        azimuth, elevation, distance, focal, u, v = cameras.unbind(-1)
        parts = [azimuth.sin(), azimuth.cos(), elevation, distance.log(), (focal / distance).log()]
        return self.camera_in(torch.stack([*parts, u, v], dim=-1))

    def _seen(
        self, maps: torch.Tensor, cameras: torch.Tensor, points: torch.Tensor, per_token: int
    ) -> torch.Tensor:
        """Values of maps (B, C, S, S) where points project: (B, T, per_token * C)."""
        uv = cam.project(cameras, points)[:, :, None]  # (B, T k, 1, 2)
        seen = functional.grid_sample(maps, uv, padding_mode="border", align_corners=False)
        batch, channels = maps.shape[:2]
        seen = seen[..., 0].reshape(batch, channels, -1, per_token)  # (B, C, T, k)
        return seen.permute(0, 2, 3, 1).flatten(2)

    def forward(
        self,
        noisy: torch.Tensor,
        sigma: torch.Tensor,
        photo: PhotoFeatures,
        cameras: torch.Tensor,
        drop: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Predict the clean latents.

        Args:
            noisy: (B, T, C) = (1 - sigma) clean + sigma noise.
            sigma: (B,) in [0, 1].
            photo: Features of B photos.
            cameras: (B, 6), see `seed3d.geometry.cameras`.
            drop: (B,) bool, True where the photo is left out (classifier-free guidance).
        """
        tokens, local = self.condition(photo, cameras)
        return self.denoise(noisy, sigma, tokens, local, drop)

    def denoise(
        self,
        noisy: torch.Tensor,
        sigma: torch.Tensor,
        tokens: torch.Tensor,
        local: torch.Tensor,
        drop: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """As forward, with the condition already computed (it's the same at every step)."""
        if drop is not None:
            tokens = torch.where(drop[:, None, None], self.null_photo, tokens)
            local = torch.where(drop[:, None, None], self.null_local, local)
        vector = self.time_in(sinusoid(sigma * 1000.0, 256)) + tokens[:, -1]
        x = self.proj_in(noisy) + self.position + local
        return run_streams(self, x, tokens, vector)
