/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Driver data of mlx5: what the library and the mlx5 kernel driver add to uverbs commands, by
 * object, and the pages that the driver maps. Layouts belong to the kernel. In a capability,
 * supported_qpts has bit 1 << type for each QP type. An older kernel writes response_length bytes
 * of an answer only.
 */
#ifndef MLX5_ABI_USER_H
#define MLX5_ABI_USER_H

#include <linux/if_ether.h>
#include <linux/types.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#define MLX5_IB_UVERBS_ABI_VERSION 1

/* --- Context ---------------------------------------------------------------------------------- */

struct mlx5_ib_alloc_ucontext_req {
	__u32 total_num_bfregs;
	__u32 num_low_latency_bfregs;
};

enum mlx5_lib_caps {
	MLX5_LIB_CAP_4K_UAR = (__u64)1 << 0,
	/* UARs are objects of their own: none comes with the context. */
	MLX5_LIB_CAP_DYN_UAR = (__u64)1 << 1,
};

enum mlx5_ib_alloc_uctx_v2_flags {
	MLX5_IB_ALLOC_UCTX_DEVX = 1 << 0,
};

struct mlx5_ib_alloc_ucontext_req_v2 {
	__u32 total_num_bfregs;
	__u32 num_low_latency_bfregs;
	__u32 flags; /* enum mlx5_ib_alloc_uctx_v2_flags */
	__u32 comp_mask;
	__u8 max_cqe_version;
	__u8 reserved0;
	__u16 reserved1;
	__u32 reserved2;
	__aligned_u64 lib_caps; /* enum mlx5_lib_caps */
};

enum mlx5_ib_alloc_ucontext_resp_mask {
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET = 1UL << 0,
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY = 1UL << 1,
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE = 1UL << 2,
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS = 1UL << 3,
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS = 1UL << 4,
	MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG = 1UL << 5,
};

/* The answers of these commands have driver data. */
enum mlx5_user_cmds_supp_uhw {
	MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE = 1 << 0,
	MLX5_USER_CMDS_SUPP_UHW_CREATE_AH = 1 << 1,
};

/* An Ethernet WQE must have these headers inline. NA means that the kernel does not tell. The
 * firmware's values are one less. */
enum mlx5_user_inline_mode {
	MLX5_USER_INLINE_MODE_NA = 0,
	MLX5_USER_INLINE_MODE_NONE = 1,
	MLX5_USER_INLINE_MODE_L2 = 2,
	MLX5_USER_INLINE_MODE_IP = 3,
	MLX5_USER_INLINE_MODE_TCP_UDP = 4,
};

enum {
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM = 1 << 0,
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_REQ_METADATA = 1 << 1,
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_SPI_STEERING = 1 << 2,
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD = 1 << 3,
	MLX5_USER_ALLOC_UCONTEXT_FLOW_ACTION_FLAGS_ESP_AES_GCM_TX_IV_IS_ESN = 1 << 4,
};

struct mlx5_ib_alloc_ucontext_resp {
	__u32 qp_tab_size;
	__u32 bf_reg_size; /* bytes, two BlueFlame buffers */
	__u32 tot_bfregs;
	__u32 cache_line_size;
	__u16 max_sq_desc_sz; /* bytes */
	__u16 max_rq_desc_sz;
	__u32 max_send_wqebb;
	__u32 max_recv_wr;
	__u32 max_srq_recv_wr;
	__u16 num_ports;
	__u16 flow_action_flags;
	__u32 comp_mask; /* enum mlx5_ib_alloc_ucontext_resp_mask */
	__u32 response_length;
	__u8 cqe_version;
	__u8 cmds_supp_uhw;       /* enum mlx5_user_cmds_supp_uhw */
	__u8 eth_min_inline;      /* enum mlx5_user_inline_mode */
	__u8 clock_info_versions; /* bit 1 << MLX5_IB_CLOCK_INFO_V1 */
	__aligned_u64 hca_core_clock_offset;
	__u32 log_uar_size;
	__u32 num_uars_per_page;
	__u32 num_dyn_bfregs;
	__u32 dump_fill_mkey;
};

/* Bits 15:8 of the page offset of mmap() are one of these commands; bits 7:0 are an index. */
enum mlx5_ib_mmap_cmd {
	MLX5_IB_MMAP_REGULAR_PAGE = 0,
	MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES = 1,
	MLX5_IB_MMAP_WC_PAGE = 2,
	MLX5_IB_MMAP_NC_PAGE = 3,
	MLX5_IB_MMAP_CORE_CLOCK = 5,
	MLX5_IB_MMAP_ALLOC_WC = 6,
	MLX5_IB_MMAP_CLOCK_INFO = 7,
	MLX5_IB_MMAP_DEVICE_MEM = 8,
};

