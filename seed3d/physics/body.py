"""Mass, inertia and contact parameters: what the user said, else an estimate, else a prior."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from seed3d.config import PhysicsConfig
from seed3d.errors import ConfigError
from seed3d.physics import materials
from seed3d.physics.inertia import (
    MassProperties,
    check_inertia,
    mass_properties,
    nearest_valid_inertia,
    raise_to_engine_minimum,
)
from seed3d.physics.shell import Skin, skin_of
from seed3d.physics.size import metric, name_of
from seed3d.types import Estimate, Fallback, Mesh, RigidBody

__all__ = ["BodyResult", "material_volume", "metric", "rigid_body"]

STAGE = "physics.body"
PLAUSIBLE_DENSITY = (1.2, 25_000.0)
"""A user's mass must give a mean density [kg/m3] between air's and the densest metals'."""
LEAST_WALL = 1 / 3
"""Thinnest wall over the material's usual one: ABS 0.8 mm, wood 6 mm, steel 0.4 mm."""
CONTACT_PATCH = 0.01
"""Radius of the patch that resists spinning, as a share of the object's longest side."""


@dataclass(frozen=True)
class BodyResult:
    """A rigid body and where each of its numbers comes from."""

    body: RigidBody
    estimates: dict[str, Estimate]
    """material, category, density_kg_m3, fill, mass_kg, com_m, inertia_kg_m2, mass_model, wall_m
    (of a shell), friction, rolling_friction_m, spinning_friction_m, restitution."""
    fallbacks: tuple[Fallback, ...] = ()


@dataclass(frozen=True)
class _Amount:
    """How much of a shape is material [m3], with the 80 % interval."""

    median: float
    low: float
    high: float
    note: str


def rigid_body(
    mesh: Mesh,
    material: Estimate,
    category: Estimate,
    config: PhysicsConfig,
    sheet: Mesh | None = None,
    sides: int = 1,
    density: Estimate | None = None,
) -> BodyResult:
    """Find mass, inertia and contact parameters of a solid or a shell.

    Mass: the user's, else density * material volume, which follows from the photo's estimate
    (`hull_density`) or from the category's row (`material_volume`). Centre of mass and inertia: exact integrals over the solid, taken
    as uniform and scaled to that mass. A thin skin (`seed3d.physics.shell`) has all three from
    its surface.

    Args:
        mesh: Watertight, link frame [m].
        material: Name of a row of materials.yaml; None or "unknown" asks for the category's usual.
        category: Name or alias of a row of categories.yaml; None means "unknown".
        config: mass, material, mass_model, wall: the user's, which win.
        sheet: The open surface that `mesh` was made from, link frame [m]; None for a solid.
        sides: 2 where `sheet` shows both faces of its wall, else 1.
        density: Mass over the volume of the convex hull [kg/m3] of an object of `material`;
            None where nothing tells.

    Raises:
        ConfigError: The user's material has no row, or the user's mass can't be true.
        StageError: The mesh is no closed solid, or too small for the engines.
    """
    fallbacks: list[Fallback] = []
    kind, category = _category(category, fallbacks)
    stated = material
    row, material = _material(stated, kind, config, fallbacks)
    solid = mass_properties(mesh, row.density)
    volume = solid.mass / row.density
    skin = skin_of(mesh, sheet, row, config, sides)
    whole = skin.properties if skin else solid
    if skin:
        amount = _skin_amount(skin)
    elif density is not None:
        told, _ = _material(stated, kind, replace(config, material=None), [])
        amount = _told_amount(mesh, volume, told, density)
    else:
        amount = material_volume(mesh, volume, row, kind)
    mass = _mass(amount, volume, row, config)
    inertia = whole.inertia * (mass.value / whole.mass)
    inertia = _engine_ready(float(mass.value), inertia, fallbacks)
    contact = _contact(mesh, row, material)
    estimates = {
        "material": material,
        "category": category,
        "density_kg_m3": Estimate(row.density, "prior", f"{row.name}: {row.source}"),
        "fill": Estimate(
            float(mass.value) / solid.mass, mass.source, "mass over that of a massive solid"
        ),
        "mass_kg": mass,
        **_distribution(whole, inertia, float(mass.value), skin),
        **contact,
    }
    body = RigidBody(
        mass_kg=float(mass.value),
        com_m=whole.com,
        inertia_kg_m2=inertia,
        friction=contact["friction"].value,
        rolling_friction=contact["rolling_friction_m"].value,
        spinning_friction=contact["spinning_friction_m"].value,
        restitution=contact["restitution"].value,
    )
    return BodyResult(body, estimates, tuple(fallbacks))


