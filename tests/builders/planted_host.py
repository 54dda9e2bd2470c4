"""A host with planted secrets: this machine, in a mount namespace of its own, with other files in /etc, /var and /boot.

Run as `unshare --mount --propagation private PYTHON THIS CASES FOLDER`: everything that the probe makes of such a host
is written into FOLDER, and printed. The files are seen in this process and its children alone.
"""

import subprocess
import sys
from pathlib import Path

import yaml

from gpuprov.document.recording_text import write_recording
from gpuprov.document.snapshot_text import write_snapshot
from gpuprov.model.host import Connection, Host
from gpuprov.probe.probe import ProbeRequest, probe_host
from gpuprov.probe.sharing import Sharing

_COVERED = ("/etc", "/var", "/boot", "/usr/local")


def plant(cases: dict, folder: Path) -> None:
    """Cover the host's folders with writable layers, and write the files and programs into them."""
    for place in _COVERED:
        upper, work = (folder / "layers" / (place.strip("/").replace("/", "-") + kind) for kind in ("-up", "-work"))
        upper.mkdir(parents=True)
        work.mkdir()
        options = f"lowerdir={place},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, place], check=True)
    programs = {f"/usr/local/bin/{name}": f"#!/bin/sh\n{text}\n" for name, text in cases["programs"].items()}
    for path, text in {**cases["files"], **programs}.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
        Path(path).chmod(0o755 if path in programs else 0o644)


def main(file: Path, folder: Path) -> None:
    """Plant, look by the library (with files asked for) and by the command line, and keep what comes of it."""
    cases = yaml.safe_load(file.read_text(encoding="utf-8"))
    plant(cases, folder)
    out = folder / "out"
    out.mkdir()
    host = Host(name="here", pool="", target="onprem", connection=Connection(host="here", address="here", kind="local"))
    probed = probe_host(host, ProbeRequest(paths=tuple(cases["paths"])))
    (out / "recording.yaml").write_text(write_recording(probed.recording), encoding="utf-8")
    (out / "shared.yaml").write_text(write_recording(Sharing().share(probed.recording)), encoding="utf-8")
    (out / "snapshot.json").write_text(write_snapshot(probed.result), encoding="utf-8")
    inventory = folder / "site.yml"
    inventory.write_text("all: {hosts: {here: {ansible_connection: local}}}\n", encoding="utf-8")
    other = out / "snapshot.json"
    reports = [f"--format={kind}:{out / kind}" for kind in ("html", "markdown", "junit", "sarif", "json", "github")]
    for argv in (
        ["snapshot", "here", "-i", str(inventory), "--out", str(out / "cli.json"), "--record", str(out / "cli.yaml")],
        ["parity", "host:here", str(other), "-i", str(inventory), "--format=table", *reports],
    ):
        print("$ gpuprov", *argv, flush=True)  # noqa: T201 - the test reads it
        done = subprocess.run([Path(sys.executable).with_name("gpuprov"), *argv], cwd=out, check=False)
        print("status", done.returncode, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
