"""Disks that can be full or read-only: file systems in memory, in a mount namespace of their own.

The namespace ends with the process that made it, so nothing stays mounted, whatever happens.
"""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

IN_NAMESPACE = "SCOUT_FAULTS_NAMESPACE"
"""Variable that is set in the process that runs in the namespaces."""

SIZE = 512 * 1024 * 1024
"""Bytes of a disk: a store, or a small PostgreSQL cluster, with room."""

MARGIN = 4096 * 4
"""Bytes that a full disk still has: its size is a whole number of memory pages."""

RETRY_SECONDS = 3.0
"""Time until a disk on which files are open for writing is given up."""

_UNSHARE = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private")


def missing_mounts() -> str | None:
    """Return why disks cannot be mounted here; None where they can."""
    return None if os.environ.get(IN_NAMESPACE) else "file systems can only be mounted by root"


def enter_namespaces() -> None:
    """Start this command again in mount and process namespaces, where that is allowed."""
    if os.environ.get(IN_NAMESPACE) or os.geteuid() or not shutil.which("unshare"):
        return
    if subprocess.run(["unshare", *_UNSHARE, "true"], capture_output=True, check=False).returncode:
        return
    program = [sys.executable, *sys.orig_argv[1:]]
    os.execvpe("unshare", ["unshare", *_UNSHARE, *program], {**os.environ, IN_NAMESPACE: "1"})


class Disk:
    """A folder, which is a disk of its own where disks can be mounted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self._is_mounted = missing_mounts() is None
        if self._is_mounted:
            options = f"size={SIZE},mode=777"
            command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
            subprocess.run(command, check=True, timeout=30)

    def fill(self) -> None:
        """Leave no space."""
        while True:
            status = os.statvfs(self.folder)
            used = (status.f_blocks - status.f_bfree) * status.f_frsize
            # It fails if more was written meanwhile.
            if self._remount(f"size={used + MARGIN}"):
                return

    def set_read_only(self) -> bool:
        """Refuse all writes; returns False if a file stays open for writing."""
        deadline = time.monotonic() + RETRY_SECONDS
        while not self._remount("ro"):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def restore(self) -> None:
        """Make the disk writable again, with space."""
        if self._is_mounted:
            self._remount(f"rw,size={SIZE}")

    def remove(self) -> None:
        """Unmount the disk and delete the folder."""
        if self._is_mounted:
            command = ["umount", "--lazy", str(self.folder)]
            subprocess.run(command, check=False, timeout=30, capture_output=True)
        with suppress(OSError):
            shutil.rmtree(self.folder)

    def _remount(self, options: str) -> bool:
        command = ["mount", "-o", f"remount,{options}", str(self.folder)]
        completed = subprocess.run(command, capture_output=True, check=False, timeout=30)
        return completed.returncode == 0
