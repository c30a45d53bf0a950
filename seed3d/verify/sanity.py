"""Checks of one file on its own: can this be a real object?"""

from __future__ import annotations

import numpy as np

from seed3d.types import Check, Mesh
from seed3d.verify.model import FileModel, Hull, MassProperties, convex_hull, signed_volume
from seed3d.verify.probe import LARGE_CAVITY, MOST_FILLED, find_cavities
from seed3d.verify.text import fixed, percent, rounded

SIZE_M = (1e-3, 100.0)
"""Longest side of an object that a rigid-body engine can hold."""
DENSITY_KG_M3 = (1.0, 23_000.0)
"""Mass over the visible solid's volume: a balloon's foil ... osmium."""
INERTIA_RATIO = (0.2, 5.0)
"""Principal moments over those of a uniform solid of the same mass: a dense core ... a shell."""
TRIANGLE_SLACK = 1e-6
"""Share of the largest moment by which A + B may miss C (rounding of a thin plate)."""
OUTSIDE_SHARE = 0.01
"""Distance that the centre of mass may lie outside the convex hull, of the longest side."""
COVER_SHARE, COVER_FLOOR_M = 0.03, 2e-3
"""Distance between visible surface and collision hulls, of the longest side, and its floor [m]."""
MOST_UNCOVERED = 0.05
"""Share of the visible surface that may be farther than that from every hull."""


def check_size(model: FileModel) -> list[Check]:
    """Check the longest side of the visible geometry."""
    bounds = model.bounds
    if bounds is None:
        return []
    size = float((bounds[1] - bounds[0]).max())
    low, high = SIZE_M
    wanted = f"longest side {low:g} to {high:g} m"
    return [Check("size", low <= size <= high, rounded(size), wanted, model.format)]


def check_visual(model: FileModel) -> list[Check]:
    """Check that the visible surface is closed and wound outwards (vertices merged)."""
    if model.visual is None:
        wanted = "visible geometry"
        return [Check("visual", False, "none", wanted, model.format)]
    body = model.visual.to_trimesh()
    broken = _open_edges(model.visual)
    checks = [Check("watertight", broken == 0, float(broken), "0 open edges", model.format)]
    volume = signed_volume(model.visual)
    wound = bool(body.is_winding_consistent) and volume > 0
    value = rounded(volume) if body.is_winding_consistent else "faces wound both ways"
    checks.append(Check("winding", wound, value, "volume > 0 m^3, one winding", model.format))
    return checks


