# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# roots.sh - directories with a whole Debian in them, to build packages in and to install them into. Sourced after
# scripts/fetch.sh; needs root, as debootstrap does.
#
# What debootstrap has made is kept in the cache and copied for each use. A root has the distribution's RDMA packages installed,
# as files in /packages/debian too: a return to them needs no network.

# What a release calls its RDMA packages.
rdmacm_package() {
	case $1 in
	bookworm) echo librdmacm1 ;;
	*) echo librdmacm1t64 ;;
	esac
}
rdma_packages() {
	echo "libibverbs1 ibverbs-providers libibverbs-dev ibverbs-utils $(rdmacm_package "$1") librdmacm-dev rdmacm-utils rdma-core"
}

suite_of() {
	case $1 in
	debian-12) echo bookworm ;;
	debian-13) echo trixie ;;
	debian-sid) echo sid ;;
	esac
}

# in_root ROOT COMMAND...: with /proc, and nothing of the host's but the network. Its processes end with it. Enters the root by pivot_root, since
#                         Linux makes no namespace of users below a chroot.
# alone_in_root: without the network, too, so that no other program has the ports of this one's.
in_root() {
	local root=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount --pid --fork --kill-child bash -c '
		mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount -t tmpfs tmpfs run &&
		pivot_root . . && umount -l . && cd / &&
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TMPDIR=/tmp \
			DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}

alone_in_root() {
	# shellcheck disable=SC2016
	unshare --net bash -c 'ip link set lo up && . "$0/roots.sh" && in_root "$@"' "${BASH_SOURCE[0]%/*}" "$@"
}

# Whether DIR may hold a root: device files are made there, and opened.
holds_devices() {
	rm -f "$1/null"
	mknod "$1/null" c 1 3 2>/dev/null && { : >"$1/null"; } 2>/dev/null && rm -f "$1/null"
}

# No daemon is started in a root, and apt asks nobody.
settle_root() {
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
	chmod +x "$1/usr/sbin/policy-rc.d"
	echo "deb $MIRROR $2 main" >"$1/etc/apt/sources.list"
	# A mirror of sid may be behind by more than the days that its list is valid for.
	echo 'Acquire::Check-Valid-Until "false";' >"$1/etc/apt/apt.conf.d/90packages-test"
	cp /etc/resolv.conf "$1/etc/resolv.conf"
	mkdir -p "$1/packages"
}

# bootstrap_root PART SUITE: what debootstrap makes, as PART.part in the cache. A suite that it does not know yet is made as sid is.
bootstrap_root() {
	local part=$1 suite=$2 root=$CACHE/$1.part
	rm -rf "$root"
	unshare --mount debootstrap --variant=minbase "$suite" "$root" "$MIRROR" >"$CACHE/$part.log" 2>&1 ||
		die "debootstrap $suite: see $CACHE/$part.log"
	settle_root "$root" "$suite"
}

# fetch_root PART SUITE PACKAGE...: a root with the packages, into the cache.
fetch_root() {
	local part=$1 suite=$2 root=$CACHE/$1.part
	shift 2
	! is_there "$part" "$suite: $*" || return 0
	bootstrap_root "$part" "$suite"
	# shellcheck disable=SC2046 # words
	in_root "$root" bash -ec 'apt-get -qq update
		apt-get -qq -y --no-install-recommends install "$@"' - $(rdma_packages "$suite") "$@" >>"$CACHE/$part.log" 2>&1 ||
		die "apt-get install $*: see $CACHE/$part.log"
	mkdir -p "$root/packages/debian"
	# shellcheck disable=SC2046,SC2016
	in_root "$root" bash -ec 'cd /packages/debian && apt-get -qq -o APT::Sandbox::User= download "$@" && apt-get clean' - \
		$(rdma_packages "$suite") >>"$CACHE/$part.log" 2>&1 || die "apt-get download: see $CACHE/$part.log"
	(cd "$root/packages/debian" && dpkg-scanpackages . >Packages 2>/dev/null)
	publish "$part" "$suite: $*"
}
