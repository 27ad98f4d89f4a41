"""Writes JPEG files that say how the camera was held, and what Pillow makes of them.

Needs Pillow and numpy. Run it in this folder: python generate.py
"""
import json

import numpy as np
from PIL import Image, ImageOps

x = np.zeros((16, 24, 3), np.uint8)
x[:8, :12], x[:8, 12:], x[8:, :12], x[8:, 12:] = (250, 10, 10), (10, 240, 10), (10, 10, 240), (230, 230, 10)
want = {}
for orientation in range(1, 9):
    for order in "II", "MM":
        exif = Image.Exif()
        exif.endian = "<" if order == "II" else ">"
        exif[0x0110], exif[0x0112] = "camera", orientation
        name = f"{orientation}{order}.jpg"
        Image.fromarray(x).save(name, quality=95, exif=exif)
        y = np.asarray(ImageOps.exif_transpose(Image.open(name)), float)
        h, w = y.shape[:2]
        want[name] = {"size": [h, w], "corners": [y[2, 2].tolist(), y[2, w - 3].tolist(), y[h - 3, 2].tolist(), y[h - 3, w - 3].tolist()]}
json.dump(want, open("expected.json", "w"), indent=1)
