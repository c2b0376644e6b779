#!/usr/bin/env python3
"""Signed ranks against SciPy.

    build/tests/resample --pairs FOLDER | tests/peers/signed_rank.py

p-values are scipy.stats.wilcoxon's, exact; estimates and bounds are NumPy's
Walsh averages, with the index counted here in whole numbers. Exits with 1 and
names the worst if anything is further apart than 1e-12, with 77 without SciPy.
"""
import csv
import functools
import sys

try:
    import numpy
    from scipy.stats import wilcoxon
except ImportError:
    print("skipped: python3-scipy is not installed")
    sys.exit(77)

NEAR = 1e-12


@functools.lru_cache
def index(n):
    """How many Walsh averages are below the bound at .025."""
    ways = [1]
    for rank in range(1, n + 1):
        ways += [0] * rank
        ways = [way + (ways[w - rank] if w >= rank else 0)
                for w, way in enumerate(ways)]
    total, k = 0, 0
    while 40 * (total + ways[k]) <= 2**n:
        total += ways[k]
        k += 1
    return k


def numbers(differences, shift):
    """What the peers say; no p-value where ranks are tied."""
    n = len(differences)
    first, second = numpy.triu_indices(n)
    averages = numpy.sort((differences[first] + differences[second]) / 2)
    k = index(n)
    found = {"estimate": numpy.median(averages)}
    if k:
        found["lower"] = averages[k - 1]
        found["upper"] = averages[-k]
    sizes = numpy.abs(differences - shift)
    if len(set(sizes)) == n and sizes.all():
        found["p_above"] = wilcoxon(differences - shift, method="exact",
                                    alternative="greater").pvalue
    return found


def main():
    worst, where, stages, p_values = 0, "all are equal", 0, 0
    for row in csv.DictReader(sys.stdin):
        differences = numpy.array(row["differences"].split(), dtype=float)
        stages += 1
        found = numbers(differences, float(row["shift"]))
        p_values += "p_above" in found
        for name, value in found.items():
            off = abs(float(row[name]) - value)
            if not off <= worst:  # a NaN too
                worst = off
                where = (f"{name} of check {row['check']}, {row['target']}, "
                         f"{row['stage']}: {row[name]}, expected {value!r}")
    print(f"{stages} stages, {p_values} p-values; furthest apart by "
          f"{worst:.3g}: {where}")
    if not p_values:
        print("nothing was compared")
    sys.exit(0 if p_values and worst <= NEAR else 1)


main()
