"""Mass, centre of mass and inertia of closed meshes and of thin shells, and their validity.

Exact integrals over the polyhedron: the tetrahedra that the origin spans with every triangle
are affine images of the canonical one, whose second moments are known (Blow and Binstock 2004,
"How to find the inertia tensor (or other mass properties) of a 3D solid body represented by a
triangle mesh"; the same integrals as Mirtich 1996 and Eberly 2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seed3d.errors import StageError
from seed3d.types import Mesh

MINIMUM_MASS = 1e-15
"""mjMINVAL [kg]: MuJoCo refuses a moving body whose mass is below it."""
MINIMUM_MOMENT = 1e-14
"""Smallest principal moment [kg m2] that MuJoCo takes as ``fullinertia`` (mjEPS; measured)."""
TRIANGLE_MARGIN = 1e-6
"""Relative slack kept in A + B >= C, so that rounding in a file can't break it."""


class MassProperties(NamedTuple):
    """Mass properties of a rigid body, in the frame of its mesh."""

    mass: float
    """[kg]"""
    com: np.ndarray
    """(3,) centre of mass [m]."""
    inertia: np.ndarray
    """(3, 3) about the centre of mass [kg m2]; off-diagonals are -int xy dm."""


class ValidInertia(NamedTuple):
    """A tensor that a rigid body can have."""

    inertia: np.ndarray
    """(3, 3) [kg m2]"""
    change: float
    """Frobenius norm of the correction over that of the input; 0 where it was valid."""


def mass_properties(mesh: Mesh, density: float) -> MassProperties:
    """Mass properties of the uniform solid that a closed mesh encloses.

    Args:
        mesh: Watertight, counter-clockwise from outside. Vertices (V, 3) [m].
        density: [kg/m3]

    Raises:
        StageError: The mesh is empty, not finite, inside out or encloses no volume.
    """
    corners, center = _centered_corners(mesh)
    det = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))  # (F,)
    volume = float(det.sum() / 6.0)
    if not volume > 0.0:
        raise StageError(
            f"mass properties: got a mesh of volume {volume:.3g} m3; wanted a closed mesh wound "
            "counter-clockwise from outside. Repair it first (seed3d.mesh)"
        )
    total = corners.sum(axis=1)  # (F, 3)
    offset = (det @ total) / 24.0 / volume
    second = _second_moments(corners, total, det / 120.0)
    return _assemble(density, volume, offset, second, center)


def shell_properties(mesh: Mesh, thickness: float, density: float) -> MassProperties:
    """Mass properties of a thin uniform skin on the mesh's surface; the mesh may be open.

    Second moments of a triangle (a, b, c) of area A with s = a + b + c are
    A/12 (aa' + bb' + cc' + ss').

    Args:
        mesh: Vertices (V, 3) [m].
        thickness: Of the skin [m]; its own extent across is neglected.
        density: [kg/m3]

    Raises:
        StageError: The mesh is empty, not finite or has no area, or the thickness is not > 0.
    """
    if not (np.isfinite(thickness) and thickness > 0):
        raise StageError(f"shell: got a thickness of {thickness} m; wanted a finite number > 0")
    corners, center = _centered_corners(mesh)
    edges = corners[:, 1:] - corners[:, :1]  # (F, 2, 3)
    area = 0.5 * np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)  # (F,)
    if not area.sum() > 0.0:
        raise StageError("shell: got a mesh of area 0 m2; wanted triangles that have an area")
    total = corners.sum(axis=1)
    volume = float(area.sum() * thickness)
    offset = (area @ total) / 3.0 / area.sum()
    second = _second_moments(corners, total, area * thickness / 12.0)
    return _assemble(density, volume, offset, second, center)


def check_inertia(mass: float, inertia: np.ndarray) -> None:
    """Check that a rigid body can have this mass [kg] and this inertia (3, 3) about its COM [kg m2].

    Raises:
        StageError: Mass or inertia not finite or not positive, inertia not symmetric, or its
            principal moments break A + B >= C (relative tolerance 1e-9).
    """
    if not (np.isfinite(mass) and mass > 0):
        raise StageError(f"mass: got {mass} kg; wanted a finite number > 0")
    inertia = np.asarray(inertia, np.float64)
    if inertia.shape != (3, 3) or not np.isfinite(inertia).all():
        raise StageError(f"inertia: got {inertia.tolist()}; wanted 3 x 3 finite numbers [kg m2]")
    if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=1e-12 * np.abs(inertia).max()):
        raise StageError(f"inertia: got {inertia.tolist()}; wanted a symmetric tensor")
    a, b, c = np.linalg.eigvalsh(inertia)
    if not a > 0:
        raise StageError(
            f"inertia: got principal moments ({a:.3g}, {b:.3g}, {c:.3g}) kg m2; wanted all > 0"
        )
    if a + b < c * (1.0 - 1e-9):
        raise StageError(
            f"inertia: got principal moments ({a:.4g}, {b:.4g}, {c:.4g}) kg m2; wanted "
            f"A + B >= C, but {a:.4g} + {b:.4g} < {c:.4g}: no body has these"
        )


