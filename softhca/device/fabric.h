/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.h - what an adapter knows of the fabric that its ports are on: messages between QPs, and
 * how they are sent. What the fabric calls of an adapter is in station.h.
 *
 * The fabric owns the lock that all its adapters take, so a message is delivered by a call into the
 * receiving adapter. A message covers up to FABRIC_PAYLOAD_MAX bytes of one request or response,
 * i.e. several packets with consecutive PSNs; it holds no pointers into the sender other than its
 * payload, so that it can become packets between processes.
 * Decision: docs/adr/0040.
 */
#ifndef SOFTHCA_DEVICE_FABRIC_H
#define SOFTHCA_DEVICE_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct fabric;
struct fault;

/* Creates a fabric of its own, for an adapter whose front names none. */
int fabric_create(struct fabric **fabric);
void fabric_destroy(struct fabric *fabric);

enum { FABRIC_PAYLOAD_MAX = 256 * 1024 };

enum fabric_op {
	FABRIC_SEND,
	FABRIC_WRITE,
	FABRIC_READ,
	FABRIC_ATOMIC_CS,
	FABRIC_ATOMIC_FA,
	FABRIC_MASKED_CS,
	FABRIC_MASKED_FA,
	FABRIC_READ_RESPONSE,
	FABRIC_ATOMIC_RESPONSE,
	FABRIC_ACK,
	FABRIC_NAK,
	FABRIC_CLOSE, /* DC: the initiator leaves its target */
};

static inline bool fabric_is_request(enum fabric_op op)
{
	return op <= FABRIC_MASKED_FA || op == FABRIC_CLOSE;
}

/* Hosts ask at this LID for paths and groups, see subnet.h. No port has it. */
enum { FABRIC_SUBNET_LID = 0xbfff };

enum fabric_nak { /* IBTA AETH codes, and RNR */
		  FABRIC_NAK_PSN = 0,
		  FABRIC_NAK_INVALID_REQUEST = 1,
		  FABRIC_NAK_REMOTE_ACCESS = 2,
		  FABRIC_NAK_REMOTE_OP = 3,
		  FABRIC_NAK_NO_TARGET = 5, /* DC */
		  FABRIC_NAK_RNR = 32,
};

/* The values are transport services as the upper three bits of a packet's opcode say them. IBTA vol
 * 1, 9.2.1 */
enum fabric_service {
	FABRIC_RC = 0,
	FABRIC_UC = 1,
	FABRIC_UD = 3,
	FABRIC_XRC = 5,  /* as RC; requests name the SRQ they are for */
	FABRIC_DC = 6,   /* as RC; requests carry what makes the connection */
	FABRIC_NONE = 7, /* of a QP that sends nothing */
};

enum fabric_roce { /* as in a RoCE address table */
		   FABRIC_ROCE_V1 = 0,
		   FABRIC_ROCE_V2 = 2,
};

/* An address says where a message goes and comes from, by LIDs on InfiniBand and by GIDs on
 * RoCE. */
struct fabric_addr {
	uint8_t port; /* of the sender, from 1: where it leaves */
	uint16_t dlid, slid;
	uint8_t sl;
	/* These fields are of the global route header. On RoCE it is always there, in version 2 as
	 * an IP header. */
	bool grh;
	uint8_t dgid[16], sgid[16];
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	/* These fields are of RoCE. */
	bool by_gid;
	enum fabric_roce roce;
	bool ipv4; /* version 2; the GIDs are IPv4 addresses mapped to IPv6 */
	uint8_t dmac[6], smac[6];
	bool tagged;
	uint16_t vlan; /* id; the priority is in sl */
	uint16_t udp_sport;
};

/* A multicast address is one that a group of QPs listens to. */
static inline bool fabric_is_multicast(const struct fabric_addr *addr)
{
	return addr->by_gid || addr->grh
		       ? addr->dgid[0] == 0xff || (addr->ipv4 && addr->dgid[12] >> 4 == 0xe)
		       : addr->dlid >= 0xc000 && addr->dlid != 0xffff;
}

struct fabric_msg {
	struct fabric_addr addr;
	enum fabric_service service;
	enum fabric_op op;
	uint32_t dest_qpn, src_qpn;
	uint32_t qkey; /* UD */
	uint32_t srqn; /* XRC requests: the SRQ at the receiver */
	/* DC requests: the target's access key, and the initiator's session: the PSN with which it
	 * began, and above it a count of the initiator's lives. */
	uint64_t dc_key;
	uint32_t session;
	uint16_t pkey;
	uint32_t psn;     /* of the first packet of this message */
	uint32_t packets; /* PSNs it takes */
	uint32_t mtu;     /* payload of each packet but the last; 0 in messages that have arrived */
	bool ack_req;     /* requests: an acknowledge is to come */
	/* READs and atomics: how many may be under way, with this one; 0: it is not known */
	uint8_t reads;
	uint32_t msn; /* responses: requests that the responder has completed */
	bool first,
		last; /* of its request or response; READ requests, however long, are one packet */
	bool solicited, has_imm, invalidate;
	uint32_t imm; /* big-endian, as in the WQE; the rkey for INVALIDATE */
	/* These fields are of requests with a remote address. They are as in RETH and AtomicETH, so
	 * they hold for the first message of a request only, and the responder remembers them. */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t length; /* of the whole request */
	/* These fields are of atomics, in host order; the masks of those that have them: see
	 * transport/atomic.h. */
	uint64_t swap_add, compare, swap_mask, compare_mask;
	/* These fields are the NAK and the RNR timer code. */
	enum fabric_nak nak;
	uint8_t rnr_timer;
	const uint8_t *payload;
	uint32_t payload_len;
};

/* Returns whether so much is under way to other hosts that a sender should wait. fabric_progress()
 * will return true when that is over. */
bool fabric_is_congested(const struct fabric *fabric);
/* Sends all that waits on its way to the other hosts, as far as they take it, and lets the adapters
 * settle: see station.h. */
void fabric_flush(struct fabric *fabric);

void fabric_lock(struct fabric *fabric);
void fabric_unlock(struct fabric *fabric);

/* Lets an adapter's port join; on InfiniBand the port is given a LID of its own. */
int fabric_attach(struct fabric *fabric, struct hca *hca, unsigned int port, uint16_t *lid);
void fabric_detach(struct fabric *fabric, struct hca *hca);

/* Delivers the message or loses it, when nobody is at that address or there is no such QP. The
 * sender does not learn of it. FAULT is the sender's, and NOW its time. Adapters send by
 * station_send(). */
void fabric_send(struct fabric *fabric, uint64_t now, struct fault *fault,
		 const struct fabric_msg *msg);

enum { FABRIC_FRAME_MIN = 14, FABRIC_FRAME_MAX = 14 + 4 + 9978 };

/*
 * An Ethernet frame, without preamble and FCS, leaves PORT of FROM: every other Ethernet port of
 * the fabric sees it, by station_receive_frame(), and decides by itself whether it is for it. It
 * never comes back to the port that sent it. Adapters send by station_send_frame().
 */
void fabric_send_frame(struct fabric *fabric, const struct hca *from, unsigned int port,
		       uint64_t now, struct fault *fault, const uint8_t *frame, size_t len);

#endif
