"""What a description file says about an object, in one form for every format."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from seed3d.errors import InputError
from seed3d.types import Mesh

Format = Literal["urdf", "mjcf", "mjcf_sdf", "usd", "glb", "mesh"]


@dataclass(frozen=True)
class MassProperties:
    """Mass properties as a file states them; they may be invalid, finding that out is the job."""

    mass_kg: float
    com_m: np.ndarray
    """(3,) centre of mass [m]."""
    inertia_kg_m2: np.ndarray
    """(3, 3) about the centre of mass, along the axes of the same frame."""

    def moved(self, pose: np.ndarray) -> MassProperties:
        """Return the same body expressed in another frame, p_new = pose (4, 4) p_old."""
        rotation = pose[:3, :3]
        return MassProperties(
            self.mass_kg,
            rotation @ self.com_m + pose[:3, 3],
            rotation @ self.inertia_kg_m2 @ rotation.T,
        )


@dataclass(frozen=True)
class Hull:
    """One collision body."""

    mesh: Mesh
    """In the root link's frame [m]."""
    link: str
    """Link or body it is fixed to."""
    primitive: str = ""
    """box, sphere, cylinder or capsule where the file says so; `mesh` then only approximates it.
    sdf where the engine collides with `mesh` as it is, hollows and all."""


@dataclass(frozen=True)
class FileModel:
    """One description file, read. Everything in the root link's frame, joints at zero, metres."""

    format: Format
    path: Path
    name: str
    """The object's name as the file states it."""
    visual: Mesh | None
    """All visible geometry, vertices merged by position."""
    hulls: tuple[Hull, ...] = ()
    mass: MassProperties | None = None
    """All links together; None where the file states no mass."""
    references: tuple[str, ...] = ()
    """Paths of other files, as they are written, relative to `base`."""
    base: Path = field(default_factory=Path)
    """Folder that `references` are relative to."""
    textures: int = 0
    """Number of base-colour textures that a visible part uses."""
    link_pose: dict[str, np.ndarray] = field(default_factory=dict)
    """Root link from link, (4, 4), by link name."""
    notes: tuple[str, ...] = ()
    """Statements of the file that break Seed3D's conventions (unit, up axis ...)."""
    losses: tuple[str, ...] = ()
    """Looks that the file names but lacks (missing textures ...)."""

    @property
    def bounds(self) -> np.ndarray | None:
        """(2, 3) bounds of the visible geometry [m], or of the hulls where nothing is visible."""
        parts = [self.visual] if self.visual is not None else [h.mesh for h in self.hulls]
        if not parts:
            return None
        corners = np.concatenate([p.bounds for p in parts])
        return np.stack([corners.min(axis=0), corners.max(axis=0)])


def combine(bodies: list[MassProperties]) -> MassProperties | None:
    """Return several bodies, given in one frame, as one (parallel-axis theorem); None for none."""
    if not bodies:
        return None
    mass = sum(b.mass_kg for b in bodies)
    if len(bodies) == 1 or not mass > 0:
        return bodies[0]
    com = sum((b.mass_kg * b.com_m for b in bodies), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for b in bodies:
        d = b.com_m - com
        inertia += b.inertia_kg_m2 + b.mass_kg * (d @ d * np.eye(3) - np.outer(d, d))
    return MassProperties(mass, com, inertia)


def merged(meshes: list[Mesh]) -> Mesh | None:
    """Return the meshes as one, vertices at the same position joined; None for no mesh.

    Seams of a UV layout or of normals double a vertex in every format; only the joined mesh can
    be asked whether it is closed. Faces that the joining makes a line or a point are left out.
    """
    import trimesh

    meshes = [m for m in meshes if len(m.faces)]
    if not meshes:
        return None
    start = np.cumsum([0] + [len(m.vertices) for m in meshes[:-1]])
    vertices = np.concatenate([m.vertices for m in meshes])
    faces = np.concatenate([m.faces + s for m, s in zip(meshes, start, strict=True)])
    whole = trimesh.Trimesh(vertices, faces, process=False)
    whole.merge_vertices(digits_vertex=_digits(vertices))
    joined = Mesh.from_trimesh(whole)
    a, b, c = joined.faces.T
    return Mesh(joined.vertices, joined.faces[(a != b) & (b != c) & (c != a)])


def _digits(vertices: np.ndarray) -> int:
    """Decimals that keep 1e-6 of the size: the precision of float32 and of short OBJ numbers."""
    size = float(np.ptp(vertices, axis=0).max())
    return int(np.clip(6 - np.floor(np.log10(max(size, 1e-9))), 3, 12))


def transformed(mesh: Mesh, pose: np.ndarray) -> Mesh:
    """Return the mesh with every vertex v at pose (4, 4) v."""
    return Mesh(mesh.vertices @ pose[:3, :3].T + pose[:3, 3], mesh.faces)


def load_mesh(path: Path, scale: np.ndarray | float = 1.0) -> Mesh:
    """Read a mesh file as one triangle mesh, scaled, in the axes of the file.

    Raises:
        InputError: The file is missing, can't be parsed or holds no triangle.
    """
    import trimesh

    if not path.is_file():
        raise InputError(f"{path.name}: no such file; wanted a mesh at {path}")
    try:
        mesh = trimesh.load(path, force="mesh", process=False, skip_materials=True)
    except (ValueError, KeyError, IndexError, TypeError, OSError, NotImplementedError) as error:
        raise InputError(f"{path.name}: not a readable mesh ({error})") from error
    if not len(getattr(mesh, "faces", ())):
        raise InputError(f"{path.name}: got a mesh with no triangle; wanted at least one")
    vertices = np.asarray(mesh.vertices, np.float64) * scale
    if not np.isfinite(vertices).all():
        raise InputError(f"{path.name}: got a vertex that isn't finite")
    return Mesh(vertices, np.asarray(mesh.faces, np.int64))


def convex_hull(vertices: np.ndarray) -> Mesh:
    """Return the convex hull of points (N, 3), wound outwards.

    Raises:
        InputError: The points lie in a plane, a line or a point.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError) as error:
        raise InputError("got a flat hull; wanted points that enclose a volume") from error
    corners = vertices[hull.simplices]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normal, hull.equations[:, :3]) < 0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, index = np.unique(faces, return_inverse=True)
    return Mesh(np.asarray(vertices[used], np.float64), index.reshape(faces.shape).astype(np.int64))


def signed_volume(mesh: Mesh) -> float:
    """Return the volume [m^3] that the triangles enclose; negative where they are inside out."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)
