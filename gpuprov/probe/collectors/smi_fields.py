"""The fields that nvidia-smi is asked for, and what each value means: a number, a word, none, or an error."""

import re
from collections.abc import Mapping
from typing import Final

from gpuprov.model.fact import Absent, Known, Observation, Unknown

Row = Mapping[str, str]
"""Field -> what nvidia-smi wrote, for one GPU."""

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "gpu.memory": ("memory.total",),
    "gpu.persistence": ("persistence_mode",),
    "gpu.power_limit": ("power.limit",),
    "gpu.power_default": ("power.default_limit",),
    "gpu.clock_max": ("clocks.max.sm",),
    "gpu.memory_clock_max": ("clocks.max.memory",),
    "gpu.clock_set": ("clocks.applications.graphics",),
    "gpu.compute_mode": ("compute_mode",),
    "gpu.vbios": ("vbios_version",),
    "gpu.ecc": ("ecc.mode.current",),
    "gpu.ecc_pending": ("ecc.mode.pending",),
    "gpu.recovery": ("gpu_recovery_action",),
    "gpu.remapped_rows": (
        "remapped_rows.correctable",
        "remapped_rows.uncorrectable",
        "remapped_rows.pending",
        "remapped_rows.failure",
    ),
    "gpu.fabric": ("fabric.state", "fabric.status"),
    "gpu.mig_pending": ("mig.mode.pending",),
    "gpu.mig": ("mig.mode.current",),
}
"""Address -> the fields it is made of (`nvidia-smi --help-query-gpu` of 590.48.01, index id 56328009547).

MIG's mode is the last: the collector's command looks at the last column.
"""

VERSION: Final = re.compile(r"\d+(?:\.\d+)+")
_NONE = re.compile(
    r"\[?(?:N/A|Not Supported|Not Available|Requested functionality has been deprecated)\]?", re.IGNORECASE
)
"""What nvidia-smi writes where a GPU does not have the thing: the spelling differs by its age (A26)."""
_ERROR = re.compile(
    r"\[?(?:Unknown Error|Unknown|ERR!|GPU is lost|GPU requires reset|Insufficient Permissions|No Permission"
    r"|Reset Required|Not Ready|Timeout)\]?",
    re.IGNORECASE,
)
_UNITS = {
    "gpu.memory": "MiB",
    "gpu.power_limit": "W",
    "gpu.power_default": "W",
    "gpu.clock_max": "MHz",
    "gpu.memory_clock_max": "MHz",
    "gpu.clock_set": "MHz",
}
_WORDS = {
    "gpu.persistence": {"enabled", "disabled"},
    "gpu.compute_mode": {"default", "exclusive_process", "exclusive_thread", "prohibited"},
    "gpu.ecc": {"enabled", "disabled"},
    "gpu.ecc_pending": {"enabled", "disabled"},
    "gpu.recovery": {"none", "reset", "gpu reset", "reboot", "node reboot", "drain p2p", "drain and reset"},
    "gpu.mig": {"enabled", "disabled"},
    "gpu.mig_pending": {"enabled", "disabled"},
}
_TOLD = ("not started", "in progress", "completed")
"""States of the fabric (nvmlGpuFabricState_t)."""


def read_field(address: str, row: Row) -> Observation:
    """Read one address of one GPU; `name` is one too."""
    fields = FIELDS.get(address, (address,))
    missing = [field for field in fields if field not in row]
    if missing:
        return Unknown(f"nvidia-smi of this driver has no field {missing[0]}")
    values = [row[field] for field in fields]
    error = next((value for value in values if _ERROR.fullmatch(value)), "")
    if error:
        return Unknown(error)
    if all(_NONE.fullmatch(value) for value in values):
        return _none(address)
    if address == "gpu.remapped_rows":
        return _rows(values)
    if address == "gpu.fabric":
        return _fabric(values)
    return _one(address, values[0])


def _none(address: str) -> Observation:
    if address == "gpu.memory":
        # A GPU always has memory to work with; without a size of its own it shares the system's (A27).
        return Unknown("no memory size of its own: unified with the system's memory, or not told")
    return Absent()


def _one(address: str, value: str) -> Observation:
    if address in _UNITS:
        number = re.fullmatch(rf"(\d{{1,9}})(?:\.(\d+))?(?: {_UNITS[address]})?", value)
        if number is None:
            return _strange(value)
        return Known(int(number[1]) + (1 if (number[2] or "0")[0] >= "5" else 0))
    if address in _WORDS:
        return Known(value.lower()) if value.lower() in _WORDS[address] else _strange(value)
    return Known(value) if value else _strange(value)


def _rows(values: list[str]) -> Observation:
    correctable, uncorrectable, pending, failure = values
    numbers = correctable.isdecimal() and uncorrectable.isdecimal()
    flags = {pending.lower(), failure.lower()} <= {"yes", "no", "0", "1"}
    if not numbers or not flags or len(correctable) + len(uncorrectable) > 18:  # noqa: PLR2004 - no such counts
        return _strange(", ".join(values))
    return Known(
        {
            "correctable": int(correctable),
            "uncorrectable": int(uncorrectable),
            "pending": pending.lower() in {"yes", "1"},
            "failed": failure.lower() in {"yes", "1"},
        }
    )


def _fabric(values: list[str]) -> Observation:
    """The state, with the status where it is no success.

    Some drivers repeat the field's name before its value (GB200: index id 67415484891).
    """
    state = re.sub(r"^state\s+", "", values[0], flags=re.IGNORECASE).lower()
    status = re.sub(r"^status\s+", "", values[1], flags=re.IGNORECASE)
    if state not in _TOLD:
        return _strange(values[0])
    bad = state == "completed" and status.lower() != "success"
    return Known(f"{state}: {status}" if bad else state)


def _strange(value: str) -> Unknown:
    return Unknown(f"unknown form: {value or 'empty'}")
