"""Parametric household objects with true size, material and mass, for training."""

from __future__ import annotations

from seed3d.data.procedural import (  # noqa: F401 each registers its categories
    appliances,
    cabinets,
    containers,
    cookware,
    desk,
    electronics,
    food,
    furniture,
    storage,
    tableware,
    tools,
    toys,
    wearables,
)
from seed3d.data.procedural.core import (
    CATEGORIES,
    DENSITY_KG_M3,
    RECIPES,
    SIZE_RANGE_M,
    Part,
    ProceduralObject,
    Recipe,
    make,
)

__all__ = [
    "CATEGORIES",
    "DENSITY_KG_M3",
    "RECIPES",
    "SIZE_RANGE_M",
    "Part",
    "ProceduralObject",
    "Recipe",
    "make",
]
