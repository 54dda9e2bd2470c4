"""What a program reads: JSON on stdout, one document per command, with stable keys."""

import json
from collections.abc import Iterable, Mapping

from gpuprov.model.diagnostic import Diagnostic
from gpuprov.render.terminal import Terminal


def show_json(body: Mapping[str, object], terminal: Terminal) -> None:
    """Print one JSON document, indented, keys in the order given."""
    terminal.out.print(json.dumps(body, indent=2, ensure_ascii=False))


def diagnostics_body(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """Diagnostics as JSON values: code, severity, address, file, line, column, summary, detail, hint, source."""
    return [
        {
            "code": d.code,
            "severity": str(d.severity),
            "address": d.address,
            "file": d.span.file if d.span else None,
            "line": d.span.line if d.span else None,
            "column": d.span.column if d.span else None,
            "summary": d.summary,
            "detail": d.detail,
            "hint": d.hint,
            "source": d.source,
        }
        for d in dict.fromkeys(diagnostics)
    ]
