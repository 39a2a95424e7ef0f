/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * port.h - ports: link, addresses, counters.
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
	PORT_CLEARED = 8, /* counters that performance management can set */
};

/* A GID, and the addresses of messages that are sent from it. Only RoCE uses the members after
 * gid. */
struct gid_entry {
	bool valid;
	uint8_t gid[16];
	uint8_t mac[6];
	bool tagged;
	uint16_t vlan;
	bool path_tags;  /* mlx4: the VLAN tag is in the path, not in this entry */
	uint8_t version; /* enum fabric_roce, or another number that software wrote */
	uint8_t l3_type; /* 0: the GID is an IPv4 address */
	uint8_t context[GID_CONTEXT_MAX]; /* RoCE address table entry as software wrote it */
};

enum {
	FRAME_FCS_LEN = 4,
	FRAME_SIZES = 10,
	PORT_MTU_MAX = FABRIC_FRAME_MAX + FRAME_FCS_LEN,
	/* with addresses, type, one VLAN tag and FCS: 1518 bytes of IEEE 802.3, and the tag */
	PORT_MTU_DEFAULT = 1522,
};

/* Counters of an Ethernet port. Bytes do not include the FCS. */
struct frame_counters {
	uint64_t frames, bytes;
	uint64_t multicast, multicast_bytes, broadcast, broadcast_bytes;
	uint64_t by_size[FRAME_SIZES];
	uint64_t discards, too_long;
};

/* Counters of a port's RDMA messages: packets, and bytes of payload. */
struct message_counters {
	uint64_t packets, bytes, multicast_packets, multicast_bytes;
};

struct port {
	uint16_t lid;
	uint64_t guid;
	bool admin_down; /* software has disabled the link */
	bool link_down;  /* the cable is unplugged */
	uint16_t mtu;    /* largest frame, FCS included */
	uint32_t link_downs;
	struct frame_counters sent, received;
	struct message_counters messages_sent, messages_received;
	/* messages dropped for a wrong key; 16 bits, as in PortInfo (IBTA vol 1, 14.2.5.6) */
	uint16_t bad_pkeys, bad_qkeys;
	/* Counts when software last cleared or set the counters; pma.c reports the difference.
	 * PortCounters has short_base, PortCountersExtended has extended_base. */
	uint64_t short_base[PORT_CLEARED], extended_base[PORT_CLEARED];
	uint32_t cap_mask;
	struct qp *special[QP_SPECIAL];
	unsigned int gids; /* number of entries that may be used */
	struct gid_entry gid[PORT_GIDS_ROCE];
};

void port_init(struct hca *hca, unsigned int port);
/* Returns the P_Key at INDEX of a port's table; 0: invalid. */
uint16_t port_pkey(uint64_t index);
/* Returns whether a message with P_Key THEIRS may be received with OURS: equal, and not both
 * limited members (IBTA vol 1, 10.9.3). Counts a violation if not. */
bool port_accepts_pkey(struct port *port, uint16_t ours, uint16_t theirs);
void port_count_violation(uint16_t *counter);
void port_count_message(struct message_counters *counters, const struct fabric_msg *msg);
/* Enables or disables the link. A PORT_CHANGE event reports a change of the port's state. */
void port_set_admin(struct hca *hca, unsigned int port, bool up);
/* Replaces the entry at INDEX of a port's table. An entry with a zero GID is empty. */
void port_set_gid(struct hca *hca, struct port *port, unsigned int index,
		  const struct gid_entry *entry);
/* Return the entry at INDEX of a port's table, or its GID; NULL if the entry is empty. */
const struct gid_entry *port_gid_entry(const struct hca *hca, unsigned int port,
				       unsigned int index);
const uint8_t *port_gid(const struct hca *hca, unsigned int port, unsigned int index);

#endif
