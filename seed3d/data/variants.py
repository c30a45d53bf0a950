"""Stretched variants of a model: other proportions of the same design, as makers sell them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seed3d.types import Surface

SPREAD = 0.25
"""Standard deviation of the logarithm of each axis' factor."""
REACH = 0.5
"""Largest logarithm of a factor."""


def axis_factors(key: str, variant: int) -> np.ndarray:
    """Factors (3,) along x, y, z with product 1, so that the volume stays; variant 0 is ones."""
    if variant == 0:
        return np.ones(3)
    rng = np.random.default_rng([variant, *key.encode()])
    logs = np.clip(rng.normal(0.0, SPREAD, 3), -REACH, REACH)
    return np.exp(logs - logs.mean())


def stretched(surface: Surface, factors: np.ndarray) -> Surface:
    """The surface scaled by factors (3,) along the axes; normals by their inverse."""
    normals = surface.normals
    if normals is not None:
        normals = normals / factors
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    mesh = replace(surface.mesh, vertices=surface.mesh.vertices * factors)
    return replace(surface, mesh=mesh, normals=normals)
