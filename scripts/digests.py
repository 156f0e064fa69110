#!/usr/bin/env python3
"""Results of every model with every family of methods, to be compared before and after a change of the tree.

  scripts/digests.py write COMMAND FOLDER [MODEL ...]   run all models with COMMAND, keep results and counts in FOLDER
  scripts/digests.py compare BEFORE AFTER               say which differ; exit code 1 if any does beyond 1e-9

A pair of runs is the same if every bit of the recorded rows and all counts agree. It agrees if the counts are the same
and no signal differs by more than 1e-9 of its range.
"""
import concurrent.futures
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
LONGEST_RUN = 0.2  # of simulated time, s

# A member of each family, with the formulations that are code of their own.
FAMILIES = [
    ("hht-i3",), ("newmark-si2",), ("generalized-alpha-i3",), ("bdf-i3",), ("bdf-si2",),
    ("rosenbrock-nystrom-4", "state-space"), ("rosenbrock-nystrom-4", "all-coordinates"),
    ("w-method-2", "state-space"), ("w-method-2", "index-1-projected"),
    ("split", "penalty-joints"), ("split", "index-2-relaxed"), ("theta", "penalty-joints"),
    ("adams", "state-space"), ("taylor-2", "state-space"),
    ("dormand-prince-54", "index-1-baumgarte"), ("dormand-prince-853", "state-space"),
    ("dormand-prince-853", "index-1-projected"), ("dormand-prince-853", "augmented-lagrangian"),
    ("adams-moulton", "state-space"), ("bdf-fixed", "state-space"), ("bdf", "state-space"),
    ("cvode-bdf", "penalty-joints"), ("cvode-adams", "state-space"),
    ("norsett-sdirk", "state-space"), ("sdirk-4", "state-space"), ("trapezoidal", "state-space"),
    ("gauss", "state-space"), ("radau-iia-3", "state-space"), ("radau-iia-3", "index-3"),
    ("radau-iia-3", "stabilised-index-2"), ("hht", "state-space"), ("wilson-theta", "state-space"),
]
FIXED_STEP = {"taylor-2", "adams-moulton", "bdf-fixed", "wilson-theta"}
TIMES = re.compile(r"seconds|time_of|wall|clock|memory|version|file|sha|command|started", re.I)


def end_of(model):
    """The model's own end time, if it states a plain number, bounded."""
    found = re.search(r"\bend:\s*([0-9.eE+-]+)\s*(ms|s)?", model.read_text())
    if not found:
        return LONGEST_RUN
    return min(LONGEST_RUN, float(found[1]) * (1e-3 if found[2] == "ms" else 1))


def counts_of(summary):
    """Whole numbers of a summary: counts, which do not depend on the machine."""
    try:
        data = json.loads(summary)
    except ValueError:
        return {}
    counts = {}

    def visit(prefix, value):
        if isinstance(value, dict):
            for key, inner in value.items():
                visit(f"{prefix}.{key}", inner)
        elif isinstance(value, int) and not TIMES.search(prefix):
            counts[prefix.lstrip(".")] = value
        elif prefix.endswith(".id"):
            counts[prefix.lstrip(".")] = value

    visit("", data)
    return counts


def run_case(command, folder, model, family):
    name = "+".join((model.stem,) + family)
    end = end_of(model)
    result = folder / f"{name}.csv"
    arguments = [command, "run", str(model), "--method", family[0], "--end", f"{end:g}", "-o", str(result), "--json"]
    if len(family) > 1:
        arguments += ["--formulation", family[1]]
    arguments += ["--step", f"{end / 400:g}"] if family[0] in FIXED_STEP else ["--tolerance", "1e-4"]
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return name, {"status": "longer than 120 s"}
    entry = {"status": done.returncode, "counts": counts_of(done.stdout or done.stderr)}
    if result.exists():
        rows = [line for line in result.read_text().splitlines() if not line.startswith("#")]
        with gzip.open(folder / f"{name}.csv.gz", "wt", compresslevel=3) as out:
            out.write("\n".join(rows))
        result.unlink()
    for leftover in folder.glob(f"{name}.*"):
        if leftover.suffix != ".gz":
            leftover.unlink()
    return name, entry


def write(command, folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    models = sorted(m for m in MODELS.glob("*.yaml") if not names or m.stem in names)
    cases = [(model, family) for model in models for family in FAMILIES]
    entries = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, entry in pool.map(lambda case: run_case(command, folder, *case), cases):
            entries[name] = entry
    (folder / "entries.json").write_text(json.dumps(entries, indent=1, sort_keys=True))
    finished = sum(entry["status"] == 0 for entry in entries.values())
    print(f"{len(entries)} runs of {len(models)} models with {len(FAMILIES)} families, {finished} finished: {folder}")


def rows_of(folder, name):
    path = folder / f"{name}.csv.gz"
    return gzip.open(path, "rt").read() if path.exists() else ""


def difference(before, after):
    """The largest difference of a signal by its range, and its name; None if the tables do not match."""
    old, new = [[line.split(",") for line in text.split("\n")] for text in (before, after)]
    if len(old) != len(new) or old[0] != new[0]:
        return None
    worst = (0.0, "")
    for column, name in enumerate(old[0]):
        a, b = [[float(row[column] or "nan") for row in rows[1:]] for rows in (old, new)]
        known = [x for x in a if x == x]
        extent = max(max(known) - min(known), max(map(abs, known)) * 1e-3, 1e-12) if known else 1.0
        gap = max((abs(x - y) for x, y in zip(a, b) if x == x or y == y), default=0.0)
        worst = max(worst, (gap / extent, name))
    return worst


def compare(before, after):
    old, new = [json.loads((folder / "entries.json").read_text()) for folder in (before, after)]
    same = agree = 0
    wrong = []
    for name in sorted(set(old) | set(new)):
        a, b = old.get(name), new.get(name)
        if a is None or b is None or a["status"] != b["status"]:
            wrong.append(f"{name}: status {a and a['status']} -> {b and b['status']}")
            continue
        changed = [f"{k} {a['counts'].get(k)} -> {b['counts'].get(k)}"
                   for k in sorted(set(a.get("counts", {})) | set(b.get("counts", {})))
                   if a["counts"].get(k) != b["counts"].get(k)]
        first, second = rows_of(before, name), rows_of(after, name)
        if first == second and not changed:
            same += 1
            continue
        gap = difference(first, second)
        if gap is not None and gap[0] <= 1e-9 and not changed:
            agree += 1
            print(f"agrees: {name}: {gap[0]:.1e} of the range of {gap[1]}")
        else:
            wrong.append(f"{name}: {gap and f'{gap[0]:.1e} of the range of {gap[1]}'}; {'; '.join(changed[:6])}")
    for line in wrong:
        print("DIFFERS:", line)
    print(f"{len(old)} runs: {same} the same bits, {agree} agree to 1e-9, {len(wrong)} differ")
    return 1 if wrong else 0


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "write":
        write(sys.argv[2], pathlib.Path(sys.argv[3]).resolve(), set(sys.argv[4:]))
        return 0
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        return compare(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
