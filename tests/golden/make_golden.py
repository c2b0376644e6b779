#!/usr/bin/env python3
"""What PyTorch computes, for tests to compare with.

    make_golden.py [FILE ...]         (needs torch and numpy in any version,
                                       resize.csv Pillow before 11)

writes the files beside it, or those that are named. Everything is computed in
double but for parameters, so that another version or machine writes the same
but for the last digits; a run in single precision is compared with it.

losses.csv: losses of the MNIST networks, on data that a test can rebuild.
tests/unit/test_golden.c does so and trains as the rows say. A row is the loss of one step: the mean over the global batch, before the
update. Columns: network (a model's name), cores, batch (samples per core),
dropout (1: with the masks of models/random.h), lr (with Adadelta, StepLR takes
.7 of it each epoch), seed, step (from 0, counted through all epochs), loss.

optimizers.csv: one parameter, which begins as .5, on its way. Columns:
optimizer (one of SETTINGS), step (from 0), gradient, parameter (afterwards).

targets.csv: losses whose targets are vectors, of two samples of three outputs:
loss (of the batch), and of each value x, its target z, and the gradient.

parameters.csv: those of a residual network after manual_seed(1), as
torchvision initialises one: tensor, place in it, value.

layers.csv: what each kind of layer makes of eighths(), which a test can
rebuild: layer (one of LAYERS), tensor, place in it, value. Its tensors are the
output y, and the gradients dx, dw and dbias that eighths() as dy give.

network.csv: a small network of all these kinds: step (two gradients, of four
and of three samples, then an evaluation), tensor, place, value. The loss is the
sum over the samples; a gradient is that of a global batch of five, and behind
it are the running statistics.

resize.csv: images that a test can rebuild, which Pillow has resized, bilinear:
height and width before and after, and the CRC-32 of all bytes. Later versions
than Pillow 10 may resize columns first, which rounds some bytes differently.
"""
import math
import pathlib
import random
import sys
import zlib

import numpy
import torch
from torch import nn
from torch.nn import functional

COUNT = 1200  # samples: 37.5 batches of 32, so that there is a short one
DATA_SEED = 20200302

# network, cores, batch, dropout, lr, seed, steps
CASES = [
    ("mnist", 1, 128, 0, 1, 1, 1),
    ("mnist-example", 1, 64, 0, 1, 1, 1),
    ("mnist", 1, 32, 0, .03, 1, 50),
    ("mnist", 1, 32, 1, .03, 2, 25),
    ("mnist-example", 1, 32, 0, .03, 3, 50),
    ("mnist-example", 1, 32, 1, .03, 4, 25),
    ("mnist", 8, 8, 1, .03, 5, 25),
    ("mnist", 8, 128, 0, .03, 1, 2),
    ("xla-mnist", 1, 32, 0, .01, 3, 50),
    ("xla-mnist", 1, 32, 0, .01, 4, 50),
    ("xla-mnist", 8, 32, 0, .01, 3, 50),
    ("mnist-2019", 1, 64, 0, .01, 3, 50),
]


def words(seed):
    """The 32-bit numbers of MT19937 after init_genrand(seed), one by one."""
    state = [seed & 0xffffffff]
    for i in range(1, 624):
        previous = state[-1] ^ (state[-1] >> 30)
        state.append((1812433253 * previous + i) & 0xffffffff)
    source = random.Random()
    source.setstate((3, tuple(state + [624]), None))
    while True:
        yield source.getrandbits(32)


def make_data():
    """Bytes of noise below 128, and 120 more in the cells of the label.

    Each sample takes a word for its label (modulo 10), then 196 words, four
    pixels from each, the lowest byte first. Of the 4 x 4 cells of 7 x 7
    pixels, cell c is lit for label k where c * (k + 1) mod 11 is below 4.
    """
    source = words(DATA_SEED)
    labels = numpy.empty(COUNT, numpy.int64)
    images = numpy.empty((COUNT, 784), numpy.uint8)
    lit = numpy.zeros((10, 28, 28), numpy.uint8)
    for label in range(10):
        for cell in range(16):
            if cell * (label + 1) % 11 < 4:
                row, column = cell // 4 * 7, cell % 4 * 7
                lit[label, row:row + 7, column:column + 7] = 120
    for i in range(COUNT):
        labels[i] = next(source) % 10
        drawn = numpy.array([next(source) for _ in range(196)], "<u4")
        images[i] = drawn.view(numpy.uint8) % 128 + lit[labels[i]].ravel()
    pixels = (torch.from_numpy(images).float() / 255 - .1307) / .3081
    return pixels.reshape(COUNT, 1, 28, 28).double(), torch.from_numpy(labels)


