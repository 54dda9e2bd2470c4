#!/usr/bin/python
"""Make a Python environment from locked versions and digests, and take it into use by one rename."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpuprov_frameworks
short_description: Make a Python environment from locked versions and digests, and take it into use
description:
  - An environment is made whole, beside the one in use, by uv and from files whose digests are given.
  - The link `current` then leads to it; the environment before stays, so that going back needs no download.
  - Without packages all environments of gpuprov go.
options:
  environment: {description: Name of the environment; a digest of its content., type: str, default: ""}
  python: {description: Release of the host's own Python, such as 3.11., type: str, default: ""}
  packages:
    description: Packages, each with name, version, source (name of its index) and sha256 (of its files).
    type: list
    elements: dict
    default: []
  indexes: {description: URL of each index by name., type: dict, default: {}}
  folder: {description: Where the environments are., type: path, default: /opt/gpuprov/frameworks}
  uv: {description: The program., type: path, default: /opt/gpuprov/bin/uv}
  pip_configuration: {description: Where the host says which index is its own., type: path, default: /etc/pip.conf}
author: [gpuprov]
"""

RETURN = r"""
notes: {description: Sentences about what was done, type: list, returned: success}
"""

import configparser  # noqa: E402
import errno  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import shutil  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils import gpuprov_record as record  # noqa: E402
from ansible.module_utils.basic import AnsibleModule  # noqa: E402

DONE = ".gpuprov-complete"
PYPI = "pypi"


class Failed(Exception):  # noqa: N818 - a reason, not an error of this program
    """Raised when the environment cannot be made; the one in use is as it was."""

    def __init__(self, text: str, detail: str = "") -> None:
        super().__init__(text)
        self.text, self.detail = text, detail


