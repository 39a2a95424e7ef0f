# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Draws the curves of `bench/run --svg FILE scale`: for each kind of object, instructions to create one more where N are there, ours and
# release 65.0's. Variables: FILE, KINDS, and DIR with KIND.SIDE files of "N INSTRUCTIONS". The first object is at N = 1.
set terminal svg size 1000,440 font "sans-serif,11" background "white"
set output FILE
set multiplot layout 2,5 margins 0.06,0.99,0.09,0.93 spacing 0.045,0.13
set logscale x 10
set format x "10^{%L}"
set yrange [0:*]
set key left bottom samplen 2
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
do for [kind in KINDS] {
	set title kind
	plot DIR."/".kind.".release-65" with linespoints pt 6 ps 0.5 lc rgb "#999999" title "65.0", \
		DIR."/".kind.".ours" with linespoints pt 7 ps 0.5 lc rgb "#0060a0" title "rdmakit"
}
