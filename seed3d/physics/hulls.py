"""Convex hulls that stand for a solid in contact: cavities and holes stay open."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seed3d.config import PhysicsConfig
from seed3d.errors import ConfigError, StageError
from seed3d.mesh.manifold import from_manifold
from seed3d.physics.base import Base, flat_base
from seed3d.physics.convex import convex_hull, solid_of
from seed3d.physics.cover import uncovered_parts
from seed3d.physics.fill import Fit, Openings
from seed3d.physics.hull_worker import Method, pack_request, unpack_reply
from seed3d.physics.merge import merge_parts
from seed3d.physics.primitives import fit_primitive, primitive_mesh
from seed3d.processes import ProcessTimeout, run_limited
from seed3d.types import Collision, Fallback, Mesh, Primitive

STAGE = "physics.hulls"
CONVEX_SHARE = 0.97
"""A solid that fills this much of its convex hull is taken as convex."""
MINIMUM_VOLUME = 2e-15
"""Smallest volume of a hull [m3]; MuJoCo refuses meshes below 1e-15."""
SLIVER_SHARE = 1e-5
"""Hulls below this share of the solid's volume carry no contact and are dropped."""
MAX_FACES = 2000
"""CoACD's input is decimated to about this many faces: its time grows with them."""
STEPS = (0.0015, 0.003, 0.006, 0.009, 0.012, 0.018, 0.024, 0.036, 0.048, 0.072, 0.096)
"""Deviations at which the input is decimated, one after the other (longest side 2)."""
MAX_FILLED = 0.1
"""Largest share of the empty space inside the convex hull that hulls may fill without a note."""
MERGE_FILLED = 0.08
"""Share of it that may be filled in favour of fewer hulls."""
MERGE_DEVIATION = 1.25
"""Largest deviation of a merged hull over the threshold of CoACD's run."""
VOXELS = 200_000
"""V-HACD's resolution; with 400,000 it takes twice as long and keeps 1 % more open."""
MOSTLY_FILLED = 0.5
"""Share of the open space from which V-HACD counts as having failed: it does on some shapes."""


@dataclass(frozen=True)
class _Attempt:
    """One run of CoACD or V-HACD; lengths in half longest sides of the object."""

    words: str
    """For notes."""
    threshold: float
    """Of CoACD, and for merging."""
    tolerance: float
    """Largest deviation of the decimated input."""
    options: dict[str, Any]
    """Of the method, seed and number of hulls apart."""
    time_share: float
    """Share of the processor time that this run may take."""
    method: Method = "coacd"


@dataclass(frozen=True)
class _Candidate:
    """Hulls of the object scaled to a longest side of 2, with their measured error."""

    hulls: tuple[Mesh, ...]
    primitives: tuple[Primitive | None, ...]
    fit: Fit
    notes: tuple[Fallback, ...]

    @property
    def fills_too_much(self) -> bool:
        """True where open space worth naming is closed; a near-convex solid has none."""
        fit = self.fit
        return max(fit.filled, fit.cavity_filled) > MAX_FILLED and fit.excess > 1.0 - CONVEX_SHARE


def decompose(mesh: Mesh, config: PhysicsConfig, seed: int) -> Collision:
    """Split a closed mesh into convex hulls with CoACD (Wei et al. 2022), in a process of its own.

    A solid that is nearly its own convex hull becomes that one hull. Where a run fails or takes
    too long V-HACD (Mamou 2016) is asked, then a coarser CoACD, which the result records. Hulls come in a stable order (largest
    first); the same mesh, options and seed give the same arrays.

    Args:
        mesh: Watertight, counter-clockwise from outside, link frame [m].
        config: hull_threshold, max_hulls, max_hull_vertices, hull_timeout_s.
        seed: Of CoACD's tree search.

    Raises:
        ConfigError: An option out of range.
        StageError: The mesh is no closed solid, or every attempt failed.
    """
    _check_config(config)
    size = float(mesh.extents.max()) if len(mesh.vertices) else 0.0
    if not (np.isfinite(size) and size > 0):
        raise StageError(f"hulls: got a mesh of size {size} m; wanted a body")
    center = mesh.bounds.mean(axis=0)
    unit = mesh.moved(2.0 / size, -center * 2.0 / size)  # the longest side is 2
    solid = solid_of(unit)
    if solid.volume() > CONVEX_SHARE * solid.hull().volume():
        best, notes = _candidate([unit.vertices], Openings(solid), size, config), []
    else:
        best, notes = _decompose_unit(Openings(solid), size, config, seed)
    scale = size / 2.0
    primitives = tuple(p and _moved(p, scale, center) for p in best.primitives)
    hulls = tuple(
        primitive_mesh(p) if p else hull.moved(scale, center)
        for hull, p in zip(best.hulls, primitives, strict=True)
    )
    said = (*notes, *best.notes, *_fill_note(best))
    return Collision(hulls, best.fit.ratio, said, primitives, best.fit.measures(size))


