# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# common.sh - what the scripts of this tree share: messages, packages, builds, the staged libraries.
# Source it from a script in strict mode. SOURCE_DIR is the root of the tree; everything that is written stays below
# $BUILDS/build*, where BUILDS is SOURCE_DIR unless RDMAKIT_BUILDS in the environment names another directory.

SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "${RDMAKIT_BUILDS:-$SOURCE_DIR}" 2>/dev/null || {
	printf '%s: RDMAKIT_BUILDS names %s, where no directory can be made: name one below a directory that this user may write to\n' "${0##*/}" "$RDMAKIT_BUILDS" >&2
	exit 1
}
BUILDS=$(cd "${RDMAKIT_BUILDS:-$SOURCE_DIR}" && pwd)
# Scripts that this one's programs start in other directories mean the same place.
[ -z "${RDMAKIT_BUILDS:-}" ] || export RDMAKIT_BUILDS=$BUILDS
JOBS=$(nproc)

# What tar is to leave out of a copy of the tree, beside ./build*: the builds, where they are below the tree.
builds_in_tree() {
	case $BUILDS/ in
	"$SOURCE_DIR"/?*) printf './%s\n' "${BUILDS#"$SOURCE_DIR"/}" ;;
	*) printf './build\n' ;;
	esac
}

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

need_place_for_builds() {
	[ -w "$BUILDS" ] || die "$BUILDS cannot be written: name a directory for builds that can be, as in
    RDMAKIT_BUILDS=~/rdmakit-builds $0"
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "need root (or sudo) for: $*"
	fi
}

# Run a command with its output in LOG; on failure show the end of it.
logged() {
	local log=$1
	shift
	mkdir -p "$(dirname "$log")"
	if ! "$@" >"$log" 2>&1; then
		tail -n 40 "$log" >&2
		say "(all of it: $log)" >&2
		return 1
	fi
}

# outer_uid UID [UID_MAP]: the user of the machine that UID of this namespace of users is. The map has a line for each range.
outer_uid() {
	local inside outside count
	while read -r inside outside count; do
		if [ "$1" -ge "$inside" ] && [ "$1" -lt $((inside + count)) ]; then
			say $((outside + $1 - inside))
			return
		fi
	done < <(cat "${2:-/proc/self/uid_map}" 2>/dev/null)
	say "$1"
}

# free_port: sets PORT to a port that nobody uses, each time another; below those that a kernel gives to whoever asks for any.
# Scripts that run at the same time take turns: a port is not in use before somebody listens.
free_port() {
	local lock last
	# Root of a namespace of users has not root's files.
	last=${TMPDIR:-/tmp}/rdmakit-port.$(outer_uid "$UID")
	exec {lock}<>"$last"
	flock "$lock"
	{ read -r -u "$lock" PORT && [[ $PORT =~ ^[0-9]{5}$ ]]; } || PORT=$((10000 + RANDOM % 22000))
	while :; do
		PORT=$((PORT < 32000 ? PORT + 1 : 10000))
		grep -qs "$(printf ':%04X ' "$PORT")" /proc/net/{tcp,udp}{,6} || break
	done
	say "$PORT" >"$last"
	exec {lock}>&-
}

