#!/usr/bin/env python3
"""The networks of models/ in PyTorch, one measurement a process.

    torch_train.py --data FOLDER [OPTION ...]     one line of JSON
    torch_train.py --parity                       first losses against golden/

FOLDER has the four IDX files of MNIST or Fashion-MNIST, plain or .gz. All
tensors are in memory and in their layout before a clock starts. A training step
is what `bench` calls one: from the batch in memory to updated parameters (zero,
forward, loss, backward, update); a step of a test or of inference is the loss
and the right answers of one batch of the test set. Parameters are those of
torch.manual_seed(seed), the order of samples is randperm under the same seed,
so that without dropout the first loss is that of `bench measure --dropout off
--steps 1`, and of an inference that of `bench measure --infer --count 1`.

With --device xla it is PyTorch/XLA's: its CPU device, or what PJRT_DEVICE says.
Dropout is of that device's own stream.

With --world-size N it is rank R of N, which meet at --meet HOST:PORT and train
by DistributedDataParallel with gloo; a step ends when all ranks have made it.

Exits with 2 for usage, 4 where this PyTorch lacks what is asked for, 5 for a
bad file, 1 where --parity finds a loss that is further off than 1e-5.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import sys
import time

sys.dont_write_bytecode = True
try:
    import torch
except ImportError as error:
    print(f"torch_train: {error}; `make peers` installs PyTorch",
          file=sys.stderr)
    sys.exit(4)
import contests
import networks
from images import BadFile, Missing, Samples

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
NEAR = 1e-5


def first_order(count, seed):
    """The order of the first epoch."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def open_device(name):
    """What tensors are moved to."""
    if name == "cuda" and not torch.cuda.is_available():
        raise Missing(f"PyTorch {torch.__version__} finds no GPU for CUDA")
    if name != "xla":
        return name
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    try:
        import torch_xla
    except ImportError as error:
        raise Missing(f"{error}; `make peers-xla` installs it") from None
    return torch_xla.device()


class Peer:
    """A network, its optimizer and how the options want them to run."""

    def __init__(self, options, model, dropout=True):
        torch.manual_seed(options.seed)
        self.layout = torch.channels_last if options.channels_last else \
            torch.contiguous_format
        self.bf16 = options.bf16
        self.kind = options.device
        self.device = open_device(self.kind)
        self.model = model
        network = networks.make(model, dropout)
        if options.fold:
            networks.fold_norms(network)
        # What images become too.
        self.type = torch.bfloat16 if options.bf16_model else torch.float32
        self.network = network.to(self.device, self.type,
                                  memory_format=self.layout)
        self.ranks = options.world_size
        if self.ranks > 1:
            self.meet(options)
        self.optimizer = networks.make_optimizer(model, network.parameters(),
                                                 options.optimizer)
        self.update = self.optimizer.step
        self.answer = self.network
        self.prepare(options)

    def meet(self, options):
        """Parameters become those of rank 0, which all have anyway."""
        torch.distributed.init_process_group(
            "gloo", init_method=f"tcp://{options.meet}", rank=options.rank,
            world_size=self.ranks)
        self.network = torch.nn.parallel.DistributedDataParallel(
            self.network, gradient_as_bucket_view=True)

    def over_ranks(self, value):
        """The mean of theirs."""
        if self.ranks > 1:
            torch.distributed.all_reduce(value)
        return value / self.ranks

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
        return images.to(self.device, self.type).contiguous(
            memory_format=self.layout)

    def finish(self):
        """A GPU works on after a step has returned, and so do other ranks; XLA
        has only written down what to do."""
        if self.kind == "cuda":
            torch.cuda.synchronize()
        if self.kind == "xla":
            torch_xla = sys.modules["torch_xla"]
            torch_xla.sync(wait=True)
        if self.ranks > 1:
            torch.distributed.barrier()

    def answers(self, images):
        with torch.autocast(self.kind, dtype=torch.bfloat16,
                            enabled=self.bf16):
            return self.answer(images).float()

    def train(self, images, labels):
        self.optimizer.zero_grad()
        loss = networks.loss(self.model, self.answers(images), labels)
        loss.backward()
        self.update()
        return loss

    def test(self, images, labels):
        """The sum of losses, and how many answers are right."""
        answers = self.answers(images)
        loss = networks.loss(self.model, answers, labels) * len(images)
        return torch.stack((loss, networks.right(answers, labels).float()))


def read_samples(options, for_test):
    samples = Samples(options.data, for_test, options.model,
                      options.image_size)
    if len(samples) < options.batch:
        raise BadFile(f"{options.data}: fewer images than {options.batch}")
    return samples


def take(peer, samples, numbers):
    images, labels = samples.take(numbers)
    return peer.batch(images), labels.to(peer.device)


