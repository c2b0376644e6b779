#!/usr/bin/env python3
"""The MNIST networks of models/mnist.c in PyTorch, one measurement a process.

    torch_train.py --data FOLDER [OPTION ...]     one line of JSON
    torch_train.py --parity                       first losses against golden/

FOLDER has the four IDX files of MNIST, plain or .gz. All tensors are in memory
and in their layout before a clock starts. A training step is what `bench`
calls one: from the batch in memory to updated parameters (zero, forward, loss,
backward, update); a test step is the loss and the right answers of one batch.
Parameters are those of torch.manual_seed(seed), the order of samples is
randperm under the same seed, so that without dropout the first loss is that of
`bench measure --dropout off --steps 1`.

Exits with 2 for usage, 4 where this PyTorch lacks what is asked for, 5 for a
bad file, 1 where --parity finds a loss that is further off than 1e-5.
"""
import argparse
import csv
import gzip
import inspect
import json
import math
import os
import pathlib
import re
import statistics
import struct
import sys
import time

sys.dont_write_bytecode = True
try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError as error:
    print(f"torch_train: {error}; `make peers` installs PyTorch",
          file=sys.stderr)
    sys.exit(4)

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
NEAR = 1e-5
BATCHES = {"mnist": 128, "mnist-example": 64}
TEST_BATCH = 1000


class Missing(Exception):
    """This PyTorch does not have it."""


class BadFile(Exception):
    """A data file is not what its name says."""


class Network(nn.Module):
    """mnist, or mnist-example with its second ReLU and plain dropout."""

    def __init__(self, example, dropout):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)
        self.example = example
        first = nn.Dropout if example else nn.Dropout2d
        self.drop1 = first(.25 if dropout else 0)
        self.drop2 = nn.Dropout(.5 if dropout else 0)

    def forward(self, images):
        planes = self.conv2(functional.relu(self.conv1(images)))
        if self.example:
            planes = functional.relu(planes)
        planes = self.drop1(functional.max_pool2d(planes, 2))
        units = functional.relu(self.fc1(torch.flatten(planes, 1)))
        return functional.log_softmax(self.fc2(self.drop2(units)), 1)


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


def read_set(folder, name):
    """(images, labels): normalized floats [N][1][28][28] and numbers."""
    images = read_idx(folder, f"{name}-images-idx3-ubyte", 3)
    labels = read_idx(folder, f"{name}-labels-idx1-ubyte", 1).long()
    if len(images) != len(labels) or images.shape[1:] != (28, 28):
        raise BadFile(f"{folder}: {name} is not a set of 28 x 28 images")
    return normalize(images), labels


def normalize(images):
    return ((images.float() / 255 - .1307) / .3081).reshape(-1, 1, 28, 28)


