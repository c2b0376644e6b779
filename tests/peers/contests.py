"""What is compared: a table of contests, each with one work for all in it."""
import collections

TEST_BATCH = 1000
WARMUP = 10
WARMUP_OF_LONG_STEPS = 3  # of networks whose steps take up to some seconds

# Images of a core in a step that trains and in a forward pass; the data set of
# `bench`, where it is not its own choice; the side of images, and whether there
# are others; the learning rate of both, where it is not the recipe's, which
# would throw large networks off in the few steps of a measurement. ResNets' own
# 128 images would take minutes a step.
Model = collections.namedtuple("Model",
                               "batch infer_batch dataset side resizes rate")
MODELS = {
    "mnist": Model(128, 32, "", 28, False, None),
    "mnist-example": Model(64, 32, "", 28, False, None),
    "xla-mnist": Model(128, 32, "", 28, False, None),
    "mnist-2019": Model(64, 32, "", 28, False, None),
    "alexnet": Model(8, 32, "fashion-mnist", 224, True, 1e-5),
    "resnet34": Model(32, 32, "fashion-scenes", 128, True, 1e-5),
    "resnet50": Model(8, 32, "fashion-mnist", 224, True, 1e-3),
}
# The network, images of a core and their side; 0: the model's.
Work = collections.namedtuple("Work", "model batch side")

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
    "infer-1": ("infer", 1, "native", "cpu-1", False),
    "infer-2": ("infer", 2, "native", "cpu-2@threads", False),
    "train-1-avx2": ("train", 1, "avx2", "cpu-1", False),
    "test-1-avx2": ("test", 1, "avx2", "cpu-1", False),
    "infer-1-avx2": ("infer", 1, "avx2", "cpu-1", False),
    "opencl-1": ("train", 1, "native", "opencl", True),
    "opencl-2": ("train", 2, "native", "opencl", True),
}


def usual(model):
    """The contests where none are named."""
    if model in ("mnist", "mnist-example"):
        return ["train-1", "train-2", "train-2-strong", "test-1",
                "train-1-avx2"]
    return ["train-1", "train-2", "infer-1", "infer-2"]


def refused_size(work):
    """Why a model cannot have images of that size, or nothing."""
    if work.side and not MODELS[work.model].resizes:
        return (f"--image-size is not for {work.model}, whose images are "
                f"28x28: leave it out")
    return ""


def refused(name, work):
    """Why a model has no such contest, or nothing."""
    if name not in TABLE:
        return f"no contest '{name}': {', '.join(TABLE)}"
    if TABLE[name][0] == "test" and MODELS[work.model].resizes:
        return (f"{name} tests {TEST_BATCH} images at once, too many for "
                f"{work.model}: take {name.replace('test', 'infer')}")
    return ""


def make(name, work, steps):
    """A test's steps are ten times as large, and need less to get warm."""
    mode, threads, isa, target, strong = TABLE[name]
    model = MODELS[work.model]
    batch = work.batch or (model.infer_batch if mode == "infer"
                           else model.batch)
    batch = batch * (1 if strong else threads)
    warmup = WARMUP_OF_LONG_STEPS if model.resizes else WARMUP
    if mode == "test":
        batch, steps, warmup = TEST_BATCH, max(10, steps // 3), 3
    kind = target if target == "opencl" else mode
    return Contest(name, mode, threads, isa, target, strong, batch, steps,
                   warmup, kind)


def title(name, work):
    contest = make(name, work, 1)
    threads = "1 thread" if contest.threads == 1 else \
        f"{contest.threads} threads"
    side = work.side or MODELS[work.model].side
    size = "" if side == MODELS[work.model].side else f" of {side}x{side}"
    held = "" if contest.isa == "native" else f", held to {contest.isa}"
    device = ", OpenCL" if contest.kind == "opencl" else ""
    return (f"{contest.mode}, {threads}, batch {contest.batch}{size}{held}"
            f"{device}")