# await PID SECONDS COMMAND...: until the command succeeds, or the process is gone, or the time is over. Status 0: it has succeeded.
await() {
	local pid=$1 end=$((SECONDS + $2))
	shift 2
	until "$@"; do
		if ! kill -0 "$pid" 2>/dev/null; then
			"$@" && return
			return 1
		fi
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

# Looking at the kernel's table rather than connecting: a server would take the connection for its client's.
listens() { grep -qs "$(printf ':%04X 0*:0000 0A' "$1")" /proc/net/tcp /proc/net/tcp6; }

# await_listener PORT PID SECONDS: until PORT is listened on, or the process is gone, or the time is over.
await_listener() { await "$2" "$3" listens "$1"; }

# What a build needs, and what the tests need on top; one list per kind of distribution.
APT_BUILD=(gcc libc6-dev cmake make ninja-build pkg-config libnl-3-dev libnl-route-3-dev libssl-dev)
APT_TEST=(openssl build-essential git g++ clang libcmocka-dev libibverbs-dev librdmacm-dev ibverbs-providers ibverbs-utils perftest rdmacm-utils
	valgrind abigail-tools tshark pandoc mandoc man-db python3 python3-pytest python3-pyverbs python3-scapy procps util-linux iproute2 shellcheck clang-format debian-archive-keyring
	debhelper lintian debootstrap rpm rpmlint curl)
# Other people's programs, servers among them: they are unpacked, not installed, where the tests see them (tests/lib/with-programs).
APT_PROGRAMS=(iperf3 qperf fio ucx-utils libucx-dev libfabric-bin openmpi-bin libopenmpi-dev tgt libiscsi-dev redis-server nginx socat
	mpich libmpich-dev hpcc libgloo-dev dpdk-dev ceph-mon ceph-osd ceph-common dapl2-utils qemu-system-x86 memcached haproxy libpython3.11-testsuite
	infiniband-diags opensm ibacm)
# What tests on an adapter can do with: without, some are skipped.
APT_ADAPTER=(python3 libibverbs-dev librdmacm-dev ibverbs-providers librdmacm1 perftest valgrind)
RPM_ADAPTER=(python3 rdma-core-devel libibverbs librdmacm perftest valgrind valgrind-devel)
RPM_BUILD=(gcc cmake make ninja-build pkgconf-pkg-config libnl3-devel openssl-devel kernel-headers)
RPM_TEST=(openssl git iperf3 gcc-c++ clang libcmocka-devel rdma-core-devel libibverbs-utils librdmacm-utils perftest valgrind libabigail
	libasan libubsan libtsan wireshark-cli pandoc mandoc man-db python3 python3-pytest procps-ng util-linux iproute ShellCheck clang-tools-extra nginx curl socat)

can_be_root() { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }

# An ordinary user without sudo is told what to have installed.
need_root_for() {
	local command=$1
	shift
	! can_be_root || return 0
	die "packages are missing, and this user cannot install them, as there is no sudo. Ask whoever is root here to run:
    $command $*
and start ${0##*/} again."
}

# A machine may have a package for several architectures, and what is built here is for its own.
missing_deb() {
	local package own
	own=$(dpkg --print-architecture)
	for package in "$@"; do
		dpkg-query -W -f='${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null | grep -xE "(all|$own) installed" >/dev/null ||
			say "$package"
	done
}

missing_rpm() {
	local package
	for package in "$@"; do
		rpm -q --whatprovides "$package" >/dev/null 2>&1 || say "$package"
	done
}

# cost_of_apt: says how many packages an installation brings, and how many megabytes, by what apt-get --assume-no has printed.
cost_of_apt() {
	awk '
		/ newly installed, / { packages = $1 + $3 }
		/^Need to get / { sub("^Need to get ", ""); sub(" of archives.*", ""); fetched = $0 }
		/^After this operation, / { disk = $4 " " $5 }
		END { if (packages) printf "%d packages, %s to fetch, %s on disk\n", packages, fetched, disk }'
}

apt_cost() { { as_root env LC_ALL=C apt-get install --assume-no --download-only --no-install-recommends "$@" 2>/dev/null || :; } | cost_of_apt; }

# Somebody else may be installing at the same time, as a machine that has just started does: apt waits for the lock of
# packages when it is told to, but not for that of the lists.
apt_install() {
	local tries=1
	local -a known
	need_root_for 'apt-get update && apt-get install --no-install-recommends' "$@"
	step "installing: $*"
	as_root true || die "these packages have to be installed first: $*"
	until as_root apt-get -o Acquire::Retries=5 update -qq; do
		[ $((tries++)) -lt 4 ] || { say "apt-get update does not succeed: what is known so far has to do" && break; }
		sleep 10
	done
	mapfile -t known < <(known_to_apt "$@")
	apt_cost "${known[@]}"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600 install -y -qq \
		--no-install-recommends "${known[@]}" >/dev/null
}

dnf_install() {
	local -a known
	need_root_for 'dnf install' "$@"
	step "installing: $*"
	mapfile -t known < <(known_to_dnf "$@")
	[ ${#known[@]} = 0 ] || as_root dnf install -y -q --setopt=install_weak_deps=False "${known[@]}" >/dev/null
}

# The kernel's own headers carry the adapter's command layouts that tests compare with. Their package is named after the
# distribution's flavour of kernel, not after the running one.
kernel_headers_package() {
	local arch
	arch=$(dpkg --print-architecture)
	# Of a name that other packages only mention, apt-cache shows nothing, and succeeds.
	if [ -n "$(apt-cache show "linux-headers-$arch" 2>/dev/null)" ]; then
		say "linux-headers-$arch"
	else
		say linux-headers-generic
	fi
}

have_kernel_headers() { compgen -G '/usr/src/linux-headers-*/include/linux/mlx5/mlx5_ifc.h' >/dev/null; }

# Tools that come from elsewhere than the distribution's packages do as well.
have_build_tools() {
	command -v cmake >/dev/null && command -v ninja >/dev/null && command -v "${CC:-cc}" >/dev/null &&
		pkg-config --exists libnl-3.0 libnl-route-3.0 libcrypto 2>/dev/null
}

# known_to_apt PACKAGE...: those that this release has. What is only tested with is not in all.
known_to_apt() {
	local package
	for package in "$@"; do
		if [ -n "$(apt-cache show "$package" 2>/dev/null)" ]; then
			say "$package"
		else
			say "this release has no package $package: tests with it are skipped" >&2
		fi
	done
}

# known_to_dnf PACKAGE...: the same of dnf, which is asked once, as each start of it takes a second.
known_to_dnf() {
	local package found
	found=$(dnf -q repoquery --qf '%{name}\n' "$@") || say 'dnf repoquery fails' >&2
	for package in "$@"; do
		if grep -qxF -e "$package" <<<"$found"; then
			say "$package"
		else
			say "no repository that is on has a package $package: what needs it is left out (CRB and EPEL have more)" >&2
		fi
	done
}

# install_optional PACKAGE...: those of them that can be had.
install_optional() {
	local installer=apt_install
	command -v apt-get >/dev/null || installer=dnf_install
	[ $# -gt 0 ] || return 0
	if ! can_be_root; then
		say "not installed, so some tests are skipped: $*"
	elif ! ("$installer" "$@"); then
		say "could not be installed, so some tests are skipped: $*"
	fi
}

# install_for_adapter: what is missing of that, if it can be had.
install_for_adapter() {
	local -a missing=()
	if command -v apt-get >/dev/null; then
		mapfile -t missing < <(missing_deb "${APT_ADAPTER[@]}")
	elif command -v dnf >/dev/null; then
		mapfile -t missing < <(missing_rpm "${RPM_ADAPTER[@]}")
	fi
	install_optional "${missing[@]}"
}

# stage_packages apt|rpm PATTERN: packages of the stages whose names PATTERN matches, one a line.
stage_packages() {
	local stages apt rpm stage
	while IFS='|' read -r stages apt rpm; do
		for stage in $stages; do
			[[ $stage =~ $2 ]] || continue
			[ "$1" = apt ] || apt=$rpm
			# shellcheck disable=SC2086 # words
			printf '%s\n' $apt
		done
	done < <(grep -v '^#' "$SOURCE_DIR/scripts/stage-packages") | sort -u
}

# needs_all apt|rpm PATTERN: whether one of the stages needs all packages there are.
needs_all() { stage_packages "$@" | grep -x all >/dev/null; }

# needs_programs PATTERN: whether one of the stages runs other people's programs, as tests/consumers does.
needs_programs() { stage_packages apt "$1" | grep -x programs >/dev/null; }

# test_packages apt|rpm PATTERN: the same, and all when one of the stages needs all; without the programs that are unpacked.
test_packages() {
	if ! needs_all "$@"; then
		stage_packages "$@" | sed '/^$/d'
	elif [ "$1" = rpm ]; then
		printf '%s\n' "${RPM_TEST[@]}"
	elif [ "${PROGRAMS:-}" = installed ]; then
		printf '%s\n' "${APT_TEST[@]}" "${APT_PROGRAMS[@]}"
	else
		printf '%s\n' "${APT_TEST[@]}"
	fi
}

# tests_stay_off_usr: whether a read-only /usr and /etc leave the tests their directories; it says which not.
tests_stay_off_usr() {
	local dir
	for dir in "$SOURCE_DIR" "$BUILDS" "${HOME:-/}" "${TMPDIR:-/tmp}"; do
		case $(realpath -m "$dir")/ in
		/usr/* | /etc/*)
			say "tests write to $dir"
			return 1
			;;
		esac
	done
}

# choose_place_of_programs PATTERN: sets PROGRAMS to "unpacked" when tests of these stages need other people's programs, or to "installed" where
# nothing can be mounted for them; else to nothing.
choose_place_of_programs() {
	local why
	PROGRAMS=
	if ! command -v apt-get >/dev/null || ! needs_programs "$1"; then
		return
	fi
	if why=$(tests_stay_off_usr) && why=$("$SOURCE_DIR/tests/lib/with-programs" --can 2>&1); then
		PROGRAMS=unpacked
	else
		PROGRAMS=installed
		export RDMAKIT_PROGRAMS_SEEN=none # what an earlier run may have unpacked is not tried
		say "other people's programs have to be installed, as no layer can be mounted above /usr here: ${why##*$'\n'}"
	fi
}

# missing_for_tests PATTERN: what is not installed of what these stages and a build need.
missing_for_tests() {
	local -a wanted
	if command -v apt-get >/dev/null; then
		mapfile -t wanted < <(test_packages apt "$1")
		missing_deb "${APT_BUILD[@]}" "${wanted[@]}"
	elif command -v dnf >/dev/null; then
		mapfile -t wanted < <(test_packages rpm "$1")
		missing_rpm "${RPM_BUILD[@]}" "${wanted[@]}"
	fi
}

# install_packages build, install_packages test [PATTERN]: only what is missing, for tests of the stages that PATTERN matches; fast and
# silent when nothing is.
install_packages() {
	local -a wanted missing
	if command -v apt-get >/dev/null; then
		wanted=("${APT_BUILD[@]}")
		[ "$1" = build ] || mapfile -t -O ${#wanted[@]} wanted < <(test_packages apt "${2:-}")
		mapfile -t missing < <(missing_deb "${wanted[@]}")
		[ "$1" != build ] || [ ${#missing[@]} = 0 ] || ! have_build_tools || return 0
		[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
		# Their tests are compared with the kernel's own headers.
		[ "$1" = build ] || ! needs_all apt "${2:-}" || have_kernel_headers || apt_install "$(kernel_headers_package)"
	elif command -v dnf >/dev/null; then
		wanted=("${RPM_BUILD[@]}")
		[ "$1" = build ] || mapfile -t -O ${#wanted[@]} wanted < <(test_packages rpm "${2:-}")
		mapfile -t missing < <(missing_rpm "${wanted[@]}")
		[ "$1" != build ] || [ ${#missing[@]} = 0 ] || ! have_build_tools || return 0
		[ ${#missing[@]} = 0 ] || dnf_install "${missing[@]}"
	elif ! have_build_tools; then
		die "this needs apt-get or dnf; install by hand: ${APT_BUILD[*]}"
	fi
}

# CMake refuses what it configured for a checkout or a build directory at another place.
forget_moved_tree() {
	local cache=$1/CMakeCache.txt
	[ -f "$cache" ] || return 0
	if ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$SOURCE_DIR" "$cache" || ! grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=$1" "$cache"; then
		rm -rf "$cache" "$1/CMakeFiles"
	fi
}

configure_tree() {
	local dir=$1
	shift
	forget_moved_tree "$dir"
	logged "$dir/log/configure" cmake -S "$SOURCE_DIR" -B "$dir" -G Ninja \
		-DCMAKE_INSTALL_PREFIX="$dir/stage" -DCMAKE_INSTALL_SYSCONFDIR="$dir/stage/etc" "$@"
}

# build_tree DIR [CMAKE OPTION...]: configure, build and stage below DIR/stage; --preset NAME takes the options of CMakePresets.json.
# Repeating it costs a second. With another
# compiler than last time, CMake begins again and forgets the other options, the prefix among them; so it is told twice.
build_tree() {
	local dir=$1
	configure_tree "$@" || return
	grep -qxF "CMAKE_INSTALL_PREFIX:PATH=$dir/stage" "$dir/CMakeCache.txt" || configure_tree "$@" || return
	logged "$dir/log/build" cmake --build "$dir" -j "$JOBS" || return
	logged "$dir/log/install" cmake --install "$dir" --prefix "$dir/stage"
}

# Where a build in DIR staged its shared libraries.
stage_libdir() {
	local file
	file=$(find "$1/stage" -name 'libibverbs.so.1' 2>/dev/null | head -n 1)
	[ -n "$file" ] || return 1
	dirname "$file"
}
