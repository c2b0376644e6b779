"""One measurement in a fresh process: of `bench measure`, or of a peer.

Both get the same CPUs and an environment without what tunes libraries; what a
row of grid.csv sets is added. A measurement is a row of turns.csv.
"""
import csv
import io
import json
import os
import pathlib
import signal
import statistics
import subprocess
import time

import contests
import floor

HERE = pathlib.Path(__file__).resolve().parent
FIELDS = (
    "contest", "stage", "turn", "place", "name", "who", "precision",
    "arguments", "environment", "status", "reason", "images_per_s", "step_s",
    "step_min_s", "step_max_s", "steps", "threads", "cpus", "model", "batch",
    "first_loss", "version", "onednn", "isa", "allocator", "python",
    "started_utc")
TUNING = ("OPENBLAS_", "OMP_", "GOMP_", "KMP_", "MKL_", "DNNL_", "ONEDNN_",
          "ATEN_", "TORCH", "PYTORCH", "BENCH_", "LD_PRELOAD", "MALLOC_",
          "GLIBC_TUNABLES", "POCL_", "BEAM", "WINO", "NOLOCALS", "NOOPT",
          "FUSE_OPTIM", "JIT")
# What holds both sides to an older instruction set.
ISAS = {
    "native": {},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "DNNL_MAX_CPU_ISA": "AVX2",
             "BENCH_ISA": "avx2"},
}
PEERS = {"torch": "torch_train.py", "tinygrad": "tinygrad_train.py",
         "xla": "torch_train.py"}
OF_XLA = ["--device", "xla"]
ALLOCATORS = ("jemalloc", "tcmalloc")
MISSING = 4  # exit status of a peer that has no such thing


class Failed(Exception):
    """Nothing was measured; the reason is the text."""


class Skipped(Failed):
    """It cannot be had here."""


def environment(row, contest, cache):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(TUNING)}
    kept |= ISAS[contest.isa] | {
        "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
        "TORCHINDUCTOR_CACHE_DIR": str(cache / contest.isa),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "CACHEDB": str(cache / "tinygrad.db"),
        "POCL_CACHE_DIR": str(cache / "pocl")}
    return kept | dict(word.split("=", 1)
                       for word in row["environment"].split())


def cpus_for(contest):
    """The last of the CPUs that we may use, as many as there are threads."""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < contest.threads:
        raise Skipped(f"{contest.threads} CPUs are wanted, and there are "
                      f"{len(allowed)}")
    return allowed[-contest.threads:]


def run(command, contest, variables, timeout, fine=(0,)):
    """What it printed. Its own words are the reason if it fails, which is to
    exit with anything but what is fine."""
    cpus = cpus_for(contest)
    # A signal that came while a process starts would leave it running.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK,
                                  {signal.SIGINT, signal.SIGTERM})

    def prepare():
        os.sched_setaffinity(0, cpus)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    process = None
    try:
        process = subprocess.Popen(
            [str(word) for word in command], env=variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=prepare)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        printed, said = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"still running after {timeout} s") from None
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    finally:
        # Also if no process could be started.
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if process and process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode not in fine:
        words = said.strip().splitlines() or ["no word of it"]
        kind = Skipped if process.returncode == MISSING else Failed
        raise kind(f"exit {process.returncode}: {words[-1][:160]}")
    return printed


def read_bench(text, phase):
    """(images/s, seconds) of each step, or of each test of `bench measure`."""
    rows = [row for row in csv.DictReader(io.StringIO(text))
            if row["phase"] == phase and not row["core"] and
            row["is_warmup"] == "0" and row.get("clock") in ("wall", "", None)]
    try:
        found = [(int(row["samples"]) / float(row["elapsed_s"]),
                  float(row["elapsed_s"])) for row in rows]
        losses = [float(row["loss"]) for row in rows]
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise Failed(f"rows of bench measure: {error}") from None
    if not found:
        raise Failed(f"bench measure said nothing of a {phase}")
    return found, losses[0]


def side_words(work):
    return ["--image-size", work.side] if work.side else []


