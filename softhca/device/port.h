/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.h - ports: link, addresses, what they count.
 */
#ifndef SOFTHCA_DEVICE_PORT_H
#define SOFTHCA_DEVICE_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/device/fabric.h"
#include "softhca/device/station.h"
#include "softhca/device/queue/qp.h"

struct hca;

enum {
	PORT_MAX = 4,
	PORT_GIDS_IB = 8,
	PORT_GIDS_ROCE = 256,
	PORT_PKEYS = 128,
	GID_CONTEXT_MAX = 32,
	PORT_CLEARED = 8, /* counters that performance management may set */
};

/* The addresses in messages sent from this GID. Only RoCE uses the members after gid. */
struct gid_entry {
	bool valid;
	uint8_t gid[16];
	uint8_t mac[6];
	bool tagged;
	uint16_t vlan;
	bool path_tags;  /* mlx4: the path says whether, and how, they are tagged */
	uint8_t version; /* enum fabric_roce, or a number that software made up */
	uint8_t l3_type; /* 0: the GID is an IPv4 address */
	uint8_t context[GID_CONTEXT_MAX]; /* see format.h */
};

enum {
	FRAME_FCS_LEN = 4,
	FRAME_SIZES = 10, /* classes of frames by their size: RFC 2819 */
	PORT_MTU_MAX = FABRIC_FRAME_MAX + FRAME_FCS_LEN,
	PORT_MTU_DEFAULT = 1522, /* addresses, type, a tag and FCS included */
};

/* The counters are of an Ethernet port; the bytes are without FCS. */
struct frame_counters {
	uint64_t frames, bytes;
	uint64_t multicast, multicast_bytes, broadcast, broadcast_bytes;
	uint64_t by_size[FRAME_SIZES];
	uint64_t discards, too_long;
};

/* The counters are of a port's RDMA messages, in packets and bytes of payload. */
struct message_counters {
	uint64_t packets, bytes, multicast_packets, multicast_bytes;
};

struct port {
	uint16_t lid;
	uint64_t guid;
	bool admin_down; /* software does not want the link, */
	bool link_down;  /* or there is nothing at its other end */
	uint16_t mtu;    /* largest frame, FCS included */
	uint32_t link_downs;
	struct frame_counters sent, received;
	struct message_counters messages_sent, messages_received;
	uint16_t bad_pkeys, bad_qkeys; /* messages with another key */
	/* What pma.c tells is what was counted since these; it has two attributes with counters. */
	uint64_t short_base[PORT_CLEARED], extended_base[PORT_CLEARED];
	uint32_t cap_mask;
	struct qp *special[QP_SPECIAL];
	unsigned int gids; /* entries from here on are empty */
	struct gid_entry gid[PORT_GIDS_ROCE];
};

void port_init(struct hca *hca, unsigned int port);
/* Returns the P_Key at INDEX of a port's table, or 0: that entry is not valid. */
uint16_t port_pkey(uint64_t index);
/* Returns whether a message of P_Key THEIRS may be received with OURS, and counts it if not. */
bool port_accepts_pkey(struct port *port, uint16_t ours, uint16_t theirs);
void port_count_violation(uint16_t *counter);
void port_count_message(struct message_counters *counters, const struct fabric_msg *msg);
/* Software wants the link up, or down; a PORT_CHANGE event comes when that makes a difference. */
void port_set_admin(struct hca *hca, unsigned int port, bool up);
/* Replaces what is at INDEX of a port's table; an entry whose GID is zero is empty. */
void port_set_gid(struct port *port, unsigned int index, const struct gid_entry *entry);
/* Return what is at INDEX of a port's table, or NULL when that entry is empty, and its GID. */
const struct gid_entry *port_gid_entry(const struct hca *hca, unsigned int port,
				       unsigned int index);
const uint8_t *port_gid(const struct hca *hca, unsigned int port, unsigned int index);

#endif
