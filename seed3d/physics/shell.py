"""Mass properties of thin-walled things, from their surface: area times thickness times density."""

from __future__ import annotations

from dataclasses import dataclass

from seed3d.config import PhysicsConfig
from seed3d.errors import ConfigError
from seed3d.physics.inertia import MassProperties, shell_properties
from seed3d.physics.materials import Material
from seed3d.physics.size import refit
from seed3d.types import Estimate, Mesh

WALL_FACTOR = 2.0
"""Without physics.wall the thickness is the material's usual one, within this factor either way (80 %)."""


@dataclass(frozen=True)
class Skin:
    """A thin skin and where its numbers come from."""

    properties: MassProperties
    """At the material's density."""
    area_m2: float
    wall: Estimate
    """Thickness [m]."""
    model: Estimate
    """"shell", and why."""

    @property
    def note(self) -> str:
        """How much material that is, in words."""
        return f"a {1e3 * self.wall.value:g} mm wall on {self.area_m2:.4g} m2 of surface"


def skin_of(
    mesh: Mesh, sheet: Mesh | None, row: Material, config: PhysicsConfig, sides: int = 1
) -> Skin | None:
    """Return the skin that an object is, or None where it is a solid.

    It is one where `physics.mass_model` is "shell", or is "auto" and the source was an open sheet.
    The skin lies on the sheet; without one on the whole surface of `mesh`, which then has to be
    the outside alone: a wall with both its faces in the mesh is a solid.

    Args:
        mesh: Watertight, link frame [m].
        sheet: The open surface that `mesh` was made from, link frame [m], or None.
        row: Gives density and usual wall.
        config: mass_model, wall.
        sides: 2 where the sheet shows both faces of its wall, else 1.

    Raises:
        ConfigError: wall is not > 0 and below a quarter of the object's longest side.
    """
    longest = float(mesh.extents.max())
    if config.wall is not None and not 0 < config.wall <= longest / 4.0:
        raise ConfigError(
            f"physics.wall: got {config.wall} m; wanted more than 0 and at most a quarter of the "
            f"longest side of {longest:.3g} m"
        )
    if config.mass_model == "solid" or (config.mass_model == "auto" and sheet is None):
        return None
    if config.wall is not None:
        wall = Estimate(config.wall, "user", "physics.wall")
    else:
        thin = row.wall / WALL_FACTOR, row.wall * WALL_FACTOR
        wall = Estimate(row.wall, "prior", f"usual wall of {row.name}: {row.source}", *thin)
    surface = mesh if sheet is None else sheet
    properties = shell_properties(surface, float(wall.value) / sides, row.density)
    area = properties.mass / row.density / float(wall.value)
    if config.mass_model == "shell":
        why = Estimate("shell", "user", "physics.mass_model")
    else:
        why = Estimate("shell", "mesh", "the mesh is an open sheet: nothing encloses a solid")
    return Skin(properties, area, wall, why)


def placed(sheet: Mesh | None, before: Mesh, after: Mesh) -> Mesh | None:
    """Return a sheet moved as its solid was: scaled and shifted from `before` to `after`."""
    return None if sheet is None else sheet.moved(*refit(before, after))
