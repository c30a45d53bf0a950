"""Where the objects of a photo stand: camera pitch, ground plane, positions, relative sizes.

Assumptions: a pinhole camera without roll or lens distortion, principal point in the middle;
every object stands upright on one horizontal plane, or on the highest point of another object
where that is told. Each object's shape is known (up to its
size) and its direction of view; what is fitted is where on the plane it stands and how large it
is, so that the box round its image is the box round its mask. On a plane, size and distance are
no longer confused: the foot of an object tells its distance. The camera's height scales all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from seed3d.conventions import camera_rotation
from seed3d.errors import StageError

PITCH_SPREAD_RAD = math.radians(6.0)
"""Trust in the pitch that the shapes' own views give."""
PITCH_LIMITS_RAD = (math.radians(2.0), math.radians(85.0))
_POINTS = 1500
_LEAST_ABOVE = 0.05
"""Least height of the camera above what an object stands on, over that above the plane."""


@dataclass(frozen=True)
class Seen:
    """One object in a photo."""

    vertices: np.ndarray
    """(N, 3) link frame (bottom at z = 0), any unit."""
    azimuth_rad: float
    """Where the camera stands round it, 0 in front."""
    elevation_rad: float
    """Of the camera seen from it."""
    box: tuple[float, float, float, float]
    """Left, top, right, bottom of its mask [pixel]."""


@dataclass(frozen=True)
class Standing:
    """Where an object stands, in units of the camera's height above the plane."""

    x: float
    y: float
    yaw_rad: float
    scale: float
    """Unit of `Seen.vertices` in camera heights."""
    residual: float
    """Root mean square distance of the box's edges, over the box's longer side."""
    z: float = 0.0
    """Height of what it stands on."""


@dataclass(frozen=True)
class PhotoLayout:
    """The camera looks along -X from (0, 0, 1), the plane is z = 0."""

    pitch_rad: float
    """Downwards."""
    focal_px: float
    objects: tuple[Standing, ...]


def mask_box(mask: np.ndarray) -> tuple[float, float, float, float]:
    """Return left, top, right, bottom [pixel] of a mask (H, W) uint8."""
    inside = mask >= 128
    columns, rows = np.flatnonzero(inside.any(axis=0)), np.flatnonzero(inside.any(axis=1))
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)


def focal_from_fov(fov_deg: float, width: int, height: int) -> float:
    """Return the focal length [pixel] for an angle of view across the longer side."""
    return max(width, height) / 2.0 / math.tan(math.radians(fov_deg) / 2.0)


def estimate_layout(
    objects: Sequence[Seen], size: tuple[int, int], focal_px: float,
    pitch_rad: float | None = None, on: Sequence[int | None] = (),
) -> PhotoLayout:  # fmt: skip
    """Fit the layout.

    Args:
        objects: At least one.
        size: Width and height of the photo [pixel].
        focal_px: Focal length [pixel].
        pitch_rad: The camera's pitch where it's known; else it's the one near the median of
            what the objects' views say that fits their boxes best.
        on: Index of the object that carries each, None for the plane; all on it where empty.

    Raises:
        StageError: An object's foot is above the horizon: it can't stand on the plane; or the
            camera doesn't see the top of what an object stands on.
    """
    if pitch_rad is None:
        pitch_rad = _pitch(objects, size, focal_px)
    standing = tuple(_fit(o, size, focal_px, pitch_rad) for o in objects)
    missing = [i for i, s in enumerate(standing) if s is None]
    if missing:
        raise StageError(
            f"object {missing[0] + 1}: its foot is above the horizon of a camera with pitch "
            f"{math.degrees(pitch_rad):.1f} degrees; give --pitch (downwards is positive) or --fov"
        )
    found = _stacked([s for s in standing if s is not None], objects, on)
    return PhotoLayout(pitch_rad, focal_px, tuple(found))


def bottom_up(on: Sequence[int | None]) -> list[int]:
    """Return the indices of objects in an order in which what carries comes first."""

    def depth(index: int) -> int:
        below = on[index]
        return 0 if below is None else 1 + depth(below)

    return sorted(range(len(on)), key=depth)