def bench_command(settings, contest, row):
    """A test has ten batches, so that there are as many epochs as needed."""
    model = contests.MODELS[settings.work.model]
    command = [settings.bench, "measure", contest.target, "-q", "--data-dir",
               settings.data, "--model", settings.work.model,
               *side_words(settings.work)]
    if model.dataset:
        command += ["--dataset", model.dataset]
    if contest.mode == "test":
        command += ["--steps", 1, "--warmup", 1, "--epochs",
                    max(3, contest.steps // 10), "--test-batch", contest.batch]
        return command + row["arguments"].split()
    if contest.mode == "infer":
        command += ["--infer", "--count", contest.steps]
    else:
        command += ["--steps", contest.steps, "--epochs", 1, "--test", "off"]
        command += ["--lr", model.rate] if model.rate else []
    whole = "--global-batch" if contest.strong else "--batch"
    share = contest.batch // (1 if contest.strong else contest.threads)
    return command + ["--warmup", contest.warmup, whole, share,
                      *row["arguments"].split()]


def measure_bench(settings, contest, row, cache, timeout):
    text = run(bench_command(settings, contest, row), contest,
               environment(row, contest, cache), timeout)
    phase = "test" if contest.mode == "test" else "step"
    found, loss = read_bench(text, phase)
    # A row of a test is all its batches.
    parts = [seconds for _, seconds in found]
    if phase == "test":
        parts = [contest.batch / rate for rate, _ in found]
    return {"images_per_s": statistics.median(rate for rate, _ in found),
            "step_s": statistics.median(parts), "step_min_s": min(parts),
            "step_max_s": max(parts), "steps": len(found),
            "threads": contest.threads, "cpus": contest.threads,
            "model": settings.work.model, "batch": contest.batch,
            "first_loss": loss, "version": settings.version}


def peer_words(settings, contest, who):
    """The program of a peer and what it is to do."""
    return [HERE / PEERS[who], *(OF_XLA if who == "xla" else []), "--data",
            settings.data, "--model", settings.work.model,
            *side_words(settings.work), "--mode", contest.mode, "--threads",
            contest.threads, "--batch", contest.batch, "--steps",
            contest.steps, "--warmup", contest.warmup]


def python_of(settings, who):
    """PyTorch/XLA wants a PyTorch of its own."""
    if who != "xla":
        return settings.python
    if not os.access(settings.xla_python, os.X_OK):
        raise Skipped(f"no {settings.xla_python}; `make peers-xla` makes it")
    return settings.xla_python


def peer_command(settings, contest, row, *more):
    return [python_of(settings, row["who"]),
            *peer_words(settings, contest, row["who"]), *more,
            *row["arguments"].split()]


def measure_peer(settings, contest, row, cache, timeout):
    text = run(peer_command(settings, contest, row), contest,
               environment(row, contest, cache), timeout)
    try:
        found = json.loads(text.strip().splitlines()[-1])
        if not found["images_per_s"] > 0:
            raise ValueError("images_per_s is no rate")
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise Failed(f"no line of JSON from the peer: {error}") from None
    for name in ALLOCATORS:  # the loader only warns where it has none
        if f"lib{name}" in row["environment"] and \
                name not in found.get("allocator", ""):
            raise Skipped(f"{name} was not loaded; `make peers` installs it")
    return {name: found[name] for name in FIELDS if name in found}


def measure_floor(settings, contest, row, cache, timeout):
    """Rows of floor.csv: the kernels that a row of the grid makes libraries
    run, and their seconds in a step."""
    text = run(peer_command(settings, contest, row, "--marks"), contest,
               environment(row, contest, cache) | floor.VERBOSE, timeout)
    return [{"contest": contest.name, "name": row["name"],
             "precision": row["precision"], "kernel": kernel, "calls": calls,
             "kernel_s": f"{seconds:.6g}", "batch": contest.batch}
            for kernel, (calls, seconds)
            in floor.kernels(text, contest.warmup).items()]


MEASURES = {"bench": measure_bench} | dict.fromkeys(PEERS, measure_peer)


def measure(settings, contest, row, cache, timeout):
    """A row for turns.csv, with its status and reason if it failed."""
    found = {name: "" for name in FIELDS} | {
        name: row[name]
        for name in ("name", "who", "precision", "arguments", "environment")}
    found |= {"contest": contest.name, "status": "ok", "started_utc":
              time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    try:
        said = MEASURES[row["who"]](settings, contest, row, cache, timeout)
        found |= {name: f"{value:.9g}" if isinstance(value, float) else value
                  for name, value in said.items()}
    except Skipped as error:
        found |= {"status": "skipped", "reason": str(error)}
    except Failed as error:
        found |= {"status": "error", "reason": str(error)}
    return found
