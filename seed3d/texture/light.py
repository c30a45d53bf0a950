"""A first estimate of the photo's light, to tell albedo from shading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MATERIAL_COLORS = 4
"""Colours among which albedo may differ without being taken for shading."""
RIDGE = 0.001
"""Pull of the shading towards none, in shares of the number of samples."""
LIT = 0.95
"""Quantile of the seen samples' shading that counts as fully lit: it keeps its brightness."""
SHEEN = 0.016
"""Linear light that a dielectric mirrors from around it whatever its colour: 4 % of about 0.4."""
LIMIT = (0.35, 1.6)
"""Range of the shading that is divided out."""


@dataclass(frozen=True)
class Shading:
    """log shading = coefficients . normal: brightness by direction, relative to the photo's."""

    coefficients: np.ndarray
    """(3,) canonical frame."""
    reference: float
    """Log brightness that keeps its value."""

    def remove(self, color: np.ndarray, normal: np.ndarray) -> np.ndarray:
        """Return albedo (N, 3) of linear colours (N, 3) on faces with unit normals (N, 3)."""
        log = normal @ self.coefficients - self.reference
        return without_sheen(color) / np.clip(np.exp(log), *LIMIT).astype(np.float32)[:, None]


def without_sheen(color: np.ndarray) -> np.ndarray:
    """Take the mirrored surroundings off linear colours, at most 70 % of a dark one."""
    return np.maximum(color - np.float32(SHEEN), np.float32(0.3) * color)


def fit_shading(color: np.ndarray, normal: np.ndarray, weight: np.ndarray) -> Shading:
    """Fit the light by which faces of one colour differ in brightness.

    Linear in the logarithm: log luminance = log albedo of the sample's colour class +
    coefficients . normal, by iteratively reweighted least squares (Huber). Colour classes come
    from chromaticity only, so that shading can't make classes of its own.

    Args:
        color: (N, 3) linear, seen samples.
        normal: (N, 3) unit, canonical frame.
        weight: (N,) trust in each sample.
    """
    color = without_sheen(color)
    keep = np.flatnonzero((weight > 0.3) & (color.mean(axis=1) > 0.003))
    keep = keep[:: max(1, len(keep) // 20_000)]
    if len(keep) < 50:
        return Shading(np.zeros(3), 0.0)
    luminance = np.log(color[keep] @ np.array([0.2126, 0.7152, 0.0722]))
    kind = _color_classes(color[keep])
    onehot = np.eye(int(kind.max()) + 1)[kind]
    design = np.column_stack([normal[keep].astype(np.float64), onehot])
    penalty = np.zeros(design.shape[1])
    penalty[:3] = RIDGE * len(keep)
    robust = np.ones(len(keep))
    solution = np.zeros(design.shape[1])
    for _ in range(6):
        w = weight[keep] * robust
        normal_matrix = design.T @ (design * w[:, None]) + np.diag(penalty + 1e-9)
        solution = np.linalg.solve(normal_matrix, design.T @ (w * luminance))
        error = np.abs(luminance - design @ solution)
        robust = np.minimum(1.0, 0.15 / np.maximum(error, 1e-6))
    shade = normal[keep] @ solution[:3]
    return Shading(solution[:3], float(np.quantile(shade, LIT)))


def _color_classes(color: np.ndarray) -> np.ndarray:
    """Group samples (N, 3) by chromaticity; returns (N,) int from 0."""
    from scipy.cluster.vq import kmeans2

    chroma = color / color.sum(axis=1, keepdims=True)
    start = chroma[np.argsort(chroma[:, 0], kind="stable")]
    seeds = start[np.linspace(0, len(start) - 1, MATERIAL_COLORS).astype(int)]
    _, kind = kmeans2(chroma, seeds, minit="matrix", iter=15, missing="warn")
    return np.unique(kind, return_inverse=True)[1]
