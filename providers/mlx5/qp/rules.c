/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.c - the table of QP types.
 */
#include "providers/mlx5/qp/rules.h"

#include <assert.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>

#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"
#include "util/bits.h"
#include "util/log.h"

#define CTRL_SIZE sizeof(struct mlx5_wqe_ctrl_seg)
#define UMR_SIZE  (UMR_CTRL_SIZE + UMR_MKEY_SIZE)

#define SEND_OPS  (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define WRITE_OPS (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define ATOMIC_OPS \
	((uint64_t)(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD))
#define RDMA_OPS ((uint64_t)(WRITE_OPS | IBV_QP_EX_WITH_RDMA_READ))
#define KEY_OPS  (IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)
#define UC_OPS   (SEND_OPS | IBV_QP_EX_WITH_SEND_WITH_INV | WRITE_OPS | KEY_OPS)
#define RC_OPS   (UC_OPS | IBV_QP_EX_WITH_RDMA_READ | ATOMIC_OPS)

#define COMP_MASK \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

static const struct qp_rules rc_rules = {
	.name = "an RC",
	.kind = SEND_CONNECTED,
	.ops = RC_OPS,
	.longest_head = CTRL_SIZE + UMR_SIZE + UMR_KLM_BLOCK,
	.comp_mask = COMP_MASK,
	.sends = true,
	.receives = true,
	.needs_pd = true,
	.may_srq = true,
};

static const struct qp_rules uc_rules = {
	.name = "a UC",
	.kind = SEND_CONNECTED,
	.ops = UC_OPS,
	.longest_head = CTRL_SIZE + UMR_SIZE + UMR_KLM_BLOCK,
	.comp_mask = COMP_MASK,
	.sends = true,
	.receives = true,
	.needs_pd = true,
	.may_srq = true,
};

static const struct qp_rules ud_rules = {
	.name = "a UD",
	.kind = SEND_DATAGRAM,
	.ops = SEND_OPS,
	.address_size = sizeof(struct mlx5_wqe_datagram_seg),
	.longest_head = CTRL_SIZE + sizeof(struct mlx5_wqe_datagram_seg),
	.comp_mask = COMP_MASK,
	.sends = true,
	.receives = true,
	.needs_pd = true,
	.may_srq = true,
};

static const struct qp_rules xrc_send_rules = {
	.name = "an XRC send",
	.kind = SEND_XRC,
	.ops = RC_OPS,
	.address_size = WQE_SEG,
	.longest_head = CTRL_SIZE + UMR_SIZE + UMR_KLM_BLOCK,
	.comp_mask = COMP_MASK,
	.sends = true,
	.needs_pd = true,
};

/* An XRC receive QP has no receive queue, because requests name the SRQ that takes the message. */
static const struct qp_rules xrc_recv_rules = {
	.name = "an XRC receive",
	.kind = SEND_XRC,
	.comp_mask = IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
		     /* checked and refused separately, so that the line of the log says why */
		     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
};

static const struct qp_rules raw_rules = {
	.name = "a raw packet",
	.kind = SEND_RAW,
	.ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO,
	.address_size = sizeof(struct mlx5_wqe_eth_seg),
	.longest_head = CTRL_SIZE + sizeof(struct mlx5_wqe_eth_seg),
	.comp_mask = COMP_MASK | IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
	.sends = true,
	.receives = true,
	.needs_pd = true,
	.rings_apart = true,
};

/* An RSS QP only receives, through the WQs of its indirection table. */
static const struct qp_rules rss_rules = {
	.name = "an RSS",
	.kind = SEND_RAW,
	.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
		     IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH,
	.needs_pd = true,
	.modifies_apart = true,
};

/* A QP for IP over InfiniBand. The WQE contains the start of each packet, for the device's
 * offloads. */
static const struct qp_rules underlay_rules = {
	.name = "an underlay",
	.kind = SEND_UNDERLAY,
	.ops = IBV_QP_EX_WITH_SEND,
	.address_size = sizeof(struct mlx5_wqe_datagram_seg) + UNDERLAY_PAD + UNDERLAY_ETH,
	.longest_head =
		CTRL_SIZE + sizeof(struct mlx5_wqe_datagram_seg) + UNDERLAY_PAD + UNDERLAY_ETH,
	.comp_mask = COMP_MASK,
	.sends = true,
	.receives = true,
	.needs_pd = true,
	.rings_apart = true,
	.modifies_apart = true,
};

static const struct qp_rules dci_rules = {
	.name = "a DCI",
	.kind = SEND_DC,
	.ops = RC_OPS,
	.address_size = sizeof(struct mlx5_wqe_datagram_seg),
	.longest_head = CTRL_SIZE + UMR_SIZE + UMR_KLM_BLOCK,
	.comp_mask = COMP_MASK,
	.sends = true,
	.needs_pd = true,
	/* accepted but unused */
	.may_srq = true,
};

static const struct qp_rules dct_rules = {
	.name = "a DCT",
	.kind = SEND_DC,
	.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
	.needs_pd = true,
	.may_srq = true,
	.is_target = true,
	.modifies_apart = true,
};

