# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of Debian's later releases, each in a root of its release.

fetch        makes such a root in a cache outside the tree
enter        runs a command in one, on our libraries or on the release's own
roots.py     the roots for a run of tests, and the programs that are built in them
traffic.py   what the adapter has done, by its trace
*.c          programs for libraries that come without one
"""
