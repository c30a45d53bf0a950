"""Fewer faces without losing parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.mesh.manifold import from_manifold, to_manifold
from seed3d.types import Mesh

MAX_VOLUME_CHANGE = 0.03
"""Largest change of the volume [share]."""

MAX_BOUNDS_CHANGE = 0.01
"""Largest move of the bounding box [share of the longest side]."""


def decimate(body: Any, target_faces: int) -> tuple[Any, str]:
    """Reduce a manifold3d.Manifold to at most `target_faces`.

    Quadric edge collapse (fast_simplification; Garland and Heckbert 1997) first. It may break
    manifoldness or eat thin parts; then manifold3d's own tolerance collapse, which keeps the
    topology, and last a larger budget.

    Returns:
        The body, and "" or what could not be kept.
    """
    if body.num_tri() <= target_faces:
        return body, ""
    budget = target_faces
    while budget < body.num_tri():
        for reduce in (_quadric, _tolerance):
            result = reduce(body, budget)
            if result is not None and _survives(body, result):
                note = (
                    ""
                    if budget == target_faces
                    else (f"{target_faces} faces would lose parts; kept {result.num_tri()}")
                )
                return result, note
        budget = int(budget * 1.6)
    return body, f"{target_faces} faces would lose parts; kept all {body.num_tri()}"


def _quadric(body: Any, target_faces: int) -> Any | None:
    import fast_simplification

    mesh = from_manifold(body)
    points, faces = fast_simplification.simplify(
        mesh.vertices.astype(np.float64), mesh.faces.astype(np.int64), target_count=target_faces
    )
    return to_manifold(Mesh(np.array(points, np.float64), np.array(faces, np.int64)))


def _tolerance(body: Any, target_faces: int) -> Any | None:
    low, high, best = 0.0, 0.02 * _longest(body), None
    for _ in range(8):
        middle = (low + high) / 2
        result = body.simplify(middle)
        if result.num_tri() <= target_faces:
            best, high = result, middle
        else:
            low = middle
    return best


def _survives(before: Any, after: Any) -> bool:
    if after.is_empty() or len(before.decompose()) != len(after.decompose()):
        return False
    change = abs(after.volume() - before.volume())
    moved = np.abs(np.subtract(before.bounding_box(), after.bounding_box())).max()
    return bool(
        change <= MAX_VOLUME_CHANGE * before.volume()
        and moved <= MAX_BOUNDS_CHANGE * _longest(before)
    )


def _longest(body: Any) -> float:
    box = np.asarray(body.bounding_box())
    return float((box[3:] - box[:3]).max())
