# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# lib.sh - what the consumer tests share: one adapter that separate programs join, programs and libraries by origin
# (ours, debian), pairs of server and client, and results as run-tests reads them.
#
# A test script sources this with its own arguments: BUILD [--quick|--all] [--device mlx5|mlx4] [--prefix TEXT] [--only PATTERN].

CONSUMERS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$CONSUMERS_DIR/../../scripts/common.sh"

usage="usage: ${0##*/} BUILD [--quick|--all] [--device mlx5|mlx4] [--prefix TEXT] [--only PATTERN]"
case ${1:-} in
-h | --help)
	say "$usage"
	exit 0
	;;
'' | -*) die "$usage" ;;
esac
ARGUMENTS=("$@")
[ -d "$1" ] || die "$1 is no build; ./run-tests --only '^build-gcc' makes build-gcc"
BUILD=$(cd "$1" && pwd)
shift
export QUICK='' ALL='' # for the scripts that have a short form, or a very long one
PREFIX='' ONLY=''
DEVICE=mlx5 # the kind of adapter, and the provider that drives it
while [ $# -gt 0 ]; do
	case $1 in
	--quick) QUICK=1 ;;
	--all) ALL=1 ;;
	--device)
		DEVICE=$2
		shift
		;;
	--prefix)
		PREFIX=$2
		shift
		;;
	--only)
		ONLY=$2
		shift
		;;
	*) die "unknown option $1; $usage" ;;
	esac
	shift
done

[[ $DEVICE == mlx[45] ]] || die "no device $DEVICE; $usage"
[ "$DEVICE" = mlx5 ] || PREFIX+=$DEVICE.

WORK=$(mktemp -d /tmp/rdmakit-consumers.XXXXXX)
chmod 755 "$WORK"
# Commands are lines here, whose words are separated by spaces: places that have spaces get names without.
[[ $BUILD != *[[:space:]]* ]] || { ln -s "$BUILD" "$WORK/build" && BUILD=$WORK/build; }
[[ $CONSUMERS_DIR != *[[:space:]]* ]] || { ln -s "$CONSUMERS_DIR" "$WORK/consumers" && CONSUMERS_DIR=$WORK/consumers; }
OUR_LIBDIR=$(stage_libdir "$BUILD") || die "$BUILD has no staged libraries"
SOFTHCA=$BUILD/stage/bin/softhca
PAIR=$SOURCE_DIR/scripts/pair
ADAPTER=
ADAPTER_SOCKET=$WORK/adapter
ADAPTER_LINK=
ADAPTER_ARGS=() # as it was started, for starting it again
CASE_LIMIT=${CASE_LIMIT:-60} # seconds for one case

IS_SANITIZED=
! grep -q '^RDMAKIT_SANITIZE:[A-Z]*=.*address' "$BUILD/CMakeCache.txt" || IS_SANITIZED=1

leave() {
	adapter_stop || true
	rm -rf "$WORK"
}
trap leave EXIT

# --- results ---------------------------------------------------------------------------------------------------------

is_selected() { [ -z "$ONLY" ] || [[ $1 =~ $ONLY ]]; }
ok() { say "ok $PREFIX$1"; }
skip() { say "skip $PREFIX$1 - $2"; }

# The first and the last lines of a file.
excerpt() {
	tr -d '\000' <"$1" | awk '{ line[NR] = $0 }
		END { for (i = 1; i <= NR; i++) {
			if (i <= 8 || i > NR - 15) print "    " line[i]
			else if (i == 9) print "    [...]" } }'
}

# failed NAME REASON [FILE...]: with an excerpt of each file.
failed() {
	local name=$1 reason=$2 file
	shift 2
	for file in "$@"; do
		say "--- ${file##*/} of $name"
		[ ! -e "$file" ] || excerpt "$file"
	done
	say "FAIL $PREFIX$name - $reason"
}

# --- programs and libraries --------------------------------------------------------------------------------------------

# program ours|debian NAME: where it is.
program() {
	if [ "$1" = ours ]; then
		say "$BUILD/stage/bin/$2"
	else
		say "/usr/bin/$2"
	fi
}

# with_libs ours|debian ours|debian: the "env ..." that runs a program of the first origin on libraries of the second.
# A program that is not built with a sanitizer needs the sanitizer's runtime preloaded when the libraries are.
with_libs() {
	local env="env -u LD_LIBRARY_PATH"
	if [ "$2" = ours ]; then
		env="env LD_LIBRARY_PATH=$OUR_LIBDIR"
		if [ -n "$IS_SANITIZED" ] && [ "$1" != ours ]; then
			env+=" LD_PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)"
		fi
	fi
	# Leaks of programs that are not ours are not ours to report.
	if [ "$1" = ours ] && [ "$2" = ours ]; then
		env+=" ASAN_OPTIONS=detect_leaks=1"
	else
		env+=" ASAN_OPTIONS=detect_leaks=0"
	fi
	say "$env"
}

# command_line PROGRAM-ORIGIN LIBS-ORIGIN NAME [OPTION...]
command_line() {
	local origin=$1 libs=$2 name=$3
	shift 3
	say "$(with_libs "$origin" "$libs") $(program "$origin" "$name") $*"
}

