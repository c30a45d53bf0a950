"""Fewer faces without losing parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from seed3d.mesh.grid import ask_distance, scene
from seed3d.mesh.manifold import compose, from_manifold, to_manifold
from seed3d.types import Mesh

MAX_VOLUME_CHANGE = 0.03
"""Largest change of the volume [share]."""

MAX_MOVE = 0.03
"""Largest distance of the old vertices to the new surface [share of the longest side]."""


def decimate(body: Any, target_faces: int) -> tuple[Any, str]:
    """Reduce a manifold3d.Manifold to at most `target_faces`.

    Quadric edge collapse (fast_simplification; Garland and Heckbert 1997) first. It may break
    manifoldness or pinch off thin parts; then manifold3d's own tolerance collapse, which keeps
    the topology, and last larger budgets. A result counts when, with as many of its largest
    pieces as there were components, the volume and the place of every old vertex are kept.

    Returns:
        The body, and "" or what could not be kept.
    """
    if body.num_tri() <= target_faces:
        return body, ""
    wanted = len(body.decompose())
    for factor, reduce in _ATTEMPTS:
        budget = int(target_faces * factor)
        if budget >= body.num_tri():
            break
        result = _largest_pieces(reduce(body, budget), wanted)
        if result is not None and _survives(body, result):
            over = f"{target_faces} faces would lose parts; kept {result.num_tri()}"
            return result, "" if factor == 1 else over
    return body, f"{target_faces} faces would lose parts; kept all {body.num_tri()}"


def component_sizes(pieces: list[Any], shrink: float = 0.0) -> np.ndarray:
    """Return the diagonals (N,) of Manifolds' bounding boxes, each made smaller by `shrink`."""
    boxes = np.array([p.bounding_box() for p in pieces])
    return np.linalg.norm(np.maximum(boxes[:, 3:] - boxes[:, :3] - shrink, 0.0), axis=1)


def _largest_pieces(body: Any | None, wanted: int) -> Any | None:
    """Drop the crumbs that edge collapse pinched off; None when pieces are missing."""
    pieces = [] if body is None else [p for p in body.decompose() if p.volume() > 0]
    if len(pieces) < wanted:
        return None
    order = np.argsort(-component_sizes(pieces), kind="stable")
    return compose([pieces[i] for i in order[:wanted]])


def _quadric(body: Any, target_faces: int) -> Any | None:
    import fast_simplification

    mesh = from_manifold(body)
    points, faces = fast_simplification.simplify(
        mesh.vertices, mesh.faces.astype(np.int32), target_count=target_faces
    )[:2]
    return to_manifold(Mesh(np.array(points, np.float64), np.array(faces, np.int64)))


def _tolerance(body: Any, target_faces: int) -> Any | None:
    low, high, best = 0.0, 0.02 * _longest(body), None
    for _ in range(6):
        middle = (low + high) / 2
        result = body.simplify(middle)
        if result.num_tri() <= target_faces:
            best, high = result, middle
        else:
            low = middle
    return best


def _survives(before: Any, after: Any) -> bool:
    if abs(after.volume() - before.volume()) > MAX_VOLUME_CHANGE * before.volume():
        return False
    old = from_manifold(before).vertices
    moved = ask_distance(scene(from_manifold(after)), old)
    return bool(moved.max() <= MAX_MOVE * _longest(before))


def _longest(body: Any) -> float:
    box = np.asarray(body.bounding_box())
    return float((box[3:] - box[:3]).max())


_ATTEMPTS = (
    (1.0, _quadric),
    (1.0, _tolerance),
    (1.6, _quadric),
    (2.5, _quadric),
    (4.0, _quadric),
    (6.0, _quadric),
)
