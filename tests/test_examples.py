"""The scripts in examples/ run as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import trimesh

import seed3d
from seed3d.export import asset_files, write_files

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(script: str, *arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_shelf(tmp_path):
    run("scene_shelf.py", tmp_path / "shelf")
    layout = json.loads((tmp_path / "shelf" / "scene.json").read_text())
    heights = sorted(o["position"][2] for o in layout["objects"])
    for found, wanted in zip(heights, (0.31, 0.31, 0.35, 0.71), strict=True):
        assert abs(found - wanted) < 1e-3


def test_clutter(tmp_path):
    path = tmp_path / "brick.stl"
    trimesh.creation.box((0.1, 0.06, 0.04)).export(path)
    asset = seed3d.simready(path, seed3d.load_preset("smoke"))
    write_files(asset_files(asset), tmp_path / "brick")
    assert "at rest: True" in run("scene_clutter.py", tmp_path / "heap", tmp_path / "brick")
    layout = json.loads((tmp_path / "heap" / "scene.json").read_text())
    assert len(layout["objects"]) == 4 and len(layout["assets"]) == 1