def normalised(name: str) -> str:
    """A package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(place: Path) -> dict[str, str]:
    """Versions of the packages in an environment, by normalised name."""
    names = (path.name[: -len(".dist-info")] for path in place.glob("lib/python3*/site-packages/*.dist-info"))
    return {normalised(name): version for name, _, version in (name.rpartition("-") for name in names)}


def own_index(configuration: Path) -> str:
    """The index that the host's own pip is set up with; empty for the public one, which uv takes by itself."""
    parser = configparser.RawConfigParser()
    try:
        parser.read(configuration, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise Failed(f"{configuration} cannot be read: {error}") from error
    return parser.get("global", "index-url", fallback="")


class Environments:
    """One run of the module on one host."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.folder = Path(module.params["folder"])
        self.link = self.folder / "current"
        self.name = module.params["environment"]
        self.packages = module.params["packages"]
        self.versions = {normalised(row["name"]): row["version"] for row in self.packages}
        self.notes: list[str] = []

    def bring(self) -> bool:
        """Have the wanted environment in use; says whether that is a change.

        Raises:
            Failed: it cannot be made.
        """
        before = self._in_use()
        if before is not None and self._fits(before):
            return False
        if not self.module.check_mode:
            ready = next((place for place in self._places() if self._fits(place)), None)
            place = ready or self._make(before)
            self._use(place)
            self._clear(keep={place, before})
            self.notes.append(f"the environment {place.name} is in use" + (", as it was before" if ready else ""))
        return True

    def remove(self) -> bool:
        """Take all environments away, and the program that made them; says whether that is a change."""
        uv = Path(self.module.params["uv"])
        there = [path for path in (self.folder, uv) if path.exists()]
        if not self.module.check_mode:
            for path in there:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            for parent in (uv.parent, self.folder.parent):
                if there and parent.is_dir() and not any(parent.iterdir()):
                    parent.rmdir()
        return bool(there)

    def _in_use(self) -> Path | None:
        return self.folder / os.readlink(self.link) if self.link.is_symlink() else None  # noqa: PTH115 - Python 3.8

    def _places(self) -> list[Path]:
        return sorted(path for path in self.folder.glob(f"{self.name}*") if path.is_dir())

    def _fits(self, place: Path) -> bool:
        """Whether a place holds the wanted environment, whole and not changed by hand."""
        named = place.name.partition(".")[0] == self.name
        return named and (place / DONE).exists() and self.versions.items() <= installed(place).items()

    def _make(self, before: Path | None) -> Path:
        # One that was changed by hand may be in use: it stays as it is until programs are started anew.
        names = (self.name, *(f"{self.name}.{number}" for number in range(2, 1000)))
        place = next(place for place in (self.folder / name for name in names) if place != before)
        shutil.rmtree(place, ignore_errors=True)
        python = f"/usr/bin/python{self.module.params['python']}"
        if not Path(python).exists():
            raise Failed(f"{python} is not on the host, and the frameworks are locked for it")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._uv("venv", "--no-project", "--python", python, str(place))
        for source in sorted({row["source"] for row in self.packages}):
            self._install(place, source)
        missing = self.versions.items() - installed(place).items()
        if missing:
            raise Failed("uv left packages out: " + ", ".join(sorted(name for name, _ in missing)))
        record.write_text(place / DONE, "")
        return place

    def _install(self, place: Path, source: str) -> None:
        """Each index by itself: a package never comes from another one that offers the same name."""
        rows = [row for row in self.packages if row["source"] == source]
        lines = [" ".join([f"{r['name']}=={r['version']}", *(f"--hash=sha256:{d}" for d in r["sha256"])]) for r in rows]
        wanted = self.folder / f".{place.name}.txt"
        record.write_text(wanted, "\n".join(lines) + "\n")
        url = self.module.params["indexes"].get(source, "")
        if not url and source == PYPI:
            url = own_index(Path(self.module.params["pip_configuration"]))
        words = ["--default-index", url] if url else []
        python = str(place / "bin" / "python")
        self._uv(
            "pip", "install", "--python", python, "--require-hashes", "--no-deps", "--only-binary", ":all:",
            *words, "--requirements", str(wanted),
        )  # fmt: skip
        wanted.unlink()

    def _uv(self, *words: str) -> None:
        settings = {
            # On the environments' own disk, so that files are linked and not copied; it goes when all is done.
            "UV_CACHE_DIR": str(self.folder / ".cache"),
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_NO_PROGRESS": "1",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "LANGUAGE": "",
        }
        code, out, err = self.module.run_command([self.module.params["uv"], *words], environ_update=settings)
        if code:
            what = "uv cannot make the environment" if words[0] == "venv" else "uv cannot install the packages"
            raise Failed(what, (out + err).strip()[-4000:])

    def _use(self, place: Path) -> None:
        new = self.folder / ".current.new"
        new.unlink(missing_ok=True)
        new.symlink_to(place.name)
        new.replace(self.link)
        record.sync_folder(self.folder)

    def _clear(self, keep: set[Path | None]) -> None:
        for path in self.folder.iterdir():
            if path.is_dir() and not path.is_symlink() and path not in keep:
                shutil.rmtree(path)


def main() -> None:
    """Run as an Ansible module."""
    row = {
        "name": {"type": "str", "required": True},
        "version": {"type": "str", "required": True},
        "source": {"type": "str", "required": True},
        "sha256": {"type": "list", "elements": "str", "required": True},
    }
    module = AnsibleModule(
        argument_spec={
            "environment": {"type": "str", "default": ""},
            "python": {"type": "str", "default": ""},
            "packages": {"type": "list", "elements": "dict", "default": [], "options": row},
            "indexes": {"type": "dict", "default": {}},
            "folder": {"type": "path", "default": "/opt/gpuprov/frameworks"},
            "uv": {"type": "path", "default": "/opt/gpuprov/bin/uv"},
            "pip_configuration": {"type": "path", "default": "/etc/pip.conf"},
        },
        supports_check_mode=True,
    )
    environments = Environments(module)
    try:
        changed = environments.bring() if environments.packages else environments.remove()
    except Failed as failure:
        ours = {"reason": "frameworks", "text": failure.text, "detail": failure.detail}
        module.fail_json(msg=failure.text, gpuprov=ours)
    except OSError as error:
        reason = "space" if error.errno == errno.ENOSPC else "frameworks"
        ours = {"reason": reason, "path": str(error.filename or ""), "text": str(error.strerror), "detail": ""}
        module.fail_json(msg=f"{error.filename}: {error.strerror}", gpuprov=ours)
    module.exit_json(changed=changed, notes=environments.notes)


if __name__ == "__main__":
    main()
