"""Runs on a host: lists the GPUs from inside a container, whose image is made of the host's own shell and C library.

It stands by itself, for it is sent to the host and run by the python3 there. The engine is asked over its socket,
because Debian 13 has the client in a package of its own; and no registry is asked, because a rack may have none.
"""

import http.client
import io
import json
import re
import shutil
import socket
import subprocess
import sys
import tarfile

SOCKET = "/var/run/docker.sock"
SECONDS = 120
NAME = "gpuprov-proof"
# The runtime brings the driver's own files and counts on the image for the rest: what the host's nvidia-smi loads.
# By these paths, as a script names its shell: where /bin is a link to /usr/bin, PATH finds them elsewhere.
PROGRAMS = ("/bin/sh", "/bin/cat")
LOADED_BY = (*PROGRAMS, "nvidia-smi")
FOLDERS = ("dev", "etc", "proc", "sys", "tmp")
TROUBLE = 125
ERRORS = 400
MISSING = 404


def main() -> int:
    """Print what `nvidia-smi -L` prints in a container, and end with its status."""
    try:
        drop()
        try:
            return list_gpus()
        finally:
            drop()
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        sys.stderr.write(f"{error}\n")
        return TROUBLE


def list_gpus() -> int:
    """Make the image, run the container to its end, print what it printed, and give its status."""
    ask("POST", "/images/create?fromSrc=-&repo=" + NAME, image(), kind="application/x-tar")
    wanted = {
        "Image": NAME,
        "Cmd": ["nvidia-smi", "-L"],
        "Env": ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_DRIVER_CAPABILITIES=utility"],
        "HostConfig": {"Runtime": "nvidia", "NetworkMode": "none"},
    }
    ask("POST", "/containers/create?name=" + NAME, json.dumps(wanted).encode())
    ask("POST", "/containers/" + NAME + "/start")
    status = int(json.loads(ask("POST", "/containers/" + NAME + "/wait"))["StatusCode"])
    sys.stdout.write(unframed(ask("GET", "/containers/" + NAME + "/logs?stdout=1&stderr=1")))
    return status


def image() -> bytes:
    """Give a tar of the programs and of every library that they load."""
    files = set()
    for name in LOADED_BY:
        path = shutil.which(name)
        if path is None:
            continue
        if name in PROGRAMS:
            files.add(path)
        # For a script ldd fails and prints no path: it loads nothing by itself.
        told = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        files.update(re.findall(r"(/\S+) \(0x", told.decode()))
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", dereference=True) as tar:
        for name in FOLDERS:
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for path in sorted(files):
            tar.add(path)
    return data.getvalue()


def drop() -> None:
    """Remove container and image; those that are not there are no trouble."""
    for path in ("/containers/" + NAME + "?force=1", "/images/" + NAME + "?force=1"):
        ask("DELETE", path, missing=True)


def ask(
    method: str, path: str, body: "bytes | None" = None, *, kind: str = "application/json", missing: bool = False
) -> bytes:
    """Give the body of the engine's answer; OSError with its own words for an error."""
    connection = http.client.HTTPConnection("localhost", timeout=SECONDS)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(SECONDS)
    try:
        connection.sock.connect(SOCKET)
        connection.request(method, path, body, {"Content-Type": kind})
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    if answer.status >= ERRORS and not (missing and answer.status == MISSING):
        raise OSError(f"the container engine answers {answer.status}: {text.decode(errors='replace').strip()}")
    return text


def unframed(data: bytes) -> str:
    """Give the text of the engine's stream: frames with eight bytes before each, the last four its length."""
    text = b""
    while data:
        length = int.from_bytes(data[4:8], "big")
        text, data = text + data[8 : 8 + length], data[8 + length :]
    return text.decode("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main())
