"""How long a framework's kernels take by themselves, as libraries tell it.

With ONEDNN_VERBOSE=profile_exec and MKL_VERBOSE=1 each call of oneDNN and each
matrix product of MKL leaves a line on standard output; `torch_train.py --marks`
prints a line before each step. What is between is one step. Reorders only
change layouts, which a framework can arrange beforehand, so that they are not
in the sum.
"""
import re
import statistics

VERBOSE = {"ONEDNN_VERBOSE": "profile_exec", "MKL_VERBOSE": "1"}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
MARK = re.compile(r"step (\d+)$")
MKL = re.compile(r"MKL_VERBOSE (\w+)\((.*)\) ([0-9.]+)(s|ms|us|ns) ")


def read_onednn(line):
    """(kernel, seconds) of a primitive that computes, else None."""
    cells = line.split(",")
    if cells[:4] != ["onednn_verbose", "v1", "primitive", "exec"]:
        return None
    kind, direction, shape, took = cells[5], cells[7], cells[-2], cells[-1]
    if kind == "reorder":
        return None
    words = [kind, direction if direction != "undef" else "", shape]
    return " ".join(word for word in words if word), float(took) * 1e-3


def read_mkl(line):
    """(kernel, seconds) of a product: C = A B of m x n x k, else None."""
    found = MKL.match(line)
    if not found:
        return None
    name, arguments, took, unit = found.groups()
    shape = [part for part in arguments.split(",")
             if not part.startswith("0x")]
    return f"{name} {' '.join(shape[:5])}", float(took) * UNITS[unit]


def read_steps(text, warmup):
    """A list of steps, each {kernel: (calls, seconds)}, without warm-up."""
    steps, step = [], None
    for line in text.splitlines():
        mark = MARK.match(line)
        if mark:
            step = {} if int(mark.group(1)) >= warmup else None
            if step is not None:
                steps.append(step)
        elif line == "end":
            step = None
        elif step is not None:
            found = read_onednn(line) or read_mkl(line)
            if found:
                calls, seconds = step.get(found[0], (0, 0))
                step[found[0]] = calls + 1, seconds + found[1]
    return steps


def kernels(text, warmup):
    """{kernel: (calls, seconds)} of a step, medians over the steps."""
    steps = read_steps(text, warmup)
    if not steps:
        return {}
    return {name: (steps[0][name][0], statistics.median(
                step.get(name, (0, 0))[1] for step in steps))
            for name in steps[0]}


def fastest(rows):
    """Of rows of floor.csv, the fastest of each kernel of one precision."""
    best = {}
    for row in rows:
        other = best.get(row["kernel"])
        if not other or float(row["kernel_s"]) < float(other["kernel_s"]):
            best[row["kernel"]] = row
    return best
