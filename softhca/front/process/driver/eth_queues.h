/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_queues.h - commands on frame queues and the objects around them.
 *
 * A raw packet QP consists of them: an SQ sends frames through a TIS, and a TIR delivers frames to
 * an RQ. A WQ is an RQ, and a table of WQs an RQT. All functions return 0 or a positive errno.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ETH_QUEUES_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ETH_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/tir.h"
#include "prm/mlx5/wq.h"

struct adapter;
struct client;

/* A ring in a program's memory, and fields of its queue's context. */
struct eth_ring {
	const struct client *client;
	uint64_t buffer, record; /* addresses in the program; record 0: none */
	/* mlx4: bytes in the buffer before the ring; number that the queue gets. */
	uint32_t skip, number;
	unsigned int log_size;   /* log2 of the ring's WQEs, or WQEBBs of an SQ */
	unsigned int log_stride; /* log2 of the bytes of each */
	uint32_t pdn, cqn, uar, user_index;
	uint32_t counter_set;
	bool strip_vlan, scatter_fcs;
	bool real_time;
	bool has_signatures;
	/* Striding queue: log2 of the number of strides in a WQE, and of the bytes of a stride. 0:
	 * other queue. */
	unsigned int log_strides, log_stride_bytes;
	bool shifts; /* frames begin two bytes into the buffer */
};

/* Create a queue. Return 0; EFAULT if the program has no memory at the ring's addresses; or another
 * errno. */
int eth_rq_make(struct adapter *adapter, const struct eth_ring *ring, uint32_t *rqn);
int eth_sq_make(struct adapter *adapter, const struct eth_ring *ring, uint32_t tisn, uint32_t *sqn);
int eth_rq_change(struct adapter *adapter, uint32_t rqn, enum prm_wq_state from,
		  enum prm_wq_state to);
/* Sets the rate limit of a ready queue: RATE is an index of the rate table, or 0 for no limit. */
int eth_sq_pace(struct adapter *adapter, uint32_t sqn, uint32_t rate);
/* Stops or starts sending of an mlx4 adapter's queue. RESTS: stop. */
int eth_sq_rest(struct adapter *adapter, uint32_t sqn, bool rests);
int eth_sq_change(struct adapter *adapter, uint32_t sqn, enum prm_wq_state from,
		  enum prm_wq_state to);
int eth_rq_state(struct adapter *adapter, uint32_t rqn, enum prm_wq_state *state);
int eth_sq_state(struct adapter *adapter, uint32_t sqn, enum prm_wq_state *state);
int eth_tis_make(struct adapter *adapter, uint32_t domain, uint32_t underlay_qpn, uint32_t *tisn);
/* SELF_LB_BLOCK is one of PRM_BLOCK_*. */
int eth_tir_make(struct adapter *adapter, uint32_t domain, uint32_t rqn, unsigned int self_lb_block,
		 uint32_t *tirn, uint64_t *addr);
int eth_rqt_make(struct adapter *adapter, const uint32_t *rqn, unsigned int count, uint32_t *rqtn);

/* Hash over fields of a frame, which chooses an RQ of a table (RSS). */
struct eth_hash {
	/* packet types to hash. Only mlx4 allows ipv4 with ipv6, or tcp with udp */
	bool ipv4, ipv6, tcp, udp;
	uint32_t fields; /* PRM_HASH_* */
	uint8_t key[PRM_RX_HASH_KEY_SIZE];
};

int eth_rss_tir_make(struct adapter *adapter, uint32_t domain, uint32_t rqtn,
		     const struct eth_hash *hash, unsigned int self_lb_block, uint32_t *tirn,
		     uint64_t *addr);

#endif
