"""penstock and its peers side by side: `python bench/run.py [--rounds 3] [--seconds 2] [--only raw,gather]`.

Every measurement is a process of its own; a round runs each of them once, so that what else the machine does
falls on all alike. The table gives the best and the median of the rounds, and how many times better penstock's
median is than the peer's.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import data  # noqa: E402 - beside this file
import measures  # noqa: E402
import ours  # noqa: E402, F401 - registers penstock's measures

OURS = "penstock"


@dataclass(frozen=True)
class Question:
    """What is asked, in which unit the answer is, and whether more is better."""

    text: str
    unit: str
    more_is_better: bool = True


QUESTIONS = {
    "small": Question("500,000 small Examples to NumPy batches of 256", "rows/s"),
    "raw": Question("20,000 raw uint8[64,64,3] and label to batches of 64", "rows/s"),
    "small gzip": Question("the small Examples, GZIP", "rows/s"),
    "raw gzip": Question("the raw images, GZIP", "rows/s"),
    "write columns": Question("write the small Examples from columns", "rows/s"),
    "write rows": Question("write the small Examples from dict rows", "rows/s"),
    "gather": Question("64 random rows of the raw images at a time", "rows/s"),
    "index": Question("build an index of the raw images", "bytes/s"),
    "verify": Question("verify every checksum of the raw images", "bytes/s"),
    "memory": Question("memory above the import while streaming 2 GB in batches of 64", "bytes", False),
    "import time": Question("time of a process that imports it", "s", False),
    "import memory": Question("memory of a process that imports it", "bytes", False),
    "package": Question("size of the package, compressed", "bytes", False),
}
IMPORTS = {
    OURS: "penstock",
    "NumPy alone": "numpy",
    "tfrecord (vahidk)": "tfrecord",
    "TensorFlow": "tensorflow",
    "DALI": "nvidia.dali",
}


def peak_bytes() -> int:
    # Not ru_maxrss: that begins with the peak of the process which started this one.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measured(question: str, peer: str, seconds: float) -> float:
    """The answer of one peer, in this process. The first tenth of the time warms up and is not counted."""
    running = measures.MEASURES[question][peer]()
    next(running)
    before = resident_bytes()
    if question == "memory":
        handled = 0
        while handled < data.RAW_ROWS * data.BIG_COPIES:
            handled += next(running)
        return peak_bytes() - before
    start = time.perf_counter()
    while time.perf_counter() - start < seconds / 10:
        next(running)
    start, handled = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - start) < seconds:
        handled += next(running)
    return handled / elapsed


def imported(question: str, module: str) -> float:
    start = time.perf_counter()
    code = f"import {module}; print(open('/proc/self/status').read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    took = time.perf_counter() - start
    kilobytes = done.stdout.partition("VmHWM:")[2].split()[0]
    return took if question == "import time" else int(kilobytes) * 1024


def package_bytes() -> float:
    """penstock as a wheel would carry it: the Python files and the extension, deflated."""
    packed = io.BytesIO()
    source = HERE.parent / "src" / "penstock"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in source.rglob("*"):
            if file.suffix in {".py", ".pyi", ".so", ".typed"}:
                archive.write(file, file.relative_to(source))
    return packed.tell()


def in_a_process(question: str, peer: str, seconds: float) -> float | str:
    """The answer of one peer in a process of its own, or the last line of what went wrong."""
    command = [sys.executable, __file__, "--measure", question, peer, "--seconds", str(seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    except subprocess.TimeoutExpired:
        return "not done in 180 s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    return json.loads(done.stdout.splitlines()[-1])


def jobs(only: set[str]) -> list[tuple[str, str]]:
    chosen = [question for question in QUESTIONS if not only or question in only]
    return [(question, peer) for question in chosen for peer in peers_of(question)]


def peers_of(question: str) -> list[str]:
    if question.startswith("import"):
        return [peer for peer, module in IMPORTS.items() if find_spec(module.partition(".")[0])]
    if question == "package":
        return [OURS]
    return sorted(measures.MEASURES.get(question, {}), key=lambda peer: peer != OURS)


def answer(question: str, peer: str, seconds: float) -> float | str:
    if question.startswith("import"):
        return imported(question, IMPORTS[peer])
    return package_bytes() if question == "package" else in_a_process(question, peer, seconds)


def shown(value: float, unit: str) -> str:
    if unit.startswith("bytes"):
        return f"{value / 1e6:,.1f} M{unit.replace('bytes', 'B')}"
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3f} {unit}"


def table(answers: dict[tuple[str, str], list[float | str]]) -> str:
    lines = ["| question | peer | best | median | penstock is |", "|---|---|---:|---:|---:|"]
    for (question, peer), found in answers.items():
        asked = QUESTIONS[question]
        numbers = [value for value in found if not isinstance(value, str)]
        if not numbers:
            lines.append(f"| {asked.text} | {peer} | left out: {found[-1]} | | |")
            continue
        best = max(numbers) if asked.more_is_better else min(numbers)
        median = statistics.median(numbers)
        cells = [asked.text, peer, shown(best, asked.unit), shown(median, asked.unit)]
        lines.append(f"| {' | '.join(cells)} | {ratio(answers, question, peer, median)} |")
    return "\n".join(lines)


def ratio(answers: dict[tuple[str, str], list[float | str]], question: str, peer: str, median: float) -> str:
    """How many times better penstock's median is than this peer's; empty for penstock itself."""
    found = [value for value in answers.get((question, OURS), []) if not isinstance(value, str)]
    if peer == OURS or not found:
        return ""
    of_ours = statistics.median(found)
    times = of_ours / median if QUESTIONS[question].more_is_better else median / of_ours
    return f"{times:.2f}x"


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text()
    model = next(
        (line.partition(": ")[2] for line in info.splitlines() if line.startswith("model name")), "?"
    )
    return f"{os.cpu_count()} cores ({model}), load {os.getloadavg()[0]:.1f}, Python {sys.version.split()[0]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--only", default="", help=f"questions, joined by commas: {', '.join(QUESTIONS)}")
    parser.add_argument("--measure", nargs=2, metavar=("QUESTION", "PEER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measured(*given.measure, given.seconds)))
        return
    for name in data.MAKERS:
        data.path(name)
    todo = jobs({name.strip() for name in given.only.split(",") if name.strip()})
    print(machine(), flush=True)
    answers: dict[tuple[str, str], list[float | str]] = {job: [] for job in todo}
    for number in range(given.rounds):
        for question, peer in todo:
            answers[question, peer].append(answer(question, peer, given.seconds))
            print(f"round {number + 1}: {question}, {peer}: {answers[question, peer][-1]}", file=sys.stderr)
    print(machine())
    print(table(answers))


if __name__ == "__main__":
    main()
