"""The files of MNIST and of Fashion-MNIST, and what `bench` makes of them for
its models: resized as Pillow does it, in three channels, normalized."""
import gzip
import math
import pathlib
import struct

import torch

import contests
import scenes

# Of MNIST's networks, and of what is trained on ImageNet.
MNIST = (.1307,), (.3081,)
IMAGENET = (.485, .456, .406), (.229, .224, .225)
PLAIN = (0, 0, 0), (1, 1, 1)
SCALES = {"alexnet": IMAGENET, "resnet34": PLAIN, "resnet50": IMAGENET}


class BadFile(Exception):
    """A data file is not what its name says."""


class Missing(Exception):
    """This Python or its PyTorch does not have it."""


def read_idx(folder, name, rank):
    """The bytes of an IDX file as a tensor; .gz where there is no plain one."""
    path = pathlib.Path(folder) / name
    packed = not path.exists()
    if packed:
        path = path.with_name(name + ".gz")
    try:
        with (gzip.open if packed else open)(path, "rb") as file:
            data = file.read()
    except (OSError, EOFError) as error:
        raise BadFile(f"{path}: {error}") from error
    head = 4 + 4 * rank
    if data[:4] != bytes((0, 0, 8, rank)) or len(data) < head:
        raise BadFile(f"{path}: not an IDX file of bytes in {rank} dimensions")
    shape = struct.unpack(f">{rank}I", data[4:head])
    body = bytearray(data[head:])
    if not body or len(body) != math.prod(shape):
        raise BadFile(f"{path}: {len(body)} bytes after the header, expected "
                      f"{' x '.join(map(str, shape))}")
    return torch.frombuffer(body, dtype=torch.uint8).reshape(shape)


def read_bytes(folder, name):
    """(images, labels): bytes [N][28][28] and numbers."""
    images = read_idx(folder, f"{name}-images-idx3-ubyte", 3)
    labels = read_idx(folder, f"{name}-labels-idx1-ubyte", 1).long()
    if len(images) != len(labels) or images.shape[1:] != (28, 28):
        raise BadFile(f"{folder}: {name} is not a set of 28 x 28 images")
    return images, labels


def normalize(images, scale=MNIST):
    """Floats [N][C][side][side] of bytes, the same in each channel."""
    mean, deviation = (torch.tensor(values).view(1, -1, 1, 1)
                       for values in scale)
    return (images.float().unsqueeze(1) / 255 - mean) / deviation


def read_set(folder, name):
    """(images, labels) of MNIST's networks, all at once."""
    images, labels = read_bytes(folder, name)
    return normalize(images), labels


def resize(image, side):
    """Of bytes, as `bench` does it."""
    if image.shape == (side, side):
        return image
    try:
        from PIL import Image
    except ImportError as error:
        raise Missing(f"{error}; `make peers` installs Pillow") from None
    resized = Image.fromarray(image.numpy()).resize((side, side),
                                                    Image.Resampling.BILINEAR)
    return torch.frombuffer(bytearray(resized.tobytes()),
                            dtype=torch.uint8).reshape(side, side)


class Samples:
    """The training or test set of a model, made as it is taken."""

    def __init__(self, folder, for_test, model, side=0):
        known = contests.MODELS[model]
        self.side = side or known.side
        self.scale = SCALES.get(model, MNIST)
        self.scenes = None
        drawn = known.dataset == "fashion-scenes"
        self.images, self.labels = read_bytes(
            folder, "t10k" if for_test and not drawn else "train")
        if drawn:
            self.scenes = scenes.scenes(len(self.images), for_test)

    def __len__(self):
        return len(self.images if self.scenes is None else self.scenes)

    def draw(self, scene):
        """Four images in quarters; 1 for each class that is there."""
        parts = [resize(self.images[number], scenes.SIDE // 2)
                 for number in scene]
        rows = [torch.cat(parts[:2], 1), torch.cat(parts[2:], 1)]
        targets = torch.zeros(10)
        targets[self.labels[scene]] = 1
        return torch.cat(rows), targets

    def take(self, numbers):
        """(images, targets) of the samples at numbers."""
        if self.scenes is None:
            taken, targets = self.images[numbers], self.labels[numbers]
        else:
            drawn = [self.draw(self.scenes[number]) for number in numbers]
            taken, targets = map(torch.stack, zip(*drawn))
        if taken.shape[1] != self.side:
            taken = torch.stack([resize(image, self.side) for image in taken])
        return normalize(taken, self.scale), targets