def _stacked(
    flat: list[Standing], objects: Sequence[Seen], on: Sequence[int | None]
) -> list[Standing]:
    """Lift objects onto what carries them.

    What a picture shows fits any plane below the camera: nearer to it, everything on the plane is
    smaller and nearer to the camera in the same ratio.
    """
    out = list(flat)
    for index in bottom_up(on):
        below = on[index]
        if below is None:
            continue
        carrier = out[below]
        height = carrier.z + carrier.scale * float(objects[below].vertices[:, 2].max())
        share = 1.0 - height
        if share < _LEAST_ABOVE:
            raise StageError(
                f"object {index + 1}: it can't stand on object {below + 1}, whose top the camera "
                "doesn't see from above; give --pitch or --fov, or leave --vlm-layout away"
            )
        own = out[index]
        out[index] = replace(
            own, x=share * own.x, y=share * own.y, scale=share * own.scale, z=height
        )
    return out


def _pitch(objects: Sequence[Seen], size: tuple[int, int], focal_px: float) -> float:
    from scipy.optimize import minimize_scalar

    said = []
    for o in objects:
        middle = (o.box[1] + o.box[3]) / 2 - size[1] / 2
        said.append(o.elevation_rad - math.atan(middle / focal_px))
    prior = float(np.clip(np.median(said), *PITCH_LIMITS_RAD))

    def cost(pitch: float) -> float:
        fits = [_fit(o, size, focal_px, pitch) for o in objects]
        misfit = sum(1.0 if f is None else (f.residual / 0.03) ** 2 for f in fits)
        return misfit + ((pitch - prior) / PITCH_SPREAD_RAD) ** 2

    low, high = prior - 2 * PITCH_SPREAD_RAD, prior + 2 * PITCH_SPREAD_RAD
    bounds = (max(low, PITCH_LIMITS_RAD[0]), min(high, PITCH_LIMITS_RAD[1]))
    found = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 2e-3})
    return float(found.x)  # pyright: ignore


def _fit(o: Seen, size: tuple[int, int], focal_px: float, pitch_rad: float) -> Standing | None:
    """Place one object, or None where its foot is not below the horizon."""
    from scipy.optimize import least_squares

    rotation = camera_rotation(0.0, pitch_rad)
    points = o.vertices[:: max(len(o.vertices) // _POINTS, 1)]
    span = float(np.ptp(o.vertices, axis=0).max())
    longer = max(o.box[2] - o.box[0], o.box[3] - o.box[1])
    target = np.array(o.box)
    foot = np.array([(o.box[0] + o.box[2]) / 2 - size[0] / 2, o.box[3] - size[1] / 2, focal_px])
    ray = foot @ rotation
    if ray[2] > -1e-3 * np.linalg.norm(ray):
        return None
    start = ray[:2] / -ray[2]
    depth = float((rotation @ np.array([*start, -1.0]))[2])
    unit = longer / focal_px * depth / span

    def project(p: np.ndarray) -> np.ndarray:
        x, y, log_scale = p
        yaw = math.atan2(-y, -x) - o.azimuth_rad
        c, s = math.cos(yaw), math.sin(yaw)
        turned = points @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        world = math.exp(log_scale) * turned + np.array([x, y, -1.0])
        cam = world @ rotation.T
        z = np.maximum(cam[:, 2], 1e-3)
        u = focal_px * cam[:, 0] / z + size[0] / 2
        v = focal_px * cam[:, 1] / z + size[1] / 2
        return np.array([u.min(), v.min(), u.max(), v.max()])

    def error(p: np.ndarray) -> np.ndarray:
        return (project(p) - target) / longer

    done = least_squares(error, [*start, math.log(unit)], x_scale=[0.1, 0.1, 0.1], max_nfev=60)
    x, y, log_scale = (float(v) for v in done.x)
    yaw = math.atan2(-y, -x) - o.azimuth_rad
    rms = float(np.sqrt(np.mean(done.fun**2)))
    return Standing(x, y, yaw, math.exp(log_scale), rms)


def camera_height(
    layout: PhotoLayout, spans: Sequence[float], sizes_m: Sequence[tuple[float, float]]
) -> float:
    """Return the camera's height [m] that agrees best with the objects' estimated sizes.

    Args:
        layout: Of the photo.
        spans: Longest side of each object, unit of `Seen.vertices`.
        sizes_m: Longest side and its spread (standard deviation of the logarithm) of each.
    """
    logs = [
        math.log(size / (standing.scale * span))
        for standing, span, (size, _) in zip(layout.objects, spans, sizes_m, strict=True)
    ]
    weights = [1.0 / max(spread, 0.05) ** 2 for _, spread in sizes_m]
    return math.exp(float(np.average(logs, weights=weights)))
