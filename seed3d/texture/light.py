"""A first estimate of the photo's light, to tell albedo from shading."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MATERIAL_COLORS = 5
"""Colours among which albedo may differ without being taken for shading."""
RIDGE = 0.02
"""Pull of the shading towards none, in shares of the number of samples."""
LIMIT = (0.55, 1.5)
"""Range of the shading that is divided out."""


@dataclass(frozen=True)
class Shading:
    """log shading = coefficients . normal: brightness by direction, relative to the photo's."""

    coefficients: np.ndarray
    """(3,) canonical frame."""
    reference: float
    """Log brightness that keeps its value."""

    def factor(self, normal: np.ndarray) -> np.ndarray:
        """Return the shading (N, 1) of unit normals (N, 3); dividing by it gives albedo."""
        log = normal @ self.coefficients - self.reference
        return np.clip(np.exp(log), *LIMIT).astype(np.float32)[:, None]


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
    return Shading(solution[:3], float(np.quantile(shade, 0.7)))


def _color_classes(color: np.ndarray) -> np.ndarray:
    """Group samples (N, 3) by chromaticity; returns (N,) int from 0."""
    from scipy.cluster.vq import kmeans2

    chroma = color / color.sum(axis=1, keepdims=True)
    start = chroma[np.argsort(chroma[:, 0], kind="stable")]
    seeds = start[np.linspace(0, len(start) - 1, MATERIAL_COLORS).astype(int)]
    _, kind = kmeans2(chroma, seeds, minit="matrix", iter=15, missing="warn")
    return np.unique(kind, return_inverse=True)[1]
