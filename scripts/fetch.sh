# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# fetch.sh - programs and libraries of Debian's releases, by apt from Debian's archive, into a cache outside the tree. Sourced
# by scripts that call open_cache first.
#
# Nothing is installed on the host and no root is needed: apt works on an empty package database of its own, and packages
# are unpacked, not configured. A part that is there already, of the same list of packages, is kept.

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
MIRROR=http://deb.debian.org/debian

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# open_cache DIR: sets CACHE, and keeps it for this process
open_cache() {
	command -v apt-get >/dev/null || die "this needs apt-get"
	[ -f "$KEYRING" ] || die "$KEYRING is missing: install debian-archive-keyring"
	mkdir -p "$1"
	CACHE=$(cd "$1" && pwd)
	exec 9>"$CACHE/lock"
	flock 9
}

# Whose packages apt fetches; they are only unpacked, so that it need not be the host's architecture.
APT_ARCHITECTURE=amd64

# make_apt DIR SUITE... - an apt of its own in DIR; sets APT
make_apt() {
	local dir=$1 suite
	shift
	rm -rf "$dir"
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial,etc/preferences.d,etc/apt.conf.d,etc/trusted.gpg.d}
	: >"$dir/status"
	for suite in "$@"; do
		echo "deb [signed-by=$KEYRING] $MIRROR $suite main"
	done >"$dir/etc/sources.list"
	APT=(-qq -o "Dir::State=$dir/state" -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache"
		-o "Dir::Etc=$dir/etc" -o Dir::Etc::SourceList=sources.list -o Dir::Etc::SourceParts=-
		-o Debug::NoLocking=1 -o APT::Install-Recommends=0 -o "APT::Architecture=$APT_ARCHITECTURE"
		-o "APT::Architectures::=$APT_ARCHITECTURE" -o APT::Sandbox::User= -o Acquire::Retries=5)
	apt-get "${APT[@]}" update
}

# is_there PART STAMP, publish PART STAMP: a part appears whole or not at all, and says what it was made from.
is_there() { [ "$(cat "$CACHE/$1/.made-from" 2>/dev/null)" = "$2" ]; }
publish() {
	echo "$2" >"$CACHE/$1.part/.made-from"
	rm -rf "${CACHE:?}/$1" "$CACHE/$1.apt"
	mv "$CACHE/$1.part" "$CACHE/$1"
}

# fetch_programs PART SUITES PACKAGE...: the packages and what they depend on. The last suite is preferred.
fetch_programs() {
	local part=$1 suites=$2 deb
	shift 2
	! is_there "$part" "$suites: $*" || return 0
	# shellcheck disable=SC2086 # a list of suites
	make_apt "$CACHE/$part.apt" $suites
	apt-get "${APT[@]}" -y --download-only -t "${suites##* }" install "$@" >/dev/null
	rm -rf "$CACHE/$part.part"
	mkdir "$CACHE/$part.part"
	for deb in "$CACHE/$part.apt"/cache/archives/*.deb; do
		dpkg-deb -x "$deb" "$CACHE/$part.part"
	done
	publish "$part" "$suites: $*"
}
