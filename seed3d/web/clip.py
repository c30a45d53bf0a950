"""A short film of the asset's fall: motion by MuJoCo from the exported MJCF, pictures by us."""

from __future__ import annotations

import dataclasses
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seed3d.types import Asset, Camera, Mesh, Surface, SurfaceMaterial

GRAVITY = 9.81
TILT_RAD = 0.35
"""The asset starts tilted, so that the film shows contact and not only a fall."""
DROP_SHARE = 0.35
"""Height of the fall as a share of the longest side."""
AZIMUTH, ELEVATION = 0.6, 0.42
TILES = 24
"""Floor tiles a side."""
SKY = (0.93, 0.94, 0.96)
SHADOW = 0.35
"""Share of the floor's light that the key light gives."""


@dataclass(frozen=True)
class Motion:
    """Poses of the link frame at equal times, world frame."""

    rotation: np.ndarray
    """(T, 3, 3)."""
    position_m: np.ndarray
    """(T, 3) [m]."""
    frame_s: float
    """Time between frames [s]."""
    settled: bool
    """The asset lay still at the end."""


def drop_motion(mjcf: Path, size_m: float, fps: float = 20.0, seconds: float = 3.0) -> Motion:
    """Drop an asset on a floor in MuJoCo and record it until it lies still.

    Args:
        mjcf: The asset's MJCF file, one free body.
        size_m: Longest side [m].
        fps: Frames per second.
        seconds: Longest time.
    """
    import mujoco

    spec = mujoco.MjSpec.from_file(str(mjcf))
    for geom in list(spec.worldbody.geoms):
        spec.delete(geom)
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    floor.friction, floor.solmix, floor.condim = [1e-5] * 3, 0.0, 1  # the asset's own rule
    spec.option.gravity = [0, 0, -GRAVITY]
    model = spec.compile()
    model.opt.timestep = min(model.opt.timestep, float(np.sqrt(size_m / GRAVITY)) / 60.0)
    data = mujoco.MjData(model)
    axis = np.array([1.0, 0.3, 0.0]) / np.hypot(1.0, 0.3)
    data.qpos[3:7] = [np.cos(TILT_RAD / 2), *(np.sin(TILT_RAD / 2) * axis)]
    mujoco.mj_forward(model, data)
    data.qpos[2] += DROP_SHARE * size_m - _lowest(model, data)
    mujoco.mj_forward(model, data)

    rotations, positions, still = [], [], 0
    slow = 0.02 * np.sqrt(GRAVITY * size_m)
    for frame in range(1, int(seconds * fps) + 1):
        rotations.append(data.xmat[1].reshape(3, 3).copy())
        positions.append(data.xpos[1].copy())
        while data.time < frame / fps:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        speed = np.abs(data.qvel[:3]).max() + size_m * np.abs(data.qvel[3:6]).max()
        still = still + 1 if speed < slow else 0
        if still >= fps * 0.4:
            break
    return Motion(np.array(rotations), np.array(positions), 1.0 / fps, still >= fps * 0.4)


def drop_clip(asset: Asset, motion: Motion, size: int = 320) -> bytes:
    """Film a motion; return an animated WebP of `size` pixels a side, one frame a pose."""
    from PIL import Image

    frames = [Image.fromarray(frame) for frame in _frames(asset, motion, size)]
    times = [round(1000 * motion.frame_s)] * len(frames)
    times[-1] = 1200  # the rest is looked at before it starts again
    buffer = io.BytesIO()
    first, *rest = frames
    first.save(buffer, "WEBP", save_all=True, append_images=rest, duration=times, loop=0,
               quality=75, method=2)  # fmt: skip
    return buffer.getvalue()


