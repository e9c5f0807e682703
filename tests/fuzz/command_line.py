"""Run the fuzz targets: `make fuzz`, or `python -m tests.fuzz --seconds 60 --target feeds,pages`.

Each target runs in a process of its own, with limits on processor time and memory. A process that
dies is started again with other inputs. Inputs that find something are shrunk and written to
build/fuzz/, and the slowest of each target, too; `python -m tests.fuzz --replay FILE` runs one of
them again. The engine is a plain generator of random numbers, which draws an input in a tenth of a
millisecond; Hypothesis draws odder ones, and atheris those that reach new code, both ten times as
slowly. `--inputs 500000` takes about half an hour of processor time.
"""

import argparse
import ast
import math
import time
from pathlib import Path

from tests.fuzz.runner import (
    ROOT,
    Budget,
    Work,
    find_target,
    run_target,
    work,
    work_with_hypothesis,
    write_input,
)
from tests.fuzz.targets import make_targets

# Hours after which a run with a number of inputs ends all the same.
MAX_HOURS = 12


def replay(path: Path) -> None:
    """Run the target of a finding on its input."""
    name, text = path.read_text("utf-8", errors="surrogatepass").split("\n", 1)
    target = find_target(name)
    begun = time.process_time()
    print("accepted" if target.run(ast.literal_eval(text)) else "refused")
    print(f"{time.process_time() - begun:.2f} s of processor time")


def main() -> int:
    """Run the targets in turn, print a line for each, and return 1 if there are findings."""
    targets = {target.name: target for target in make_targets()}
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="time of all targets together")
    parser.add_argument(
        "--inputs", type=int, help="inputs of all targets together, in place of --seconds"
    )
    parser.add_argument("--target", default=",".join(targets), help="names, separated by commas")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="begins the inputs")
    parser.add_argument("--engine", choices=["random", "hypothesis", "atheris"], default="random")
    parser.add_argument("--replay", type=Path, help="run the input of a finding again")
    options = parser.parse_args()
    if options.replay:
        replay(options.replay)
        return 0
    run = _engine(options.engine)
    chosen = [targets[name] for name in options.target.split(",")]
    shares = sum(target.share for target in chosen)
    print(f"seed {options.seed}, {options.inputs or f'{options.seconds:g} s'}")
    print(f"{'target':<12}{'inputs':>9}{'accepted':>9}{'slowest':>9}{'memory':>9}  findings")
    total, failures = 0, 0
    for target in chosen:
        if options.inputs:
            budget = Budget(MAX_HOURS * 3600, math.ceil(options.inputs * target.share / shares))
        else:
            budget = Budget(options.seconds / len(chosen))
        tally = run_target(target.name, budget, options.seed, run)
        total += tally.inputs
        failures += len(tally.findings)
        print(
            f"{target.name:<12}{tally.inputs:>9}{tally.accepted / max(1, tally.inputs):>9.0%}"
            f"{tally.slowest:>7.2f} s{tally.peak_memory // 1024**2:>6} MB  {len(tally.findings)}",
            flush=True,
        )
        write_input(target.name, tally.slowest_input, f"slowest-{target.name}")
        for finding in tally.findings:
            path = finding.write(target.name)
            print(f"{path.relative_to(ROOT)}: {finding.signature}")
            print(finding.trace, flush=True)
    print(f"{total} inputs, {failures} findings")
    return 1 if failures else 0


def _engine(name: str) -> Work:
    """Return the function that runs a target by an engine."""
    if name == "hypothesis":
        return work_with_hypothesis
    if name == "atheris":
        # Installed by `make fuzz ENGINE=atheris`.
        from tests.fuzz import guided

        guided_work: Work = guided.work
        return guided_work
    return work
