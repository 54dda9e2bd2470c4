"""What a host keeps of a run, or goes back to -> the variables of the roles; pure."""

from pathlib import PurePosixPath
from typing import Any

from gpuprov.converge.types import Keeping, RunDocuments
from gpuprov.want.read import want_text


def kept_variables(keeping: Keeping, documents: RunDocuments, record: PurePosixPath) -> dict[str, Any]:
    """Compute the variables of one host.

    Args:
        keeping: what the host keeps, or goes back to.
        documents: of the run, which its hosts share.
        record: the folder on the host that holds what gpuprov knows there.
    """
    own = keeping.documents or documents
    texts = {"spec.yaml": own.spec, "lock.json": own.lock}
    rollback = {
        "run": keeping.run,
        "want": keeping.want.digest,
        "documents": [
            {"name": name, "text": text}
            for name, text in {**texts, "want.json": want_text(keeping.want)}.items()
            if text
        ],
        "found": want_text(keeping.found) if keeping.found is not None else "",
        "required": keeping.required,
        "restore": keeping.restore,
    }
    if keeping.documents is None:
        return {"gpuprov_packages_rollback": rollback}
    return {
        "gpuprov_packages_rollback": rollback,
        "gpuprov_record_documents": [
            {"path": str(record / name), "text": text, "mode": "0600"} for name, text in texts.items() if text
        ],
        # A host as it was found had neither.
        "gpuprov_record_delete": [str(record / name) for name, text in texts.items() if not text],
    }
