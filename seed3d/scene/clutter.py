"""Random poses in the air, apart from each other, ready to fall."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from seed3d.errors import InputError, near_miss
from seed3d.scene.parts import GROUND, Pose
from seed3d.scene.place import scene_meshes

if TYPE_CHECKING:
    from seed3d.scene.scene import Scene

AIR_M = 0.005
"""Least distance between bounding spheres [m]."""


def drop_poses(
    scene: Scene, keys: list[str], into: str | None, center: tuple[float, float],
    radius: float | None, upright: bool, rng: np.random.Generator,
) -> list[Pose]:  # fmt: skip
    """Return one pose per asset key: bounding spheres stacked without touching, lowest first.

    Args:
        scene: What's in it already is kept clear of.
        keys: Assets, in the order of the drop.
        into: Name of the target the region lies over, or None for the ground.
        center: Of the region on the ground [m].
        radius: Of the region [m]; None chooses.
        upright: Turn only around Z.
        rng: Source of every draw.
    """
    spheres = [_sphere(scene, key) for key in keys]
    meshes = scene_meshes(scene)
    if into is not None and into not in meshes:
        raise InputError(f"drop: no {into!r} to drop into.{near_miss(into, meshes)}")
    widest = max((r for _, r in spheres), default=0.0)
    if into is None or into == GROUND:
        half = np.full(2, radius or 1.2 * widest * math.sqrt(max(len(keys), 1)))
        middle = np.array(center, float)
    else:
        low, high = meshes[into].bounds
        middle = (low + high)[:2] / 2
        half = np.maximum((high - low)[:2] / 2 - 0.8 * widest, 1e-3)
    placed: list[tuple[np.ndarray, float]] = []
    poses = []
    floors = [m.bounds for name, m in meshes.items() if name != GROUND]
    for offset, r in spheres:
        spot, height = _lowest_spot(rng, middle, half, r, placed, floors)
        placed.append((np.array([*spot, height]), r))
        turn = _rotation(rng, upright)
        pose = Pose((0.0, 0.0, 0.0), turn)
        origin = np.array([*spot, height]) - pose.rotation @ offset
        poses.append(Pose.of(origin, np.array(turn)))
    return poses


def _lowest_spot(
    rng: np.random.Generator, middle: np.ndarray, half: np.ndarray, r: float,
    placed: list[tuple[np.ndarray, float]], floors: list[np.ndarray],
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Of a few random spots the one where a sphere can hang lowest."""
    best: tuple[np.ndarray, float] | None = None
    for _ in range(12):
        spot = middle + rng.uniform(-1.0, 1.0, 2) * half
        height = r + AIR_M
        for low, high in floors:
            if (spot > low[:2] - r).all() and (spot < high[:2] + r).all():
                height = max(height, float(high[2]) + r + AIR_M)
        for center, other in placed:
            reach = r + other + AIR_M
            flat = float(np.linalg.norm(spot - center[:2]))
            if flat < reach:
                height = max(height, float(center[2]) + math.sqrt(reach**2 - flat**2))
        if best is None or height < best[1]:
            best = (spot, height)
    assert best is not None
    return best


def _sphere(scene: Scene, key: str) -> tuple[np.ndarray, float]:
    """Centre of the hulls' bounding box and the radius that holds every vertex."""
    points = np.concatenate([h.vertices for h in scene.assets[key].collision.hulls])
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    return center, float(np.linalg.norm(points - center, axis=1).max())


def _rotation(rng: np.random.Generator, upright: bool) -> tuple[float, float, float, float]:
    """Uniform over all rotations (Shoemake 1992: a normalised 4-D Gaussian), or over yaws."""
    if upright:
        half = rng.uniform(-math.pi, math.pi) / 2
        return (math.cos(half), 0.0, 0.0, math.sin(half))
    q = rng.normal(size=4)
    q = q / np.linalg.norm(q)
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))
