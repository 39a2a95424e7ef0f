/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_rig.h - Ethernet queues on the flat adapters: an SQ with its TIS, RQs with TIRs, flow tables
 * that lead to them, and frames built by hand.
 */
#ifndef TEST_ETH_RIG_H
#define TEST_ETH_RIG_H

#include "flat.h"
#include "prm/mlx5/cmd.h"

enum { ETH_LOG = 6, ETH_BUF = 4096, OP_SEND = 0x0a, OP_LSO = 0x0e, CS_L3 = 0x40, CS_L4 = 0x80 };

struct eth_sq_rig {
	int hca;
	uint32_t n, tis, td, lkey;
	uint64_t ring, dbr, buf; /* BUF: 1 MiB of data to send */
	uint16_t pi;
	struct flat_cq *cq;
};

struct eth_rq_rig {
	int hca;
	uint32_t n, tir, counter;
	uint64_t ring, dbr, buf; /* BUF: 1 << ETH_LOG buffers of ETH_BUF bytes */
	uint16_t pi;
	uint32_t lkey;
	/* Bytes of the first of two segments, or 0 if there is one. The second begins in the middle
	 * of the buffer. */
	uint32_t first_piece;
	struct flat_cq *cq;
};

/* Fields of a WQE's Ethernet segment, and the form of its data */
struct eth_wqe {
	uint8_t opcode, cs_flags;
	uint16_t mss;
	bool insert_vlan;
	uint16_t tci;
	uint32_t inline_len; /* bytes of inline headers */
	bool inline_data;    /* the rest is inline as well, in a data segment */
	uint16_t index_error;
};

uint32_t eth_cmd(int hca, uint32_t opcode, const uint8_t *in, size_t len, enum prm_status expect);
uint32_t eth_td(int hca);
uint32_t eth_tis(int hca, uint32_t td);
struct eth_sq_rig *eth_sq(int hca, uint32_t td);
/* Makes a TIS that sends with the identity of QP QPN (IPoIB), or fails with EXPECT. */
uint32_t eth_underlay_tis(int hca, uint32_t td, uint32_t qpn, enum prm_status expect);
struct eth_sq_rig *eth_sq_of(int hca, uint32_t td, uint32_t tis);
struct eth_sq_rig *eth_umr_sq(int hca, bool has_umr);
struct eth_rq_attr {
	bool vlan_strip, signatures;
	uint32_t type; /* PRM_WQ_TYPE_ */
	uint32_t log_strides;
	uint32_t log_wqe; /* log2 of bytes; 0: 5 */
	enum prm_status status;
};
/* Returns NULL if ATTR expects a refusal. */
struct eth_rq_rig *eth_rq_of(int hca, const struct eth_rq_attr *attr);
struct eth_rq_rig *eth_rq(int hca, bool vlan_strip);
struct eth_rq_rig *eth_linked_rq(int hca, uint32_t log_strides);
uint32_t eth_direct_tir(int hca, uint32_t td, uint32_t rqn, uint32_t self_lb_block);
uint32_t eth_rqt(int hca, const uint32_t *rqn, uint32_t count, enum prm_status expect);
uint32_t eth_hash_tir(int hca, uint32_t td, uint32_t rqt, uint32_t l3, uint32_t l4,
		      uint32_t fields);
void eth_free_sq(struct eth_sq_rig *sq);
void eth_free_rq(struct eth_rq_rig *rq);

uint32_t eth_table(int hca, uint32_t type, uint32_t level, uint32_t miss, enum prm_status expect);
uint32_t eth_tunnel_table(int hca, uint32_t type, uint32_t level);
void eth_root(int hca, uint32_t type, uint32_t table);
/* Makes a group of indices FIRST..LAST; MASK is fte_match_set_lyr_2_4, NULL matches everything. */
uint32_t eth_group(int hca, uint32_t type, uint32_t table, uint32_t first, uint32_t last,
		   const uint8_t *mask, enum prm_status expect);

struct eth_entry {
	uint32_t type, table, group, index, tag, action;
	const uint8_t *value; /* fte_match_set_lyr_2_4 */
	uint32_t to_tir, to_table, also_tir, counter;
	uint32_t change;   /* a list of header changes */
	uint32_t reformat; /* headers of a tunnel */
};
void eth_set(int hca, const struct eth_entry *entry, enum prm_status expect);
void eth_delete(int hca, uint32_t type, uint32_t table, uint32_t index, enum prm_status expect);
void eth_catch_all(int hca, uint32_t tir);
void eth_counter(int hca, uint32_t counter, uint64_t *packets, uint64_t *bytes);

void eth_recv(struct eth_rq_rig *rq, uint32_t len, unsigned int count);
void eth_post(struct eth_sq_rig *sq, const struct eth_wqe *wqe, const uint8_t *bytes, uint32_t len);
void eth_ring_doorbell(struct eth_sq_rig *sq);
/* Sends a frame as it is, without offloads, and gives it time to arrive. */
void eth_send(struct eth_sq_rig *sq, const uint8_t *bytes, uint32_t len);

/* Returns the bytes of the next frame of an RQ, with its completion in *CQE, or NULL. */
const uint8_t *eth_receive(struct eth_rq_rig *rq, const uint8_t **cqe);

/* Sets up two RoCE adapters: an SQ on the first, two RQs with a direct TIR each on the second. */
void eth_open_pair(void **state, struct eth_sq_rig **sq, struct eth_rq_rig *rq[2]);
int eth_close_pair(void **state, struct eth_sq_rig *sq, struct eth_rq_rig *rq[2]);

struct eth_flow {
	uint16_t vlan; /* TCI, 0: untagged */
	bool v6;
	uint8_t protocol;  /* 6 or 17; 0: no IP at all */
	uint32_t src, dst; /* last bytes of the addresses */
	uint16_t sport, dport;
	uint32_t payload; /* bytes */
	uint8_t tcp_flags;
	/* TCP: sequence number, acknowledged bytes, and the timestamp option unless TIME is 0. */
	uint32_t sent, ack, time;
	uint16_t window;
	uint8_t ttl; /* time to live; 0: 64 */
	uint8_t tos;
	uint8_t dmac_last;
	bool group; /* multicast destination */
};
/* Builds a frame with right checksums; returns its length. Shares no code with the device, so that
 * no fault of it is mirrored. */
uint32_t eth_build(const struct eth_flow *flow, uint8_t *bytes);
/* Builds the same frame with checksums of zero, for offloads. */
uint32_t eth_build_unsummed(const struct eth_flow *flow, uint8_t *bytes);

#endif
