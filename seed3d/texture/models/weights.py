"""The bundled texture networks: one weight file, one prefix per network."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

    from seed3d.texture.models.completion import CompletionNet
    from seed3d.texture.models.pbr import PBRNet

TEXTURE_MODEL = "seed3d-texture-tiny"
ABOUT = "Seed3D texture models, Apache-2.0; data credits in checkpoints/CREDITS.md"


@lru_cache(maxsize=2)
def load_pbr(model: str = TEXTURE_MODEL) -> PBRNet:
    """Return the decomposition network, frozen, in evaluation mode.

    Raises:
        CheckpointError: The weights are missing, damaged or of another model.
    """
    from seed3d.texture.models.pbr import PBRNet

    return _load(model, "pbr", PBRNet)


@lru_cache(maxsize=2)
def load_completion(model: str = TEXTURE_MODEL) -> CompletionNet:
    """Return the completion network, frozen, in evaluation mode.

    Raises:
        CheckpointError: The weights are missing, damaged or of another model.
    """
    from seed3d.texture.models.completion import CompletionNet

    return _load(model, "completion", CompletionNet)


def export_networks(path: Path, networks: dict[str, Any]) -> None:
    """Write networks by name, each with the arguments it is built from (`.config`)."""
    from seed3d.checkpoints import save_state

    state = {
        f"{name}.{key}": value
        for name, network in networks.items()
        for key, value in network.state_dict().items()
    }
    config = {name: network.config for name, network in networks.items()}
    save_state(path, state, config, ABOUT)


def _load(model: str, name: str, kind: Any) -> Any:
    from seed3d.checkpoints import load_state, load_strict
    from seed3d.errors import CheckpointError

    state, config = load_state(model)
    if name not in config:
        raise CheckpointError(
            f"model {model!r}: holds {', '.join(sorted(config))}; wanted a network {name!r}."
            " Name a texture model of checkpoints/manifest.yaml"
        )
    own = {k.removeprefix(f"{name}."): v for k, v in state.items() if k.startswith(f"{name}.")}
    network: nn.Module = kind(**config[name])
    return load_strict(network, own, model).requires_grad_(False)
