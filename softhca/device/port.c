/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.c - ports: LID, GUID, GID and P_Key tables, state.
 *
 * A port whose link is up is active: on InfiniBand the fabric does the subnet manager's work; on
 * RoCE software fills the GID table.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "ib/mad.h"
#include "prm/mlx5/eqe.h"
#include "softhca/device/core.h"

/* Capabilities of an InfiniBand port: system image GUID and client reregistration, but no automatic
 * path migration and the like. IBTA vol 1, PortInfo */
#define PORT_CAP_MASK 0x02000800u

static const uint8_t link_local[8] = { 0xfe, 0x80 };

void port_init(struct hca *hca, unsigned int number)
{
	struct port *port = &hca->port[number - 1];
	uint8_t *gid = port->gid[0].gid;

	port->guid = hca->config.node_guid + number;
	port->cap_mask = PORT_CAP_MASK;
	port->mtu = PORT_MTU_DEFAULT;
	if (hca->config.link_layer == HCA_LINK_ETHERNET)
		return;
	memcpy(gid, link_local, sizeof(link_local));
	fld_set64(gid, 8, port->guid);
	port->gid[0].valid = true;
	port->gids = 1;
}

bool port_is_up(const struct hca *hca, unsigned int number)
{
	const struct port *port = &hca->port[number - 1];

	return !port->admin_down && !port->link_down;
}

uint16_t port_pkey(uint64_t index)
{
	return index == 0 ? PKEY_DEFAULT : 0;
}

void port_count_violation(uint16_t *counter)
{
	if (*counter < UINT16_MAX)
		(*counter)++;
}

/* Returns whether two P_Keys match: the same partition, and at least one is a full member. Counts a
 * violation if they do not. IBTA vol 1, 10.9.3 */
bool port_accepts_pkey(struct port *port, uint16_t ours, uint16_t theirs)
{
	if (((ours ^ theirs) & PKEY_PARTITION) == 0 && ours & PKEY_PARTITION &&
	    (ours | theirs) & ~PKEY_PARTITION)
		return true;
	port_count_violation(&port->bad_pkeys);
	return false;
}

/* Counts a message. A READ request counts as one packet without payload; its response is counted
 * with the payload. */
void port_count_message(struct message_counters *counters, const struct fabric_msg *msg)
{
	bool is_read = msg->op == FABRIC_READ;

	counters->packets += is_read ? 1 : msg->packets;
	counters->bytes += is_read ? 0 : msg->payload_len;
	if (!fabric_is_multicast(&msg->addr))
		return;
	counters->multicast_packets += msg->packets;
	counters->multicast_bytes += msg->payload_len;
}

static void link_changed(struct hca *hca, unsigned int number, bool was_up)
{
	bool is_up = port_is_up(hca, number);

	if (is_up == was_up)
		return;
	if (was_up)
		hca->port[number - 1].link_downs++;
	fabric_port_changed(hca->fabric);
	trace_line(hca->config.trace, "port %u is %s", number, is_up ? "up" : "down");
	eq_port_change(hca, number, is_up ? PRM_PORT_CHANGE_ACTIVE : PRM_PORT_CHANGE_DOWN);
}

void port_set_admin(struct hca *hca, unsigned int number, bool up)
{
	bool was_up = port_is_up(hca, number);

	hca->port[number - 1].admin_down = !up;
	link_changed(hca, number, was_up);
}

void hca_set_link(struct hca *hca, unsigned int number, bool up)
{
	bool was_up;

	if (number < 1 || number > hca->config.num_ports)
		return;
	fabric_lock(hca->fabric);
	was_up = port_is_up(hca, number);
	hca->port[number - 1].link_down = !up;
	link_changed(hca, number, was_up);
	fabric_unlock(hca->fabric);
}

void hca_report_port(struct hca *hca, unsigned int number, uint8_t change)
{
	if (number < 1 || number > hca->config.num_ports)
		return;
	fabric_lock(hca->fabric);
	eq_port_change(hca, number, change);
	fabric_unlock(hca->fabric);
}

const struct gid_entry *port_gid_entry(const struct hca *hca, unsigned int port, unsigned int index)
{
	const struct gid_entry *entry;

	if (port < 1 || port > hca->config.num_ports || index >= PORT_GIDS_ROCE)
		return NULL;
	entry = &hca->port[port - 1].gid[index];
	return entry->valid ? entry : NULL;
}

const uint8_t *port_gid(const struct hca *hca, unsigned int port, unsigned int index)
{
	const struct gid_entry *entry = port_gid_entry(hca, port, index);

	return entry ? entry->gid : NULL;
}

void port_set_gid(struct hca *hca, struct port *port, unsigned int index,
		  const struct gid_entry *entry)
{
	static const uint8_t none[sizeof(entry->gid)];

	port->gid[index] = *entry;
	port->gid[index].valid = memcmp(entry->gid, none, sizeof(none)) != 0;
	port->gids = PORT_GIDS_ROCE;
	while (port->gids && !port->gid[port->gids - 1].valid)
		port->gids--;
	fabric_port_changed(hca->fabric);
}

bool port_has_gid(const struct hca *hca, unsigned int port, const uint8_t gid[16])
{
	for (unsigned int i = 0; i < hca->port[port - 1].gids; i++) {
		const uint8_t *own = port_gid(hca, port, i);

		if (own && !memcmp(own, gid, 16))
			return true;
	}
	return false;
}

bool station_is_ethernet(const struct hca *hca)
{
	return hca->config.link_layer == HCA_LINK_ETHERNET;
}

bool station_find_mac(const struct hca *hca, unsigned int port, const uint8_t gid[16],
		      uint8_t mac[6])
{
	for (unsigned int i = 0; !hca->config.kernel_driver && i < hca->port[port - 1].gids; i++) {
		const struct gid_entry *entry = port_gid_entry(hca, port, i);

		if (!entry || memcmp(entry->gid, gid, sizeof(entry->gid)))
			continue;
		memcpy(mac, entry->mac, sizeof(entry->mac));
		return true;
	}
	return false;
}

/* Returns whether an earlier entry of the table has the same GID, as entries for both versions of
 * RoCE do. */
static bool gid_is_repeated(const struct port *port, unsigned int index)
{
	for (unsigned int i = 0; i < index; i++)
		if (port->gid[i].valid &&
		    !memcmp(port->gid[i].gid, port->gid[index].gid, sizeof(port->gid[i].gid)))
			return true;
	return false;
}

static void gids_describe(const struct port *port, FILE *file)
{
	char text[INET6_ADDRSTRLEN];

	for (unsigned int i = 0; i < port->gids; i++)
		if (port->gid[i].valid && !gid_is_repeated(port, i))
			fprintf(file, " %s",
				inet_ntop(AF_INET6, port->gid[i].gid, text, sizeof(text)));
}

void station_describe(struct hca *hca, unsigned int number, FILE *file)
{
	const struct hca_config *config = &hca->config;
	const struct port *port = &hca->port[number - 1];
	char addresses[800] = "-"; /* 17 of IPv6 */

	if (config->addresses)
		config->addresses(config->front, number, addresses, sizeof(addresses));
	fprintf(file, "%s %u %s %s %u %s", config->name ? config->name : "-", number,
		station_is_ethernet(hca) ? "roce" : "ib",
		hca->dead                 ? "dead"
		: port_is_up(hca, number) ? "up"
					  : "down",
		port->lid, addresses);
	gids_describe(port, file);
	fputc('\n', file);
}
