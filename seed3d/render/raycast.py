"""Ray casting: what a camera sees of a surface, pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seed3d.conventions import pixel_centers
from seed3d.types import Camera, Mesh, Surface

MISS = -1
"""Face index of a ray that hits nothing."""


@dataclass(frozen=True)
class Hits:
    """First hits of N rays."""

    face: np.ndarray
    """(N,) int64, MISS where the ray hits nothing."""
    bary: np.ndarray
    """(N, 3) float32 weights of the face's corners."""
    distance: np.ndarray
    """(N,) float32 in lengths of the ray's direction vector; inf for a miss."""


@dataclass(frozen=True)
class GBuffer:
    """Geometry seen through each pixel of a square crop; misses are 0, depth inf, face MISS."""

    mask: np.ndarray
    """(S, S) bool: the ray through the pixel's centre hits the surface."""
    depth: np.ndarray
    """(S, S) float32: z in the camera frame [canonical units]."""
    face: np.ndarray
    """(S, S) int64."""
    bary: np.ndarray
    """(S, S, 3) float32 weights of the face's corners."""
    position: np.ndarray
    """(S, S, 3) float32, canonical frame."""
    normal: np.ndarray
    """(S, S, 3) float32 unit, canonical frame, turned towards the camera."""

    def seen(self) -> Seen:
        """The pixels that see something."""
        values = (self.depth, self.face, self.bary, self.position, self.normal)
        return Seen(np.flatnonzero(self.mask), *(value[self.mask] for value in values))


@dataclass(frozen=True)
class Seen:
    """Geometry seen through those N pixels of a square crop that see any, row by row."""

    pixel: np.ndarray
    """(N,) int64 row * S + column."""
    depth: np.ndarray
    """(N,) float32: z in the camera frame [canonical units]."""
    face: np.ndarray
    """(N,) int64."""
    bary: np.ndarray
    """(N, 3) float32 weights of the face's corners."""
    position: np.ndarray
    """(N, 3) float32, canonical frame."""
    normal: np.ndarray
    """(N, 3) float32 unit, canonical frame, turned towards the camera."""


