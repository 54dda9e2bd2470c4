"""The house's laws over one source file: each takes a `Source` and gives a sentence for every breach."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

ROOMS = {
    "app",
    "catalog",
    "cli",
    "cloud",
    "compare",
    "converge",
    "cost",
    "document",
    "lab",
    "lock",
    "migrate",
    "model",
    "parity",
    "plan",
    "probe",
    "provision",
    "reference",
    "render",
    "rollout",
    "rules",
    "sources",
    "spec",
    "store",
    "transport",
    "want",
}
"""The rooms of the house, as AGENTS.md lists them."""

PURE = {"model", "document", "catalog", "spec", "rules", "lock", "want", "compare", "plan", "parity", "cost", "migrate"}
"""The rooms in which nothing opens a file, a socket, a process or a clock."""

PURE_FOLDERS = ("gpuprov/cloud/decide/",)
"""Parts of other rooms that are as pure: what to make in the cloud is decided before anything is asked of it."""

ASKING_LIBRARIES = ("pulumi", "pulumi_aws", "boto3", "botocore")
"""What such a part must not import either, although its room may."""

LIBRARY_ROOMS: dict[str, set[str]] = {
    "ansible_runner": {"converge"},
    "boto3": {"cloud", "lab"},
    "botocore": {"cloud", "lab"},
    "click": {"cli"},
    "moto": {"lab"},
    "msgpack": {"sources"},
    "paramiko": {"transport"},
    "pulumi": {"cloud", "lab", "stacks"},
    "pulumi_aws": {"lab", "stacks"},
    "pysat": {"lock"},
    "pysequoia": {"sources", "lab"},
    "rich": {"render"},
    "yaml": {"document", "lab"},
    # Ansible is GPL-3: it runs as a program. Only a module that Ansible itself loads may import its BSD part.
    "ansible": {"playbooks"},
}
"""Which room may import which library."""

OUTSIDE_MODULES = {
    "asyncio",
    "fcntl",
    "ftplib",
    "glob",
    "http",
    "mmap",
    "multiprocessing",
    "os",
    "pty",
    "requests",
    "select",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "urllib.request",
}
"""Modules that reach a file, a socket, a process, a clock or the environment."""

OUTSIDE_FUNCTIONS = {"open", "input"}
OUTSIDE_METHODS = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "is_file", "is_dir", "iterdir", "rglob", "mkdir"),
    *("unlink", "expanduser", "cwd", "now", "today", "utcnow"),
}
"""Calls that do the same without an import that would show it (`Path.read_text`, `datetime.now`)."""

PATH_METHODS = {"exists", "resolve", "rename", "stat", "touch", "glob"}
"""Methods of `pathlib.Path` whose names mean other things elsewhere: they count where a module imports it."""

FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "core"}
ANSIBLES_OWN = "playbooks/plugins/module_utils"
"""A folder whose name Ansible gives."""

MODULE_LINES = 500
FUNCTION_LINES = 50
DOCSTRING_LINES = ("Owns:", "Takes:", "Gives:", "Must not:")
SIMULATION_WORDS = re.compile(r"(?<![a-z])(simulated|is_lab|in_lab|gpuprov_lab|moto)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A tracked file: its path from the checkout's root, with slashes, and its text."""

    path: str
    text: str

    @property
    def room(self) -> str:
        """The room it stands in: a package of gpuprov, or the top folder."""
        parts = self.path.split("/")
        return parts[1].removesuffix(".py") if parts[0] == "gpuprov" and len(parts) > 1 else parts[0]

    @property
    def is_python(self) -> bool:
        """Whether it is a Python module."""
        return self.path.endswith(".py")

    @property
    def is_product(self) -> bool:
        """Whether it runs at a user's: no test, not the lab, not the lab's own command (`cli/commands/lab.py`)."""
        stem = self.path.rpartition("/")[2].partition(".")[0]
        of_lab = self.room == "lab" or stem == "lab" or stem.startswith("lab_")
        return self.path.startswith(("gpuprov/", "playbooks/", "stacks/", "inventory/")) and not of_lab

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text, self.path)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All that is in the tree: the laws walk over it several times, and the walk is what they cost."""
        return tuple(ast.walk(self.tree))


Law = Callable[[Source], Iterator[str]]


def imported(source: Source) -> Iterator[tuple[str, int]]:
    """Give every absolute import of a module, wherever it stands, with its line; `from a import b` gives a and a.b."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def library_has_its_room(source: Source) -> Iterator[str]:
    """A big library is imported in its room only."""
    if not source.is_python or source.path.startswith(("tests/", ".ci/")):
        return
    for name, line in imported(source):
        rooms = LIBRARY_ROOMS.get(name.split(".")[0])
        if rooms is not None and source.room not in rooms:
            yield f"{source.path}:{line}: {name} is imported only in {', '.join(sorted(rooms))}"