def _told_amount(
    mesh: Mesh, volume: float, material: materials.Material, density: Estimate
) -> _Amount:
    """From the mean density inside the hull that an object of a material has [kg/m3].

    No more than the whole solid: the shape may show how much room there is for material.
    """
    from scipy.spatial import ConvexHull

    hull = ConvexHull(mesh.vertices).volume
    value = float(density.value)
    amounts = [
        min(volume, hull * (value if d is None else d) / material.density)
        for d in (value, density.low, density.high)
    ]
    words = f"{value / material.density:.3g} of the outer {hull:.4g} m3"
    if amounts[0] == volume:
        words = f"all of the solid's {volume:.4g} m3, which is less than {words}"
    return _Amount(*amounts, note=f"{words} ({density.note})")


def _skin_amount(skin: Skin) -> _Amount:
    wall = skin.wall
    amounts = (skin.area_m2 * (wall.value if v is None else v) for v in (None, wall.low, wall.high))
    return _Amount(*amounts, note=skin.note)


def _distribution(
    whole: MassProperties, inertia: np.ndarray, mass: float, skin: Skin | None
) -> dict[str, Estimate]:
    """Centre of mass, inertia and what they were integrated over."""
    if skin is None:
        model = Estimate("solid", "prior", "a closed mesh counts as uniform; physics.mass_model")
        over = "the solid taken as uniform and scaled to"
        more = "; a hollow object's would be up to about 5/3 larger"
        where = "exact integral, uniform density"
    else:
        model, more = skin.model, ""
        over = "over the surface as a thin uniform skin scaled to"
        where = "exact integral over the surface, a thin uniform skin"
    words = f"exact integral about the centre of mass, {over} {mass:.4g} kg{more}"
    return {
        "mass_model": model,
        **({"wall_m": skin.wall} if skin else {}),
        "com_m": Estimate(whole.com.tolist(), "mesh", where),
        "inertia_kg_m2": Estimate(inertia.tolist(), "mesh", words),
    }


def material_volume(
    mesh: Mesh, volume: float, row: materials.Material, kind: materials.Category
) -> _Amount:
    """Estimate how much of a shape is material [m3]; see the head of configs/categories.yaml.

    Args:
        mesh: Watertight [m].
        volume: Of the solid [m3].
        row: Gives the wall of thin-walled goods.
        kind: Gives the build and the fill.
    """
    from scipy.spatial import ConvexHull

    fill = kind.fill
    if kind.build == "hollow":
        return _hollow_amount(mesh, volume, row, kind)
    if kind.build == "solid":
        base, limit = volume, float("inf")
        words = f"{{fill:g}} of the solid's {volume:.4g} m3"
    else:
        hull = ConvexHull(mesh.vertices)
        if kind.build == "outer":
            base, words = hull.volume, f"{{fill:g}} of the outer {hull.volume:.4g} m3"
        else:
            base = hull.area * row.wall
            words = (
                f"{{fill:g}} of a {1e3 * row.wall:g} mm wall on the outer {hull.area:.4g} m2 "
                f"({base:.4g} m3)"
            )
        limit = volume  # the mesh may show the cavity itself; then it says how thick the walls are
    amounts = [min(limit, f * base) for f in (fill.median, fill.low, fill.high)]
    note = words.format(fill=fill.median)
    if fill.median * base > limit:
        note = f"all of the solid's {volume:.4g} m3, which is less than {note}"
    return _Amount(*amounts, note=f"{note} (category {kind.name}: {kind.source})")


def _hollow_amount(
    mesh: Mesh, volume: float, row: materials.Material, kind: materials.Category
) -> _Amount:
    """A share of the solid, but no less than the least wall all over its own surface."""
    wall = LEAST_WALL * row.wall
    least = min(volume, wall * float(mesh.to_trimesh().area))
    fill = kind.fill
    amounts = [max(least, min(volume, f * volume)) for f in (fill.median, fill.low, fill.high)]
    note = f"{fill.median:g} of the solid's {volume:.4g} m3"
    if amounts[0] == least:
        note = f"all that a {1e3 * wall:.3g} mm wall on the solid's {volume:.4g} m3 comes to"
    return _Amount(*amounts, note=f"{note} (category {kind.name}: {kind.source})")