def train_batches(options, peer):
    """Whole batches of the rank's samples in the order of the first epoch,
    without end."""
    samples = read_samples(options, for_test=False)
    order = first_order(len(samples), options.seed)
    order = order[options.rank::options.world_size]
    if len(order) < options.batch:
        raise BadFile(f"{options.data}: fewer images of a rank than "
                      f"{options.batch}")
    while True:
        for begin in range(0, len(order) - options.batch + 1, options.batch):
            yield take(peer, samples, order[begin:begin + options.batch])


def test_batches(options, peer):
    """Ten at most, in the order of the set, again and again."""
    samples = read_samples(options, for_test=True)
    numbers = torch.arange(len(samples))
    kept = [take(peer, samples, numbers[begin:begin + options.batch])
            for begin in range(0, len(numbers) - options.batch + 1,
                               options.batch)[:10]]
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
        return seconds, {"first_loss": peer.over_ranks(first).item()}
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
    xla = sys.modules.get("torch_xla")
    onednn = re.search(r"(?:MKL-DNN|oneDNN) v([0-9.]+)",
                       torch.__config__.show())
    version = torch.__version__
    if xla:
        version += f", torch_xla {xla.__version__}"
    return {"peer": "PyTorch/XLA" if xla else "PyTorch", "version": version,
            "onednn": onednn.group(1) if onednn else "",
            "isa": torch.backends.cpu.get_cpu_capability(),
            "python": sys.version.split()[0], "allocator": allocator(),
            "threads": torch.get_num_threads(),
            "cpus": len(os.sched_getaffinity(0))}


def main_measure(options):
    model = contests.MODELS[options.model]
    options.batch = options.batch or {
        "train": model.batch, "test": contests.TEST_BATCH,
        "infer": model.infer_batch}[options.mode]
    peer = Peer(options, options.model, options.dropout == "on")
    seconds, found = measure_mode(options, peer)
    middle = statistics.median(seconds)
    found = describe() | found | {
        "model": options.model, "mode": options.mode, "batch": options.batch,
        "steps": options.steps, "warmup": options.warmup,
        "seed": options.seed, "step_s": middle, "step_min_s": min(seconds),
        "step_max_s": max(seconds), "world_size": options.world_size,
        "images_per_s": options.world_size * options.batch / middle}
    if options.world_size > 1:
        torch.distributed.destroy_process_group()
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
    add("--model", choices=list(contests.MODELS), default="mnist")
    add("--mode", choices=("train", "test", "infer"), default="train")
    add("--batch", type=positive,
        help="images a step (the network's; of a test 1000)")
    add("--image-size", type=positive, default=0, help="the network's")
    add("--steps", type=positive, default=100, help="measured ones")
    add("--warmup", type=positive, default=10, help="steps before them")
    add("--threads", type=positive, default=1)
    add("--seed", type=int, default=1)
    add("--dropout", choices=("on", "off"), default="on")
    add("--channels-last", action="store_true")
    add("--bf16", action="store_true", help="under autocast")
    add("--bf16-model", action="store_true",
        help="parameters and images in bf16: test, infer")
    add("--fold", action="store_true",
        help="batch norms into convolutions: test, infer")
    add("--optimizer", choices=("default", "foreach", "fused"),
        default="default", help="its form")
    add("--compile", choices=("none", "model", "all"), default="none",
        help="all: the optimizer's step too")
    add("--autotune", action="store_true", help="while compiling")
    add("--device", choices=("cpu", "cuda", "xla"), default="cpu")
    add("--graphs", action="store_true",
        help="CUDA graphs of what is compiled")
    add("--freeze", action="store_true",
        help="weights, while compiling: test, infer")
    add("--flush-denormal", action="store_true")
    add("--marks", action="store_true", help="a line before each step")
    add("--world-size", type=positive, default=1, help="ranks in all: train")
    add("--rank", type=int, default=0, help="this one, from 0 on")
    add("--meet", metavar="HOST:PORT", help="where rank 0 listens")
    options = parser.parse_args()
    check(options, parser.error)
    return options


def check(options, refuse):
    """What does not go together."""
    work = contests.Work(options.model, options.batch, options.image_size)
    if contests.refused_size(work):
        refuse(contests.refused_size(work))
    if not options.parity and not options.data:
        refuse("--data is missing")
    if options.world_size > 1 and (options.mode != "train" or
                                   options.parity or not options.meet):
        refuse("--world-size is for training, and needs --meet")
    if not 0 <= options.rank < options.world_size:
        refuse(f"--rank is from 0 to {options.world_size - 1}")
    if options.device == "xla" and (options.compile != "none" or options.bf16
                                    or options.world_size > 1):
        refuse("--device xla compiles by itself, in fp32, and is one rank")
    if options.freeze and (options.mode == "train" or
                           options.compile == "none"):
        refuse("--freeze is for a compiled test or inference")
    if options.mode == "train" and (options.fold or options.bf16_model):
        refuse("--fold and --bf16-model are for tests and inference")
    if options.graphs and (options.device != "cuda" or options.autotune or
                           options.compile == "none"):
        refuse("--graphs is for what is compiled for --device cuda, "
               "and instead of --autotune")


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
