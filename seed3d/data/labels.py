"""Names of training objects to rows of configs/categories.yaml."""

from __future__ import annotations

_ROW = {
    # furniture libraries
    "glass": "drinking_glass", "bin": "trashcan", "bedside_table": "cabinet",
    # procedural objects
    "apple": "fruit", "banana": "fruit", "pear": "fruit", "citrus": "fruit", "carrot": "fruit",
    "carton": "box", "food_box": "box", "tissue_box": "box", "caddy": "basket",
    "tea_cup": "mug", "tin": "can", "ramekin": "bowl", "wine_glass": "drinking_glass", "thermos": "bottle",
    "squeeze_bottle": "bottle", "shampoo_bottle": "bottle", "spray_bottle": "bottle",
    "soap_dispenser": "bottle", "teapot": "kettle", "jug": "vase", "planter": "flower_pot",
    "tray": "plate", "cutting_board": "plate", "spoon": "cutlery", "knife": "cutlery",
    "fork": "cutlery", "spatula": "cutlery",
    "hammer": "tool", "screwdriver": "tool", "wrench": "tool", "power_drill": "tool",
    "stapler": "tool", "flashlight": "tool", "brush": "tool", "tape_measure": "tool",
    "toy_block": "toy", "toy_car": "toy", "toy_train": "toy", "toy_figure": "toy",
    "toy_animal": "toy", "stacking_rings": "toy", "duck": "toy", "plush": "toy",
    "table_lamp": "lamp", "floor_lamp": "lamp", "desk_lamp": "lamp", "nightstand": "cabinet",
    "trash_bin": "trashcan", "monitor": "screen", "bookshelf": "shelf", "bookcase": "shelf",
}  # fmt: skip


def category_row(name: str) -> str:
    """Row of the categories table for a training object's name; the name itself where it's one."""
    return _ROW.get(name, name)
