"""Distances between shapes, in the frame where the longest side is 1."""

from __future__ import annotations

import numpy as np

from seed3d.conventions import CANONICAL_HALF
from seed3d.types import Mesh

SAMPLES = 10_000


def grid_iou(a: np.ndarray, b: np.ndarray) -> float:
    """Volumetric IoU of two signed grids of one shape; negative is inside."""
    inside_a, inside_b = a < 0, b < 0
    either = np.count_nonzero(inside_a | inside_b)
    return np.count_nonzero(inside_a & inside_b) / max(either, 1)


def surface_samples(mesh: Mesh, seed: int = 0, count: int = SAMPLES) -> np.ndarray:
    """Points (count, 3) spread over a canonical mesh by area; longest side scaled to 1."""
    import trimesh

    points = trimesh.sample.sample_surface(mesh.to_trimesh(), count, seed=seed)[0]
    return np.asarray(points) / (2.0 * CANONICAL_HALF)


def surface_scores(found: Mesh, true: Mesh) -> dict[str, float]:
    """Chamfer-L1 (mean of both directions' mean distances) and F-scores at 0.02 and 0.05."""
    from scipy.spatial import cKDTree

    a, b = surface_samples(found), surface_samples(true)
    to_b, to_a = cKDTree(b).query(a)[0], cKDTree(a).query(b)[0]
    scores = {"chamfer_l1": float(to_b.mean() + to_a.mean()) / 2}
    for name, limit in (("f_score_02", 0.02), ("f_score_05", 0.05)):
        precision, recall = (to_b < limit).mean(), (to_a < limit).mean()
        scores[name] = float(2 * precision * recall / max(precision + recall, 1e-9))
    return scores


def angle_error_deg(found_rad: float, true_rad: float) -> float:
    """Absolute difference of two azimuths [deg], in [0, 180]."""
    turn = np.remainder(found_rad - true_rad + np.pi, 2 * np.pi) - np.pi
    return float(abs(np.rad2deg(turn)))
