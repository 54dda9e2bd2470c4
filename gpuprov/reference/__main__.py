"""`python -m gpuprov.reference --write | --check`: write the generated pages, or say which are stale."""

import sys
from pathlib import Path
from typing import Final

from gpuprov.reference.pages import all_pages

FOLDER: Final = Path(__file__).parent / "pages"
_USAGE: Final = 2


def stale(folder: Path) -> list[str]:
    """Names of the pages in a folder that are not what would be written, and of pages that should not be there."""
    pages = all_pages()
    changed = [
        name
        for name, text in pages.items()
        if not (folder / name).is_file() or (folder / name).read_text("utf-8") != text
    ]
    extra = [path.name for path in folder.iterdir() if path.name not in pages] if folder.is_dir() else []
    return sorted([*changed, *extra])


def main(arguments: list[str], folder: Path = FOLDER) -> int:
    """Run the command; returns the exit status."""
    if arguments == ["--write"]:
        folder.mkdir(exist_ok=True)
        for name, text in all_pages().items():
            (folder / name).write_text(text, "utf-8")
        return 0
    if arguments == ["--check"]:
        names = stale(folder)
        for name in names:
            sys.stderr.write(f"stale: {name}; run `python -m gpuprov.reference --write`\n")
        return 1 if names else 0
    sys.stderr.write("usage: python -m gpuprov.reference --write | --check\n")
    return _USAGE


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
