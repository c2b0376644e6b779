"""Tables of rows of turns.csv and floor.csv, as Markdown in columns.

A ratio is taken within a turn, where both ran soon after each other, and its
median over the turns is told with the smallest and the largest. They hold the
median of all turns that could have been with 1 - 2^(1-n), for five turns 94 %,
whatever the ratios' distribution is.
"""
import statistics

import contests
import floor

RATE = "images/s"
FASTER = "bench is faster by"


def of(rows, **wanted):
    return [row for row in rows
            if all(row[name] == value for name, value in wanted.items())]


def unique(values):
    return list(dict.fromkeys(values))


def turns_of(rows):
    """How a table says what its figures are."""
    count = len(unique(row["turn"] for row in rows))
    return f"medians of {count} turns" if count > 1 else "one turn"


def rates(rows, contest, name):
    """{turn: images/s} of what was measured."""
    return {row["turn"]: float(row["images_per_s"]) for row in
            of(rows, contest=contest, stage="turn", name=name, status="ok")}


def spread(values, form):
    """(median, smallest..largest); no range of one value."""
    median = form(statistics.median(values))
    if len(values) == 1:
        return median, "n=1"
    return median, f"{form(min(values))}..{form(max(values))}"


def rate_form(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def ratio_form(value):
    return f"{value:.2f}"


def columns(head, lines):
    """Markdown, the first two columns to the left, numbers to the right."""
    widths = [max(len(line[i]) for line in [head, *lines])
              for i in range(len(head))]
    rule = [":" + "-" * (width - 1) if i < 2 else "-" * (width - 1) + ":"
            for i, width in enumerate(widths)]
    out = []
    for line in [head, rule, *lines]:
        cells = [cell.ljust(width) if i < 2 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(line, widths))]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def label(row):
    who = {"torch": f"PyTorch {row['name']}",
           "xla": "PyTorch/XLA"}.get(row["who"], row["name"])
    return who if row["precision"] == "fp32" else f"{who} ({row['precision']})"


def first_bench(rows, contest):
    """The first `bench` of the grid, which other rows of it are held to."""
    names = [row["name"] for row in of(rows, contest=contest, stage="turn",
                                       who="bench")]
    return names[0] if names else None


def rival(rows, contest, row):
    """What a row's ratio is of: `bench` in its precision, if that ran."""
    same = [mine["name"] for mine in
            of(rows, contest=contest, stage="turn", who="bench",
               precision=row["precision"])]
    return same[0] if same and row["who"] != "bench" else \
        first_bench(rows, contest)


def contest_lines(rows, contest, work):
    found = []
    mine = of(rows, contest=contest, stage="turn")
    for name in unique(row["name"] for row in mine):
        values = rates(rows, contest, name)
        row = of(mine, name=name)[0]
        line = [contests.title(contest, work), label(row)]
        base = rival(rows, contest, row)
        of_base = rates(rows, contest, base)
        if not values:
            bad = [row["status"] for row in of(mine, name=name)]
            found.append(line + [bad[0], "", "", "", "0"])
            continue
        ratios = [of_base[turn] / value for turn, value in values.items()
                  if turn in of_base and name != base]
        found.append(line + [*spread(list(values.values()), rate_form),
                             *(spread(ratios, ratio_form) if ratios
                               else ("", "")), str(len(values))])
    return found


def turns_table(rows, work):
    lines = [line for contest in unique(row["contest"] for row in rows)
             for line in contest_lines(rows, contest, work)]
    return columns(["work of each step", "who", RATE, "min..max", FASTER,
                    "min..max", "turns"], lines) if lines else ""


def passed(rows, contest, precision, rate):
    """Words on peers that ran something faster than the kernels summed up."""
    names = unique(row["name"] for row in
                   of(rows, contest=contest, stage="turn", who="torch",
                      precision=precision))
    fast = [name for name in names if statistics.median(
        rates(rows, contest, name).values() or [0]) > rate]
    return "".join(f" {name} passes it, and so ran others."
                   for name in fast)


def floor_text(rows, floors, work):
    """A sentence a contest and precision: the sum, and the distance to it."""
    out = []
    for contest in unique(row["contest"] for row in floors):
        of_base = rates(rows, contest, first_bench(rows, contest)).values()
        for precision in unique(row["precision"] for row in floors):
            best = floor.fastest(of(floors, contest=contest,
                                    precision=precision))
            if not best:
                continue
            seconds = sum(float(row["kernel_s"]) for row in best.values())
            rate = int(next(iter(best.values()))["batch"]) / seconds
            text = (f"- {contests.title(contest, work)}: the {precision} "
                    f"kernels of oneDNN (and of MKL, where PyTorch uses it) "
                    f"alone take {seconds * 1e3:.2f} ms a step: a framework "
                    f"that runs these does at most {rate:,.0f} images/s.")
            if of_base:
                ratio = statistics.median(of_base) / rate
                text += f" `bench` is at {ratio:.2f} times that."
            out.append(text + passed(rows, contest, precision, rate))
    return "\n".join(out) + "\n" if out else ""


def kernels_table(floors):
    lines = []
    for contest in unique(row["contest"] for row in floors):
        for precision in unique(row["precision"] for row in floors):
            best = floor.fastest(of(floors, contest=contest,
                                    precision=precision))
            for kernel, row in sorted(best.items(), key=lambda item:
                                      -float(item[1]["kernel_s"])):
                lines.append([f"{contest}, {precision}", kernel, row["calls"],
                              f"{float(row['kernel_s']) * 1e3:.3f}",
                              row["name"]])
    return columns(["contest", "kernel", "calls", "ms a step", "fastest in"],
                   lines) if lines else ""


def first_table(rows):
    """The grid's quick pass, the fastest first; of two tries the later."""
    lines = []
    for contest in unique(row["contest"] for row in rows):
        tried = of(rows, contest=contest, stage="first")
        mine = list({row["name"]: row for row in tried}.values())
        mine.sort(key=lambda row: -float(row["images_per_s"] or 0))
        for row in mine:
            done = row["status"] == "ok"
            lines.append([contest, label(row),
                          rate_form(float(row["images_per_s"])) if done
                          else row["status"],
                          (row["arguments"] + " " + row["environment"]).strip()
                          if done else row["reason"]])
    return columns(["contest", "who", RATE, "how, or why not"], lines) \
        if lines else ""


def page(rows, floors, machine, work):
    """tables.md."""
    parts = ["# Peers side by side\n",
             "\n".join(f"- {name}: {value}" for name, value in
                       machine.items()) + "\n",
             turns_table(rows, work), floor_text(rows, floors, work)]
    kernels, first = kernels_table(floors), first_table(rows)
    parts.append("Ratios are taken within a turn, to bench in the peer's "
                 "precision where that ran;\nmin..max of n turns is an "
                 "interval for their median with 1 - 2^(1-n): 94 % for\nfive."
                 " What is in a step: tests/peers/README.md.\n")
    if kernels:
        parts.append("## The kernels that frameworks are made of\n")
        parts.append(kernels)
    if first:
        parts.append("## The quick pass over the grid, one run each\n")
        parts.append(first)
    return "\n".join(part for part in parts if part)
