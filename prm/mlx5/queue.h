/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queue.h - facts of the device ABI beyond the public mlx5dv.h: limits of queues, layout of
 * completions and of the doorbell page, and what syndromes mean. Facts only: no policy, and nothing
 * here knows a queue of ours.
 */
#ifndef PRM_MLX5_QUEUE_H
#define PRM_MLX5_QUEUE_H

#include <assert.h>
#include <infiniband/mlx5dv.h>
#include <stddef.h>

/* Send queue: WQEs are made of 64-byte basic blocks (WQEBB), segments are counted in 16-byte
 * units (DS). */
#define PRM_DS_SIZE        16
#define PRM_WQEBB_SIZE     64
#define PRM_WQEBB_DS       (PRM_WQEBB_SIZE / PRM_DS_SIZE)
#define PRM_WQEBB_LOG      6
#define PRM_WQE_MAX_DS     63     /* ctrl.qpn_ds has 6 bits for it */
#define PRM_WQE_INDEX_MASK 0xffff /* ctrl.opmod_idx_opcode, doorbell record and CQE carry 16 bits */
#define PRM_QPN_MASK       0xffffff
#define PRM_NO_USER_INDEX  0xffffff /* of a QP whose CQEs carry none: CQE version 0 */

/* Bytes of a frame that devices which look at its Ethernet header want to have in the WQE. */
#define PRM_ETH_MIN_HEADER 18

/* XRC: which SRQ of the receiver the message is for. mlx5dv.h has no name for it. */
struct prm_wqe_xrc_seg {
	__be32 srqn;
	uint8_t reserved[12];
};

/* Completion queue. */
#define PRM_CQE_INDEX_MASK \
	0xffffff             /* doorbell records of a CQ carry 24 bits of its consumer index */
#define PRM_CQ_ARM_CMD_SN 28 /* sequence number of an arm request: bits 29:28 of record word 1 */
#define PRM_CQE_FORMAT_MASK \
	0x0c /* op_own: payload elsewhere, in 32 bytes, in 64 bytes; or compressed */
#define PRM_CQE_OPCODE_SHIFT 4

/* Doorbell page (UAR): where its registers are. Each BlueFlame register is two buffers, used in
 * turn. */
#define PRM_UAR_SIZE        4096
#define PRM_UAR_BF_OFFSET   0x800
#define PRM_UAR_BF_PER_PAGE 2

/* Address vector: fields of grh_gid_fl. */
#define PRM_AV_GRH_SHIFT  30
#define PRM_AV_SGID_SHIFT 20

/* Record words. */
enum prm_cq_dbrec {
	PRM_CQ_DBREC_CI = 0,
	PRM_CQ_DBREC_ARM = 1,
};

/* CQE: fields inside flags_rqpn, ml_path and sop_drop_qpn. */
#define PRM_CQE_RQPN_MASK     0xffffff
#define PRM_CQE_SL_SHIFT      24
#define PRM_CQE_SL_MASK       0xf
#define PRM_CQE_GRH_SHIFT     28
#define PRM_CQE_GRH_MASK      0x3
#define PRM_CQE_PATH_MASK     0x7f
#define PRM_CQE_L3_HDR_SHIFT  2 /* in l4_hdr_type_etc */
#define PRM_CQE_L3_HDR_MASK   0x3
#define PRM_CQE_SEND_OP_SHIFT 24 /* sop_drop_qpn: opcode of the send WQE in a requester's CQE */

static_assert(sizeof(struct mlx5_wqe_ctrl_seg) == PRM_DS_SIZE, "PRM: Control Segment");
static_assert(offsetof(struct mlx5_wqe_ctrl_seg, fm_ce_se) == 11, "PRM: Control Segment, byte 0Bh");
static_assert(offsetof(struct mlx5_wqe_ctrl_seg, imm) == 12, "PRM: Control Segment, byte 0Ch");
static_assert(sizeof(struct prm_wqe_xrc_seg) == PRM_DS_SIZE, "PRM: XRC Segment");
static_assert(sizeof(struct mlx5_wqe_datagram_seg) == 48, "PRM: UD Address Vector, full");
static_assert(sizeof(struct mlx5_wqe_raddr_seg) == PRM_DS_SIZE, "PRM: Remote Address Segment");
static_assert(offsetof(struct mlx5_wqe_raddr_seg, rkey) == 8,
	      "PRM: Remote Address Segment, byte 08h");
static_assert(sizeof(struct mlx5_wqe_atomic_seg) == PRM_DS_SIZE, "PRM: Atomic Segment");
static_assert(offsetof(struct mlx5_wqe_atomic_seg, compare) == 8, "PRM: Atomic Segment, byte 08h");
static_assert(sizeof(struct mlx5_wqe_data_seg) == PRM_DS_SIZE, "PRM: Data Segment, pointer");
static_assert(offsetof(struct mlx5_wqe_data_seg, lkey) == 4, "PRM: Data Segment, byte 04h");
static_assert(offsetof(struct mlx5_wqe_data_seg, addr) == 8, "PRM: Data Segment, byte 08h");
static_assert(sizeof(struct mlx5_wqe_inl_data_seg) == 4, "PRM: Data Segment, inline header");
static_assert(sizeof(struct mlx5_cqe64) == 64, "PRM: CQE");
static_assert(offsetof(struct mlx5_cqe64, srqn_uidx) == 32, "PRM: CQE, byte 20h");
static_assert(offsetof(struct mlx5_cqe64, byte_cnt) == 44, "PRM: CQE, byte 2Ch");
static_assert(offsetof(struct mlx5_cqe64, timestamp) == 48, "PRM: CQE, byte 30h");
static_assert(offsetof(struct mlx5_cqe64, sop_drop_qpn) == 56, "PRM: CQE, byte 38h");
static_assert(offsetof(struct mlx5_cqe64, op_own) == 63, "PRM: CQE, byte 3Fh");
static_assert(sizeof(struct mlx5_err_cqe) == 64, "PRM: CQE with error");
static_assert(offsetof(struct mlx5_err_cqe, vendor_err_synd) == 54,
	      "PRM: CQE with error, byte 36h");
static_assert(offsetof(struct mlx5_err_cqe, syndrome) == 55, "PRM: CQE with error, byte 37h");

#endif