# --- the adapter -------------------------------------------------------------------------------------------------------

# libraries_of ours|debian: the RDMA libraries that Debian's programs load, by the paths that the loader gives.
libraries_of() {
	local program
	for program in ibv_devinfo 'rping -h'; do
		LD_DEBUG=libs bash -c "exec $(on_adapter "$(with_libs debian "$1") /usr/bin/$program")" 2>&1 </dev/null || true
	done | sed -n 's,.*calling init: \(/.*/lib\(ibverbs\|rdmacm\|'"$DEVICE"'\)[.-].*\),\1,p' | sort -u | xargs -r -d '\n' readlink -f
}

# libraries_are_right ours|debian FILE: whether all three are in FILE, the provider too, and all from where they should be
libraries_are_right() {
	local library stage
	stage=$(readlink -f "$BUILD/stage")/
	for library in ibverbs rdmacm $DEVICE; do
		grep -q "/lib${library}[.-]" "$2" || return 1
	done
	case $1 in
	ours) ! grep -vF "$stage" "$2" ;;
	debian) ! grep -F "$stage" "$2" ;;
	esac
}

# show_libraries: once, on the first adapter
LIBRARIES_SHOWN=
show_libraries() {
	local libs
	[ -z "$LIBRARIES_SHOWN" ] || return 0
	LIBRARIES_SHOWN=1
	for libs in ours debian; do
		libraries_of $libs >"$WORK/libraries.$libs"
		if libraries_are_right $libs "$WORK/libraries.$libs"; then
			ok "libraries.$libs"
		else
			failed "libraries.$libs" "not all, or others, are loaded" "$WORK/libraries.$libs"
		fi
	done
}

# own_network: begins the script again in a network of its own, where an adapter of mlx4 has an interface on RoCE: its library looks
# for neighbours by the host's routes, so GIDs have to be addresses there.
NETDEV=()
own_network() {
	[ "$DEVICE" = mlx4 ] || return 0
	if [ -z "${IN_OWN_NETWORK:-}" ]; then
		unshare -n true 2>/dev/null || { skip network "no network of its own can be made here" && exit; }
		IN_OWN_NETWORK=1 unshare -n "$0" "${ARGUMENTS[@]}"
		exit
	fi
	# The address and the MAC address are those of the first adapter's GIDs. Nobody has the same IPv6 address, so nobody need be asked.
	{ echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad; } 2>/dev/null || true
	if ! { ip link set lo up && ip link add d0 address 02:02:c9:5f:00:01 type veth peer name d1 &&
		ip addr add 198.18.0.1/24 dev d0 && ip link set d0 up && ip link set d1 up; }; then
		die "no interfaces can be made here"
	fi
	await $$ "$CASE_LIMIT" has_all_addresses || die "the interface has no addresses"
	NETDEV=(--netdev d0)
}

has_all_addresses() { [ -z "$(ip -6 addr show dev d0 tentative)" ]; }

# adapter_start ib|roce [OPTION...]
adapter_start() {
	adapter_serve "$@" && show_libraries
}

adapter_serve() {
	ADAPTER_LINK=$1
	ADAPTER_ARGS=("$@")
	rm -f "$ADAPTER_SOCKET"
	[ "$1" = ib ] || set -- "$@" "${NETDEV[@]}"
	"$SOFTHCA" serve --socket "$ADAPTER_SOCKET" --device "$DEVICE" --link "$@" >"$WORK/adapter.log" 2>&1 </dev/null &
	ADAPTER=$!
	! await $ADAPTER "$CASE_LIMIT" test -S "$ADAPTER_SOCKET" || return 0
	failed "adapter.$1" "softhca serve did not come up" "$WORK/adapter.log"
	return 1
}

# The exit status is the adapter's.
adapter_stop() {
	local pid=$ADAPTER
	[ -n "$pid" ] || return 0
	ADAPTER=
	kill -TERM "$pid" 2>/dev/null || true
	await "$pid" "$CASE_LIMIT" is_gone "$pid" || kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null
}

