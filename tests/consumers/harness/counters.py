# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Counters of an adapter's port, as programs on it read them below /sys: whether packets were lost and sent again."""
import re

from harness.checks import Failure

HW_COUNTERS = "/sys/class/infiniband/{device}_0/ports/1/hw_counters"
# What each side of a connection counts when packets are lost: the requester, then the responder.
OF_LOSS = ("local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err", "out_of_sequence", "duplicate_request")


def then_counters(line, device="mlx5"):
    """A command line that runs LINE and then prints the adapter's counters; its status is LINE's."""
    script = f'"$@"; status=$?; grep . {HW_COUNTERS.format(device=device)}/*; exit $status'
    return ["sh", "-c", script, "sh", *line]


def losses(*texts):
    """How often the counters in TEXTS have noticed a lost packet."""
    return sum(int(number) for text in texts for number in re.findall(rf"/(?:{'|'.join(OF_LOSS)}):(\d+)$", text, re.MULTILINE))


def need_losses(*texts):
    """Fails when no counter in TEXTS has noticed a lost packet: then a test of losses has lost nothing."""
    if not losses(*texts):
        raise Failure("no packet was lost")
