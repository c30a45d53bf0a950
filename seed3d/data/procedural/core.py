"""What a procedural object is made of, the registry of categories, and its assembly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seed3d.data.procedural.shapes import Form, cross
from seed3d.types import Mesh, Surface, SurfaceMaterial

DENSITY_KG_M3: dict[str, float] = {
    "wood_soft": 480.0,
    "wood_hard": 700.0,
    "mdf": 720.0,
    "plastic_abs": 1050.0,
    "plastic_pp": 910.0,
    "rubber": 1150.0,
    "steel": 7850.0,
    "stainless": 7950.0,
    "aluminium": 2700.0,
    "brass": 8500.0,
    "glass": 2500.0,
    "ceramic": 2200.0,
    "porcelain": 2400.0,
    "stone": 2600.0,
    "cardboard": 700.0,
    "paper": 800.0,
    "leather": 900.0,
    "fabric": 400.0,
    "foam": 40.0,
}
"""Density of the material itself [kg/m^3]; handbook mid values."""


@dataclass(frozen=True)
class ProceduralObject:
    """One generated object with its true physical properties."""

    category: str
    surface: Surface
    """Metres, world frame (Z up, front +X), standing on z = 0, centred in x and y."""
    material: str
    """Dominant material by mass: a key of DENSITY_KG_M3."""
    mass_kg: float
    """True mass: sum over the parts, thin walls hollow, without contents."""
    has_front: bool
    """False where no azimuth is preferred (bowl, ball)."""


@dataclass(frozen=True)
class Part:
    """One closed body with its looks and what it weighs."""

    form: Form
    look: SurfaceMaterial
    material: str
    wall_m: float | None = None
    """Thickness where the real part is a shell and the form only its outside; None: solid."""
    density_kg_m3: float | None = None
    """Bulk density of a mixed part (electronics, fruit); the material's own if None."""
    crease_deg: float = 40.0
    """Edges bent more than this are shaded sharp."""

    @property
    def mass_kg(self) -> float:
        """Volume, or area times wall where that is less, times density."""
        volume = self.form.volume
        if self.wall_m is not None:
            volume = min(volume, self.form.area * self.wall_m)
        return volume * (self.density_kg_m3 or DENSITY_KG_M3[self.material])


@dataclass(frozen=True)
class Recipe:
    """The parts of an object before assembly."""

    parts: tuple[Part, ...]
    has_front: bool = True

    @property
    def mass_kg(self) -> float:
        """Sum over the parts [kg]."""
        return sum(p.mass_kg for p in self.parts)

    @property
    def material(self) -> str:
        """Material with the largest share of the mass."""
        share: dict[str, float] = {}
        for p in self.parts:
            share[p.material] = share.get(p.material, 0.0) + p.mass_kg
        return max(share, key=lambda name: share[name])


RECIPES: dict[str, Callable[[np.random.Generator], Recipe]] = {}
"""Category to its parts, before assembly."""
SIZE_RANGE_M: dict[str, tuple[float, float]] = {}
"""Category to the least and largest longest side of its bounding box [m]."""
CATEGORIES: dict[str, Callable[[np.random.Generator], ProceduralObject]] = {}


def category(
    name: str, least_m: float, most_m: float
) -> Callable[[Callable[[np.random.Generator], Recipe]], Callable[[np.random.Generator], Recipe]]:
    """Register a recipe under `name` with the range of its longest side [m]."""

    def add(
        recipe: Callable[[np.random.Generator], Recipe],
    ) -> Callable[[np.random.Generator], Recipe]:
        RECIPES[name] = recipe
        SIZE_RANGE_M[name] = (least_m, most_m)
        CATEGORIES[name] = lambda rng: assemble(name, recipe(rng))
        return recipe

    return add


def make(category: str, seed: int) -> ProceduralObject:
    """Return the object of a category; the same seed gives the same bytes.

    Raises:
        ValueError: The category is unknown.
    """
    if category not in CATEGORIES:
        raise ValueError(f"category: got {category!r}; wanted one of {', '.join(sorted(RECIPES))}")
    key = [seed, *category.encode()]
    return CATEGORIES[category](np.random.default_rng(key))


def assemble(name: str, recipe: Recipe) -> ProceduralObject:
    """Join the parts to one surface, centred and standing on z = 0."""
    vertices, faces, uv, owner, crease, start = [], [], [], [], [], 0
    looks: list[SurfaceMaterial] = []
    index: dict[int, int] = {}
    for part in recipe.parts:
        form = part.form
        vertices.append(form.vertices)
        faces.append(form.faces + start)
        uv.append(form.uv)
        if id(part.look) not in index:
            index[id(part.look)] = len(looks)
            looks.append(part.look)
        owner.append(np.full(len(form.faces), index[id(part.look)]))
        crease.append(np.full(len(form.faces), np.cos(np.radians(part.crease_deg))))
        start += len(form.vertices)
    points = np.vstack(vertices)
    low, high = points.min(axis=0), points.max(axis=0)
    points = points - np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
    points, corners, normals = split_creases(points, np.vstack(faces), np.concatenate(crease))
    surface = Surface(
        Mesh(points, corners), np.vstack(uv), np.concatenate(owner), tuple(looks), None, normals
    )
    return ProceduralObject(name, surface, recipe.material, recipe.mass_kg, recipe.has_front)


def split_creases(
    vertices: np.ndarray, faces: np.ndarray, cos_crease: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Double the vertices along sharp edges and return smooth normals for the rest.

    Args:
        vertices: (V, 3).
        faces: (F, 3), closed bodies.
        cos_crease: (F,) cosine of the largest angle over an edge that is still smooth.

    Returns:
        vertices (N, 3), faces (F, 3), unit normals (N, 3), weighted by face area.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b, c = (vertices[faces[:, k]] for k in range(3))
    area = cross(b - a, c - a)
    unit = area / np.maximum(np.linalg.norm(area, axis=1, keepdims=True), 1e-30)
    count = len(faces)
    corner = np.arange(3 * count).reshape(-1, 3)
    tail, head = faces.ravel(), np.roll(faces, -1, 1).ravel()
    tail_corner, head_corner = corner.ravel(), np.roll(corner, -1, 1).ravel()
    key = np.minimum(tail, head) * len(vertices) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    same = key[order[:-1]] == key[order[1:]]
    first, second = order[:-1][same], order[1:][same]
    f, g = first // 3, second // 3
    smooth = np.einsum("ij,ij->i", unit[f], unit[g]) >= np.maximum(cos_crease[f], cos_crease[g])
    first, second = first[smooth], second[smooth]
    opposite = tail[first] != tail[second]
    ends = np.where(opposite, head_corner[second], tail_corner[second])
    others = np.where(opposite, tail_corner[second], head_corner[second])
    rows = np.concatenate([tail_corner[first], head_corner[first]])
    columns = np.concatenate([ends, others])
    graph = coo_matrix((np.ones(len(rows), bool), (rows, columns)), shape=(3 * count, 3 * count))
    total, label = connected_components(graph, directed=False)
    points = np.empty((total, 3))
    points[label] = vertices[tail]
    weight = np.repeat(area, 3, axis=0)
    normals = np.stack([np.bincount(label, weight[:, k], total) for k in range(3)], -1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return points, label.reshape(-1, 3).astype(np.int64), normals


def parts(*items: Part | Sequence[Part]) -> tuple[Part, ...]:
    """Flatten parts and lists of parts."""
    flat: list[Part] = []
    for item in items:
        flat.extend([item] if isinstance(item, Part) else item)
    return tuple(flat)
