"""Features of photographs by a ResNet-50: 2048 numbers a picture, for the paper's VisDA and Office.

    python resnet50_features.py visda/train visda-train.npz
    python resnet50_features.py office31/amazon/images amazon.npz

The folder has a folder of JPEG or PNG pictures for each class. The archive has X (rows of
float32, from 0 on), y (the names of the classes) and id (path within the folder): what
mars reads. Needs torch, torchvision and numpy.

The weights are those of ImageNet that torchvision downloads, or a file of them (--weights,
a state_dict as resnet50-0676ba61.pth is). --weights random needs no download and is of no
use but to try the program out. Pictures are brought to 256 pixels on the shorter side, and
224x224 are cut out of the centre, as ImageNet's networks are tested.
"""
import argparse
import pathlib

import numpy as np
import torch
from torchvision import datasets, models, transforms


def network(weights):
    if weights == "random":
        torch.manual_seed(0)
        net = models.resnet50(weights=None)
    elif weights:
        net = models.resnet50(weights=None)
        net.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    else:
        net = models.resnet50(weights=models.ResNet50_Weights.IMAGENET1K_V1)
    net.fc = torch.nn.Identity()  # what is left is the average of the last layer's ReLUs
    return net.eval()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("output", type=pathlib.Path)
    p.add_argument("--weights", default="", help='file of weights, or "random"')
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    a = p.parse_args()
    if a.output.suffix != ".npz":
        p.error(f"{a.output}: give the output a name that ends in .npz")
    look = transforms.Compose([
        transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ])
    pictures = datasets.ImageFolder(a.folder, look)
    net = network(a.weights).to(a.device)
    rows = []
    with torch.inference_mode():
        for images, _ in torch.utils.data.DataLoader(pictures, batch_size=a.batch):
            rows.append(net(images.to(a.device)).cpu().numpy())
            print(f"{sum(map(len, rows))} of {len(pictures)}", end="\r", flush=True)
    x = np.concatenate(rows)
    assert x.shape == (len(pictures), 2048) and np.isfinite(x).all()
    part = a.output.with_suffix(".part.npz")
    np.savez(part, X=x, y=np.array([pictures.classes[k] for k in pictures.targets]),
             id=np.array([pathlib.Path(path).relative_to(a.folder).as_posix() for path, _ in pictures.samples]))
    part.replace(a.output)
    print(f"{a.output}: {len(x)} rows of {len(pictures.classes)} classes")


if __name__ == "__main__":
    main()
