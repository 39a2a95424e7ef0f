/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_rules.h - what the types of QP have and have not: creation looks here, and picks routines that
 * need not ask again.
 */
#ifndef PROVIDERS_MLX5_QP_RULES_H
#define PROVIDERS_MLX5_QP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/* The kinds of send queues differ in what names the destination in a WQE. */
enum send_kind {
	SEND_CONNECTED, /* the QP's connection */
	SEND_DATAGRAM,  /* an address vector */
	SEND_XRC,       /* the connection, and an SRQ behind it */
	SEND_RAW,       /* the frame itself */
	SEND_UNDERLAY,  /* an address vector, in front of the start of the packet */
	SEND_DC,        /* an address vector, with an access key */
};

struct qp_rules {
	const char *name; /* "an RC", for messages */
	enum send_kind kind;
	uint64_t ops;          /* IBV_QP_EX_WITH_* */
	uint32_t address_size; /* bytes between control segment and what the operation needs */
	uint32_t longest_head; /* bytes before the payload in the longest WQE it may have */
	uint32_t comp_mask;    /* enum ibv_qp_init_attr_mask */
	bool sends, receives;
	bool needs_pd;
	bool may_srq;
	bool rings_apart;    /* send and receive ring are two pieces of memory */
	bool is_target;      /* it has no queue, but CQEs name it; it has a number from RTR on */
	bool modifies_apart; /* ibv_modify_qp() has rules of its own */
};

/* Returns NULL when there are no QPs of this TYPE here. */
const struct qp_rules *mlx5_qp_rules_of(enum ibv_qp_type type);

/* Returns the rules of a raw packet QP with an indirection table. */
const struct qp_rules *mlx5_qp_rss_rules(void);

/* Returns the rules of a UD QP that sends from another one's number. */
const struct qp_rules *mlx5_qp_underlay_rules(void);

/* Return the rules of initiators and targets of DC. */
const struct qp_rules *mlx5_qp_dci_rules(void);
const struct qp_rules *mlx5_qp_dct_rules(void);

/* The value stands for the operations of a QP that was not created for certain ones. */
#define SEND_OPS_ANY UINT64_MAX

/* Returns how many bytes come before the payload in the longest WQE of OPS. */
uint32_t mlx5_qp_head_size(const struct qp_rules *rules, uint64_t ops);

/* Returns the same of those of OPS that carry data. */
uint32_t mlx5_qp_data_head_size(const struct qp_rules *rules, uint64_t ops);

/* Returns how many inline bytes fit into a WQE of WQE_BYTES behind whichever head a request of such
 * a QP has; MAX_INLINE at most. */
uint32_t mlx5_qp_usual_inline(const struct qp_rules *rules, uint32_t max_inline,
			      uint32_t wqe_bytes);

/* *OPCODES (bit n: enum ibv_wr_opcode n) are what a QP created for OPS may post: those, and any
 * other of its type whose head fits into HEAD_ROOM bytes. Returns EOPNOTSUPP when the type does not
 * have one of OPS. */
int mlx5_qp_send_opcodes(const struct qp_rules *rules, uint64_t ops, bool atomics,
			 uint32_t head_room, uint16_t *opcodes);

#endif
