"""Loose pieces: joined where the field says they nearly touch, left alone where it doesn't."""

import numpy as np
import pytest
from scipy import ndimage

from seed3d.geometry.bridge import bridged
from seed3d.geometry.surface import extract, main_body
from seed3d.geometry.tsdf import grid_points

POINTS = grid_points(64)


def box(center, half):
    q = np.abs(POINTS - np.array(center)) - np.array(half)
    outside = np.linalg.norm(np.maximum(q, 0), axis=-1)
    return (outside + np.minimum(q.max(-1), 0)) / 0.25


def table(gap):
    """A top and a leg that ends `gap` below it."""
    top = box((0, 0, 0.5), (0.8, 0.8, 0.1))
    leg = box((0.6, 0.6, -0.2 - gap / 2), (0.08, 0.08, 0.6 - gap / 2))
    return np.clip(np.minimum(top, leg), -1, 1).astype(np.float32)


def test_a_leg_that_hangs_by_a_gap_is_joined():
    grid = table(0.1)
    assert ndimage.label(grid < 0)[1] == 2
    found, count = bridged(grid)
    assert count == 1 and ndimage.label(found < 0)[1] == 1
    body = main_body(extract(found))
    assert body.dropped == 0
    assert body.mesh.bounds[0][2] == pytest.approx(extract(grid).bounds[0][2])
    changed = np.argwhere((found < 0) & (grid >= 0))
    place = (changed + 0.5) / 64 * 2 - 1
    assert len(place) < 100
    assert (np.abs(place[:, :2] - 0.6) < 0.15).all()  # only between leg and top


def test_whole_bodies_and_far_pieces_stay_as_they_are():
    whole = table(0.0)
    assert bridged(whole)[0] is whole
    far = np.minimum(box((-0.6, 0, 0), (0.2, 0.2, 0.2)), box((0.6, 0, 0), (0.2, 0.2, 0.2)))
    far = np.clip(far, -1, 1).astype(np.float32)
    assert bridged(far)[1] == 0


def test_crumbs_are_not_joined():
    grid = np.clip(
        np.minimum(box((0, 0, 0), (0.5, 0.5, 0.5)), box((0.62, 0, 0), (0.02, 0.02, 0.02))), -1, 1
    )
    assert bridged(grid.astype(np.float32))[1] == 0


def test_several_pieces_become_one_body_in_the_same_way_every_time():
    grid = box((0, 0, 0.5), (0.8, 0.8, 0.08))
    for x in (-0.6, 0.6):
        for y in (-0.6, 0.6):
            grid = np.minimum(grid, box((x, y, -0.15), (0.08, 0.08, 0.5)))
    grid = np.clip(grid, -1, 1).astype(np.float32)
    found, count = bridged(grid)
    assert count == 4 and ndimage.label(found < 0)[1] == 1
    assert np.array_equal(found, bridged(grid)[0])
