"""Options: strict keys, types, presets, flags; oracle: the dataclasses' own defaults."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from seed3d.cli import main
from seed3d.cli.options import resolve
from seed3d.config import Config, from_dict, load_preset, presets, to_dict, update
from seed3d.errors import ConfigError


def test_every_preset_loads():
    assert {"default", "fast", "quality", "smoke"} <= set(presets())
    for name in presets():
        assert isinstance(load_preset(name), Config)
    assert load_preset("default") == Config()


def test_round_trip_through_plain_data():
    config = update(Config(), {"texture": {"size": 256}, "export": {"formats": ["glb"]}})
    assert from_dict(Config, to_dict(config)) == config


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"texure": {}}, "unknown option 'texure'. Did you mean 'texture'?"),
        ({"texture": {"sise": 3}}, "unknown option 'texture.sise'. Did you mean 'size'?"),
        ({"texture": {"size": "big"}}, "texture.size: got 'big' (str); wanted int"),
        ({"texture": {"size": True}}, "texture.size: got True (bool); wanted int"),
        ({"image": {"mask": "alfa"}}, "image.mask: got 'alfa'. Did you mean 'alpha'?"),
        ({"texture": 3}, "texture: got 3; wanted a mapping of options"),
        ({"export": {"formats": 3}}, "export.formats: got 3; wanted a list"),
    ],
)
def test_wrong_options_are_told(data, message):
    with pytest.raises(ConfigError) as error:
        update(Config(), data)
    assert str(error.value) == message


def test_flags_beat_the_preset_and_set_beats_flags():
    flags = {"preset": "fast", "seed": 7, "mass": 0.3, "formats": "urdf,glb", "sets": ["seed=8"]}
    config = resolve(flags)
    assert config.seed == 8
    assert config.physics.mass == 0.3
    assert config.export.formats == ("urdf", "glb")
    assert config.texture.size == load_preset("fast").texture.size != Config().texture.size


def test_unknown_preset_names_the_nearest():
    with pytest.raises(ConfigError, match=r"no preset 'fats'\. Did you mean 'fast'"):
        load_preset("fats")


def test_misspelt_flag_and_key_exit_2():
    run = CliRunner().invoke(main, ["generate", "x.png", "-o", "o", "--sede", "3"])
    assert run.exit_code == 2
    assert "--seed" in run.output
    run = CliRunner().invoke(main, ["generate", "x.png", "-o", "o", "--set", "texture.sice=3"])
    assert run.exit_code == 2
    assert "Did you mean 'size'?" in run.output


def test_dry_run_prints_a_configuration_that_loads_again(tmp_path):
    run = CliRunner().invoke(
        main, ["generate", "x.png", "-o", "o", "--preset", "fast", "--mass", "0.2", "--dry-run"]
    )
    assert run.exit_code == 0
    (tmp_path / "again.yaml").write_text(run.output)
    again = load_preset(str(tmp_path / "again.yaml"))
    assert again == update(load_preset("fast"), {"physics": {"mass": 0.2}})


def test_help_and_import_load_nothing_heavy():
    code = (
        "import sys, seed3d, seed3d.cli\n"
        "heavy = {'torch', 'trimesh', 'open3d', 'mujoco', 'pybullet', 'pxr', 'scipy', 'diffusers'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert all(getattr(seed3d, name) for name in ('Config', 'load_preset', 'Asset'))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_resolves():
    import seed3d

    for name in seed3d.__all__:
        assert getattr(seed3d, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'generat'"):
        _ = seed3d.generat