def first_order(count, seed):
    """The order of the first epoch."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def make_optimizer(parameters, form):
    """Adadelta as PyTorch chooses, or in the form that is named."""
    wanted = {"default": {}, "foreach": {"foreach": True},
              "fused": {"fused": True}}[form]
    for name in wanted:
        if name not in inspect.signature(torch.optim.Adadelta).parameters:
            raise Missing(f"Adadelta of PyTorch {torch.__version__} has no "
                          f"{name} form")
    return torch.optim.Adadelta(parameters, lr=1, rho=.9, eps=1e-6, **wanted)


class Peer:
    """A network, its optimizer and how the options want them to run."""

    def __init__(self, options, model, dropout=True):
        torch.manual_seed(options.seed)
        self.layout = torch.channels_last if options.channels_last else \
            torch.contiguous_format
        self.bf16 = options.bf16
        self.device = options.device
        if self.device == "cuda" and not torch.cuda.is_available():
            raise Missing(f"PyTorch {torch.__version__} finds no GPU for CUDA")
        network = Network(model == "mnist-example", dropout)
        self.network = network.to(self.device, memory_format=self.layout)
        self.optimizer = make_optimizer(network.parameters(),
                                        options.optimizer)
        self.update = self.optimizer.step
        self.answer = self.network
        self.prepare(options)

    def prepare(self, options):
        if options.flush_denormal and not torch.set_flush_denormal(True):
            raise Missing("this CPU cannot flush denormal numbers")
        if options.compile == "none":
            return
        from torch._inductor import config
        config.freezing = options.freeze
        mode = "max-autotune-no-cudagraphs" if options.autotune else \
            "reduce-overhead" if options.graphs else None
        self.answer = torch.compile(self.network, mode=mode)
        if options.compile == "all":
            self.update = torch.compile(self.optimizer.step)

    def batch(self, images):
        return images.to(self.device).contiguous(memory_format=self.layout)

    def finish(self):
        """A GPU works on after a step has returned."""
        if self.device == "cuda":
            torch.cuda.synchronize()

    def loss(self, images, labels):
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.bf16):
            answers = self.answer(images)
        return functional.nll_loss(answers.float(), labels)

    def train(self, images, labels):
        self.optimizer.zero_grad()
        loss = self.loss(images, labels)
        loss.backward()
        self.update()
        return loss

    def test(self, images, labels):
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.bf16):
            answers = self.answer(images)
        loss = functional.nll_loss(answers.float(), labels, reduction="sum")
        right = (answers.argmax(1) == labels).sum()
        return torch.stack((loss, right.float()))


def train_batches(options, peer):
    """Whole batches in the order of the first epoch, without end."""
    images, labels = read_set(options.data, "train")
    order = first_order(len(images), options.seed)
    whole = len(order) // options.batch
    if not whole:
        raise BadFile(f"{options.data}: fewer images than {options.batch}")
    step = 0
    while True:
        begin = step % whole * options.batch
        taken = order[begin:begin + options.batch]
        yield peer.batch(images[taken]), labels[taken].to(peer.device)
        step += 1


def test_batches(options, peer):
    images, labels = read_set(options.data, "t10k")
    kept = [(peer.batch(images[at:at + options.batch]),
             labels[at:at + options.batch].to(peer.device))
            for at in range(0, len(images) - options.batch + 1, options.batch)]
    if not kept:
        raise BadFile(f"{options.data}: fewer images than {options.batch}")
    while True:
        yield from kept


def measure(options, peer, step, batches):
    """Seconds of each step, warm-up left out, and what the first one said."""
    seconds, first = [], None
    for number in range(options.warmup + options.steps):
        images, labels = next(batches)
        if options.marks:
            print("step", number, flush=True)
        peer.finish()
        began = time.perf_counter()
        said = step(images, labels)
        peer.finish()
        took = time.perf_counter() - began
        if first is None:
            first = said.detach()
        if number >= options.warmup:
            seconds.append(took)
    if options.marks:
        print("end", flush=True)
    return seconds, first


def measure_mode(options, peer):
    if options.mode == "train":
        peer.network.train()
        seconds, first = measure(options, peer, peer.train,
                                 train_batches(options, peer))
        return seconds, {"first_loss": first.item()}
    peer.network.eval()
    with torch.no_grad():
        seconds, first = measure(options, peer, peer.test,
                                 test_batches(options, peer))
    return seconds, {"first_loss": first[0].item() / options.batch}


def allocator():
    """Whose malloc this process has."""
    with open("/proc/self/maps") as maps:
        found = re.search(r"lib(jemalloc|tcmalloc\w*)\.so", maps.read())
    return found.group(1) if found else "libc"


def describe():
    """This PyTorch."""
    onednn = re.search(r"(?:MKL-DNN|oneDNN) v([0-9.]+)",
                       torch.__config__.show())
    return {"peer": "PyTorch", "version": torch.__version__,
            "onednn": onednn.group(1) if onednn else "",
            "isa": torch.backends.cpu.get_cpu_capability(),
            "python": sys.version.split()[0], "allocator": allocator(),
            "threads": torch.get_num_threads(),
            "cpus": len(os.sched_getaffinity(0))}


def main_measure(options):
    options.batch = options.batch or (
        TEST_BATCH if options.mode == "test" else BATCHES[options.model])
    peer = Peer(options, options.model, options.dropout == "on")
    seconds, found = measure_mode(options, peer)
    middle = statistics.median(seconds)
    found = describe() | found | {
        "model": options.model, "mode": options.mode, "batch": options.batch,
        "steps": options.steps, "warmup": options.warmup,
        "seed": options.seed, "step_s": middle, "step_min_s": min(seconds),
        "step_max_s": max(seconds), "images_per_s": options.batch / middle}
    print(json.dumps(found))
    return 0


def golden_rows():
    """The first losses at lr 1 without dropout, one a network."""
    with open(GOLDEN / "losses.csv", newline="") as file:
        return [row for row in csv.DictReader(file)
                if row["cores"] == "1" and row["dropout"] == "0" and
                float(row["lr"]) == 1 and row["step"] == "0"]


def main_parity(options):
    """Of both networks, whatever --model says."""
    sys.path.insert(0, str(GOLDEN))
    import make_golden
    images, labels = make_golden.make_data()
    found = []
    for row in golden_rows():
        options.seed, batch = int(row["seed"]), int(row["batch"])
        peer = Peer(options, row["network"], dropout=False)
        taken = first_order(len(images), options.seed)[:batch]
        loss = peer.train(peer.batch(images[taken].float()),
                          labels[taken].to(peer.device)).item()
        golden = float(row["loss"])
        found.append({"model": row["network"], "loss": loss, "golden": golden,
                      "off": abs(loss / golden - 1)})
    good = [row["off"] <= NEAR for row in found]
    print(json.dumps(describe() | {"first_losses": found,
                                   "off": max(row["off"] for row in found)}))
    return 0 if good and all(good) else 1


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", metavar="FOLDER", help="where the IDX files are")
    add("--parity", action="store_true", help="check first losses, no clock")
    add("--model", choices=list(BATCHES), default="mnist")
    add("--mode", choices=("train", "test"), default="train")
    add("--batch", type=positive, help="images a step: the network's, or 1000")
    add("--steps", type=positive, default=100, help="measured ones")
    add("--warmup", type=positive, default=10, help="steps before them")
    add("--threads", type=positive, default=1)
    add("--seed", type=int, default=1)
    add("--dropout", choices=("on", "off"), default="on")
    add("--channels-last", action="store_true")
    add("--bf16", action="store_true", help="under autocast")
    add("--optimizer", choices=("default", "foreach", "fused"),
        default="default", help="form of Adadelta")
    add("--compile", choices=("none", "model", "all"), default="none",
        help="all: the optimizer's step too")
    add("--autotune", action="store_true", help="while compiling")
    add("--device", choices=("cpu", "cuda"), default="cpu")
    add("--graphs", action="store_true",
        help="CUDA graphs of what is compiled")
    add("--freeze", action="store_true", help="weights, while compiling: test")
    add("--flush-denormal", action="store_true")
    add("--marks", action="store_true", help="a line before each step")
    options = parser.parse_args()
    if not options.parity and not options.data:
        parser.error("--data is missing")
    if options.freeze and (options.mode == "train" or
                           options.compile == "none"):
        parser.error("--freeze is for a compiled test")
    if options.graphs and (options.device != "cuda" or options.autotune or
                           options.compile == "none"):
        parser.error("--graphs is for what is compiled for --device cuda, "
                     "and instead of --autotune")
    return options


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    try:
        return (main_parity if options.parity else main_measure)(options)
    except Missing as error:
        print(f"torch_train: {error}", file=sys.stderr)
        return 4
    except BadFile as error:
        print(f"torch_train: {error}", file=sys.stderr)
        return 5


if __name__ == "__main__":
    sys.exit(main())