enum {
	MLX5_IB_CLOCK_INFO_V1 = 0,
};

/* This bit of sign is set while the kernel writes. */
enum {
	MLX5_IB_CLOCK_INFO_KERNEL_UPDATING = 1,
};

/* This is the clock page. A reader takes sign, then the rest, then sign again; the values hold if
 * sign has not changed. */
struct mlx5_ib_clock_info {
	__u32 sign;
	__u32 resv;
	__aligned_u64 nsec;
	__aligned_u64 cycles;
	__aligned_u64 frac;
	__u32 mult;
	__u32 shift;
	__aligned_u64 mask;
	__aligned_u64 overflow_period; /* ns */
};

/* --- Device ----------------------------------------------------------------------------------- */

struct mlx5_ib_tso_caps {
	__u32 max_tso; /* bytes */
	__u32 supported_qpts;
};

enum mlx5_rx_hash_function_flags {
	MLX5_RX_HASH_FUNC_TOEPLITZ = 1 << 0,
};

/* These packet fields are hashed: those of IPv4 or of IPv6, of TCP or of UDP. */
enum mlx5_rx_hash_fields {
	MLX5_RX_HASH_SRC_IPV4 = 1 << 0,
	MLX5_RX_HASH_DST_IPV4 = 1 << 1,
	MLX5_RX_HASH_SRC_IPV6 = 1 << 2,
	MLX5_RX_HASH_DST_IPV6 = 1 << 3,
	MLX5_RX_HASH_SRC_PORT_TCP = 1 << 4,
	MLX5_RX_HASH_DST_PORT_TCP = 1 << 5,
	MLX5_RX_HASH_SRC_PORT_UDP = 1 << 6,
	MLX5_RX_HASH_DST_PORT_UDP = 1 << 7,
	MLX5_RX_HASH_IPSEC_SPI = 1 << 8,
	MLX5_RX_HASH_INNER = 1UL << 31,
};

struct mlx5_ib_rss_caps {
	__aligned_u64 rx_hash_fields_mask; /* enum mlx5_rx_hash_fields */
	__u8 rx_hash_function;             /* enum mlx5_rx_hash_function_flags */
	__u8 reserved[7];
};

enum mlx5_ib_cqe_comp_res_format {
	MLX5_IB_CQE_RES_FORMAT_HASH = 1 << 0,
	MLX5_IB_CQE_RES_FORMAT_CSUM = 1 << 1,
	MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX = 1 << 2,
};

struct mlx5_ib_cqe_comp_caps {
	__u32 max_num;
	__u32 supported_format; /* enum mlx5_ib_cqe_comp_res_format */
};

enum mlx5_ib_packet_pacing_cap_flags {
	MLX5_IB_PP_SUPPORT_BURST = 1 << 0,
};

struct mlx5_packet_pacing_caps {
	__u32 qp_rate_limit_min; /* kbit/s */
	__u32 qp_rate_limit_max;
	__u32 supported_qpts;
	__u8 cap_flags; /* enum mlx5_ib_packet_pacing_cap_flags */
	__u8 reserved[3];
};

/* These are bits of mlx5_ib_support_multi_pkt_send_wqes. */
enum mlx5_ib_mpw_caps {
	MPW_RESERVED = 1 << 0,
	MLX5_IB_ALLOW_MPW = 1 << 1,
	MLX5_IB_SUPPORT_EMPW = 1 << 2,
};

enum mlx5_ib_sw_parsing_offloads {
	MLX5_IB_SW_PARSING = 1 << 0,
	MLX5_IB_SW_PARSING_CSUM = 1 << 1,
	MLX5_IB_SW_PARSING_LSO = 1 << 2,
};

struct mlx5_ib_sw_parsing_caps {
	__u32 sw_parsing_offloads; /* enum mlx5_ib_sw_parsing_offloads */
	__u32 supported_qpts;
};

struct mlx5_ib_striding_rq_caps {
	__u32 min_single_stride_log_num_of_bytes;
	__u32 max_single_stride_log_num_of_bytes;
	__u32 min_single_wqe_log_num_of_strides;
	__u32 max_single_wqe_log_num_of_strides;
	__u32 supported_qpts;
	__u32 reserved;
};

struct mlx5_ib_dci_streams_caps {
	__u8 max_log_num_concurent;
	__u8 max_log_num_errored;
};

