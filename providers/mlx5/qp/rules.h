/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.h - properties of each QP type. Creation reads them and chooses routines that need not
 * check the type again.
 */
#ifndef PROVIDERS_MLX5_QP_RULES_H
#define PROVIDERS_MLX5_QP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* Kinds of send queues, by the part of a WQE that names the destination. */
enum send_kind {
	SEND_CONNECTED, /* none: the QP is connected */
	SEND_DATAGRAM,  /* an address vector */
	SEND_XRC,       /* an SRQ number, on a connected QP */
	SEND_RAW,       /* none: the frame has its address */
	SEND_UNDERLAY,  /* an address vector, before the start of the packet */
	SEND_DC,        /* an address vector, with an access key */
};

struct qp_rules {
	const char *name;
	enum send_kind kind;
	uint64_t ops; /* IBV_QP_EX_WITH_* */
	/* bytes of addresses between the control segment and the operation's segments */
	uint32_t address_size;
	uint32_t longest_head; /* bytes before the payload in the longest WQE */
	uint32_t comp_mask;
	bool sends, receives;
	bool needs_pd;
	bool may_srq;
	bool rings_apart;    /* send and receive ring are separate pieces of memory */
	bool is_target;      /* a DCT: no queue, but CQEs name it; gets its number in RTR */
	bool modifies_apart; /* ibv_modify_qp() has special rules */
};

const struct qp_rules *mlx5_qp_rules_of(enum ibv_qp_type type);

const struct qp_rules *mlx5_qp_rss_rules(void);

const struct qp_rules *mlx5_qp_underlay_rules(void);

const struct qp_rules *mlx5_qp_dci_rules(void);
const struct qp_rules *mlx5_qp_dct_rules(void);

/* Stands for all operations of the type: the QP was created without a list of operations. */
#define SEND_OPS_ANY UINT64_MAX

/* Returns the bytes before the payload in the longest WQE of OPS. */
uint32_t mlx5_qp_head_size(const struct qp_rules *rules, uint64_t ops);

/* Does what mlx5_qp_head_size() does, for the operations of OPS that carry data. */
uint32_t mlx5_qp_data_head_size(const struct qp_rules *rules, uint64_t ops);

/* Returns how many inline bytes, MAX_INLINE at most, fit into a WQE of WQE_BYTES, after the longest
 * head of a WQE with data on a QP with RULES. */
uint32_t mlx5_qp_usual_inline(const struct qp_rules *rules, uint32_t max_inline,
			      uint32_t wqe_bytes);

/* Sets *OPCODES (bit n: enum ibv_wr_opcode n) to the operations that a QP created for OPS may post:
 * OPS, and all others of its type whose head fits into HEAD_ROOM bytes. Returns EOPNOTSUPP when the
 * type lacks one of OPS. */
int mlx5_qp_send_opcodes(const struct qp_rules *rules, uint64_t ops, bool atomics,
			 uint32_t head_room, uint16_t *opcodes);

/* Returns the operations of the type that are not in OPCODES because a WQE of theirs may be longer
 * than the QP's: see post_long() in data/post_send.c. */
uint16_t mlx5_qp_long_opcodes(const struct qp_rules *rules, bool atomics, uint16_t opcodes);

#endif
