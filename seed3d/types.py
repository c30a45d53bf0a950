"""The values that travel between stages. Small, frozen, validated, with units in the names."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from seed3d.conventions import camera_rotation

Source = Literal["user", "mesh", "estimate", "prior", "measured"]


def _check(value: np.ndarray, name: str, shape: tuple[int | None, ...], kind: str) -> None:
    value_shape = getattr(value, "shape", None)
    ok = value_shape is not None and len(value_shape) == len(shape)
    ok = ok and all(w is None or g == w for g, w in zip(value_shape or (), shape, strict=False))
    if not ok or value.dtype.kind not in kind:
        wanted = "(" + ", ".join("N" if s is None else str(s) for s in shape) + ")"
        got = f"{value_shape} of {getattr(value, 'dtype', type(value).__name__)}"
        raise ValueError(f"{name}: got {got}; wanted shape {wanted}, dtype kind in {kind!r}")


@dataclass(frozen=True)
class Estimate:
    """A number or word with where it came from."""

    value: Any
    source: Source
    note: str = ""
    """How it was found, in words a user understands; the table row or model name."""
    low: float | None = None
    """Lower end of the 80 % interval, where one is known (unit as `value`)."""
    high: float | None = None


@dataclass(frozen=True)
class Fallback:
    """Something a stage could not do as asked, and what it did instead."""

    stage: str
    what: str


@dataclass(frozen=True)
class Camera:
    """Pinhole camera around the origin of the canonical frame; sees a square crop.

    p_cam = R_camera_world p + (0, 0, distance);
    u = focal * x_cam / z_cam + center_u,  v = focal * y_cam / z_cam + center_v.
    """

    azimuth_rad: float
    elevation_rad: float
    distance: float
    """Distance of the camera to the origin [canonical units]."""
    focal: float
    """Focal length in half widths of the crop."""
    center_u: float = 0.0
    """Principal point in the crop; not 0 where the photo was cropped off-centre."""
    center_v: float = 0.0

    def __post_init__(self) -> None:
        if not (self.distance > 0 and self.focal > 0):
            raise ValueError(
                f"camera: got distance {self.distance}, focal {self.focal}; wanted both > 0"
            )

    @property
    def rotation(self) -> np.ndarray:
        """R_camera_world (3, 3)."""
        return camera_rotation(self.azimuth_rad, self.elevation_rad)

    @property
    def position(self) -> np.ndarray:
        """Position of the camera in the canonical frame (3,)."""
        return -self.distance * self.rotation[2]

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Project canonical points (..., 3) to crop coordinates (..., 2) and depth (...)."""
        p_cam = points @ self.rotation.T
        depth = p_cam[..., 2] + self.distance
        uv = self.focal * p_cam[..., :2] / depth[..., None]
        return uv + np.array([self.center_u, self.center_v]), depth


