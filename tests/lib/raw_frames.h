/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw_frames.h - raw packet QPs and the frames between them.
 *
 * One QP sends, to our own address or to a multicast address; two others receive the frames that
 * flows steer to them. The sender has its own context, as Linux does not deliver frames to QPs of
 * the context that sent them.
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
	uint8_t *buf; /* the frame to send, then each receiver's slots */
};

/* The fields of a frame in which tests differ */
struct raw_frame {
	bool group, vlan, away; /* AWAY: addressed to another host */
	uint16_t vid;
	uint8_t version; /* 4, 6 or 0: no IP */
	uint8_t tos, ttl, protocol;
	uint8_t src, dst; /* last byte of the address */
	uint16_t sport, dport;
	uint32_t key; /* key of GRE, or network of VXLAN */
	uint32_t label;
};

extern const uint8_t raw_group_mac[6];

/* Opens sender and receivers. Their CQs are extended ones with WC_FLAGS, or plain if WC_FLAGS is 0.
 * Returns false if the device has no raw packet QPs. */
bool raw_open(struct rig *rig, uint64_t wc_flags, struct raw *raw);
void raw_close(struct raw *raw);
uint8_t *raw_slot(struct raw *raw, int receiver, unsigned int n);
void raw_post_receive(struct raw *raw, int receiver, unsigned int n);

void raw_own_mac(const struct rig *rig, uint8_t mac[6]);
size_t raw_frame_build(const struct rig *rig, const struct raw_frame *f, uint8_t *bytes);
void raw_send(struct raw *raw, size_t len, unsigned int flags);
/* Returns the number of sent frames that a receiver has got, and posts its slots again. If the port
 * is also a network interface's, frames of the interface may arrive as well. */
int raw_received(struct raw *raw, int receiver);

#endif
