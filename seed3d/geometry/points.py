"""Points on meshes for the VecSet models: uniform, on sharp edges, and in space with distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from seed3d.mesh.grid import scene, tensor
from seed3d.types import Mesh

SHARP_RAD = np.deg2rad(15.0)
"""Dihedral angle from which an edge is sharp (Dora, arXiv:2412.17808)."""
NEAR_SIGMAS = (0.005, 0.02, 0.06)
"""Standard deviations of points near the surface [canonical units]."""


@dataclass(frozen=True)
class Cloud:
    """Points of one shape, canonical frame, float32."""

    surface: np.ndarray
    """(P, 6): uniform points on the surface with unit normals."""
    salient: np.ndarray
    """(S, 6): points on sharp edges with the mean normal of their faces."""
    points: np.ndarray
    """(Q, 3): half near the surface, half in the cube [-1, 1]^3."""
    distance: np.ndarray
    """(Q,): signed distance at `points`, negative inside."""


def surface_cloud(mesh: Mesh, count: int, rng: np.random.Generator) -> np.ndarray:
    """Points (count, 6) uniform on the area of a mesh, with unit face normals."""
    import trimesh

    points, face = trimesh.sample.sample_surface(mesh.to_trimesh(), count, seed=rng)[:2]
    normals = mesh.to_trimesh().face_normals[face]
    return np.concatenate([points, normals], axis=1).astype(np.float32)


def salient_cloud(
    mesh: Mesh, count: int, rng: np.random.Generator, sharp_rad: float = SHARP_RAD
) -> np.ndarray:
    """Points (count, 6) on edges sharper than `sharp_rad`, uniform by length.

    Where a shape has too few sharp edges (a ball), the sharpest edges are taken.
    """
    whole = mesh.to_trimesh()
    angle = np.asarray(whole.face_adjacency_angles)
    edges = np.asarray(whole.face_adjacency_edges)
    sharp = angle >= min(sharp_rad, float(np.quantile(angle, 0.98)))
    ends = mesh.vertices[edges[sharp]]  # (E, 2, 3)
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    pick = rng.choice(len(length), count, p=length / length.sum())
    along = rng.random((count, 1))
    points = ends[pick, 0] * (1 - along) + ends[pick, 1] * along
    normals = whole.face_normals[whole.face_adjacency[sharp][pick]].sum(axis=1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    return np.concatenate([points, normals], axis=1).astype(np.float32)


def signed_distance(mesh: Mesh, points: np.ndarray) -> np.ndarray:
    """Signed distance (N,) of a closed mesh at points (N, 3), negative inside."""
    query = tensor(points.astype(np.float32))
    return scene(mesh).compute_signed_distance(query).numpy()


def cloud(mesh: Mesh, surface: int, salient: int, queries: int, rng: np.random.Generator) -> Cloud:
    """Sample everything the VAE trains on from a closed canonical mesh."""
    near = queries // 2
    start = surface_cloud(mesh, near, rng)[:, :3]
    sigma = rng.choice(NEAR_SIGMAS, (near, 1))
    space = rng.uniform(-1.0, 1.0, (queries - near, 3))
    points = np.concatenate([start + rng.normal(size=(near, 3)) * sigma, space]).clip(-1, 1)
    return Cloud(
        surface_cloud(mesh, surface, rng),
        salient_cloud(mesh, salient, rng),
        points.astype(np.float32),
        signed_distance(mesh, points).astype(np.float32),
    )


def farthest_points(points: torch.Tensor, count: int) -> torch.Tensor:
    """Indices (B, count) of points (B, N, 3) by farthest point sampling, from the first point.

    Raises:
        ValueError: Fewer points than asked for.
    """
    batch, total, _ = points.shape
    if count > total:
        raise ValueError(f"tokens: got {count}; the cloud has only {total} points")
    chosen = torch.zeros(batch, count, dtype=torch.long, device=points.device)
    distance = torch.full((batch, total), torch.inf, device=points.device)
    rows = torch.arange(batch, device=points.device)
    last = chosen[:, 0]
    for i in range(1, count):
        gap = (points - points[rows, last][:, None]).square().sum(-1)  # (B, N)
        distance = torch.minimum(distance, gap)
        last = distance.argmax(dim=1)
        chosen[:, i] = last
    return chosen


def gathered(points: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Points (B, N, D) at index (B, T): (B, T, D)."""
    return points.gather(1, index[..., None].expand(-1, -1, points.shape[-1]))
