# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Command lines of programs: ours or Debian's, on our libraries or on Debian's. A command line is a list of words."""
import functools
import shlex
import subprocess


@functools.cache
def runtime(name):
    """The path of a sanitizer's runtime library."""
    return subprocess.check_output(["gcc", f"-print-file-name={name}"], text=True).strip()


def words(*parts):
    """One list of the words in PARTS: strings are split as by a shell, lists are taken as they are."""
    line = []
    for part in parts:
        line += shlex.split(part) if isinstance(part, str) else [str(word) for word in part]
    return line


class Programs:
    def __init__(self, settings):
        self.settings = settings

    def path(self, origin, name):
        """Where the program of that origin, "ours" or "debian", is."""
        return f"{self.settings.stage}/bin/{name}" if origin == "ours" else f"/usr/bin/{name}"

    def with_libs(self, origin, libs):
        """The "env ..." that runs a program of ORIGIN on the libraries of LIBS.

        A program without a sanitizer needs the sanitizer's runtime preloaded when the libraries have one.
        """
        line = ["env", "-u", "LD_LIBRARY_PATH"]
        if libs == "ours" and self.settings.below:
            line = ["env", f"LD_LIBRARY_PATH={self.settings.below}", f"IBV_DRIVERS={self.settings.below}/lib{self.settings.device}"]
        elif libs == "ours":
            line = ["env", f"LD_LIBRARY_PATH={self.settings.libdir}"]
            if self.settings.sanitized and origin != "ours":
                line.append(f"LD_PRELOAD={runtime('libasan.so')}:{runtime('libubsan.so')}")
        # Leaks of other people's programs are not ours to report.
        leaks = int(origin == libs == "ours")
        return line + [f"ASAN_OPTIONS=detect_leaks={leaks}"]

    def line(self, origin, libs, name, *options):
        """The command line of program NAME of ORIGIN on the libraries of LIBS."""
        return self.with_libs(origin, libs) + [self.path(origin, name)] + words(*options)

    def debian(self, libs, *line):
        """The command line of any program of Debian's on the libraries of LIBS."""
        return self.with_libs("debian", libs) + words(*line)
