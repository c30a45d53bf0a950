"""Facts about a mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seed3d.mesh.grid import ask_distance, scene
from seed3d.mesh.manifold import to_manifold
from seed3d.mesh.parts import signed_volume, split_parts
from seed3d.types import Mesh


@dataclass(frozen=True)
class SurfaceDistance:
    """Two-sided distance of two surfaces, in their unit."""

    mean: float
    """Mean over both directions (Chamfer distance, not squared)."""
    largest: float
    """Largest over both directions (Hausdorff distance of the samples)."""


def volume(mesh: Mesh) -> float:
    """Return the enclosed volume; negative for inside-out meshes, meaningless for open ones."""
    return signed_volume(mesh)


def is_closed(mesh: Mesh) -> bool:
    """Return whether every edge has two faces that run along it in opposite directions."""
    return len(mesh.faces) > 0 and all(part.closed for part in split_parts(mesh))


def is_manifold(mesh: Mesh) -> bool:
    """Return whether manifold3d takes the mesh as an oriented 2-manifold."""
    return to_manifold(mesh) is not None


def component_count(mesh: Mesh) -> int:
    """Return the number of surfaces that hang together over edges."""
    return len(split_parts(mesh))


def euler_number(mesh: Mesh) -> int:
    """Return V - E + F over the vertices in use; 2 per closed component less 2 per handle."""
    edges = np.sort(mesh.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return int(len(np.unique(mesh.faces)) - len(np.unique(edges, axis=0)) + len(mesh.faces))


def surface_distance(a: Mesh, b: Mesh, samples: int = 20_000, seed: int = 0) -> SurfaceDistance:
    """Sample both surfaces evenly by area and measure to the other one."""
    import trimesh

    found = []
    for source, target in ((a, b), (b, a)):
        points = trimesh.sample.sample_surface(source.to_trimesh(), samples, seed=seed)[0]
        found.append(ask_distance(scene(target), points))
    both = np.concatenate(found)
    return SurfaceDistance(float(both.mean()), float(both.max()))