enum mlx5_ib_query_dev_resp_flags {
	MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP = 1 << 0,
	MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD = 1 << 1,
	MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE = 1 << 2,
	MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT = 1 << 3,
	MLX5_IB_QUERY_DEV_RESP_FLAGS_OOO_DP = 1 << 4,
};

enum mlx5_ib_tunnel_offloads {
	MLX5_IB_TUNNELED_OFFLOADS_VXLAN = 1 << 0,
	MLX5_IB_TUNNELED_OFFLOADS_GRE = 1 << 1,
	MLX5_IB_TUNNELED_OFFLOADS_GENEVE = 1 << 2,
	MLX5_IB_TUNNELED_OFFLOADS_MPLS_GRE = 1 << 3,
	MLX5_IB_TUNNELED_OFFLOADS_MPLS_UDP = 1 << 4,
};

/* The extended query of the device is answered with this. */
struct mlx5_ib_query_device_resp {
	__u32 comp_mask;
	__u32 response_length;
	struct mlx5_ib_tso_caps tso_caps;
	struct mlx5_ib_rss_caps rss_caps;
	struct mlx5_ib_cqe_comp_caps cqe_comp_caps;
	struct mlx5_packet_pacing_caps packet_pacing_caps;
	__u32 mlx5_ib_support_multi_pkt_send_wqes; /* enum mlx5_ib_mpw_caps */
	__u32 flags;                               /* enum mlx5_ib_query_dev_resp_flags */
	struct mlx5_ib_sw_parsing_caps sw_parsing_caps;
	struct mlx5_ib_striding_rq_caps striding_rq_caps;
	__u32 tunnel_offloads_caps; /* enum mlx5_ib_tunnel_offloads */
	struct mlx5_ib_dci_streams_caps dci_streams_caps;
	__u16 reserved;
	struct mlx5_ib_uapi_reg reg_c0;
};

/* --- PD, MW, AH ------------------------------------------------------------------------------- */

struct mlx5_ib_alloc_pd_resp {
	__u32 pdn;
};

struct mlx5_ib_alloc_mw {
	__u32 comp_mask;
	__u8 num_klms;
	__u8 reserved1;
	__u16 reserved2;
};

struct mlx5_ib_create_ah_resp {
	__u32 response_length;
	__u8 dmac[ETH_ALEN];
	__u8 reserved[6];
};

/* --- CQ --------------------------------------------------------------------------------------- */

enum mlx5_ib_create_cq_flags {
	MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD = 1 << 0,
	MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX = 1 << 1,
	MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS = 1 << 2,
};

struct mlx5_ib_create_cq {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr; /* of the doorbell record */
	__u32 cqe_size;        /* bytes */
	__u8 cqe_comp_en;
	__u8 cqe_comp_res_format;
	__u16 flags; /* enum mlx5_ib_create_cq_flags */
	__u16 uar_page_index;
	__u16 reserved0;
	__u32 reserved1;
};

struct mlx5_ib_create_cq_resp {
	__u32 cqn;
	__u32 reserved;
};

struct mlx5_ib_resize_cq {
	__aligned_u64 buf_addr;
	__u16 cqe_size;
	__u16 reserved0;
	__u32 reserved1;
};

/* --- SRQ -------------------------------------------------------------------------------------- */

enum {
	MLX5_SRQ_FLAG_SIGNATURE = 1 << 0,
};

struct mlx5_ib_create_srq {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr;
	__u32 flags; /* MLX5_SRQ_FLAG_* */
	__u32 reserved0;
	__u32 uidx; /* comes back in each CQE of version 1 */
	__u32 reserved1;
};

struct mlx5_ib_create_srq_resp {
	__u32 srqn;
	__u32 reserved;
};

/* --- QP --------------------------------------------------------------------------------------- */

enum {
	MLX5_QP_FLAG_SIGNATURE = 1 << 0,
	MLX5_QP_FLAG_SCATTER_CQE = 1 << 1,
	MLX5_QP_FLAG_TUNNEL_OFFLOADS = 1 << 2,
	MLX5_QP_FLAG_BFREG_INDEX = 1 << 3,
	MLX5_QP_FLAG_TYPE_DCT = 1 << 4,
	MLX5_QP_FLAG_TYPE_DCI = 1 << 5,
	MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC = 1 << 6,
	MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC = 1 << 7,
	MLX5_QP_FLAG_ALLOW_SCATTER_CQE = 1 << 8,
	MLX5_QP_FLAG_PACKET_BASED_CREDIT_MODE = 1 << 9,
	MLX5_QP_FLAG_UAR_PAGE_INDEX = 1 << 10, /* bfreg_index is the page of an UAR object */
	MLX5_QP_FLAG_DCI_STREAM = 1 << 11,
};