def _open_edges(mesh: Mesh) -> int:
    """Count the edges with an odd number of faces; four are two closed sheets that touch there."""
    edge = np.sort(mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, count = np.unique(edge, axis=0, return_counts=True)
    return int((count % 2 == 1).sum())


def check_mass(model: FileModel) -> list[Check]:
    """Check mass, centre of mass and inertia against the laws of mechanics and the geometry."""
    if model.mass is None:
        return [Check("mass", False, "none stated", "mass and inertia", model.format)]
    body, where = model.mass, model.format
    finite = np.isfinite(body.mass_kg) and body.mass_kg > 0
    checks = [Check("mass", bool(finite), rounded(body.mass_kg), "a finite mass > 0 kg", where)]
    checks += _tensor_checks(body, where)
    solid = _reference_solid(model.visual)
    if solid is None or not all(c.passed for c in checks):
        return checks
    return checks + _geometry_checks(body, solid, where)


def _tensor_checks(body: MassProperties, where: str) -> list[Check]:
    wanted_sign, wanted_sum = "all principal moments > 0", "A + B >= C"
    if not np.isfinite(body.inertia_kg_m2).all():
        return [Check("inertia positive", False, "not finite", wanted_sign, where)]
    a, b, c = np.linalg.eigvalsh(body.inertia_kg_m2)
    moments = f"{a:.4g}, {b:.4g}, {c:.4g} kg m^2"
    spare = (a + b - c) / abs(c) if c else 0.0
    return [
        Check("inertia positive", bool(a > 0), moments, wanted_sign, where),
        Check("inertia triangle", bool(spare >= -TRIANGLE_SLACK), moments, wanted_sum, where),
    ]


def _reference_solid(visual: Mesh | None) -> Mesh | None:
    """The visible solid where it is closed, else its convex hull."""
    if visual is None:
        return None
    if visual.to_trimesh().is_volume:
        return visual
    return convex_hull(visual.vertices)


def _geometry_checks(body: MassProperties, solid: Mesh, where: str) -> list[Check]:
    mesh = solid.to_trimesh()
    density = body.mass_kg / float(mesh.volume)
    low, high = DENSITY_KG_M3
    wanted = f"{low:g} to {high:g} kg/m^3"
    checks = [Check("density", low <= density <= high, rounded(density), wanted, where)]
    uniform = np.linalg.eigvalsh(np.array(mesh.moment_inertia)) * density
    ratio = np.linalg.eigvalsh(body.inertia_kg_m2) / np.maximum(uniform, 1e-300)
    low, high = INERTIA_RATIO
    worst = float(ratio[np.argmax(np.abs(np.log(ratio)))])
    wanted = f"{low:g} to {high:g} times a uniform solid's moments"
    passed = low <= worst <= high
    checks.append(Check("inertia of geometry", passed, rounded(worst), wanted, where))
    checks.append(_placeholder_check(body, uniform, where))
    outside = _outside([convex_hull(solid.vertices)], body.com_m[None])[0]
    share = max(float(outside) / float(solid.extents.max()), 0.0)
    wanted = f"<= {100 * OUTSIDE_SHARE:g} % of the size outside the object"
    passed = share <= OUTSIDE_SHARE
    checks.append(Check("centre of mass", passed, percent(share), wanted, where))
    return checks


def _placeholder_check(body: MassProperties, uniform: np.ndarray, where: str) -> Check:
    """Three equal round moments on a body whose own differ, or that are far off: a template's."""
    wanted = "moments of this object, not of a template"
    moments = np.diag(body.inertia_kg_m2)
    off = float(np.abs(body.inertia_kg_m2 - np.diag(moments)).max())
    first = float(moments[0])
    power = first > 0 and abs(np.log10(first) - round(np.log10(first))) < 1e-9
    same = off == 0 and float(np.ptp(moments)) == 0 and power
    fits = bool(np.all(np.abs(uniform / max(first, 1e-300) - 1.0) < 0.25))
    value = f"{first:g} on every axis" if same and not fits else "none"
    return Check("placeholder inertia", not same or fits, value, wanted, where)


def check_hulls(model: FileModel, most_vertices: int | None = None) -> list[Check]:
    """Check that the collision hulls are convex, lie where the visible surface is, keep cavities.

    Args:
        model: A file that states hulls.
        most_vertices: Limit for the vertices of one hull; None only states the most.
    """
    if not model.hulls:
        return [Check("hulls", False, 0.0, "at least one collision hull", model.format)]
    fields = [h for h in model.hulls if h.primitive == "sdf"]
    hulls = tuple(h for h in model.hulls if h.primitive != "sdf")
    checks = _field_checks(fields, model.format) if fields else []
    checks += _shape_checks(hulls, most_vertices, model.format) if hulls else []
    if model.visual is None:
        return checks
    if fields:  # the engine collides with the mesh as it is: nothing to cover or to fill
        return [*checks, _bounds_check(model.visual, [h.mesh for h in model.hulls], model.format)]
    convex = [convex_hull(h.mesh.vertices) for h in hulls]
    checks += _place_checks(model.visual, convex, model.format)
    return [*checks, _cavity_check(model.visual, convex, model.format)]


def _shape_checks(hulls: tuple[Hull, ...], most_vertices: int | None, where: str) -> list[Check]:
    most = max((len(h.mesh.vertices) for h in hulls if not h.primitive), default=0)
    if most_vertices is not None:
        wanted, passed = f"<= {most_vertices} vertices a hull", most <= most_vertices
    else:
        wanted, passed = "stated only: GPU PhysX takes 64", True
    vertices = Check("hull vertices", passed, float(most), wanted, where)
    return [_convex_check(hulls, where), vertices]


def _field_checks(fields: list[Hull], where: str) -> list[Check]:
    """Check that the meshes of signed distance fields tell inside from outside."""
    volume = min(signed_volume(h.mesh) for h in fields)
    return [Check("SDF volume", bool(volume > 0), rounded(volume), "volume > 0 m^3", where)]


def _cavity_check(visual: Mesh, hulls: list[Mesh], where: str) -> Check:
    wanted = (
        f"<= {100 * MOST_FILLED:g} % of the space of cavities (each > {100 * LARGE_CAVITY:g} % of "
        "the convex hull) filled"
    )
    cavities = find_cavities(visual, hulls)
    if cavities is None:
        value = "not measured: the visible mesh isn't a manifold solid"
        return Check("cavities", True, value, wanted, where)
    if not cavities.volume_m3:
        return Check("cavities", True, "no large cavity", wanted, where)
    passed = cavities.filled <= MOST_FILLED
    return Check("cavities", passed, percent(cavities.filled), wanted, where)


def _convex_check(hulls: tuple[Hull, ...], where: str) -> Check:
    ratio = [signed_volume(h.mesh) / signed_volume(convex_hull(h.mesh.vertices)) for h in hulls]
    worst = float(min(ratio))
    wanted = "volume >= 0.98 of the hull's convex hull"
    return Check("hulls convex", worst >= 0.98, rounded(worst), wanted, where)


def _bounds_check(visual: Mesh, bodies: list[Mesh], where: str) -> Check:
    limit = max(COVER_SHARE * float(visual.extents.max()), COVER_FLOOR_M)
    corners = np.concatenate([b.bounds for b in bodies])
    gap = np.abs(np.stack([corners.min(0), corners.max(0)]) - visual.bounds).max()
    wanted = f"bounds within {1000 * limit:.3g} mm of the visible ones"
    return Check("hull bounds", bool(gap <= limit), fixed(1000 * gap, 3), wanted, where)


def _place_checks(visual: Mesh, hulls: list[Mesh], where: str) -> list[Check]:
    limit = max(COVER_SHARE * float(visual.extents.max()), COVER_FLOOR_M)
    checks = [_bounds_check(visual, hulls, where)]
    points = surface_points(visual, 2000)
    bare = float((_outside(hulls, points) > limit).mean())
    wanted = f"<= {100 * MOST_UNCOVERED:g} % of the surface farther than {1000 * limit:.3g} mm"
    passed = bare <= MOST_UNCOVERED
    checks.append(Check("hull cover", passed, percent(bare), wanted, where))
    return checks


def _outside(hulls: list[Mesh], points: np.ndarray) -> np.ndarray:
    """How far each point (N, 3) lies outside the nearest hull, by its planes (N,); < 0 inside.

    The largest plane distance is a lower bound of the true distance, equal to it in front of
    a face.
    """
    best = np.full(len(points), np.inf)
    for hull in hulls:
        a, b, c = (hull.vertices[hull.faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        keep = length[:, 0] > 1e-12 * length.max()
        normal, a = normal[keep] / length[keep], a[keep]
        distance = points @ normal.T - np.einsum("ij,ij->i", normal, a)
        best = np.minimum(best, distance.max(axis=1))
    return best


def surface_points(mesh: Mesh, count: int) -> np.ndarray:
    """Return `count` points spread over a surface by area (count, 3), the same on every run."""
    import trimesh

    sample = trimesh.sample.sample_surface(mesh.to_trimesh(), count, seed=0)
    return np.asarray(sample[0], np.float64)
