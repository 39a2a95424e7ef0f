# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Both sides of a pingpong under memcheck on our libraries: no invalid access, no leak."""
import shutil

import pytest

from harness import checks
from harness.adapter import Spec
from harness.cases import Case, cases
from harness.programs import words

MEMCHECK = (
    "/usr/bin/valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible"
    " --error-exitcode=99 --child-silent-after-fork=yes"
)
KINDS = {"poll": "", "events": "-e", "wr_api": "-N"}

pytestmark = pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")


def pingpongs(_settings):
    for link, gid in (("ib", ""), ("roce", "-g 0")):
        for kind, option in KINDS.items():
            yield Case(f"valgrind.{link}.{kind}", adapter=Spec(link), options=f"-n 100 -c {option} {gid}", limit=300)


@cases(pingpongs)
def test_pingpong(case, programs, pair, port):
    program = programs.path("ours", "ibv_rc_pingpong")
    line = programs.with_libs("ours", "ours") + words(MEMCHECK, [program], case.options, f"-p {port}")
    pair.check(checks.pingpong, port, line, line)
