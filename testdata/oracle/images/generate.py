"""Writes pictures, and what Pillow makes of them: grey, resized (bilinear, which Pillow
antialiases) and cropped. The sizes are those of torchvision's Resize and CenterCrop, whose
rules are written out here.

Needs Pillow and numpy. Run it in this folder: python generate.py
Made with Pillow 12.3.0, numpy 2.4.6. From 13 on Pillow may shrink columns before rows, which rounds
in another place: a value is then off by one.
"""
import base64
import json

import numpy as np
from PIL import Image

rng = np.random.default_rng(0)


def scene(h, w):
    """Waves, an edge and noise."""
    y, x = np.mgrid[:h, :w]
    a = np.stack([128 + 100 * np.sin(x / 3 + c) * np.cos(y / (4 + c)) for c in range(3)], -1)
    a[h // 3 :, w // 2 :] += 60
    return (a + rng.normal(0, 12, a.shape)).clip(0, 255).astype(np.uint8)


pictures = {
    "wide.png": Image.fromarray(scene(23, 37)),
    "high.png": Image.fromarray(scene(41, 16)),
    "small.png": Image.fromarray(scene(5, 7)),
    "line.png": Image.fromarray(scene(1, 30)),
    "grey.png": Image.fromarray(scene(19, 26)[:, :, 0]),
    "palette.png": Image.fromarray(scene(21, 21)).quantize(16),
    "photo.jpg": Image.fromarray(scene(48, 31)),
    "half.jpg": Image.fromarray(scene(48, 64)),
}


def resized(image, size):
    """torchvision.transforms.Resize(size)."""
    if isinstance(size, int):
        w, h = image.size
        short, long = min(w, h), max(w, h)
        long = int(size * long / short)
        size = (long, size) if w <= h else (size, long)
    return image.resize((size[1], size[0]), Image.Resampling.BILINEAR)


def cropped(image, size):
    """torchvision.transforms.CenterCrop(size), of an image that is not smaller."""
    w, h = image.size
    top, left = int(round((h - size[0]) / 2.0)), int(round((w - size[1]) / 2.0))
    return image.crop((left, top, left + size[1], top + size[0]))


steps = [
    {},
    {"grey": True},
    {"resize": [10, 10]},
    {"resize": [12, 8]},
    {"resize": [7, 33], "grey": True},
    {"resize": [50, 60]},
    {"resize": [3, 2]},
    {"shorter": 8, "crop": [8, 8]},
    {"shorter": 11, "crop": [8, 7]},
    {"shorter": 9, "crop": [4, 9], "grey": True},
    {"shorter": 45, "crop": [40, 33]},
    {"resize": [20, 15], "crop": [13, 12]},
]
expected = []
for name, image in pictures.items():
    options = {"quality": 95, "subsampling": 0 if name == "photo.jpg" else 2} if name.endswith(".jpg") else {}
    image.save(name, **options)
    for step in steps:
        out = Image.open(name)
        if out.mode != "L":
            out = out.convert("RGB")
        if step.get("grey"):
            out = out.convert("L")
        if "resize" in step or "shorter" in step:
            out = resized(out, step.get("resize") or step["shorter"])
        if "crop" in step:
            out = cropped(out, step["crop"])
        a = np.asarray(out)
        expected.append({"file": name, **step, "shape": [a.shape[2] if a.ndim == 3 else 1, *a.shape[:2]],
                         "pixels": base64.b64encode(a.tobytes()).decode()})



def short(a):
    return [float(f"{v:.8g}") for v in a.ravel()]


arrays = []
for h, w in [(9, 9), (7, 5), (4, 4), (3, 8), (28, 28)]:
    a = rng.random((h, w), np.float32).round(3)
    for size in [(6, 6), (3, 4), (9, 2), (1, 1), (16, 16), (31, 40)]:
        out = np.asarray(resized(Image.fromarray(a), size))
        arrays.append({"shape": [h, w], "resize": size, "input": short(a), "output": short(out)})
lines = ",\n".join(json.dumps(e) for e in expected)
open("pictures.json", "w").write(f"[\n{lines}\n]\n")
lines = ",\n".join(json.dumps(e) for e in arrays)
open("arrays.json", "w").write(f"[\n{lines}\n]\n")
