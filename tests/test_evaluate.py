"""Measures: shapes whose distance is known in closed form."""

import numpy as np
import pytest

from seed3d.evaluate.geometry import summarise
from seed3d.evaluate.shapes import angle_error_deg, grid_iou, surface_scores
from seed3d.geometry.tsdf import grid_points
from seed3d.types import Mesh


def sphere(radius):
    import trimesh

    return Mesh.from_trimesh(trimesh.creation.icosphere(subdivisions=5, radius=radius))


def test_iou_of_concentric_spheres_is_the_ratio_of_volumes():
    r = np.linalg.norm(grid_points(64), axis=-1)
    assert grid_iou(r - 0.8, r - 0.6) == pytest.approx((0.6 / 0.8) ** 3, rel=0.01)
    assert grid_iou(r - 0.6, r - 0.6) == 1.0


def test_chamfer_and_f_scores_of_concentric_spheres():
    """Longest side 1.9 becomes 1: a gap of 0.057 is 0.03."""
    scores = surface_scores(sphere(0.95 - 0.057), sphere(0.95))
    assert scores["chamfer_l1"] == pytest.approx(0.03, abs=0.002)
    assert scores["f_score_02"] == 0.0
    assert scores["f_score_05"] == 1.0
    same = surface_scores(sphere(0.95), sphere(0.95))
    assert same["chamfer_l1"] < 1e-6
    assert same["f_score_02"] == 1.0


def test_angles_wrap_around():
    assert angle_error_deg(np.deg2rad(179), np.deg2rad(-179)) == pytest.approx(2)
    assert angle_error_deg(0.0, np.pi) == pytest.approx(180)


def test_summary_counts_objects_and_photos():
    scores = {"iou": 0.5, "chamfer_l1": 0.1, "f_score_02": 0.2, "f_score_05": 0.6}
    rows = [
        {
            "key": key, "autoencoder_iou": 0.9, "watertight": True, "has_front": front,
            "azimuth_error_deg": error, "size_ratio": 2.0, "seconds": 3.0,
            "generated": {**scores, "silhouette_iou": 0.95},
            "nearest": scores, "best_training_shape": scores,
        }
        for key, front, error in (("a", True, 4.0), ("a", True, 8.0), ("b", False, 170.0))
    ]  # fmt: skip
    total = summarise(rows)
    assert total["count"] == 2 and total["photos"] == 3
    assert total["camera"]["azimuth_error_deg_median"] == 6.0
    assert total["size_error_median"] == pytest.approx(1.0)
    assert total["generated"]["silhouette_iou_mean"] == pytest.approx(0.95)
    assert total["nearest"]["f_score_05_mean"] == pytest.approx(0.6)
