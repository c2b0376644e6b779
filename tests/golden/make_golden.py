#!/usr/bin/env python3
"""Losses of the two MNIST networks in PyTorch, on data that a test can rebuild.

    make_golden.py >losses.csv        (needs torch and numpy; any version)

Everything is computed in double, so that another version or machine writes
the same file but for the last digits; a run in single precision is compared
with it. tests/test_golden.c rebuilds the data and trains as the rows say.

A row is the loss of one step: the mean over the global batch, before the
update. Columns: network (mnist or mnist-example), cores, batch (samples per
core), dropout (1: with the masks of models/random.h), lr (StepLR takes .7 of
it each epoch), seed, step (from 0, counted through all epochs), loss.
"""
import random
import sys

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


def train(name, cores, batch, dropout, lr, seed, steps):
    """Losses of data-parallel training, one replica standing for all."""
    torch.manual_seed(seed)
    network = Network(name == "mnist-example").double()
    optimizer = torch.optim.Adadelta(network.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, .7)
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


def main():
    print("network,cores,batch,dropout,lr,seed,step,loss")
    for case in CASES:
        print(*case, file=sys.stderr)
        for step, loss in train(*case):
            print(*case[:6], step, "%.9f" % loss, sep=",")


if __name__ == "__main__":
    torch.set_num_threads(1)
    IMAGES, LABELS = make_data()
    main()
