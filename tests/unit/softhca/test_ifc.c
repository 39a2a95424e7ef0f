/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_ifc.c - compares each field, opcode and status below prm/mlx5 with the kernel's headers:
 * layouts by offsetof and sizeof (there, a bit is a byte), values that are macros or enums by what
 * the compiler or the text of the header says. Skips where the headers are not installed.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KERNEL_MLX5

int main(void)
{
	printf("skipped: no linux/mlx5/mlx5_ifc.h; install linux-headers-*-common\n");
	return 77;
}

#else

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT(n)     (1u << (n))
#define BIT_ULL(n) (1ull << (n))
#include <mlx5_ifc.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/driver.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/flow.h"
#include "prm/mlx5/mcg.h"
#include "prm/mlx5/memic.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/pacing.h"
#include "prm/mlx5/pd.h"
#include "prm/mlx5/q_counter.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/reg.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/tir.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/umr.h"
#include "prm/mlx5/vport.h"
#include "prm/mlx5/wq.h"
#include "prm/mlx5/wqe.h"
#include "tests/unit/softhca/kernel_text.h"
#include "util/bits.h"

struct pair {
	const char *name;
	uint64_t ours, theirs;
};

/* A field has its width, a part (what another layout fills) only its place. */
#define FIELD(own, layout, member)                                 \
	{ #own, own,                                               \
	  offsetof(struct mlx5_ifc_##layout##_bits, member) << 8 | \
		  sizeof(((struct mlx5_ifc_##layout##_bits *)0)->member) },
#define PART(own, layout, member) \
	{ #own, own, offsetof(struct mlx5_ifc_##layout##_bits, member) << 8 },

/* clang-format off */
static const struct pair layouts[] = {
	FIELD(CMD_IN_OPCODE, alloc_pd_in, opcode)
	FIELD(CMD_IN_UID, alloc_pd_in, uid)
	FIELD(CMD_IN_OP_MOD, alloc_pd_in, op_mod)
	FIELD(CMD_OUT_STATUS, alloc_pd_out, status)
	FIELD(CMD_OUT_SYNDROME, alloc_pd_out, syndrome)
	FIELD(QUERY_HCA_CAP_IN_OTHER_FUNCTION, query_hca_cap_in, other_function)
	FIELD(QUERY_HCA_CAP_IN_FUNCTION_ID, query_hca_cap_in, function_id)
	PART(QUERY_HCA_CAP_OUT_CAPABILITY, query_hca_cap_out, capability)
	FIELD(SET_PP_RATE_LIMIT_IN_RATE_LIMIT_INDEX, set_pp_rate_limit_in, rate_limit_index)
	PART(SET_PP_RATE_LIMIT_IN_CTX, set_pp_rate_limit_in, ctx)
	FIELD(PP_CONTEXT_RATE_LIMIT, set_pp_rate_limit_context, rate_limit)
	FIELD(PP_CONTEXT_BURST_UPPER_BOUND, set_pp_rate_limit_context, burst_upper_bound)
	FIELD(PP_CONTEXT_TYPICAL_PACKET_SIZE, set_pp_rate_limit_context, typical_packet_size)
	FIELD(QOS_CAP_PACKET_PACING, qos_cap, packet_pacing)
	FIELD(QOS_CAP_PACKET_PACING_BURST_BOUND, qos_cap, packet_pacing_burst_bound)
	FIELD(QOS_CAP_PACKET_PACING_TYPICAL_SIZE, qos_cap, packet_pacing_typical_size)
	FIELD(QOS_CAP_PACKET_PACING_MAX_RATE, qos_cap, packet_pacing_max_rate)
	FIELD(QOS_CAP_PACKET_PACING_MIN_RATE, qos_cap, packet_pacing_min_rate)
	FIELD(QOS_CAP_PACKET_PACING_RATE_TABLE_SIZE, qos_cap, packet_pacing_rate_table_size)
	PART(CREATE_XRQ_IN_XRQ_CONTEXT, create_xrq_in, xrq_context)
	PART(CREATE_XRQ_IN_PAS, create_xrq_in, xrq_context.wq.pas)
	FIELD(CREATE_XRQ_OUT_XRQN, create_xrq_out, xrqn)
	FIELD(DESTROY_XRQ_IN_XRQN, destroy_xrq_in, xrqn)
	FIELD(QUERY_XRQ_IN_XRQN, query_xrq_in, xrqn)
	PART(QUERY_XRQ_OUT_XRQ_CONTEXT, query_xrq_out, xrq_context)
	FIELD(ARM_RQ_IN_SRQ_NUMBER, arm_rq_in, srq_number)
	FIELD(ARM_RQ_IN_LWM, arm_rq_in, lwm)
	FIELD(XRQC_STATE, xrqc, state)
	FIELD(XRQC_TOPOLOGY, xrqc, topology)
	FIELD(XRQC_OFFLOAD, xrqc, offload)
	FIELD(XRQC_USER_INDEX, xrqc, user_index)
	FIELD(XRQC_CQN, xrqc, cqn)
	FIELD(XRQC_LOG_MATCHING_LIST_SZ, xrqc, tag_matching_topology_context.log_matching_list_sz)
	FIELD(XRQC_APPEND_NEXT_INDEX, xrqc, tag_matching_topology_context.append_next_index)
	FIELD(XRQC_SW_PHASE_CNT, xrqc, tag_matching_topology_context.sw_phase_cnt)
	FIELD(XRQC_HW_PHASE_CNT, xrqc, tag_matching_topology_context.hw_phase_cnt)
	PART(XRQC_WQ, xrqc, wq)
	FIELD(HCA_CAP_TAG_MATCHING, cmd_hca_cap, tag_matching)
	FIELD(HCA_CAP_RNDV_OFFLOAD_RC, cmd_hca_cap, rndv_offload_rc)
	FIELD(HCA_CAP_LOG_TAG_MATCHING_LIST_SZ, cmd_hca_cap, log_tag_matching_list_sz)
	FIELD(HCA_CAP_LOG_MAX_XRQ, cmd_hca_cap, log_max_xrq)
	FIELD(HCA_CAP_VHCA_ID, cmd_hca_cap, vhca_id)
	FIELD(HCA_CAP_LOG_MAX_SRQ_SZ, cmd_hca_cap, log_max_srq_sz)
	FIELD(HCA_CAP_LOG_MAX_QP_SZ, cmd_hca_cap, log_max_qp_sz)
	FIELD(HCA_CAP_EVENT_CAP, cmd_hca_cap, event_cap)
	FIELD(HCA_CAP_LOG_MAX_QP, cmd_hca_cap, log_max_qp)
	FIELD(HCA_CAP_LOG_MAX_SRQ, cmd_hca_cap, log_max_srq)
	FIELD(HCA_CAP_MAX_SGL_FOR_OPTIMIZED_PERFORMANCE, cmd_hca_cap, max_sgl_for_optimized_performance)
	FIELD(HCA_CAP_LOG_MAX_CQ_SZ, cmd_hca_cap, log_max_cq_sz)
	FIELD(HCA_CAP_RELAXED_ORDERING_WRITE, cmd_hca_cap, relaxed_ordering_write)
	FIELD(HCA_CAP_RELAXED_ORDERING_READ, cmd_hca_cap, relaxed_ordering_read)
	FIELD(HCA_CAP_LOG_MAX_CQ, cmd_hca_cap, log_max_cq)
	FIELD(HCA_CAP_LOG_MAX_EQ_SZ, cmd_hca_cap, log_max_eq_sz)
	FIELD(HCA_CAP_LOG_MAX_MKEY, cmd_hca_cap, log_max_mkey)
	FIELD(HCA_CAP_LOG_MAX_EQ, cmd_hca_cap, log_max_eq)
	FIELD(HCA_CAP_MAX_INDIRECTION, cmd_hca_cap, max_indirection)
	FIELD(HCA_CAP_FIXED_BUFFER_SIZE, cmd_hca_cap, fixed_buffer_size)
	FIELD(HCA_CAP_LOG_MAX_MRW_SZ, cmd_hca_cap, log_max_mrw_sz)
	FIELD(HCA_CAP_LOG_MAX_KLM_LIST_SIZE, cmd_hca_cap, log_max_klm_list_size)
	FIELD(HCA_CAP_NULL_MKEY, cmd_hca_cap, null_mkey)
	FIELD(HCA_CAP_CQE_128_ALWAYS, cmd_hca_cap, cqe_128_always)
	FIELD(HCA_CAP_LOG_MAX_RA_REQ_QP, cmd_hca_cap, log_max_ra_req_qp)
	FIELD(HCA_CAP_LOG_MAX_RA_RES_QP, cmd_hca_cap, log_max_ra_res_qp)
	FIELD(HCA_CAP_END_PAD, cmd_hca_cap, end_pad)
	FIELD(HCA_CAP_START_PAD, cmd_hca_cap, start_pad)
	FIELD(HCA_CAP_CACHE_LINE_128BYTE, cmd_hca_cap, cache_line_128byte)
	FIELD(HCA_CAP_GID_TABLE_SIZE, cmd_hca_cap, gid_table_size)
	FIELD(HCA_CAP_MAX_QP_CNT, cmd_hca_cap, max_qp_cnt)
	FIELD(HCA_CAP_PKEY_TABLE_SIZE, cmd_hca_cap, pkey_table_size)
	FIELD(HCA_CAP_VPORT_GROUP_MANAGER, cmd_hca_cap, vport_group_manager)
	FIELD(HCA_CAP_IB_VIRT, cmd_hca_cap, ib_virt)
	FIELD(HCA_CAP_ETH_VIRT, cmd_hca_cap, eth_virt)
	FIELD(HCA_CAP_ETS, cmd_hca_cap, ets)
	FIELD(HCA_CAP_NIC_FLOW_TABLE, cmd_hca_cap, nic_flow_table)
	FIELD(HCA_CAP_LOCAL_CA_ACK_DELAY, cmd_hca_cap, local_ca_ack_delay)
	FIELD(HCA_CAP_PORT_TYPE, cmd_hca_cap, port_type)
	FIELD(HCA_CAP_NUM_PORTS, cmd_hca_cap, num_ports)
	FIELD(HCA_CAP_LOG_MAX_MSG, cmd_hca_cap, log_max_msg)
	FIELD(HCA_CAP_MAX_TC, cmd_hca_cap, max_tc)
	FIELD(HCA_CAP_STAT_RATE_SUPPORT, cmd_hca_cap, stat_rate_support)
	FIELD(HCA_CAP_CQE_VERSION, cmd_hca_cap, cqe_version)
	FIELD(HCA_CAP_COMPACT_ADDRESS_VECTOR, cmd_hca_cap, compact_address_vector)
	FIELD(HCA_CAP_STRIDING_RQ, cmd_hca_cap, striding_rq)
	FIELD(HCA_CAP_UMR_MODIFY_ENTITY_SIZE_DISABLED, cmd_hca_cap, umr_modify_entity_size_disabled)
	FIELD(HCA_CAP_UMR_MODIFY_ATOMIC_DISABLED, cmd_hca_cap, umr_modify_atomic_disabled)
	FIELD(HCA_CAP_UMR_INDIRECT_MKEY_DISABLED, cmd_hca_cap, umr_indirect_mkey_disabled)
	FIELD(HCA_CAP_UMR_FENCE, cmd_hca_cap, umr_fence)
	FIELD(HCA_CAP_DRAIN_SIGERR, cmd_hca_cap, drain_sigerr)
	FIELD(HCA_CAP_CMDIF_CHECKSUM, cmd_hca_cap, cmdif_checksum)
	FIELD(HCA_CAP_SIGERR_CQE, cmd_hca_cap, sigerr_cqe)
	FIELD(HCA_CAP_WQ_SIGNATURE, cmd_hca_cap, wq_signature)
	FIELD(HCA_CAP_SCTR_DATA_CQE, cmd_hca_cap, sctr_data_cqe)
	FIELD(HCA_CAP_QOS, cmd_hca_cap, qos)
	FIELD(HCA_CAP_ETH_NET_OFFLOADS, cmd_hca_cap, eth_net_offloads)
	FIELD(HCA_CAP_ROCE, cmd_hca_cap, roce)
	FIELD(HCA_CAP_ATOMIC, cmd_hca_cap, atomic)
	FIELD(HCA_CAP_CQ_OI, cmd_hca_cap, cq_oi)
	FIELD(HCA_CAP_CQ_RESIZE, cmd_hca_cap, cq_resize)
	FIELD(HCA_CAP_CQ_MODERATION, cmd_hca_cap, cq_moderation)
	FIELD(HCA_CAP_CQ_EQ_REMAP, cmd_hca_cap, cq_eq_remap)
	FIELD(HCA_CAP_PG, cmd_hca_cap, pg)
	FIELD(HCA_CAP_BLOCK_LB_MC, cmd_hca_cap, block_lb_mc)
	FIELD(HCA_CAP_CQ_PERIOD_START_FROM_CQE, cmd_hca_cap, cq_period_start_from_cqe)
	FIELD(HCA_CAP_CD, cmd_hca_cap, cd)
	FIELD(HCA_CAP_APM, cmd_hca_cap, apm)
	FIELD(HCA_CAP_UMR_PTR_RLKY, cmd_hca_cap, umr_ptr_rlky)
	FIELD(HCA_CAP_IMAICL, cmd_hca_cap, imaicl)
	FIELD(HCA_CAP_QP_PACKET_BASED, cmd_hca_cap, qp_packet_based)
	FIELD(HCA_CAP_QKV, cmd_hca_cap, qkv)
	FIELD(HCA_CAP_PKV, cmd_hca_cap, pkv)
	FIELD(HCA_CAP_SET_DETH_SQPN, cmd_hca_cap, set_deth_sqpn)
	FIELD(HCA_CAP_XRC, cmd_hca_cap, xrc)
	FIELD(HCA_CAP_UD, cmd_hca_cap, ud)
	FIELD(HCA_CAP_UC, cmd_hca_cap, uc)
	FIELD(HCA_CAP_RC, cmd_hca_cap, rc)
	FIELD(HCA_CAP_UAR_4K, cmd_hca_cap, uar_4k)
	FIELD(HCA_CAP_UAR_SZ, cmd_hca_cap, uar_sz)
	FIELD(HCA_CAP_LOG_PG_SZ, cmd_hca_cap, log_pg_sz)
	FIELD(HCA_CAP_BF, cmd_hca_cap, bf)
	FIELD(HCA_CAP_DRIVER_VERSION, cmd_hca_cap, driver_version)
	FIELD(HCA_CAP_LOG_BF_REG_SIZE, cmd_hca_cap, log_bf_reg_size)
	FIELD(HCA_CAP_MAX_WQE_SZ_SQ, cmd_hca_cap, max_wqe_sz_sq)
	FIELD(HCA_CAP_MAX_WQE_SZ_RQ, cmd_hca_cap, max_wqe_sz_rq)
	FIELD(HCA_CAP_MAX_WQE_SZ_SQ_DC, cmd_hca_cap, max_wqe_sz_sq_dc)
	FIELD(HCA_CAP_MAX_QP_MCG, cmd_hca_cap, max_qp_mcg)
	FIELD(HCA_CAP_LOG_MAX_MCG, cmd_hca_cap, log_max_mcg)
	FIELD(HCA_CAP_LOG_MAX_TRANSPORT_DOMAIN, cmd_hca_cap, log_max_transport_domain)
	FIELD(HCA_CAP_LOG_MAX_PD, cmd_hca_cap, log_max_pd)
	FIELD(HCA_CAP_LOG_MAX_XRCD, cmd_hca_cap, log_max_xrcd)
	FIELD(HCA_CAP_LOG_MAX_RQ, cmd_hca_cap, log_max_rq)
	FIELD(HCA_CAP_LOG_MAX_SQ, cmd_hca_cap, log_max_sq)
	FIELD(HCA_CAP_LOG_MAX_TIR, cmd_hca_cap, log_max_tir)
	FIELD(HCA_CAP_LOG_MAX_TIS, cmd_hca_cap, log_max_tis)
	FIELD(HCA_CAP_LOG_MAX_RMP, cmd_hca_cap, log_max_rmp)
	FIELD(HCA_CAP_LOG_MAX_RQT, cmd_hca_cap, log_max_rqt)
	FIELD(HCA_CAP_LOG_MAX_RQT_SIZE, cmd_hca_cap, log_max_rqt_size)
	FIELD(HCA_CAP_LOG_MAX_STRIDE_SZ_RQ, cmd_hca_cap, log_max_stride_sz_rq)
	FIELD(HCA_CAP_LOG_MIN_STRIDE_SZ_RQ, cmd_hca_cap, log_min_stride_sz_rq)
	FIELD(HCA_CAP_LOG_MAX_STRIDE_SZ_SQ, cmd_hca_cap, log_max_stride_sz_sq)
	FIELD(HCA_CAP_LOG_MIN_STRIDE_SZ_SQ, cmd_hca_cap, log_min_stride_sz_sq)
	FIELD(HCA_CAP_LOG_MAX_WQ_SZ, cmd_hca_cap, log_max_wq_sz)
	FIELD(HCA_CAP_GENERAL_OBJ_TYPES, cmd_hca_cap, general_obj_types)
	FIELD(HCA_CAP_LOG_MAX_UCTX, cmd_hca_cap, log_max_uctx)
	FIELD(HCA_CAP_LOG_MAX_UMEM, cmd_hca_cap, log_max_umem)
	FIELD(HCA_CAP_MAX_NUM_EQS, cmd_hca_cap, max_num_eqs)
	FIELD(HCA_CAP_LOG_UAR_PAGE_SZ, cmd_hca_cap, log_uar_page_sz)
	FIELD(HCA_CAP_DEVICE_FREQUENCY_MHZ, cmd_hca_cap, device_frequency_mhz)
	FIELD(HCA_CAP_DEVICE_FREQUENCY_KHZ, cmd_hca_cap, device_frequency_khz)
	FIELD(HCA_CAP_NUM_OF_UARS_PER_PAGE, cmd_hca_cap, num_of_uars_per_page)
	FIELD(HCA_CAP_SQ_TS_FORMAT, cmd_hca_cap, sq_ts_format)
	FIELD(HCA_CAP_RQ_TS_FORMAT, cmd_hca_cap, rq_ts_format)
	FIELD(ATOMIC_CAPS_ATOMIC_REQ_8B_ENDIANNESS_MODE, atomic_caps, atomic_req_8B_endianness_mode)
	FIELD(ATOMIC_CAPS_SUPPORTED_ATOMIC_REQ_8B_ENDIANNESS_MODE_1, atomic_caps, supported_atomic_req_8B_endianness_mode_1)
	FIELD(ATOMIC_CAPS_ATOMIC_OPERATIONS, atomic_caps, atomic_operations)
	FIELD(ATOMIC_CAPS_ATOMIC_SIZE_QP, atomic_caps, atomic_size_qp)
	FIELD(ATOMIC_CAPS_ATOMIC_SIZE_DC, atomic_caps, atomic_size_dc)
	FIELD(ROCE_CAP_ROCE_APM, roce_cap, roce_apm)
	FIELD(ROCE_CAP_SW_R_ROCE_SRC_UDP_PORT, roce_cap, sw_r_roce_src_udp_port)
	FIELD(ROCE_CAP_QP_TS_FORMAT, roce_cap, qp_ts_format)
	FIELD(ROCE_CAP_L3_TYPE, roce_cap, l3_type)
	FIELD(ROCE_CAP_ROCE_VERSION, roce_cap, roce_version)
	FIELD(ROCE_CAP_R_ROCE_DEST_UDP_PORT, roce_cap, r_roce_dest_udp_port)
	FIELD(ROCE_CAP_R_ROCE_MAX_SRC_UDP_PORT, roce_cap, r_roce_max_src_udp_port)
	FIELD(ROCE_CAP_R_ROCE_MIN_SRC_UDP_PORT, roce_cap, r_roce_min_src_udp_port)
	FIELD(ROCE_CAP_ROCE_ADDRESS_TABLE_SIZE, roce_cap, roce_address_table_size)
	PART(QUERY_ADAPTER_OUT_QUERY_ADAPTER_STRUCT, query_adapter_out, query_adapter_struct)
	FIELD(ADAPTER_IEEE_VENDOR_ID, query_adapter_param_block, ieee_vendor_id)
	FIELD(ADAPTER_VSD_VENDOR_ID, query_adapter_param_block, vsd_vendor_id)
	PART(ADAPTER_VSD, query_adapter_param_block, vsd)
	PART(ADAPTER_VSD_CONTD_PSID, query_adapter_param_block, vsd_contd_psid)
	FIELD(ALLOC_UAR_OUT_UAR, alloc_uar_out, uar)
	FIELD(DEALLOC_UAR_IN_UAR, dealloc_uar_in, uar)
	FIELD(ALLOC_PD_OUT_PD, alloc_pd_out, pd)
	FIELD(DEALLOC_PD_IN_PD, dealloc_pd_in, pd)
	FIELD(ALLOC_TRANSPORT_DOMAIN_OUT_TRANSPORT_DOMAIN, alloc_transport_domain_out, transport_domain)
	FIELD(DEALLOC_TRANSPORT_DOMAIN_IN_TRANSPORT_DOMAIN, dealloc_transport_domain_in, transport_domain)
	FIELD(QUERY_SPECIAL_CONTEXTS_OUT_DUMP_FILL_MKEY, query_special_contexts_out, dump_fill_mkey)
	FIELD(QUERY_SPECIAL_CONTEXTS_OUT_RESD_LKEY, query_special_contexts_out, resd_lkey)
	FIELD(QUERY_SPECIAL_CONTEXTS_OUT_NULL_MKEY, query_special_contexts_out, null_mkey)
	FIELD(CREATE_MKEY_IN_PG_ACCESS, create_mkey_in, pg_access)
	FIELD(CREATE_MKEY_IN_MKEY_UMEM_VALID, create_mkey_in, mkey_umem_valid)
	PART(CREATE_MKEY_IN_MKC, create_mkey_in, memory_key_mkey_entry)
	FIELD(CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, create_mkey_in, translations_octword_actual_size)
	PART(CREATE_MKEY_IN_PAS, create_mkey_in, klm_pas_mtt)
	FIELD(CREATE_MKEY_OUT_MKEY_INDEX, create_mkey_out, mkey_index)
	FIELD(QUERY_MKEY_IN_MKEY_INDEX, query_mkey_in, mkey_index)
	FIELD(QUERY_MKEY_IN_PG_ACCESS, query_mkey_in, pg_access)
	PART(QUERY_MKEY_OUT_MKC, query_mkey_out, memory_key_mkey_entry)
	FIELD(DESTROY_MKEY_IN_MKEY_INDEX, destroy_mkey_in, mkey_index)
	FIELD(MKC_FREE, mkc, free)
	FIELD(MKC_ACCESS_MODE_4_2, mkc, access_mode_4_2)
	FIELD(MKC_RELAXED_ORDERING_WRITE, mkc, relaxed_ordering_write)
	FIELD(MKC_UMR_EN, mkc, umr_en)
	FIELD(MKC_A, mkc, a)
	FIELD(MKC_RW, mkc, rw)
	FIELD(MKC_RR, mkc, rr)
	FIELD(MKC_LW, mkc, lw)
	FIELD(MKC_LR, mkc, lr)
	FIELD(MKC_ACCESS_MODE_1_0, mkc, access_mode_1_0)
	FIELD(MKC_MA_TRANSLATION_MODE, mkc, ma_translation_mode)
	FIELD(MKC_QPN, mkc, qpn)
	FIELD(MKC_MKEY_7_0, mkc, mkey_7_0)
	FIELD(MKC_LENGTH64, mkc, length64)
	FIELD(MKC_BSF_EN, mkc, bsf_en)
	FIELD(MKC_EN_RINVAL, mkc, en_rinval)
	FIELD(MKC_PD, mkc, pd)
	FIELD(MKC_START_ADDR, mkc, start_addr)
	FIELD(MKC_LEN, mkc, len)
	FIELD(MKC_BSF_OCTWORD_SIZE, mkc, bsf_octword_size)
	FIELD(MKC_TRANSLATIONS_OCTWORD_SIZE, mkc, translations_octword_size)
	FIELD(MKC_RELAXED_ORDERING_READ, mkc, relaxed_ordering_read)
	FIELD(MKC_LOG_PAGE_SIZE, mkc, log_page_size)
	PART(CREATE_EQ_IN_EQC, create_eq_in, eq_context_entry)
	PART(CREATE_EQ_IN_EVENT_BITMASK, create_eq_in, event_bitmask)
	PART(CREATE_EQ_IN_PAS, create_eq_in, pas)
	FIELD(CREATE_EQ_OUT_EQ_NUMBER, create_eq_out, eq_number)
	FIELD(DESTROY_EQ_IN_EQ_NUMBER, destroy_eq_in, eq_number)
	FIELD(QUERY_EQ_IN_EQ_NUMBER, query_eq_in, eq_number)
	PART(QUERY_EQ_OUT_EQC, query_eq_out, eq_context_entry)
	FIELD(EQC_STATUS, eqc, status)
	FIELD(EQC_EC, eqc, ec)
	FIELD(EQC_OI, eqc, oi)
	FIELD(EQC_ST, eqc, st)
	FIELD(EQC_PAGE_OFFSET, eqc, page_offset)
	FIELD(EQC_LOG_EQ_SIZE, eqc, log_eq_size)
	FIELD(EQC_UAR_PAGE, eqc, uar_page)
	FIELD(EQC_INTR, eqc, intr)
	FIELD(EQC_LOG_PAGE_SIZE, eqc, log_page_size)
	FIELD(EQC_CONSUMER_COUNTER, eqc, consumer_counter)
	FIELD(EQC_PRODUCER_COUNTER, eqc, producer_counter)
	PART(CREATE_CQ_IN_CQC, create_cq_in, cq_context)
	FIELD(CREATE_CQ_IN_CQ_UMEM_VALID, create_cq_in, cq_umem_valid)
	PART(CREATE_CQ_IN_PAS, create_cq_in, pas)
	FIELD(CREATE_CQ_OUT_CQN, create_cq_out, cqn)
	FIELD(DESTROY_CQ_IN_CQN, destroy_cq_in, cqn)
	FIELD(QUERY_CQ_IN_CQN, query_cq_in, cqn)
	PART(QUERY_CQ_OUT_CQC, query_cq_out, cq_context)
	FIELD(MODIFY_CQ_IN_CQN, modify_cq_in, cqn)
	FIELD(MODIFY_CQ_IN_FIELD_SELECT, modify_cq_in, modify_field_select_resize_field_select)
	PART(MODIFY_CQ_IN_CQC, modify_cq_in, cq_context)
	FIELD(MODIFY_CQ_IN_CQ_UMEM_VALID, modify_cq_in, cq_umem_valid)
	PART(MODIFY_CQ_IN_PAS, modify_cq_in, pas)
	FIELD(CQC_STATUS, cqc, status)
	FIELD(CQC_DBR_UMEM_VALID, cqc, dbr_umem_valid)
	FIELD(CQC_CQE_SZ, cqc, cqe_sz)
	FIELD(CQC_CC, cqc, cc)
	FIELD(CQC_SCQE_BREAK_MODERATION_EN, cqc, scqe_break_moderation_en)
	FIELD(CQC_OI, cqc, oi)
	FIELD(CQC_CQ_PERIOD_MODE, cqc, cq_period_mode)
	FIELD(CQC_CQE_COMP_EN, cqc, cqe_comp_en)
	FIELD(CQC_MINI_CQE_RES_FORMAT, cqc, mini_cqe_res_format)
	FIELD(CQC_ST, cqc, st)
	FIELD(CQC_PAGE_OFFSET, cqc, page_offset)
	FIELD(CQC_LOG_CQ_SIZE, cqc, log_cq_size)
	FIELD(CQC_UAR_PAGE, cqc, uar_page)
	FIELD(CQC_CQ_PERIOD, cqc, cq_period)
	FIELD(CQC_CQ_MAX_COUNT, cqc, cq_max_count)
	FIELD(CQC_C_EQN, cqc, c_eqn_or_apu_element)
	FIELD(CQC_LOG_PAGE_SIZE, cqc, log_page_size)
	FIELD(CQC_LAST_NOTIFIED_INDEX, cqc, last_notified_index)
	FIELD(CQC_LAST_SOLICIT_INDEX, cqc, last_solicit_index)
	FIELD(CQC_CONSUMER_COUNTER, cqc, consumer_counter)
	FIELD(CQC_PRODUCER_COUNTER, cqc, producer_counter)
	FIELD(CQC_DBR_ADDR, cqc, dbr_addr)
	FIELD(CREATE_QP_IN_INPUT_QPN, create_qp_in, input_qpn)
	FIELD(CREATE_QP_IN_OPT_PARAM_MASK, create_qp_in, opt_param_mask)
	FIELD(CREATE_QP_IN_ECE, create_qp_in, ece)
	PART(CREATE_QP_IN_QPC, create_qp_in, qpc)
	FIELD(CREATE_QP_IN_WQ_UMEM_VALID, create_qp_in, wq_umem_valid)
	PART(CREATE_QP_IN_PAS, create_qp_in, pas)
	FIELD(CREATE_QP_OUT_QPN, create_qp_out, qpn)
	FIELD(CREATE_QP_OUT_ECE, create_qp_out, ece)
	FIELD(DESTROY_QP_IN_QPN, destroy_qp_in, qpn)
	FIELD(MODIFY_QP_IN_QPN, rst2init_qp_in, qpn)
	FIELD(MODIFY_QP_IN_OPT_PARAM_MASK, rst2init_qp_in, opt_param_mask)
	FIELD(MODIFY_QP_IN_ECE, rst2init_qp_in, ece)
	FIELD(MODIFY_QP_OUT_ECE, rst2init_qp_out, ece)
	PART(MODIFY_QP_IN_QPC, rst2init_qp_in, qpc)
	FIELD(QUERY_QP_IN_QPN, query_qp_in, qpn)
	FIELD(QUERY_QP_OUT_OPT_PARAM_MASK, query_qp_out, opt_param_mask)
	FIELD(QUERY_QP_OUT_ECE, query_qp_out, ece)
	PART(QUERY_QP_OUT_QPC, query_qp_out, qpc)
	PART(QUERY_QP_OUT_PAS, query_qp_out, pas)
	FIELD(QPC_STATE, qpc, state)
	FIELD(QPC_LAG_TX_PORT_AFFINITY, qpc, lag_tx_port_affinity)
	FIELD(QPC_ST, qpc, st)
	FIELD(QPC_ISOLATE_VL_TC, qpc, isolate_vl_tc)
	FIELD(QPC_PM_STATE, qpc, pm_state)
	FIELD(QPC_REQ_E2E_CREDIT_MODE, qpc, req_e2e_credit_mode)
	FIELD(QPC_OFFLOAD_TYPE, qpc, offload_type)
	FIELD(QPC_END_PADDING_MODE, qpc, end_padding_mode)
	FIELD(QPC_WQ_SIGNATURE, qpc, wq_signature)
	FIELD(QPC_BLOCK_LB_MC, qpc, block_lb_mc)
	FIELD(QPC_ATOMIC_LIKE_WRITE_EN, qpc, atomic_like_write_en)
	FIELD(QPC_LATENCY_SENSITIVE, qpc, latency_sensitive)
	FIELD(QPC_DRAIN_SIGERR, qpc, drain_sigerr)
	FIELD(QPC_PD, qpc, pd)
	FIELD(QPC_MTU, qpc, mtu)
	FIELD(QPC_LOG_MSG_MAX, qpc, log_msg_max)
	FIELD(QPC_LOG_RQ_SIZE, qpc, log_rq_size)
	FIELD(QPC_LOG_RQ_STRIDE, qpc, log_rq_stride)
	FIELD(QPC_NO_SQ, qpc, no_sq)
	FIELD(QPC_LOG_SQ_SIZE, qpc, log_sq_size)
	FIELD(QPC_TS_FORMAT, qpc, ts_format)
	FIELD(QPC_RLKY, qpc, rlky)
	FIELD(QPC_ULP_STATELESS_OFFLOAD_MODE, qpc, ulp_stateless_offload_mode)
	FIELD(QPC_COUNTER_SET_ID, qpc, counter_set_id)
	FIELD(QPC_UAR_PAGE, qpc, uar_page)
	FIELD(QPC_USER_INDEX, qpc, user_index)
	FIELD(QPC_LOG_PAGE_SIZE, qpc, log_page_size)
	FIELD(QPC_REMOTE_QPN, qpc, remote_qpn)
	PART(QPC_PRIMARY_PATH, qpc, primary_address_path)
	PART(QPC_SECONDARY_PATH, qpc, secondary_address_path)
	FIELD(QPC_LOG_ACK_REQ_FREQ, qpc, log_ack_req_freq)
	FIELD(QPC_LOG_SRA_MAX, qpc, log_sra_max)
	FIELD(QPC_RETRY_COUNT, qpc, retry_count)
	FIELD(QPC_RNR_RETRY, qpc, rnr_retry)
	FIELD(QPC_FRE, qpc, fre)
	FIELD(QPC_CUR_RNR_RETRY, qpc, cur_rnr_retry)
	FIELD(QPC_CUR_RETRY_COUNT, qpc, cur_retry_count)
	FIELD(QPC_NEXT_SEND_PSN, qpc, next_send_psn)
	FIELD(QPC_CQN_SND, qpc, cqn_snd)
	FIELD(QPC_DETH_SQPN, qpc, deth_sqpn)
	FIELD(QPC_LAST_ACKED_PSN, qpc, last_acked_psn)
	FIELD(QPC_SSN, qpc, ssn)
	FIELD(QPC_LOG_RRA_MAX, qpc, log_rra_max)
	FIELD(QPC_ATOMIC_MODE, qpc, atomic_mode)
	FIELD(QPC_RRE, qpc, rre)
	FIELD(QPC_RWE, qpc, rwe)
	FIELD(QPC_RAE, qpc, rae)
	FIELD(QPC_PAGE_OFFSET, qpc, page_offset)
	FIELD(QPC_CD_SLAVE_RECEIVE, qpc, cd_slave_receive)
	FIELD(QPC_CD_SLAVE_SEND, qpc, cd_slave_send)
	FIELD(QPC_CD_MASTER, qpc, cd_master)
	FIELD(QPC_MIN_RNR_NAK, qpc, min_rnr_nak)
	FIELD(QPC_NEXT_RCV_PSN, qpc, next_rcv_psn)
	FIELD(QPC_XRCD, qpc, xrcd)
	FIELD(QPC_CQN_RCV, qpc, cqn_rcv)
	FIELD(QPC_DBR_ADDR, qpc, dbr_addr)
	FIELD(QPC_Q_KEY, qpc, q_key)
	FIELD(QPC_RQ_TYPE, qpc, rq_type)
	FIELD(QPC_SRQN_RMPN_XRQN, qpc, srqn_rmpn_xrqn)
	FIELD(QPC_RMSN, qpc, rmsn)
	FIELD(QPC_HW_SQ_WQEBB_COUNTER, qpc, hw_sq_wqebb_counter)
	FIELD(QPC_SW_SQ_WQEBB_COUNTER, qpc, sw_sq_wqebb_counter)
	FIELD(QPC_HW_RQ_COUNTER, qpc, hw_rq_counter)
	FIELD(QPC_SW_RQ_COUNTER, qpc, sw_rq_counter)
	FIELD(QPC_CGS, qpc, cgs)
	FIELD(QPC_CS_REQ, qpc, cs_req)
	FIELD(QPC_CS_RES, qpc, cs_res)
	FIELD(QPC_DC_ACCESS_KEY, qpc, dc_access_key)
	FIELD(QPC_DBR_UMEM_VALID, qpc, dbr_umem_valid)
	FIELD(ADS_FL, ads, fl)
	FIELD(ADS_FREE_AR, ads, free_ar)
	FIELD(ADS_PKEY_INDEX, ads, pkey_index)
	FIELD(ADS_GRH, ads, grh)
	FIELD(ADS_MLID, ads, mlid)
	FIELD(ADS_RLID, ads, rlid)
	FIELD(ADS_ACK_TIMEOUT, ads, ack_timeout)
	FIELD(ADS_SRC_ADDR_INDEX, ads, src_addr_index)
	FIELD(ADS_STAT_RATE, ads, stat_rate)
	FIELD(ADS_HOP_LIMIT, ads, hop_limit)
	FIELD(ADS_TCLASS, ads, tclass)
	FIELD(ADS_FLOW_LABEL, ads, flow_label)
	PART(ADS_RGID_RIP, ads, rgid_rip)
	FIELD(ADS_F_DSCP, ads, f_dscp)
	FIELD(ADS_F_ECN, ads, f_ecn)
	FIELD(ADS_F_ETH_PRIO, ads, f_eth_prio)
	FIELD(ADS_ECN, ads, ecn)
	FIELD(ADS_DSCP, ads, dscp)
	FIELD(ADS_UDP_SPORT, ads, udp_sport)
	FIELD(ADS_DEI_CFI, ads, dei_cfi)
	FIELD(ADS_ETH_PRIO, ads, eth_prio)
	FIELD(ADS_SL, ads, sl)
	FIELD(ADS_VHCA_PORT_NUM, ads, vhca_port_num)
	FIELD(ADS_RMAC_47_32, ads, rmac_47_32)
	FIELD(ADS_RMAC_31_0, ads, rmac_31_0)
	FIELD(QUERY_HCA_VPORT_CONTEXT_IN_OTHER_VPORT, query_hca_vport_context_in, other_vport)
	FIELD(QUERY_HCA_VPORT_CONTEXT_IN_PORT_NUM, query_hca_vport_context_in, port_num)
	FIELD(QUERY_HCA_VPORT_CONTEXT_IN_VPORT_NUMBER, query_hca_vport_context_in, vport_number)
	PART(QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT, query_hca_vport_context_out, hca_vport_context)
	FIELD(HCA_VPORT_CONTEXT_FIELD_SELECT, hca_vport_context, field_select)
	FIELD(HCA_VPORT_CONTEXT_SM_VIRT_AWARE, hca_vport_context, sm_virt_aware)
	FIELD(HCA_VPORT_CONTEXT_HAS_SMI, hca_vport_context, has_smi)
	FIELD(HCA_VPORT_CONTEXT_HAS_RAW, hca_vport_context, has_raw)
	FIELD(HCA_VPORT_CONTEXT_GRH_REQUIRED, hca_vport_context, grh_required)
	FIELD(HCA_VPORT_CONTEXT_PORT_PHYSICAL_STATE, hca_vport_context, port_physical_state)
	FIELD(HCA_VPORT_CONTEXT_VPORT_STATE_POLICY, hca_vport_context, vport_state_policy)
	FIELD(HCA_VPORT_CONTEXT_PORT_STATE, hca_vport_context, port_state)
	FIELD(HCA_VPORT_CONTEXT_VPORT_STATE, hca_vport_context, vport_state)
	FIELD(HCA_VPORT_CONTEXT_SYSTEM_IMAGE_GUID, hca_vport_context, system_image_guid)
	FIELD(HCA_VPORT_CONTEXT_PORT_GUID, hca_vport_context, port_guid)
	FIELD(HCA_VPORT_CONTEXT_NODE_GUID, hca_vport_context, node_guid)
	FIELD(HCA_VPORT_CONTEXT_CAP_MASK1, hca_vport_context, cap_mask1)
	FIELD(HCA_VPORT_CONTEXT_CAP_MASK1_FIELD_SELECT, hca_vport_context, cap_mask1_field_select)
	FIELD(HCA_VPORT_CONTEXT_CAP_MASK2, hca_vport_context, cap_mask2)
	FIELD(HCA_VPORT_CONTEXT_CAP_MASK2_FIELD_SELECT, hca_vport_context, cap_mask2_field_select)
	FIELD(HCA_VPORT_CONTEXT_LID, hca_vport_context, lid)
	FIELD(HCA_VPORT_CONTEXT_INIT_TYPE_REPLY, hca_vport_context, init_type_reply)
	FIELD(HCA_VPORT_CONTEXT_LMC, hca_vport_context, lmc)
	FIELD(HCA_VPORT_CONTEXT_SUBNET_TIMEOUT, hca_vport_context, subnet_timeout)
	FIELD(HCA_VPORT_CONTEXT_SM_LID, hca_vport_context, sm_lid)
	FIELD(HCA_VPORT_CONTEXT_SM_SL, hca_vport_context, sm_sl)
	FIELD(HCA_VPORT_CONTEXT_QKEY_VIOLATION_COUNTER, hca_vport_context, qkey_violation_counter)
	FIELD(HCA_VPORT_CONTEXT_PKEY_VIOLATION_COUNTER, hca_vport_context, pkey_violation_counter)
	FIELD(QUERY_HCA_VPORT_GID_IN_OTHER_VPORT, query_hca_vport_gid_in, other_vport)
	FIELD(QUERY_HCA_VPORT_GID_IN_PORT_NUM, query_hca_vport_gid_in, port_num)
	FIELD(QUERY_HCA_VPORT_GID_IN_VPORT_NUMBER, query_hca_vport_gid_in, vport_number)
	FIELD(QUERY_HCA_VPORT_GID_IN_GID_INDEX, query_hca_vport_gid_in, gid_index)
	FIELD(QUERY_HCA_VPORT_GID_OUT_GIDS_NUM, query_hca_vport_gid_out, gids_num)
	PART(QUERY_HCA_VPORT_GID_OUT_GID, query_hca_vport_gid_out, gid)
	FIELD(QUERY_HCA_VPORT_PKEY_IN_OTHER_VPORT, query_hca_vport_pkey_in, other_vport)
	FIELD(QUERY_HCA_VPORT_PKEY_IN_PORT_NUM, query_hca_vport_pkey_in, port_num)
	FIELD(QUERY_HCA_VPORT_PKEY_IN_VPORT_NUMBER, query_hca_vport_pkey_in, vport_number)
	FIELD(QUERY_HCA_VPORT_PKEY_IN_PKEY_INDEX, query_hca_vport_pkey_in, pkey_index)
	PART(QUERY_HCA_VPORT_PKEY_OUT_PKEY, query_hca_vport_pkey_out, pkey)
	FIELD(PKEY_PKEY, pkey, pkey)
	FIELD(QUERY_VPORT_STATE_IN_OTHER_VPORT, query_vport_state_in, other_vport)
	FIELD(QUERY_VPORT_STATE_IN_VPORT_NUMBER, query_vport_state_in, vport_number)
	FIELD(QUERY_VPORT_STATE_OUT_ADMIN_STATE, query_vport_state_out, admin_state)
	FIELD(QUERY_VPORT_STATE_OUT_STATE, query_vport_state_out, state)
	FIELD(SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, set_roce_address_in, roce_address_index)
	FIELD(SET_ROCE_ADDRESS_IN_VHCA_PORT_NUM, set_roce_address_in, vhca_port_num)
	PART(SET_ROCE_ADDRESS_IN_ROCE_ADDRESS, set_roce_address_in, roce_address)
	FIELD(QUERY_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, query_roce_address_in, roce_address_index)
	FIELD(QUERY_ROCE_ADDRESS_IN_VHCA_PORT_NUM, query_roce_address_in, vhca_port_num)
	PART(QUERY_ROCE_ADDRESS_OUT_ROCE_ADDRESS, query_roce_address_out, roce_address)
	PART(ROCE_ADDR_SOURCE_L3_ADDRESS, roce_addr_layout, source_l3_address)
	FIELD(ROCE_ADDR_VLAN_VALID, roce_addr_layout, vlan_valid)
	FIELD(ROCE_ADDR_VLAN_ID, roce_addr_layout, vlan_id)
	FIELD(ROCE_ADDR_SOURCE_MAC_47_32, roce_addr_layout, source_mac_47_32)
	FIELD(ROCE_ADDR_SOURCE_MAC_31_0, roce_addr_layout, source_mac_31_0)
	FIELD(ROCE_ADDR_ROCE_L3_TYPE, roce_addr_layout, roce_l3_type)
	FIELD(ROCE_ADDR_ROCE_VERSION, roce_addr_layout, roce_version)
	FIELD(QUERY_PAGES_OUT_NUM_PAGES, query_pages_out, num_pages)
	FIELD(MANAGE_PAGES_IN_INPUT_NUM_ENTRIES, manage_pages_in, input_num_entries)
	PART(MANAGE_PAGES_IN_PAS, manage_pages_in, pas)
	FIELD(MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES, manage_pages_out, output_num_entries)
	PART(MANAGE_PAGES_OUT_PAS, manage_pages_out, pas)
	FIELD(QUERY_ISSI_OUT_CURRENT_ISSI, query_issi_out, current_issi)
	FIELD(QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0, query_issi_out, supported_issi_dw0)
	FIELD(SET_ISSI_IN_CURRENT_ISSI, set_issi_in, current_issi)
	PART(SET_HCA_CAP_IN_CAPABILITY, set_hca_cap_in, capability)
	FIELD(TEARDOWN_HCA_IN_PROFILE, teardown_hca_in, profile)
	FIELD(ACCESS_REGISTER_IN_REGISTER_ID, access_register_in, register_id)
	PART(ACCESS_REGISTER_IN_REGISTER_DATA, access_register_in, register_data)
	PART(ACCESS_REGISTER_OUT_REGISTER_DATA, access_register_out, register_data)
	FIELD(DTOR_REG_PCIE_TOGGLE_TO, dtor_reg, pcie_toggle_to.to_value)
	FIELD(DTOR_REG_HEALTH_POLL_TO, dtor_reg, health_poll_to.to_value)
	FIELD(DTOR_REG_FULL_CRDUMP_TO, dtor_reg, full_crdump_to.to_value)
	FIELD(DTOR_REG_FW_RESET_TO, dtor_reg, fw_reset_to.to_value)
	FIELD(DTOR_REG_FLUSH_ON_ERR_TO, dtor_reg, flush_on_err_to.to_value)
	FIELD(DTOR_REG_PCI_SYNC_UPDATE_TO, dtor_reg, pci_sync_update_to.to_value)
	FIELD(DTOR_REG_TEAR_DOWN_TO, dtor_reg, tear_down_to.to_value)
	FIELD(DTOR_REG_FSM_REACTIVATE_TO, dtor_reg, fsm_reactivate_to.to_value)
	FIELD(DTOR_REG_RECLAIM_PAGES_TO, dtor_reg, reclaim_pages_to.to_value)
	FIELD(DTOR_REG_RECLAIM_VFS_PAGES_TO, dtor_reg, reclaim_vfs_pages_to.to_value)
	FIELD(PTYS_REG_LOCAL_PORT, ptys_reg, local_port)
	FIELD(PTYS_REG_PROTO_MASK, ptys_reg, proto_mask)
	FIELD(PTYS_REG_IB_LINK_WIDTH_CAPABILITY, ptys_reg, ib_link_width_capability)
	FIELD(PTYS_REG_IB_PROTO_CAPABILITY, ptys_reg, ib_proto_capability)
	FIELD(PTYS_REG_IB_LINK_WIDTH_OPER, ptys_reg, ib_link_width_oper)
	FIELD(PTYS_REG_IB_PROTO_OPER, ptys_reg, ib_proto_oper)
	FIELD(PMTU_REG_LOCAL_PORT, pmtu_reg, local_port)
	FIELD(PMTU_REG_MAX_MTU, pmtu_reg, max_mtu)
	FIELD(PMTU_REG_ADMIN_MTU, pmtu_reg, admin_mtu)
	FIELD(PMTU_REG_OPER_MTU, pmtu_reg, oper_mtu)
	FIELD(PVLC_REG_LOCAL_PORT, pvlc_reg, local_port)
	FIELD(PVLC_REG_VL_HW_CAP, pvlc_reg, vl_hw_cap)
	FIELD(PVLC_REG_VL_OPERATIONAL, pvlc_reg, vl_operational)
	FIELD(HCA_CAP_DEVICE_MEMORY, cmd_hca_cap, device_memory)
	FIELD(MEM_CAP_MEMIC, device_mem_cap, memic)
	FIELD(MEM_CAP_LOG_MIN_MEMIC_ALLOC_SIZE, device_mem_cap, log_min_memic_alloc_size)
	FIELD(MEM_CAP_LOG_MAX_MEMIC_ADDR_ALIGNMENT, device_mem_cap, log_max_memic_addr_alignment)
	FIELD(MEM_CAP_MEMIC_BAR_START_ADDR, device_mem_cap, memic_bar_start_addr)
	FIELD(MEM_CAP_MEMIC_BAR_SIZE, device_mem_cap, memic_bar_size)
	FIELD(MEM_CAP_MAX_MEMIC_SIZE, device_mem_cap, max_memic_size)
	FIELD(MEM_CAP_MEMIC_OPERATIONS, device_mem_cap, memic_operations)
	FIELD(ALLOC_MEMIC_IN_LOG_MEMIC_ADDR_ALIGNMENT, alloc_memic_in, log_memic_addr_alignment)
	FIELD(ALLOC_MEMIC_IN_RANGE_START_ADDR, alloc_memic_in, range_start_addr)
	FIELD(ALLOC_MEMIC_IN_RANGE_SIZE, alloc_memic_in, range_size)
	FIELD(ALLOC_MEMIC_IN_MEMIC_SIZE, alloc_memic_in, memic_size)
	FIELD(ALLOC_MEMIC_OUT_MEMIC_START_ADDR, alloc_memic_out, memic_start_addr)
	FIELD(DEALLOC_MEMIC_IN_MEMIC_START_ADDR, dealloc_memic_in, memic_start_addr)
	FIELD(DEALLOC_MEMIC_IN_MEMIC_SIZE, dealloc_memic_in, memic_size)
	PART(ODP_CAP_RC, odp_cap, rc_odp_caps)
	PART(ODP_CAP_UC, odp_cap, uc_odp_caps)
	PART(ODP_CAP_UD, odp_cap, ud_odp_caps)
	PART(ODP_CAP_XRC, odp_cap, xrc_odp_caps)
	FIELD(ODP_SEND, odp_per_transport_service_cap, send)
	FIELD(ODP_RECEIVE, odp_per_transport_service_cap, receive)
	FIELD(ODP_WRITE, odp_per_transport_service_cap, write)
	FIELD(ODP_READ, odp_per_transport_service_cap, read)
	FIELD(ODP_ATOMIC, odp_per_transport_service_cap, atomic)
	FIELD(ODP_SRQ_RECEIVE, odp_per_transport_service_cap, srq_receive)
	FIELD(ALLOC_XRCD_OUT_XRCD, alloc_xrcd_out, xrcd)
	FIELD(DEALLOC_XRCD_IN_XRCD, dealloc_xrcd_in, xrcd)
	FIELD(CREATE_SRQ_OUT_SRQN, create_xrc_srq_out, xrc_srqn)
	FIELD(CREATE_SRQ_OUT_SRQN, create_rmp_out, rmpn)
	PART(CREATE_SRQ_IN_PAS, create_xrc_srq_in, pas)
	FIELD(DESTROY_SRQ_IN_SRQN, destroy_xrc_srq_in, xrc_srqn)
	FIELD(DESTROY_SRQ_IN_SRQN, destroy_rmp_in, rmpn)
	PART(CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY, create_xrc_srq_in, xrc_srq_context_entry)
	FIELD(XRC_SRQC_LOG_XRC_SRQ_SIZE, xrc_srqc, log_xrc_srq_size)
	FIELD(XRC_SRQC_LOG_RQ_STRIDE, xrc_srqc, log_rq_stride)
	FIELD(XRC_SRQC_XRCD, xrc_srqc, xrcd)
	FIELD(XRC_SRQC_PAGE_OFFSET, xrc_srqc, page_offset)
	FIELD(XRC_SRQC_CQN, xrc_srqc, cqn)
	FIELD(XRC_SRQC_LOG_PAGE_SIZE, xrc_srqc, log_page_size)
	FIELD(XRC_SRQC_PD, xrc_srqc, pd)
	PART(XRC_SRQC_DBR_ADDR - 64, xrc_srqc, db_record_addr_h)
	PART(CREATE_RMP_IN_CTX, create_rmp_in, ctx)
	PART(RMPC_WQ, rmpc, wq)
	FIELD(WQ_PAGE_OFFSET, wq, page_offset)
	FIELD(WQ_PD, wq, pd)
	FIELD(WQ_DBR_ADDR, wq, dbr_addr)
	FIELD(WQ_LOG_WQ_STRIDE, wq, log_wq_stride)
	FIELD(WQ_LOG_WQ_PG_SZ, wq, log_wq_pg_sz)
	FIELD(WQ_LOG_WQ_SZ, wq, log_wq_sz)
	FIELD(MODIFY_RMP_IN_RMP_STATE, modify_rmp_in, rmp_state)
	FIELD(MODIFY_RMP_IN_RMPN, modify_rmp_in, rmpn)
	FIELD(MODIFY_RMP_IN_BITMASK_LWM, modify_rmp_in, bitmask.lwm)
	PART(MODIFY_RMP_IN_CTX, modify_rmp_in, ctx)
	FIELD(QUERY_RMP_IN_RMPN, query_rmp_in, rmpn)
	PART(QUERY_RMP_OUT_RMP_CONTEXT, query_rmp_out, rmp_context)
	FIELD(RMPC_STATE, rmpc, state)
	FIELD(WQ_WQ_SIGNATURE, wq, wq_signature)
	FIELD(WQ_LWM, wq, lwm)
	FIELD(ARM_XRC_SRQ_IN_XRC_SRQN, arm_xrc_srq_in, xrc_srqn)
	FIELD(ARM_XRC_SRQ_IN_LWM, arm_xrc_srq_in, lwm)
	FIELD(QUERY_XRC_SRQ_IN_XRC_SRQN, query_xrc_srq_in, xrc_srqn)
	PART(QUERY_XRC_SRQ_OUT_XRC_SRQ_CONTEXT_ENTRY, query_xrc_srq_out, xrc_srq_context_entry)
	FIELD(XRC_SRQC_STATE, xrc_srqc, state)
	FIELD(XRC_SRQC_WQ_SIGNATURE, xrc_srqc, wq_signature)
	FIELD(XRC_SRQC_USER_INDEX, xrc_srqc, user_index)
	FIELD(XRC_SRQC_LWM, xrc_srqc, lwm)
	FIELD(HCA_CAP_DUMP_FILL_MKEY, cmd_hca_cap, dump_fill_mkey)
	FIELD(HCA_CAP_ECE_SUPPORT, cmd_hca_cap, ece_support)
	FIELD(HCA_CAP_UMR_EXTENDED_TRANSLATION_OFFSET, cmd_hca_cap, umr_extended_translation_offset)
	FIELD(MKC_SMALL_FENCE, mkc, small_fence_on_rdma_read_response)
	FIELD(XRC_SRQC_BASIC_CYCLIC_RCV_WQE, xrc_srqc, basic_cyclic_rcv_wqe)
	FIELD(XRC_SRQC_DBR_UMEM_VALID, xrc_srqc, dbr_umem_valid)
	FIELD(WQ_WQ_TYPE, wq, wq_type)
	FIELD(WQ_DBR_UMEM_VALID, wq, dbr_umem_valid)
	FIELD(WQ_WQ_UMEM_VALID, wq, wq_umem_valid)
	PART(MODIFY_HCA_VPORT_CONTEXT_IN_HCA_VPORT_CONTEXT, modify_hca_vport_context_in, hca_vport_context)
	FIELD(XRC_SRQC_WQE_CNT, xrc_srqc, wqe_cnt)
	FIELD(MCG_IN_QPN, attach_to_mcg_in, qpn)
	FIELD(MCG_IN_QPN, detach_from_mcg_in, qpn)
	PART(MCG_IN_MULTICAST_GID, attach_to_mcg_in, multicast_gid)
	PART(MCG_IN_MULTICAST_GID, detach_from_mcg_in, multicast_gid)
	FIELD(QUERY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT, query_nic_vport_context_in, other_vport)
	FIELD(QUERY_NIC_VPORT_CONTEXT_IN_ALLOWED_LIST_TYPE, query_nic_vport_context_in, allowed_list_type)
	PART(QUERY_NIC_VPORT_CONTEXT_OUT_NIC_VPORT_CONTEXT, query_nic_vport_context_out, nic_vport_context)
	FIELD(MODIFY_NIC_VPORT_CONTEXT_IN_OTHER_VPORT, modify_nic_vport_context_in, other_vport)
	PART(MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT, modify_nic_vport_context_in, field_select)
	PART(MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT, modify_nic_vport_context_in, nic_vport_context)
	FIELD(NIC_VPORT_FIELD_DISABLE_UC_LOCAL_LB, modify_nic_vport_field_select, disable_uc_local_lb)
	FIELD(NIC_VPORT_FIELD_DISABLE_MC_LOCAL_LB, modify_nic_vport_field_select, disable_mc_local_lb)
	FIELD(NIC_VPORT_FIELD_NODE_GUID, modify_nic_vport_field_select, node_guid)
	FIELD(NIC_VPORT_FIELD_PORT_GUID, modify_nic_vport_field_select, port_guid)
	FIELD(NIC_VPORT_FIELD_MIN_INLINE, modify_nic_vport_field_select, min_inline)
	FIELD(NIC_VPORT_FIELD_MTU, modify_nic_vport_field_select, mtu)
	FIELD(NIC_VPORT_FIELD_CHANGE_EVENT, modify_nic_vport_field_select, change_event)
	FIELD(NIC_VPORT_FIELD_PROMISC, modify_nic_vport_field_select, promisc)
	FIELD(NIC_VPORT_FIELD_PERMANENT_ADDRESS, modify_nic_vport_field_select, permanent_address)
	FIELD(NIC_VPORT_FIELD_ADDRESSES_LIST, modify_nic_vport_field_select, addresses_list)
	FIELD(NIC_VPORT_FIELD_ROCE_EN, modify_nic_vport_field_select, roce_en)
	FIELD(NIC_VPORT_CONTEXT_MIN_WQE_INLINE_MODE, nic_vport_context, min_wqe_inline_mode)
	FIELD(NIC_VPORT_CONTEXT_DISABLE_MC_LOCAL_LB, nic_vport_context, disable_mc_local_lb)
	FIELD(NIC_VPORT_CONTEXT_DISABLE_UC_LOCAL_LB, nic_vport_context, disable_uc_local_lb)
	FIELD(NIC_VPORT_CONTEXT_ROCE_EN, nic_vport_context, roce_en)
	FIELD(NIC_VPORT_CONTEXT_ARM_CHANGE_EVENT, nic_vport_context, arm_change_event)
	FIELD(NIC_VPORT_CONTEXT_EVENT_ON_MTU, nic_vport_context, event_on_mtu)
	FIELD(NIC_VPORT_CONTEXT_EVENT_ON_PROMISC_CHANGE, nic_vport_context, event_on_promisc_change)
	FIELD(NIC_VPORT_CONTEXT_EVENT_ON_VLAN_CHANGE, nic_vport_context, event_on_vlan_change)
	FIELD(NIC_VPORT_CONTEXT_EVENT_ON_MC_ADDRESS_CHANGE, nic_vport_context, event_on_mc_address_change)
	FIELD(NIC_VPORT_CONTEXT_EVENT_ON_UC_ADDRESS_CHANGE, nic_vport_context, event_on_uc_address_change)
	FIELD(NIC_VPORT_CONTEXT_MTU, nic_vport_context, mtu)
	FIELD(NIC_VPORT_CONTEXT_SYSTEM_IMAGE_GUID, nic_vport_context, system_image_guid)
	FIELD(NIC_VPORT_CONTEXT_PORT_GUID, nic_vport_context, port_guid)
	FIELD(NIC_VPORT_CONTEXT_NODE_GUID, nic_vport_context, node_guid)
	FIELD(NIC_VPORT_CONTEXT_PROMISC_UC, nic_vport_context, promisc_uc)
	FIELD(NIC_VPORT_CONTEXT_PROMISC_MC, nic_vport_context, promisc_mc)
	FIELD(NIC_VPORT_CONTEXT_PROMISC_ALL, nic_vport_context, promisc_all)
	FIELD(NIC_VPORT_CONTEXT_ALLOWED_LIST_TYPE, nic_vport_context, allowed_list_type)
	FIELD(NIC_VPORT_CONTEXT_ALLOWED_LIST_SIZE, nic_vport_context, allowed_list_size)
	PART(NIC_VPORT_CONTEXT_PERMANENT_ADDRESS, nic_vport_context, permanent_address)
	PART(NIC_VPORT_CONTEXT_CURRENT_UC_MAC_ADDRESS, nic_vport_context, current_uc_mac_address)
	FIELD(MAC_ADDRESS_MAC_ADDR_47_32, mac_address_layout, mac_addr_47_32)
	FIELD(MAC_ADDRESS_MAC_ADDR_31_0, mac_address_layout, mac_addr_31_0)
	FIELD(VLAN_LAYOUT_VLAN, vlan_layout, vlan)
	FIELD(MODIFY_VPORT_STATE_IN_OTHER_VPORT, modify_vport_state_in, other_vport)
	FIELD(MODIFY_VPORT_STATE_IN_ADMIN_STATE, modify_vport_state_in, admin_state)
	FIELD(QUERY_VPORT_COUNTER_IN_OTHER_VPORT, query_vport_counter_in, other_vport)
	FIELD(QUERY_VPORT_COUNTER_IN_PORT_NUM, query_vport_counter_in, port_num)
	FIELD(QUERY_VPORT_COUNTER_IN_CLEAR, query_vport_counter_in, clear)
	PART(QUERY_VPORT_COUNTER_OUT_RECEIVED_ERRORS, query_vport_counter_out, received_errors)
	PART(QUERY_VPORT_COUNTER_OUT_TRANSMIT_ERRORS, query_vport_counter_out, transmit_errors)
	PART(QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_UNICAST, query_vport_counter_out, received_ib_unicast)
	PART(QUERY_VPORT_COUNTER_OUT_RECEIVED_IB_MULTICAST, query_vport_counter_out, received_ib_multicast)
	PART(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_MULTICAST, query_vport_counter_out, transmitted_ib_multicast)
	PART(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_IB_UNICAST, query_vport_counter_out, transmitted_ib_unicast)
	PART(QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_BROADCAST, query_vport_counter_out, received_eth_broadcast)
	PART(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_BROADCAST, query_vport_counter_out, transmitted_eth_broadcast)
	PART(QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_UNICAST, query_vport_counter_out, received_eth_unicast)
	PART(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_UNICAST, query_vport_counter_out, transmitted_eth_unicast)
	PART(QUERY_VPORT_COUNTER_OUT_RECEIVED_ETH_MULTICAST, query_vport_counter_out, received_eth_multicast)
	PART(QUERY_VPORT_COUNTER_OUT_TRANSMITTED_ETH_MULTICAST, query_vport_counter_out, transmitted_eth_multicast)
	FIELD(TRAFFIC_COUNTER_PACKETS, traffic_counter, packets)
	FIELD(TRAFFIC_COUNTER_OCTETS, traffic_counter, octets)
	FIELD(WQ_WQ_TYPE, wq, wq_type)
	FIELD(WQ_WQ_SIGNATURE, wq, wq_signature)
	FIELD(WQ_END_PADDING_MODE, wq, end_padding_mode)
	FIELD(WQ_LWM, wq, lwm)
	FIELD(WQ_UAR_PAGE, wq, uar_page)
	FIELD(WQ_HW_COUNTER, wq, hw_counter)
	FIELD(WQ_SW_COUNTER, wq, sw_counter)
	FIELD(WQ_DBR_UMEM_VALID, wq, dbr_umem_valid)
	FIELD(WQ_WQ_UMEM_VALID, wq, wq_umem_valid)
	PART(CREATE_RQ_IN_CTX, create_rq_in, ctx)
	FIELD(CREATE_RQ_OUT_RQN, create_rq_out, rqn)
	FIELD(MODIFY_RQ_IN_RQ_STATE, modify_rq_in, rq_state)
	FIELD(MODIFY_RQ_IN_RQN, modify_rq_in, rqn)
	PART(MODIFY_RQ_IN_MODIFY_BITMASK, modify_rq_in, modify_bitmask)
	PART(MODIFY_RQ_IN_CTX, modify_rq_in, ctx)
	FIELD(QUERY_RQ_IN_RQN, query_rq_in, rqn)
	PART(QUERY_RQ_OUT_RQ_CONTEXT, query_rq_out, rq_context)
	FIELD(DESTROY_RQ_IN_RQN, destroy_rq_in, rqn)
	FIELD(RQC_DELAY_DROP_EN, rqc, delay_drop_en)
	FIELD(RQC_SCATTER_FCS, rqc, scatter_fcs)
	FIELD(RQC_VSD, rqc, vsd)
	FIELD(RQC_MEM_RQ_TYPE, rqc, mem_rq_type)
	FIELD(RQC_STATE, rqc, state)
	FIELD(RQC_FLUSH_IN_ERROR_EN, rqc, flush_in_error_en)
	FIELD(RQC_HAIRPIN, rqc, hairpin)
	FIELD(RQC_TS_FORMAT, rqc, ts_format)
	FIELD(RQC_USER_INDEX, rqc, user_index)
	FIELD(RQC_CQN, rqc, cqn)
	FIELD(RQC_COUNTER_SET_ID, rqc, counter_set_id)
	PART(RQC_WQ, rqc, wq)
	PART(CREATE_SQ_IN_CTX, create_sq_in, ctx)
	FIELD(CREATE_SQ_OUT_SQN, create_sq_out, sqn)
	FIELD(MODIFY_SQ_IN_SQ_STATE, modify_sq_in, sq_state)
	FIELD(MODIFY_SQ_IN_SQN, modify_sq_in, sqn)
	FIELD(MODIFY_SQ_IN_MODIFY_BITMASK, modify_sq_in, modify_bitmask)
	PART(MODIFY_SQ_IN_CTX, modify_sq_in, ctx)
	FIELD(QUERY_SQ_IN_SQN, query_sq_in, sqn)
	PART(QUERY_SQ_OUT_SQ_CONTEXT, query_sq_out, sq_context)
	FIELD(DESTROY_SQ_IN_SQN, destroy_sq_in, sqn)
	FIELD(SQC_CD_MASTER, sqc, cd_master)
	FIELD(SQC_FLUSH_IN_ERROR_EN, sqc, flush_in_error_en)
	FIELD(SQC_TS_FORMAT, sqc, ts_format)
	FIELD(SQC_ALLOW_MULTI_PKT_SEND_WQE, sqc, allow_multi_pkt_send_wqe)
	FIELD(SQC_MIN_WQE_INLINE_MODE, sqc, min_wqe_inline_mode)
	FIELD(SQC_STATE, sqc, state)
	FIELD(SQC_REG_UMR, sqc, reg_umr)
	FIELD(SQC_ALLOW_SWP, sqc, allow_swp)
	FIELD(SQC_HAIRPIN, sqc, hairpin)
	FIELD(SQC_TS_FORMAT, sqc, ts_format)
	FIELD(SQC_USER_INDEX, sqc, user_index)
	FIELD(SQC_CQN, sqc, cqn)
	FIELD(SQC_TS_CQE_TO_DEST_CQN, sqc, ts_cqe_to_dest_cqn)
	FIELD(SQC_PACKET_PACING_RATE_LIMIT_INDEX, sqc, packet_pacing_rate_limit_index)
	FIELD(SQC_TIS_LST_SZ, sqc, tis_lst_sz)
	FIELD(SQC_TIS_NUM_0, sqc, tis_num_0)
	PART(SQC_WQ, sqc, wq)
	PART(CREATE_TIS_IN_CTX, create_tis_in, ctx)
	FIELD(CREATE_TIS_OUT_TISN, create_tis_out, tisn)
	FIELD(MODIFY_TIS_IN_TISN, modify_tis_in, tisn)
	PART(MODIFY_TIS_IN_BITMASK, modify_tis_in, bitmask)
	PART(MODIFY_TIS_IN_CTX, modify_tis_in, ctx)
	FIELD(QUERY_TIS_IN_TISN, query_tis_in, tisn)
	PART(QUERY_TIS_OUT_TIS_CONTEXT, query_tis_out, tis_context)
	FIELD(DESTROY_TIS_IN_TISN, destroy_tis_in, tisn)
	FIELD(MODIFY_TIS_BITMASK_PRIO, modify_tis_bitmask, prio)
	FIELD(TISC_STRICT_LAG_TX_PORT_AFFINITY, tisc, strict_lag_tx_port_affinity)
	FIELD(TISC_TLS_EN, tisc, tls_en)
	FIELD(TISC_LAG_TX_PORT_AFFINITY, tisc, lag_tx_port_affinity)
	FIELD(TISC_PRIO, tisc, prio)
	FIELD(TISC_TRANSPORT_DOMAIN, tisc, transport_domain)
	FIELD(TISC_UNDERLAY_QPN, tisc, underlay_qpn)
	FIELD(TISC_PD, tisc, pd)
	PART(CREATE_TIR_IN_CTX, create_tir_in, ctx)
	FIELD(CREATE_TIR_OUT_TIRN, create_tir_out, tirn)
	FIELD(MODIFY_TIR_IN_TIRN, modify_tir_in, tirn)
	PART(MODIFY_TIR_IN_BITMASK, modify_tir_in, bitmask)
	PART(MODIFY_TIR_IN_CTX, modify_tir_in, ctx)
	FIELD(MODIFY_TIR_BITMASK_SELF_LB_EN, modify_tir_bitmask, self_lb_en)
	FIELD(MODIFY_TIR_BITMASK_HASH, modify_tir_bitmask, hash)
	FIELD(MODIFY_TIR_BITMASK_PACKET_MERGE, modify_tir_bitmask, packet_merge)
	FIELD(QUERY_TIR_IN_TIRN, query_tir_in, tirn)
	PART(QUERY_TIR_OUT_TIR_CONTEXT, query_tir_out, tir_context)
	FIELD(DESTROY_TIR_IN_TIRN, destroy_tir_in, tirn)
	FIELD(TIRC_DISP_TYPE, tirc, disp_type)
	FIELD(TIRC_TLS_EN, tirc, tls_en)
	FIELD(TIRC_PACKET_MERGE_MASK, tirc, packet_merge_mask)
	FIELD(TIRC_INLINE_RQN, tirc, inline_rqn)
	FIELD(TIRC_RX_HASH_SYMMETRIC, tirc, rx_hash_symmetric)
	FIELD(TIRC_TUNNELED_OFFLOAD_EN, tirc, tunneled_offload_en)
	FIELD(TIRC_INDIRECT_TABLE, tirc, indirect_table)
	FIELD(TIRC_RX_HASH_FN, tirc, rx_hash_fn)
	FIELD(TIRC_SELF_LB_BLOCK, tirc, self_lb_block)
	FIELD(TIRC_TRANSPORT_DOMAIN, tirc, transport_domain)
	PART(TIRC_RX_HASH_TOEPLITZ_KEY, tirc, rx_hash_toeplitz_key)
	PART(TIRC_RX_HASH_FIELD_SELECTOR_OUTER, tirc, rx_hash_field_selector_outer)
	PART(TIRC_RX_HASH_FIELD_SELECTOR_INNER, tirc, rx_hash_field_selector_inner)
	FIELD(RX_HASH_L3_PROT_TYPE, rx_hash_field_select, l3_prot_type)
	FIELD(RX_HASH_L4_PROT_TYPE, rx_hash_field_select, l4_prot_type)
	FIELD(RX_HASH_SELECTED_FIELDS, rx_hash_field_select, selected_fields)
	PART(CREATE_RQT_IN_RQT_CONTEXT, create_rqt_in, rqt_context)
	FIELD(CREATE_RQT_OUT_RQTN, create_rqt_out, rqtn)
	FIELD(MODIFY_RQT_IN_RQTN, modify_rqt_in, rqtn)
	PART(MODIFY_RQT_IN_BITMASK, modify_rqt_in, bitmask)
	PART(MODIFY_RQT_IN_CTX, modify_rqt_in, ctx)
	FIELD(QUERY_RQT_IN_RQTN, query_rqt_in, rqtn)
	PART(QUERY_RQT_OUT_RQT_CONTEXT, query_rqt_out, rqt_context)
	FIELD(DESTROY_RQT_IN_RQTN, destroy_rqt_in, rqtn)
	FIELD(RQT_BITMASK_RQN_LIST, rqt_bitmask, rqn_list)
	FIELD(RQTC_LIST_Q_TYPE, rqtc, list_q_type)
	FIELD(RQTC_RQT_MAX_SIZE, rqtc, rqt_max_size)
	FIELD(RQTC_RQ_VHCA_ID_FORMAT, rqtc, rq_vhca_id_format)
	FIELD(RQTC_RQT_ACTUAL_SIZE, rqtc, rqt_actual_size)
	PART(RQTC_RQ_NUM, rqtc, rq_num)
	FIELD(RQ_NUM_RQ_NUM, rq_num, rq_num)
	FIELD(CREATE_FLOW_TABLE_IN_OTHER_VPORT, create_flow_table_in, other_vport)
	FIELD(CREATE_FLOW_TABLE_IN_TABLE_TYPE, create_flow_table_in, table_type)
	PART(CREATE_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT, create_flow_table_in, flow_table_context)
	FIELD(CREATE_FLOW_TABLE_OUT_TABLE_ID, create_flow_table_out, table_id)
	FIELD(FLOW_TABLE_CONTEXT_REFORMAT_EN, flow_table_context, reformat_en)
	FIELD(FLOW_TABLE_CONTEXT_DECAP_EN, flow_table_context, decap_en)
	FIELD(FLOW_TABLE_CONTEXT_SW_OWNER, flow_table_context, sw_owner)
	FIELD(FLOW_TABLE_CONTEXT_TERMINATION_TABLE, flow_table_context, termination_table)
	FIELD(FLOW_TABLE_CONTEXT_TABLE_MISS_ACTION, flow_table_context, table_miss_action)
	FIELD(FLOW_TABLE_CONTEXT_LEVEL, flow_table_context, level)
	FIELD(FLOW_TABLE_CONTEXT_LOG_SIZE, flow_table_context, log_size)
	FIELD(FLOW_TABLE_CONTEXT_TABLE_MISS_ID, flow_table_context, table_miss_id)
	FIELD(MODIFY_FLOW_TABLE_IN_MODIFY_FIELD_SELECT, modify_flow_table_in, modify_field_select)
	FIELD(MODIFY_FLOW_TABLE_IN_TABLE_ID, modify_flow_table_in, table_id)
	PART(MODIFY_FLOW_TABLE_IN_FLOW_TABLE_CONTEXT, modify_flow_table_in, flow_table_context)
	FIELD(DESTROY_FLOW_TABLE_IN_TABLE_ID, destroy_flow_table_in, table_id)
	FIELD(QUERY_FLOW_TABLE_IN_TABLE_TYPE, query_flow_table_in, table_type)
	FIELD(QUERY_FLOW_TABLE_IN_TABLE_ID, query_flow_table_in, table_id)
	PART(QUERY_FLOW_TABLE_OUT_FLOW_TABLE_CONTEXT, query_flow_table_out, flow_table_context)
	FIELD(SET_FLOW_TABLE_ROOT_IN_TABLE_TYPE, set_flow_table_root_in, table_type)
	FIELD(SET_FLOW_TABLE_ROOT_IN_TABLE_ID, set_flow_table_root_in, table_id)
	FIELD(SET_FLOW_TABLE_ROOT_IN_UNDERLAY_QPN, set_flow_table_root_in, underlay_qpn)
	FIELD(CREATE_FLOW_GROUP_IN_GROUP_TYPE, create_flow_group_in, group_type)
	FIELD(CREATE_FLOW_GROUP_IN_SOURCE_ESWITCH_OWNER_VHCA_ID_VALID, create_flow_group_in, source_eswitch_owner_vhca_id_valid)
	FIELD(CREATE_FLOW_GROUP_IN_START_FLOW_INDEX, create_flow_group_in, start_flow_index)
	FIELD(CREATE_FLOW_GROUP_IN_END_FLOW_INDEX, create_flow_group_in, end_flow_index)
	FIELD(CREATE_FLOW_GROUP_IN_MATCH_DEFINER_ID, create_flow_group_in, match_definer_id)
	FIELD(CREATE_FLOW_GROUP_IN_MATCH_CRITERIA_ENABLE, create_flow_group_in, match_criteria_enable)
	PART(CREATE_FLOW_GROUP_IN_MATCH_CRITERIA, create_flow_group_in, match_criteria)
	FIELD(CREATE_FLOW_GROUP_OUT_GROUP_ID, create_flow_group_out, group_id)
	FIELD(DESTROY_FLOW_GROUP_IN_GROUP_ID, destroy_flow_group_in, group_id)
	FIELD(SET_FTE_IN_IGNORE_FLOW_LEVEL, set_fte_in, ignore_flow_level)
	FIELD(SET_FTE_IN_MODIFY_ENABLE_MASK, set_fte_in, modify_enable_mask)
	FIELD(SET_FTE_IN_FLOW_INDEX, set_fte_in, flow_index)
	PART(SET_FTE_IN_FLOW_CONTEXT, set_fte_in, flow_context)
	FIELD(DELETE_FTE_IN_FLOW_INDEX, delete_fte_in, flow_index)
	FIELD(QUERY_FTE_IN_FLOW_INDEX, query_fte_in, flow_index)
	PART(QUERY_FTE_OUT_FLOW_CONTEXT, query_fte_out, flow_context)
	FIELD(FLOW_CONTEXT_GROUP_ID, flow_context, group_id)
	FIELD(FLOW_CONTEXT_FLOW_TAG, flow_context, flow_tag)
	FIELD(FLOW_CONTEXT_ACTION, flow_context, action)
	FIELD(FLOW_CONTEXT_EXTENDED_DESTINATION, flow_context, extended_destination)
	FIELD(FLOW_CONTEXT_FLOW_SOURCE, flow_context, flow_source)
	FIELD(FLOW_CONTEXT_ENCRYPT_DECRYPT_TYPE, flow_context, encrypt_decrypt_type)
	FIELD(FLOW_CONTEXT_DESTINATION_LIST_SIZE, flow_context, destination_list_size)
	FIELD(FLOW_CONTEXT_FLOW_COUNTER_LIST_SIZE, flow_context, flow_counter_list_size)
	FIELD(FLOW_CONTEXT_PACKET_REFORMAT_ID, flow_context, packet_reformat_id)
	FIELD(FLOW_CONTEXT_MODIFY_HEADER_ID, flow_context, modify_header_id)
	PART(FLOW_CONTEXT_MATCH_VALUE, flow_context, match_value)
	PART(FLOW_CONTEXT_DESTINATION, flow_context, destination)
	FIELD(DEST_FORMAT_DESTINATION_TYPE, dest_format_struct, destination_type)
	FIELD(DEST_FORMAT_DESTINATION_ID, dest_format_struct, destination_id)
	FIELD(DEST_FORMAT_DESTINATION_ESWITCH_OWNER_VHCA_ID_VALID, dest_format_struct, destination_eswitch_owner_vhca_id_valid)
	FIELD(DEST_FORMAT_PACKET_REFORMAT, dest_format_struct, packet_reformat)
	FIELD(ALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_BULK, alloc_flow_counter_in, flow_counter_bulk)
	FIELD(ALLOC_FLOW_COUNTER_OUT_FLOW_COUNTER_ID, alloc_flow_counter_out, flow_counter_id)
	FIELD(DEALLOC_FLOW_COUNTER_IN_FLOW_COUNTER_ID, dealloc_flow_counter_in, flow_counter_id)
	FIELD(QUERY_FLOW_COUNTER_IN_CLEAR, query_flow_counter_in, clear)
	FIELD(QUERY_FLOW_COUNTER_IN_NUM_OF_COUNTERS, query_flow_counter_in, num_of_counters)
	FIELD(QUERY_FLOW_COUNTER_IN_FLOW_COUNTER_ID, query_flow_counter_in, flow_counter_id)
	PART(QUERY_FLOW_COUNTER_OUT_FLOW_STATISTICS, query_flow_counter_out, flow_statistics)
	PART(MATCH_OUTER_HEADERS, fte_match_param, outer_headers)
	PART(MATCH_MISC_PARAMETERS, fte_match_param, misc_parameters)
	PART(MATCH_INNER_HEADERS, fte_match_param, inner_headers)
	PART(MATCH_MISC_PARAMETERS_2, fte_match_param, misc_parameters_2)
	FIELD(LYR_2_4_SMAC_47_16, fte_match_set_lyr_2_4, smac_47_16)
	FIELD(LYR_2_4_SMAC_15_0, fte_match_set_lyr_2_4, smac_15_0)
	FIELD(LYR_2_4_ETHERTYPE, fte_match_set_lyr_2_4, ethertype)
	FIELD(LYR_2_4_DMAC_47_16, fte_match_set_lyr_2_4, dmac_47_16)
	FIELD(LYR_2_4_DMAC_15_0, fte_match_set_lyr_2_4, dmac_15_0)
	FIELD(LYR_2_4_FIRST_PRIO, fte_match_set_lyr_2_4, first_prio)
	FIELD(LYR_2_4_FIRST_CFI, fte_match_set_lyr_2_4, first_cfi)
	FIELD(LYR_2_4_FIRST_VID, fte_match_set_lyr_2_4, first_vid)
	FIELD(LYR_2_4_IP_PROTOCOL, fte_match_set_lyr_2_4, ip_protocol)
	FIELD(LYR_2_4_IP_DSCP, fte_match_set_lyr_2_4, ip_dscp)
	FIELD(LYR_2_4_IP_ECN, fte_match_set_lyr_2_4, ip_ecn)
	FIELD(LYR_2_4_CVLAN_TAG, fte_match_set_lyr_2_4, cvlan_tag)
	FIELD(LYR_2_4_SVLAN_TAG, fte_match_set_lyr_2_4, svlan_tag)
	FIELD(LYR_2_4_FRAG, fte_match_set_lyr_2_4, frag)
	FIELD(LYR_2_4_IP_VERSION, fte_match_set_lyr_2_4, ip_version)
	FIELD(LYR_2_4_TCP_FLAGS, fte_match_set_lyr_2_4, tcp_flags)
	FIELD(LYR_2_4_TCP_SPORT, fte_match_set_lyr_2_4, tcp_sport)
	FIELD(LYR_2_4_TCP_DPORT, fte_match_set_lyr_2_4, tcp_dport)
	FIELD(LYR_2_4_TTL_HOPLIMIT, fte_match_set_lyr_2_4, ttl_hoplimit)
	FIELD(LYR_2_4_UDP_SPORT, fte_match_set_lyr_2_4, udp_sport)
	FIELD(LYR_2_4_UDP_DPORT, fte_match_set_lyr_2_4, udp_dport)
	PART(LYR_2_4_SRC_IPV4_SRC_IPV6, fte_match_set_lyr_2_4, src_ipv4_src_ipv6)
	PART(LYR_2_4_DST_IPV4_DST_IPV6, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6)
	PART(LYR_2_4_SRC_IPV4, fte_match_set_lyr_2_4, src_ipv4_src_ipv6.ipv4_layout.ipv4)
	PART(LYR_2_4_DST_IPV4, fte_match_set_lyr_2_4, dst_ipv4_dst_ipv6.ipv4_layout.ipv4)
	FIELD(MISC_SOURCE_SQN, fte_match_set_misc, source_sqn)
	FIELD(MISC_OUTER_SECOND_PRIO, fte_match_set_misc, outer_second_prio)
	FIELD(MISC_OUTER_SECOND_CFI, fte_match_set_misc, outer_second_cfi)
	FIELD(MISC_OUTER_SECOND_VID, fte_match_set_misc, outer_second_vid)
	FIELD(MISC_OUTER_SECOND_CVLAN_TAG, fte_match_set_misc, outer_second_cvlan_tag)
	FIELD(MISC_OUTER_SECOND_SVLAN_TAG, fte_match_set_misc, outer_second_svlan_tag)
	FIELD(MISC_VXLAN_VNI, fte_match_set_misc, vxlan_vni)
	FIELD(MISC_GRE_C_PRESENT, fte_match_set_misc, gre_c_present)
	FIELD(MISC_GRE_K_PRESENT, fte_match_set_misc, gre_k_present)
	FIELD(MISC_GRE_S_PRESENT, fte_match_set_misc, gre_s_present)
	FIELD(MISC_GRE_PROTOCOL, fte_match_set_misc, gre_protocol)
	PART(MISC_GRE_KEY, fte_match_set_misc, gre_key)
	FIELD(MISC_OUTER_IPV6_FLOW_LABEL, fte_match_set_misc, outer_ipv6_flow_label)
	FIELD(ETH_CAP_CSUM_CAP, per_protocol_networking_offload_caps, csum_cap)
	FIELD(ETH_CAP_VLAN_CAP, per_protocol_networking_offload_caps, vlan_cap)
	FIELD(ETH_CAP_LRO_CAP, per_protocol_networking_offload_caps, lro_cap)
	FIELD(ETH_CAP_WQE_VLAN_INSERT, per_protocol_networking_offload_caps, wqe_vlan_insert)
	FIELD(ETH_CAP_SELF_LB_EN_MODIFIABLE, per_protocol_networking_offload_caps, self_lb_en_modifiable)
	FIELD(ETH_CAP_MAX_LSO_CAP, per_protocol_networking_offload_caps, max_lso_cap)
	FIELD(ETH_CAP_WQE_INLINE_MODE, per_protocol_networking_offload_caps, wqe_inline_mode)
	FIELD(ETH_CAP_RSS_IND_TBL_CAP, per_protocol_networking_offload_caps, rss_ind_tbl_cap)
	FIELD(ETH_CAP_CQE_CHECKSUM_FULL, per_protocol_networking_offload_caps, cqe_checksum_full)
	FIELD(FLOW_NIC_CAP_NIC_RX_MULTI_PATH_TIRS, flow_table_nic_cap, nic_rx_multi_path_tirs)
	FIELD(FLOW_NIC_CAP_NIC_RX_MULTI_PATH_TIRS_FTS, flow_table_nic_cap, nic_rx_multi_path_tirs_fts)
	PART(FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_RECEIVE, flow_table_nic_cap, flow_table_properties_nic_receive)
	PART(FLOW_NIC_CAP_FLOW_TABLE_PROPERTIES_NIC_TRANSMIT, flow_table_nic_cap, flow_table_properties_nic_transmit)
	FIELD(FT_PROP_FT_SUPPORT, flow_table_prop_layout, ft_support)
	FIELD(FT_PROP_FLOW_COUNTER, flow_table_prop_layout, flow_counter)
	FIELD(FT_PROP_FLOW_MODIFY_EN, flow_table_prop_layout, flow_modify_en)
	FIELD(FT_PROP_MODIFY_ROOT, flow_table_prop_layout, modify_root)
	FIELD(FT_PROP_IDENTIFIED_MISS_TABLE_MODE, flow_table_prop_layout, identified_miss_table_mode)
	FIELD(FT_PROP_FLOW_TABLE_MODIFY, flow_table_prop_layout, flow_table_modify)
	FIELD(FT_PROP_LOG_MAX_FT_SIZE, flow_table_prop_layout, log_max_ft_size)
	FIELD(FT_PROP_MAX_FT_LEVEL, flow_table_prop_layout, max_ft_level)
	FIELD(FT_PROP_LOG_MAX_FT_NUM, flow_table_prop_layout, log_max_ft_num)
	FIELD(FT_PROP_LOG_MAX_FLOW_COUNTER, flow_table_prop_layout, log_max_flow_counter)
	FIELD(FT_PROP_LOG_MAX_DESTINATION, flow_table_prop_layout, log_max_destination)
	FIELD(FT_PROP_LOG_MAX_FLOW, flow_table_prop_layout, log_max_flow)
	PART(FT_PROP_FT_FIELD_SUPPORT, flow_table_prop_layout, ft_field_support)
	PART(FT_PROP_FT_FIELD_BITMASK_SUPPORT, flow_table_prop_layout, ft_field_bitmask_support)
	FIELD(FT_FIELD_OUTER_DMAC, flow_table_fields_supported, outer_dmac)
	FIELD(FT_FIELD_OUTER_SMAC, flow_table_fields_supported, outer_smac)
	FIELD(FT_FIELD_OUTER_ETHER_TYPE, flow_table_fields_supported, outer_ether_type)
	FIELD(FT_FIELD_OUTER_IP_VERSION, flow_table_fields_supported, outer_ip_version)
	FIELD(FT_FIELD_OUTER_FIRST_PRIO, flow_table_fields_supported, outer_first_prio)
	FIELD(FT_FIELD_OUTER_FIRST_CFI, flow_table_fields_supported, outer_first_cfi)
	FIELD(FT_FIELD_OUTER_FIRST_VID, flow_table_fields_supported, outer_first_vid)
	FIELD(FT_FIELD_OUTER_IPV4_TTL, flow_table_fields_supported, outer_ipv4_ttl)
	FIELD(FT_FIELD_OUTER_SECOND_PRIO, flow_table_fields_supported, outer_second_prio)
	FIELD(FT_FIELD_OUTER_SECOND_CFI, flow_table_fields_supported, outer_second_cfi)
	FIELD(FT_FIELD_OUTER_SECOND_VID, flow_table_fields_supported, outer_second_vid)
	FIELD(FT_FIELD_OUTER_SIP, flow_table_fields_supported, outer_sip)
	FIELD(FT_FIELD_OUTER_DIP, flow_table_fields_supported, outer_dip)
	FIELD(FT_FIELD_OUTER_FRAG, flow_table_fields_supported, outer_frag)
	FIELD(FT_FIELD_OUTER_IP_PROTOCOL, flow_table_fields_supported, outer_ip_protocol)
	FIELD(FT_FIELD_OUTER_IP_ECN, flow_table_fields_supported, outer_ip_ecn)
	FIELD(FT_FIELD_OUTER_IP_DSCP, flow_table_fields_supported, outer_ip_dscp)
	FIELD(FT_FIELD_OUTER_UDP_SPORT, flow_table_fields_supported, outer_udp_sport)
	FIELD(FT_FIELD_OUTER_UDP_DPORT, flow_table_fields_supported, outer_udp_dport)
	FIELD(FT_FIELD_OUTER_TCP_SPORT, flow_table_fields_supported, outer_tcp_sport)
	FIELD(FT_FIELD_OUTER_TCP_DPORT, flow_table_fields_supported, outer_tcp_dport)
	FIELD(FT_FIELD_OUTER_TCP_FLAGS, flow_table_fields_supported, outer_tcp_flags)
	FIELD(FT_FIELD_OUTER_VXLAN_VNI, flow_table_fields_supported, outer_vxlan_vni)
	FIELD(FT_FIELD_OUTER_GRE_PROTOCOL, flow_table_fields_supported, outer_gre_protocol)
	FIELD(FT_FIELD_OUTER_GRE_KEY, flow_table_fields_supported, outer_gre_key)
	FIELD(ALLOC_Q_COUNTER_IN_UID, alloc_q_counter_in, uid)
	FIELD(ALLOC_Q_COUNTER_OUT_COUNTER_SET_ID, alloc_q_counter_out, counter_set_id)
	FIELD(DEALLOC_Q_COUNTER_IN_COUNTER_SET_ID, dealloc_q_counter_in, counter_set_id)
	FIELD(QUERY_Q_COUNTER_IN_CLEAR, query_q_counter_in, clear)
	FIELD(QUERY_Q_COUNTER_IN_COUNTER_SET_ID, query_q_counter_in, counter_set_id)
	FIELD(QUERY_Q_COUNTER_OUT_OUT_OF_BUFFER, query_q_counter_out, out_of_buffer)
	FIELD(QUERY_Q_COUNTER_OUT_RX_WRITE_REQUESTS, query_q_counter_out, rx_write_requests)
	FIELD(QUERY_Q_COUNTER_OUT_RX_READ_REQUESTS, query_q_counter_out, rx_read_requests)
	FIELD(QUERY_Q_COUNTER_OUT_RX_ATOMIC_REQUESTS, query_q_counter_out, rx_atomic_requests)
	FIELD(QUERY_Q_COUNTER_OUT_OUT_OF_SEQUENCE, query_q_counter_out, out_of_sequence)
	FIELD(QUERY_Q_COUNTER_OUT_DUPLICATE_REQUEST, query_q_counter_out, duplicate_request)
	FIELD(QUERY_Q_COUNTER_OUT_RNR_NAK_RETRY_ERR, query_q_counter_out, rnr_nak_retry_err)
	FIELD(QUERY_Q_COUNTER_OUT_PACKET_SEQ_ERR, query_q_counter_out, packet_seq_err)
	FIELD(QUERY_Q_COUNTER_OUT_IMPLIED_NAK_SEQ_ERR, query_q_counter_out, implied_nak_seq_err)
	FIELD(QUERY_Q_COUNTER_OUT_LOCAL_ACK_TIMEOUT_ERR, query_q_counter_out, local_ack_timeout_err)
	FIELD(QUERY_Q_COUNTER_OUT_RESP_LOCAL_LENGTH_ERROR, query_q_counter_out, resp_local_length_error)
	FIELD(QUERY_Q_COUNTER_OUT_RESP_CQE_ERROR, query_q_counter_out, resp_cqe_error)
	FIELD(QUERY_Q_COUNTER_OUT_REQ_CQE_ERROR, query_q_counter_out, req_cqe_error)
	FIELD(QUERY_Q_COUNTER_OUT_REQ_REMOTE_INVALID_REQUEST, query_q_counter_out, req_remote_invalid_request)
	FIELD(QUERY_Q_COUNTER_OUT_REQ_REMOTE_ACCESS_ERRORS, query_q_counter_out, req_remote_access_errors)
	FIELD(QUERY_Q_COUNTER_OUT_RESP_REMOTE_ACCESS_ERRORS, query_q_counter_out, resp_remote_access_errors)
	FIELD(QUERY_Q_COUNTER_OUT_RESP_CQE_FLUSH_ERROR, query_q_counter_out, resp_cqe_flush_error)
	FIELD(QUERY_Q_COUNTER_OUT_REQ_CQE_FLUSH_ERROR, query_q_counter_out, req_cqe_flush_error)
	FIELD(HCA_CAP_OUT_OF_SEQ_CNT, cmd_hca_cap, out_of_seq_cnt)
	FIELD(HCA_CAP_RETRANSMISSION_Q_COUNTERS, cmd_hca_cap, retransmission_q_counters)
	FIELD(HCA_CAP_ENHANCED_ERROR_Q_COUNTERS, cmd_hca_cap, enhanced_error_q_counters)
	FIELD(PAOS_REG_LOCAL_PORT, paos_reg, local_port)
	FIELD(PAOS_REG_ADMIN_STATUS, paos_reg, admin_status)
	FIELD(PAOS_REG_OPER_STATUS, paos_reg, oper_status)
	FIELD(PAOS_REG_ASE, paos_reg, ase)
	FIELD(PAOS_REG_EE, paos_reg, ee)
	FIELD(PAOS_REG_E, paos_reg, e)
	FIELD(PTYS_REG_AN_DISABLE_ADMIN, ptys_reg, an_disable_admin)
	FIELD(PTYS_REG_AN_DISABLE_CAP, ptys_reg, an_disable_cap)
	FIELD(PTYS_REG_AN_STATUS, ptys_reg, an_status)
	FIELD(PTYS_REG_ETH_PROTO_CAPABILITY, ptys_reg, eth_proto_capability)
	FIELD(PTYS_REG_ETH_PROTO_ADMIN, ptys_reg, eth_proto_admin)
	FIELD(PTYS_REG_ETH_PROTO_OPER, ptys_reg, eth_proto_oper)
	FIELD(PTYS_REG_EXT_ETH_PROTO_ADMIN, ptys_reg, ext_eth_proto_admin)
	FIELD(PTYS_REG_CONNECTOR_TYPE, ptys_reg, connector_type)
	FIELD(PMLP_REG_LOCAL_PORT, pmlp_reg, local_port)
	FIELD(PMLP_REG_WIDTH, pmlp_reg, width)
	FIELD(PMLP_REG_LANE0_MODULE_MAPPING, pmlp_reg, lane0_module_mapping)
	FIELD(PFCC_REG_LOCAL_PORT, pfcc_reg, local_port)
	FIELD(PFCC_REG_PPTX, pfcc_reg, pptx)
	FIELD(PFCC_REG_PPRX, pfcc_reg, pprx)
	FIELD(PFCC_REG_PFCTX, pfcc_reg, pfctx)
	FIELD(PFCC_REG_PFCRX, pfcc_reg, pfcrx)
	FIELD(PPCNT_REG_LOCAL_PORT, ppcnt_reg, local_port)
	FIELD(PPCNT_REG_GRP, ppcnt_reg, grp)
	FIELD(PPCNT_REG_CLR, ppcnt_reg, clr)
	FIELD(PPCNT_REG_PRIO_TC, ppcnt_reg, prio_tc)
	PART(PPCNT_REG_COUNTER_SET, ppcnt_reg, counter_set)
	FIELD(HCA_CAP_LOG_MAX_VLAN_LIST, cmd_hca_cap, log_max_vlan_list)
	FIELD(HCA_CAP_LOG_MAX_CURRENT_MC_LIST, cmd_hca_cap, log_max_current_mc_list)
	FIELD(HCA_CAP_LOG_MAX_CURRENT_UC_LIST, cmd_hca_cap, log_max_current_uc_list)
	FIELD(HCA_CAP_DISABLE_LOCAL_LB_UC, cmd_hca_cap, disable_local_lb_uc)
	FIELD(HCA_CAP_DISABLE_LOCAL_LB_MC, cmd_hca_cap, disable_local_lb_mc)
	FIELD(HCA_CAP_MODIFY_RQ_COUNTER_SET_ID, cmd_hca_cap, modify_rq_counter_set_id)
	FIELD(HCA_CAP_VPORT_COUNTERS, cmd_hca_cap, vport_counters)
	FIELD(HCA_CAP_OUT_OF_SEQ_CNT, cmd_hca_cap, out_of_seq_cnt)
	FIELD(HCA_CAP_LOG_MAX_FLOW_COUNTER_BULK, cmd_hca_cap, log_max_flow_counter_bulk)
	PART(PPCNT_A_FRAMES_TRANSMITTED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_frames_transmitted_ok_high)
	PART(PPCNT_A_FRAMES_RECEIVED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_frames_received_ok_high)
	PART(PPCNT_A_OCTETS_TRANSMITTED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_octets_transmitted_ok_high)
	PART(PPCNT_A_OCTETS_RECEIVED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_octets_received_ok_high)
	PART(PPCNT_A_MULTICAST_FRAMES_XMITTED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_multicast_frames_xmitted_ok_high)
	PART(PPCNT_A_BROADCAST_FRAMES_XMITTED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_xmitted_ok_high)
	PART(PPCNT_A_MULTICAST_FRAMES_RECEIVED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_multicast_frames_received_ok_high)
	PART(PPCNT_A_BROADCAST_FRAMES_RECEIVED_OK_HIGH, eth_802_3_cntrs_grp_data_layout, a_broadcast_frames_received_ok_high)
	PART(PPCNT_A_FRAME_TOO_LONG_ERRORS_HIGH, eth_802_3_cntrs_grp_data_layout, a_frame_too_long_errors_high)
	PART(PPCNT_IF_IN_OCTETS_HIGH, eth_2863_cntrs_grp_data_layout, if_in_octets_high)
	PART(PPCNT_IF_IN_UCAST_PKTS_HIGH, eth_2863_cntrs_grp_data_layout, if_in_ucast_pkts_high)
	PART(PPCNT_IF_IN_DISCARDS_HIGH, eth_2863_cntrs_grp_data_layout, if_in_discards_high)
	PART(PPCNT_IF_OUT_OCTETS_HIGH, eth_2863_cntrs_grp_data_layout, if_out_octets_high)
	PART(PPCNT_IF_OUT_UCAST_PKTS_HIGH, eth_2863_cntrs_grp_data_layout, if_out_ucast_pkts_high)
	PART(PPCNT_IF_OUT_DISCARDS_HIGH, eth_2863_cntrs_grp_data_layout, if_out_discards_high)
	PART(PPCNT_IF_IN_MULTICAST_PKTS_HIGH, eth_2863_cntrs_grp_data_layout, if_in_multicast_pkts_high)
	PART(PPCNT_IF_IN_BROADCAST_PKTS_HIGH, eth_2863_cntrs_grp_data_layout, if_in_broadcast_pkts_high)
	PART(PPCNT_IF_OUT_MULTICAST_PKTS_HIGH, eth_2863_cntrs_grp_data_layout, if_out_multicast_pkts_high)
	PART(PPCNT_IF_OUT_BROADCAST_PKTS_HIGH, eth_2863_cntrs_grp_data_layout, if_out_broadcast_pkts_high)
	PART(PPCNT_ETHER_STATS_OCTETS_HIGH, eth_2819_cntrs_grp_data_layout, ether_stats_octets_high)
	PART(PPCNT_ETHER_STATS_PKTS_HIGH, eth_2819_cntrs_grp_data_layout, ether_stats_pkts_high)
	PART(PPCNT_ETHER_STATS_BROADCAST_PKTS_HIGH, eth_2819_cntrs_grp_data_layout, ether_stats_broadcast_pkts_high)
	PART(PPCNT_ETHER_STATS_MULTICAST_PKTS_HIGH, eth_2819_cntrs_grp_data_layout, ether_stats_multicast_pkts_high)
	PART(PPCNT_ETHER_STATS_OVERSIZE_PKTS_HIGH, eth_2819_cntrs_grp_data_layout, ether_stats_oversize_pkts_high)
	PART(PPCNT_ETHER_STATS_PKTS64OCTETS_HIGH, eth_2819_cntrs_grp_data_layout, ether_stats_pkts64octets_high)
	PART(PPCNT_PRIO_RX_OCTETS_HIGH, eth_per_prio_grp_data_layout, rx_octets_high)
	PART(PPCNT_PRIO_RX_FRAMES_HIGH, eth_per_prio_grp_data_layout, rx_frames_high)
	PART(PPCNT_PRIO_TX_OCTETS_HIGH, eth_per_prio_grp_data_layout, tx_octets_high)
	PART(PPCNT_PRIO_TX_FRAMES_HIGH, eth_per_prio_grp_data_layout, tx_frames_high)
	PART(PPCNT_LINK_DOWN_EVENTS, phys_layer_cntrs, link_down_events)
	FIELD(PPCNT_LINK_DOWNED_COUNTER, ib_port_cntrs_grp_data_layout, link_downed_counter)
	FIELD(PPCNT_PORT_XMIT_DISCARDS, ib_port_cntrs_grp_data_layout, port_xmit_discards)
	FIELD(FLOW_IN_TABLE_TYPE, set_fte_in, table_type)
	FIELD(FLOW_IN_TABLE_ID, set_fte_in, table_id)
	FIELD(FLOW_IN_TABLE_TYPE, create_flow_group_in, table_type)
	FIELD(FLOW_IN_TABLE_ID, create_flow_group_in, table_id)
	FIELD(FLOW_IN_TABLE_TYPE, modify_flow_table_in, table_type)
};
/* clang-format on */

#define OP(name)                                         \
	{                                                \
#name, PRM_OP_##name, MLX5_CMD_OP_##name \
	}
#define SIZE(own, layout)                                              \
	{                                                              \
#own, own, sizeof(struct mlx5_ifc_##layout##_bits) / 8 \
	}
#define VALUE(own, kernel)        \
	{                         \
#own, own, kernel \
	}

static const struct pair values[] = {
	OP(INIT_HCA),
	OP(TEARDOWN_HCA),
	OP(ENABLE_HCA),
	OP(DISABLE_HCA),
	OP(QUERY_PAGES),
	OP(MANAGE_PAGES),
	OP(SET_HCA_CAP),
	OP(QUERY_ISSI),
	OP(SET_ISSI),
	OP(CREATE_XRC_SRQ),
	OP(DESTROY_XRC_SRQ),
	OP(ACCESS_REG),
	OP(ALLOC_XRCD),
	OP(DEALLOC_XRCD),
	OP(CREATE_RMP),
	OP(DESTROY_RMP),
	OP(MODIFY_RMP),
	OP(QUERY_RMP),
	OP(QUERY_XRC_SRQ),
	OP(ARM_XRC_SRQ),
	OP(ATTACH_TO_MCG),
	OP(DETACH_FROM_MCG),
	OP(QUERY_HCA_CAP),
	OP(QUERY_ADAPTER),
	OP(CREATE_MKEY),
	OP(QUERY_MKEY),
	OP(DESTROY_MKEY),
	OP(QUERY_SPECIAL_CONTEXTS),
	OP(ALLOC_MEMIC),
	OP(DEALLOC_MEMIC),
	OP(CREATE_EQ),
	OP(DESTROY_EQ),
	OP(QUERY_EQ),
	OP(CREATE_CQ),
	OP(DESTROY_CQ),
	OP(QUERY_CQ),
	OP(MODIFY_CQ),
	OP(CREATE_QP),
	OP(DESTROY_QP),
	OP(RST2INIT_QP),
	OP(INIT2RTR_QP),
	OP(RTR2RTS_QP),
	OP(RTS2RTS_QP),
	OP(SQERR2RTS_QP),
	OP(2ERR_QP),
	OP(2RST_QP),
	OP(QUERY_QP),
	OP(SQD_RTS_QP),
	OP(INIT2INIT_QP),
	OP(QUERY_VPORT_STATE),
	OP(QUERY_ROCE_ADDRESS),
	OP(SET_ROCE_ADDRESS),
	OP(QUERY_HCA_VPORT_CONTEXT),
	OP(QUERY_HCA_VPORT_GID),
	OP(QUERY_HCA_VPORT_PKEY),
	OP(ALLOC_PD),
	OP(DEALLOC_PD),
	OP(ALLOC_UAR),
	OP(DEALLOC_UAR),
	OP(NOP),
	OP(ALLOC_TRANSPORT_DOMAIN),
	OP(DEALLOC_TRANSPORT_DOMAIN),
	SIZE(PRM_CMD_IN_SIZE, alloc_pd_in),
	SIZE(PRM_CMD_OUT_SIZE, alloc_pd_out),
	SIZE(PRM_QPC_SIZE, qpc),
	SIZE(PRM_CQC_SIZE, cqc),
	SIZE(PRM_EQC_SIZE, eqc),
	SIZE(PRM_MKC_SIZE, mkc),
	{ "PRM_HCA_CAP_SIZE", PRM_HCA_CAP_SIZE, sizeof(union mlx5_ifc_hca_cap_union_bits) / 8 },
	SIZE(PRM_HCA_VPORT_CONTEXT_SIZE, hca_vport_context),
	SIZE(PRM_ROCE_ADDR_SIZE, roce_addr_layout),
	SIZE(PRM_CREATE_QP_IN_SIZE, create_qp_in),
	SIZE(PRM_MODIFY_QP_IN_SIZE, rst2init_qp_in),
	SIZE(PRM_MODIFY_QP_IN_SIZE, init2rtr_qp_in),
	SIZE(PRM_MODIFY_QP_IN_SIZE, rtr2rts_qp_in),
	SIZE(PRM_MODIFY_QP_IN_SIZE, rts2rts_qp_in),
	SIZE(PRM_CREATE_CQ_IN_SIZE, create_cq_in),
	SIZE(PRM_CREATE_EQ_IN_SIZE, create_eq_in),
	SIZE(PRM_CREATE_MKEY_IN_SIZE, create_mkey_in),
	SIZE(PRM_ALLOC_MEMIC_IN_SIZE, alloc_memic_in),
	SIZE(PRM_DEALLOC_MEMIC_IN_SIZE, dealloc_memic_in),
	SIZE(PRM_MODIFY_RMP_IN_SIZE, modify_rmp_in),
	SIZE(PRM_QUERY_RMP_OUT_SIZE, query_rmp_out),
	SIZE(PRM_QUERY_XRC_SRQ_OUT_SIZE, query_xrc_srq_out),
	SIZE(PRM_MCG_IN_SIZE, attach_to_mcg_in),
	VALUE(PRM_RMPC_STATE_RDY, MLX5_RMPC_STATE_RDY),
	VALUE(PRM_RMPC_STATE_ERR, MLX5_RMPC_STATE_ERR),
	VALUE(PRM_CS_RES_32B, MLX5_QPC_CS_RES_UP_TO_32B),
	VALUE(PRM_CS_RES_64B, MLX5_QPC_CS_RES_UP_TO_64B),
	VALUE(PRM_CS_REQ_32B, MLX5_QPC_CS_REQ_UP_TO_32B),
	VALUE(PRM_CS_REQ_64B, MLX5_QPC_CS_REQ_UP_TO_64B),
	VALUE(PRM_MKEY_MODE_PA, MLX5_MKC_ACCESS_MODE_PA),
	VALUE(PRM_MKEY_MODE_MTT, MLX5_MKC_ACCESS_MODE_MTT),
	VALUE(PRM_MKEY_MODE_KLMS, MLX5_MKC_ACCESS_MODE_KLMS),
	VALUE(PRM_MKEY_MODE_KSM, MLX5_MKC_ACCESS_MODE_KSM),
	VALUE(PRM_MKEY_MODE_MEMIC, MLX5_MKC_ACCESS_MODE_MEMIC),
	VALUE(PRM_QP_PM_STATE_MIGRATED, MLX5_QPC_PM_STATE_MIGRATED),
	VALUE(PRM_QP_ST_RC, MLX5_QPC_ST_RC),
	VALUE(PRM_QP_ST_UC, MLX5_QPC_ST_UC),
	VALUE(PRM_QP_ST_UD, MLX5_QPC_ST_UD),
	VALUE(PRM_QP_ST_XRC, MLX5_QPC_ST_XRC),
	VALUE(PRM_QP_ST_QP1, MLX5_QPC_ST_QP1),
	VALUE(PRM_CQC_ST_SOLICITED_ARMED, MLX5_CQC_ST_SOLICITED_NOTIFICATION_REQUEST_ARMED),
	VALUE(PRM_CQC_ST_ARMED, MLX5_CQC_ST_NOTIFICATION_REQUEST_ARMED),
	VALUE(PRM_CQC_ST_FIRED, MLX5_CQC_ST_FIRED),
	VALUE(PRM_CQC_STATUS_OVERFLOW, MLX5_CQC_STATUS_CQ_OVERFLOW),
	VALUE(PRM_CQC_STATUS_WRITE_FAIL, MLX5_CQC_STATUS_CQ_WRITE_FAIL),
	VALUE(PRM_CQ_ERROR_OVERRUN, MLX5_CQ_ERROR_SYNDROME_CQ_OVERRUN),
	VALUE(PRM_CQ_ERROR_ACCESS, MLX5_CQ_ERROR_SYNDROME_CQ_ACCESS_VIOLATION_ERROR),
	VALUE(PRM_MODIFY_CQ_OP_RESIZE, MLX5_MODIFY_CQ_IN_OP_MOD_RESIZE_CQ),
	VALUE(PRM_EVENT_COMP, MLX5_EVENT_TYPE_CODING_COMPLETION_EVENTS),
	VALUE(PRM_EVENT_COMM_EST, MLX5_EVENT_TYPE_CODING_COMMUNICATION_ESTABLISHED),
	VALUE(PRM_EVENT_INTERNAL_ERROR, MLX5_EVENT_TYPE_CODING_INTERNAL_ERROR),
	VALUE(PRM_OP_SET_DRIVER_VERSION, MLX5_CMD_OP_SET_DRIVER_VERSION),
	VALUE(PRM_OP_MODIFY_VPORT_STATE, MLX5_CMD_OP_MODIFY_VPORT_STATE),
	VALUE(PRM_OP_QUERY_NIC_VPORT_CONTEXT, MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT),
	VALUE(PRM_OP_MODIFY_NIC_VPORT_CONTEXT, MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT),
	VALUE(PRM_OP_QUERY_VPORT_COUNTER, MLX5_CMD_OP_QUERY_VPORT_COUNTER),
	VALUE(PRM_OP_ALLOC_Q_COUNTER, MLX5_CMD_OP_ALLOC_Q_COUNTER),
	VALUE(PRM_OP_DEALLOC_Q_COUNTER, MLX5_CMD_OP_DEALLOC_Q_COUNTER),
	VALUE(PRM_OP_QUERY_Q_COUNTER, MLX5_CMD_OP_QUERY_Q_COUNTER),
	VALUE(PRM_OP_CREATE_TIR, MLX5_CMD_OP_CREATE_TIR),
	VALUE(PRM_OP_MODIFY_TIR, MLX5_CMD_OP_MODIFY_TIR),
	VALUE(PRM_OP_DESTROY_TIR, MLX5_CMD_OP_DESTROY_TIR),
	VALUE(PRM_OP_QUERY_TIR, MLX5_CMD_OP_QUERY_TIR),
	VALUE(PRM_OP_CREATE_SQ, MLX5_CMD_OP_CREATE_SQ),
	VALUE(PRM_OP_MODIFY_SQ, MLX5_CMD_OP_MODIFY_SQ),
	VALUE(PRM_OP_DESTROY_SQ, MLX5_CMD_OP_DESTROY_SQ),
	VALUE(PRM_OP_QUERY_SQ, MLX5_CMD_OP_QUERY_SQ),
	VALUE(PRM_OP_CREATE_RQ, MLX5_CMD_OP_CREATE_RQ),
	VALUE(PRM_OP_MODIFY_RQ, MLX5_CMD_OP_MODIFY_RQ),
	VALUE(PRM_OP_DESTROY_RQ, MLX5_CMD_OP_DESTROY_RQ),
	VALUE(PRM_OP_QUERY_RQ, MLX5_CMD_OP_QUERY_RQ),
	VALUE(PRM_OP_CREATE_TIS, MLX5_CMD_OP_CREATE_TIS),
	VALUE(PRM_OP_MODIFY_TIS, MLX5_CMD_OP_MODIFY_TIS),
	VALUE(PRM_OP_DESTROY_TIS, MLX5_CMD_OP_DESTROY_TIS),
	VALUE(PRM_OP_QUERY_TIS, MLX5_CMD_OP_QUERY_TIS),
	VALUE(PRM_OP_CREATE_RQT, MLX5_CMD_OP_CREATE_RQT),
	VALUE(PRM_OP_MODIFY_RQT, MLX5_CMD_OP_MODIFY_RQT),
	VALUE(PRM_OP_DESTROY_RQT, MLX5_CMD_OP_DESTROY_RQT),
	VALUE(PRM_OP_QUERY_RQT, MLX5_CMD_OP_QUERY_RQT),
	VALUE(PRM_OP_SET_FLOW_TABLE_ROOT, MLX5_CMD_OP_SET_FLOW_TABLE_ROOT),
	VALUE(PRM_OP_CREATE_FLOW_TABLE, MLX5_CMD_OP_CREATE_FLOW_TABLE),
	VALUE(PRM_OP_DESTROY_FLOW_TABLE, MLX5_CMD_OP_DESTROY_FLOW_TABLE),
	VALUE(PRM_OP_QUERY_FLOW_TABLE, MLX5_CMD_OP_QUERY_FLOW_TABLE),
	VALUE(PRM_OP_CREATE_FLOW_GROUP, MLX5_CMD_OP_CREATE_FLOW_GROUP),
	VALUE(PRM_OP_DESTROY_FLOW_GROUP, MLX5_CMD_OP_DESTROY_FLOW_GROUP),
	VALUE(PRM_OP_SET_FLOW_TABLE_ENTRY, MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY),
	VALUE(PRM_OP_QUERY_FLOW_TABLE_ENTRY, MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY),
	VALUE(PRM_OP_DELETE_FLOW_TABLE_ENTRY, MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY),
	VALUE(PRM_OP_ALLOC_FLOW_COUNTER, MLX5_CMD_OP_ALLOC_FLOW_COUNTER),
	VALUE(PRM_OP_DEALLOC_FLOW_COUNTER, MLX5_CMD_OP_DEALLOC_FLOW_COUNTER),
	VALUE(PRM_OP_QUERY_FLOW_COUNTER, MLX5_CMD_OP_QUERY_FLOW_COUNTER),
	VALUE(PRM_OP_MODIFY_FLOW_TABLE, MLX5_CMD_OP_MODIFY_FLOW_TABLE),
	SIZE(PRM_NIC_VPORT_CONTEXT_SIZE, nic_vport_context),
	SIZE(PRM_QUERY_VPORT_COUNTER_IN_SIZE, query_vport_counter_in),
	SIZE(PRM_QUERY_VPORT_COUNTER_OUT_SIZE, query_vport_counter_out),
	SIZE(PRM_QUERY_Q_COUNTER_OUT_SIZE, query_q_counter_out),
	SIZE(PRM_TISC_SIZE, tisc),
	SIZE(PRM_TIRC_SIZE, tirc),
	SIZE(PRM_RQTC_SIZE, rqtc),
	SIZE(PRM_SQC_SIZE, sqc),
	SIZE(PRM_RQC_SIZE, rqc),
	SIZE(PRM_WQ_SIZE, wq),
	SIZE(PRM_FLOW_TABLE_CONTEXT_SIZE, flow_table_context),
	SIZE(PRM_FLOW_CONTEXT_SIZE, flow_context),
	SIZE(PRM_MATCH_SET_SIZE, fte_match_set_lyr_2_4),
	SIZE(PRM_TRAFFIC_COUNTER_SIZE, traffic_counter),
	SIZE(PRM_DEST_FORMAT_SIZE, dest_format_struct),
	SIZE(PRM_PPCNT_REG_SIZE, ppcnt_reg),
	VALUE(PRM_WQ_STATE_RST, MLX5_SQC_STATE_RST),
	VALUE(PRM_WQ_STATE_RDY, MLX5_SQC_STATE_RDY),
	VALUE(PRM_WQ_STATE_ERR, MLX5_SQC_STATE_ERR),
	VALUE(PRM_WQ_STATE_ERR, MLX5_RQC_STATE_ERR),
	VALUE(PRM_WQ_TYPE_CYCLIC, MLX5_WQ_TYPE_CYCLIC),
	VALUE(PRM_RQ_MEMORY_INLINE, MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_INLINE),
	VALUE(PRM_RQ_MODIFY_VSD, MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD),
	VALUE(PRM_RQ_MODIFY_SCATTER_FCS, MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_SCATTER_FCS),
	VALUE(PRM_RQ_MODIFY_COUNTER_SET_ID, MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_RQ_COUNTER_SET_ID),
	VALUE(PRM_TIR_DIRECT, MLX5_TIRC_DISP_TYPE_DIRECT),
	VALUE(PRM_TIR_INDIRECT, MLX5_TIRC_DISP_TYPE_INDIRECT),
	VALUE(PRM_RX_HASH_NONE, MLX5_RX_HASH_FN_NONE),
	VALUE(PRM_RX_HASH_INVERTED_XOR8, MLX5_RX_HASH_FN_INVERTED_XOR8),
	VALUE(PRM_RX_HASH_TOEPLITZ, MLX5_RX_HASH_FN_TOEPLITZ),
	VALUE(PRM_BLOCK_UNICAST, MLX5_TIRC_SELF_LB_BLOCK_BLOCK_UNICAST),
	VALUE(PRM_BLOCK_MULTICAST, MLX5_TIRC_SELF_LB_BLOCK_BLOCK_MULTICAST),
	VALUE(PRM_FLOW_NIC_RX, MLX5_FLOW_TABLE_TYPE_NIC_RX),
	VALUE(PRM_FLOW_NIC_TX, MLX5_FLOW_TABLE_TYPE_NIC_TX),
	VALUE(PRM_MISS_DEFAULT, MLX5_FLOW_TABLE_MISS_ACTION_DEF),
	VALUE(PRM_MISS_FORWARD, MLX5_FLOW_TABLE_MISS_ACTION_FWD),
	VALUE(PRM_MODIFY_TABLE_MISS, MLX5_MODIFY_FLOW_TABLE_MISS_TABLE_ID),
	VALUE(PRM_FLOW_ALLOW, MLX5_FLOW_CONTEXT_ACTION_ALLOW),
	VALUE(PRM_FLOW_DROP, MLX5_FLOW_CONTEXT_ACTION_DROP),
	VALUE(PRM_FLOW_FWD, MLX5_FLOW_CONTEXT_ACTION_FWD_DEST),
	VALUE(PRM_FLOW_COUNT, MLX5_FLOW_CONTEXT_ACTION_COUNT),
	VALUE(PRM_DEST_TABLE, MLX5_IFC_FLOW_DESTINATION_TYPE_FLOW_TABLE),
	VALUE(PRM_DEST_TIR, MLX5_IFC_FLOW_DESTINATION_TYPE_TIR),
	VALUE(PRM_FTE_MODIFY_ACTION, BIT(MLX5_SET_FTE_MODIFY_ENABLE_MASK_ACTION)),
	VALUE(PRM_FTE_MODIFY_TAG, BIT(MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_TAG)),
	VALUE(PRM_FTE_MODIFY_DESTINATIONS, BIT(MLX5_SET_FTE_MODIFY_ENABLE_MASK_DESTINATION_LIST)),
	VALUE(PRM_FTE_MODIFY_COUNTERS, BIT(MLX5_SET_FTE_MODIFY_ENABLE_MASK_FLOW_COUNTERS)),
};

/* Values of headers that do not compile outside the kernel: found in their text. */
#define TEXT(own, file, kernel)         \
	{                               \
#own, own, file, kernel \
	}

static const struct {
	const char *name;
	uint64_t ours;
	const char *file, *kernel;
} texts[] = {
	TEXT(PRM_STAT_OK, "device.h", "MLX5_CMD_STAT_OK"),
	TEXT(PRM_STAT_INT_ERR, "device.h", "MLX5_CMD_STAT_INT_ERR"),
	TEXT(PRM_STAT_BAD_OP_ERR, "device.h", "MLX5_CMD_STAT_BAD_OP_ERR"),
	TEXT(PRM_STAT_BAD_PARAM_ERR, "device.h", "MLX5_CMD_STAT_BAD_PARAM_ERR"),
	TEXT(PRM_STAT_BAD_SYS_STATE_ERR, "device.h", "MLX5_CMD_STAT_BAD_SYS_STATE_ERR"),
	TEXT(PRM_STAT_BAD_RES_ERR, "device.h", "MLX5_CMD_STAT_BAD_RES_ERR"),
	TEXT(PRM_STAT_RES_BUSY, "device.h", "MLX5_CMD_STAT_RES_BUSY"),
	TEXT(PRM_STAT_LIM_ERR, "device.h", "MLX5_CMD_STAT_LIM_ERR"),
	TEXT(PRM_STAT_BAD_RES_STATE_ERR, "device.h", "MLX5_CMD_STAT_BAD_RES_STATE_ERR"),
	TEXT(PRM_STAT_IX_ERR, "device.h", "MLX5_CMD_STAT_IX_ERR"),
	TEXT(PRM_STAT_NO_RES_ERR, "device.h", "MLX5_CMD_STAT_NO_RES_ERR"),
	TEXT(PRM_STAT_BAD_QP_STATE_ERR, "device.h", "MLX5_CMD_STAT_BAD_QP_STATE_ERR"),
	TEXT(PRM_STAT_BAD_INP_LEN_ERR, "device.h", "MLX5_CMD_STAT_BAD_INP_LEN_ERR"),
	TEXT(PRM_STAT_BAD_OUTP_LEN_ERR, "device.h", "MLX5_CMD_STAT_BAD_OUTP_LEN_ERR"),
	TEXT(PRM_EVENT_SQ_DRAINED, "device.h", "MLX5_EVENT_TYPE_SQ_DRAINED"),
	TEXT(PRM_EVENT_CQ_ERROR, "device.h", "MLX5_EVENT_TYPE_CQ_ERROR"),
	TEXT(PRM_EVENT_WQ_CATAS_ERROR, "device.h", "MLX5_EVENT_TYPE_WQ_CATAS_ERROR"),
	TEXT(PRM_EVENT_WQ_INVAL_REQ_ERROR, "device.h", "MLX5_EVENT_TYPE_WQ_INVAL_REQ_ERROR"),
	TEXT(PRM_EVENT_WQ_ACCESS_ERROR, "device.h", "MLX5_EVENT_TYPE_WQ_ACCESS_ERROR"),
	TEXT(PRM_EVENT_SRQ_LAST_WQE, "device.h", "MLX5_EVENT_TYPE_SRQ_LAST_WQE"),
	TEXT(PRM_EVENT_PORT_CHANGE, "device.h", "MLX5_EVENT_TYPE_PORT_CHANGE"),
	TEXT(PRM_EVENT_COMMAND, "device.h", "MLX5_EVENT_TYPE_CMD"),
	TEXT(PRM_QP_ST_REG_UMR, "qp.h", "MLX5_QP_ST_REG_UMR"),
	TEXT(PRM_REG_PMTU, "driver.h", "MLX5_REG_PMTU"),
	TEXT(PRM_REG_PTYS, "driver.h", "MLX5_REG_PTYS"),
	TEXT(PRM_REG_PVLC, "driver.h", "MLX5_REG_PVLC"),
	TEXT(PRM_REG_NODE_DESC, "driver.h", "MLX5_REG_NODE_DESC"),
	TEXT(PRM_REG_HOST_ENDIANNESS, "driver.h", "MLX5_REG_HOST_ENDIANNESS"),
	TEXT(PRM_QP_STATE_RST, "qp.h", "MLX5_QP_STATE_RST"),
	TEXT(PRM_QP_STATE_INIT, "qp.h", "MLX5_QP_STATE_INIT"),
	TEXT(PRM_QP_STATE_RTR, "qp.h", "MLX5_QP_STATE_RTR"),
	TEXT(PRM_QP_STATE_RTS, "qp.h", "MLX5_QP_STATE_RTS"),
	TEXT(PRM_QP_STATE_SQER, "qp.h", "MLX5_QP_STATE_SQER"),
	TEXT(PRM_QP_STATE_SQD, "qp.h", "MLX5_QP_STATE_SQD"),
	TEXT(PRM_QP_STATE_ERR, "qp.h", "MLX5_QP_STATE_ERR"),
	TEXT(PRM_OPTPAR_RRE, "qp.h", "MLX5_QP_OPTPAR_RRE"),
	TEXT(PRM_OPTPAR_RAE, "qp.h", "MLX5_QP_OPTPAR_RAE"),
	TEXT(PRM_OPTPAR_RWE, "qp.h", "MLX5_QP_OPTPAR_RWE"),
	TEXT(PRM_OPTPAR_PKEY_INDEX, "qp.h", "MLX5_QP_OPTPAR_PKEY_INDEX"),
	TEXT(PRM_OPTPAR_RNR_TIMEOUT, "qp.h", "MLX5_QP_OPTPAR_RNR_TIMEOUT"),
	TEXT(PRM_OPTPAR_PRIMARY_ADDR_PATH, "qp.h", "MLX5_QP_OPTPAR_PRIMARY_ADDR_PATH"),
	TEXT(PRM_OPTPAR_SRA_MAX, "qp.h", "MLX5_QP_OPTPAR_SRA_MAX"),
	TEXT(PRM_OPTPAR_RRA_MAX, "qp.h", "MLX5_QP_OPTPAR_RRA_MAX"),
	TEXT(PRM_OPTPAR_PM_STATE, "qp.h", "MLX5_QP_OPTPAR_PM_STATE"),
	TEXT(PRM_OPTPAR_RETRY_COUNT, "qp.h", "MLX5_QP_OPTPAR_RETRY_COUNT"),
	TEXT(PRM_OPTPAR_RNR_RETRY, "qp.h", "MLX5_QP_OPTPAR_RNR_RETRY"),
	TEXT(PRM_OPTPAR_ACK_TIMEOUT, "qp.h", "MLX5_QP_OPTPAR_ACK_TIMEOUT"),
	TEXT(PRM_OPTPAR_LAG_TX_AFF, "qp.h", "MLX5_QP_OPTPAR_LAG_TX_AFF"),
	TEXT(PRM_OPTPAR_PRI_PORT, "qp.h", "MLX5_QP_OPTPAR_PRI_PORT"),
	TEXT(PRM_OPTPAR_COUNTER_SET_ID, "qp.h", "MLX5_QP_OPTPAR_COUNTER_SET_ID"),
	TEXT(PRM_MODIFY_CQ_OVERRUN, "cq.h", "MLX5_CQ_MODIFY_OVERRUN"),
	TEXT(PRM_REG_PAOS, "driver.h", "MLX5_REG_PAOS"),
	TEXT(PRM_REG_PFCC, "driver.h", "MLX5_REG_PFCC"),
	TEXT(PRM_REG_PPCNT, "driver.h", "MLX5_REG_PPCNT"),
	TEXT(PRM_REG_PMLP, "driver.h", "MLX5_REG_PMLP"),
	TEXT(PRM_PORT_UP, "driver.h", "MLX5_PORT_UP"),
	TEXT(PRM_PORT_DOWN, "driver.h", "MLX5_PORT_DOWN"),
	TEXT(PRM_COUNTERS_IEEE_802_3, "device.h", "MLX5_IEEE_802_3_COUNTERS_GROUP"),
	TEXT(PRM_COUNTERS_RFC_2863, "device.h", "MLX5_RFC_2863_COUNTERS_GROUP"),
	TEXT(PRM_COUNTERS_RFC_2819, "device.h", "MLX5_RFC_2819_COUNTERS_GROUP"),
	TEXT(PRM_COUNTERS_PER_PRIORITY, "device.h", "MLX5_PER_PRIORITY_COUNTERS_GROUP"),
	TEXT(PRM_COUNTERS_PHYSICAL, "device.h", "MLX5_PHYSICAL_LAYER_COUNTERS_GROUP"),
	TEXT(PRM_COUNTERS_INFINIBAND, "device.h", "MLX5_INFINIBAND_PORT_COUNTERS_GROUP"),
	TEXT(PRM_PORT_CHANGE_DOWN, "device.h", "MLX5_PORT_CHANGE_SUBTYPE_DOWN"),
	TEXT(PRM_PORT_CHANGE_LID, "device.h", "MLX5_PORT_CHANGE_SUBTYPE_LID"),
	TEXT(PRM_PORT_CHANGE_PKEY, "device.h", "MLX5_PORT_CHANGE_SUBTYPE_PKEY"),
	TEXT(PRM_PORT_CHANGE_GUID, "device.h", "MLX5_PORT_CHANGE_SUBTYPE_GUID"),
	TEXT(PRM_PORT_CHANGE_CLIENT_REREG, "device.h", "MLX5_PORT_CHANGE_SUBTYPE_CLIENT_REREG"),
	TEXT(PRM_PORT_CHANGE_ACTIVE, "device.h", "MLX5_PORT_CHANGE_SUBTYPE_ACTIVE"),
	TEXT(PRM_LIST_UC, "device.h", "MLX5_NVPRT_LIST_TYPE_UC"),
	TEXT(PRM_LIST_MC, "device.h", "MLX5_NVPRT_LIST_TYPE_MC"),
	TEXT(PRM_LIST_VLAN, "device.h", "MLX5_NVPRT_LIST_TYPE_VLAN"),
	TEXT(PRM_L3_IPV6, "device.h", "MLX5_L3_PROT_TYPE_IPV6"),
	TEXT(PRM_L4_UDP, "device.h", "MLX5_L4_PROT_TYPE_UDP"),
	TEXT(PRM_HASH_SRC_IP, "device.h", "MLX5_HASH_FIELD_SEL_SRC_IP"),
	TEXT(PRM_HASH_DST_IP, "device.h", "MLX5_HASH_FIELD_SEL_DST_IP"),
	TEXT(PRM_HASH_L4_SPORT, "device.h", "MLX5_HASH_FIELD_SEL_L4_SPORT"),
	TEXT(PRM_HASH_L4_DPORT, "device.h", "MLX5_HASH_FIELD_SEL_L4_DPORT"),
	TEXT(PRM_HASH_IPSEC_SPI, "device.h", "MLX5_HASH_FIELD_SEL_IPSEC_SPI"),
	TEXT(PRM_MATCH_OUTER, "device.h", "MLX5_MATCH_OUTER_HEADERS"),
	TEXT(PRM_MATCH_MISC, "device.h", "MLX5_MATCH_MISC_PARAMETERS"),
	TEXT(1ull << UMR_LEN, "device.h", "MLX5_MKEY_MASK_LEN"),
	TEXT(1ull << UMR_PAGE_SIZE, "device.h", "MLX5_MKEY_MASK_PAGE_SIZE"),
	TEXT(1ull << UMR_START_ADDR, "device.h", "MLX5_MKEY_MASK_START_ADDR"),
	TEXT(1ull << UMR_PD, "device.h", "MLX5_MKEY_MASK_PD"),
	TEXT(1ull << UMR_EN_RINVAL, "device.h", "MLX5_MKEY_MASK_EN_RINVAL"),
	TEXT(1ull << UMR_EN_SIGERR, "device.h", "MLX5_MKEY_MASK_EN_SIGERR"),
	TEXT(1ull << UMR_BSF_EN, "device.h", "MLX5_MKEY_MASK_BSF_EN"),
	TEXT(1ull << UMR_KEY, "device.h", "MLX5_MKEY_MASK_KEY"),
	TEXT(1ull << UMR_QPN, "device.h", "MLX5_MKEY_MASK_QPN"),
	TEXT(1ull << UMR_LR, "device.h", "MLX5_MKEY_MASK_LR"),
	TEXT(1ull << UMR_LW, "device.h", "MLX5_MKEY_MASK_LW"),
	TEXT(1ull << UMR_RR, "device.h", "MLX5_MKEY_MASK_RR"),
	TEXT(1ull << UMR_RW, "device.h", "MLX5_MKEY_MASK_RW"),
	TEXT(1ull << UMR_A, "device.h", "MLX5_MKEY_MASK_A"),
	TEXT(1ull << UMR_SMALL_FENCE, "device.h", "MLX5_MKEY_MASK_SMALL_FENCE"),
	TEXT(1ull << UMR_RELAXED_WRITE, "device.h", "MLX5_MKEY_MASK_RELAXED_ORDERING_WRITE"),
	TEXT(1ull << UMR_FREE, "device.h", "MLX5_MKEY_MASK_FREE"),
	TEXT(1ull << UMR_RELAXED_READ, "device.h", "MLX5_MKEY_MASK_RELAXED_ORDERING_READ"),
	TEXT(UMR_OFFSET_GIVEN, "device.h", "MLX5_UMR_TRANSLATION_OFFSET_EN"),
	TEXT(UMR_FAIL_IF_NOT_FREE, "device.h", "MLX5_UMR_CHECK_NOT_FREE"),
	TEXT(UMR_FAIL_IF_FREE, "device.h", "MLX5_UMR_CHECK_FREE"),
	TEXT(UMR_INLINE, "device.h", "MLX5_UMR_INLINE"),
	TEXT(UMR_KLM_BLOCK, "device.h", "MLX5_UMR_MTT_ALIGNMENT"),
	TEXT(PRM_UAR_SQ, "doorbell.h", "MLX5_BF_OFFSET"),
	TEXT(PRM_UAR_CQ, "doorbell.h", "MLX5_CQ_DOORBELL"),
	TEXT(PRM_UAR_SQS, "device.h", "MLX5_NON_FP_BFREGS_PER_UAR"),
	TEXT(FLD_BITS(CQ_ARM_SOLICITED_ONLY), "cq.h", "MLX5_CQ_DB_REQ_NOT_SOL"),
	TEXT(WQE_FENCE_NONE << 5, "qp.h", "MLX5_FENCE_MODE_NONE"),
	TEXT(WQE_FENCE_INITIATOR_SMALL << 5, "qp.h", "MLX5_FENCE_MODE_INITIATOR_SMALL"),
	TEXT(WQE_FENCE_STRONG << 5, "qp.h", "MLX5_FENCE_MODE_STRONG_ORDERING"),
	TEXT(WQE_FENCE_SMALL_AND_STRONG << 5, "qp.h", "MLX5_FENCE_MODE_SMALL_AND_FENCE"),
	TEXT(WQE_INSERT_VLAN, "qp.h", "MLX5_ETH_WQE_INSERT_VLAN"),
	TEXT(WQE_INSERT_SERVICE_TAG, "qp.h", "MLX5_ETH_WQE_SVLAN"),
	TEXT(CQE_RSS_IPV4 | CQE_RSS_IPV6, "device.h", "CQE_RSS_HTYPE_IP"),
	TEXT(CQE_RSS_IPSEC, "device.h", "CQE_RSS_HTYPE_L4"),
	TEXT(CQE_ETH_L4_NONE, "device.h", "CQE_L4_HDR_TYPE_NONE"),
	TEXT(CQE_ETH_L4_TCP_NO_ACK, "device.h", "CQE_L4_HDR_TYPE_TCP_NO_ACK"),
	TEXT(CQE_ETH_L4_UDP, "device.h", "CQE_L4_HDR_TYPE_UDP"),
	TEXT(CQE_ETH_L4_TCP_ACK_NO_DATA, "device.h", "CQE_L4_HDR_TYPE_TCP_ACK_NO_DATA"),
	TEXT(CQE_ETH_L4_TCP_ACK_AND_DATA, "device.h", "CQE_L4_HDR_TYPE_TCP_ACK_AND_DATA"),
	TEXT(PRM_EVENT_PATH_MIG, "device.h", "MLX5_EVENT_TYPE_PATH_MIG"),
	TEXT(PRM_EVENT_PATH_MIG_FAILED, "device.h", "MLX5_EVENT_TYPE_PATH_MIG_FAILED"),
	TEXT(PRM_OPTPAR_SRQN, "qp.h", "MLX5_QP_OPTPAR_SRQN"),
	TEXT(PRM_OPTPAR_CQN_RCV, "qp.h", "MLX5_QP_OPTPAR_CQN_RCV"),
	TEXT(PRM_OPTPAR_DC_HS, "qp.h", "MLX5_QP_OPTPAR_DC_HS"),
	TEXT(PRM_OPTPAR_DC_KEY, "qp.h", "MLX5_QP_OPTPAR_DC_KEY"),
};

/* An event's own data begins there in its EQE. */
enum { EQE_DATA = 0x20 };

/* Members of structures: the field is the member or a part of it, as numbers of 24 bits are of
 * dwords. */
#define MEMBER(own, base, file, structure, member)         \
	{                                                  \
#own, own, base, file, #structure, #member \
	}

static const struct {
	const char *name;
	uint32_t ours, base;
	const char *file, *structure, *member;
} members[] = {
	MEMBER(EQE_TYPE, 0, "device.h", mlx5_eqe, type),
	MEMBER(EQE_SUB_TYPE, 0, "device.h", mlx5_eqe, sub_type),
	MEMBER(EQE_COMP_CQN, EQE_DATA, "device.h", mlx5_eqe_comp, cqn),
	MEMBER(EQE_QP_TYPE, EQE_DATA, "device.h", mlx5_eqe_qp_srq, type),
	MEMBER(EQE_QPN, EQE_DATA, "device.h", mlx5_eqe_qp_srq, qp_srq_n),
	MEMBER(EQE_CQ_ERROR_CQN, EQE_DATA, "device.h", mlx5_eqe_cq_err, cqn),
	MEMBER(EQE_CQ_ERROR_SYNDROME, EQE_DATA, "device.h", mlx5_eqe_cq_err, syndrome),
	MEMBER(EQE_PORT, EQE_DATA, "device.h", mlx5_eqe_port_state, port),
	MEMBER(EQE_PAGE_REQUEST_NUM_PAGES, EQE_DATA, "device.h", mlx5_eqe_page_req, num_pages),
	MEMBER(EQE_COMMAND_VECTOR, EQE_DATA, "device.h", mlx5_eqe_cmd, vector),
	MEMBER(UMR_FLAGS, 0, "qp.h", mlx5_wqe_umr_ctrl_seg, flags),
	MEMBER(UMR_XLT_OCTOWORDS, 0, "qp.h", mlx5_wqe_umr_ctrl_seg, xlt_octowords),
	MEMBER(UMR_MKEY_MASK, 0, "qp.h", mlx5_wqe_umr_ctrl_seg, mkey_mask),
	MEMBER(UMR_XLT_OFFSET_47_16, 0, "qp.h", mlx5_wqe_umr_ctrl_seg, xlt_offset_47_16),
	MEMBER(XRC_SRQN, 0, "qp.h", mlx5_wqe_xrc_seg, xrc_srqn),
};

static int failures, compared;

static void fact_compare(const char *name, uint64_t ours, uint64_t theirs)
{
	compared++;
	if (ours == theirs)
		return;
	failures++;
	printf("%s: ours 0x%llx, the kernel's 0x%llx\n", name, (unsigned long long)ours,
	       (unsigned long long)theirs);
}

static void compare_pairs(const struct pair *pair, size_t count)
{
	for (; count; pair++, count--)
		fact_compare(pair->name, pair->ours, pair->theirs);
}

static const char *path_of(const char *file, char path[512])
{
	snprintf(path, 512, "%s/%s", KERNEL_MLX5, file);
	return path;
}

static void compare_texts(void)
{
	char path[512];
	uint64_t value;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (kernel_number(path_of(texts[i].file, path), texts[i].kernel, &value)) {
			fact_compare(texts[i].name, texts[i].ours, value);
		} else {
			failures++;
			printf("%s: no %s in %s\n", texts[i].name, texts[i].kernel, texts[i].file);
		}
	}
}

static void compare_members(void)
{
	char path[512];

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		uint32_t ours = members[i].ours, theirs, begin, end;

		compared++;
		if (kernel_member(path_of(members[i].file, path), members[i].structure,
				  members[i].member, &theirs)) {
			begin = members[i].base * 8 + FLD_BIT(theirs);
			end = begin + FLD_WIDTH(theirs);
			if (FLD_BIT(ours) >= begin && FLD_BIT(ours) + FLD_WIDTH(ours) <= end)
				continue;
		}
		failures++;
		printf("%s: is not in %s.%s of %s\n", members[i].name, members[i].structure,
		       members[i].member, members[i].file);
	}
}

int main(void)
{
	compare_pairs(layouts, ARRAY_SIZE(layouts));
	compare_pairs(values, ARRAY_SIZE(values));
	compare_texts();
	compare_members();
	printf("%d facts compared, %d differ\n", compared, failures);
	return failures ? 1 : 0;
}

#endif
