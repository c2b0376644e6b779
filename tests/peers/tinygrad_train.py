#!/usr/bin/env python3
"""The MNIST networks of models/mnist.c in tinygrad on an OpenCL device.

    tinygrad_train.py --data FOLDER [OPTION ...]     one line of JSON
    tinygrad_train.py --data FOLDER --parity         losses against PyTorch's

Parameters, data and the order of samples are those of torch_train.py; dropout
is of tinygrad's own stream. A step is one TinyJit: zero, forward, loss,
backward, update. Its clock runs from the batch in the device's memory to the
loss on the host. The device is the first of OpenCL's first platform; tinygrad
reads BEAM, WINO, NOLOCALS and the like by itself.

Exits with 2 for usage, 4 where tinygrad or an OpenCL device is missing, 5 for
a bad file, 1 where --parity finds a loss that is further off than 1e-5.
"""
import argparse
import importlib.metadata
import json
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
import contests
import torch_train

try:
    from tinygrad import Context, Device, Tensor, TinyJit
    from tinygrad.nn.optim import Optimizer
except ImportError as error:
    print(f"tinygrad_train: {error}; `make peers` installs tinygrad",
          file=sys.stderr)
    sys.exit(4)

DEVICE = "CL"
PARITY_STEPS = 4


class Adadelta(Optimizer):
    """As torch.optim.Adadelta without weight decay; tinygrad has none."""

    def __init__(self, parameters, lr=1., rho=.9, eps=1e-6):
        super().__init__(parameters, lr)
        self.rho, self.eps = rho, eps
        self.squares = self._new_optim_param()
        self.updates = self._new_optim_param()

    def _step(self, params, grads):
        out = []
        for grad, square, update in zip(grads, self.squares, self.updates):
            square.assign(self.rho * square + (1 - self.rho) * grad * grad)
            change = ((update + self.eps).sqrt() /
                      (square + self.eps).sqrt() * grad)
            update.assign(self.rho * update + (1 - self.rho) * change * change)
            out.append(self.lr * change)
        return out, self.squares + self.updates


class Network:
    """mnist, or mnist-example with its second ReLU and plain dropout."""

    def __init__(self, theirs, dropout):
        self.parameters = [
            Tensor(values.detach().numpy(), device=DEVICE).contiguous()
            .realize().is_param_(True) for values in theirs.parameters()]
        self.example = theirs.example
        self.dropout = dropout

    def drop_planes(self, planes):
        kept = Tensor.rand(*planes.shape[:2], 1, 1, device=DEVICE) >= .25
        return kept.contiguous().where(planes, 0) / .75

    def __call__(self, images):
        conv1, bias1, conv2, bias2, fc1, bias3, fc2, bias4 = self.parameters
        planes = images.conv2d(conv1, bias1).relu().conv2d(conv2, bias2)
        if self.example:
            planes = planes.relu()
        planes = planes.max_pool2d(2)
        if self.dropout:
            planes = planes.dropout(.25) if self.example else \
                self.drop_planes(planes)
        units = planes.flatten(1).linear(fc1.T, bias3).relu()
        if self.dropout:
            units = units.dropout(.5)
        return units.linear(fc2.T, bias4).log_softmax()


def make_step(network):
    """A function from a batch to its loss."""
    optimizer = Adadelta(network.parameters)

    @TinyJit
    def step(images, labels):
        with Context(TRAINING=1):
            optimizer.zero_grad()
            loss = network(images).nll_loss(labels).backward()
            return loss.realize(*optimizer.schedule_step())

    return step


def on_device(images, labels):
    return (Tensor(images.numpy(), device=DEVICE).realize(),
            Tensor(labels.int().numpy(), device=DEVICE).realize())


def measure(options, network, batches):
    """Seconds of each step, warm-up left out, and all losses."""
    step, seconds, losses = make_step(network), [], []
    for _ in range(options.warmup + options.steps):
        images, labels = on_device(*next(batches))
        Device[DEVICE].synchronize()
        began = time.perf_counter()
        losses.append(step(images, labels).item())
        seconds.append(time.perf_counter() - began)
    return seconds[options.warmup:], losses


def describe():
    """This tinygrad, and the device it found."""
    return {"peer": "tinygrad", "isa": Device[DEVICE].device_name,
            "version": importlib.metadata.version("tinygrad"),
            "python": sys.version.split()[0],
            "threads": int(os.environ["POCL_MAX_PTHREAD_COUNT"]),
            "cpus": len(os.sched_getaffinity(0))}


def main_measure(options, theirs):
    network = Network(theirs.network, options.dropout == "on")
    seconds, losses = measure(options, network,
                              torch_train.train_batches(options, theirs))
    middle = statistics.median(seconds)
    print(json.dumps(describe() | {
        "model": options.model, "mode": options.mode, "batch": options.batch,
        "steps": options.steps, "warmup": options.warmup,
        "seed": options.seed, "first_loss": losses[0],
        "last_loss": losses[-1], "step_s": middle, "step_min_s": min(seconds),
        "step_max_s": max(seconds), "images_per_s": options.batch / middle}))
    return 0


def main_parity(options, theirs):
    """Losses of the same steps here and in PyTorch, without dropout: those
    after the first tell that gradients and updates agree as well."""
    options.warmup, options.steps = 0, PARITY_STEPS
    batches = torch_train.train_batches(options, theirs)
    taken = [next(batches) for _ in range(PARITY_STEPS)]
    _, ours = measure(options, Network(theirs.network, False), iter(taken))
    losses = [theirs.train(*batch).item() for batch in taken]
    off = [abs(mine / loss - 1) for mine, loss in zip(ours, losses)]
    print(json.dumps(describe() | {"losses": ours, "pytorch": losses,
                                   "off": max(off)}))
    return 0 if all(each <= torch_train.NEAR for each in off) else 1


def parse():
    positive = torch_train.positive
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", metavar="FOLDER", required=True,
        help="where the IDX files are")
    add("--parity", action="store_true", help="check losses, no clock")
    add("--model", choices=("mnist", "mnist-example"), default="mnist")
    add("--mode", choices=("train",), default="train")
    add("--batch", type=positive, help="images a step: the network's")
    add("--steps", type=positive, default=20, help="measured ones")
    add("--warmup", type=positive, default=4, help="steps before them")
    add("--threads", type=positive, default=1, help="of PoCL")
    add("--seed", type=int, default=1)
    add("--dropout", choices=("on", "off"), default="on")
    # The form of torch_train.Peer, whose parameters and losses these are.
    parser.set_defaults(channels_last=False, bf16=False, optimizer="default",
                        flush_denormal=False, compile="none", device="cpu",
                        fold=False, bf16_model=False, image_size=0)
    options = parser.parse_args()
    options.batch = options.batch or contests.MODELS[options.model].batch
    return options


def main():
    options = parse()
    os.environ["POCL_MAX_PTHREAD_COUNT"] = str(options.threads)
    try:
        Device[DEVICE]
    except Exception as error:  # whatever a loader or a driver raises
        print(f"tinygrad_train: no OpenCL device: {error}", file=sys.stderr)
        return 4
    torch_train.torch.set_num_threads(options.threads)
    theirs = torch_train.Peer(options, options.model, dropout=False)
    try:
        return (main_parity if options.parity else main_measure)(options,
                                                                 theirs)
    except torch_train.BadFile as error:
        print(f"tinygrad_train: {error}", file=sys.stderr)
        return 5


if __name__ == "__main__":
    sys.exit(main())
