"""Any mesh to one watertight, manifold, outward-wound body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seed3d.config import MeshConfig
from seed3d.errors import StageError
from seed3d.mesh.apart import keep_apart
from seed3d.mesh.decimate import component_sizes, decimate
from seed3d.mesh.grid import distance_grid, scene, tensor
from seed3d.mesh.holes import fill_openings
from seed3d.mesh.manifold import compose, from_manifold, to_manifold, union
from seed3d.mesh.parts import Part, clean, signed_volume, split_parts, surface_area, weld_cracks
from seed3d.mesh.rebuild import MIN_THICKNESS, rebuild
from seed3d.types import Fallback, Mesh, Solid

WELD = 1e-6
"""Vertices nearer than this are one [share of the longest side]."""

CRACK = 1e-4
"""Open edges nearer than this are joined [share of the longest side]."""

SMALL_RIM = 12.0
"""Openings with a rim no longer than this are closed where that completes a part [voxel]."""

SHEET = 1e-3
"""Closed parts with a thickness 2 V / A below this, and flat, are sheets [share of the longest side]."""

RESOLVED = 2e-6
"""Shortest edge that is kept [share of the longest side]: 16 steps of single precision."""

MAX_HIDDEN = 0.02
"""Hollows that only openings narrower than a voxel reach are filled above this [share of the volume]."""


def make_solid(mesh: Mesh, config: MeshConfig) -> Solid:
    """Turn any triangle mesh into one closed body.

    The rules, in order:

    1. Vertices within `WELD` are merged; collapsed and repeated faces go; cracks narrower
       than `CRACK` are joined; parts that are wound inside out are turned.
    2. Openings that are small, or flat in the bottom or back of the bounding box, are closed
       where that completes a part (`seed3d.mesh.holes`). Other openings stay cavities.
    3. Closed parts are united exactly. Parts that are still open, and closed ones without
       thickness, are rebuilt together over a grid of `config.resolution` (`rebuild`); sheets
       get a thickness of one voxel.
    4. Hollows that nothing reaches are filled. If openings narrower than a voxel lead to more
       than `MAX_HIDDEN` of hollow volume (or parts overlap themselves), all is rebuilt.
    5. Bodies smaller than `config.min_component` of the largest (diagonal of the bounding box)
       are dropped; the others stay, also where they don't touch, in one mesh.
    6. Above `config.target_faces` the mesh is decimated.

    Args:
        mesh: Canonical size (longest side about 1.9), near the origin, Z up.
        config: Grid, budget and floater rule.

    Raises:
        StageError: No faces, coordinates that are not finite, no extent, or nothing manifold
            could be built.
    """
    spacing, longest = _spacing(mesh, config)
    notes: list[str] = []
    soup = clean(mesh, WELD * longest)
    if len(soup.faces) == 0:
        raise StageError("mesh: all faces have zero area; wanted a surface")
    parts = split_parts(soup)
    if not all(part.closed for part in parts):
        parts = split_parts(weld_cracks(soup, CRACK * longest))
        parts = _close_openings(parts, soup.bounds, spacing, longest, notes)
    body, rebuilt = _unite(parts, spacing, longest, config, notes)
    if _hidden_share(body, spacing) > MAX_HIDDEN:
        notes.append(
            f"has hollows behind gaps narrower than a voxel; rebuilt at {config.resolution} voxels"
        )
        body, rebuilt = _without_voids(rebuild(from_manifold(body), spacing)), True
    body = _without_floaters(body, config.min_component, spacing if rebuilt else 0.0, notes)
    body, note = decimate(body, config.target_faces)
    notes += [note] if note else []
    return Solid(
        keep_apart(_checked(_resolved(body, longest)), RESOLVED * longest),
        tuple(Fallback("mesh", note) for note in notes),
    )


def _spacing(mesh: Mesh, config: MeshConfig) -> tuple[float, float]:
    if len(mesh.faces) == 0:
        raise StageError("mesh: got no faces; wanted a surface")
    if not np.isfinite(mesh.vertices[mesh.faces]).all():
        raise StageError("mesh: got coordinates that are not finite; wanted numbers")
    if config.resolution < 16 or config.target_faces < 100:
        raise StageError(
            f"mesh: got resolution {config.resolution} and target_faces {config.target_faces}; "
            "wanted at least 16 and 100"
        )
    used = mesh.vertices[mesh.faces.reshape(-1)]
    longest = float((used.max(axis=0) - used.min(axis=0)).max())
    if longest <= 0:
        raise StageError("mesh: all vertices are at one point; wanted an extent")
    return longest / config.resolution, longest


def _close_openings(
    parts: list[Part], bounds: np.ndarray, spacing: float, longest: float, notes: list[str]
) -> list[Part]:
    done: list[Part] = []
    small, sides = 0, set()
    for part in parts:
        filled = None if part.closed else fill_openings(part, bounds, small=SMALL_RIM * spacing)
        pieces = split_parts(filled.mesh) if filled else [part]
        if filled and all(p.closed and not _is_sheet(p.mesh, longest) for p in pieces):
            small += filled.small
            sides |= set(filled.sides)
            done += pieces
        else:
            done.append(part)
    if small:
        notes.append(f"closed {small} small opening{'s' if small > 1 else ''}")
    if sides:
        notes.append(f"closed an opening in the {' and the '.join(sorted(sides))}")
    return done


def _unite(
    parts: Sequence[Part], spacing: float, longest: float, config: MeshConfig, notes: list[str]
) -> tuple[Any, bool]:
    """Return the union of all parts, and whether any of them was rebuilt."""
    bodies, rest = [], []
    for part in parts:
        solid = part.closed and not _is_sheet(part.mesh, longest)
        body = to_manifold(part.mesh) if solid else None
        rest.append(part.mesh) if body is None else bodies.append(body)
    if rest:
        what = (
            "was open;"
            if not bodies
            else f"was open in {len(rest)} of {len(parts)} parts; these were"
        )
        notes.append(f"{what} rebuilt at {config.resolution} voxels")
        bodies.append(rebuild(_concatenate(rest), spacing))
    return _without_voids(union(bodies)), bool(rest)


def _is_sheet(mesh: Mesh, longest: float) -> bool:
    thickness = 2 * signed_volume(mesh) / max(surface_area(mesh), 1e-300)
    size = float(np.linalg.norm(mesh.extents))
    return thickness < min(SHEET * longest, 0.02 * size)


def _concatenate(meshes: Sequence[Mesh]) -> Mesh:
    offsets = np.cumsum([0, *(len(m.vertices) for m in meshes)])
    faces = [m.faces + o for m, o in zip(meshes, offsets, strict=False)]
    return Mesh(np.concatenate([m.vertices for m in meshes]), np.concatenate(faces))


def _without_voids(body: Any) -> Any:
    """Drop inner surfaces: closed ones that are wound inwards."""
    pieces = body.decompose()
    outer = [p for p in pieces if p.volume() > 0]
    if not outer:
        raise StageError(
            "mesh: the body has no volume; wanted a solid. Check the mesh for flat parts"
        )
    # What was inside of a hollow is now inside of the solid: unite, don't only compose.
    return body if len(outer) == len(pieces) else union(outer)


def _hidden_share(body: Any, spacing: float) -> float:
    """Return the volume that neither counts as solid nor can be reached, over the body's volume."""
    if body.hull().volume() <= (1 + MAX_HIDDEN) * body.volume():
        return 0.0  # no room for hollows
    mesh = from_manifold(body)
    grid = distance_grid(mesh, spacing, band=spacing)
    nodes = np.argwhere(grid.sealed)
    if len(nodes) == 0:
        return 0.0
    solid = scene(mesh).compute_occupancy(tensor(grid.points(nodes))).numpy() > 0.5
    return float((~solid).sum() * spacing**3 / body.volume())


