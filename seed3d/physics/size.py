"""Metric size: what the user said, else an estimate, else the category's usual size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seed3d.config import PhysicsConfig
from seed3d.errors import ConfigError, StageError
from seed3d.physics import materials
from seed3d.types import Estimate, Mesh

SIZE_RANGE_M = (1e-4, 100.0)
"""Longest sides that are accepted: 0.1 mm, below which engines refuse hulls, to 100 m."""
PLAUSIBLE_M = (0.01, 20.0)
"""Longest sides that are believed of a file whose unit nobody stated."""
RATIO_TOLERANCE = 0.02
"""How far --height and --length together may be from the shape's own proportions."""


def metric(
    mesh: Mesh, size: Estimate, config: PhysicsConfig, category: Estimate | None = None
) -> tuple[Mesh, dict[str, Estimate]]:
    """Scale a mesh to metres and put it into the link frame.

    Args:
        mesh: Z up; any unit, any origin (the canonical frame, or a user's mesh).
        size: Longest side of the bounding box [m]; a value of None asks for the category's prior.
        config: height, length: the user's true measures, which win.
        category: Where `size` has no value: whose usual size to take.

    Returns:
        The mesh in metres, origin at the centre of the bottom of its box, standing on z = 0; and
        the estimates size_m (longest side) and height_m.

    Raises:
        ConfigError: A measure is not > 0, or height and length don't fit the shape together.
        StageError: The mesh is empty or not finite, or the size is not within 0.1 mm to 100 m.
    """
    extents = _extents(mesh)
    estimate = _longest_side(extents, size, config, category)
    longest = float(estimate.value)
    low, high = SIZE_RANGE_M
    if not low <= longest <= high:
        raise StageError(
            f"size: got a longest side of {longest:.3g} m; wanted {low:g} to {high:g} m. Is it a "
            "slip of the unit? State the true size in metres with --height or --length"
        )
    scale = longest / float(extents.max())
    lower, upper = mesh.bounds
    foot = np.array([*(0.5 * (lower + upper))[:2], lower[2]])
    moved = mesh.moved(scale, -scale * foot)
    height = replace(
        estimate,
        value=float(extents[2] * scale),
        low=None if estimate.low is None else estimate.low * float(extents[2] / extents.max()),
        high=None if estimate.high is None else estimate.high * float(extents[2] / extents.max()),
        note=f"{estimate.note}; height from the shape's proportions",
    )
    return moved, {"size_m": estimate, "height_m": height}


def measured_size(mesh: Mesh, unit_m: float | None, name: str, config: PhysicsConfig) -> Estimate:
    """Return the longest side of a mesh in its file's unit.

    Args:
        mesh: As it stands in the file.
        unit_m: The unit [m]; None where the user didn't say, then a metre.
        name: Of the file.
        config: height, length: with either, the file's own size doesn't matter.

    Raises:
        StageError: Nobody stated a unit or a size, and a metre gives one that isn't plausible.
    """
    longest = float(mesh.extents.max()) * (unit_m or 1.0)
    low, high = PLAUSIBLE_M
    stated = unit_m or config.height or config.length
    if not stated and not low <= longest <= high:
        slip = "millimetres or centimetres" if longest > high else "another unit"
        raise StageError(
            f"size: got a longest side of {longest:.3g} m, taking the file's unit as 1 m; wanted "
            f"{low:g} to {high:g} m where no unit is stated. Is the file in {slip}? State it with "
            "--units (m, cm, mm, inch), or the true size with --height or --length"
        )
    return Estimate(longest, "mesh", f"extents of {name}, unit {unit_m or 1.0:g} m")


def refit(before: Mesh, after: Mesh) -> tuple[float, np.ndarray]:
    """Return scale s and offset o (3,) of a mesh that was scaled and shifted: p' = s * p + o."""
    scale = float(after.extents.max() / before.extents.max())
    return scale, after.bounds[0] - scale * before.bounds[0]


def name_of(estimate: Estimate | None) -> str:
    """Return an estimate's word; "unknown" where there is none."""
    if estimate is None or estimate.value is None:
        return "unknown"
    return str(estimate.value)


def _extents(mesh: Mesh) -> np.ndarray:
    if not len(mesh.vertices) or not np.isfinite(mesh.vertices).all():
        raise StageError(
            f"size: got a mesh of {len(mesh.vertices)} vertices, not all finite or none at all; "
            "wanted a body"
        )
    extents = mesh.extents
    if not extents.max() > 0:
        raise StageError("size: got a mesh whose bounding box is a point; wanted a body")
    return extents


def _longest_side(
    extents: np.ndarray, size: Estimate, config: PhysicsConfig, category: Estimate | None
) -> Estimate:
    for flag, value in (("height", config.height), ("length", config.length)):
        if value is not None and not (np.isfinite(value) and value > 0):
            raise ConfigError(f"--{flag}: got {value}; wanted a finite number of metres > 0")
    longest = float(extents.max())
    ratio = float(extents[2]) / longest  # height over longest side
    if config.height is not None:
        if not ratio > 1e-6:
            raise ConfigError("--height: the object is flat; state its size with --length")
        implied = config.height / ratio
        if config.length is not None and abs(config.length / implied - 1.0) > RATIO_TOLERANCE:
            raise ConfigError(
                f"--height {config.height:g} and --length {config.length:g}: their ratio is "
                f"{config.height / config.length:.3g}, but the shape's height is {ratio:.3g} of its "
                f"longest side (a height of {config.height:g} m makes it {implied:.3g} m long). "
                "Give one of the two"
            )
        if config.length is None:
            return Estimate(implied, "user", f"from --height {config.height:g} m")
    if config.length is not None:
        return Estimate(config.length, "user", f"--length {config.length:g} m")
    if size.value is not None:
        return size
    row = materials.category(name_of(category))
    note = f"usual longest side of {row.name}: {row.source}"
    return Estimate(row.longest.median, "prior", note, row.longest.low, row.longest.high)
