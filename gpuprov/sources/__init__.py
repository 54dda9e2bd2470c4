"""Package sources: fetched, verified and cached, so that lock can ask for packages.

Owns: apt repositories of both layouts, their signatures, the index cache, the OS archive as this machine has it.
Takes: source definitions with their keys, a cache folder, the time.
Gives: an Index (lock's protocol) over verified indexes only.
Must not: trust a byte that no given key signed; print a credential; decide a version.
"""

from gpuprov.sources.definition import SourceDefinition
from gpuprov.sources.index import SourceIndex, open_index

__all__ = ["SourceDefinition", "SourceIndex", "open_index"]
