"""NVIDIA's repository is one for each OS, architecture and key: another OS's packages or key do not fit."""

import re
from collections.abc import Iterator
from typing import Final

from gpuprov.catalog.find import repository, system
from gpuprov.catalog.load import cite, rows
from gpuprov.catalog.rows import RepositoryRow
from gpuprov.rules.answer import Answer, Said, Verdict, unknown
from gpuprov.rules.facts import PoolFacts

_RULE: Final = "GP-RULE-014"
_PATH: Final = re.compile(r"/repos/([a-z0-9]+)/(x86_64|sbsa|arm64|aarch64)(/|$)")
_ARCHITECTURES: Final = {"amd64": ("x86_64",), "arm64": ("sbsa", "arm64", "aarch64")}


def repository_fits(facts: PoolFacts) -> Iterator[Answer]:
    """Refused when the driver's repository is another OS's or architecture's, or is signed by another's key."""
    found = _PATH.search(facts.source_url)
    row = system(facts.os, facts.catalog) if facts.os else None
    if found is None or row is None:
        return
    if found[1] != row.repository:
        wanted = repository(facts.os, catalog=facts.catalog)
        yield _answer(
            facts,
            f"the driver's repository is for {found[1]}, and the hosts are {facts.os}",
            Said(what=f"{facts.os} takes {row.repository}", source=cite(row, "repository", facts.catalog)),
            f"use the path {row.repository}"
            + (f" with the key {wanted.fingerprint}" if wanted is not None and wanted.fingerprint else ""),
        )
    elif facts.arch and found[2] not in _ARCHITECTURES[facts.arch]:
        yield _answer(
            facts,
            f"the driver's repository is for {found[2]}, and the hosts are {facts.arch}",
            Said(
                what=f"{facts.arch} takes {_ARCHITECTURES[facts.arch][0]}",
                source=cite(row, "repository", facts.catalog),
            ),
            f"use the path {row.repository}/{_ARCHITECTURES[facts.arch][0]}",
        )
    else:
        yield from _key(facts)


def _key(facts: PoolFacts) -> Iterator[Answer]:
    """A mirror may sign by itself; the vendor's own address has the vendor's key of that path."""
    own = [r for r in rows(RepositoryRow, facts.catalog) if r.url is not None and facts.source_url.startswith(r.url)]
    for row in own if facts.source_keys else ():
        if row.fingerprint is None:
            what = f"the key of the repository {row.id}"
            yield unknown(_RULE, facts.addresses.source, what, table="repositories")
        elif row.fingerprint not in facts.source_keys:
            yield _answer(
                facts,
                f"the repository {row.id} is signed by another key than the spec names",
                Said(what=f"its key is {row.fingerprint}", source=cite(row, "fingerprint", facts.catalog)),
                f"get the key {row.key_file} from beside the repository; keys differ from one OS to the next",
            )


def _answer(facts: PoolFacts, summary: str, said: Said, way: str) -> Answer:
    return Answer(
        rule=_RULE,
        verdict=Verdict.REFUSED,
        address=facts.addresses.source,
        summary=summary,
        facts=(said, Said(what=facts.source_url, at=facts.addresses.source)),
        consequence="Its packages are built against another system, or would not be trusted.",
        satisfies=way,
    )
