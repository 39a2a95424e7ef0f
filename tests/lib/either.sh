# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# either.sh - compare the output of a program on a library of one side with a provider of the other. Sourced after
# tests/lib/softhca.sh.

# compare FILE: what of FILE neither side would have, as lines of a diff. `pairs` has a line of theirs, and what known-differences makes
# of it: nothing of a line that it deletes, and \002 between several.
compare() {
	awk -F '\001' -v of="$1" '
	function read_ours() { is_read = 1; if ((getline ours <of) <= 0) ours = "(the end)" }
	{
		if (!is_read) read_ours()
		if (ours == $1) { is_read = 0; next }
		if ($2 == "" && $1 != "") next
		count = split($2, right, "\002")
		if (!count) { count = 1; right[1] = "" }
		for (i = 1; i <= count; i++) {
			if (!is_read) read_ours()
			if (ours != right[i]) { print "- " right[i]; print "+ " ours }
			is_read = 0
		}
	}
	END {
		if (is_read) print "+ " ours
		while ((getline ours <of) > 0) print "+ " ours
	}' "$work/pairs"
}

# must_equal_either WHOSE DIRECTORY SCRIPT...: in DIRECTORY, each line of `ours` is that of `theirs`, or what the SCRIPTs of sed make of it.
# WHOSE says in the report which provider is on which side.
must_equal_either() {
	local whose=$1 work=$2 change lines
	shift 2
	sed -E 's,/d$,/s/.*//,; s,\\n,\x02,g' "$@" >"$work/script"
	sed -E -f "$work/script" "$work/theirs" >"$work/right" || fail "known-differences is no script of sed"
	lines=$(wc -l <"$work/theirs")
	[ "$lines" = "$(wc -l <"$work/right")" ] || fail "known-differences makes $(wc -l <"$work/right") lines of $lines"
	paste -d $'\001' "$work/theirs" "$work/right" >"$work/pairs"

	compare "$work/ours" >"$work/differ"
	if [ -s "$work/differ" ]; then
		head -n 60 "$work/differ"
		fail "$(grep -c '^+' "$work/differ") of $lines lines differ ($whose)"
	fi
	# Each has to be seen, or the comparison proves nothing.
	for change in '1s/$/ (changed)/' 1d 2p; do
		sed "$change" "$work/ours" >"$work/changed"
		[ -n "$(compare "$work/changed")" ] || fail "a change of the output is not seen: $change"
	done
	echo "$lines lines equal"
}
