# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""machine.py - a copy of the tree, its build, and the tests that look at it: what run and generate put their mutants into.

Where file systems can be mounted, there is no copy: layer() puts memory over the tree and its build, in which all changes vanish with
the program. Elsewhere the copy and its build stay in build-tests/mutants, so that a second run is quicker.
build-tests/mutants/log/NAME has what the tests said of a mutant.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from lists import Fault

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORK = os.path.join(os.environ.get("RDMAKIT_BUILDS") or ROOT, "build-tests/mutants")
LOG = os.path.join(WORK, "log")
LAYERED = os.environ.get("RDMAKIT_LAYERED_BUILD") if os.path.ismount(ROOT) else None  # set by layer()
TREE, BUILD = (ROOT, LAYERED) if LAYERED else (os.path.join(WORK, "tree"), os.path.join(WORK, "build"))
STAGE = os.path.join(BUILD, "stage")
SOFTHCA = os.path.join(BUILD, "softhca/softhca")
COMPONENTS = "util;libibverbs;librdmacm;providers/common;providers/mlx4;providers/mlx5;compat;tests"
SHARED = ["ibverbs", "mlx4", "mlx5", "rdmacm", "rspreload"]
STATIC = ["ibverbs_static", "mlx4_static", "mlx5_static", "rdmacm_static"]
REFUSED = "-Werror=int-conversion -Werror=incompatible-pointer-types"  # a mutant of these would be none of C
SKIPPED = 77
BREAKS = re.compile(r"scripts\.")  # tests that break a script on purpose: no mutant is theirs to see
ADD_TEST = re.compile(r"^add_test\((?:\[=*\[)?([^\s\]]+)(?:\]=*\])?((?: \"[^\"]*\")+)\)", re.MULTILINE)
WORD = re.compile(r'"([^"]*)"')
LEAST_FREE = 2 << 30  # bytes that a disk must keep
# Of what a compiler says about mutants, that which is no error for a language's rules; builds of the tree refuse all warnings.
ALLOWED = ("pragmas", "parentheses", "unused", "unused-function", "unused-variable", "unused-but-set-variable", "unused-parameter", "unused-value",
           "unused-label", "unused-const-variable", "uninitialized", "maybe-uninitialized", "empty-body", "type-limits", "bool-compare",
           "bool-operation", "int-in-bool-context", "sign-compare", "logical-not-parentheses", "tautological-compare", "misleading-indentation",
           "implicit-fallthrough", "array-bounds", "stringop-overflow", "stringop-overread", "stringop-truncation", "format-truncation",
           "format-overflow", "address", "nonnull", "use-after-free", "free-nonheap-object", "shift-count-overflow", "restrict",
           "memset-transposed-args", "sizeof-pointer-memaccess", "enum-conversion", "infinite-recursion")
LENIENT = "".join(f'#pragma GCC diagnostic ignored "-W{warning}"\n' for warning in ALLOWED) + "#line 1\n"  # before a changed text


# Arguments: a directory for the layer, that of the logs, the directories to cover, --, a command.
COVER = r"""
set -e
room=$1 log=$2
shift 2
mount -t tmpfs none "$room"
mkdir "$room/log"
mount --bind "$log" "$room/log"
while [ "$1" != -- ]; do
	mkdir "$room/upper$#" "$room/work$#"
	mount -t overlay none -o "lowerdir=$1,upperdir=$room/upper$#,workdir=$room/work$#" "$1"
	shift
done
shift
mount --bind "$room/log" "$log"
exec "$@"
"""


def say(line):
    print(line, flush=True)


def tail_of(text, lines=15):
    return "\n".join(text.split("\n")[-lines:])


def write_tree(name, text):
    with open(os.path.join(TREE, name), "w", encoding="utf-8") as file:
        file.write(text)


