"""What Python costs: a run against the command, small runs in two threads against one, a call of a function, a step, and how
much of a large file is read for one column. Times are the least of ten, taken in turn, so that what else the machine does
falls on both sides.

    PYTHONPATH=build/release/python python3 bench/python_cost.py [--trammel build/release/bin/trammel] [--megabytes 1000]

The machine must have two processors that do nothing else.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import trammel

root = pathlib.Path(__file__).resolve().parents[1]
rounds = 10


def cpu_seconds(*words):
    """Of a process, with what its threads and its start take."""
    child = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{words[0]} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def least_in_turn(*ways):
    """The least of each way, one after the other in every round."""
    taken = [[way() for way in ways] for _ in range(rounds)]
    return [min(times) for times in zip(*taken)]


def tell(what, value, demanded=""):
    print(f"{what:<58}{value:<26}{demanded}", flush=True)


def run_against_command(command, folder):
    model, end, tolerance = root / "models" / "slider_crank.yaml", 240, 1e-8
    program = ("import sys, trammel\n"
               f"trammel.load(sys.argv[1]).run(end={end}, tolerance={tolerance}, file=sys.argv[2], progress=False)\n")
    by_command, by_python, start = least_in_turn(
        lambda: cpu_seconds(command, "run", model, "--end", end, "--tolerance", tolerance, "-q", "-o", folder / "command.h5"),
        lambda: cpu_seconds(sys.executable, "-c", program, model, folder / "python.h5"),
        lambda: cpu_seconds(sys.executable, "-c", "import trammel"))
    tell("a run by the command, CPU", f"{by_command:.3f} s", "1 s or more")
    tell("the same from Python, import included", f"{by_python:.3f} s, {100 * (by_python / by_command - 1):+.1f} %", "at most +2 %")
    tell("the import alone", f"{start:.3f} s")


def runs_in_threads():
    model = trammel.load(root / "models" / "pendulum.yaml")
    count = 1000

    def work(share):
        for _ in range(share):
            model.run(end=0.02, progress=False)

    def in_threads(number):
        threads = [threading.Thread(target=work, args=(count // number,)) for _ in range(number)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - begin

    one, two = least_in_turn(lambda: in_threads(1), lambda: in_threads(2))
    tell(f"{count} small runs in one thread", f"{one:.3f} s")
    tell("the same in two threads", f"{two:.3f} s, {one / two:.2f} times as fast", "at least 1.8")


def calls_and_steps():
    def calls():
        begin = time.process_time()
        result = trammel.solve(lambda t, y: y, (0, 1), [1.0], "rk4", step=2e-5)
        return (time.process_time() - begin) / result.nfev

    def steps():
        sim = trammel.load(root / "models" / "pendulum.yaml").simulation(end=1e3, step=1e-3)
        begin = time.process_time()
        for _ in range(2000):
            sim.step()
        return (time.process_time() - begin) / 2000

    def looks():
        sim = trammel.load(root / "models" / "pendulum.yaml").simulation(end=1e3, step=1e-3, output_step=0, record=True)
        sim.advance(1.0)
        begin = time.process_time()
        for _ in range(1000):
            sim.step()
            sim.result
        return (time.process_time() - begin) / 1000

    call, step, look = least_in_turn(calls, steps, looks)
    tell("a call of f by solve, with the method's own work", f"{1e6 * call:.2f} us")
    tell("a step of a pendulum by hand", f"{1e6 * step:.1f} us")
    tell("a step and a look at the result so far", f"{1e6 * look:.1f} us")


def reading_one_column(folder, megabytes):
    bodies, columns = 70, 1900
    model = trammel.Model("Stones", gravity=[0, 0, -9.81])
    for i in range(bodies):
        model.body(f"b{i}", mass=1, inertia=[1, 1, 1], position=[i, 0, 0])
    path, rows = folder / "large.h5", int(megabytes * 1e6 / (8 * columns))
    model.run(end=1e-2 * rows, step=1e-1, output_step=1e-2, file=path, progress=False)
    program = ("import sys, trammel\n"
               "def read(): return int(open('/proc/self/io').read().split('rchar: ')[1].split()[0])\n"
               "before = read()\nr = trammel.read(sys.argv[1])\nopened = read()\nr['body.b50.position.z'][-1]\n"
               "print(len(r.names()), opened - before, read() - opened)\n")
    out = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True).stdout.split()
    size = path.stat().st_size
    path.unlink()
    tell(f"a result of {out[0]} columns", f"{size / 1e6:.0f} MB")
    tell("read to open it", f"{int(out[1]) / 1e6:.2f} MB")
    tell("read for one column and its time", f"{int(out[2]) / 1e6:.2f} MB", f"at most {0.02 * size / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description="What Python costs.")
    parser.add_argument("--trammel", default=str(root / "build" / "release" / "bin" / "trammel"), help="the command")
    parser.add_argument("--megabytes", type=float, default=1000, help="size of the large result; 0 leaves it out")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run_against_command(arguments.trammel, folder)
        runs_in_threads()
        calls_and_steps()
        if arguments.megabytes > 0:
            reading_one_column(folder, arguments.megabytes)


if __name__ == "__main__":
    main()
