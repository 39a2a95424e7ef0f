# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# host.sh - run programs on the distribution's libibverbs, with our provider below it or with theirs. Sourced after
# tests/lib/softhca.sh.
softhca_args=() provider=mlx5

# host_setup BRIDGES SOFTHCA: `number` becomes the private number of the distribution's library, `bridge` our directory for it.
host_setup() {
	softhca=${SOFTHCA:-$2}
	[ -x "$softhca" ] || fail "no softhca at $softhca"
	hostlibs=${REFERENCE_ROOT:-}/usr/lib/x86_64-linux-gnu
	need_reference
	number=$(grep -aoE 'IBVERBS_PRIVATE_[0-9]+' "$hostlibs/libibverbs.so.1" | head -n 1)
	number=${number##*_}
	bridge=$(readlink -f "$1")/$number
	[ -e "$bridge/libmlx5.so.1" ] || fail "no provider for private number ${number:-?} in $1"
	# The runtime of a provider that is built with a sanitizer: it has to come first in programs that are not.
	runtime=$(ldd "$bridge/libmlx5.so.1" | sed -n 's/^.*lib[au][a-z]*san[^ ]* => \([^ ]*\) .*/\1/p' | paste -sd :)
}

# host_device mlx5|mlx4: the adapter, and the provider that is meant.
host_device() {
	provider=$1
	softhca_args=(--device "$provider")
	[ -e "$bridge/lib$provider.so.1" ] || fail "no lib$provider.so.1 in $bridge"
}

# on_host ours|theirs [timeout SECONDS] PROGRAM [ARGUMENT...]: the distribution loads its own plugins as well, after the one that
# IBV_DRIVERS names; of two that want a device the first has it. With REFERENCE_ROOT the release's loader starts the program.
on_host() {
	local libs=$hostlibs:$hostlibs/libibverbs plugin=$hostlibs/libibverbs/lib$provider limit=() start=() side=$1
	[ "$1" = theirs ] || { libs=$bridge:$libs && plugin=$bridge/lib$provider; }
	shift
	[ "$1" != timeout ] || { limit=("$1" "$2") && shift 2; }
	if [ -n "${REFERENCE_ROOT:-}" ]; then
		start=("$hostlibs/ld-linux-x86-64.so.2" --library-path "$libs")
	else
		start=(env "LD_LIBRARY_PATH=$libs")
	fi
	[ "$side" = theirs ] || [ -z "$runtime" ] || start=(env "LD_PRELOAD=$runtime" "${start[@]}")
	# Leaks of the distribution's provider are not ours to report.
	[ "$side" = ours ] || start=(env "ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:max_malloc_fill_size=0" "${start[@]}")
	"$softhca" run "${softhca_args[@]}" -- env -u LD_LIBRARY_PATH "IBV_DRIVERS=$plugin" "${limit[@]}" "${start[@]}" "$@"
}

# must_serve ours|theirs PROGRAM: only our provider says that it has a device of the distribution's library.
must_serve() {
	local said whose=theirs
	said=$(ASAN_OPTIONS=detect_leaks=0 VERBS_LOG=info on_host "$1" timeout "$(patience 60)" "$2" 2>&1) || fail "$2 with the provider that is $1: $said"
	! grep -q "provider $provider in libibverbs of the distribution" <<<"$said" || whose=ours
	[ "$whose" = "$1" ] || fail "$2 does not run with the provider that is meant, $1: $said"
}