def nearest_valid_inertia(inertia: np.ndarray) -> ValidInertia:
    """Move a tensor (3, 3) [kg m2] to the nearest one with positive moments and A + B >= C.

    The eigenvectors stay; of the eigenvalues, negative ones are raised, then the Euclidean
    projection on the half-space A + B >= (1 + margin) C is taken. A valid tensor comes back as
    it is. The caller records `change`.

    Raises:
        StageError: Not finite, or no positive eigenvalue at all.
    """
    inertia = np.asarray(inertia, np.float64)
    if inertia.shape != (3, 3) or not np.isfinite(inertia).all():
        raise StageError(f"inertia: got {inertia.tolist()}; wanted 3 x 3 finite numbers [kg m2]")
    symmetric = 0.5 * (inertia + inertia.T)
    moments, axes = np.linalg.eigh(symmetric)
    if not moments[2] > 0:
        raise StageError(
            f"inertia: got principal moments {moments.tolist()} kg m2; wanted at least one > 0, "
            "else there is nothing to correct towards"
        )
    fixed = np.maximum(moments, TRIANGLE_MARGIN * moments[2])
    lack = (1.0 + TRIANGLE_MARGIN) * fixed[2] - fixed[0] - fixed[1]
    if lack > 0:
        normal = np.array([1.0, 1.0, -(1.0 + TRIANGLE_MARGIN)])
        fixed = fixed + lack / (normal @ normal) * normal
    if np.array_equal(fixed, moments):
        result = symmetric
    else:
        result = (axes * fixed) @ axes.T
        result = 0.5 * (result + result.T)
    change = np.linalg.norm(result - inertia) / np.linalg.norm(inertia)
    return ValidInertia(result, float(change))


def raise_to_engine_minimum(mass: float, inertia: np.ndarray) -> ValidInertia:
    """Raise principal moments (3, 3) [kg m2] that lie below what MuJoCo accepts.

    Adds the same amount to all three moments: axes stay, and A + B >= C stays true.

    Raises:
        StageError: The mass itself [kg] is below the engine's minimum.
    """
    if mass < 2.0 * MINIMUM_MASS:
        raise StageError(
            f"mass: got {mass:.3g} kg; wanted at least {2 * MINIMUM_MASS:g} kg, MuJoCo refuses less. "
            "Check the size (--height, --length in metres) and the mass (--mass in kilograms)"
        )
    floor = 2.0 * MINIMUM_MOMENT  # room for the rounding of a file and of the engine's own sums
    lowest = float(np.linalg.eigvalsh(inertia)[0])
    lack = max(0.0, floor - lowest)
    change = lack * np.sqrt(3.0) / max(float(np.linalg.norm(inertia)), 1e-300)
    return ValidInertia(inertia + lack * np.eye(3), float(change))


def rotate_inertia(inertia: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Express a tensor (3, 3) in rotated axes: p_new = R p_old gives I_new = R I_old R'."""
    return rotation @ inertia @ rotation.T


def inertia_about(inertia_com: np.ndarray, mass: float, offset: np.ndarray) -> np.ndarray:
    """Shift a tensor (3, 3) from the COM to a point at `offset` (3,) [m] (parallel axes)."""
    square = float(offset @ offset)
    return inertia_com + mass * (square * np.eye(3) - np.outer(offset, offset))


def _centered_corners(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Return triangle corners (F, 3, 3) about the middle of the box, and that middle (3,)."""
    if not len(mesh.faces):
        raise StageError("mass properties: got a mesh without faces; wanted a closed mesh")
    if not np.isfinite(mesh.vertices).all():
        raise StageError("mass properties: got NaN or infinite vertices; wanted finite metres")
    # Far from the origin the integrals cancel badly, so they are taken about the box's middle.
    center = mesh.bounds.mean(axis=0)
    return mesh.vertices[mesh.faces] - center, center


def _second_moments(corners: np.ndarray, total: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Sum weight_f (aa' + bb' + cc' + ss') over the faces (3, 3)."""
    own = np.einsum("f,fki,fkj->ij", weight, corners, corners)
    return own + np.einsum("f,fi,fj->ij", weight, total, total)


def _assemble(
    density: float, volume: float, offset: np.ndarray, second: np.ndarray, center: np.ndarray
) -> MassProperties:
    if not (np.isfinite(density) and density > 0):
        raise StageError(f"density: got {density} kg/m3; wanted a finite number > 0")
    about_com = second - volume * np.outer(offset, offset)
    about_com = 0.5 * (about_com + about_com.T)
    inertia = density * (np.trace(about_com) * np.eye(3) - about_com)
    return MassProperties(float(density * volume), center + offset, inertia)
