"""What apt said of a host's transaction, as plain values of a plan's document, and back."""

from typing import Any

from gpuprov.document.shape import Fields
from gpuprov.model.change import Foreseen


def foreseen_value(foreseen: Foreseen) -> dict[str, Any]:
    """Write what apt said as plain values."""
    return {
        "others": list(foreseen.others),
        "download": foreseen.download,
        "growth": foreseen.growth,
        "untold": foreseen.untold,
    }


def read_foreseen(row: Fields) -> Foreseen:
    """Read what `foreseen_value` wrote."""
    return Foreseen(
        others=row.texts("others"),
        download=row.integer("download"),
        growth=row.integer("growth"),
        untold=row.text("untold"),
    )