@dataclass(frozen=True)
class Mesh:
    """Triangle mesh. vertices (V, 3) float64, faces (F, 3) int64, counter-clockwise from outside."""

    vertices: np.ndarray
    faces: np.ndarray

    def __post_init__(self) -> None:
        _check(self.vertices, "mesh vertices", (None, 3), "f")
        _check(self.faces, "mesh faces", (None, 3), "iu")
        if len(self.faces) and int(self.faces.max()) >= len(self.vertices):
            raise ValueError(
                f"mesh: a face names vertex {int(self.faces.max())} of {len(self.vertices)}"
            )

    @property
    def bounds(self) -> np.ndarray:
        """(2, 3): lower and upper corner."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def extents(self) -> np.ndarray:
        """(3,): size of the bounding box along x, y, z."""
        low, high = self.bounds
        return high - low

    def moved(self, scale: float, offset: np.ndarray) -> Mesh:
        """Return the mesh with every vertex v at scale * v + offset."""
        return replace(self, vertices=self.vertices * scale + offset)

    def to_trimesh(self) -> Any:
        """Return a trimesh.Trimesh of the same arrays, unprocessed."""
        import trimesh

        return trimesh.Trimesh(self.vertices, self.faces, process=False)

    @staticmethod
    def from_trimesh(mesh: Any) -> Mesh:
        """Take vertices and faces of a trimesh.Trimesh."""
        return Mesh(np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64))


@dataclass(frozen=True)
class SurfaceMaterial:
    """Metallic-roughness material as glTF defines it; a texture multiplies its factor."""

    base_color: tuple[float, float, float] = (0.8, 0.8, 0.8)
    """sRGB factor in [0, 1] (not linear, unlike glTF's file format)."""
    metallic: float = 0.0
    roughness: float = 0.6
    base_color_texture: np.ndarray | None = None
    """(H, W, 3) uint8 sRGB, first row at the top (v = 1)."""
    metallic_roughness_texture: np.ndarray | None = None
    """(H, W, 3) uint8 linear: G roughness, B metallic."""
    name: str = ""


@dataclass(frozen=True)
class Surface:
    """Any mesh with looks: a user's model, a training model or a finished asset.

    It need not be watertight. UVs belong to face corners, so seams need no double vertices.
    """

    mesh: Mesh
    corner_uv: np.ndarray
    """(F, 3, 2) float, v up; zeros where the material has no texture."""
    face_material: np.ndarray
    """(F,) int, index into `materials`."""
    materials: tuple[SurfaceMaterial, ...]
    vertex_color: np.ndarray | None = None
    """(V, 3) uint8 sRGB, multiplies the material, or None."""
    normals: np.ndarray | None = None
    """(V, 3) unit vertex normals for smooth shading, or None for flat faces."""
    fallbacks: tuple[Fallback, ...] = ()
    """What of the file's look could not be read (missing textures ...)."""

    def __post_init__(self) -> None:
        count = len(self.mesh.faces)
        _check(self.corner_uv, "surface corner_uv", (count, 3, 2), "f")
        _check(self.face_material, "surface face_material", (count,), "iu")
        if not self.materials:
            raise ValueError("surface: got no material; wanted at least one")


@dataclass(frozen=True)
class Subject:
    """A prepared photo: one object, cropped square, on white."""

    rgb: np.ndarray
    """(S, S, 3) float32 sRGB in [0, 1], composited on white."""
    mask: np.ndarray
    """(S, S) float32 in [0, 1]: coverage by the object."""
    mask_source: Literal["alpha", "model", "border", "user"]
    fallbacks: tuple[Fallback, ...] = ()

    def __post_init__(self) -> None:
        size = len(self.rgb)
        _check(self.rgb, "subject rgb", (size, size, 3), "f")
        _check(self.mask, "subject mask", (size, size), "f")


@dataclass(frozen=True)
class Shape:
    """What the geometry stage found in a photo."""

    mesh: Mesh
    """Canonical frame."""
    camera: Camera
    """The photo's camera relative to the canonical frame."""
    silhouette_iou: float
    """Agreement of the shape's silhouette with the photo's mask, in [0, 1]."""
    size_m: Estimate
    """Longest side of the bounding box [m]."""
    material: Estimate
    """Name of a row of the materials table."""
    category: Estimate
    """Name of a category the model was trained on, or "unknown"."""
    hull_density_kg_m3: Estimate | None = None
    """Mass over the volume of the convex hull, for that material; None where nothing tells."""
    fallbacks: tuple[Fallback, ...] = ()


@dataclass(frozen=True)
class Solid:
    """One watertight, manifold, outward-wound body."""

    mesh: Mesh
    fallbacks: tuple[Fallback, ...] = ()


@dataclass(frozen=True)
class Atlas:
    """UV layout of a mesh: its own vertex list, so that the mesh itself stays closed at seams."""

    vertex: np.ndarray
    """(N,) int: mesh vertex of each atlas vertex."""
    faces: np.ndarray
    """(F, 3) int into the atlas vertices; face i is face i of the mesh."""
    uv: np.ndarray
    """(N, 2) float in [0, 1], v up."""
    utilisation: float
    """Share of the unit square that charts cover."""
    fallbacks: tuple[Fallback, ...] = ()

    def __post_init__(self) -> None:
        _check(self.vertex, "atlas vertex", (None,), "iu")
        _check(self.faces, "atlas faces", (None, 3), "iu")
        _check(self.uv, "atlas uv", (len(self.vertex), 2), "f")


@dataclass(frozen=True)
class PBRMaps:
    """Textures of one asset, (T, T, 3) uint8, first row at the top (v = 1)."""

    base_color: np.ndarray
    """sRGB, light removed as far as the stage can."""
    metallic_roughness: np.ndarray
    """Linear: R 255 (no occlusion), G roughness, B metallic, as glTF packs it."""
    normal: np.ndarray
    """Tangent space, OpenGL convention (+Y up); flat is (128, 128, 255)."""
    seen_share: float = 0.0
    """Share of texels inside charts whose colour comes straight from the photo or source texture."""
    fallbacks: tuple[Fallback, ...] = ()


@dataclass(frozen=True)
class RigidBody:
    """Mass properties and contact parameters of one link, in the link's frame."""

    mass_kg: float
    com_m: np.ndarray
    """(3,) centre of mass in the link frame."""
    inertia_kg_m2: np.ndarray
    """(3, 3) about the centre of mass, along the link's axes. Off-diagonals are -int xy dm."""
    friction: float
    """Coulomb coefficient, lateral."""
    rolling_friction: float
    """MuJoCo's meaning: a length [m]."""
    spinning_friction: float
    """MuJoCo's torsional coefficient: a length [m]."""
    restitution: float

    def __post_init__(self) -> None:
        _check(self.com_m, "com_m", (3,), "f")
        _check(self.inertia_kg_m2, "inertia_kg_m2", (3, 3), "f")
        if not (np.isfinite(self.mass_kg) and self.mass_kg > 0):
            raise ValueError(f"mass_kg: got {self.mass_kg}; wanted a finite number > 0")


@dataclass(frozen=True)
class Primitive:
    """A body that engines know by name; its axis is z, its centre the origin of its own frame."""

    kind: Literal["box", "sphere", "cylinder", "capsule"]
    size_m: tuple[float, ...]
    """box: full lengths along x, y, z; sphere: radius; cylinder: radius, length; capsule: radius,
    length without its caps [m]."""
    center_m: np.ndarray
    """(3,) in the link frame [m]."""
    rotation: np.ndarray
    """R_link_primitive (3, 3)."""

    def __post_init__(self) -> None:
        _check(self.center_m, "primitive center_m", (3,), "f")
        _check(self.rotation, "primitive rotation", (3, 3), "f")


@dataclass(frozen=True)
class Collision:
    """Convex bodies that stand for the mesh in contact."""

    hulls: tuple[Mesh, ...]
    """Every body as a mesh; a primitive as its triangles (`seed3d.physics.primitives`)."""
    volume_ratio: float
    """Volume of the union of the bodies over volume of the solid; 1 is exact."""
    fallbacks: tuple[Fallback, ...] = ()
    primitives: tuple[Primitive | None, ...] = ()
    """For each hull the primitive that files hold in its place, or None; () means none at all."""
    measures: dict[str, float] = field(default_factory=dict)
    """distance_m and distance_share (largest two-sided distance of the surfaces, and over the
    longest side), mean_distance_m, filled_share (of the open space inside the convex hull),
    cavity_filled_share (of the large cavities)."""

    def primitive(self, index: int) -> Primitive | None:
        """Return the primitive that stands for hull `index`, or None."""
        return self.primitives[index] if self.primitives else None


@dataclass(frozen=True)
class Pictures:
    """An object drawn without its hulls, free of scale: what previews are put together from."""

    size: int
    """S, the side of a panel [pixel]."""
    turn: int
    """Frames of a whole turn."""
    panels: tuple[np.ndarray, ...] = ()
    """Each (S, S, 3) uint8: photo (where there is one), mesh, front, back."""
    frames: tuple[np.ndarray, ...] = ()
    """Each (S // 2, S // 2, 3) uint8: a turntable, in order."""

    @property
    def whole(self) -> bool:
        """Whether everything is drawn; hulls may have been found before."""
        return bool(self.panels) and len(self.frames) == self.turn


@dataclass(frozen=True)
class Asset:
    """A finished simulation-ready object. Everything in the link frame, metres, kilograms."""

    name: str
    """A file and identifier name: letters, digits, underscore; starts with a letter."""
    mesh: Mesh
    atlas: Atlas
    maps: PBRMaps
    collision: Collision
    body: RigidBody
    estimates: dict[str, Estimate] = field(default_factory=dict)
    """size_m, material, category, mass_kg, density_kg_m3, friction ...: value and source."""
    fallbacks: tuple[Fallback, ...] = ()
    inputs: dict[str, Any] = field(default_factory=dict)
    """Input file name and SHA-256, seed, resolved configuration."""
    camera: Camera | None = None
    """The photo's camera, canonical frame; None for an asset made from a mesh."""
    subject: Subject | None = None
    """The prepared photo, for previews; None for an asset made from a mesh."""
    pictures: Pictures | None = None
    """What was drawn while hulls were being found; the rest is drawn when the asset is saved."""
    timings_s: dict[str, float] = field(default_factory=dict)

    def save(self, folder: Any, config: Any = None) -> Verdict:
        """Write the asset to `folder`, verify what was written, return the verdict.

        See `seed3d.pipeline.save`.
        """
        from seed3d.pipeline import save

        return save(self, folder, config)


@dataclass(frozen=True)
class Check:
    """One measured fact of an asset, with its limit."""

    name: str
    passed: bool
    value: float | str
    wanted: str
    engine: str = ""


STEADY, AT_REST = "steady", "at rest"
"""Name of the check that tells whether an object comes to rest, and its value when it does."""


@dataclass(frozen=True)
class Verdict:
    """All checks of one asset."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """True when there is at least one check and none failed."""
        return bool(self.checks) and all(c.passed for c in self.checks)

    @property
    def unsteady(self) -> str:
        """How the object keeps rolling, rocking or toppling, by engine; empty where it rests."""
        moving = [c for c in self.checks if c.name == STEADY and c.value != AT_REST]
        return "; ".join(f"{c.value} in {c.engine}" for c in moving)
