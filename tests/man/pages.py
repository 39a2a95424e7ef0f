# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""pages.py: the manual pages as the checks of this folder see them, and the names that must have one."""
import os
import re
import subprocess

FRAMES = {"verbs": "VERBS", "mlx5dv": "VERBS", "mlx4dv": "VERBS", "rdmacm": "RDMA CONNECTIONS", "rsockets": "RSOCKETS"}
FRAME_PAGE = "rdmakit_examples"
PUBLIC_HEADERS = ("libibverbs/verbs.h", "librdmacm/rdma_cma.h", "librdmacm/rdma_verbs.h", "librdmacm/rsocket.h",
                  "librdmacm/ib.h", "providers/mlx5/mlx5dv.h")
ENVIRONMENT_PAGE = "rdmakit_environment"
DIAGNOSTICS_PAGE = "rdmakit_diagnostics"
LIBRARIES = ("libibverbs", "librdmacm", "providers", "bridge", "foreign", "util", "compat")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Page:
    """One page: NAME.SECTION.md in a folder of man/."""

    def __init__(self, path):
        self.path = path
        self.folder = os.path.basename(os.path.dirname(path))
        self.name, self.section = re.fullmatch(r"(.*)\.(\d)\.md", os.path.basename(path)).groups()
        self.text = text_of(path)
        parts = re.split(r"^# (.*)$", outside_listings(self.text), flags=re.M)
        self.headings = parts[1::2]
        self.parts = {}
        for heading in self.headings:
            self.parts[heading] = section_of(self.text, heading)
        self.names = re.split(r",\s*", self.parts.get("NAME", "").split(" - ")[0].strip())

    def prose(self):
        return outside_listings(self.text)

    def listings(self, heading):
        return re.findall(r"^```(.*?)\n(.*?)^```", self.parts.get(heading, ""), flags=re.M | re.S)


def outside_listings(text):
    """TEXT with its listings left blank, so that lines keep their numbers."""
    return re.sub(r"^```.*?^```", lambda m: "\n" * m.group().count("\n"), text, flags=re.M | re.S)


def section_of(text, heading):
    """What stands under a heading: a line of a listing that begins with # is no heading."""
    bare = outside_listings(text).split("\n")
    lines = text.split("\n")
    first = bare.index("# " + heading) + 1
    last = next((k for k in range(first, len(bare)) if bare[k].startswith("# ")), len(bare))
    return "\n".join(lines[first:last]).strip() + "\n"


def pages_of(root):
    man = os.path.join(root, "man")
    pages = []
    for folder in sorted(os.listdir(man)):
        if os.path.isdir(os.path.join(man, folder)):
            for name in sorted(os.listdir(os.path.join(man, folder))):
                if name.endswith(".md"):
                    pages.append(Page(os.path.join(man, folder, name)))
    return pages


def lines_of(path):
    return [line for line in text_of(path).split("\n") if line and not line.startswith("#")]


def exported_names(root):
    """Symbols of the libraries, by the names that programs write: some are reached through a macro or an inline call."""
    names = set()
    for line in lines_of(os.path.join(root, "tests/abi/exports.tsv")):
        library, symbol = line.split("\t")[:2]
        if "preload" not in library:
            names.add(symbol.split("@")[0].lstrip("_"))
    return names


def inline_names(root):
    names = set()
    for header in PUBLIC_HEADERS:
        text = text_of(os.path.join(root, header))
        found = re.findall(r"^static inline[^;{(]*?[\s*](\w+)\(", text, flags=re.M)
        names.update(name for name in found if re.match(r"(ibv|rdma|mlx5dv|ib_addr)_", name))
    return names


def inline_aliases(root):
    """Calls that a macro of the header sends to an inline function with more underscores in front."""
    text = "".join(text_of(os.path.join(root, header)) for header in PUBLIC_HEADERS)
    return [(name, other) for name, other in re.findall(r"^#define (\w+)(?:\([^)]*\))? (_+\w+)\b", text, flags=re.M)
            if other.lstrip("_") == name]


def absent_names(root):
    """Calls that are there only to fail: those of the lists, and builders that no queue pair is given."""
    names = set()
    for path in source_files(root, ("compat", "providers/mlx5/dv")):
        names.update(re.findall(r"ABSENT_\w+\((?:\w+, )?_*(\w+)\)|dv_unsupported\(\"(\w+)\"\)", text_of(path)))
    builders = re.findall(r"^static inline void (mlx5dv_wr_(?:set_)?m\w+)\(", text_of(os.path.join(root, PUBLIC_HEADERS[-1])), flags=re.M)
    return {one or other for one, other in names} | set(builders) | {"mlx5dv_get_export_sizes"}


def struct_names(root):
    names = set()
    for header in PUBLIC_HEADERS:
        found = re.findall(r"^struct (\w+) \{", text_of(os.path.join(root, header)), flags=re.M)
        names.update(name for name in found if re.match(r"(ibv|rdma|mlx5dv)_", name))
    return names


def source_files(root, folders=LIBRARIES):
    for folder in folders:
        for where, _, files in os.walk(os.path.join(root, folder)):
            for name in sorted(files):
                if name.endswith((".c", ".h")) and "/examples" not in where:
                    yield os.path.join(where, name)


def environment_names(root):
    """Variables that the libraries and softhca ask for."""
    names = set()
    for path in source_files(root, LIBRARIES + ("softhca",)):
        text = text_of(path)
        names.update(re.findall(r"(?:getenv|env_[a-z_]+)\(\s*\"(\w+)\"", text))
    return names


def functions_of(text):
    """Pairs of the name and the body of functions, in the layout that .clang-format holds (braces in the first column), and of macros."""
    lines = text.split("\n")
    for first, line in enumerate(lines):
        if line != "{":
            continue
        head = first
        while head and lines[head - 1] and not re.match(r"[}#]|.*\*/$", lines[head - 1]):
            head -= 1
        name = re.search(r"(\w+)\(", re.sub(r"__attribute__\(\(.*?\)\)", "", " ".join(lines[head:first])))
        last = next((k for k in range(first, len(lines)) if lines[k].startswith("}")), len(lines))
        if name:
            yield name.group(1), "\n".join(lines[first + 1:last])
    for macro in re.finditer(r"^#define (\w+)\(((?:[^\n]*\\\n)*[^\n]*)", text, flags=re.M):
        yield macro.group(1), macro.group(2)


def programs_of(stage):
    return sorted(os.listdir(os.path.join(stage, "bin")))


def stage_libdir(stage):
    for where, _, files in os.walk(stage):
        if "libibverbs.so.1" in files:
            return where
    return ""


def output_of(command, **more):
    """What a command prints, on both of its channels; its status does not matter."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", timeout=20, check=False, **more)
    return done.stdout