# Stop the adapter after a group of cases: it must still be there, stop when told, and have no sanitizer's complaint.
adapter_check_and_stop() {
	local status=0 was_there=1 link=$ADAPTER_LINK
	kill -0 "$ADAPTER" 2>/dev/null || was_there=
	adapter_stop || status=$?
	if [ -z "$was_there" ]; then
		failed "adapter.$link" "softhca serve ended by itself with status $status" "$WORK/adapter.log"
	elif [ "$status" != 0 ]; then
		failed "adapter.$link" "softhca serve ended with status $status" "$WORK/adapter.log"
	elif has_complaint "$WORK/adapter.log"; then
		failed "adapter.$link" "a sanitizer complained" "$WORK/adapter.log"
	else
		ok "adapter.$link"
	fi
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

on_adapter() { say "$SOFTHCA run --socket $ADAPTER_SOCKET -- $*"; }

has_complaint() { grep -qsE 'Sanitizer|runtime error:' "$@"; }

# --- pairs -------------------------------------------------------------------------------------------------------------

# pingpong_ok / perftest_ok SERVER-LOG CLIENT-LOG: whether the output shows that the work was done.
pingpong_ok() {
	local log
	for log in "$@"; do
		grep -q ' iters in .* seconds = .* usec/iter' "$log" || return 1
	done
	! grep -q 'invalid data' "$@"
}

xsrq_ok() {
	local log
	for log in "$@"; do
		grep -qx success "$log" || return 1
	done
}

# The client's table has, behind its heading, a line of a size, iterations and results that are not zero; those may be
# anything where perftest has not found out how fast the clock goes, which it says (a busy machine).
perftest_ok() {
	awk '/Correlation coefficient/ { no_clock = 1 }
		/#bytes/ { heading = 1; next }
		heading && $1 ~ /^[0-9]+$/ && $2 > 0 && (no_clock || $NF + 0 >= 0 && $4 > 0) { found = 1 }
		END { exit !found }' "$2"
}

# Those that listen by rdma_cm, or have joined a group, are seen in the log of an adapter that was started with --verbose.
listeners() { grep -cE 'is listened at|is joined' "${1:-$WORK/adapter.log}" || true; }
more_listeners_than() { [ "$(listeners "${2:-}")" -gt "$1" ]; }

# await_listening PID COUNT [LOG]: until there have been more than COUNT in the adapter's log.
await_listening() { await "$1" "$CASE_LIMIT" more_listeners_than "$2" "${3:-}"; }

# cm_program_status PROGRAM-ORIGIN STATUS LOG: how a program of rdma_cm has ended. Debian's rping destroys its event channel while
# a thread of its own may be about to ask it for the next event: then that thread ends the program with a complaint, after all went
# well and the connection was over.
cm_program_status() {
	if [ "$1" = debian ] && [ "$2" = 255 ] && grep -q ' DISCONNECT EVENT' "$3" &&
		grep -qx 'rdma_get_cm_event: Bad file descriptor' "$3"; then
		return 0
	fi
	return "$2"
}

# pair_by_cm DIR SERVER CLIENT: as scripts/pair, for a server that listens by rdma_cm.
pair_by_cm() {
	local dir=$1 before pid status=0 server_status=0
	before=$(listeners)
	setsid timeout -k 2 "$CASE_LIMIT" bash -c "exec $2" >"$dir/server.log" 2>&1 </dev/null &
	pid=$!
	await_listening $pid "$before" || true # then the client says what is wrong
	timeout -k 2 "$CASE_LIMIT" bash -c "exec $3" >"$dir/client.log" 2>&1 </dev/null || status=$?
	[ "$status" = 0 ] || kill "$pid" 2>/dev/null || true
	wait $pid || server_status=$?
	[ "$status" = 0 ] || return "$status"
	return "$server_status"
}

# Perftest's server listens a second time, for its QPs, when it has exchanged parameters with the client by a first connection.
# A client that connects before that is rejected (a datagram's, unreachable), and perftest crashes, on any libraries.
was_too_early() { grep -qsE 'Event: RDMA_CM_EVENT_(REJECTED; error: 8|UNREACHABLE; error: 1)\b' "$1/client.log"; }

# pair_by_cm, again as long as the client was too early.
pair_by_cm_again() {
	local status tries
	for ((tries = 1; tries <= 20; tries++)); do
		status=0
		pair_by_cm "$@" || status=$?
		if [ "$status" = 0 ] || ! was_too_early "$1"; then
			break
		fi
		say "try $tries: the client was too early for the server's second listen"
	done
	return "$status"
}

# pair_case NAME CHECK SERVER CLIENT: both commands on the adapter; the client's line gets the host. Perftest's -R and -z listen
# by rdma_cm.
pair_case() {
	local name=$1 check=$2 server=$3 client=$4 dir=$WORK/$1 status=0
	mkdir -p "$dir"
	if [[ "$server " == *' -R '* || "$server " == *' -z '* ]]; then
		pair_by_cm_again "$dir" "$(on_adapter "$server")" "$(on_adapter "$client 127.0.0.1")" || status=$?
	else
		"$PAIR" -t "$CASE_LIMIT" -o "$dir" "$PORT" "$(on_adapter "$server")" "$(on_adapter "$client 127.0.0.1")" || status=$?
	fi
	if [ "$status" = 124 ]; then
		failed "$name" "timed out after $CASE_LIMIT s" "$dir/server.log" "$dir/client.log" "$WORK/adapter.log"
	elif [ "$status" != 0 ]; then
		failed "$name" "status $status" "$dir/server.log" "$dir/client.log" "$WORK/adapter.log"
	elif has_complaint "$dir/server.log" "$dir/client.log"; then
		failed "$name" "a sanitizer complained" "$dir/server.log" "$dir/client.log"
	elif ! "$check" "$dir/server.log" "$dir/client.log"; then
		failed "$name" "no result in the output" "$dir/server.log" "$dir/client.log"
	else
		ok "$name"
		rm -rf "$dir"
		return 0
	fi
	rm -rf "$dir"
	adapter_stop || true # the next case is to meet a healthy adapter
	adapter_start "${ADAPTER_ARGS[@]}"
}
