# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# softhca.sh - run a program on softhca, with our libraries or with the distribution's. Sourced by the test and bench
# scripts, which call softhca_setup STAGE SOFTHCA first; RDMAKIT_STAGE and SOFTHCA in the environment take precedence.
# What a script needs of the build or of the distribution's packages, and does not find, is a failure: only what this machine
# cannot do is a reason to skip.

# Scripts read whole logs, and outputs that have warnings only where they ask for them: softhca run would turn warnings on.
export VERBS_LOG_LIMIT=0 VERBS_LOG_DEFAULT=error

skip() {
	echo "SKIP: $*"
	exit 77
}

fail() {
	echo "FAIL: $*"
	exit 1
}

# patience SECONDS: how long a program may take, unless TEST_TIMEOUT says it for all
patience() { echo "${TEST_TIMEOUT:-$1}"; }

# must_end FILE WHAT: fail unless the output of a test program ends with its count of topics, all of which have run.
must_end() {
	tail -n 1 "$1" | grep -qE '^end: ([1-9][0-9]*) of \1 topics, ' || fail "$2: the output does not end as that of a program whose topics have run: $(tail -n 1 "$1")"
}

# must_be_sound FILE: fail if a sanitizer has put a report into the log of an adapter.
must_be_sound() {
	! grep -qE 'Sanitizer|runtime error' "$1" || fail "a sanitizer reports: $(grep -m 1 -A 25 -E 'Sanitizer|runtime error' "$1")"
}

# Where the staged libraries are: the libdir of the install differs between distributions.
stage_libdir() {
	local dir
	for dir in "$1"/lib "$1"/lib/*/ "$1"/lib64; do
		if [ -e "$dir/libibverbs.so.1" ]; then
			echo "${dir%/}"
			return
		fi
	done
}

softhca_setup() {
	stage=${RDMAKIT_STAGE:-$1}
	softhca=${SOFTHCA:-$2}
	libdir=$(stage_libdir "$stage")
	[ -x "$softhca" ] || fail "no softhca at $softhca"
}

need_ours() {
	[ -n "$libdir" ] || fail "no libibverbs.so.1 installed in $stage (cmake --install)"
}

# The reference is what is installed, or with REFERENCE_ROOT the release unpacked there, whose C library's loader then
# starts programs. Its library would load the host's provider where that has the same suffix, so it is told which.
loader=()
need_reference() {
	local libs=${REFERENCE_ROOT:-}/usr/lib/x86_64-linux-gnu
	if [ -n "${REFERENCE_ROOT:-}" ]; then
		loader=(env "IBV_DRIVERS=$libs/libibverbs/libmlx5" "$libs/ld-linux-x86-64.so.2" --library-path "$libs:$libs/libibverbs")
		return
	fi
	grep -q 'libmlx5\.so\.1' <<<"$(env -u LD_LIBRARY_PATH PATH="$PATH:/sbin" ldconfig -p)" ||
		fail "the distribution's ibverbs-providers is not installed"
}

need_reference_of_mlx4() {
	grep -q 'libmlx4\.so\.1' <<<"$(env -u LD_LIBRARY_PATH PATH="$PATH:/sbin" ldconfig -p)" ||
		fail "the distribution's libmlx4 is not installed"
}

# A comparison of a library with itself proves nothing: fail unless PROGRAM's libibverbs, and what that loads for the adapter, come
# from where they should.
loaded_from() {
	ldd "$1" | sed -n 's/^[[:space:]]*libibverbs\.so\.1 => \(.*\) (0x[0-9a-f]*)$/\1/p'
}

# The provider, by the path that the loader gives
our_provider() {
	LD_DEBUG=libs ASAN_OPTIONS=detect_leaks=0 on_ours timeout "$(patience 60)" "$stage/bin/ibv_devices" 2>&1 |
		sed -n 's,.*calling init: \(/.*/libmlx5[.-].*\),\1,p' | head -n 1
}

# A stage may consist of links to another's files, as that of the mutants does: what counts is the folder.
check_ours() {
	local path
	path=$(LD_LIBRARY_PATH=$libdir loaded_from "$1")
	[ "$(readlink -f "$path")" = "$(readlink -f "$libdir/libibverbs.so.1")" ] || fail "$1 would load $path, not ours"
	path=$(our_provider)
	[[ $(readlink -f "$(dirname "$path")")/ == "$(readlink -f "$stage")"/* ]] ||
		fail "our libibverbs has loaded ${path:-no provider}, not ours"
}

# is_of_system PATH: the loader finds PATH without being told where. A program may name the build's own folder itself.
is_of_system() { grep -qF " => $1" <<<"$(env -u LD_LIBRARY_PATH PATH="$PATH:/sbin" ldconfig -p)"; }

check_reference() {
	local path
	[ ${#loader[@]} = 0 ] || return 0
	path=$(unset LD_LIBRARY_PATH; loaded_from "$1")
	if [ -z "$path" ] || [ "$(readlink -f "$path")" = "$(readlink -f "$libdir/libibverbs.so.1")" ] || ! is_of_system "$path"; then
		fail "$1 would not load the distribution's libibverbs, but ${path:-none}"
	fi
}

# run_whole LIMIT PROGRAM ARGUMENT...: PROGRAM on our libraries, which must come to its end and check something in each topic. Shows its
# output, and ends the script with its status.
run_whole() {
	local limit=$1 status=0
	shift
	output=$(mktemp)
	trap 'rm -f "$output"' EXIT
	on_ours timeout "$(patience "$limit")" "$@" >"$output" || status=$?
	cat "$output"
	must_check_all "$status" "$output" "$1"
	exit $status
}

# must_check_all STATUS FILE PROGRAM
must_check_all() {
	case $1 in
	0) must_end "$2" "$3" ;;
	77)
		must_end <(grep -v '^SKIP: ' "$2") "$3"
		[[ $(tail -n 1 "$2") == 'SKIP: '* ]] || fail "$3: skipped without a reason"
		;;
	*) fail "$3: status $1" ;;
	esac
	! grep -q '^end: .*; without a check:' "$2" || fail "$3: a topic checks nothing"
}

# await_adapter PID SOCKET: until a "softhca serve" is ready, which shows its socket then
await_adapter() {
	local i
	for ((i = 0; i < 3000; i++)); do
		[ ! -S "$2" ] || return 0
		kill -0 "$1" 2>/dev/null || break
		sleep 0.02
	done
	fail "softhca serve did not come up"
}

# on_ours PROGRAM ARGS..., on_reference PROGRAM ARGS...: on a private adapter with these options.
# LD_LIBRARY_PATH is set for the program only: softhca itself needs none of ours.
softhca_args=()

on_ours() {
	"$softhca" run "${softhca_args[@]}" -- env LD_LIBRARY_PATH="$libdir" "$@"
}

on_reference() {
	"$softhca" run "${softhca_args[@]}" -- env -u LD_LIBRARY_PATH "$@"
}
