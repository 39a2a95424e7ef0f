/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_frames.h - raw packet QPs and the frames between them.
 *
 * One QP sends, to an address of our own or to a group; two others receive what flows give them.
 * The sender has a context of its own: Linux keeps from a context's QPs what the same context sent.
 */
#ifndef TESTS_LIB_RAW_FRAMES_H
#define TESTS_LIB_RAW_FRAMES_H

#include "tests/lib/rig.h"

enum { RAW_FRAME = 2048, RAW_SLOTS = 16, RAW_RECEIVERS = 2, RAW_CQ = 64 };

struct raw_sender {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
};

struct raw {
	struct raw_sender from;
	struct ibv_pd *pd;
	struct ibv_cq *cq[RAW_RECEIVERS];
	struct ibv_qp *to[RAW_RECEIVERS];
	struct ibv_mr *mr;
	uint8_t *buf; /* a frame to send, then the slots of each receiver */
};

/* The struct holds a frame, as far as tests differ. */
struct raw_frame {
	bool group, vlan, away; /* AWAY: it is for another host */
	uint16_t vid;
	uint8_t version; /* 4, 6 or 0: no IP */
	uint8_t tos, ttl, protocol;
	uint8_t src, dst; /* last byte of the address */
	uint16_t sport, dport;
	uint32_t key;   /* GRE's, or VXLAN's network */
	uint32_t label; /* of IPv6 */
};

extern const uint8_t raw_group_mac[6];

/* Opens sender and receivers, whose CQs have WC_FLAGS for extended polling; 0: they are plain.
 * False: there are no raw packet QPs here. */
bool raw_open(struct rig *rig, uint64_t wc_flags, struct raw *raw);
void raw_close(struct raw *raw);
uint8_t *raw_slot(struct raw *raw, int receiver, unsigned int n);
void raw_post_receive(struct raw *raw, int receiver, unsigned int n);

void raw_own_mac(const struct rig *rig, uint8_t mac[6]);
/* Builds a frame at BYTES, which have room for it, and returns its length. */
size_t raw_frame_build(const struct rig *rig, const struct raw_frame *f, uint8_t *bytes);
/* Sends what stands in the buffer, and waits for the completion. */
void raw_send(struct raw *raw, size_t len, unsigned int flags);
/* Returns how many of the frames that were sent a receiver has got; the slots are posted again. On
 * a port that is also a network interface's, frames of that may come in, too. */
int raw_received(struct raw *raw, int receiver);

#endif