def moved(collision: Collision, scale: float, offset: np.ndarray) -> Collision:
    """Return the bodies with every point p at scale * p + offset; lengths in `measures` follow."""
    lengths = ("distance_m", "mean_distance_m")
    return replace(
        collision,
        hulls=tuple(hull.moved(scale, offset) for hull in collision.hulls),
        primitives=tuple(p and _moved(p, scale, offset) for p in collision.primitives),
        measures={k: v * scale if k in lengths else v for k, v in collision.measures.items()},
    )


def _moved(primitive: Primitive, scale: float, offset: np.ndarray) -> Primitive:
    size = tuple(length * scale for length in primitive.size_m)
    return replace(primitive, size_m=size, center_m=primitive.center_m * scale + offset)


def _check_config(config: PhysicsConfig) -> None:
    wanted = {
        "hull_threshold": (0.01, 1.0),  # CoACD's own range
        "max_hulls": (1, 256),
        "max_hull_vertices": (8, 255),
        "primitive_tolerance": (0.0, 0.1),
        "hull_timeout_s": (0.01, 3600.0),
    }
    for name, (low, high) in wanted.items():
        value = getattr(config, name)
        if not low <= value <= high:
            raise ConfigError(f"physics.{name}: got {value}; wanted {low} to {high}")


def _coacd(
    threshold: float, tolerance: float, iterations: int, depth: int, share: float, again: str = ""
) -> _Attempt:
    options = {
        "threshold": threshold,
        "preprocess_mode": "off",
        "resolution": 1000,
        "mcts_nodes": 5,
        "mcts_iterations": iterations,
        "mcts_max_depth": depth,
    }
    return _Attempt(
        f"CoACD{again} at threshold {threshold:g}", threshold, tolerance, options, share
    )


def _vhacd(threshold: float) -> _Attempt:
    options = {
        "resolution": VOXELS,
        "maxRecursionDepth": 14,
        "maxNumVerticesPerCH": 60,
        "asyncACD": False,  # threads would end in another order
    }
    return _Attempt("V-HACD", threshold, 0.006, options, 0.25, "vhacd")


def _decompose_unit(
    openings: Openings, size: float, config: PhysicsConfig, seed: int
) -> tuple[_Candidate, list[Fallback]]:
    """Run CoACD on a solid of longest side 2; once finer where it fills too much with few hulls.

    Where it takes too long, V-HACD: it is quicker on lace, grids and wicker and keeps as much open
    there; where that closes most of the space too, the better of it and a coarse CoACD.
    """
    threshold, notes = config.hull_threshold, []

    def run(attempt: _Attempt, kept: str = "") -> tuple[int, list[_Candidate]]:
        parts, problem = _run(openings, attempt, config, seed)
        if not parts:
            notes.append(Fallback(STAGE, f"{attempt.words} {problem}{kept}"))
        return len(parts), [_candidate(parts, openings, size, config)] if parts else []

    # 40 iterations over 5 cut candidates an axis: a third of the time of CoACD's own 150 over
    # 20 with hulls as good (shelf, cup, lamp, chair: filled share of the cavity 0.4 to 7 %).
    count, found = run(_coacd(threshold, 0.006, 40, 3, 0.45))
    if found and found[0].fills_too_much and count < config.max_hulls:
        finer = _coacd(max(0.01, 0.5 * threshold), 0.006, 40, 3, 0.3, " again")
        found += run(finer, "; kept the best of the first and V-HACD")[1]
    if notes:
        found += run(_vhacd(threshold))[1]
    if notes and (not found or _best(found).fit.filled > MOSTLY_FILLED):
        found += run(_coacd(min(1.0, 4.0 * threshold), 0.024, 10, 1, 0.3))[1]
    if not found:
        raise StageError(
            f"hulls: {'; '.join(n.what for n in notes)}; wanted a decomposition within "
            f"{config.hull_timeout_s:g} s. Raise physics.hull_timeout_s or "
            "physics.hull_threshold, or give a simpler mesh"
        )
    return _best(found), notes


def _best(found: list[_Candidate]) -> _Candidate:
    return min(found, key=lambda one: one.fit.filled)  # the first of equals


def _run(
    openings: Openings, attempt: _Attempt, config: PhysicsConfig, seed: int
) -> tuple[list[np.ndarray], str]:
    """Return the parts of one run, merged where the cavities allow, or what happened."""
    limit = config.hull_timeout_s * attempt.time_share
    own = (
        {"max_convex_hull": config.max_hulls, "seed": seed % 2**31}
        if attempt.method == "coacd"
        else {"maxConvexHulls": config.max_hulls}
    )
    mesh = _simplified(openings.solid, attempt.tolerance)
    parts, problem = _run_worker(mesh, {**attempt.options, **own}, limit, attempt.method)
    if len(parts) > 1:
        left = openings.volume_left(parts, MERGE_FILLED)
        parts = merge_parts(parts, left, MERGE_DEVIATION * attempt.threshold)
    return parts, problem


