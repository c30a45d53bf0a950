"""Light things of many hulls come to rest in MuJoCo too."""

from __future__ import annotations

import re

import pytest

from seed3d.config import Config, ExportConfig, TextureConfig, VerifyConfig
from seed3d.data.procedural import make
from seed3d.export.mjcf import SOLIMP
from seed3d.pipeline import finished_files, simready
from seed3d.verify.drop_mujoco import drop_mujoco


@pytest.fixture(scope="module")
def uneven_pan(tmp_path_factory):
    """The folder of a pan of 0.3 kg and some ten hulls, its base as uneven as remeshing left it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seed3d.physics.hulls.flat_base", lambda solid: None)
        return pan_asset(tmp_path_factory.mktemp("uneven"))


def pan_asset(folder):
    make("pan", 0).surface.mesh.to_trimesh().export(folder / "pan.ply")
    config = Config(
        texture=TextureConfig(size=64), export=ExportConfig(preview_size=64, turntable_frames=0)
    )
    files, verdict, _ = finished_files(simready(folder / "pan.ply", config, up="z"), config)
    assert verdict.passed, [c for c in verdict.checks if not c.passed]
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def test_a_pan_comes_to_rest_because_its_contacts_set_in_gently(uneven_pan):
    path = uneven_pan / "pan.xml"
    gentle = drop_mujoco(path, VerifyConfig())
    assert gentle.settle_s is not None and gentle.jitter < 2e-3
    assert gentle.lowest_m > -5e-4  # and doesn't sink in
    text = path.read_text()
    assert text.count(f'solimp="{SOLIMP}"') == 1
    hard = path.with_name("hard.xml")
    hard.write_text(re.sub(r' solimp="[^"]*"', "", text))
    assert drop_mujoco(hard, VerifyConfig()).settle_s is None  # as MuJoCo's default has it


def test_a_pan_with_a_level_base_comes_to_rest_whatever_its_contacts(tmp_path):
    path = pan_asset(tmp_path) / "pan.xml"
    path.write_text(re.sub(r' solimp="[^"]*"', "", path.read_text()))
    assert drop_mujoco(path, VerifyConfig()).settle_s is not None