def copy_tree():
    """Makes TREE what git knows here, new files included. A file that is the same keeps its time, and so what was built of it."""
    ask = ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(ask, text=True).splitlines()
    names = {name for name in names if os.path.isfile(os.path.join(ROOT, name))}
    for directory, _, files in os.walk(TREE):
        for file in files:
            path = os.path.join(directory, file)
            if os.path.relpath(path, TREE) not in names:
                os.unlink(path)
    for name in names:
        source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
        if os.path.isfile(copy) and read_bytes(source) == read_bytes(copy):
            continue
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(source, copy)


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def logged(name, *command):
    """Runs COMMAND with its output in a log; None when it went well, else the end of what it said."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    with open(os.path.join(LOG, name), "w", encoding="utf-8") as log:
        log.write(done.stdout)
    return None if done.returncode == 0 else tail_of(done.stdout)


def build(name, targets):
    return logged(name, "cmake", "--build", BUILD, "--target", *targets)


def link_stage():
    """The staged libraries become links to those of the build: what is linked anew is what programs load. bridge/ has libraries of
    the same names, for the distribution's libibverbs."""
    built = {}
    for directory, below, files in os.walk(BUILD):
        below[:] = [name for name in below if os.path.join(directory, name) not in (STAGE, os.path.join(BUILD, "bridge"))]
        for file in files:
            if re.match(r"lib.*\.(so[.\d]*|a)$", file) and not os.path.islink(os.path.join(directory, file)):
                if file in built:
                    raise Fault(f"{file} is in {directory} and in {os.path.dirname(built[file])}: which one is staged?")
                built[file] = os.path.join(directory, file)
    for directory, _, files in os.walk(STAGE):
        for file in files:
            path = os.path.join(directory, file)
            if file in built and not os.path.islink(path):
                os.unlink(path)
                os.symlink(built[file], path)


def is_of_softhca(mutant):
    return mutant.file.startswith("softhca/")


def layer(build_dir):
    """Starts this program again where tree and build can be changed and nobody sees it. Returns if that cannot be had here."""
    build_dir, room = os.path.abspath(build_dir), tempfile.mkdtemp(prefix="mutants.")
    os.makedirs(LOG, exist_ok=True)
    covered = [ROOT] if os.path.realpath(build_dir).startswith(os.path.realpath(ROOT) + "/") else [ROOT, build_dir]
    cover = ["unshare", "--mount", "--propagation", "private", "sh", "-c", COVER, "cover", room, LOG, *covered, "--"]
    if subprocess.run([*cover, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
        done = subprocess.run([*cover, sys.executable, *sys.argv], env={**os.environ, "RDMAKIT_LAYERED_BUILD": build_dir}, check=False)
        os.rmdir(room)
        sys.exit(done.returncode)
    os.rmdir(room)


def must(trouble):
    if trouble:
        raise Fault(f"the unchanged tree cannot be built:\n{trouble}")


def configure(with_softhca):
    """Makes the copy, and a build in which nothing is built yet; below a layer both are there."""
    if LAYERED:
        return
    components = ("softhca;" if with_softhca else "") + COMPONENTS
    os.makedirs(LOG, exist_ok=True)
    if is_disk_full():
        raise Fault(f"less than {LEAST_FREE >> 30} GiB are free below {WORK} or {tempfile.gettempdir()}")
    copy_tree()
    must(logged("configure", "cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_C_COMPILER=gcc", f"-DCMAKE_C_FLAGS={REFUSED}",
                f"-DCMAKE_INSTALL_PREFIX={STAGE}", f"-DCMAKE_INSTALL_SYSCONFDIR={STAGE}/etc",
                "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", f"-DRDMAKIT_COMPONENTS={components}"))


def build_stage():
    """Builds everything and installs it in STAGE."""
    must(build("build", ["all"]))
    if LAYERED and os.path.isdir(STAGE):
        link_stage()
        return
    shutil.rmtree(STAGE, ignore_errors=True)
    must(logged("install", "cmake", "--install", BUILD, "--prefix", STAGE))
    link_stage()


def prepare(with_softhca):
    configure(with_softhca)
    build_stage()


def is_of_test(entry, leader, mark):
    """Whether a process, an entry of /proc, is of the session of LEADER or has MARK in its environment, and is no zombie."""
    try:
        with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return fields[0] != "Z" and (int(fields[3]) == leader or mark in read_bytes(f"/proc/{entry}/environ").split(b"\0"))
    except (OSError, IndexError, ValueError):
        return False


def kill_test(leader, mark):
    """Ends whatever is left of a test. An adapter that hangs has a session of its own, and keeps the test's output open."""
    for _ in range(50):
        members = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_of_test(entry, leader, mark)]
        if not members:
            return
        for pid in members:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)


def limit_child():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def is_disk_full():
    """A limit on the size of files would refuse the sparse ones that tests make, so look at the disks."""
    return any(shutil.disk_usage(path).free < LEAST_FREE for path in (WORK, tempfile.gettempdir()))