class Caster:
    """A bounding volume hierarchy over one mesh, built once and used for many cameras."""

    def __init__(self, mesh: Mesh, threads: int = 1) -> None:
        """Build the hierarchy.

        Args:
            mesh: Any triangles. vertices (V, 3), faces (F, 3).
            threads: Threads per query; 0 takes every core.

        Raises:
            ValueError: The mesh has no faces.
        """
        import open3d as o3d

        if not len(mesh.faces):
            raise ValueError("ray caster: got a mesh with 0 faces; wanted at least one")
        self.mesh = mesh
        self.face_normals = face_normals(mesh)
        self._threads = threads
        self._tensor: Any = o3d.core.Tensor
        self._scene = o3d.t.geometry.RaycastingScene(nthreads=threads)
        self._scene.add_triangles(
            self._tensor(np.ascontiguousarray(mesh.vertices, np.float32)),
            self._tensor(np.ascontiguousarray(mesh.faces, np.uint32)),
        )

    def cast(self, origins: np.ndarray, directions: np.ndarray) -> Hits:
        """Return the first hit of each ray; origins (N, 3) or (3,), directions (N, 3)."""
        result = self._scene.cast_rays(self._rays(origins, directions), nthreads=self._threads)
        distance = result["t_hit"].numpy()
        hit = np.isfinite(distance)
        face = np.where(hit, result["primitive_ids"].numpy().astype(np.int64), MISS)
        bary = _barycentric(result["primitive_uvs"].numpy()) * hit[:, None]
        return Hits(face, bary, distance)

    def occluded(
        self, origins: np.ndarray, directions: np.ndarray, far: float = np.inf
    ) -> np.ndarray:
        """Return (N,) bool: something lies on the ray before `far` lengths of its direction."""
        rays = self._rays(origins, directions)
        return self._scene.test_occlusions(rays, tfar=far, nthreads=self._threads).numpy()

    def closest(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the closest surface points of points (N, 3).

        Returns:
            positions (N, 3) float32, faces (N,) int64, barycentric weights (N, 3) float32.
        """
        query = self._tensor(np.ascontiguousarray(points, np.float32))
        result = self._scene.compute_closest_points(query, nthreads=self._threads)
        return (
            result["points"].numpy(),
            result["primitive_ids"].numpy().astype(np.int64),
            _barycentric(result["primitive_uvs"].numpy()),
        )

    def _rays(self, origins: np.ndarray, directions: np.ndarray) -> Any:
        rays = np.empty((len(directions), 6), np.float32)
        rays[:, :3] = origins
        rays[:, 3:] = directions
        return self._tensor(rays)


def face_normals(mesh: Mesh) -> np.ndarray:
    """Return the unit normals (F, 3) float32 of the faces; 0 for a face without area."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return (normal / np.where(length > 0, length, 1.0)).astype(np.float32)


def interpolate(values: np.ndarray, faces: np.ndarray, bary: np.ndarray) -> np.ndarray:
    """Blend vertex values (V, C) over the corners faces (N, 3) with weights bary (N, 3)."""
    out = values[faces[:, 0]] * bary[:, :1]
    out += values[faces[:, 1]] * bary[:, 1:2]
    out += values[faces[:, 2]] * bary[:, 2:]
    return out


def pixel_rays(camera: Camera, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return ray directions (..., 3) float32 in the canonical frame through crop points (u, v).

    Their z in the camera frame is 1, so a hit's distance along the ray is its depth.
    """
    ray = np.stack(
        [
            (u - camera.center_u) / camera.focal,
            (v - camera.center_v) / camera.focal,
            np.ones_like(u),
        ],
        axis=-1,
    )
    return (ray @ camera.rotation).astype(np.float32)


def seen(surface: Surface, camera: Camera, size: int, caster: Caster | None = None) -> Seen:
    """Cast one ray through the centre of each pixel.

    Args:
        surface: Canonical frame. Its normals, where it has them, are interpolated.
        camera: Sees the square crop [-1, 1]^2.
        size: Side of the crop [pixel].
        caster: A caster of surface.mesh, so that many cameras share one hierarchy.
    """
    caster = caster or Caster(surface.mesh)
    rows, columns = _window(surface.mesh, camera, size)
    centers = pixel_centers(size)
    grid = np.meshgrid(centers[columns], centers[rows])
    found = seen_through(surface, camera, grid[0].ravel(), grid[1].ravel(), caster)
    pixel = np.arange(size * size).reshape(size, size)[rows, columns].ravel()
    return replace(found, pixel=pixel[found.pixel])


def seen_through(
    surface: Surface, camera: Camera, u: np.ndarray, v: np.ndarray, caster: Caster
) -> Seen:
    """As `seen`, through any points u, v (N,) of the crop; `pixel` holds their indices."""
    rays = pixel_rays(camera, u, v)
    hits = caster.cast(camera.position, rays)
    hit = np.flatnonzero(hits.face >= 0)
    face, bary, depth, ray = hits.face[hit], hits.bary[hit], hits.distance[hit], rays[hit]
    position = camera.position.astype(np.float32) + ray * depth[:, None]
    normal = _facing_normals(surface, caster, face, bary, ray)
    return Seen(hit, depth, face, bary, position, normal)


def gbuffer(surface: Surface, camera: Camera, size: int, caster: Caster | None = None) -> GBuffer:
    """As `seen`, as pictures (size, size)."""
    found = seen(surface, camera, size, caster)
    flat = found.pixel
    return GBuffer(
        mask=_scatter(np.ones(len(flat), bool), flat, size, False),
        depth=_scatter(found.depth, flat, size, np.inf),
        face=_scatter(found.face, flat, size, MISS),
        bary=_scatter(found.bary, flat, size, 0.0),
        position=_scatter(found.position, flat, size, 0.0),
        normal=_scatter(found.normal, flat, size, 0.0),
    )


def _barycentric(uv: np.ndarray) -> np.ndarray:
    return np.stack([1.0 - uv[:, 0] - uv[:, 1], uv[:, 0], uv[:, 1]], axis=1)


def _facing_normals(
    surface: Surface, caster: Caster, face: np.ndarray, bary: np.ndarray, rays: np.ndarray
) -> np.ndarray:
    normal = caster.face_normals[face]
    flip = np.einsum("nc,nc->n", normal, rays) > 0
    np.negative(normal, out=normal, where=flip[:, None])
    if surface.normals is None:
        return normal
    smooth = interpolate(surface.normals.astype(np.float32), surface.mesh.faces[face], bary)
    length = np.sqrt(np.einsum("nc,nc->n", smooth, smooth))[:, None]
    smooth /= np.maximum(length, 1e-6)
    np.copyto(smooth, normal, where=length <= 1e-6)
    np.negative(smooth, out=smooth, where=np.einsum("nc,nc->n", smooth, normal)[:, None] < 0)
    return smooth


def _window(mesh: Mesh, camera: Camera, size: int) -> tuple[slice, slice]:
    """Rows and columns that the mesh's bounding box can reach: no rays are cast elsewhere."""
    low, high = mesh.bounds
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    uv, depth = camera.project(low + corners * (high - low))
    if depth.min() <= 1e-6:  # the camera is inside the box
        return slice(0, size), slice(0, size)
    pixel = (uv + 1.0) / 2.0 * size
    first = np.clip(np.floor(pixel.min(axis=0)) - 1, 0, size).astype(int)
    last = np.clip(np.ceil(pixel.max(axis=0)) + 1, 0, size).astype(int)
    return slice(first[1], last[1]), slice(first[0], last[0])


def _scatter(values: np.ndarray, flat: np.ndarray, size: int, fill: float) -> np.ndarray:
    out = np.full((size * size, *values.shape[1:]), fill, values.dtype)
    out[flat] = values
    return out.reshape(size, size, *values.shape[1:])
