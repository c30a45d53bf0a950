"""How well convex bodies stand for a solid: volume, distance of the surfaces, filled cavities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seed3d.mesh.manifold import from_manifold
from seed3d.types import Mesh

LARGE_CAVITY = 0.1
"""Connected open space of at least this share of the convex hull's volume is a cavity by itself."""
_SAMPLES = 4000


@dataclass(frozen=True)
class Fit:
    """Measured error of the bodies that stand for a solid of longest side 2."""

    ratio: float
    """Volume of their union over the solid's."""
    filled: float
    """Share of the dents, what the solid's convex hull has beyond the solid, that they fill."""
    excess: float
    """What they fill of the dents over the solid's volume."""
    cavity_filled: float
    """Filled share of the large cavities; 0 where there is none."""
    distance: float
    """Largest distance of a point of either surface to the other."""
    mean_distance: float

    def measures(self, size_m: float) -> dict[str, float]:
        """Return the facts for the report; `size_m` is the true longest side [m]."""
        facts = {
            "distance_m": self.distance * size_m / 2.0,
            "distance_share": self.distance / 2.0,
            "mean_distance_m": self.mean_distance * size_m / 2.0,
            "filled_share": self.filled,
            "cavity_filled_share": self.cavity_filled,
        }
        return {name: float(f"{value:.6g}") for name, value in facts.items()}


def measure(hulls: Sequence[Mesh], solid: Any) -> Fit:
    """Measure hulls against a manifold3d solid by exact booleans and samples of both surfaces.

    The dents are cavities, holes, the space between legs.
    """
    from seed3d.mesh.measure import surface_distance

    union, space = _union_and_space([h.vertices for h in hulls], solid)
    apart = surface_distance(from_manifold(solid), from_manifold(union), _SAMPLES)
    return Fit(
        ratio=union.volume() / solid.volume(),
        filled=space.filled / space.dents if space.dents > 1e-9 else 0.0,
        excess=space.filled / solid.volume(),
        cavity_filled=float(np.clip(space.closed / space.rooms, 0.0, 1.0)) if space.rooms else 0.0,
        distance=apart.largest,
        mean_distance=apart.mean,
    )


def volume_left(parts: Sequence[np.ndarray], solid: Any, share: float) -> float:
    """Return the volume that may still be filled until a share of the dents or cavities is.

    Args:
        parts: Corners (N, 3) of convex parts.
        solid: manifold3d solid that they stand for.
        share: Of the dents, and of the large cavities.
    """
    _, space = _union_and_space(parts, solid)
    left = share * space.dents - space.filled
    if space.rooms:
        left = min(left, share * space.rooms - space.closed)
    return max(float(left), 0.0)


@dataclass(frozen=True)
class _Space:
    """Volumes of open space in and around a solid."""

    dents: float
    """What its convex hull has beyond it."""
    filled: float
    """What the union of convex parts has beyond it."""
    rooms: float
    """The large cavities."""
    closed: float
    """What the union takes of those."""


def _union_and_space(parts: Sequence[np.ndarray], solid: Any) -> tuple[Any, _Space]:
    import manifold3d

    bodies = [manifold3d.Manifold.hull_points(points) for points in parts]
    union = manifold3d.Manifold.batch_boolean(bodies, manifold3d.OpType.Add)
    outer = solid.hull()
    least = LARGE_CAVITY * outer.volume()
    rooms = [room for room in (outer - solid).decompose() if room.volume() > least]
    return union, _Space(
        dents=outer.volume() - solid.volume(),
        filled=(union - solid).volume(),
        rooms=sum(room.volume() for room in rooms),
        closed=sum((union ^ room).volume() for room in rooms),
    )
