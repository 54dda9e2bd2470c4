"""What a rollout leaves on a host, so that the next one knows what this one did."""

from typing import Final

FOLDER: Final = "/var/lib/gpuprov"
PROVEN: Final = f"{FOLDER}/proven"
"""The digest of the want that the last proof succeeded for; missing after one that failed, and while work is off."""
DRAINED: Final = f"{FOLDER}/drained"
"""The word for how gpuprov took work off the host, from just before that until the host is given back."""