def _frames(asset: Asset, motion: Motion, size: int) -> list[np.ndarray]:
    from seed3d.render.cameras import orbit_camera
    from seed3d.render.lighting import Lighting
    from seed3d.render.raycast import Caster
    from seed3d.render.shade import render
    from seed3d.texture.surface import asset_surface

    surface = asset_surface(asset.mesh, asset.atlas, asset.maps)
    assert surface.normals is not None
    low, high = _swept(asset.mesh.vertices, motion)
    center = (low + high) / 2.0
    scale = 1.0 / max(float(np.linalg.norm(high - low)) / 2.0, 1e-9)
    camera = orbit_camera(AZIMUTH, ELEVATION, fill=0.9, radius=1.0)
    lighting = Lighting.studio(AZIMUTH)
    key = lighting.lights[0].direction
    height = -scale * float(center[2])  # of the floor
    # The camera stands still, so the floor is drawn once and only its shadow anew.
    empty = render(floor_surface(height), camera, size, lighting, 2).over(SKY)
    ground, seen = _floor_points(camera, size, height)
    pictures = []
    for rotation, position in zip(motion.rotation, motion.position_m, strict=True):
        points = (surface.mesh.vertices @ rotation.T + position - center) * scale
        moved = dataclasses.replace(
            surface, mesh=Mesh(points, surface.mesh.faces), normals=surface.normals @ rotation.T
        )
        caster = Caster(moved.mesh)
        hidden = np.zeros((size, size))
        hidden[seen] = caster.occluded(ground, np.broadcast_to(key, ground.shape))
        picture = render(moved, camera, size, lighting, 2, caster)
        shaded = empty * (1.0 - SHADOW * _soft(hidden))[..., None]
        alpha = picture.alpha[..., None]
        rgb = picture.rgb * alpha + shaded * (1.0 - alpha)
        pictures.append((np.clip(rgb, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8))
    return pictures


def _floor_points(camera: Camera, size: int, height: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (N, 3) of the floor seen through pixels, and where: (size, size) bool."""
    from seed3d.conventions import pixel_centers
    from seed3d.render.raycast import pixel_rays

    center = pixel_centers(size)
    ray = pixel_rays(camera, *np.meshgrid(center, center))
    seen = ray[..., 2] < -1e-3
    along = (height - camera.position[2]) / ray[seen][:, 2]
    points = camera.position + ray[seen] * along[:, None]
    points[:, 2] += 1e-3
    return points, seen


def _soft(shadow: np.ndarray) -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    return gaussian_filter(shadow, 0.8)


def floor_surface(height: float, half: float = 9.0) -> Surface:
    """Return a chequered floor at z = height [canonical units]."""
    line = np.linspace(-half, half, TILES + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    vertices = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, height)])
    i, j = (a.ravel() for a in np.meshgrid(np.arange(TILES), np.arange(TILES), indexing="ij"))
    a = i * (TILES + 1) + j
    b, c, d = a + TILES + 1, a + TILES + 2, a + 1
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    tile = np.tile((i + j) % 2, 2)
    materials = (SurfaceMaterial((0.86, 0.87, 0.89), 0.0, 0.9),
                 SurfaceMaterial((0.72, 0.74, 0.78), 0.0, 0.9))  # fmt: skip
    normals = np.tile([0.0, 0.0, 1.0], (len(vertices), 1))
    return Surface(
        Mesh(vertices, faces), np.zeros((len(faces), 3, 2)), tile, materials, normals=normals
    )


def _swept(points: np.ndarray, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corner of the space that points (N, 3) pass through."""
    ends = [points @ r.T + p for r, p in zip(motion.rotation, motion.position_m, strict=True)]
    return np.min([e.min(axis=0) for e in ends], axis=0), np.max(
        [e.max(axis=0) for e in ends], axis=0
    )


def _lowest(model: Any, data: Any) -> float:
    """Height of the lowest vertex of any mesh [m]."""
    low = np.inf
    for geom in np.flatnonzero(model.geom_dataid >= 0):
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        turn = data.geom_xmat[geom].reshape(3, 3)
        height = model.mesh_vert[start : start + count] @ turn[2] + data.geom_xpos[geom][2]
        low = min(low, float(height.min()))
    return low
