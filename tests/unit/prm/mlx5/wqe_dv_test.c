/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe_dv_test.c - compares the layouts of WQEs and CQEs in prm/mlx5 with the structures and
 * values of mlx5dv.h, which is the interface of programs and has its own tests. It is the compiler
 * that compares.
 *
 * Covers: prm/mlx5/wqe.h, prm/mlx5/cqe.h, providers/mlx5/mlx5dv.h
 */
#include <assert.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/tm_types.h>
#include <stddef.h>
#include <stdio.h>

#include "prm/mlx5/av.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/tm.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/wqe.h"

#define SIZE_OF(type, member) sizeof(((struct type *)0)->member)

/* FIELD is the whole of MEMBER. */
#define IS(field, type, member)                                              \
	static_assert(FLD_BIT(field) == offsetof(struct type, member) * 8 && \
			      FLD_WIDTH(field) == SIZE_OF(type, member) * 8, \
		      #field)
/* FIELD is a part of MEMBER. */
#define WITHIN(field, type, member)                                                                \
	static_assert(FLD_BIT(field) >= offsetof(struct type, member) * 8 &&                       \
			      FLD_BIT(field) + FLD_WIDTH(field) <=                                 \
				      (offsetof(struct type, member) + SIZE_OF(type, member)) * 8, \
		      #field)
/* The bit of its dword that a FIELD of one bit is */
#define TOP_BIT(field)     (1u << (31 - FLD_BIT(field) % 32))
#define EQUAL(own, theirs) static_assert((unsigned int)(own) == (unsigned int)(theirs), #own)

/* clang-format off */
WITHIN(CTRL_OPMOD, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
WITHIN(CTRL_INDEX, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
WITHIN(CTRL_OPCODE, mlx5_wqe_ctrl_seg, opmod_idx_opcode);
WITHIN(CTRL_QPN, mlx5_wqe_ctrl_seg, qpn_ds);
WITHIN(CTRL_DS, mlx5_wqe_ctrl_seg, qpn_ds);
WITHIN(CTRL_FM, mlx5_wqe_ctrl_seg, fm_ce_se);
WITHIN(CTRL_CE_SE, mlx5_wqe_ctrl_seg, fm_ce_se);
IS(CTRL_IMM, mlx5_wqe_ctrl_seg, imm);
EQUAL(WQE_SEG, sizeof(struct mlx5_wqe_ctrl_seg));
EQUAL(WQE_SEG, sizeof(struct mlx5_wqe_data_seg));
EQUAL(WQE_SEG, sizeof(struct mlx5_wqe_raddr_seg));
EQUAL(WQE_SEG, sizeof(struct mlx5_wqe_atomic_seg));
EQUAL(WQE_BB, MLX5_SEND_WQE_BB);
EQUAL(WQE_BB_LOG, MLX5_SEND_WQE_SHIFT);
EQUAL(WQE_BB, sizeof(struct mlx5_wqe_ctrl_seg) + sizeof(struct mlx5_wqe_datagram_seg));
EQUAL(WQE_CQ_UPDATE, MLX5_WQE_CTRL_CQ_UPDATE);
EQUAL(WQE_SOLICITED, MLX5_WQE_CTRL_SOLICITED);
EQUAL(WQE_FENCE_INITIATOR_SMALL << 5, MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE);
EQUAL(WQE_FENCE_SMALL_AND_STRONG << 5, MLX5_WQE_CTRL_FENCE);
EQUAL(WQE_NOP, MLX5_OPCODE_NOP);
EQUAL(WQE_SEND_INVAL, MLX5_OPCODE_SEND_INVAL);
EQUAL(WQE_RDMA_WRITE, MLX5_OPCODE_RDMA_WRITE);
EQUAL(WQE_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_WRITE_IMM);
EQUAL(WQE_SEND, MLX5_OPCODE_SEND);
EQUAL(WQE_SEND_IMM, MLX5_OPCODE_SEND_IMM);
EQUAL(WQE_LSO, MLX5_OPCODE_TSO);
EQUAL(WQE_RDMA_READ, MLX5_OPCODE_RDMA_READ);
EQUAL(WQE_ATOMIC_CS, MLX5_OPCODE_ATOMIC_CS);
EQUAL(WQE_ATOMIC_FA, MLX5_OPCODE_ATOMIC_FA);
EQUAL(WQE_MASKED_CS, MLX5_OPCODE_ATOMIC_MASKED_CS);
EQUAL(WQE_MASKED_FA, MLX5_OPCODE_ATOMIC_MASKED_FA);
EQUAL(WQE_UMR, MLX5_OPCODE_UMR);
EQUAL(WQE_TAG_MATCHING, MLX5_OPCODE_TAG_MATCHING);

IS(RADDR_ADDR, mlx5_wqe_raddr_seg, raddr);
IS(RADDR_RKEY, mlx5_wqe_raddr_seg, rkey);
IS(ATOMIC_SWAP_ADD, mlx5_wqe_atomic_seg, swap_add);
IS(ATOMIC_COMPARE, mlx5_wqe_atomic_seg, compare);
IS(DATA_LEN, mlx5_wqe_data_seg, byte_count);
IS(DATA_LKEY, mlx5_wqe_data_seg, lkey);
IS(DATA_ADDR, mlx5_wqe_data_seg, addr);
WITHIN(DATA_INLINE, mlx5_wqe_inl_data_seg, byte_count);
WITHIN(DATA_INLINE_LEN, mlx5_wqe_inl_data_seg, byte_count);
EQUAL(TOP_BIT(DATA_INLINE), MLX5_INLINE_SEG);
EQUAL(WQE_INLINE_HEADER, sizeof(struct mlx5_wqe_inl_data_seg));
EQUAL(WQE_TERMINATOR_LKEY, MLX5_INVALID_LKEY);
IS(SRQ_WQE_NEXT, mlx5_wqe_srq_next_seg, next_wqe_index);

IS(AV_QKEY, mlx5_wqe_av, key.qkey.qkey);
WITHIN(AV_EXTENDED, mlx5_wqe_av, dqp_dct);
WITHIN(AV_DQPN, mlx5_wqe_av, dqp_dct);
WITHIN(AV_STAT_RATE, mlx5_wqe_av, stat_rate_sl);
WITHIN(AV_SL, mlx5_wqe_av, stat_rate_sl);
WITHIN(AV_ETH_PRIO, mlx5_wqe_av, stat_rate_sl);
WITHIN(AV_MLID, mlx5_wqe_av, fl_mlid);
IS(AV_RLID, mlx5_wqe_av, rlid);
IS(AV_UDP_SPORT, mlx5_wqe_av, rlid);
WITHIN(AV_RMAC_47_16, mlx5_wqe_av, rmac);
WITHIN(AV_RMAC_15_0, mlx5_wqe_av, rmac);
IS(AV_TCLASS, mlx5_wqe_av, tclass);
IS(AV_HOP_LIMIT, mlx5_wqe_av, hop_limit);
WITHIN(AV_GRH, mlx5_wqe_av, grh_gid_fl);
WITHIN(AV_GID_INDEX, mlx5_wqe_av, grh_gid_fl);
WITHIN(AV_FLOW_LABEL, mlx5_wqe_av, grh_gid_fl);
EQUAL(FLD_BYTE(AV_RGID), offsetof(struct mlx5_wqe_av, rgid));

IS(ETH_CS, mlx5_wqe_eth_seg, cs_flags);
IS(ETH_SWP, mlx5_wqe_eth_seg, rsvd1);
WITHIN(ETH_MSS, mlx5_wqe_eth_seg, mss);
IS(ETH_INLINE, mlx5_wqe_eth_seg, inline_hdr_sz);
IS(ETH_TCI, mlx5_wqe_eth_seg, inline_hdr_start);
EQUAL(WQE_ETH_INLINE_START, offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start));
EQUAL(WQE_CS_L3, MLX5_ETH_WQE_L3_CSUM);
EQUAL(WQE_CS_L4, MLX5_ETH_WQE_L4_CSUM);

WITHIN(TM_SEG_OPCODE, mlx5_wqe_tm_seg, opcode);
IS(TM_SEG_FLAGS, mlx5_wqe_tm_seg, flags);
IS(TM_SEG_INDEX, mlx5_wqe_tm_seg, index);
IS(TM_SEG_SW_COUNT, mlx5_wqe_tm_seg, sw_cnt);
IS(TM_SEG_TAG, mlx5_wqe_tm_seg, append_tag);
IS(TM_SEG_MASK, mlx5_wqe_tm_seg, append_mask);
EQUAL(WQE_TM_SEG, sizeof(struct mlx5_wqe_tm_seg));

IS(TMH_OP, ibv_tmh, opcode);
IS(TMH_APP, ibv_tmh, app_ctx);
IS(TMH_TAG, ibv_tmh, tag);
IS(RVH_ADDR - FLD_PART(TM_HEADER), ibv_rvh, va);
IS(RVH_RKEY - FLD_PART(TM_HEADER), ibv_rvh, rkey);
IS(RVH_LEN - FLD_PART(TM_HEADER), ibv_rvh, len);
EQUAL(TM_HEADER, sizeof(struct ibv_tmh));
EQUAL(TM_RNDV_HEADER, sizeof(struct ibv_tmh) + sizeof(struct ibv_rvh));
EQUAL(TMH_NO_TAG, IBV_TMH_NO_TAG);
EQUAL(TMH_RNDV, IBV_TMH_RNDV);
EQUAL(TMH_FIN, IBV_TMH_FIN);
EQUAL(TMH_EAGER, IBV_TMH_EAGER);

IS(UMR_FLAGS, mlx5_wqe_umr_ctrl_seg, flags);
IS(UMR_XLT_OCTOWORDS, mlx5_wqe_umr_ctrl_seg, klm_octowords);
IS(UMR_XLT_OFFSET_15_0, mlx5_wqe_umr_ctrl_seg, translation_offset);
IS(UMR_MKEY_MASK, mlx5_wqe_umr_ctrl_seg, mkey_mask);
IS(KLM_BCOUNT, mlx5_wqe_umr_klm_seg, byte_count);
IS(KLM_KEY, mlx5_wqe_umr_klm_seg, mkey);
IS(KLM_VA, mlx5_wqe_umr_klm_seg, address);
EQUAL(UMR_CTRL_SIZE, sizeof(struct mlx5_wqe_umr_ctrl_seg));
EQUAL(UMR_MKEY_SIZE, sizeof(struct mlx5_wqe_mkey_context_seg));

WITHIN(CQE_PATH_BITS, mlx5_cqe64, ml_path);
IS(CQE_SLID, mlx5_cqe64, slid);
WITHIN(CQE_GRH, mlx5_cqe64, flags_rqpn);
WITHIN(CQE_SL, mlx5_cqe64, flags_rqpn);
WITHIN(CQE_L3, mlx5_cqe64, flags_rqpn);
WITHIN(CQE_RQPN, mlx5_cqe64, flags_rqpn);
WITHIN(CQE_VLAN_PRESENT, mlx5_cqe64, l4_hdr_type_etc);
IS(CQE_VLAN, mlx5_cqe64, vlan_info);
WITHIN(CQE_USER_INDEX, mlx5_cqe64, srqn_uidx);
IS(CQE_IMM, mlx5_cqe64, imm_inval_pkey);
IS(CQE_APP, mlx5_cqe64, app);
IS(CQE_APP_OP, mlx5_cqe64, app_op);
IS(CQE_APP_INFO, mlx5_cqe64, app_info);
IS(CQE_BYTE_COUNT, mlx5_cqe64, byte_cnt);
IS(CQE_TIMESTAMP, mlx5_cqe64, timestamp);
WITHIN(CQE_SEND_OPCODE, mlx5_cqe64, sop_drop_qpn);
WITHIN(CQE_QPN, mlx5_cqe64, sop_drop_qpn);
WITHIN(CQE_FLOW_TAG, mlx5_cqe64, sop_drop_qpn);
IS(CQE_WQE_COUNTER, mlx5_cqe64, wqe_counter);
WITHIN(CQE_OPCODE, mlx5_cqe64, op_own);
WITHIN(CQE_FLAGS, mlx5_cqe64, op_own);
WITHIN(CQE_FORMAT, mlx5_cqe64, op_own);
WITHIN(CQE_OWNER, mlx5_cqe64, op_own);
WITHIN(CQE_HEADERS_OK, mlx5_cqe64, hds_ip_ext);
WITHIN(CQE_ETH_L3_TYPE, mlx5_cqe64, l4_hdr_type_etc);
WITHIN(CQE_ETH_L4_TYPE, mlx5_cqe64, l4_hdr_type_etc);
WITHIN(CQE_TM_SUCCESS, mlx5_tm_cqe, success);
IS(CQE_TM_HW_PHASE, mlx5_tm_cqe, hw_phase_cnt);
IS(CQE_SYNDROME, mlx5_err_cqe, syndrome);
IS(CQE_VENDOR_SYNDROME, mlx5_err_cqe, vendor_err_synd);
EQUAL(TOP_BIT(CQE_OWNER), MLX5_CQE_OWNER_MASK);
EQUAL(PRM_CQE_SIZE, sizeof(struct mlx5_cqe64));
EQUAL(PRM_CQE_SIZE, sizeof(struct mlx5_err_cqe));
EQUAL(CQE_INLINE_32, MLX5_INLINE_SCATTER_32);
EQUAL(CQE_INLINE_64, MLX5_INLINE_SCATTER_64);
EQUAL(CQE_OP_REQ, MLX5_CQE_REQ);
EQUAL(CQE_OP_RESP_WRITE_IMM, MLX5_CQE_RESP_WR_IMM);
EQUAL(CQE_OP_RESP_SEND, MLX5_CQE_RESP_SEND);
EQUAL(CQE_OP_RESP_SEND_IMM, MLX5_CQE_RESP_SEND_IMM);
EQUAL(CQE_OP_RESP_SEND_INVAL, MLX5_CQE_RESP_SEND_INV);
EQUAL(CQE_OP_RESIZE, MLX5_CQE_RESIZE_CQ);
EQUAL(CQE_OP_NO_PACKET, MLX5_CQE_NO_PACKET);
EQUAL(CQE_OP_REQ_ERR, MLX5_CQE_REQ_ERR);
EQUAL(CQE_OP_RESP_ERR, MLX5_CQE_RESP_ERR);
EQUAL(CQE_OP_INVALID, MLX5_CQE_INVALID);
EQUAL(SYND_LOCAL_LENGTH, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR);
EQUAL(SYND_LOCAL_QP_OP, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR);
EQUAL(SYND_LOCAL_PROT, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR);
EQUAL(SYND_FLUSH, MLX5_CQE_SYNDROME_WR_FLUSH_ERR);
EQUAL(SYND_MW_BIND, MLX5_CQE_SYNDROME_MW_BIND_ERR);
EQUAL(SYND_BAD_RESPONSE, MLX5_CQE_SYNDROME_BAD_RESP_ERR);
EQUAL(SYND_LOCAL_ACCESS, MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR);
EQUAL(SYND_REMOTE_INVAL_REQ, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR);
EQUAL(SYND_REMOTE_ACCESS, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR);
EQUAL(SYND_REMOTE_OP, MLX5_CQE_SYNDROME_REMOTE_OP_ERR);
EQUAL(SYND_RETRY_EXCEEDED, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR);
EQUAL(SYND_RNR_EXCEEDED, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR);
EQUAL(SYND_REMOTE_ABORTED, MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR);
EQUAL(CQE_L2_OK, MLX5_CQE_L2_OK);
EQUAL(CQE_L3_OK, MLX5_CQE_L3_OK);
EQUAL(CQE_L4_OK, MLX5_CQE_L4_OK);
EQUAL(CQE_ETH_L3_NONE, MLX5_CQE_L3_HDR_TYPE_NONE);
EQUAL(CQE_ETH_L3_IPV6, MLX5_CQE_L3_HDR_TYPE_IPV6);
EQUAL(CQE_ETH_L3_IPV4, MLX5_CQE_L3_HDR_TYPE_IPV4);

EQUAL(FLD_BYTE(QP_DBREC_RECV) / 4, MLX5_RCV_DBR);
EQUAL(FLD_BYTE(QP_DBREC_SEND) / 4, MLX5_SND_DBR);
EQUAL(TOP_BIT(CQ_ARM_SOLICITED_ONLY), MLX5_CQ_DB_REQ_NOT_SOL);
EQUAL(PRM_UAR_CQ, MLX5_CQ_DOORBELL);
/* clang-format on */

int main(void)
{
	printf("the facts are those of mlx5dv.h\n");
	return 0;
}
