/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * link.c - the link of a port goes down and comes up: nothing passes meanwhile, and software is
 * told by an event. QPs stay as they are and run into their retry limits, as they do on an adapter.
 */
#include "softhca/device/core.h"

enum { SUBTYPE_DOWN = 1, SUBTYPE_ACTIVE = 4 };

bool port_is_up(const struct hca *hca, unsigned int port)
{
	return port < 1 || port > hca->config.num_ports || !hca->port[port - 1].down;
}

static void set_link(struct hca *hca, unsigned int port, bool up)
{
	if (port_is_up(hca, port) == up)
		return;
	hca->port[port - 1].down = !up;
	trace_line(hca->config.trace, "port %u: link is %s", port, up ? "up" : "down");
	eq_port_change(hca, port, up ? SUBTYPE_ACTIVE : SUBTYPE_DOWN);
}

void hca_set_link(struct hca *hca, unsigned int port, bool up)
{
	unsigned int i;

	fabric_lock(hca->fabric);
	for (i = 1; i <= hca->config.num_ports; i++)
		if (port == i || port == HCA_ALL_PORTS)
			set_link(hca, i, up);
	fabric_unlock(hca->fabric);
}
