"""Reopen every exported file and compare it with the report, with the others and with physics."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from seed3d.types import Check
from seed3d.verify.folder import Expected, find_files, read_all
from seed3d.verify.friction import check_friction
from seed3d.verify.model import FileModel, Format, MassProperties, signed_volume
from seed3d.verify.paths import check_references, check_texture
from seed3d.verify.sanity import check_hulls, check_mass, check_size, check_visual
from seed3d.verify.target import Target, as_target
from seed3d.verify.text import percent

LENGTH_LIMIT = 1e-3
"""Largest difference of a length between files, as a share of the longest side."""
MASS_LIMIT = 1e-3
"""Largest relative difference of mass, inertia (Frobenius norm) and hull volume between files."""

NO_PHYSICS = ("glb", "mesh")
"""Formats that hold no mass and no hulls."""
NO_HULLS = (*NO_PHYSICS, "mjcf_sdf")
GPU_HULL_VERTICES = 64
"""Most vertices of a hull that PhysX takes on a GPU; demanded of Seed3D's own assets."""


def check_files(where: Path | Target, expected: Expected) -> list[Check]:
    """Run every check that needs no simulation.

    Each format is read by code that shares nothing with the exporters. Values are compared with
    `expected` where it knows them, else with the first file that states them (URDF, MJCF, USD,
    GLB in this order). Laws of mechanics and geometry are checked on that first file.

    Args:
        where: The asset's folder, or single files of it.
        expected: What the asset should be; `Expected()` for a foreign folder.

    Raises:
        InputError: The folder holds nothing to verify.
    """
    files = find_files(where)
    folder = as_target(where).folder
    checks = _presence(folder, files, expected)
    models, problems = read_all(files)
    for kind in files:
        value = "readable" if kind in models else problems[kind]
        checks.append(Check("opens", kind in models, value, "readable", kind))
    for model in models.values():
        checks += _own_checks(model, folder, expected)
    return checks + _physics_checks(models, expected) + _agreement(models, expected)


def _presence(folder: Path, files: dict[Format, Path], expected: Expected) -> list[Check]:
    missing = [f for f in expected.formats if f not in files]
    missing += [f for f in expected.files if not (folder / f).is_file()]
    if not (expected.formats or expected.files):
        return []
    value = f"missing: {', '.join(missing)}" if missing else f"{len(expected.files)} files"
    return [Check("files", not missing, value, "every file that the report lists", "report")]


def _own_checks(model: FileModel, folder: Path, expected: Expected) -> list[Check]:
    ours = expected.name is not None
    checks = [check_references(model, folder), check_texture(model, required=ours)]
    if model.notes:
        checks.append(
            Check("units", False, "; ".join(model.notes), "m, kg, Z up, rigid body", model.format)
        )
    elif model.format == "usd":
        checks.append(Check("units", True, "m, kg, Z up", "m, kg, Z up, rigid body", "usd"))
    strict = r"[A-Za-z_][A-Za-z0-9_]*" if ours else r"\S.*"
    passed = re.fullmatch(strict, model.name) is not None
    passed = passed and model.name == (expected.name or model.name)
    wanted = repr(expected.name) if ours else "a name"
    checks.append(Check("name", passed, repr(model.name), wanted, model.format))
    if model.format not in NO_PHYSICS:
        checks.append(check_friction(model, required=ours))
    return checks + check_visual(model)


def _physics_checks(models: dict[Format, FileModel], expected: Expected) -> list[Check]:
    checks: list[Check] = []
    most_vertices = GPU_HULL_VERTICES if expected.name is not None else None
    for model in models.values():
        checks += check_size(model)
        break
    for model in models.values():
        if model.format not in NO_PHYSICS:
            checks += check_mass(model) + check_hulls(model, most_vertices)
            break
    return checks


def _agreement(models: dict[Format, FileModel], expected: Expected) -> list[Check]:
    """Compare every file with the report, or with the first file that states the value."""
    checks: list[Check] = []
    bounds = _reference_bounds(models, expected)
    if bounds is not None:
        for model in models.values():
            checks += _bounds_checks(model, bounds, expected)
        size = float((bounds[1] - bounds[0]).max())
        checks += _mass_agreement(models, expected, size)
    return checks + _hull_agreement(models, expected)


