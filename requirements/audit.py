"""Look up the pinned packages in the database of known vulnerabilities, and say which have any.

Run by `make audit` in build/audit, where pip-audit is installed. The exit code is 1 if a package has
a known vulnerability, and 0 where the database cannot be reached: the audit is an optional step.
"""

import json
import subprocess
import sys
from typing import Any

# Seconds in which the database has to answer.
TIMEOUT = 300


def audit(requirements: str) -> list[dict[str, Any]] | None:
    """Return pip-audit's entries of all packages; None where it could not work."""
    command = [sys.executable, "-m", "pip_audit", "-r", requirements, "--no-deps", "--disable-pip"]
    command += ["--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        dependencies: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return None
    return dependencies


def main(requirements: str) -> int:
    """Print the vulnerabilities of a file of pins; return the exit code."""
    dependencies = audit(requirements)
    audited = [entry for entry in dependencies or () if "vulns" in entry]
    if dependencies is None or not audited:
        print("not audited: the database of vulnerabilities cannot be reached, or knows no package")
        return 0
    vulnerable = 0
    for entry in audited:
        for vulnerability in entry["vulns"]:
            vulnerable += 1
            repaired = ", ".join(vulnerability.get("fix_versions", ())) or "no version yet"
            print(
                f"{entry['name']} {entry['version']}: {vulnerability['id']} (repaired: {repaired})"
            )
    unknown = len(dependencies) - len(audited)
    print(f"{len(audited)} packages audited, {unknown} unknown: {vulnerable} known vulnerabilities")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
