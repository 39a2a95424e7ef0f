# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the shell completes for the staged programs, asked as a shell asks, with the files that are installed."""
import os

from harness.cases import Case, cases, named
from harness.checks import Failure
from harness.programs import words

# Prints the suggestions for the last of its arguments, which is being typed.
SUGGEST = r"""
set -eu
. "$COMPLETIONS/$1"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
how=$(complete -p "$1")
how=${how##*-F }
"${how%% *}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"""
# A machine without adapters has an empty directory, or none; nothing there is a command of the shell's.
ENTRIES = r"""
. "$COMPLETIONS/ibv_devinfo"
mkdir empty full
touch full/one full/other full/'`touch done`'
echo "empty: $(_rdmakit_entries "$PWD/empty" '')"
echo "absent: $(_rdmakit_entries "$PWD/none" '')"
echo "full: $(_rdmakit_entries "$PWD/full" o | tr '\n' ' ')"
(cd full && _rdmakit_entries "$PWD" '' >/dev/null)
echo "run: $([ ! -e full/done ] || echo done)"
"""
# NAME: what is typed, with a space at its end for a new word; what is offered, and behind "!" what is not
OFFERS = {
    "softhca": ("softhca ", "run serve pci fault hosts --help --version"),
    "softhca_r": ("softhca r", "run !serve"),
    "softhca_run_--l": ("softhca run --l", "--link !--list"),
    "softhca_run_-": ("softhca run -", "--socket --devices --fault --netdev --strict --help"),
    "softhca_run_--o": ("softhca run --o", "!--once"),
    "softhca_pci_-": ("softhca pci -", "--once --trace !--netdev"),
    "softhca_fault_-": ("softhca fault --", "--socket --help !--link !--fault"),
    "softhca_run_--link": ("softhca run --link ", "ib ib-grh roce"),
    "softhca_serve_--netdev": ("softhca serve --netdev l", "lo"),
    "softhca_fault_--socket": ("softhca fault --socket /x link-d", "link-down@"),
    "softhca_run_--fault": ("softhca run --fault ", "kill link-down@ cmd:"),
    "softhca_hosts": ("softhca hosts -", "--network !--link"),
    "softhca_hosts_--network": ("softhca hosts --network b", "bin"),
    "ibv_devinfo": ("ibv_devinfo -", "--ib-dev --verbose -d -v"),
    "ibv_doctor": ("ibv_doctor --q", "--quiet"),
    "verbs-explain": ("verbs-explain VERBS-MR-0", "VERBS-MR-001 VERBS-MR-006 !VERBS-QP-001"),
    "ibv_rc_pingpong": ("ibv_rc_pingpong --new", "--new_send !--new"),
    # A shell takes the sign for a word.
    "softhca_run_--device": ("softhca run --device ", "mlx4 mlx5"),
    "softhca_run_--link=r": ("softhca run --link = r", "roce !ib"),
    "softhca_run_--link=": ("softhca run --link =", "ib roce"),
    "rping": ("rping -", "-s -c -a -C"),
    "ucmatose": ("ucmatose -", "-s -b -c"),
    # Behind the two dashes stands any command.
    "command": ("softhca run --link roce -- ibv_devi", "ibv_devinfo ibv_devices !--link"),
    "softhca_run_--trace": ("softhca run --trace b", "bin"),
}
WITHOUT_OPTIONS = ("ibv_devices", "softhca")


def environment(settings):
    completions = settings.stage / "share/bash-completion/completions"
    path = f"{settings.stage}/bin:{os.environ['PATH']}"
    return dict(os.environ, COMPLETIONS=str(completions), PATH=path, LD_LIBRARY_PATH=str(settings.libdir))


def suggestions(launcher, settings, line):
    """What is offered for the last word of a list; it has to be something for the file of each program to be there."""
    process, status = launcher.run(["bash", "-c", SUGGEST, "suggest", *line], "bash", env=environment(settings), cwd=settings.stage)
    if status:
        raise Failure(f"{line[0]} has no completion: status {status}")
    return process.text().splitlines()


@named("programs.completion")
def test_every_program(case, settings, launcher):
    """Each staged program has its file, which offers options."""
    programs = sorted(file.name for file in (settings.stage / "bin").iterdir())
    assert len(programs) > 20, f"{len(programs)} programs are staged"
    for name in programs:
        offered = [word for word in suggestions(launcher, settings, [name, "-"]) if word.startswith("-")]
        if not offered and name not in WITHOUT_OPTIONS:
            raise Failure(f"{name}: no option is offered")


@cases([Case(f"programs.completion.{name}", typed=typed, offers=offers.split()) for name, (typed, offers) in OFFERS.items()])
def test_offers(case, settings, launcher):
    offered = suggestions(launcher, settings, case.typed.split() + ([""] if case.typed.endswith(" ") else []))
    for word in case.offers:
        if word.startswith("!") == (word.lstrip("!") in offered):
            raise Failure(f"{case.typed}: {'offers' if word.startswith('!') else 'does not offer'} {word.lstrip('!')}")


@named("programs.completion.entries")
def test_entries(case, settings, launcher, work):
    process, status = launcher.run(["bash", "-c", ENTRIES], "bash", env=environment(settings), cwd=work)
    assert status == 0 and process.text() == "empty: \nabsent: \nfull: one other \nrun: \n", "other entries of a directory are offered"


@named("programs.completion.adapter")
def test_adapter(case, settings, launcher):
    """Where there is an adapter, its name is offered."""
    line = words([settings.softhca], "run --", ["bash", "-c", SUGGEST, "suggest"], "ibv_devinfo -d ''")
    process, status = launcher.run(line, "bash", env=environment(settings))
    assert status == 0 and process.text().split() == ["mlx5_0"], "ibv_devinfo -d does not offer mlx5_0"
