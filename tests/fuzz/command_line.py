"""Run the fuzz targets: `make fuzz`, or `python -m tests.fuzz --seconds 60 --target feeds,pages`.

Each target runs in a process of its own, with limits on processor time and memory. A process that
dies is started again with other inputs. Inputs that find something are shrunk, written to
build/fuzz/, and run again by `python -m tests.fuzz --replay FILE`.
"""

import argparse
import ast
import time
from pathlib import Path

from tests.fuzz.runner import ROOT, find_target, run_target, work
from tests.fuzz.targets import make_targets


def replay(path: Path) -> None:
    """Run the target of a finding on its input."""
    name, text = path.read_text("utf-8", errors="surrogatepass").split("\n", 1)
    target = find_target(name)
    begun = time.process_time()
    print("accepted" if target.run(ast.literal_eval(text)) else "refused")
    print(f"{time.process_time() - begun:.2f} s of processor time")


def main() -> int:
    """Run the targets in turn, print a line for each, and return 1 if there are findings."""
    names = [target.name for target in make_targets()]
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="time of all targets together")
    parser.add_argument("--target", default=",".join(names), help="names, separated by commas")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="begins the inputs")
    parser.add_argument("--engine", choices=["hypothesis", "atheris"], default="hypothesis")
    parser.add_argument("--replay", type=Path, help="run the input of a finding again")
    options = parser.parse_args()
    if options.replay:
        replay(options.replay)
        return 0
    run = work
    if options.engine == "atheris":
        # Installed by `make fuzz ENGINE=atheris`.
        from tests.fuzz import guided

        run = guided.work
    chosen = options.target.split(",")
    print(f"seed {options.seed}, {options.seconds:g} s")
    print(f"{'target':<12}{'inputs':>9}{'accepted':>9}{'slowest':>9}{'memory':>9}  findings")
    total, failures = 0, 0
    for name in chosen:
        tally = run_target(name, options.seconds / len(chosen), options.seed, run)
        total += tally.inputs
        failures += len(tally.findings)
        print(
            f"{name:<12}{tally.inputs:>9}{tally.accepted / max(1, tally.inputs):>9.0%}"
            f"{tally.slowest:>7.2f} s{tally.peak_memory // 1024**2:>6} MB  {len(tally.findings)}",
            flush=True,
        )
        for finding in tally.findings:
            print(f"{finding.write(name).relative_to(ROOT)}: {finding.signature}")
            print(finding.trace, flush=True)
    print(f"{total} inputs, {failures} findings")
    return 1 if failures else 0