def philox(counter, key):
    """Philox4x32-10: four arrays of words from four arrays of words."""
    low = numpy.uint64(0xffffffff)
    shift = numpy.uint64(32)
    a, b, c, d = (numpy.asarray(part, numpy.uint64) for part in counter)
    k0, k1 = key
    for _ in range(10):
        p = a * numpy.uint64(0xd2511f53)
        q = c * numpy.uint64(0xcd9e8d57)
        a, b, c, d = ((q >> shift) ^ b ^ numpy.uint64(k0), q & low,
                      (p >> shift) ^ d ^ numpy.uint64(k1), p & low)
        k0 = (k0 + 0x9e3779b9) & 0xffffffff
        k1 = (k1 + 0xbb67ae85) & 0xffffffff
    return a, b, c, d


def kept(seed, step, places, layer, drop, count):
    """1 where a sample's choice is kept, [len(places)][count]."""
    place = numpy.asarray(places, numpy.uint64)[:, None]
    block = numpy.arange(count // 4, dtype=numpy.uint64)[None, :]
    place, block = numpy.broadcast_arrays(place, block)
    of_step = numpy.full_like(block, step)
    of_layer = numpy.full_like(block, layer)
    drawn = philox((block, place, of_step, of_layer),
                   (seed & 0xffffffff, seed >> 32))
    drawn = numpy.stack(drawn, 2).reshape(len(places), count)
    keep = drawn >= numpy.uint64(int(drop * 2 ** 32))
    return torch.from_numpy(keep.astype(numpy.float64))


class Network(nn.Module):
    """The layers' places in the table are those of models/mnist.c."""

    def __init__(self, example):
        super().__init__()
        self.example = example
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, images, masks):
        planes = self.conv2(functional.relu(self.conv1(images)))
        if self.example:
            planes = functional.relu(planes)
        planes = functional.max_pool2d(planes, 2)
        if masks:
            planes = planes * masks[0] / .75
        units = functional.relu(self.fc1(planes.flatten(1)))
        if masks:
            units = units * masks[1] / .5
        return functional.log_softmax(self.fc2(units), 1)

    def masks(self, seed, step, places):
        if self.example:
            first = kept(seed, step, places, 5, .25, 9216)
            first = first.reshape(-1, 64, 12, 12)
        else:
            first = kept(seed, step, places, 4, .25, 64)[:, :, None, None]
        return first, kept(seed, step, places, 8 if self.example else 7, .5,
                           128)


class XlaMnist(nn.Module):
    """That of models/xla_mnist.c with batch norm."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, 5)
        self.bn1 = nn.BatchNorm2d(10)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.bn2 = nn.BatchNorm2d(20)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, images, _):
        planes = functional.max_pool2d(self.conv1(images), 2)
        planes = self.bn1(functional.relu(planes))
        planes = functional.max_pool2d(self.conv2(planes), 2)
        planes = self.bn2(functional.relu(planes))
        units = functional.relu(self.fc1(planes.flatten(1)))
        return functional.log_softmax(self.fc2(units), 1)


class Mnist2019(nn.Module):
    """The other one there."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5)
        self.conv2 = nn.Conv2d(20, 50, 5)
        self.fc1 = nn.Linear(800, 500)
        self.fc2 = nn.Linear(500, 10)

    def forward(self, images, _):
        planes = functional.relu(self.conv1(images))
        planes = functional.max_pool2d(planes, 2)
        planes = functional.relu(self.conv2(planes))
        planes = functional.max_pool2d(planes, 2)
        units = functional.relu(self.fc1(planes.flatten(1)))
        return functional.log_softmax(self.fc2(units), 1)


def build(name):
    if name == "xla-mnist":
        return XlaMnist()
    if name == "mnist-2019":
        return Mnist2019()
    return Network(name == "mnist-example")


def make_optimizer(name, parameters, lr):
    """The optimizer, and what the rate is multiplied by each epoch."""
    if name in ("xla-mnist", "mnist-2019"):
        return torch.optim.SGD(parameters, lr=lr, momentum=.5), 1
    return torch.optim.Adadelta(parameters, lr=lr), .7


