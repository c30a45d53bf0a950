"""Parametric household objects with true size, material and mass, for training."""

from __future__ import annotations

from seed3d.data.procedural import (  # noqa: F401 each registers its categories
    appliances,
    bottles,
    cabinets,
    computing,
    containers,
    cookware,
    counter,
    desk,
    electronics,
    figures,
    food,
    furniture,
    household,
    lamps,
    pouring,
    seating,
    service,
    shoes,
    sofas,
    storage,
    tableware,
    tools,
    toys,
    utensils,
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
