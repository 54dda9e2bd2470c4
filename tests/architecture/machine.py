"""What must not get into the repository: this machine's package hosts, and where the checkout lies."""

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from laws import Source

_SHARED = {"/", "/home", "/mnt", "/opt", "/root", "/srv", "/tmp", "/usr/src", "/usr/local/src", "/var/tmp"}
"""Folders that many machines have: a text that names one of them says nothing about this machine."""

_HOST = re.compile(r"(?:https?|ftp|mirror)://(?:[^/@\s\"']*@)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)", re.IGNORECASE)
_COMMANDS = (
    ("apt-get", "indextargets", "--format", "$(REPO_URI)"),
    ("apt-config", "shell", "plain", "Acquire::http::Proxy", "secure", "Acquire::https::Proxy"),
    ("pip", "config", "list"),
    ("go", "env", "GOPROXY"),
    ("npm", "config", "get", "registry"),
)
_FILES = (".cargo/config.toml", ".m2/settings.xml", ".config/uv/uv.toml")
_VARIABLES = ("cargo_", "goproxy", "https_proxy", "http_proxy", "npm_", "pip_", "uv_")


def hosts_in(text: str) -> set[str]:
    """Find the hosts of the URLs in a text."""
    return {host.lower() for host in _HOST.findall(text)}


def package_hosts(home: Path) -> set[str]:
    """Find the hosts of the registries and mirrors that this machine's package clients are set up with."""
    texts = [value for name, value in os.environ.items() if name.lower().startswith(_VARIABLES)]
    with ThreadPoolExecutor() as pool:  # each client takes a second to start
        texts.extend(pool.map(lambda argv: _printed(argv, home), _COMMANDS))
    texts.extend(_text(home / name) for name in _FILES if (home / name).is_file())
    return set().union(*(hosts_in(text) for text in texts))


def machine_folders(checkout: Path) -> set[str]:
    """Name the folders that would betray where this checkout lies: its own and the one above."""
    return {str(folder) for folder in (checkout, checkout.parent)} - _SHARED


def tracked(checkout: Path) -> list[Source]:
    """Read every file that is tracked, or would be with the next `git add`."""
    listed = subprocess.run(
        ("git", "-c", f"safe.directory={checkout}", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout
    paths = sorted({name for name in listed.split("\0") if name})
    return [Source(path=name, text=_text(checkout / name)) for name in paths if (checkout / name).is_file()]


def _printed(argv: tuple[str, ...], home: Path) -> str:
    """Give what a client says of its settings; nothing where it is not installed."""
    if not shutil.which(argv[0]):
        return ""
    environment = os.environ | {"HOME": str(home)}
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False, env=environment).stdout


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")
