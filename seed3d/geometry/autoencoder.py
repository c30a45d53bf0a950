"""SDF autoencoder with a dense block latent: TSDF grid <-> tokens, one per block of the cube.

The cube [-1, 1]^3 is cut into blocks; each block's TSDF values are coded by a linear basis fitted
to the training shapes (principal components), partly whitened so that coarse and fine components
take part in the diffusion. Same interface as the VecSet VAE: ``encode -> latents``,
``field(latents) -> sdf(points)``.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from diffusers import ConfigMixin, ModelMixin
from diffusers.configuration_utils import register_to_config

from seed3d.geometry.tsdf import TRUNCATION


class BlockAutoencoder(ModelMixin, ConfigMixin):
    """Linear block code of a TSDF grid.

    Args:
        resolution: Side of the grid R [voxel].
        block: Side of a block b [voxel]; (R / b)^3 tokens.
        channels: Numbers per token C.
    """

    @register_to_config
    def __init__(self, resolution: int = 64, block: int = 16, channels: int = 256) -> None:
        super().__init__()
        if resolution % block:
            raise ValueError(f"resolution {resolution} is not a multiple of block {block}")
        self.register_buffer("mean", torch.zeros(block**3))
        self.register_buffer("basis", torch.zeros(block**3, channels))
        self.register_buffer("scale", torch.ones(channels))

    @property
    def tokens_per_side(self) -> int:
        """Blocks along one side of the cube."""
        return self.config.resolution // self.config.block

    def blocks(self, grid: torch.Tensor) -> torch.Tensor:
        """(B, R, R, R) to (B, T, b^3), tokens in x, y, z order."""
        n, b = self.tokens_per_side, self.config.block
        cut = grid.reshape(-1, n, b, n, b, n, b)  # (B, X, x, Y, y, Z, z)
        return cut.permute(0, 1, 3, 5, 2, 4, 6).reshape(-1, n**3, b**3)

    def unblocks(self, blocks: torch.Tensor) -> torch.Tensor:
        """(B, T, b^3) to (B, R, R, R)."""
        n, b, r = self.tokens_per_side, self.config.block, self.config.resolution
        cut = blocks.reshape(-1, n, n, n, b, b, b)  # (B, X, Y, Z, x, y, z)
        return cut.permute(0, 1, 4, 2, 5, 3, 6).reshape(-1, r, r, r)

    def encode(self, grid: torch.Tensor) -> torch.Tensor:
        """TSDF in [-1, 1] (B, R, R, R) to latents (B, T, C)."""
        return (self.blocks(grid) - self.mean) @ self.basis / self.scale

    def decode(self, latents: torch.Tensor) -> torch.Tensor:
        """Latents (B, T, C) to a TSDF grid (B, R, R, R), about [-1, 1]."""
        return self.unblocks((latents * self.scale) @ self.basis.T + self.mean)

    def field(self, latents: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
        """Return sdf(points (B, N, 3) in [-1, 1]) -> (B, N) [canonical units], differentiable."""
        grid = self.decode(latents)

        def sdf(points: torch.Tensor) -> torch.Tensor:
            return sample_grid(grid, points) * TRUNCATION

        return sdf

    @torch.no_grad()
    def fit(self, mean: torch.Tensor, covariance: torch.Tensor, whitening: float = 0.5) -> None:
        """Set the basis to the leading eigenvectors of the blocks' covariance.

        Args:
            mean: (b^3,) mean block.
            covariance: (b^3, b^3) covariance of the blocks.
            whitening: 0 keeps the components' natural variance, 1 makes all equal.
        """
        values, vectors = torch.linalg.eigh(covariance.double())
        values, vectors = values.flip(0), vectors.flip(1)
        count = self.config.channels
        signs = torch.sign(vectors[:, :count].sum(0))  # eigh leaves the sign open
        std = values[:count].clamp(min=1e-12).sqrt()
        part = std**whitening
        rms = ((std / part) ** 2).mean().sqrt()
        self.mean.copy_(mean)
        self.basis.copy_(vectors[:, :count] * torch.where(signs == 0, 1.0, signs))
        self.scale.copy_(part * rms)


def sample_grid(grid: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """Trilinear values of grids (B, R, R, R), indexed [x, y, z], at points (B, N, 3): (B, N).

    Voxel centres are at (i + 0.5) / R * 2 - 1; outside of the cube the border value holds.
    """
    where = points.flip(-1)[:, :, None, None, :]  # grid_sample wants z, y, x order
    values = torch.nn.functional.grid_sample(
        grid[:, None], where, padding_mode="border", align_corners=False
    )  # (B, 1, N, 1, 1)
    return values[:, 0, :, 0, 0]
