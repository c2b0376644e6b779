"""What is compared: a table of contests, each with one work for all in it."""
import collections

BATCHES = {"mnist": 128, "mnist-example": 64}  # of one core
TEST_BATCH = 1000
WARMUP = 10

Contest = collections.namedtuple(
    "Contest", "name mode threads isa target strong batch steps warmup kind")

# name: mode, threads, instruction set, target of bench; strong: the threads
# share the batch of one core, else each core has its own, and a peer takes
# them as one batch. The kind of a contest, its mode or that bench computes with
# OpenCL, is what rows of the grid have under modes.
TABLE = {
    "train-1": ("train", 1, "native", "cpu-1", False),
    "train-2": ("train", 2, "native", "cpu-2@threads", False),
    "train-2-strong": ("train", 2, "native", "cpu-2@threads", True),
    "test-1": ("test", 1, "native", "cpu-1", False),
    "test-2": ("test", 2, "native", "cpu-2@threads", False),
    "train-1-avx2": ("train", 1, "avx2", "cpu-1", False),
    "test-1-avx2": ("test", 1, "avx2", "cpu-1", False),
    "opencl-1": ("train", 1, "native", "opencl", True),
    "opencl-2": ("train", 2, "native", "opencl", True),
}
USUAL = ("train-1", "train-2", "train-2-strong", "test-1", "train-1-avx2")


def make(name, model, steps):
    """A test's steps are ten times as large, and need less to get warm."""
    mode, threads, isa, target, strong = TABLE[name]
    batch, warmup = BATCHES[model] * (1 if strong else threads), WARMUP
    if mode == "test":
        batch, steps, warmup = TEST_BATCH, max(10, steps // 3), 3
    kind = target if target == "opencl" else mode
    return Contest(name, mode, threads, isa, target, strong, batch, steps,
                   warmup, kind)


def title(name, model):
    contest = make(name, model, 1)
    threads = "1 thread" if contest.threads == 1 else \
        f"{contest.threads} threads"
    held = "" if contest.isa == "native" else f", held to {contest.isa}"
    device = ", OpenCL" if contest.kind == "opencl" else ""
    return f"{contest.mode}, {threads}, batch {contest.batch}{held}{device}"