def train(name, cores, batch, dropout, lr, seed, steps):
    """Losses of data-parallel training, one replica standing for all.

    Batch norm sees a core's share alone; the running statistics, which here
    are those of all shares in turn, change nothing in training.
    """
    torch.manual_seed(seed)
    network = build(name).double()
    optimizer, gamma = make_optimizer(name, network.parameters(), lr)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma)
    step = 0
    for epoch in range(steps):
        generator = torch.Generator()
        generator.manual_seed(seed + epoch)
        order = torch.randperm(COUNT, generator=generator)
        for taken in order.split(cores * batch):
            if step == steps:
                return
            total = 0
            optimizer.zero_grad()
            for rank in range(min(cores, len(taken))):
                places = range(rank, len(taken), cores)
                share = taken[rank::cores]
                masks = dropout and network.masks(seed, step, places)
                loss = functional.nll_loss(network(IMAGES[share], masks),
                                           LABELS[share], reduction="sum")
                (loss / len(taken)).backward()
                total += loss.item()
            optimizer.step()
            yield step, total / len(taken)
            step += 1
        schedule.step()


def make_losses():
    yield "network,cores,batch,dropout,lr,seed,step,loss"
    for case in CASES:
        print(*case, file=sys.stderr)
        for step, loss in train(*case):
            yield ",".join(map(str, case[:6])) + ",%d,%.9f" % (step, loss)


SETTINGS = {
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=.7, rho=.9, eps=1e-6),
    "adam": lambda p: torch.optim.Adam(p, lr=.01, betas=(.8, .99), eps=1e-4),
    "sgd": lambda p: torch.optim.SGD(p, lr=.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=.1, momentum=.9,
                                          weight_decay=.05),
}


def make_optimizers():
    yield "optimizer,step,gradient,parameter"
    for name, make in SETTINGS.items():
        parameter = torch.nn.Parameter(torch.tensor([.5]).double())
        optimizer = make([parameter])
        for step in range(8):
            gradient = math.sin(1 + 2 * step) / (1 + step)
            parameter.grad = torch.tensor([gradient],
                                          dtype=torch.double)
            optimizer.step()
            yield "%s,%d,%.17g,%.17g" % (name, step, gradient, parameter)


def make_targets():
    yield "loss,value,x,z,gradient"
    values = torch.tensor([[-3., .25, 40.], [-200., 1.5, 0.]]).double()
    targets = torch.tensor([[0., 1., 1.], [1., .25, 0.]]).double()
    for name, of in (("bce", functional.binary_cross_entropy_with_logits),
                     ("mse", functional.mse_loss)):
        x = values.clone().requires_grad_()
        loss = of(x, targets)
        loss.backward()
        for i in range(6):
            yield "%s,%.17g,%.17g,%.17g,%.17g" % (
                name, loss, x.flatten()[i], targets.flatten()[i],
                x.grad.flatten()[i])


def make_parameters():
    yield "tensor,place,value"
    torch.manual_seed(1)
    network = nn.Sequential()
    network.conv1 = nn.Conv2d(3, 8, 3, bias=False)
    network.bn1 = nn.BatchNorm2d(8)
    network.conv2 = nn.Conv2d(8, 16, 1, bias=False)
    network.bn2 = nn.BatchNorm2d(16)
    network.fc = nn.Linear(16, 12)
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out",
                                    nonlinearity="relu")
    network.fc = nn.Linear(16, 5)
    for name, tensor in network.state_dict().items():
        if tensor.dtype == torch.float32:
            for place, value in enumerate(tensor.flatten().tolist()):
                yield "%s,%d,%.9g" % (name, place, value)


X, W, BIAS, DY, Z = range(1, 6)


def eighths(salt, *shape):
    """Numbers below 2 of which double holds every sum of products."""
    i = torch.arange(math.prod(shape))
    return ((i ** 3 + salt * i) % 29 - 14).double().reshape(shape) / 8


# As batches go in; all but batch norm see one sample.
LAYERS = {
    "conv3": (lambda: nn.Conv2d(2, 3, 3, padding=1), (1, 2, 5, 4)),
    "conv5": (lambda: nn.Conv2d(2, 2, 5, stride=2, padding=2, bias=False),
              (1, 2, 7, 6)),
    "conv11": (lambda: nn.Conv2d(1, 1, 11, stride=4, padding=2),
               (1, 1, 11, 13)),
    "conv1": (lambda: nn.Conv2d(3, 2, 1, stride=2, bias=False), (1, 3, 4, 5)),
    "maxpool": (lambda: nn.MaxPool2d(3, 2), (1, 2, 7, 9)),
    "maxpool-padded": (lambda: nn.MaxPool2d(3, 2, 1), (1, 2, 7, 8)),
    "avgpool-down": (lambda: nn.AdaptiveAvgPool2d(3), (1, 2, 7, 5)),
    "avgpool-up": (lambda: nn.AdaptiveAvgPool2d(6), (1, 1, 4, 4)),
    "relu": (nn.ReLU, (1, 3, 2, 5)),
    "batchnorm": (lambda: nn.BatchNorm2d(2), (3, 2, 3, 2)),
    "linear": (lambda: nn.Linear(12, 4), (1, 12)),
}


