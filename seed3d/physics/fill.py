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


class Openings:
    """The open space in and around a solid, found once for every set of hulls to be measured.

    The dents are cavities, holes, the space between legs.
    """

    def __init__(self, solid: Any) -> None:
        """Find the large cavities of a manifold3d solid of longest side 2."""
        outer = solid.hull()
        least = LARGE_CAVITY * outer.volume()
        self.solid = solid
        self.dents = float(outer.volume() - solid.volume())
        """Volume of what the convex hull has beyond the solid."""
        self.rooms = _rooms(outer - solid, least)
        self.room = sum(room.volume() for room in self.rooms)
        """Volume of the large cavities."""

    def measure(self, hulls: Sequence[Mesh]) -> Fit:
        """Measure hulls by exact booleans and samples of both surfaces."""
        from seed3d.mesh.measure import surface_distance

        solid = self.solid
        union, filled, closed = self._taken([h.vertices for h in hulls])
        apart = surface_distance(from_manifold(solid), from_manifold(union), _SAMPLES)
        return Fit(
            ratio=union.volume() / solid.volume(),
            filled=filled / self.dents if self.dents > 1e-9 else 0.0,
            excess=filled / solid.volume(),
            cavity_filled=float(np.clip(closed / self.room, 0.0, 1.0)) if self.room else 0.0,
            distance=apart.largest,
            mean_distance=apart.mean,
        )

    def volume_left(self, parts: Sequence[np.ndarray], share: float) -> float:
        """Return the volume that may still be filled until a share of the dents or cavities is.

        Args:
            parts: Corners (N, 3) of convex parts.
            share: Of the dents, and of the large cavities.
        """
        _, filled, closed = self._taken(parts)
        left = share * self.dents - filled
        if self.room:
            left = min(left, share * self.room - closed)
        return max(float(left), 0.0)

    def _taken(self, parts: Sequence[np.ndarray]) -> tuple[Any, float, float]:
        """Union of convex parts; what it takes beyond the solid, and of the large cavities."""
        import manifold3d

        bodies = [manifold3d.Manifold.hull_points(points) for points in parts]
        union = manifold3d.Manifold.batch_boolean(bodies, manifold3d.OpType.Add)
        closed = sum((union ^ room).volume() for room in self.rooms)
        return union, (union - self.solid).volume(), closed


def _rooms(space: Any, least: float) -> list[Any]:
    """Return the connected parts of `space` larger than `least`.

    manifold3d parts a solid by its shells: what floats in a room (the tube in a lamp) comes as a
    shell of negative volume and the room without its hole, so the room is cut with the space.
    """
    rooms = [shell ^ space for shell in space.decompose() if shell.volume() > least]
    return [room for room in rooms if room.volume() > least]
