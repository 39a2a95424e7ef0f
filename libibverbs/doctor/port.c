/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.c - checks a port: its link, its MTU and its addresses.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "findings.h"

enum { NAME_LEN = 80 };

struct port {
	struct ibv_context *ctx;
	struct ibv_port_attr attr;
	char name[NAME_LEN];
};

static bool is_ethernet(const struct port *port)
{
	return port->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

static const char *layer_of(const struct port *port)
{
	return is_ethernet(port) ? "Ethernet" : "InfiniBand";
}

static bool check_link(const struct port *port)
{
	switch (port->attr.state) {
	case IBV_PORT_ACTIVE:
		found(FINE, port->name, "%s, the link is up", layer_of(port));
		return true;
	case IBV_PORT_INIT:
	case IBV_PORT_ARMED:
		found(PROBLEM, port->name,
		      "the cable is connected, and no subnet manager has set "
		      "the port up");
		cure("start one in the subnet: opensm, or a switch's own");
		break;
	default:
		found(PROBLEM, port->name, "the link is down");
		cure(is_ethernet(port)
			     ? "ip link set INTERFACE up (rdma link shows which); cable, and the "
			       "other end"
			     : "cable, and the other end");
	}
	return false;
}

static int bytes_of(enum ibv_mtu mtu)
{
	return 128 << mtu;
}

static void check_mtu(const struct port *port)
{
	int active = bytes_of(port->attr.active_mtu), max = bytes_of(port->attr.max_mtu);

	if (active == max) {
		found(FINE, port->name, "MTU %d", active);
		return;
	}
	found(HINT, port->name, "MTU %d, and the adapter could have %d", active, max);
	if (is_ethernet(port))
		cure("ip link set INTERFACE mtu %d, on both ends and on switches between",
		     max + 104);
	else
		cure("the subnet manager's configuration decides, and the slowest switch");
}

static bool is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

struct gids {
	unsigned int usable;
	unsigned int with_address;
};

static int count_gids(const struct port *port, uint8_t number, struct gids *gids)
{
	size_t room = port->attr.gid_tbl_len;
	struct ibv_gid_entry *entries = calloc(room ? room : 1, sizeof(*entries));
	ssize_t count;

	if (!entries)
		return ENOMEM;
	count = ibv_query_gid_table(port->ctx, entries, room, 0);
	for (ssize_t i = 0; i < count; i++) {
		if (entries[i].port_num != number || entries[i].gid_type == IBV_GID_TYPE_ROCE_V1)
			continue;
		gids->usable++;
		gids->with_address += !is_link_local(&entries[i].gid);
	}
	free(entries);
	return count < 0 ? -count : 0;
}

/* Checks the GIDs. On InfiniBand, the prefix of a GID is the subnet's; the default prefix is the
 * link-local one. */
static bool check_gids(const struct port *port, uint8_t number)
{
	struct gids gids = { 0, 0 };
	int err = count_gids(port, number, &gids);

	if (err) {
		found(PROBLEM, port->name, "its GIDs cannot be read: %s", strerror(err));
		cure("dmesg may say why; reload its driver");
	} else if (!gids.usable) {
		found(PROBLEM, port->name, "it has no GID%s",
		      is_ethernet(port) ? " of RoCE v2, so there is no way to it" : "");
		cure(is_ethernet(port) ? "ip link set INTERFACE up; ip address add ADDRESS dev "
					 "INTERFACE"
				       : "the subnet manager assigns it");
	} else if (is_ethernet(port) && !gids.with_address) {
		found(HINT, port->name,
		      "its GIDs are link-local: no program connects by an "
		      "IP address");
		cure("ip address add ADDRESS dev INTERFACE");
	} else {
		found(FINE, port->name, "%u GID%s", gids.usable, gids.usable == 1 ? "" : "s");
	}
	return gids.usable;
}

void check_port(struct ibv_context *ctx, uint8_t number)
{
	struct port port = { .ctx = ctx };
	bool is_up, has_gid;
	int ret;

	snprintf(port.name, sizeof(port.name), "%s/%u", ibv_get_device_name(ctx->device), number);
	ret = ibv_query_port(ctx, number, &port.attr);
	if (ret) {
		found(PROBLEM, port.name, "does not answer: %s", strerror(ret));
		cure("dmesg may say why; reload its driver");
		return;
	}
	is_up = check_link(&port);
	check_mtu(&port);
	has_gid = check_gids(&port, number);
	if (is_up && has_gid)
		findings_port_works();
}