const struct qp_rules *mlx5_qp_dci_rules(void)
{
	return &dci_rules;
}

const struct qp_rules *mlx5_qp_dct_rules(void)
{
	return &dct_rules;
}

const struct qp_rules *mlx5_qp_underlay_rules(void)
{
	return &underlay_rules;
}

const struct qp_rules *mlx5_qp_rss_rules(void)
{
	return &rss_rules;
}

const struct qp_rules *mlx5_qp_rules_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return &rc_rules;
	case IBV_QPT_UC:
		return &uc_rules;
	case IBV_QPT_UD:
		return &ud_rules;
	case IBV_QPT_XRC_SEND:
		return &xrc_send_rules;
	case IBV_QPT_XRC_RECV:
		return &xrc_recv_rules;
	case IBV_QPT_RAW_PACKET:
		return &raw_rules;
	default:
		return NULL;
	}
}

uint32_t mlx5_qp_head_size(const struct qp_rules *rules, uint64_t ops)
{
	uint32_t size = CTRL_SIZE + rules->address_size;

	if (ops == SEND_OPS_ANY)
		return rules->longest_head;
	if (ops & (RDMA_OPS | ATOMIC_OPS))
		size += sizeof(struct mlx5_wqe_raddr_seg);
	if (ops & ATOMIC_OPS)
		size += sizeof(struct mlx5_wqe_atomic_seg);
	if (ops & IBV_QP_EX_WITH_LOCAL_INV)
		size = max_of(size, (uint32_t)(CTRL_SIZE + UMR_SIZE));
	if (ops & IBV_QP_EX_WITH_BIND_MW)
		size = max_of(size, (uint32_t)(CTRL_SIZE + UMR_SIZE + UMR_KLM_BLOCK));
	return size;
}

uint32_t mlx5_qp_data_head_size(const struct qp_rules *rules, uint64_t ops)
{
	return mlx5_qp_head_size(rules, (ops == SEND_OPS_ANY ? rules->ops : ops) & ~KEY_OPS);
}

uint32_t mlx5_qp_usual_inline(const struct qp_rules *rules, uint32_t max_inline, uint32_t wqe_bytes)
{
	uint32_t start = mlx5_qp_data_head_size(rules, SEND_OPS_ANY) +
			 (uint32_t)sizeof(struct mlx5_wqe_inl_data_seg);

	return wqe_bytes > start ? min_of(max_inline, wqe_bytes - start) : 0;
}

/* Bit n of enum ibv_qp_create_send_ops_flags is value n of enum ibv_wr_opcode, so a mask of one
 * serves for the other. */
static_assert(IBV_QP_EX_WITH_RDMA_WRITE == 1 << IBV_WR_RDMA_WRITE, "ABI");
static_assert(IBV_QP_EX_WITH_SEND_WITH_IMM == 1 << IBV_WR_SEND_WITH_IMM, "ABI");
static_assert(IBV_QP_EX_WITH_RDMA_READ == 1 << IBV_WR_RDMA_READ, "ABI");
static_assert(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD == 1 << IBV_WR_ATOMIC_FETCH_AND_ADD, "ABI");
static_assert(IBV_QP_EX_WITH_LOCAL_INV == 1 << IBV_WR_LOCAL_INV, "ABI");
static_assert(IBV_QP_EX_WITH_BIND_MW == 1 << IBV_WR_BIND_MW, "ABI");
static_assert(IBV_QP_EX_WITH_SEND_WITH_INV == 1 << IBV_WR_SEND_WITH_INV, "ABI");
static_assert(IBV_QP_EX_WITH_TSO == 1 << IBV_WR_TSO, "ABI");

int mlx5_qp_send_opcodes(const struct qp_rules *rules, uint64_t ops, bool atomics,
			 uint32_t head_room, uint16_t *opcodes)
{
	uint64_t left = ops & ~rules->ops, mask = 0;

	for (uint64_t bit = 1; bit <= rules->ops; bit <<= 1)
		if (rules->ops & bit && (ops & bit || mlx5_qp_head_size(rules, bit) <= head_room))
			mask |= bit;
	if (!atomics)
		mask &= ~ATOMIC_OPS;
	*opcodes = (uint16_t)mask;
	if (!left || ops == SEND_OPS_ANY)
		return 0;
	verbs_warn("create_qp: send_ops_flags is %#llx: %s QP here does not have %#llx of it",
		   (unsigned long long)ops, rules->name, (unsigned long long)left);
	return EOPNOTSUPP;
}

uint16_t mlx5_qp_long_opcodes(const struct qp_rules *rules, bool atomics, uint16_t opcodes)
{
	const uint64_t mask = atomics ? rules->ops : rules->ops & ~ATOMIC_OPS;

	if (rules->kind != SEND_CONNECTED && rules->kind != SEND_XRC)
		return 0; /* all operations of other kinds have the same head */
	return (uint16_t)(mask & ~(uint64_t)opcodes);
}
