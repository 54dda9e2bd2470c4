"""Where each final value of a spec came from."""

from pathlib import Path

from gpuprov.app.own_rows import folder_reader
from gpuprov.document.text import SPEC_LIMIT
from gpuprov.spec.decode import read_written
from gpuprov.spec.origin import Origin, origins
from gpuprov.spec.own_rows import catalog_of
from gpuprov.store.files import read_text


def spec_origins(path: Path) -> tuple[Origin, ...]:
    """Every final value of a spec with its origin; none when the spec is not sound: `validate` says why.

    Raises:
        GpuprovError: GP-DOC-001 when the file cannot be read.
    """
    text = read_text(path, limit=SPEC_LIMIT)
    catalog, _ = catalog_of(text, str(path), folder_reader(path))
    written, spans, problems = read_written(text, str(path), catalog)
    return () if written is None or problems else origins(written, spans)
