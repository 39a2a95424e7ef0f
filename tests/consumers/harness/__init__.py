# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The harness of the consumer tests: other people's programs on an adapter of softhca.

settings.py    the options of a run, and where the build has its programs and libraries
cases.py       a case, its name, and the decorator that gives a test its table of cases
programs.py    command lines: our program or Debian's, on our libraries or on Debian's
process.py     starts programs, waits for them with a limit, and kills what is left
adapter.py     "softhca serve", shared by the cases that need the same one
network.py     a network namespace with an interface for adapters of mlx4
ports.py       free TCP ports, and who listens on one
pairs.py       a server and its client
checks.py      judges of output: results of pingpongs and of perftest, complaints of sanitizers
libraries.py   which RDMA libraries programs load
cm.py          programs of rdma_cm: the servers and clients of a case
counters.py    what ports have counted
capture.py     what tshark makes of packets
rig.py         what the cases of a run share
items.py       the cases in their order, and those about libraries and adapters
results.py     the line that each case prints, and the count of cases without one
"""