def _reference_bounds(models: dict[Format, FileModel], expected: Expected) -> np.ndarray | None:
    """Bounds (2, 3) to compare with: those that the report confirms, else the files' median."""
    found = [m.bounds for m in models.values() if m.bounds is not None]
    if not found:
        return None
    if expected.extents_m is not None:
        off = [float(np.abs(b[1] - b[0] - expected.extents_m).max()) for b in found]
        return found[int(np.argmin(off))]
    return np.median(found, axis=0) if len(found) > 2 else found[0]


def _bounds_checks(model: FileModel, bounds: np.ndarray, expected: Expected) -> list[Check]:
    own = model.bounds
    if own is None:
        return []
    wanted = f"<= {100 * LENGTH_LIMIT:g} % of the size"
    size = float((bounds[1] - bounds[0]).max())
    off = float(np.abs(own - bounds).max()) / size
    checks = [_share("bounds agree", off, LENGTH_LIMIT, wanted, model.format)]
    if expected.extents_m is not None:
        size = float(expected.extents_m.max())
        off = float(np.abs(own[1] - own[0] - expected.extents_m).max()) / size
        checks.append(_share("extents of report", off, LENGTH_LIMIT, wanted, model.format))
    return checks


def _share(name: str, value: float, limit: float, wanted: str, where: str) -> Check:
    return Check(name, bool(value <= limit), percent(value), wanted, where)


def _mass_agreement(
    models: dict[Format, FileModel], expected: Expected, size: float
) -> list[Check]:
    known = {m.format: m.mass for m in models.values() if m.mass is not None}
    reference = expected.mass or next(iter(known.values()), None)
    if reference is None:
        return []
    skip = None if expected.mass else next(iter(known))  # a file isn't compared with itself
    checks: list[Check] = []
    for kind, model in models.items():
        if kind in NO_PHYSICS or kind == skip:
            continue
        if model.mass is None:
            checks.append(Check("mass agrees", False, "none stated", "a mass", kind))
        else:
            checks += _compare_mass(model.mass, reference, size, kind)
    return checks


def _compare_mass(
    body: MassProperties, reference: MassProperties, size: float, where: str
) -> list[Check]:
    mass = abs(body.mass_kg - reference.mass_kg) / abs(reference.mass_kg or np.nan)
    com = float(np.linalg.norm(body.com_m - reference.com_m)) / size
    scale = float(np.linalg.norm(reference.inertia_kg_m2)) or np.nan
    inertia = float(np.linalg.norm(body.inertia_kg_m2 - reference.inertia_kg_m2)) / scale
    relative = f"<= {100 * MASS_LIMIT:g} % off"
    length = f"<= {100 * LENGTH_LIMIT:g} % of the size off"
    return [
        _share("mass agrees", mass, MASS_LIMIT, relative, where),
        _share("centre of mass agrees", com, LENGTH_LIMIT, length, where),
        _share("inertia agrees", inertia, MASS_LIMIT, relative, where),
    ]


def _hull_agreement(models: dict[Format, FileModel], expected: Expected) -> list[Check]:
    volumes = {
        kind: np.sort([signed_volume(h.mesh) for h in model.hulls])
        for kind, model in models.items()
        if kind not in NO_HULLS
    }
    if not volumes:
        return []
    reference = expected.hull_volumes_m3
    skip = None if reference is not None else next(iter(volumes))
    reference = np.sort(reference) if reference is not None else volumes[next(iter(volumes))]
    checks: list[Check] = []
    for kind, own in volumes.items():
        if kind == skip:
            continue
        same = len(own) == len(reference)
        checks.append(Check("hull count", same, float(len(own)), str(len(reference)), kind))
        if same and len(own):
            off = float((np.abs(own - reference) / np.abs(reference).max()).max())
            wanted = f"<= {100 * MASS_LIMIT:g} % of the largest hull off"
            checks.append(_share("hull volumes", off, MASS_LIMIT, wanted, kind))
    return checks
