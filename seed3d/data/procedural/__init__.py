"""Parametric household objects with true size, material and mass, for training."""

from __future__ import annotations

from seed3d.data.procedural import (  
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
)  # noqa: F401
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