def _without_floaters(body: Any, share: float, grown: float, notes: list[str]) -> Any:
    """Drop small bodies; rebuilt ones have grown by `MIN_THICKNESS` * `grown` at most."""
    pieces = body.decompose()
    size = component_sizes(pieces, shrink=MIN_THICKNESS * grown)
    keep = size >= share * size.max()
    if keep.all():
        return body
    dropped = int((~keep).sum())
    notes.append(f"dropped {dropped} floater{'s' if dropped > 1 else ''}")
    return compose([p for p, k in zip(pieces, keep, strict=True) if k])


def _resolved(body: Any, longest: float) -> Any:
    """Collapse edges so short that file formats in single precision make one point of their ends."""
    mesh = from_manifold(body)
    ends = mesh.vertices[mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)]
    shortest = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).min())
    if shortest >= RESOLVED * longest:
        return body
    simple = body.simplify(2.0 * RESOLVED * longest)
    return body if simple.is_empty() else simple


def _checked(body: Any) -> Mesh:
    mesh = from_manifold(body)
    if not np.isfinite(mesh.vertices).all() or to_manifold(mesh) is None:
        raise StageError("mesh: the result is not a closed manifold; repair the mesh and try again")
    if signed_volume(mesh) <= 0:
        raise StageError("mesh: the result has no volume; wanted a solid")
    return mesh
