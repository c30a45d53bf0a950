"""Thin parts of a field: a rod grows by a known amount, a ball keeps its size."""

import numpy as np
import pytest
import torch

from seed3d.geometry.thin import GROW, smoothed, thin_offset
from seed3d.geometry.tsdf import TRUNCATION, grid_points, truncate


def test_a_rod_grows_and_a_ball_does_not():
    points = grid_points(64)
    rod = np.hypot(points[..., 0] + 0.7, points[..., 1]) - 0.04
    ball = np.linalg.norm(points - [0.4, 0, 0], axis=-1) - 0.5
    field = torch.from_numpy(truncate(np.minimum(rod, ball)).astype(np.float32))[None]
    offset = thin_offset(field)[0]
    index = lambda x: int((x + 1) * 32)  # noqa: E731
    assert offset[index(-0.7), 32, 32] == pytest.approx(GROW)
    assert offset[index(0.4), 32, 32] == 0
    grown = (field[0] - offset) * TRUNCATION
    across = grown[:, 32, 32].numpy()
    width = (across[: index(-0.4)] < 0).sum() * 2 / 64
    assert width == pytest.approx(0.08 + 2 * GROW * TRUNCATION, abs=2 / 64)


def test_smoothing_keeps_linear_fields_and_constants():
    linear = torch.from_numpy(grid_points(16) @ np.array([1.0, -2.0, 0.5], np.float32))[None]
    inner = slice(1, -1)
    assert torch.allclose(
        smoothed(linear)[0, inner, inner, inner], linear[0, inner, inner, inner], atol=1e-6
    )
    assert torch.allclose(smoothed(torch.ones(1, 8, 8, 8)), torch.ones(1, 8, 8, 8))
