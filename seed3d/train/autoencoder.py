"""Fit the block autoencoder: covariance of all training blocks, then its leading eigenvectors."""

from __future__ import annotations

import torch

from seed3d.geometry.autoencoder import BlockAutoencoder


def fit_autoencoder(
    model: BlockAutoencoder, tsdf: torch.Tensor, weights: torch.Tensor, whitening: float = 0.5
) -> None:
    """Fit `model` to grids (O, R, R, R) int8 with one weight (O,) each."""
    size = model.config.block**3
    total, mean = 0.0, torch.zeros(size, dtype=torch.float64)
    for grid, weight in zip(tsdf, weights, strict=True):
        blocks = model.blocks(grid.float()[None] / 127)[0]
        mean += blocks.double().sum(0) * weight
        total += float(weight) * len(blocks)
    mean /= total
    covariance = torch.zeros(size, size)
    for start in range(0, len(tsdf), 16):
        blocks = model.blocks(tsdf[start : start + 16].float() / 127) - mean.float()
        w = weights[start : start + 16].float().sqrt()[:, None, None]
        rows = (blocks * w).flatten(0, 1)
        covariance += rows.T @ rows
    model.fit(mean.float(), covariance / total, whitening)


def iou(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Volumetric IoU of TSDF grids (B, R, R, R), inside is negative: (B,)."""
    a, b = a < 0, b < 0
    return (a & b).flatten(1).sum(1) / (a | b).flatten(1).sum(1).clamp(min=1)
