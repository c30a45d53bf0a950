"""A flat base stays flat in the hulls, so that what stands in reality stands in the engines.

Remeshing and decimation leave a base uneven by a fraction of a voxel. Engines see that: the object
lands on three points of it, rocks, and a slender one falls over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

UNEVEN = 0.005
"""How far from its lowest point a base may be uneven, for an object of longest side 2."""
FLAT = 0.05
"""Largest share of the object's height by which its base is levelled: a ruler is arched by more."""
THIN = 0.25
"""Largest share of a hull's own height by which it is levelled."""
SPREAD = 1.5
"""Least growth of the footprint from UNEVEN to three times that height which tells a round base.

It is 1 for a box, a table or a ring, 3 for a ball and the square root of 3 for a lying cylinder.
"""


@dataclass(frozen=True)
class Base:
    """The plane that an object with a flat base stands on."""

    floor: float
    """Its height, that of the object's lowest point."""
    uneven: float
    """How far from it a point still belongs to it."""

    def levelled(self, points: np.ndarray) -> np.ndarray:
        """A hull's points (N, 3) with those of the base put onto its plane; a thin hull stays one."""
        reach = min(self.uneven, THIN * float(np.ptp(points[:, 2])))
        level = points.copy()
        level[points[:, 2] < self.floor + reach, 2] = self.floor
        return level


def flat_base(solid: Any) -> Base | None:
    """Return the base of a manifold solid of longest side 2, or None where it is round below."""
    hull = solid.hull()
    box = hull.bounding_box()
    floor, uneven = float(box[2]), min(UNEVEN, FLAT * float(box[5] - box[2]))
    near, above = (hull.slice(floor + n * uneven).area() for n in (1, 3))
    return Base(floor, uneven) if near > 0 and above < SPREAD * near else None