def wait_for(child, seconds):
    """The status of CHILD; None when it runs for longer than SECONDS or fills a disk."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not is_disk_full():
        try:
            return child.wait(1)
        except subprocess.TimeoutExpired:
            pass
    return child.poll()


class Test:
    """One program run, with a status as ctest understands it."""

    def __init__(self, name, command, environment, directory, timeout=900):
        self.name, self.command, self.environment, self.directory, self.timeout = name, command, environment, directory, timeout
        self.seconds, self.is_skipped, self.is_sound, self.is_unsound = None, False, False, False

    def is_unit(self):
        """It has what it tests in itself."""
        return self.command[0].startswith(os.path.join(BUILD, "tests/unit/"))

    def limit(self):
        """Seconds after which it does not end: many times what it took, and more on a busy machine; most units take milliseconds."""
        if self.seconds is None:
            return self.timeout
        return ((3 if self.is_unit() else 20) + 8 * self.seconds) * max(1, os.getloadavg()[0] / (os.cpu_count() or 1))

    def run(self):
        """(status, what it printed, seconds); a status of None means that it did not end."""
        began = time.monotonic()
        mark = f"RDMAKIT_MUTANT_TEST={os.getpid()}.{began}"
        child = subprocess.Popen(self.command, cwd=self.directory, env={**os.environ, **self.environment, **dict([mark.split("=")])},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 start_new_session=True, preexec_fn=limit_child)
        printed = bytearray()

        def drain():
            for data in iter(lambda: child.stdout.read1(65536), b""):
                printed.extend(data)
                del printed[:-65536]

        reader = threading.Thread(target=drain)
        reader.start()
        status = wait_for(child, self.limit())
        kill_test(child.pid, mark.encode())
        child.wait()
        reader.join()
        child.stdout.close()
        if status is None and is_disk_full():
            raise Fault(f"less than {LEAST_FREE >> 30} GiB are free below {WORK} or {tempfile.gettempdir()}: what did not end says nothing")
        return status, printed.decode(errors="replace"), time.monotonic() - began


def commands_below(path):
    """The command of each test that ctest knows there. ctest itself does not say that of a program which is not built yet."""
    commands = {}
    for directory, _, files in os.walk(path):
        if "CTestTestfile.cmake" in files:
            with open(os.path.join(directory, "CTestTestfile.cmake"), encoding="utf-8") as file:
                for name, words in ADD_TEST.findall(file.read()):
                    commands[name] = WORD.findall(words)
    return commands


class Tests:
    """The tests that lists may name. A topic of the programs that compare two libraries is one as well."""

    def __init__(self, softhca):
        self.environment = {"RDMAKIT_STAGE": STAGE, "SOFTHCA": softhca}
        self.known = {}
        self.ctests = {}

    def ctests_in(self, directory):
        if directory not in self.ctests:
            path = os.path.join(BUILD, "tests", directory)
            listed = json.loads(subprocess.check_output(["ctest", "--test-dir", path, "--show-only=json-v1"]))
            commands = commands_below(path)
            self.ctests[directory] = [self.from_ctest(test, commands[test["name"]]) for test in listed["tests"] if not BREAKS.match(test["name"])]
        return self.ctests[directory]

    def from_ctest(self, test, command):
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        return Test(test["name"], command, {**self.environment, **environment}, properties.get("WORKING_DIRECTORY"),
                    properties.get("TIMEOUT", 900))

    def topics(self, see):
        program, link, *topics = see.split()
        directory = "verbs" if program.startswith("verbs-") else "cm"
        command = [os.path.join(TREE, "tests/lib/run-diff"), os.path.join(BUILD, "tests", directory, program), STAGE,
                   self.environment["SOFTHCA"], "--link", link, *topics]
        return [Test(see, command, self.environment, None)]

    def named(self, see):
        """The tests that a line of a list means."""
        if see not in self.known:
            if " " in see:
                self.known[see] = self.topics(see)
            else:
                directory, pattern = see.split(":", 1)
                self.known[see] = [test for test in self.ctests_in(directory) if re.search(pattern, test.name)]
            if not self.known[see]:
                raise Fault(f"no test is called {see}")
        return self.known[see]


def targets_of(tests, mutant):
    """What must be linked anew before TESTS see a change: their programs, which have the objects of libraries or adapter in them,
    the adapter, or the libraries that they load."""
    if all(test.is_unit() for test in tests):
        return [os.path.relpath(test.command[0], BUILD) for test in tests]
    if is_of_softhca(mutant):
        return [os.path.relpath(SOFTHCA, BUILD)]
    return SHARED + (STATIC if any("static" in test.name for test in tests) else [])


def baseline(some, mutant=None):
    """Runs those of SOME tests that have not run yet on the unchanged tree: each must pass, and takes so long. What they look at is
    built before if MUTANT has been in it."""
    new = [test for test in some if test.seconds is None]
    if new and mutant:
        must(build("unchanged", targets_of(new, mutant)))
    for test in new:
        status, printed, test.seconds = test.run()
        test.is_skipped = status == SKIPPED
        if test.is_skipped:
            say(f"{test.name} cannot run here: {tail_of(printed.strip(), 1)}")
        elif status != 0:
            raise Fault(f"{test.name} fails on the unchanged tree:\n{tail_of(printed)}")