def _category(category: Estimate, fallbacks: list[Fallback]) -> tuple[materials.Category, Estimate]:
    name = name_of(category)
    try:
        return materials.category(name), replace(category, value=name)
    except ConfigError as error:
        fallbacks.append(Fallback(STAGE, f"{error} Used 'unknown'"))
        return materials.category("unknown"), replace(category, value=name)


def _material(
    material: Estimate,
    kind: materials.Category,
    config: PhysicsConfig,
    fallbacks: list[Fallback],
) -> tuple[materials.Material, Estimate]:
    if config.material is not None:
        row = materials.material(config.material)
        return row, Estimate(row.name, "user", f"--material {row.name}")
    name = name_of(material)
    usual = Estimate(kind.material, "prior", f"usual material of {kind.name}: {kind.source}")
    if name == "unknown":
        return materials.material(kind.material), usual
    try:
        return materials.material(name), material
    except ConfigError as error:
        fallbacks.append(Fallback(STAGE, f"{error} Used {kind.material!r}"))
        return materials.material(kind.material), usual


def _mass(
    amount: _Amount, volume: float, row: materials.Material, config: PhysicsConfig
) -> Estimate:
    if config.mass is None:
        note = f"at this size, {row.name} of {row.density:g} kg/m3 times {amount.note}"
        low, high = row.density * amount.low, row.density * amount.high
        return Estimate(row.density * amount.median, "estimate", note, low, high)
    if not (np.isfinite(config.mass) and config.mass > 0):
        raise ConfigError(f"--mass: got {config.mass}; wanted a finite number of kilograms > 0")
    density = config.mass / volume
    low, high = PLAUSIBLE_DENSITY
    if not low <= density <= high:
        raise ConfigError(
            f"--mass {config.mass:g}: over the solid's {volume:.3g} m3 that is {density:.3g} "
            f"kg/m3; wanted {low:g} to {high:g}. Is the mass in kilograms, and the size right "
            "(--height, --length in metres)?"
        )
    return Estimate(config.mass, "user", f"--mass; a mean density of {density:.4g} kg/m3")


def _engine_ready(mass: float, inertia: np.ndarray, fallbacks: list[Fallback]) -> np.ndarray:
    """Correct rounding-level faults, raise to the engines' minimum, record both, and check."""
    valid = nearest_valid_inertia(inertia)
    if valid.change > 1e-12:
        what = f"inertia moved by {valid.change:.1e} of itself to satisfy A + B >= C"
        fallbacks.append(Fallback(STAGE, what))
    raised = raise_to_engine_minimum(mass, valid.inertia)
    if raised.change > 0:
        what = f"inertia raised by {raised.change:.1e} of itself: MuJoCo refuses moments < 1e-14"
        fallbacks.append(Fallback(STAGE, what))
    check_inertia(mass, raised.inertia)
    return raised.inertia


def _contact(mesh: Mesh, row: materials.Material, material: Estimate) -> dict[str, Estimate]:
    """Contact parameters from the material's row; lengths scale with the object."""
    longest = float(mesh.extents.max())
    radius = 0.5 * float(np.sort(mesh.extents)[1])  # of the disc that a rolling thing shows
    patch = CONTACT_PATCH * longest
    origin = f"{row.name} ({material.source}): {row.source}"
    rolling_note = f"{row.rolling:g} times the radius {radius:.3g} m; {origin}"
    # A patch under uniform pressure resists spinning with 2/3 mu N a.
    spinning_note = f"2/3 times friction times a contact patch of {patch:.2g} m; {origin}"
    return {
        "friction": Estimate(row.friction, "prior", origin),
        "rolling_friction_m": Estimate(row.rolling * radius, "prior", rolling_note),
        "spinning_friction_m": Estimate(2 / 3 * row.friction * patch, "prior", spinning_note),
        "restitution": Estimate(row.restitution, "prior", origin),
    }
