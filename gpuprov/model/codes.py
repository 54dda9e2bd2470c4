"""The table of diagnostic codes: exit status and what the code stands for."""

from dataclasses import dataclass
from typing import Final

from gpuprov.model.status import ExitStatus as S


@dataclass(frozen=True, slots=True)
class Code:
    """One row: the exit status of an error with this code, and its meaning in the reference."""

    status: S
    title: str


CODES: Final[dict[str, Code]] = {
    # documents
    "GP-DOC-001": Code(S.USAGE, "the file cannot be read"),
    "GP-DOC-002": Code(S.USAGE, "the text is not valid YAML or JSON"),
    "GP-DOC-003": Code(S.USAGE, "a YAML construct that is not allowed in gpuprov's documents"),
    "GP-DOC-004": Code(S.USAGE, "the document has another kind than asked for"),
    "GP-DOC-005": Code(S.USAGE, "the document's apiVersion is not known to this release"),
    "GP-DOC-006": Code(S.REFUSED, "the document's digest does not fit its content"),
    "GP-DOC-007": Code(S.FAILED, "the file cannot be written"),
    "GP-DOC-008": Code(S.USAGE, "a document of gpuprov lacks a field, or holds one of another type"),
    # spec
    "GP-SPEC-001": Code(S.USAGE, "unknown key"),
    "GP-SPEC-002": Code(S.USAGE, "wrong type"),
    "GP-SPEC-003": Code(S.USAGE, "a version or identifier that is not quoted text"),
    "GP-SPEC-004": Code(S.USAGE, "a required key is missing"),
    "GP-SPEC-005": Code(S.USAGE, "a value outside what the field allows"),
    "GP-SPEC-006": Code(S.REFUSED, "a field that this release cannot converge yet"),
    "GP-SPEC-007": Code(S.REFUSED, "an operating system that this release does not support"),
    "GP-SPEC-008": Code(S.NOT_FOUND, "no such pool, source or target in the spec"),
    # catalog
    "GP-CAT-001": Code(S.USAGE, "a catalog row is broken"),
    "GP-CAT-002": Code(S.REFUSED, "the catalog has no row for what the spec asks"),
    "GP-CAT-003": Code(S.DONE, "rows of your own count before the catalog's"),
    # rules
    "GP-RULE-001": Code(S.REFUSED, "CUDA needs a newer driver"),
    "GP-RULE-002": Code(S.REFUSED, "the driver branch does not support the GPU's architecture"),
    "GP-RULE-003": Code(S.REFUSED, "the kernel module flavour does not fit the GPU or the driver branch"),
    "GP-RULE-004": Code(S.REFUSED, "the driver branch is at its end of support"),
    "GP-RULE-005": Code(S.REFUSED, "DCGM does not fit the driver"),
    "GP-RULE-006": Code(S.REFUSED, "Fabric Manager is needed and cannot be had"),
    "GP-RULE-007": Code(S.REFUSED, "packages that must have one version have several"),
    "GP-RULE-008": Code(S.REFUSED, "the instance type does not have the GPUs of its pool"),
    "GP-RULE-009": Code(S.REFUSED, "forward compatibility packages do not fit the GPU or the driver"),
    "GP-RULE-010": Code(S.REFUSED, "the container toolkit does not fit the container engine"),
    "GP-RULE-011": Code(S.REFUSED, "a framework does not fit the driver or the GPU"),
    "GP-RULE-012": Code(S.REFUSED, "the operating system, its kernel or architecture does not fit"),
    "GP-RULE-013": Code(S.REFUSED, "the CUDA toolkit does not take the system's compiler"),
    "GP-RULE-014": Code(S.REFUSED, "a package source is made for another system, or signed by another key"),
    "GP-RULE-015": Code(S.REFUSED, "the MIG layout does not fit the GPU or the driver"),
    "GP-RULE-016": Code(S.REFUSED, "the CUDA toolkit does not build for the GPU"),
    "GP-RULE-017": Code(S.REFUSED, "a host's package sources name one repository twice"),
    "GP-RULE-018": Code(S.REFUSED, "Secure Boot refuses the kernel modules"),
    "GP-RULE-019": Code(S.DONE, "containers lose their GPUs when systemd reloads its units"),
    "GP-RULE-900": Code(S.INCOMPLETE, "a rule cannot be decided: the catalog does not know"),
    "GP-RULE-901": Code(S.DONE, "an acceptance of the spec has expired, or nothing needs it"),
    # sources
    "GP-SRC-001": Code(S.FAILED, "a package source cannot be reached"),
    "GP-SRC-002": Code(S.REFUSED, "a package source's signature is bad or missing"),
    "GP-SRC-003": Code(S.REFUSED, "a package source's index has expired"),
    "GP-SRC-004": Code(S.REFUSED, "an index file does not have the size or digest that the signed index names"),
    "GP-SRC-005": Code(S.FAILED, "an index cannot be parsed"),
    "GP-SRC-006": Code(S.USAGE, "a source's key cannot be read"),
    "GP-SRC-007": Code(S.REFUSED, "a source's key is expired or revoked, or uses an algorithm that is refused"),
    "GP-SRC-008": Code(S.USAGE, "uv, which resolves Python packages, cannot be used"),
    # lock
    "GP-LOCK-001": Code(S.REFUSED, "no source offers the package"),
    "GP-LOCK-002": Code(S.REFUSED, "no version satisfies the constraint"),
    "GP-LOCK-003": Code(S.REFUSED, "the requested packages conflict"),
    "GP-LOCK-004": Code(S.REFUSED, "the lock is stale"),
    "GP-LOCK-005": Code(S.USAGE, "there is no lock yet"),
    "GP-LOCK-006": Code(S.REFUSED, "a package's name and version disagree about the driver branch"),
    "GP-LOCK-007": Code(S.REFUSED, "one driver set would come from several sources"),
    "GP-LOCK-008": Code(S.REFUSED, "no versions of the Python packages fit together"),
    # hosts and inventories
    "GP-INV-001": Code(S.USAGE, "the inventory cannot be read"),
    "GP-INV-002": Code(S.USAGE, "the inventory holds no host"),
    "GP-INV-003": Code(S.USAGE, "a connection variable that gpuprov cannot honour"),
    "GP-INV-004": Code(S.NOT_FOUND, "no such host or group in the inventory"),
    "GP-INV-005": Code(S.USAGE, "a host belongs to several pools"),
    "GP-INV-006": Code(S.USAGE, "an inventory value was changed by its format"),
    "GP-SSH-001": Code(S.FAILED, "the host cannot be reached"),
    "GP-SSH-002": Code(S.CREDENTIALS, "the host refused the key or user"),
    "GP-SSH-003": Code(S.REFUSED, "the host's key is not the known one"),
    "GP-SSH-004": Code(S.REFUSED, "the host's key is not known"),
    "GP-SSH-005": Code(S.CREDENTIALS, "sudo was refused"),
    "GP-SSH-006": Code(S.TIMED_OUT, "a command on the host passed its time limit"),
    "GP-SSH-007": Code(S.FAILED, "the connection to the host was lost"),
    # probe and parity
    "GP-PROBE-001": Code(S.INCOMPLETE, "a host could not be observed"),
    "GP-PROBE-002": Code(S.INCOMPLETE, "a collector's output has an unknown form"),
    "GP-PAR-001": Code(S.USAGE, "an operand that means two things"),
    "GP-PAR-002": Code(S.NOT_FOUND, "an operand that means nothing"),
    "GP-PAR-003": Code(S.USAGE, "operands that cannot be compared"),
    "GP-PAR-004": Code(S.INCOMPLETE, "nothing could be compared"),
    "GP-PAR-005": Code(S.DIFFERENT, "differences were found"),
    "GP-PAR-006": Code(S.USAGE, "a waiver has expired or is not used"),
    # plan, converge, rollout
    "GP-PLAN-001": Code(S.REFUSED, "the host moved since the plan was made"),
    "GP-PLAN-002": Code(S.REFUSED, "the transaction on the host would do more than the plan says"),
    "GP-PLAN-003": Code(S.REFUSED, "the host would get another file than the lock names"),
    "GP-CONV-001": Code(S.FAILED, "a task failed on the host"),
    "GP-CONV-002": Code(S.FAILED, "the package transaction failed"),
    "GP-CONV-003": Code(S.FAILED, "no space is left on the host"),
    "GP-CONV-004": Code(S.FAILED, "the package system of the host is in use or broken"),
    "GP-ROLL-001": Code(S.FAILED, "the host did not come back from its reboot"),
    "GP-ROLL-002": Code(S.FAILED, "the host came back, but the proof failed"),
    "GP-ROLL-003": Code(S.FAILED, "a verify command failed"),
    "GP-ROLL-004": Code(S.TIMED_OUT, "the host's running package transaction did not end in time"),
    # runs
    "GP-RUN-001": Code(S.REFUSED, "another run holds this site"),
    "GP-RUN-002": Code(S.USAGE, "a confirmation is needed and there is no terminal"),
    "GP-RUN-003": Code(S.INTERRUPTED, "the run was interrupted"),
    "GP-RUN-004": Code(S.USAGE, "wrong use of the command line"),
    "GP-RUN-005": Code(S.DONE, "the user declined"),
    # cloud
    "GP-CLOUD-001": Code(S.USAGE, "the Pulumi engine cannot be found"),
    "GP-CLOUD-002": Code(S.USAGE, "the engine's plugin for AWS cannot be found"),
    "GP-CLOUD-003": Code(S.CREDENTIALS, "there are no AWS credentials"),
    "GP-CLOUD-004": Code(S.CREDENTIALS, "AWS refuses the credentials: expired or not valid"),
    "GP-CLOUD-005": Code(S.REFUSED, "the credentials are for another account than the spec's"),
    "GP-CLOUD-006": Code(S.USAGE, "the region is unknown or not enabled"),
    "GP-CLOUD-007": Code(S.CREDENTIALS, "AWS denies an action"),
    "GP-CLOUD-008": Code(S.FAILED, "AWS has no capacity for the instance type"),
    "GP-CLOUD-009": Code(S.FAILED, "a quota of the account is used up"),
    "GP-CLOUD-010": Code(S.FAILED, "a resource failed"),
    "GP-CLOUD-011": Code(S.REFUSED, "another run holds the stack's state"),
    "GP-CLOUD-012": Code(S.CREDENTIALS, "the passphrase does not open the stack's state"),
    "GP-CLOUD-013": Code(S.USAGE, "the stack's state is broken"),
    "GP-CLOUD-014": Code(S.REFUSED, "an instance or volume would be replaced or deleted that was not named"),
    "GP-CLOUD-015": Code(S.REFUSED, "an interrupted operation of an earlier run cannot be settled"),
    "GP-CLOUD-016": Code(S.FAILED, "an instance did not come up"),
    "GP-CLOUD-017": Code(S.REFUSED, "an instance's SSH host key cannot be verified"),
    "GP-CLOUD-018": Code(S.NOT_FOUND, "no such machine image"),
    "GP-CLOUD-019": Code(S.USAGE, "there is no public key to log in with"),
    "GP-CLOUD-020": Code(S.DONE, "an instance runs an older image than there is"),
    "GP-CLOUD-021": Code(S.DONE, "something that holds data was left in the account"),
    "GP-CLOUD-022": Code(S.REFUSED, "the instance type is unknown, or not offered where it is asked for"),
    "GP-CLOUD-023": Code(S.DONE, "an interrupted operation of an earlier run was settled"),
    "GP-CLOUD-024": Code(S.TIMED_OUT, "AWS or the engine did not answer in time"),
    "GP-CLOUD-025": Code(S.FAILED, "AWS cannot be reached"),
    "GP-CLOUD-026": Code(S.NOT_FOUND, "there is no such cloud host, bucket or volume"),
    "GP-CLOUD-027": Code(S.REFUSED, "a stack of another name stands in the folder: the spec was renamed"),
    # lab
    "GP-LAB-001": Code(S.USAGE, "the lab needs root"),
    "GP-LAB-002": Code(S.FAILED, "the lab cannot be built"),
    "GP-LAB-003": Code(S.NOT_FOUND, "no such lab"),
    "GP-INT-001": Code(S.INTERNAL, "an internal fault"),
}
