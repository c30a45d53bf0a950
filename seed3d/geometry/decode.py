"""Signed distance field to mesh, coarse to fine: asked only where the surface may pass.

Grids of vertices are nested: each level halves the cells of the last one that can hold surface.
At the last level a cell is cut only where the level before was not yet straight enough, as in
adaptively sampled distance fields (Frisken et al., SIGGRAPH 2000): a flat or gently curved piece
is exact there already; its middle is asked first. All other vertices are interpolated, so the grid
stays continuous and the mesh closed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from seed3d.errors import StageError
from seed3d.types import Mesh

Field = Callable[[torch.Tensor], torch.Tensor]
"""Points (N, 3) to values (N,), negative inside."""

REACH = 0.87
"""Half diagonal of a cell of side 1: a surface in it is at most this far from its centre."""
STRAIGHT = 0.2
"""Bend under which a cell without sign change holds no hidden surface [finer cells]."""
SATURATED = 0.95
"""Share of the largest value from which a truncated field says only "far"."""


@dataclass(frozen=True)
class Decoded:
    """A mesh with what it cost."""

    mesh: Mesh
    evaluations: int
    """Field values computed, on all levels."""
    dense_evaluations: int
    """Field values of the full grid, (resolution + 1)^3."""


def decode_surface(
    field: Field,
    resolution: int = 256,
    *,
    rough: Field | None = None,
    bound: float = 1.0,
    start: int = 32,
    tolerance: float = 0.25,
    device: str | torch.device = "cpu",
) -> Decoded:
    """Mesh of the zero level of a field.

    Args:
        field: Evaluated in float32 at every vertex next to the crossing.
        resolution: Cells along a side; a power of two times a number up to `start`.
        rough: Cheaper field (half precision) for the levels before the last two.
        bound: Half side of the cube that is searched.
        start: Most cells along a side of the first, full level. Parts of an exact distance field
            are found however thin; of other fields those about 2 bound / start wide.
        tolerance: Bend of the field from which a cell of the last level is cut [voxel]; 0 cuts
            every cell with surface.
        device: Where the field lives.

    Returns:
        A closed mesh, outward winding, in the field's coordinates; counts of evaluations.

    Raises:
        StageError: The field has no inside.
        ValueError: `resolution` can't be reached by doubling.
    """
    sides = level_sides(resolution, start)
    ask = _Counter(bound, device)
    rough_field = field if rough is None else rough
    first = field if len(sides) <= 2 else rough_field
    values = ask(first, _all_vertices(sides[0], device), sides[0])
    values = values.view(*[sides[0] + 1] * 3)
    exact = torch.full_like(values, first is field, dtype=torch.bool)
    cells = torch.ones([sides[0]] * 3, dtype=torch.bool, device=values.device)
    bend = torch.full_like(values, 1e9)  # not known yet
    slope = field_slope(values, 2 * bound / sides[0])
    for side in sides[1:]:
        last = side == resolution
        step = 2 * bound / side  # of the finer level
        bent = _corners(bend).amax(0)
        cells = cells & _holding(values, REACH * 2 * step * slope, bent > STRAIGHT * step * slope)
        fine = doubled(values)
        known = torch.zeros_like(fine, dtype=torch.bool)
        known[::2, ::2, ::2] = exact
        precise = field if side * 2 >= resolution else rough_field
        if last:
            cells = cells & (bent > tolerance * step * slope)
            near = fine.abs() < step * slope + 0.5 * doubled(bend).clamp(max=step * slope)
            tried = _middles(cells)
            found = _asked(ask, precise, fine, tried, side)
            straight = found[1::2, 1::2, 1::2] <= tolerance * step * slope
            cells = cells & ~(straight & (bent < step * slope))
            # Both ends of an edge that crosses are within its length of the surface.
            wanted = _touched(cells) & ~known & ~tried & near
        else:
            wanted = _touched(cells) & ~known
        bend = _asked(ask, precise, fine, wanted, side)
        values, exact = fine, known | (wanted if precise is field else False)
        cells = cells.repeat_interleave(2, 0).repeat_interleave(2, 1).repeat_interleave(2, 2)
    mesh = grid_surface(values.cpu().numpy(), bound)
    return Decoded(mesh, ask.count, (resolution + 1) ** 3)


def decode_dense(field: Field, resolution: int, bound: float = 1.0) -> Decoded:
    """As `decode_surface` with every vertex evaluated; what the other is measured against."""
    ask = _Counter(bound, "cpu")
    values = torch.cat(
        [
            ask(field, plane, resolution)
            for plane in _all_vertices(resolution, "cpu").split((resolution + 1) ** 2)
        ]
    ).view(*[resolution + 1] * 3)
    return Decoded(grid_surface(values.numpy(), bound), ask.count, ask.count)


def level_sides(resolution: int, start: int) -> list[int]:
    """Cells along a side of every level, coarse to fine.

    Raises:
        ValueError: An odd number above `start` is reached.
    """
    sides = [resolution]
    while sides[0] > start:
        if sides[0] % 2:
            raise ValueError(
                f"resolution: got {resolution}; wanted a number up to {start} times a power of two"
            )
        sides.insert(0, sides[0] // 2)
    return sides


def field_slope(values: torch.Tensor, step: float) -> float:
    """Steepness of a field at its surface [units of the field per unit of length].

    About 1 for a distance; taken from the edges of the grid (N, N, N) that cross the surface.
    """
    rises, crossing = [], []
    for axis in range(3):
        size = values.shape[axis] - 1
        a, b = values.narrow(axis, 0, size), values.narrow(axis, 1, size)
        rises.append((b - a).abs().flatten())
        crossing.append(((a < 0) != (b < 0)).flatten())
    rise, over = torch.cat(rises), torch.cat(crossing)
    chosen = rise[over] if bool(over.any()) else rise
    chosen = chosen[:: max(1, len(chosen) // 100_000)]
    return max(float(torch.quantile(chosen, 0.9)) / step, 1e-12)


def doubled(values: torch.Tensor) -> torch.Tensor:
    """Trilinear values on the vertices of a grid with cells of half the size."""
    size = [2 * n - 1 for n in values.shape]
    return functional.interpolate(
        values[None, None], size, mode="trilinear", align_corners=True
    )[0, 0]  # fmt: skip


def grid_surface(values: np.ndarray, bound: float = 1.0) -> Mesh:
    """Marching cubes of values (N, N, N) on vertices that span [-bound, bound]^3.

    Raises:
        StageError: No value is negative.
    """
    from skimage.measure import marching_cubes

    inside = values < 0
    if not inside.any():
        raise StageError(
            "the decoded field is empty: no point is inside; try another --seed, or a photo that "
            "shows the whole object"
        )
    low, high = [], []
    for axis in range(3):
        hit = np.flatnonzero(inside.any(axis=tuple(a for a in range(3) if a != axis)))
        low.append(max(int(hit[0]) - 1, 0))
        high.append(int(hit[-1]) + 2)
    part = values[low[0] : high[0], low[1] : high[1], low[2] : high[2]]
    padded = np.pad(part, 1, constant_values=max(float(np.abs(part).max()), 1e-3))
    vertices, faces, _, _ = marching_cubes(padded, 0.0, gradient_direction="descent")
    step = 2.0 * bound / (len(values) - 1)
    vertices = (vertices - 1.0 + np.array(low)) * step - bound  # the pad moves vertices by one
    return Mesh(vertices.astype(np.float64), faces.astype(np.int64))


class _Counter:
    """Asks a field at grid vertices and counts."""

    def __init__(self, bound: float, device: str | torch.device) -> None:
        self.bound, self.device, self.count = bound, device, 0

    def __call__(self, field: Field, index: torch.Tensor, side: int) -> torch.Tensor:
        """Values (N,) float32 at vertices index (N, 3)."""
        self.count += len(index)
        points = index.to(self.device, torch.float32) * (2 * self.bound / side) - self.bound
        with torch.no_grad():
            return field(points).float()


def _all_vertices(side: int, device: str | torch.device) -> torch.Tensor:
    axis = torch.arange(side + 1, device=device)
    return torch.cartesian_prod(axis, axis, axis)


def _corners(values: torch.Tensor) -> torch.Tensor:
    """The 8 corners of each cell, (8, N - 1, N - 1, N - 1)."""
    n = len(values) - 1
    return torch.stack(
        [values[x : x + n, y : y + n, z : z + n] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    )


def _holding(values: torch.Tensor, reach: float, bent: torch.Tensor) -> torch.Tensor:
    """Cells that can hold surface: a sign change; or values near 0 on average that bend.

    A sheet hidden between vertices folds the field around it, so it can't be where it's straight.
    """
    corners = _corners(values)
    inside = (corners < 0).sum(0)
    far = SATURATED * float(values.abs().max())
    near = corners.abs().mean(0) < min(reach, far)
    return ((inside > 0) & (inside < 8)) | (near & bent)


def _middles(cells: torch.Tensor) -> torch.Tensor:
    """Vertices of the next level in the middle of `cells`, (2 N + 1)^3."""
    fine = torch.zeros([2 * n + 1 for n in cells.shape], dtype=torch.bool, device=cells.device)
    fine[1::2, 1::2, 1::2] = cells
    return fine


def _asked(
    ask: _Counter, field: Field, fine: torch.Tensor, wanted: torch.Tensor, side: int
) -> torch.Tensor:
    """Put the field's values at the `wanted` vertices into `fine`; returns what that changed."""
    found = ask(field, wanted.nonzero(), side)
    bend = torch.zeros_like(fine)
    bend[wanted] = (found - fine[wanted]).abs()
    fine[wanted] = found
    return bend


def _touched(cells: torch.Tensor) -> torch.Tensor:
    """Vertices of the next level in the closed `cells`, (2 N + 1)^3."""
    n = len(cells)
    fine = torch.zeros([2 * n + 1] * 3, dtype=torch.bool, device=cells.device)
    for x in range(3):
        for y in range(3):
            for z in range(3):
                fine[x : x + 2 * n : 2, y : y + 2 * n : 2, z : z + 2 * n : 2] |= cells
    return fine