def pure_room_reaches_nothing(source: Source) -> Iterator[str]:
    """From `migrate` down nothing opens a file (packaged rows excepted), a socket, a process or a clock."""
    apart = source.path.startswith(PURE_FOLDERS)
    if not source.is_python or not source.path.startswith("gpuprov/") or not (source.room in PURE or apart):
        return
    asked = ASKING_LIBRARIES if apart else ()
    reached = {(n, line) for n, line in imported(source) if _outside_module(n) or n.split(".")[0] in asked}
    yield from (f"{source.path}:{line}: {name} has no place in a pure room" for name, line in sorted(reached))
    reads_packaged = source.room == "catalog" and "Path(__file__).with_name('data')" in ast.unparse(source.tree)
    paths = any(name in {"pathlib", "pathlib.Path"} for name, _ in imported(source))
    methods = OUTSIDE_METHODS | (PATH_METHODS if paths else set())
    defined = {node.name for node in source.nodes if isinstance(node, ast.FunctionDef)}
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in methods - defined:
                packaged = reads_packaged and name in {"read_text", "read_bytes", "iterdir", "open"}
            case ast.Call(func=ast.Name(id=name)) if name in OUTSIDE_FUNCTIONS - defined:
                packaged = False
            case _:
                continue
        if not packaged:
            yield f"{source.path}:{node.lineno}: the call {name}() has no place in a pure room"


def _outside_module(name: str) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in OUTSIDE_MODULES)


def stack_stands_alone(source: Source) -> Iterator[str]:
    """The Pulumi project imports nothing of gpuprov: it runs without it, on a document alone."""
    if source.is_python and source.room == "stacks":
        for name, line in imported(source):
            if name.split(".")[0] == "gpuprov":
                yield f"{source.path}:{line}: {name}: a stack takes its document and nothing of gpuprov"


def name_says_what_it_holds(source: Source) -> Iterator[str]:
    """No module is called utils, helpers, common, misc, manager or core."""
    if source.is_python:
        for part in source.path.removeprefix(ANSIBLES_OWN).removesuffix(".py").split("/"):
            if FORBIDDEN_NAMES & set(part.split("_")):
                yield f"{source.path}: `{part}` says nothing of what it holds"


def module_is_short(source: Source) -> Iterator[str]:
    """No module has more than 500 lines."""
    lines = source.text.count("\n")
    if source.is_python and lines > MODULE_LINES:
        yield f"{source.path}: {lines} lines (at most {MODULE_LINES}): is there a room missing?"


def function_is_short(source: Source) -> Iterator[str]:
    """No function has more than 50 lines, its docstring not counted."""
    if not source.is_python or source.path.startswith("tests/"):
        return
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = ast.get_docstring(node) is not None
            docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if documented else 0
            lines = (node.end_lineno or node.lineno) - node.lineno + 1 - docstring
            if lines > FUNCTION_LINES:
                yield f"{source.path}:{node.lineno}: {node.name} has {lines} lines (at most {FUNCTION_LINES})"


def product_never_knows(source: Source) -> Iterator[str]:
    """Nothing outside the lab and the tests asks whether a host is simulated.

    Prose may use the word: apt's transaction is simulated first.
    """
    if not source.is_product or source.path.endswith(".md"):
        return
    for number, text in _python_words(source) if source.is_python else _lines(source):
        found = SIMULATION_WORDS.search(text)
        if found:
            yield f"{source.path}:{number}: `{found[0]}`: the product never knows whether a host is real"


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Give the lines of a file that is no Python, without comments."""
    for number, line in enumerate(source.text.splitlines(), start=1):
        yield number, re.sub(r"(^|\s)#.*", "", line)


def _python_words(source: Source) -> Iterator[tuple[int, str]]:
    """Give the names and the texts of a module with their lines, without comments and docstrings."""
    alone = (node.value for node in source.nodes if isinstance(node, ast.Expr))
    prose = {id(value) for value in alone if isinstance(value, ast.Constant)}
    for node in source.nodes:
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose:
                # In a sentence the word alone is apt's; as a part of a path or a name it is a question.
                yield node.lineno, re.sub(r"(?<![\w/.-])simulated(?![\w/.=-])", "", text) if " " in text else text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                yield node.lineno, name


def room_says_its_duty(source: Source) -> Iterator[str]:
    """Each room's docstring has the four lines: owns, takes, gives, must not."""
    parts = source.path.split("/")
    if not (source.path.endswith("/__init__.py") and parts[0] == "gpuprov" and len(parts) == 3):
        return
    if source.room not in ROOMS:
        yield f"{source.path}: {source.room} is no room of the house (see AGENTS.md)"
    docstring = ast.get_docstring(source.tree) or ""
    lines = [line.strip() for line in docstring.splitlines()]
    for start in DOCSTRING_LINES:
        if not any(line.startswith(start) and len(line) > len(start) for line in lines):
            yield f"{source.path}: the docstring has no line `{start} ...`"


LAWS: tuple[Law, ...] = (
    library_has_its_room,
    pure_room_reaches_nothing,
    stack_stands_alone,
    name_says_what_it_holds,
    module_is_short,
    function_is_short,
    product_never_knows,
    room_says_its_duty,
)


def names_machine(source: Source, hosts: set[str], folders: set[str]) -> Iterator[str]:
    """No file names a registry or a mirror that this machine is set up with, nor a path of this machine."""
    laws = (
        (hosts, "(?![\\w-])", "names a package host of this machine: read it there at run time"),
        (folders, "/", "names a folder of this machine"),
    )
    for names, end, complaint in laws:
        if names:
            pattern = rf"(?<![\w.-])(?:{'|'.join(re.escape(name) for name in sorted(names))}){end}"
            for found in re.finditer(pattern, source.text, re.IGNORECASE):
                yield f"{source.path}:{source.text.count(chr(10), 0, found.start()) + 1}: {complaint}"