struct mlx5_ib_create_qp_dci_streams {
	__u8 log_num_concurent;
	__u8 log_num_errored;
};

struct mlx5_ib_create_qp {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr;
	__u32 sq_wqe_count; /* WQEBBs */
	__u32 rq_wqe_count;
	__u32 rq_wqe_shift; /* a receive WQE has 2^value bytes */
	__u32 flags;        /* MLX5_QP_FLAG_* */
	__u32 uidx;
	__u32 bfreg_index;
	union {
		__aligned_u64 sq_buf_addr; /* raw packet: the send queue lies apart */
		__aligned_u64 access_key;  /* DCT */
	};
	__u32 ece_options;
	struct mlx5_ib_create_qp_dci_streams dci_streams;
	__u16 reserved;
};

struct mlx5_ib_create_qp_rss {
	__aligned_u64 rx_hash_fields_mask; /* enum mlx5_rx_hash_fields */
	__u8 rx_hash_function;             /* enum mlx5_rx_hash_function_flags */
	__u8 rx_key_len;
	__u8 reserved[6];
	__u8 rx_hash_key[128];
	__u32 comp_mask;
	__u32 flags;
};

enum mlx5_ib_create_qp_resp_mask {
	MLX5_IB_CREATE_QP_RESP_MASK_TIRN = 1UL << 0,
	MLX5_IB_CREATE_QP_RESP_MASK_TISN = 1UL << 1,
	MLX5_IB_CREATE_QP_RESP_MASK_RQN = 1UL << 2,
	MLX5_IB_CREATE_QP_RESP_MASK_SQN = 1UL << 3,
	MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR = 1UL << 4,
};

struct mlx5_ib_create_qp_resp {
	__u32 bfreg_index;
	__u32 ece_options;
	__u32 comp_mask; /* enum mlx5_ib_create_qp_resp_mask */
	__u32 tirn;
	__u32 tisn;
	__u32 rqn;
	__u32 sqn;
	__u32 reserved1;
	__u64 tir_icm_addr;
};

struct mlx5_ib_burst_info {
	__u32 max_burst_sz;   /* bytes */
	__u16 typical_pkt_sz; /* bytes */
	__u16 reserved;
};

enum mlx5_ib_modify_qp_mask {
	MLX5_IB_MODIFY_QP_OOO_DP = 1 << 0,
};

struct mlx5_ib_modify_qp {
	__u32 comp_mask; /* enum mlx5_ib_modify_qp_mask */
	struct mlx5_ib_burst_info burst_info;
	__u32 ece_options;
};

struct mlx5_ib_modify_qp_resp {
	__u32 response_length;
	__u32 dctn; /* a DCT has its number only when it is ready to receive */
	__u32 ece_options;
	__u32 reserved;
};

/* --- WQ and indirection table ----------------------------------------------------------------- */

enum {
	MLX5_WQ_FLAG_SIGNATURE = 1 << 0,
};

enum mlx5_ib_create_wq_mask {
	MLX5_IB_CREATE_WQ_STRIDING_RQ = 1 << 0,
};

struct mlx5_ib_create_wq {
	__aligned_u64 buf_addr;
	__aligned_u64 db_addr;
	__u32 rq_wqe_count;
	__u32 rq_wqe_shift;
	__u32 user_index;
	__u32 flags;     /* MLX5_WQ_FLAG_* */
	__u32 comp_mask; /* enum mlx5_ib_create_wq_mask */
	__u32 single_stride_log_num_of_bytes;
	__u32 single_wqe_log_num_of_strides;
	__u32 two_byte_shift_en;
};

struct mlx5_ib_create_wq_resp {
	__u32 response_length;
	__u32 reserved;
};

struct mlx5_ib_modify_wq {
	__u32 comp_mask;
	__u32 reserved;
};

struct mlx5_ib_create_rwq_ind_tbl_resp {
	__u32 response_length;
	__u32 reserved;
};

/* --- Flow counters ---------------------------------------------------------------------------- */

struct mlx5_ib_flow_counters_desc {
	__u32 description;
	__u32 index;
};

struct mlx5_ib_flow_counters_data {
	RDMA_UAPI_PTR(struct mlx5_ib_flow_counters_desc *, counters_data);
	__u32 ncounters;
	__u32 reserved;
};

/* There is one element for each counters spec of the flow, in the order of the specs. */
struct mlx5_ib_create_flow {
	__u32 ncounters_data;
	__u32 reserved;
	struct mlx5_ib_flow_counters_data data[];
};

#endif
