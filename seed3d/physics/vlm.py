"""Size and material of a photographed object, asked of a vision-language model of the user's.

Off unless the user names an endpoint. It speaks the chat-completions protocol that local and
hosted servers share; the answer must be JSON of a fixed schema and is checked strictly. Whatever
goes wrong is recorded, and the estimates stay as they were.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from seed3d.chat import Refused, ask
from seed3d.config import VlmConfig
from seed3d.physics.materials import categories, materials
from seed3d.physics.size import SIZE_RANGE_M
from seed3d.types import Estimate, Fallback, Shape

MAX_SPREAD = 20.0
"""Largest ratio of the upper to the lower end of the size's interval."""
_KEYS = ("category", "material", "longest_side_m", "longest_side_low_m", "longest_side_high_m")
_PROMPT = (
    "The picture shows one everyday object, cut out on white. Judge its true physical size and "
    "its main material. longest_side_m is the longest side of its bounding box in metres, with "
    "an 80 % interval from longest_side_low_m to longest_side_high_m. Answer with one JSON object "
    "of the given schema and nothing else."
)


def refine(shape: Shape, rgb: np.ndarray, config: VlmConfig) -> Shape:
    """Return the shape with the model's size, material and category, or with a fallback recorded.

    Args:
        shape: With estimates of its own.
        rgb: (S, S, 3) float sRGB in [0, 1], the object on white.
        config: The endpoint.

    Raises:
        ConfigError: The endpoint isn't an http(s) URL, or the named key isn't in the environment.
    """
    try:
        told = checked_answer(ask(rgb, _PROMPT, _schema(), config), config.model)
    except Refused as error:
        note = Fallback("vlm", f"{config.model}: {error}; kept the estimates without it")
        return replace(shape, fallbacks=(*shape.fallbacks, note))
    same = all(told[k].value == getattr(shape, k).value for k in ("material", "category"))
    density = shape.hull_density_kg_m3 if same else None  # else it's of another thing
    return replace(shape, **told, hull_density_kg_m3=density)


def checked_answer(answer: dict[str, Any], model: str) -> dict[str, Estimate]:
    """Return size_m, material and category of an answer that has `_KEYS`.

    Raises:
        Refused: A value is of the wrong kind or out of range.
    """
    sizes = [answer[k] for k in _KEYS[2:]]
    if not all(isinstance(s, int | float) and not isinstance(s, bool) for s in sizes):
        raise Refused(f"the sizes are {sizes}; wanted three numbers of metres")
    value, low, high = (float(s) for s in sizes)
    least, most = SIZE_RANGE_M
    if not (least <= low <= value <= high <= most and high <= MAX_SPREAD * low):
        raise Refused(
            f"the size {value:g} ({low:g} to {high:g}) m isn't plausible; wanted low <= value <= "
            f"high within {least:g} to {most:g} m and at most a factor {MAX_SPREAD:g} apart"
        )
    for key, known in (("material", materials()), ("category", categories())):
        if answer[key] not in known:
            raise Refused(f"the {key} {answer[key]!r} isn't one of the {len(known)} it may be")
    note = f"vision-language model {model}"
    return {
        "size_m": Estimate(value, "estimate", note, low, high),
        "material": Estimate(answer["material"], "estimate", note),
        "category": Estimate(answer["category"], "estimate", note),
    }


def _schema() -> dict[str, Any]:
    size = {"type": "number", "minimum": SIZE_RANGE_M[0], "maximum": SIZE_RANGE_M[1]}
    properties: dict[str, Any] = {
        "category": {"type": "string", "enum": sorted(categories())},
        "material": {"type": "string", "enum": sorted(materials())},
        **dict.fromkeys(_KEYS[2:], size),
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(_KEYS),
        "additionalProperties": False,
    }
