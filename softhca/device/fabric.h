/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fabric.h - the fabric that connects ports, as adapters use it: messages between QPs, and sending
 * them. station.h has the calls in the other direction.
 *
 * All adapters of a fabric share its lock, so a message is delivered by a call into the receiving
 * adapter. A message stands for up to FABRIC_PAYLOAD_MAX bytes of one request or response, that is
 * several packets with consecutive PSNs. It has no pointers into the sender except its payload, so
 * it can be turned into packets between processes. Decision: docs/adr/0040.
 */
#ifndef SOFTHCA_DEVICE_FABRIC_H
#define SOFTHCA_DEVICE_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hca;
struct fabric;
struct fault;

/* Creates a fabric for an adapter whose front has named none. */
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
	FABRIC_CLOSE, /* DC: the initiator ends its session with the target */
};

static inline bool fabric_is_request(enum fabric_op op)
{
	return op <= FABRIC_MASKED_FA || op == FABRIC_CLOSE;
}

/* LID of the subnet administration, which answers queries for paths and groups; see subnet.h. No
 * port has it. */
enum { FABRIC_SUBNET_LID = 0xbfff };

enum fabric_nak { /* AETH codes of IBTA, and RNR */
		  FABRIC_NAK_PSN = 0,
		  FABRIC_NAK_INVALID_REQUEST = 1,
		  FABRIC_NAK_REMOTE_ACCESS = 2,
		  FABRIC_NAK_REMOTE_OP = 3,
		  FABRIC_NAK_NO_TARGET = 5,
		  FABRIC_NAK_RNR = 32,
};

/* Transport services, as in the upper three bits of a packet's opcode. IBTA vol 1, 9.2.1 */
enum fabric_service {
	FABRIC_RC = 0,
	FABRIC_UC = 1,
	FABRIC_UD = 3,
	FABRIC_XRC = 5,  /* like RC; a request names its SRQ */
	FABRIC_DC = 6,   /* like RC; a request carries the session's identity */
	FABRIC_NONE = 7, /* a QP that sends nothing */
};

enum fabric_roce { /* values as in a RoCE address table */
		   FABRIC_ROCE_V1 = 0,
		   FABRIC_ROCE_V2 = 2,
};

/* Source and destination of a message: LIDs on InfiniBand, GIDs on RoCE. */
struct fabric_addr {
	uint8_t port; /* the sender's port, from 1 */
	uint16_t dlid, slid;
	uint8_t sl;
	/* Fields of the global route header (GRH). On RoCE it is always present; in version 2 as an
	 * IP header. */
	bool grh;
	uint8_t dgid[16], sgid[16];
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	/* RoCE only. */
	bool by_gid;
	enum fabric_roce roce;
	bool ipv4; /* version 2: the GIDs are IPv4-mapped addresses */
	uint8_t dmac[6], smac[6];
	bool tagged;
	uint16_t vlan; /* VLAN id; the priority is in sl */
	uint16_t udp_sport;
};

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
	uint32_t srqn; /* XRC requests: the receiver's SRQ */
	/* DC requests: dc_key is the target's access key. session identifies the initiator's
	 * session: its first PSN in bits 23:0, a count of initiators' resets in bits 31:24. */
	uint64_t dc_key;
	uint32_t session;
	uint16_t pkey;
	uint32_t psn;     /* of the first packet of this message */
	uint32_t packets; /* number of PSNs */
	uint32_t mtu;     /* payload of each packet except the last; 0 in arrived messages */
	bool ack_req;     /* requests: the sender wants an acknowledge */
	/* READs and atomics: how many may be outstanding, including this one; 0: unknown */
	uint8_t reads;
	uint32_t msn;     /* responses: number of requests completed */
	uint8_t credits;  /* responses except NAKs: code of end-to-end credits, as in an AETH */
	bool first, last; /* this message begins or ends its request or response */
	bool solicited, has_imm, invalidate;
	uint32_t imm; /* big-endian, as in the WQE; with invalidate: the rkey to invalidate */
	/* Remote address, key and length, as in RETH and AtomicETH. Only the first message of a
	 * request has them; the responder keeps them for the later ones. */
	uint64_t raddr;
	uint32_t rkey;
	uint64_t length; /* of the whole request */
	/* Operands of atomics in host order; masks: see transport/atomic.h. */
	uint64_t swap_add, compare, swap_mask, compare_mask;
	/* NAK code and RNR timer code. */
	enum fabric_nak nak;
	uint8_t rnr_timer;
	const uint8_t *payload;
	uint32_t payload_len;
};

/* Returns whether so much data is in flight to other hosts that a sender should wait.
 * fabric_progress() returns true when senders may go on. */
bool fabric_is_congested(const struct fabric *fabric);
/* Ends a round of sends: settles the adapters (see station.h), then lets the switch and subnet
 * administration answer, settles the adapters again, and sends the packets that wait for other
 * hosts, as far as the sockets take them. */
void fabric_flush(struct fabric *fabric);

void fabric_lock(struct fabric *fabric);
void fabric_unlock(struct fabric *fabric);

/* Attaches an adapter's port; an InfiniBand port gets a LID. */
int fabric_attach(struct fabric *fabric, struct hca *hca, unsigned int port, uint16_t *lid);
void fabric_detach(struct fabric *fabric, struct hca *hca);
/* Tells the fabric, whose lock is held, that a port's state or GIDs have changed. */
void fabric_port_changed(struct fabric *fabric);

/* Delivers a message. A message for the switch or subnet administration waits for fabric_flush(),
 * so that no answer comes before the sender has completed the send. As on a wire, a message is lost
 * without notice if nothing has that address or QP number, so requesters depend on their timers.
 * FAULT and NOW are the sender's. Adapters call station_send() instead. */
void fabric_send(struct fabric *fabric, uint64_t now, struct fault *fault,
		 const struct fabric_msg *msg);

enum { FABRIC_FRAME_MIN = 14, FABRIC_FRAME_MAX = 14 + 4 + 9978 };

/*
 * Sends an Ethernet frame, without preamble and FCS, from PORT of FROM to every other Ethernet port
 * of the fabric, by station_receive_frame(); each decides whether to accept it. Adapters call
 * station_send_frame() instead.
 */
void fabric_send_frame(struct fabric *fabric, const struct hca *from, unsigned int port,
		       uint64_t now, struct fault *fault, const uint8_t *frame, size_t len);

#endif