def _simplified(solid: Any, tolerance: float) -> Mesh:
    """Decimate a solid within a tolerance: more where faces are many, less where parts are thin.

    manifold3d's simplification keeps the mesh a manifold, so CoACD needs no remeshing of its own.
    """
    best = solid
    for step in (s for s in STEPS if s <= 4.0 * tolerance):
        simple = solid.simplify(step)
        if simple.volume() < 0.9 * solid.volume():  # thin parts are going
            break
        best = simple
        if step >= tolerance and simple.num_tri() <= MAX_FACES:
            break
    return from_manifold(best)


def _run_worker(
    mesh: Mesh, options: dict[str, Any], limit_s: float, method: Method
) -> tuple[list[np.ndarray], str]:
    """Return the method's parts, or an empty list and what happened."""
    command = [sys.executable, "-m", "seed3d.physics.hull_worker"]
    request = pack_request(mesh.vertices, mesh.faces, options, method)
    try:
        done = run_limited(command, request, limit_s)
    except ProcessTimeout as error:
        return [], f"{error} on {len(mesh.faces)} faces"
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return [], f"ended with status {done.returncode}: {' '.join(said) or 'no message'}"
    parts = [p for p in unpack_reply(done.stdout) if len(p) and np.isfinite(p).all()]
    return parts, "" if parts else "returned no hull"


def _candidate(
    parts: list[np.ndarray], openings: Openings, size: float, config: PhysicsConfig
) -> _Candidate:
    """Make hulls (longest side of the object 2) that engines accept, largest first."""
    notes, solid = [], openings.solid
    volume = solid.volume()
    made = [_body(points, config) for points in parts]
    if len(parts) > 1:
        bare = uncovered_parts([hull for hull, _, _ in made], solid)
        made = _with_bare(made, bare, config)
    base = flat_base(solid)
    if base is not None:
        made = [_levelled(one, base, config) for one in made]
    # The tiniest volume in metres, brought to the object's unit scale.
    least = max(SLIVER_SHARE * volume, MINIMUM_VOLUME * (2.0 / size) ** 3)
    kept = [(h, p, t, v) for h, p, t in made if (v := _volume(h)) >= least]
    if not kept:
        raise StageError(
            f"hulls: got an object of {size:.3g} m whose {len(made)} hull(s) are all below "
            f"{MINIMUM_VOLUME:g} m3; MuJoCo refuses them. Check the size (--height, --length)"
        )
    if len(kept) < len(made):
        lost = len(made) - len(kept)
        notes.append(
            Fallback(STAGE, f"{lost} of {len(made)} hulls too small for engines: left out")
        )
    thick = sum(t for _, _, t, _ in kept)
    if thick:
        notes.append(Fallback(STAGE, f"{thick} flat hull(s) given a thickness that engines accept"))
    kept.sort(key=lambda item: (-item[3], *item[0].vertices.mean(axis=0)))
    hulls = tuple(hull for hull, _, _, _ in kept)
    primitives = tuple(p for _, p, _, _ in kept)
    return _Candidate(hulls, primitives, openings.measure(hulls), tuple(notes))


_Made = tuple[Mesh, Primitive | None, bool]
"""A hull, the primitive in its place, and whether the hull was thickened."""


def _body(points: np.ndarray, config: PhysicsConfig) -> _Made:
    primitive = fit_primitive(points, config.primitive_tolerance)
    if primitive is not None:
        return primitive_mesh(primitive), primitive, False
    hull, thickened = convex_hull(points, config.max_hull_vertices)
    return hull, None, thickened


def _with_bare(made: list[_Made], bare: list[np.ndarray], config: PhysicsConfig) -> list[_Made]:
    """Add a hull for each part that none covers; past the cap the nearest hull takes it in."""
    made = list(made)
    for points in bare:
        if len(made) < config.max_hulls:
            made.append(_body(points, config))
            continue
        center = points.mean(axis=0)
        gap = [float(np.linalg.norm(h.vertices - center, axis=1).min()) for h, _, _ in made]
        near = int(np.argmin(gap))
        joined = np.concatenate([points, made[near][0].vertices])
        made[near] = (*convex_hull(joined, config.max_hull_vertices)[:1], None, made[near][2])
    return made


def _levelled(made: _Made, base: Base, config: PhysicsConfig) -> _Made:
    hull, primitive, thickened = made
    level = base.levelled(hull.vertices)
    if primitive is not None or np.array_equal(level, hull.vertices):
        return made
    hull, again = convex_hull(level, config.max_hull_vertices)
    return hull, None, thickened or again


def _volume(hull: Mesh) -> float:
    corners = hull.vertices[hull.faces] - hull.vertices.mean(axis=0)
    return float(np.linalg.det(corners).sum() / 6.0)


def _fill_note(best: _Candidate) -> list[Fallback]:
    """Say it where hulls close space that is open in the mesh."""
    if not best.fills_too_much:
        return []
    what = (
        f"{len(best.hulls)} hull(s) fill {best.fit.filled:.0%} of the open space (volume ratio "
        f"{best.fit.ratio:.2f}); a lower physics.hull_threshold or more max_hulls keep more"
    )
    return [Fallback(STAGE, what)]
