# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# guest.sh - run programs on our libibverbs with the distribution's provider below it. Sourced after tests/lib/softhca.sh.
softhca_args=()

# guest_setup STAGE SOFTHCA: `number` becomes the private number of the distribution's providers, `guestlibs` their libraries' folder.
guest_setup() {
	softhca_setup "$1" "$2"
	softhca=${SOFTHCA:-$2}
	need_ours
	need_reference
	guestlibs=${REFERENCE_ROOT:-}/usr/lib/x86_64-linux-gnu
	guests=$guestlibs/libibverbs
	number=$(grep -aoE 'IBVERBS_PRIVATE_[0-9]+' "$guestlibs/libibverbs.so.1" | head -n 1)
	number=${number##*_}
	[ -e "$guests/libmlx5-rdmav$number.so" ] || fail "no provider of private number ${number:-?} in $guests"
	start=(env "LD_LIBRARY_PATH=$libdir")
	[ -z "${REFERENCE_ROOT:-}" ] || start=("$guestlibs/ld-linux-x86-64.so.2" --library-path "$libdir:$guestlibs")
}

# with_guest NAME [timeout SECONDS] PROGRAM [ARGUMENT...]
with_guest() {
	local plugin=$guests/lib$1 limit=()
	shift
	[ "$1" != timeout ] || { limit=("$1" "$2") && shift 2; }
	"$softhca" run "${softhca_args[@]}" -- env -u LD_LIBRARY_PATH "IBV_DRIVERS=$plugin" "${limit[@]}" "${start[@]}" "$@"
}

# must_have_guest NAME PROGRAM: our library says that it serves the provider, and that the device has it.
must_have_guest() {
	local said
	said=$(VERBS_LOG=info with_guest "$1" timeout "$(patience 60)" "$2" 2>&1) || fail "$2: $said"
	grep -qxF "rdmakit info: provider $1 of the distribution is served by IBVERBS_PRIVATE_$number" <<<"$said" || fail "$2: $said"
	grep -qF "/lib$1-rdmav$number.so" <<<"$said" || fail "$2: another plugin: $said"
}