def rows_of(case, tensor, values):
    for place, value in enumerate(values.flatten().tolist()):
        yield "%s,%s,%d,%.15g" % (case, tensor, place, value)


def make_layers():
    yield "layer,tensor,place,value"
    for name, (build_layer, shape) in LAYERS.items():
        layer = build_layer().double()
        for salt, parameter in zip((W, BIAS), layer.parameters()):
            parameter.data = eighths(salt, *parameter.shape)
        x = eighths(X, *shape).requires_grad_()
        y = layer(x)
        y.backward(eighths(DY, *y.shape))
        yield from rows_of(name, "y", y)
        yield from rows_of(name, "dx", x.grad)
        for tensor, parameter in zip(("dw", "dbias"), layer.parameters()):
            yield from rows_of(name, tensor, parameter.grad)


class EveryKind(nn.Module):
    """That of tests/kernels/test_pytorch.c."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(2, 3, 3, stride=2, padding=1)
        self.n = nn.BatchNorm2d(3)
        self.b = nn.Conv2d(3, 3, 1, bias=False)
        self.c = nn.Linear(12, 4)
        self.m = nn.BatchNorm1d(4)
        self.d = nn.Linear(4, 2)

    def forward(self, images):
        planes = functional.relu(self.n(self.a(images)))
        planes = functional.max_pool2d(planes, 3, 1, 1)
        planes = self.b(planes) + planes
        planes = functional.adaptive_avg_pool2d(planes + planes, 2)
        return self.d(self.m(self.c(planes.flatten(1))))


def make_network():
    yield "step,tensor,place,value"
    network = EveryKind().double()
    count = sum(p.numel() for p in network.parameters())
    nn.utils.vector_to_parameters(eighths(W, count), network.parameters())
    images, targets = eighths(X, 4, 2, 9, 7), eighths(Z, 4, 2)
    for step, taken in enumerate((4, 3)):
        network.zero_grad()
        loss = functional.mse_loss(network(images[:taken]), targets[:taken],
                                   reduction="sum") / 2
        (loss / 5).backward()
        yield from rows_of(step, "loss", loss)
        for name, parameter in network.named_parameters():
            yield from rows_of(step, name, parameter.grad)
        for name, buffer in network.named_buffers():
            if buffer.dtype == torch.double:
                yield from rows_of(step, name, buffer)
    network.eval()
    loss = functional.mse_loss(network(images), targets, reduction="sum") / 2
    yield from rows_of(2, "loss", loss)


RESIZES = [
    (28, 28, 224, 224),
    (1, 28, 1, 224),
    (28, 28, 64, 64),
    (28, 28, 28, 28),
    (128, 128, 64, 64),
    (256, 256, 128, 128),
    (31, 45, 20, 7),
    (5, 7, 3, 11),
    (3, 2, 1, 1),
    (1, 1, 4, 5),
]


def make_resizes():
    from PIL import Image

    yield "height,width,to_height,to_width,crc32"
    for height, width, to_height, to_width in RESIZES:
        y, x = numpy.mgrid[:height, :width]
        image = ((37 * x + 101 * y + x * y) % 256).astype(numpy.uint8)
        resized = Image.fromarray(image).resize(
            (to_width, to_height), Image.Resampling.BILINEAR)
        yield "%d,%d,%d,%d,%08x" % (height, width, to_height, to_width,
                                    zlib.crc32(numpy.asarray(resized)))


FILES = {
    "losses.csv": make_losses,
    "optimizers.csv": make_optimizers,
    "targets.csv": make_targets,
    "parameters.csv": make_parameters,
    "layers.csv": make_layers,
    "network.csv": make_network,
    "resize.csv": make_resizes,
}


def main():
    for name in sys.argv[1:] or FILES:
        path = pathlib.Path(__file__).parent / name
        path.write_text("\n".join(FILES[name]()) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    IMAGES, LABELS = make_data()
    main()
