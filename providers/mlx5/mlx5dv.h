/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Direct verbs of mlx5: device features beyond the verbs API, direct access to the queues of verbs
 * objects, and the layout of their entries. Layouts and values are ABI and frozen. Part 1 has the
 * hardware formats (WQE, CQE, doorbells), part 2 the device and its objects, part 3 DevX, part 4
 * flow steering.
 *
 * Unless a comment says otherwise, a function that returns a pointer returns NULL and sets errno on
 * failure, and a function that returns int returns 0 or a positive errno. In a struct with a
 * comp_mask, an optional field is read only if its bit is set.
 */
#ifndef _MLX5DV_H_
#define _MLX5DV_H_

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <linux/types.h>
#if defined(__SSSE3__)
#include <tmmintrin.h>
#endif

#include <infiniband/verbs.h>
#include <infiniband/tm_types.h>
#include <infiniband/mlx5_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLX5DV_ALWAYS_INLINE inline __attribute__((always_inline))

/* ==== Part 1: hardware formats ========================================================== */

/* ---- Doorbells ------------------------------------------------------------------------- */

/* Word indices of a QP's doorbell record. */
enum {
	MLX5_RCV_DBR = 0,
	MLX5_SND_DBR = 1,
};

/* Offset in a UAR page of the register that arms a CQ. */
enum {
	MLX5_CQ_DOORBELL = 0x20,
};

/* Event to arm a CQ for: any completion, or a solicited one only. */
enum {
	MLX5_CQ_DB_REQ_NOT = 0,
	MLX5_CQ_DB_REQ_NOT_SOL = 1 << 24,
};

/* mmap() commands for kernels without UAR objects, on the uverbs descriptor. */
enum {
	MLX5_MMAP_GET_REGULAR_PAGES_CMD = 0,
	MLX5_MMAP_GET_NC_PAGES_CMD = 3,
};

/* ---- WQE segments ---------------------------------------------------------------------- */

enum {
	MLX5_OPCODE_NOP = 0x00,
	MLX5_OPCODE_SEND_INVAL = 0x01,
	MLX5_OPCODE_RDMA_WRITE = 0x08,
	MLX5_OPCODE_RDMA_WRITE_IMM = 0x09,
	MLX5_OPCODE_SEND = 0x0a,
	MLX5_OPCODE_SEND_IMM = 0x0b,
	MLX5_OPCODE_TSO = 0x0e,
	MLX5_OPCODE_RDMA_READ = 0x10,
	MLX5_OPCODE_ATOMIC_CS = 0x11,
	MLX5_OPCODE_ATOMIC_FA = 0x12,
	MLX5_OPCODE_ATOMIC_MASKED_CS = 0x14,
	MLX5_OPCODE_ATOMIC_MASKED_FA = 0x15,
	MLX5_OPCODE_FMR = 0x19,
	MLX5_OPCODE_LOCAL_INVAL = 0x1b,
	MLX5_OPCODE_CONFIG_CMD = 0x1f,
	MLX5_OPCODE_SET_PSV = 0x20,
	MLX5_OPCODE_UMR = 0x25,
	MLX5_OPCODE_TAG_MATCHING = 0x28,
	MLX5_OPCODE_FLOW_TBL_ACCESS = 0x2c,
	MLX5_OPCODE_MMO = 0x2f,
};

/* Size of a WQEBB, the unit of a send queue, in bytes and as log2. */
enum {
	MLX5_SEND_WQE_BB = 64,
	MLX5_SEND_WQE_SHIFT = 6,
};

/* Bits of fm_ce_se. */
enum {
	MLX5_WQE_CTRL_SOLICITED = 1 << 1,
	MLX5_WQE_CTRL_CQ_UPDATE = 2 << 2,
	MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE = 1 << 5,
	MLX5_WQE_CTRL_FENCE = 4 << 5,
};

/* The first segment of every send WQE. */
struct mlx5_wqe_ctrl_seg {
	__be32 opmod_idx_opcode; /* 31:24 modifier, 23:8 WQEBB index, 7:0 opcode */
	__be32 qpn_ds;           /* 31:8 QP number, 5:0 size of the WQE in units of 16 bytes */
	uint8_t signature;
	__be16 dci_stream_channel_id;
	uint8_t fm_ce_se; /* MLX5_WQE_CTRL_* */
	__be32 imm;       /* immediate data, key to invalidate, or mkey of a UMR */
} __attribute__((packed, aligned(4)));

/* lkey that ends the scatter list of a receive WQE with unused entries. */
enum {
	MLX5_INVALID_LKEY = 0x100,
};

struct mlx5_wqe_data_seg {
	__be32 byte_count; /* 0 means 2 GiB */
	__be32 lkey;
	__be64 addr;
};

/* Flag in byte_count: the data follows in the WQE itself. */
enum {
	MLX5_INLINE_SEG = 0x80000000,
};

struct mlx5_wqe_inl_data_seg {
	uint32_t byte_count; /* big-endian, with MLX5_INLINE_SEG */
};

struct mlx5_wqe_raddr_seg {
	__be64 raddr;
	__be32 rkey;
	__be32 reserved;
};

struct mlx5_wqe_atomic_seg {
	__be64 swap_add;
	__be64 compare;
};

/* Flag in dqp_dct: the address vector has its full length, with GRH and MAC. */
enum {
	MLX5_EXTENDED_UD_AV = 0x80000000,
};

struct mlx5_wqe_av {
	union {
		struct {
			__be32 qkey;
			__be32 reserved;
		} qkey;
		__be64 dc_key;
	} key;
	__be32 dqp_dct;
	uint8_t stat_rate_sl; /* 7:4 static rate, 3:0 SL */
	uint8_t fl_mlid;      /* 7 force loopback, 6:0 source path bits */
	__be16 rlid;          /* RoCE v2: UDP source port */
	uint8_t reserved0[4];
	uint8_t rmac[6];
	uint8_t tclass;
	uint8_t hop_limit;
	__be32 grh_gid_fl; /* 30 GRH, 27:20 source GID index, 19:0 flow label */
	uint8_t rgid[16];
};

struct mlx5_wqe_datagram_seg {
	struct mlx5_wqe_av av;
};

/* Flags in cs_flags: checksums that the device computes. */
enum {
	MLX5_ETH_WQE_L3_CSUM = 1 << 6,
	MLX5_ETH_WQE_L4_CSUM = 1 << 7,
};

/* Ethernet segment of a raw packet. Inline headers longer than 18 bytes continue after the
 * segment. */
struct mlx5_wqe_eth_seg {
	__be32 rsvd0;
	uint8_t cs_flags;
	uint8_t rsvd1;
	__be16 mss;
	__be32 rsvd2;
	__be16 inline_hdr_sz;
	uint8_t inline_hdr_start[2];
	uint8_t inline_hdr[16];
};

/* Link of an SRQ's WQE to the next. */
struct mlx5_wqe_srq_next_seg {
	uint8_t rsvd0[2];
	__be16 next_wqe_index;
	uint8_t signature;
	uint8_t rsvd1[11];
};

/* A receive WQE of a striding RQ in an SRQ. */
struct mlx5_mprq_wqe {
	struct mlx5_wqe_srq_next_seg nseg;
	struct mlx5_wqe_data_seg dseg;
};

struct mlx5_wqe_tm_seg {
	uint8_t opcode;
	uint8_t flags;
	__be16 index;
	uint8_t rsvd0[2];
	__be16 sw_cnt;
	uint8_t rsvd1[8];
	__be64 append_tag;
	__be64 append_mask;
};

/* ---- UMR: a WQE that changes a memory key ------------------------------------------------ */

enum {
	MLX5_WQE_UMR_CTRL_FLAG_CHECK_QPN = 1 << 3,
	MLX5_WQE_UMR_CTRL_FLAG_TRNSLATION_OFFSET = 1 << 4,
	MLX5_WQE_UMR_CTRL_FLAG_CHECK_FREE = 1 << 5,
	MLX5_WQE_UMR_CTRL_FLAG_INLINE = 1 << 7,
};

/* Bits of mkey_mask: the fields of the key that change. */
enum {
	MLX5_WQE_UMR_CTRL_MKEY_MASK_LEN = 1 << 0,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_START_ADDR = 1 << 6,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_SIG_ERR = 1 << 9,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_BSF_ENABLE = 1 << 12,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_MKEY = 1 << 13,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_QPN = 1 << 14,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_LOCAL_WRITE = 1 << 18,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_READ = 1 << 19,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_REMOTE_WRITE = 1 << 20,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_ACCESS_ATOMIC = 1 << 21,
	MLX5_WQE_UMR_CTRL_MKEY_MASK_FREE = 1 << 29,
};

struct mlx5_wqe_umr_ctrl_seg {
	uint8_t flags; /* MLX5_WQE_UMR_CTRL_FLAG_* */
	uint8_t rsvd0[3];
	__be16 klm_octowords; /* units of 16 bytes */
	union {
		__be16 translation_offset;
		__be16 bsf_octowords;
	};
	__be64 mkey_mask;
	uint8_t rsvd1[32];
};

struct mlx5_wqe_umr_klm_seg {
	__be32 byte_count; /* at most 2 GiB */
	__be32 mkey;
	__be64 address;
};

union mlx5_wqe_umr_inline_seg {
	struct mlx5_wqe_umr_klm_seg klm;
};

/* An entry of a strided pattern. Each repetition takes num_ent entries in turn. */
struct mlx5_wqe_umr_repeat_ent_seg {
	__be16 stride;
	__be16 byte_count;
	__be32 memkey;
	__be64 va;
};

struct mlx5_wqe_umr_repeat_block_seg {
	__be32 byte_count; /* bytes of one repetition */
	__be32 op;
	__be32 repeat_count;
	__be16 reserved;
	__be16 num_ent;
	struct mlx5_wqe_umr_repeat_ent_seg entries[0];
};

enum {
	MLX5_WQE_MKEY_CONTEXT_FREE = 1 << 6,
};

enum {
	MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_LOCAL_READ = 1 << 2,
	MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_LOCAL_WRITE = 1 << 3,
	MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_READ = 1 << 4,
	MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_REMOTE_WRITE = 1 << 5,
	MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_ATOMIC = 1 << 6,
};

struct mlx5_wqe_mkey_context_seg {
	uint8_t free;
	uint8_t reserved1;
	uint8_t access_flags;
	uint8_t sf;
	__be32 qpn_mkey; /* 31:8 QP number, 7:0 low byte of the key */
	__be32 reserved2;
	__be32 flags_pd;
	__be64 start_addr;
	__be64 len;
	__be32 bsf_octword_size;
	__be32 reserved3[4];
	__be32 translations_octword_size;
	uint8_t reserved4[3];
	uint8_t log_page_size;
	__be32 reserved;
	union mlx5_wqe_umr_inline_seg inseg[0];
};

/* ---- Filling in segments ---------------------------------------------------------------- */

/* Fills in a control segment. pi: index of the first WQEBB, 16 bits whatever the queue's size. ds:
 * size of the whole WQE in units of 16 bytes. imm is stored unconverted, so pass a key in
 * big-endian order. Leaves the DCI stream id unchanged. */
static MLX5DV_ALWAYS_INLINE void mlx5dv_set_ctrl_seg(struct mlx5_wqe_ctrl_seg *seg, uint16_t pi,
						     uint8_t opcode, uint8_t opmod, uint32_t qp_num,
						     uint8_t fm_ce_se, uint8_t ds,
						     uint8_t signature, uint32_t imm)
{
	uint32_t operation = (uint32_t)opmod << 24 | (uint32_t)pi << 8 | opcode;

	seg->opmod_idx_opcode = htobe32(operation);
	seg->qpn_ds = htobe32(qp_num << 8 | ds);
	seg->signature = signature;
	seg->fm_ce_se = fm_ce_se;
	seg->imm = imm;
}

static MLX5DV_ALWAYS_INLINE void mlx5dv_set_data_seg(struct mlx5_wqe_data_seg *seg, uint32_t length,
						     uint32_t lkey, uintptr_t address)
{
	seg->addr = htobe64(address);
	seg->lkey = htobe32(lkey);
	seg->byte_count = htobe32(length);
}

/* Does what mlx5dv_set_ctrl_seg() does, with one 16-byte store: builds the lanes in host order,
 * then swaps the bytes of the big-endian ones. Sets the DCI stream id to 0. */
#if defined(__SSSE3__)
static MLX5DV_ALWAYS_INLINE void mlx5dv_x86_set_ctrl_seg(struct mlx5_wqe_ctrl_seg *seg, uint16_t pi,
							 uint8_t opcode, uint8_t opmod,
							 uint32_t qp_num, uint8_t fm_ce_se,
							 uint8_t ds, uint8_t signature,
							 uint32_t imm)
{
	uint32_t operation = (uint32_t)opmod << 24 | (uint32_t)pi << 8 | opcode;
	uint32_t flags = (uint32_t)signature << 24 | fm_ce_se;
	__m128i host = _mm_set_epi32((int)imm, (int)flags, (int)(qp_num << 8 | ds), (int)operation);
	__m128i order = _mm_set_epi8(15, 14, 13, 12, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
	__m128i wire = _mm_shuffle_epi8(host, order);

	memcpy(seg, &wire, sizeof(wire));
}

static MLX5DV_ALWAYS_INLINE void mlx5dv_x86_set_data_seg(struct mlx5_wqe_data_seg *seg,
							 uint32_t length, uint32_t lkey,
							 uintptr_t address)
{
	__m128i host =
		_mm_set_epi64x((long long)address, (long long)((uint64_t)lkey << 32 | length));
	__m128i order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 4, 5, 6, 7, 0, 1, 2, 3);
	__m128i wire = _mm_shuffle_epi8(host, order);

	memcpy(seg, &wire, sizeof(wire));
}
#endif

/* Fills in a datagram segment. key: a Q_Key in the upper 32 bits, or a DC access key. ext: 1 for
 * the full address vector. */
static MLX5DV_ALWAYS_INLINE void
mlx5dv_set_dgram_seg(struct mlx5_wqe_datagram_seg *seg, uint64_t key, uint32_t dqp_dct, uint8_t ext,
		     uint8_t stat_rate_sl, uint8_t fl_mlid, uint16_t rlid, uint8_t *rmac,
		     uint8_t tclass, uint8_t hop_limit, uint32_t grh_gid_fi, uint8_t *rgid)
{
	struct mlx5_wqe_av *av = &seg->av;

	av->key.dc_key = htobe64(key);
	av->dqp_dct = htobe32((uint32_t)ext << 31 | dqp_dct);
	av->stat_rate_sl = stat_rate_sl;
	av->fl_mlid = fl_mlid;
	av->rlid = htobe16(rlid);
	memcpy(av->rmac, rmac, sizeof(av->rmac));
	av->tclass = tclass;
	av->hop_limit = hop_limit;
	av->grh_gid_fl = htobe32(grh_gid_fi);
	memcpy(av->rgid, rgid, sizeof(av->rgid));
}

/* Fills in an Ethernet segment. mss: 0 unless the WQE is a TSO. The headers may continue after the
 * segment. */
static MLX5DV_ALWAYS_INLINE void mlx5dv_set_eth_seg(struct mlx5_wqe_eth_seg *seg, uint8_t cs_flags,
						    uint16_t mss, uint16_t inline_hdr_sz,
						    uint8_t *inline_hdr_start)
{
	uint8_t *headers = (uint8_t *)seg + offsetof(struct mlx5_wqe_eth_seg, inline_hdr_start);

	seg->cs_flags = cs_flags;
	seg->mss = htobe16(mss);
	seg->inline_hdr_sz = htobe16(inline_hdr_sz);
	memcpy(headers, inline_hdr_start, inline_hdr_sz);
}

/* ---- CQEs ------------------------------------------------------------------------------ */

/* CQE opcodes, in bits 7:4 of op_own, and the mask of op_own's owner bit. */
enum {
	MLX5_CQE_OWNER_MASK = 1,
	MLX5_CQE_REQ = 0,
	MLX5_CQE_RESP_WR_IMM = 1,
	MLX5_CQE_RESP_SEND = 2,
	MLX5_CQE_RESP_SEND_IMM = 3,
	MLX5_CQE_RESP_SEND_INV = 4,
	MLX5_CQE_RESIZE_CQ = 5,
	MLX5_CQE_NO_PACKET = 6,
	MLX5_CQE_SIG_ERR = 12,
	MLX5_CQE_REQ_ERR = 13,
	MLX5_CQE_RESP_ERR = 14,
	MLX5_CQE_INVALID = 15,
};

/* Bits of op_own: the received data is in the CQE, or in the 64 bytes before it. */
enum {
	MLX5_INLINE_SCATTER_32 = 0x4,
	MLX5_INLINE_SCATTER_64 = 0x8,
};

enum {
	MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR = 0x01,
	MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR = 0x02,
	MLX5_CQE_SYNDROME_LOCAL_PROT_ERR = 0x04,
	MLX5_CQE_SYNDROME_WR_FLUSH_ERR = 0x05,
	MLX5_CQE_SYNDROME_MW_BIND_ERR = 0x06,
	MLX5_CQE_SYNDROME_BAD_RESP_ERR = 0x10,
	MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR = 0x11,
	MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR = 0x12,
	MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR = 0x13,
	MLX5_CQE_SYNDROME_REMOTE_OP_ERR = 0x14,
	MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR = 0x15,
	MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR = 0x16,
	MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR = 0x22,
};

enum {
	MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT = 0x93,
};

/* Bits of hds_ip_ext: checks of a raw packet that passed. */
enum {
	MLX5_CQE_L2_OK = 1 << 0,
	MLX5_CQE_L3_OK = 1 << 1,
	MLX5_CQE_L4_OK = 1 << 2,
};

/* Values of bits 3:2 of l4_hdr_type_etc. */
enum {
	MLX5_CQE_L3_HDR_TYPE_NONE = 0,
	MLX5_CQE_L3_HDR_TYPE_IPV6 = 1,
	MLX5_CQE_L3_HDR_TYPE_IPV4 = 2,
};

/* A CQE with opcode REQ_ERR or RESP_ERR. */
struct mlx5_err_cqe {
	uint8_t rsvd0[32];
	uint32_t srqn;
	uint8_t rsvd1[18];
	uint8_t vendor_err_synd;
	uint8_t syndrome;          /* MLX5_CQE_SYNDROME_* */
	uint32_t s_wqe_opcode_qpn; /* big-endian: 31:24 opcode of the WQE, 23:0 QP number */
	uint16_t wqe_counter;      /* big-endian */
	uint8_t signature;
	uint8_t op_own;
};

/* Value of success in a tag-matching CQE. */
enum {
	MLX5_TMC_SUCCESS = 0x80000000U,
};

struct mlx5_tm_cqe {
	__be32 success;
	__be16 hw_phase_cnt;
	uint8_t rsvd0[12];
};

struct mlx5_cqe64 {
	union {
		struct {
			uint8_t rsvd0[2];
			__be16 wqe_id;
			uint8_t rsvd4[13];
			uint8_t ml_path;
			uint8_t rsvd20[4];
			__be16 slid;
			__be32 flags_rqpn; /* 29:28 GRH, 27:24 SL, 23:0 source QP */
			uint8_t hds_ip_ext;
			uint8_t l4_hdr_type_etc;
			__be16 vlan_info;
		};
		struct mlx5_tm_cqe tm_cqe;
		struct ibv_tmh tmh; /* the sender's header, if a tag matched */
	};
	__be32 srqn_uidx;
	__be32 imm_inval_pkey; /* immediate data, invalidated key or P_Key index, by opcode */
	uint8_t app;
	uint8_t app_op;
	__be16 app_info;
	__be32 byte_cnt;
	__be64 timestamp;
	__be32 sop_drop_qpn; /* 31:24 the WQE's opcode, or the flow tag; 23:0 QP number */
	__be16 wqe_counter;
	uint8_t signature;
	uint8_t op_own; /* 7:4 opcode, 3:2 format, 1 solicited, 0 owner; written last */
};

static MLX5DV_ALWAYS_INLINE uint8_t mlx5dv_get_cqe_opcode(struct mlx5_cqe64 *cqe)
{
	return cqe->op_own >> 4;
}

/* Returns 0: no data, 1: 32 bytes of data, 2: 64 bytes of data, 3: compressed. */
static MLX5DV_ALWAYS_INLINE uint8_t mlx5dv_get_cqe_format(struct mlx5_cqe64 *cqe)
{
	return cqe->op_own >> 2 & 3;
}

static MLX5DV_ALWAYS_INLINE uint8_t mlx5dv_get_cqe_se(struct mlx5_cqe64 *cqe)
{
	return cqe->op_own >> 1 & 1;
}

static MLX5DV_ALWAYS_INLINE uint8_t mlx5dv_get_cqe_owner(struct mlx5_cqe64 *cqe)
{
	return cqe->op_own & MLX5_CQE_OWNER_MASK;
}

static MLX5DV_ALWAYS_INLINE void mlx5dv_set_cqe_owner(struct mlx5_cqe64 *cqe, uint8_t val)
{
	uint8_t rest = cqe->op_own & ~MLX5_CQE_OWNER_MASK;

	cqe->op_own = rest | (val & MLX5_CQE_OWNER_MASK);
}

/* ==== Part 2: the device and its objects ================================================= */

/* ---- Device ---------------------------------------------------------------------------- */

/* Returns whether this library drives the device. */
bool mlx5dv_is_supported(struct ibv_device *device);

enum mlx5dv_context_attr_flags {
	MLX5DV_CONTEXT_FLAGS_DEVX = 1 << 0, /* fail if DevX is unavailable */
};

enum mlx5dv_context_attr_comp_mask {
	MLX5DV_CONTEXT_ATTR_MASK_FD_ARRAY = 1 << 0,
};

struct mlx5dv_context_attr {
	uint32_t flags;         /* enum mlx5dv_context_attr_flags */
	uint64_t comp_mask;     /* enum mlx5dv_context_attr_comp_mask */
	struct ibv_fd_arr *fds; /* descriptors that grant rights to the context */
};

struct ibv_context *mlx5dv_open_device(struct ibv_device *device, struct mlx5dv_context_attr *attr);

enum mlx5dv_vfio_context_attr_flags {
	MLX5DV_VFIO_CTX_FLAGS_INIT_LINK_DOWN = 1 << 0,
};

struct mlx5dv_vfio_context_attr {
	const char *pci_name; /* "0000:08:00.0" */
	uint32_t flags;       /* enum mlx5dv_vfio_context_attr_flags */
	uint64_t comp_mask;   /* 0 */
};

/* Functions to drive a device from user space through VFIO, without a kernel driver. The program
 * must serve its events: call mlx5dv_vfio_process_events() when the events fd is readable. */
struct ibv_device **mlx5dv_get_vfio_device_list(struct mlx5dv_vfio_context_attr *attr);
int mlx5dv_vfio_get_events_fd(struct ibv_context *ibctx);
int mlx5dv_vfio_process_events(struct ibv_context *context);

enum mlx5dv_context_flags {
	MLX5DV_CONTEXT_FLAGS_CQE_V1 = 1 << 0,
	MLX5DV_CONTEXT_FLAGS_OBSOLETE = 1 << 1,
	MLX5DV_CONTEXT_FLAGS_MPW_ALLOWED = 1 << 2,
	MLX5DV_CONTEXT_FLAGS_ENHANCED_MPW = 1 << 3,
	MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP = 1 << 4,
	MLX5DV_CONTEXT_FLAGS_CQE_128B_PAD = 1 << 5,
	MLX5DV_CONTEXT_FLAGS_PACKET_BASED_CREDIT_MODE = 1 << 6,
	MLX5DV_CONTEXT_FLAGS_REAL_TIME_TS = 1 << 7,
	MLX5DV_CONTEXT_FLAGS_BLUEFLAME = 1 << 8,
};

/* On input, the optional fields that the program wants. On output, the fields that are filled
 * in. */
enum mlx5dv_context_comp_mask {
	MLX5DV_CONTEXT_MASK_CQE_COMPRESION = 1 << 0,
	MLX5DV_CONTEXT_MASK_SWP = 1 << 1,
	MLX5DV_CONTEXT_MASK_STRIDING_RQ = 1 << 2,
	MLX5DV_CONTEXT_MASK_TUNNEL_OFFLOADS = 1 << 3,
	MLX5DV_CONTEXT_MASK_DYN_BFREGS = 1 << 4,
	MLX5DV_CONTEXT_MASK_CLOCK_INFO_UPDATE = 1 << 5,
	MLX5DV_CONTEXT_MASK_FLOW_ACTION_FLAGS = 1 << 6,
	MLX5DV_CONTEXT_MASK_DC_ODP_CAPS = 1 << 7,
	MLX5DV_CONTEXT_MASK_HCA_CORE_CLOCK = 1 << 8,
	MLX5DV_CONTEXT_MASK_NUM_LAG_PORTS = 1 << 9,
	MLX5DV_CONTEXT_MASK_SIGNATURE_OFFLOAD = 1 << 10,
	MLX5DV_CONTEXT_MASK_DCI_STREAMS = 1 << 11,
	MLX5DV_CONTEXT_MASK_WR_MEMCPY_LENGTH = 1 << 12,
	MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD = 1 << 13,
	MLX5DV_CONTEXT_MASK_MAX_DC_RD_ATOM = 1 << 14,
	MLX5DV_CONTEXT_MASK_REG_C0 = 1 << 15,
	MLX5DV_CONTEXT_MASK_OOO_RECV_WRS = 1 << 16,
};

enum mlx5dv_cqe_comp_res_format {
	MLX5DV_CQE_RES_FORMAT_HASH = 1 << 0,
	MLX5DV_CQE_RES_FORMAT_CSUM = 1 << 1,
	MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX = 1 << 2,
};

struct mlx5dv_cqe_comp_caps {
	uint32_t max_num;          /* CQEs in one compressed session */
	uint32_t supported_format; /* enum mlx5dv_cqe_comp_res_format */
};

enum mlx5dv_sw_parsing_offloads {
	MLX5DV_SW_PARSING = 1 << 0,
	MLX5DV_SW_PARSING_CSUM = 1 << 1,
	MLX5DV_SW_PARSING_LSO = 1 << 2,
};

struct mlx5dv_sw_parsing_caps {
	uint32_t sw_parsing_offloads; /* enum mlx5dv_sw_parsing_offloads */
	uint32_t supported_qpts;
};

struct mlx5dv_striding_rq_caps {
	uint32_t min_single_stride_log_num_of_bytes;
	uint32_t max_single_stride_log_num_of_bytes;
	uint32_t min_single_wqe_log_num_of_strides;
	uint32_t max_single_wqe_log_num_of_strides;
	uint32_t supported_qpts;
};

enum mlx5dv_tunnel_offloads {
	MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_VXLAN = 1 << 0,
	MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GRE = 1 << 1,
	MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_GENEVE = 1 << 2,
	MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_GRE = 1 << 3,
	MLX5DV_RAW_PACKET_CAP_TUNNELED_OFFLOAD_CW_MPLS_OVER_UDP = 1 << 4,
};

enum mlx5dv_flow_action_cap_flags {
	MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM = 1 << 0,
	MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_REQ_METADATA = 1 << 1,
	MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_SPI_STEERING = 1 << 2,
	MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_FULL_OFFLOAD = 1 << 3,
	MLX5DV_FLOW_ACTION_FLAGS_ESP_AES_GCM_TX_IV_IS_ESN = 1 << 4,
};

/* Kinds of block signatures. Each kind has an index, and a capability bit at that index. */
enum mlx5dv_sig_type {
	MLX5DV_SIG_TYPE_T10DIF = 0,
	MLX5DV_SIG_TYPE_CRC = 1,
};

enum mlx5dv_sig_prot_caps {
	MLX5DV_SIG_PROT_CAP_T10DIF = 1 << MLX5DV_SIG_TYPE_T10DIF,
	MLX5DV_SIG_PROT_CAP_CRC = 1 << MLX5DV_SIG_TYPE_CRC,
};

enum mlx5dv_sig_t10dif_bg_type {
	MLX5DV_SIG_T10DIF_CRC = 0,
	MLX5DV_SIG_T10DIF_CSUM = 1,
};

enum mlx5dv_sig_t10dif_bg_caps {
	MLX5DV_SIG_T10DIF_BG_CAP_CRC = 1 << MLX5DV_SIG_T10DIF_CRC,
	MLX5DV_SIG_T10DIF_BG_CAP_CSUM = 1 << MLX5DV_SIG_T10DIF_CSUM,
};

enum mlx5dv_sig_crc_type {
	MLX5DV_SIG_CRC_TYPE_CRC32 = 0,
	MLX5DV_SIG_CRC_TYPE_CRC32C = 1,
	MLX5DV_SIG_CRC_TYPE_CRC64_XP10 = 2,
};

enum mlx5dv_sig_crc_type_caps {
	MLX5DV_SIG_CRC_TYPE_CAP_CRC32 = 1 << MLX5DV_SIG_CRC_TYPE_CRC32,
	MLX5DV_SIG_CRC_TYPE_CAP_CRC32C = 1 << MLX5DV_SIG_CRC_TYPE_CRC32C,
	MLX5DV_SIG_CRC_TYPE_CAP_CRC64_XP10 = 1 << MLX5DV_SIG_CRC_TYPE_CRC64_XP10,
};

enum mlx5dv_block_size {
	MLX5DV_BLOCK_SIZE_512 = 0,
	MLX5DV_BLOCK_SIZE_520 = 1,
	MLX5DV_BLOCK_SIZE_4048 = 2,
	MLX5DV_BLOCK_SIZE_4096 = 3,
	MLX5DV_BLOCK_SIZE_4160 = 4,
};

enum mlx5dv_block_size_caps {
	MLX5DV_BLOCK_SIZE_CAP_512 = 1 << MLX5DV_BLOCK_SIZE_512,
	MLX5DV_BLOCK_SIZE_CAP_520 = 1 << MLX5DV_BLOCK_SIZE_520,
	MLX5DV_BLOCK_SIZE_CAP_4048 = 1 << MLX5DV_BLOCK_SIZE_4048,
	MLX5DV_BLOCK_SIZE_CAP_4096 = 1 << MLX5DV_BLOCK_SIZE_4096,
	MLX5DV_BLOCK_SIZE_CAP_4160 = 1 << MLX5DV_BLOCK_SIZE_4160,
};

struct mlx5dv_sig_caps {
	uint64_t block_size; /* enum mlx5dv_block_size_caps */
	uint32_t block_prot; /* enum mlx5dv_sig_prot_caps */
	uint16_t t10dif_bg;  /* enum mlx5dv_sig_t10dif_bg_caps */
	uint16_t crc_type;   /* enum mlx5dv_sig_crc_type_caps */
};

/* Streams of a DC initiator: an error in one stream does not stop the others. */
struct mlx5dv_dci_streams_caps {
	uint8_t max_log_num_concurent;
	uint8_t max_log_num_errored;
};

enum mlx5dv_crypto_engines_caps {
	MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS = 1 << 0,
	MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_SINGLE_BLOCK = 1 << 1,
	MLX5DV_CRYPTO_ENGINES_CAP_AES_XTS_MULTI_BLOCK = 1 << 2,
};

enum mlx5dv_crypto_wrapped_import_method_caps {
	MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS = 1 << 0,
};

enum mlx5dv_crypto_caps_flags {
	MLX5DV_CRYPTO_CAPS_CRYPTO = 1 << 0,
	MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL = 1 << 1,
	MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_GOING_TO_COMMISSIONING = 1 << 2,
};

struct mlx5dv_crypto_caps {
	uint16_t failed_selftests;     /* vendor's error codes; 0: all passed */
	uint8_t crypto_engines;        /* enum mlx5dv_crypto_engines_caps */
	uint8_t wrapped_import_method; /* enum mlx5dv_crypto_wrapped_import_method_caps */
	uint8_t log_max_num_deks;
	uint32_t flags; /* enum mlx5dv_crypto_caps_flags */
};

/* Limit of outstanding receives, by type, for a QP with out-of-order messages. */
struct mlx5dv_ooo_recv_wrs_caps {
	uint32_t max_rc;
	uint32_t max_xrc;
	uint32_t max_dct;
	uint32_t max_ud;
	uint32_t max_uc;
};

struct mlx5dv_context {
	uint8_t version;
	uint64_t flags;     /* enum mlx5dv_context_flags */
	uint64_t comp_mask; /* enum mlx5dv_context_comp_mask */
	struct mlx5dv_cqe_comp_caps cqe_comp_caps;
	struct mlx5dv_sw_parsing_caps sw_parsing_caps;
	struct mlx5dv_striding_rq_caps striding_rq_caps;
	uint32_t tunnel_offloads_caps; /* enum mlx5dv_tunnel_offloads */
	uint32_t max_dynamic_bfregs;
	uint64_t max_clock_info_update_nsec;
	uint32_t flow_action_flags; /* enum mlx5dv_flow_action_cap_flags */
	uint32_t dc_odp_caps;       /* enum ibv_odp_transport_cap_bits */
	void *hca_core_clock;       /* page with the device's clock */
	uint8_t num_lag_ports;
	struct mlx5dv_sig_caps sig_caps;
	struct mlx5dv_dci_streams_caps dci_streams_caps;
	size_t max_wr_memcpy_length;
	struct mlx5dv_crypto_caps crypto_caps;
	uint64_t max_dc_rd_atom;
	uint64_t max_dc_init_rd_atom;
	struct mlx5dv_reg reg_c0;
	struct mlx5dv_ooo_recv_wrs_caps ooo_recv_wrs_caps;
};

int mlx5dv_query_device(struct ibv_context *ctx_in, struct mlx5dv_context *attrs_out);

int _mlx5dv_query_port(struct ibv_context *context, uint32_t port_num, struct mlx5dv_port *info,
		       size_t info_len);

static inline int mlx5dv_query_port(struct ibv_context *context, uint32_t port_num,
				    struct mlx5dv_port *info)
{
	return _mlx5dv_query_port(context, port_num, info, sizeof(*info));
}

/* Returns the sysfs directory of the data-direct function. */
int mlx5dv_get_data_direct_sysfs_path(struct ibv_context *context, char *buf, size_t buf_len);

enum mlx5dv_set_ctx_attr_type {
	MLX5DV_CTX_ATTR_BUF_ALLOCATORS = 1, /* attr is a struct mlx5dv_ctx_allocators */
};

struct mlx5dv_ctx_allocators {
	void *(*alloc)(size_t size, void *priv_data);
	void (*free)(void *ptr, void *priv_data);
	void *data;
};

int mlx5dv_set_context_attr(struct ibv_context *context, enum mlx5dv_set_ctx_attr_type type,
			    void *attr);

/* Conversion of the device's clock to nanoseconds, as of one moment. */
struct mlx5dv_clock_info {
	uint64_t nsec;
	uint64_t last_cycles;
	uint64_t frac;
	uint32_t mult;
	uint32_t shift;
	uint64_t mask;
};

int mlx5dv_get_clock_info(struct ibv_context *context, struct mlx5dv_clock_info *clock_info);

/* Converts a device timestamp to nanoseconds. The counter wraps at mask: a timestamp less than half
 * a period after last_cycles counts as later, any other as earlier. Renew the clock info within
 * max_clock_info_update_nsec, or the result is wrong. */
static inline uint64_t mlx5dv_ts_to_ns(struct mlx5dv_clock_info *clock_info,
				       uint64_t device_timestamp)
{
	uint64_t ahead = (device_timestamp - clock_info->last_cycles) & clock_info->mask;
	uint64_t behind = (clock_info->last_cycles - device_timestamp) & clock_info->mask;

	if (ahead <= clock_info->mask / 2)
		return clock_info->nsec +
		       ((ahead * clock_info->mult + clock_info->frac) >> clock_info->shift);
	return clock_info->nsec -
	       ((behind * clock_info->mult - clock_info->frac) >> clock_info->shift);
}

/* ---- Direct access to objects ------------------------------------------------------------ */

/* resource_type values for the allocators of a parent domain. */
#define MLX5DV_RES_TYPE_QP  ((uint64_t)RDMA_DRIVER_MLX5 << 32 | 1)
#define MLX5DV_RES_TYPE_RWQ ((uint64_t)RDMA_DRIVER_MLX5 << 32 | 2)
#define MLX5DV_RES_TYPE_DBR ((uint64_t)RDMA_DRIVER_MLX5 << 32 | 3)
#define MLX5DV_RES_TYPE_SRQ ((uint64_t)RDMA_DRIVER_MLX5 << 32 | 4)
#define MLX5DV_RES_TYPE_CQ  ((uint64_t)RDMA_DRIVER_MLX5 << 32 | 5)

enum mlx5dv_qp_comp_mask {
	MLX5DV_QP_MASK_UAR_MMAP_OFFSET = 1 << 0,
	MLX5DV_QP_MASK_RAW_QP_HANDLES = 1 << 1,
	MLX5DV_QP_MASK_RAW_QP_TIR_ADDR = 1 << 2,
};

struct mlx5dv_qp {
	__be32 *dbrec; /* words MLX5_RCV_DBR and MLX5_SND_DBR */
	struct {
		void *buf;
		uint32_t wqe_cnt; /* entries of stride bytes */
		uint32_t stride;
	} sq;
	struct {
		void *buf;
		uint32_t wqe_cnt;
		uint32_t stride;
	} rq;
	struct {
		void *reg;     /* doorbell register */
		uint32_t size; /* bytes of one BlueFlame buffer, 0: no BlueFlame */
	} bf;
	uint64_t comp_mask; /* enum mlx5dv_qp_comp_mask */
	off_t uar_mmap_offset;
	uint32_t tirn; /* device objects of a raw packet QP: this and the next three */
	uint32_t tisn;
	uint32_t rqn;
	uint32_t sqn;
	uint64_t tir_icm_addr;
};

struct mlx5dv_cq {
	void *buf;
	__be32 *dbrec;
	uint32_t cqe_cnt;
	uint32_t cqe_size; /* bytes */
	void *cq_uar;
	uint32_t cqn;
	uint64_t comp_mask; /* 0 */
};

enum mlx5dv_srq_comp_mask {
	MLX5DV_SRQ_MASK_SRQN = 1 << 0,
};

struct mlx5dv_srq {
	void *buf;
	__be32 *dbrec;
	uint32_t stride; /* bytes */
	uint32_t head;
	uint32_t tail;
	uint64_t comp_mask; /* enum mlx5dv_srq_comp_mask */
	uint32_t srqn;
};

struct mlx5dv_rwq {
	void *buf;
	__be32 *dbrec;
	uint32_t wqe_cnt;
	uint32_t stride;    /* bytes */
	uint64_t comp_mask; /* 0 */
};

enum mlx5dv_dm_comp_mask {
	MLX5DV_DM_MASK_REMOTE_VA = 1 << 0,
};

struct mlx5dv_dm {
	void *buf;
	uint64_t length;    /* bytes */
	uint64_t comp_mask; /* enum mlx5dv_dm_comp_mask */
	uint64_t remote_va;
};

struct mlx5dv_ah {
	struct mlx5_wqe_av *av;
	uint64_t comp_mask; /* 0 */
};

struct mlx5dv_pd {
	uint32_t pdn;
	uint64_t comp_mask; /* 0 */
};

struct mlx5dv_devx_obj;

struct mlx5dv_devx {
	uint32_t handle;
};

enum mlx5dv_obj_type {
	MLX5DV_OBJ_QP = 1 << 0,
	MLX5DV_OBJ_CQ = 1 << 1,
	MLX5DV_OBJ_SRQ = 1 << 2,
	MLX5DV_OBJ_RWQ = 1 << 3,
	MLX5DV_OBJ_DM = 1 << 4,
	MLX5DV_OBJ_AH = 1 << 5,
	MLX5DV_OBJ_PD = 1 << 6,
	MLX5DV_OBJ_DEVX = 1 << 7,
};

struct mlx5dv_obj {
	struct {
		struct ibv_qp *in;
		struct mlx5dv_qp *out;
	} qp;
	struct {
		struct ibv_cq *in;
		struct mlx5dv_cq *out;
	} cq;
	struct {
		struct ibv_srq *in;
		struct mlx5dv_srq *out;
	} srq;
	struct {
		struct ibv_wq *in;
		struct mlx5dv_rwq *out;
	} rwq;
	struct {
		struct ibv_dm *in;
		struct mlx5dv_dm *out;
	} dm;
	struct {
		struct ibv_ah *in;
		struct mlx5dv_ah *out;
	} ah;
	struct {
		struct ibv_pd *in;
		struct mlx5dv_pd *out;
	} pd;
	struct {
		struct mlx5dv_devx_obj *in;
		struct mlx5dv_devx *out;
	} devx;
};

/* Fills in `out` from `in` for each type in obj_type. After a CQ was requested, the program owns
 * its consumer index, and must not use the verbs calls on that CQ. */
int mlx5dv_init_obj(struct mlx5dv_obj *obj, uint64_t obj_type);

/* ---- Completion queues, QPs, receive queues ---------------------------------------------- */

enum mlx5dv_cq_init_attr_mask {
	MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE = 1 << 0,
	MLX5DV_CQ_INIT_ATTR_MASK_FLAGS = 1 << 1,
	MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE = 1 << 2,
};

enum mlx5dv_cq_init_attr_flags {
	MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD = 1 << 0,
	MLX5DV_CQ_INIT_ATTR_FLAGS_RESERVED = 1 << 1,
};

struct mlx5dv_cq_init_attr {
	uint64_t comp_mask;          /* enum mlx5dv_cq_init_attr_mask */
	uint8_t cqe_comp_res_format; /* enum mlx5dv_cqe_comp_res_format */
	uint32_t flags;              /* enum mlx5dv_cq_init_attr_flags */
	uint16_t cqe_size;           /* 64 or 128 */
};

struct ibv_cq_ex *mlx5dv_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *cq_attr,
				   struct mlx5dv_cq_init_attr *mlx5_cq_attr);

enum mlx5dv_qp_init_attr_mask {
	MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS = 1 << 0,
	MLX5DV_QP_INIT_ATTR_MASK_DC = 1 << 1,
	MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS = 1 << 2,
	MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS = 1 << 3,
};

enum mlx5dv_qp_create_flags {
	MLX5DV_QP_CREATE_TUNNEL_OFFLOADS = 1 << 0,
	MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_UC = 1 << 1,
	MLX5DV_QP_CREATE_TIR_ALLOW_SELF_LOOPBACK_MC = 1 << 2,
	MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE = 1 << 3,
	MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE = 1 << 4,
	MLX5DV_QP_CREATE_PACKET_BASED_CREDIT_MODE = 1 << 5,
	MLX5DV_QP_CREATE_SIG_PIPELINING = 1 << 6,
	MLX5DV_QP_CREATE_OOO_DP = 1 << 7, /* data may be placed out of order */
};

/* Dynamically connected transport (DC): one initiator reaches many targets. */
enum mlx5dv_dc_type {
	MLX5DV_DCTYPE_DCT = 1,
	MLX5DV_DCTYPE_DCI = 2,
};

struct mlx5dv_dci_streams {
	uint8_t log_num_concurent;
	uint8_t log_num_errored; /* limit of failed streams before the whole QP fails */
};

struct mlx5dv_dc_init_attr {
	enum mlx5dv_dc_type dc_type;
	union {
		uint64_t dct_access_key;
		struct mlx5dv_dci_streams dci_streams;
	};
};

enum mlx5dv_qp_create_send_ops_flags {
	MLX5DV_QP_EX_WITH_MR_INTERLEAVED = 1 << 0,
	MLX5DV_QP_EX_WITH_MR_LIST = 1 << 1,
	MLX5DV_QP_EX_WITH_MKEY_CONFIGURE = 1 << 2,
	MLX5DV_QP_EX_WITH_RAW_WQE = 1 << 3,
	MLX5DV_QP_EX_WITH_MEMCPY = 1 << 4,
};

struct mlx5dv_qp_init_attr {
	uint64_t comp_mask;    /* enum mlx5dv_qp_init_attr_mask */
	uint32_t create_flags; /* enum mlx5dv_qp_create_flags */
	struct mlx5dv_dc_init_attr dc_init_attr;
	uint64_t send_ops_flags; /* enum mlx5dv_qp_create_send_ops_flags */
};

struct ibv_qp *mlx5dv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *qp_attr,
				struct mlx5dv_qp_init_attr *mlx5_qp_attr);

int mlx5dv_query_qp_lag_port(struct ibv_qp *qp, uint8_t *port_num, uint8_t *active_port_num);
int mlx5dv_modify_qp_lag_port(struct ibv_qp *qp, uint8_t port_num);
int mlx5dv_modify_qp_udp_sport(struct ibv_qp *qp, uint16_t udp_sport);
int mlx5dv_dci_stream_id_reset(struct ibv_qp *qp, uint16_t stream_id);

/* Reserve a QP number, unique on the device, for a connection that another object serves. */
int mlx5dv_reserved_qpn_alloc(struct ibv_context *ctx, uint32_t *qpn);
int mlx5dv_reserved_qpn_dealloc(struct ibv_context *ctx, uint32_t qpn);

/* Applies the congestion control that the QP has negotiated (ECE) to datagrams to this address. */
int mlx5dv_map_ah_to_qp(struct ibv_ah *ah, uint32_t qp_num);

enum mlx5dv_wq_init_attr_mask {
	MLX5DV_WQ_INIT_ATTR_MASK_STRIDING_RQ = 1 << 0,
};

/* Limits are in mlx5dv_striding_rq_caps. */
struct mlx5dv_striding_rq_init_attr {
	uint32_t single_stride_log_num_of_bytes;
	uint32_t single_wqe_log_num_of_strides;
	uint8_t two_byte_shift_en; /* put 2 zero bytes before each packet, to align its IP header */
};

struct mlx5dv_wq_init_attr {
	uint64_t comp_mask; /* enum mlx5dv_wq_init_attr_mask */
	struct mlx5dv_striding_rq_init_attr striding_rq_attrs;
};

struct ibv_wq *mlx5dv_create_wq(struct ibv_context *context, struct ibv_wq_init_attr *wq_init_attr,
				struct mlx5dv_wq_init_attr *mlx5_wq_attr);

/* ---- Memory ---------------------------------------------------------------------------- */

struct mlx5dv_alloc_dm_attr {
	enum mlx5dv_alloc_dm_type type;
	uint64_t comp_mask; /* 0 */
};

struct ibv_dm *mlx5dv_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *dm_attr,
			       struct mlx5dv_alloc_dm_attr *mlx5_dm_attr);
/* Returns the address at which an access performs operation op on the device memory. */
void *mlx5dv_dm_map_op_addr(struct ibv_dm *dm, uint8_t op);

/* Registers a dma-buf. mlx5_access: MLX5DV_REG_DMABUF_ACCESS_DATA_DIRECT or 0. */
struct ibv_mr *mlx5dv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				    uint64_t iova, int fd, int access, int mlx5_access);

/* Flags of memory keys that work requests configure. */
enum mlx5dv_mkey_init_attr_flags {
	MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT = 1 << 0,
	MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE = 1 << 1,
	MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO = 1 << 2,
	MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG = 1 << 3,
	MLX5DV_MKEY_INIT_ATTR_FLAGS_REMOTE_INVALIDATE = 1 << 4,
};

struct mlx5dv_mkey_init_attr {
	struct ibv_pd *pd;
	uint32_t create_flags; /* enum mlx5dv_mkey_init_attr_flags */
	uint16_t max_entries;  /* in: wanted, out: granted */
};

struct mlx5dv_mkey {
	uint32_t lkey;
	uint32_t rkey;
};

struct mlx5dv_mkey *mlx5dv_create_mkey(struct mlx5dv_mkey_init_attr *mkey_init_attr);
int mlx5dv_destroy_mkey(struct mlx5dv_mkey *mkey);

enum mlx5dv_mkey_err_type {
	MLX5DV_MKEY_NO_ERR = 0,
	MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD = 1,
	MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG = 2,
	MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG = 3,
};

struct mlx5dv_sig_err {
	uint64_t actual_value;
	uint64_t expected_value;
	uint64_t offset; /* offset in the key's range, in bytes */
};

struct mlx5dv_mkey_err {
	enum mlx5dv_mkey_err_type err_type;
	union {
		struct mlx5dv_sig_err sig;
	} err;
};

int _mlx5dv_mkey_check(struct mlx5dv_mkey *mkey, struct mlx5dv_mkey_err *err_info,
		       size_t err_info_size);

/* Fetches a signature error detected since the last check. Call it after the transfer has
 * completed. */
static inline int mlx5dv_mkey_check(struct mlx5dv_mkey *mkey, struct mlx5dv_mkey_err *err_info)
{
	return _mlx5dv_mkey_check(mkey, err_info, sizeof(*err_info));
}

/* ---- Configuring keys: layouts, signatures, encryption ----------------------------------- */

/* Of each bytes_count + bytes_skip bytes, only the first bytes_count belong to the range. */
struct mlx5dv_mr_interleaved {
	uint64_t addr;
	uint32_t bytes_count;
	uint32_t bytes_skip;
	uint32_t lkey;
};

enum mlx5dv_sig_t10dif_flags {
	MLX5DV_SIG_T10DIF_FLAG_REF_REMAP = 1 << 0,
	MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE = 1 << 1,
	MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE = 1 << 2,
};

struct mlx5dv_sig_t10dif {
	enum mlx5dv_sig_t10dif_bg_type bg_type;
	uint16_t bg; /* seed of the block guard */
	uint16_t app_tag;
	uint32_t ref_tag;
	uint16_t flags; /* enum mlx5dv_sig_t10dif_flags */
};

struct mlx5dv_sig_crc {
	enum mlx5dv_sig_crc_type type;
	uint64_t seed;
};

struct mlx5dv_sig_block_domain {
	enum mlx5dv_sig_type sig_type;
	union {
		const struct mlx5dv_sig_t10dif *dif;
		const struct mlx5dv_sig_crc *crc;
	} sig;
	enum mlx5dv_block_size block_size;
	uint64_t comp_mask; /* 0 */
};

/* Bytes of the signature, one bit each, to check or to copy. */
enum mlx5dv_sig_mask {
	MLX5DV_SIG_MASK_T10DIF_GUARD = 0xc0,
	MLX5DV_SIG_MASK_T10DIF_APPTAG = 0x30,
	MLX5DV_SIG_MASK_T10DIF_REFTAG = 0x0f,
	MLX5DV_SIG_MASK_CRC32 = 0xf0,
	MLX5DV_SIG_MASK_CRC32C = 0xf0,
	MLX5DV_SIG_MASK_CRC64_XP10 = 0xff,
};

enum mlx5dv_sig_block_attr_flags {
	MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK = 1 << 0,
};

/* Signatures of a key. mem or wire is NULL if that side has no signature. */
struct mlx5dv_sig_block_attr {
	const struct mlx5dv_sig_block_domain *mem;
	const struct mlx5dv_sig_block_domain *wire;
	uint32_t flags;     /* enum mlx5dv_sig_block_attr_flags */
	uint8_t check_mask; /* enum mlx5dv_sig_mask */
	uint8_t copy_mask;  /* enum mlx5dv_sig_mask; used with the flag COPY_MASK */
	uint64_t comp_mask; /* 0 */
};

enum mlx5dv_crypto_standard {
	MLX5DV_CRYPTO_STANDARD_AES_XTS = 0,
};

enum mlx5dv_signature_crypto_order {
	MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_AFTER_CRYPTO_ON_TX = 0,
	MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX = 1,
};

struct mlx5dv_dek;

struct mlx5dv_crypto_attr {
	enum mlx5dv_crypto_standard crypto_standard;
	bool encrypt_on_tx;
	enum mlx5dv_signature_crypto_order signature_crypto_order;
	enum mlx5dv_block_size data_unit_size;
	char initial_tweak[16];
	struct mlx5dv_dek *dek;
	char keytag[8];
	uint64_t comp_mask; /* 0 */
};

enum mlx5dv_mkey_conf_flags {
	MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR = 1 << 0,
};

struct mlx5dv_mkey_conf_attr {
	uint32_t conf_flags; /* enum mlx5dv_mkey_conf_flags */
	uint64_t comp_mask;  /* 0 */
};

/* ---- Work requests --------------------------------------------------------------------- */

/* Completion opcodes of the following requests. */
enum mlx5dv_wc_opcode {
	MLX5DV_WC_UMR = IBV_WC_DRIVER1,
	MLX5DV_WC_RAW_WQE = IBV_WC_DRIVER2,
	MLX5DV_WC_MEMCPY = IBV_WC_DRIVER3,
};

/* Request builders of mlx5; they add to the batch of the QP's ibv_qp_ex. */
struct mlx5dv_qp_ex {
	uint64_t comp_mask;
	void (*wr_set_dc_addr)(struct mlx5dv_qp_ex *mqp, struct ibv_ah *ah, uint32_t remote_dctn,
			       uint64_t remote_dc_key);
	void (*wr_mr_interleaved)(struct mlx5dv_qp_ex *mqp, struct mlx5dv_mkey *mkey,
				  uint32_t access_flags, uint32_t repeat_count,
				  uint16_t num_interleaved, struct mlx5dv_mr_interleaved *data);
	void (*wr_mr_list)(struct mlx5dv_qp_ex *mqp, struct mlx5dv_mkey *mkey,
			   uint32_t access_flags, uint16_t num_sges, struct ibv_sge *sge);
	void (*wr_mkey_configure)(struct mlx5dv_qp_ex *mqp, struct mlx5dv_mkey *mkey,
				  uint8_t num_setters, struct mlx5dv_mkey_conf_attr *attr);
	void (*wr_set_mkey_access_flags)(struct mlx5dv_qp_ex *mqp, uint32_t access_flags);
	void (*wr_set_mkey_layout_list)(struct mlx5dv_qp_ex *mqp, uint16_t num_sges,
					const struct ibv_sge *sge);
	void (*wr_set_mkey_layout_interleaved)(struct mlx5dv_qp_ex *mqp, uint32_t repeat_count,
					       uint16_t num_interleaved,
					       const struct mlx5dv_mr_interleaved *data);
	void (*wr_set_mkey_sig_block)(struct mlx5dv_qp_ex *mqp,
				      const struct mlx5dv_sig_block_attr *attr);
	void (*wr_raw_wqe)(struct mlx5dv_qp_ex *mqp, const void *wqe);
	void (*wr_set_dc_addr_stream)(struct mlx5dv_qp_ex *mqp, struct ibv_ah *ah,
				      uint32_t remote_dctn, uint64_t remote_dc_key,
				      uint16_t stream_id);
	void (*wr_memcpy)(struct mlx5dv_qp_ex *mqp, uint32_t dest_lkey, uint64_t dest_addr,
			  uint32_t src_lkey, uint64_t src_addr, size_t length);
	void (*wr_set_mkey_crypto)(struct mlx5dv_qp_ex *mqp, const struct mlx5dv_crypto_attr *attr);
};

struct mlx5dv_qp_ex *mlx5dv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp);

/* Turns posted requests with this wr_id into NOPs; the QP must be in state SQD. Returns the number
 * of requests found, or a negative errno. */
int mlx5dv_qp_cancel_posted_send_wrs(struct mlx5dv_qp_ex *mqp, uint64_t wr_id);

/* Sets the target of a DC initiator's send, RDMA or atomic request. */
static inline void mlx5dv_wr_set_dc_addr(struct mlx5dv_qp_ex *mqp, struct ibv_ah *ah,
					 uint32_t remote_dctn, uint64_t remote_dc_key)
{
	mqp->wr_set_dc_addr(mqp, ah, remote_dctn, remote_dc_key);
}

static inline void mlx5dv_wr_set_dc_addr_stream(struct mlx5dv_qp_ex *mqp, struct ibv_ah *ah,
						uint32_t remote_dctn, uint64_t remote_dc_key,
						uint16_t stream_id)
{
	mqp->wr_set_dc_addr_stream(mqp, ah, remote_dctn, remote_dc_key, stream_id);
}

/* Set a key's layout: a strided pattern, or a list, of ranges of other keys. */
static inline void mlx5dv_wr_mr_interleaved(struct mlx5dv_qp_ex *mqp, struct mlx5dv_mkey *mkey,
					    uint32_t access_flags, uint32_t repeat_count,
					    uint16_t num_interleaved,
					    struct mlx5dv_mr_interleaved *data)
{
	mqp->wr_mr_interleaved(mqp, mkey, access_flags, repeat_count, num_interleaved, data);
}

static inline void mlx5dv_wr_mr_list(struct mlx5dv_qp_ex *mqp, struct mlx5dv_mkey *mkey,
				     uint32_t access_flags, uint16_t num_sges, struct ibv_sge *sge)
{
	mqp->wr_mr_list(mqp, mkey, access_flags, num_sges, sge);
}

/* Configures a key with the num_setters setter calls that follow, each at most once. */
static inline void mlx5dv_wr_mkey_configure(struct mlx5dv_qp_ex *mqp, struct mlx5dv_mkey *mkey,
					    uint8_t num_setters, struct mlx5dv_mkey_conf_attr *attr)
{
	mqp->wr_mkey_configure(mqp, mkey, num_setters, attr);
}

static inline void mlx5dv_wr_set_mkey_access_flags(struct mlx5dv_qp_ex *mqp, uint32_t access_flags)
{
	mqp->wr_set_mkey_access_flags(mqp, access_flags);
}

static inline void mlx5dv_wr_set_mkey_layout_list(struct mlx5dv_qp_ex *mqp, uint16_t num_sges,
						  const struct ibv_sge *sge)
{
	mqp->wr_set_mkey_layout_list(mqp, num_sges, sge);
}

static inline void mlx5dv_wr_set_mkey_layout_interleaved(struct mlx5dv_qp_ex *mqp,
							 uint32_t repeat_count,
							 uint16_t num_interleaved,
							 const struct mlx5dv_mr_interleaved *data)
{
	mqp->wr_set_mkey_layout_interleaved(mqp, repeat_count, num_interleaved, data);
}

static inline void mlx5dv_wr_set_mkey_sig_block(struct mlx5dv_qp_ex *mqp,
						const struct mlx5dv_sig_block_attr *attr)
{
	mqp->wr_set_mkey_sig_block(mqp, attr);
}

static inline void mlx5dv_wr_set_mkey_crypto(struct mlx5dv_qp_ex *mqp,
					     const struct mlx5dv_crypto_attr *attr)
{
	mqp->wr_set_mkey_crypto(mqp, attr);
}

/* Copies between two local ranges. */
static inline void mlx5dv_wr_memcpy(struct mlx5dv_qp_ex *mqp, uint32_t dest_lkey,
				    uint64_t dest_addr, uint32_t src_lkey, uint64_t src_addr,
				    size_t length)
{
	mqp->wr_memcpy(mqp, dest_lkey, dest_addr, src_lkey, src_addr, length);
}

/* Posts a WQE that the program built. */
static inline void mlx5dv_wr_raw_wqe(struct mlx5dv_qp_ex *mqp, const void *wqe)
{
	mqp->wr_raw_wqe(mqp, wqe);
}

/* ---- Encryption: login and data encryption keys ------------------------------------------ */

struct mlx5dv_crypto_login_attr {
	uint32_t credential_id;
	uint32_t import_kek_id;
	char credential[48];
	uint64_t comp_mask; /* 0 */
};

struct mlx5dv_crypto_login_attr_ex {
	uint32_t credential_id;
	uint32_t import_kek_id;
	const void *credential;
	size_t credential_len; /* bytes */
	uint64_t comp_mask;    /* 0 */
};

enum mlx5dv_crypto_login_state {
	MLX5DV_CRYPTO_LOGIN_STATE_VALID = 0,
	MLX5DV_CRYPTO_LOGIN_STATE_NO_LOGIN = 1,
	MLX5DV_CRYPTO_LOGIN_STATE_INVALID = 2,
};

struct mlx5dv_crypto_login_query_attr {
	enum mlx5dv_crypto_login_state state;
	uint64_t comp_mask; /* 0 */
};

/* Calls for the single login of a context, and for login objects, of which there may be many. */
int mlx5dv_crypto_login(struct ibv_context *context, struct mlx5dv_crypto_login_attr *login_attr);
int mlx5dv_crypto_login_query_state(struct ibv_context *context,
				    enum mlx5dv_crypto_login_state *state);
int mlx5dv_crypto_logout(struct ibv_context *context);

struct mlx5dv_crypto_login_obj;
struct mlx5dv_crypto_login_obj *
mlx5dv_crypto_login_create(struct ibv_context *context,
			   struct mlx5dv_crypto_login_attr_ex *login_attr);
int mlx5dv_crypto_login_query(struct mlx5dv_crypto_login_obj *crypto_login,
			      struct mlx5dv_crypto_login_query_attr *query_attr);
int mlx5dv_crypto_login_destroy(struct mlx5dv_crypto_login_obj *crypto_login);

enum mlx5dv_crypto_key_size {
	MLX5DV_CRYPTO_KEY_SIZE_128 = 0,
	MLX5DV_CRYPTO_KEY_SIZE_256 = 1,
};

enum mlx5dv_crypto_key_purpose {
	MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS = 0,
};

enum mlx5dv_dek_state {
	MLX5DV_DEK_STATE_READY = 0,
	MLX5DV_DEK_STATE_ERROR = 1,
};

enum mlx5dv_dek_init_attr_mask {
	MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN = 1 << 0,
};

struct mlx5dv_dek_init_attr {
	enum mlx5dv_crypto_key_size key_size;
	bool has_keytag;
	enum mlx5dv_crypto_key_purpose key_purpose;
	struct ibv_pd *pd;
	char opaque[8]; /* program's own data, returned by the query */
	char key[128];
	uint64_t comp_mask; /* enum mlx5dv_dek_init_attr_mask */
	struct mlx5dv_crypto_login_obj *crypto_login;
};

struct mlx5dv_dek_attr {
	enum mlx5dv_dek_state state;
	char opaque[8];
	uint64_t comp_mask; /* 0 */
};

struct mlx5dv_dek *mlx5dv_dek_create(struct ibv_context *context,
				     struct mlx5dv_dek_init_attr *init_attr);
int mlx5dv_dek_query(struct mlx5dv_dek *dek, struct mlx5dv_dek_attr *attr);
int mlx5dv_dek_destroy(struct mlx5dv_dek *dek);

/* ---- Packet pacing and scheduling -------------------------------------------------------- */

struct mlx5dv_pp {
	uint16_t index;
};

/* Allocates an entry of the rate table. pp_context is in the device's format. flags:
 * MLX5DV_PP_ALLOC_FLAGS_DEDICATED_INDEX or 0. */
struct mlx5dv_pp *mlx5dv_pp_alloc(struct ibv_context *context, size_t pp_context_sz,
				  const void *pp_context, uint32_t flags);
void mlx5dv_pp_free(struct mlx5dv_pp *pp);

enum mlx5dv_sched_elem_attr_flags {
	MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE = 1 << 0,
	MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW = 1 << 1,
};

struct mlx5dv_sched_node;
struct mlx5dv_sched_leaf;

struct mlx5dv_sched_attr {
	struct mlx5dv_sched_node *parent; /* NULL: this is the root */
	uint32_t flags;                   /* enum mlx5dv_sched_elem_attr_flags */
	uint32_t bw_share;                /* weight among its siblings */
	uint32_t max_avg_bw;              /* Mbit/s */
	uint64_t comp_mask;               /* 0 */
};

struct mlx5dv_sched_node *mlx5dv_sched_node_create(struct ibv_context *context,
						   const struct mlx5dv_sched_attr *sched_attr);
int mlx5dv_sched_node_modify(struct mlx5dv_sched_node *node,
			     const struct mlx5dv_sched_attr *sched_attr);
int mlx5dv_sched_node_destroy(struct mlx5dv_sched_node *node);
struct mlx5dv_sched_leaf *mlx5dv_sched_leaf_create(struct ibv_context *context,
						   const struct mlx5dv_sched_attr *sched_attr);
int mlx5dv_sched_leaf_modify(struct mlx5dv_sched_leaf *leaf,
			     const struct mlx5dv_sched_attr *sched_attr);
int mlx5dv_sched_leaf_destroy(struct mlx5dv_sched_leaf *leaf);

/* Assigns a leaf each to what the QP sends as requestor and as responder; NULL: none. */
int mlx5dv_modify_qp_sched_elem(struct ibv_qp *qp, const struct mlx5dv_sched_leaf *requestor,
				const struct mlx5dv_sched_leaf *responder);

/* ==== Part 3: DevX ======================================================================= */

/* Commands in the device's own format: in and out are big-endian PRM mailboxes, with lengths in
 * bytes. If the device itself refuses a command, the error is EREMOTEIO, and out has status and
 * syndrome. */

/* ---- Bit fields of PRM mailboxes ---------------------------------------------------------- */

/* A layout is a struct mlx5_ifc_<typ>_bits with one byte for each bit, so its offsets are bit
 * numbers, counted from the most significant bit of the first byte. */
#define __devx_nullp(typ)        ((struct mlx5_ifc_##typ##_bits *)NULL)
#define __devx_st_sz_bits(typ)   sizeof(*__devx_nullp(typ))
#define __devx_bit_off(typ, fld) offsetof(struct mlx5_ifc_##typ##_bits, fld)
#define __devx_bit_sz(typ, fld)  sizeof(__devx_nullp(typ)->fld)
/* Word of a bit, in units of 32 or 64 bits, and position and mask of a field in its 32-bit word.
 * Unused here, but programs test for these macros. */
#define __devx_dw_off(bit)                 ((bit) / 32)
#define __devx_64_off(bit)                 ((bit) / 64)
#define __devx_dw_bit_off(bits, first_bit) (32 - (first_bit) % 32 - (bits))
#define __devx_mask(bits)                  ((uint32_t)(UINT64_MAX >> (64 - (bits))))
#define __devx_dw_mask(bits, first_bit)    (__devx_mask(bits) << __devx_dw_bit_off(bits, first_bit))

#define DEVX_FLD_SZ_BYTES(typ, fld)        (__devx_bit_sz(typ, fld) / 8)
#define DEVX_ST_SZ_BYTES(typ)              (sizeof(struct mlx5_ifc_##typ##_bits) / 8)
#define DEVX_ST_SZ_DW(typ)                 (sizeof(struct mlx5_ifc_##typ##_bits) / 32)
#define DEVX_ST_SZ_QW(typ)                 (sizeof(struct mlx5_ifc_##typ##_bits) / 64)
#define DEVX_UN_SZ_BYTES(typ)              (sizeof(union mlx5_ifc_##typ##_bits) / 8)
#define DEVX_UN_SZ_DW(typ)                 (sizeof(union mlx5_ifc_##typ##_bits) / 32)
#define DEVX_BYTE_OFF(typ, fld)            (__devx_bit_off(typ, fld) / 8)
#define DEVX_ADDR_OF(typ, p, fld)          ((unsigned char *)(p) + DEVX_BYTE_OFF(typ, fld))

/* Sets a field of 1 to 32 bits that does not cross a 32-bit word. */
static inline void _devx_set(void *p, uint32_t value, size_t bit_off, size_t bit_sz)
{
	__be32 *word = (__be32 *)p + bit_off / 32;
	size_t shift = 32 - bit_off % 32 - bit_sz;
	uint32_t ones = UINT32_MAX >> (32 - bit_sz);
	uint32_t others = be32toh(*word) & ~(ones << shift);

	*word = htobe32(others | (value & ones) << shift);
}

static inline uint32_t _devx_get(const void *p, size_t bit_off, size_t bit_sz)
{
	const __be32 *word = (const __be32 *)p + bit_off / 32;

	return be32toh(*word) >> (32 - bit_off % 32 - bit_sz) & UINT32_MAX >> (32 - bit_sz);
}

/* Sets a whole, aligned 64-bit word. */
static inline void _devx_set64(void *p, uint64_t v, size_t bit_off)
{
	__be64 *word = (__be64 *)p + bit_off / 64;

	*word = htobe64(v);
}

static inline uint64_t _devx_get64(const void *p, size_t bit_off)
{
	const __be64 *word = (const __be64 *)p + bit_off / 64;

	return be64toh(*word);
}

#define DEVX_SET(typ, p, fld, v) _devx_set(p, v, __devx_bit_off(typ, fld), __devx_bit_sz(typ, fld))
/* clang-format off */
#define DEVX_GET(typ, p, fld) \
	_devx_get(p, __devx_bit_off(typ, fld), __devx_bit_sz(typ, fld))
/* clang-format on */
#define DEVX_SET64(typ, p, fld, v) _devx_set64(p, v, __devx_bit_off(typ, fld))
#define DEVX_GET64(typ, p, fld)    _devx_get64(p, __devx_bit_off(typ, fld))
#define DEVX_ARRAY_SET64(typ, p, fld, idx, v)    \
	do {                                     \
		DEVX_SET64(typ, p, fld[idx], v); \
	} while (0)

/* ---- Commands and objects ---------------------------------------------------------------- */

int mlx5dv_devx_general_cmd(struct ibv_context *context, const void *in, size_t inlen, void *out,
			    size_t outlen);

struct mlx5dv_devx_obj *mlx5dv_devx_obj_create(struct ibv_context *context, const void *in,
					       size_t inlen, void *out, size_t outlen);
int mlx5dv_devx_obj_query(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out,
			  size_t outlen);
int mlx5dv_devx_obj_modify(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen, void *out,
			   size_t outlen);
int mlx5dv_devx_obj_destroy(struct mlx5dv_devx_obj *obj);

/* DevX commands on verbs objects. */
int mlx5dv_devx_cq_query(struct ibv_cq *cq, const void *in, size_t inlen, void *out, size_t outlen);
int mlx5dv_devx_cq_modify(struct ibv_cq *cq, const void *in, size_t inlen, void *out,
			  size_t outlen);
int mlx5dv_devx_qp_query(struct ibv_qp *qp, const void *in, size_t inlen, void *out, size_t outlen);
int mlx5dv_devx_qp_modify(struct ibv_qp *qp, const void *in, size_t inlen, void *out,
			  size_t outlen);
int mlx5dv_devx_srq_query(struct ibv_srq *srq, const void *in, size_t inlen, void *out,
			  size_t outlen);
int mlx5dv_devx_srq_modify(struct ibv_srq *srq, const void *in, size_t inlen, void *out,
			   size_t outlen);
int mlx5dv_devx_wq_query(struct ibv_wq *wq, const void *in, size_t inlen, void *out, size_t outlen);
int mlx5dv_devx_wq_modify(struct ibv_wq *wq, const void *in, size_t inlen, void *out,
			  size_t outlen);
int mlx5dv_devx_ind_tbl_query(struct ibv_rwq_ind_table *ind_tbl, const void *in, size_t inlen,
			      void *out, size_t outlen);
int mlx5dv_devx_ind_tbl_modify(struct ibv_rwq_ind_table *ind_tbl, const void *in, size_t inlen,
			       void *out, size_t outlen);

/* Asynchronous queries: the answers are read from a descriptor, as wr_id and mailbox. */
struct mlx5dv_devx_cmd_comp {
	int fd;
};

struct mlx5dv_devx_cmd_comp *mlx5dv_devx_create_cmd_comp(struct ibv_context *context);
void mlx5dv_devx_destroy_cmd_comp(struct mlx5dv_devx_cmd_comp *cmd_comp);
int mlx5dv_devx_obj_query_async(struct mlx5dv_devx_obj *obj, const void *in, size_t inlen,
				size_t outlen, uint64_t wr_id,
				struct mlx5dv_devx_cmd_comp *cmd_comp);
int mlx5dv_devx_get_async_cmd_comp(struct mlx5dv_devx_cmd_comp *cmd_comp,
				   struct mlx5dv_devx_async_cmd_hdr *cmd_resp, size_t cmd_resp_len);

/* ---- Events ------------------------------------------------------------------------------ */

struct mlx5dv_devx_event_channel {
	int fd;
};

struct mlx5dv_devx_event_channel *
mlx5dv_devx_create_event_channel(struct ibv_context *context,
				 enum mlx5dv_devx_create_event_channel_flags flags);
void mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *event_channel);

/* Subscribes to events of obj. With obj NULL, subscribes to events that belong to no object.
 * events_sz is in bytes. */
int mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *event_channel,
				     struct mlx5dv_devx_obj *obj, uint16_t events_sz,
				     uint16_t events_num[], uint64_t cookie);
/* Subscribes to an event that signals fd, the program's eventfd, instead of the channel. */
int mlx5dv_devx_subscribe_devx_event_fd(struct mlx5dv_devx_event_channel *event_channel, int fd,
					struct mlx5dv_devx_obj *obj, uint16_t event_num);
/* Returns the number of bytes read, or -1 with errno set. */
ssize_t mlx5dv_devx_get_event(struct mlx5dv_devx_event_channel *event_channel,
			      struct mlx5dv_devx_async_event_hdr *event_data,
			      size_t event_resp_len);

/* Event queues of the program, and interrupt vectors for them (VFIO only). */
struct mlx5dv_devx_msi_vector {
	int vector;
	int fd;
};

struct mlx5dv_devx_msi_vector *mlx5dv_devx_alloc_msi_vector(struct ibv_context *ibctx);
int mlx5dv_devx_free_msi_vector(struct mlx5dv_devx_msi_vector *msi);

struct mlx5dv_devx_eq {
	void *vaddr;
};

struct mlx5dv_devx_eq *mlx5dv_devx_create_eq(struct ibv_context *ibctx, const void *in,
					     size_t inlen, void *out, size_t outlen);
int mlx5dv_devx_destroy_eq(struct mlx5dv_devx_eq *eq);

/* Returns the number of the kernel's event queue that serves a completion vector. */
int mlx5dv_devx_query_eqn(struct ibv_context *context, uint32_t vector, uint32_t *eqn);

/* ---- Memory and doorbell pages ------------------------------------------------------------ */

struct mlx5dv_devx_umem {
	uint32_t umem_id;
};

enum mlx5dv_devx_umem_in_mask {
	MLX5DV_UMEM_MASK_DMABUF = 1 << 0,
};

struct mlx5dv_devx_umem_in {
	void *addr; /* for a dma-buf: offset in it */
	size_t size;
	uint32_t access;      /* enum ibv_access_flags */
	uint64_t pgsz_bitmap; /* acceptable page sizes: bit n for 2^n bytes */
	uint64_t comp_mask;   /* enum mlx5dv_devx_umem_in_mask */
	int dmabuf_fd;
};

struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg(struct ibv_context *ctx, void *addr, size_t size,
					      uint32_t access);
struct mlx5dv_devx_umem *mlx5dv_devx_umem_reg_ex(struct ibv_context *ctx,
						 struct mlx5dv_devx_umem_in *umem_in);
int mlx5dv_devx_umem_dereg(struct mlx5dv_devx_umem *umem);

struct mlx5dv_devx_uar {
	void *reg_addr;  /* doorbell register */
	void *base_addr; /* start of the page */
	uint32_t page_id;
	off_t mmap_off;
	uint64_t comp_mask; /* 0 */
};

/* flags: MLX5DV_UAR_ALLOC_TYPE_*. */
struct mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(struct ibv_context *context, uint32_t flags);
void mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *devx_uar);
int mlx5dv_devx_uar_export_dmabuf_fd(struct mlx5dv_devx_uar *devx_uar); /* -1 with errno */

/* Doorbell pages of an emulated device. */
struct mlx5dv_var {
	uint32_t page_id;
	uint32_t length; /* bytes */
	off_t mmap_off;
	uint64_t comp_mask; /* 0 */
};

/* flags: MLX5DV_VAR_ALLOC_FLAG_*. */
struct mlx5dv_var *mlx5dv_alloc_var(struct ibv_context *context, uint32_t flags);
void mlx5dv_free_var(struct mlx5dv_var *dv_var);

/* Share objects with another process that has the same uverbs descriptor. Export writes the number
 * of bytes that mlx5dv_get_export_sizes() returns, import reads them, unimport frees the imported
 * object. */
struct mlx5dv_export_sizes {
	uint32_t var_attrs_size;
	uint32_t devx_umem_attrs_size;
	uint32_t devx_obj_attrs_size;
};

void _mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *sizes, size_t sizes_len);

static inline void mlx5dv_get_export_sizes(struct mlx5dv_export_sizes *sizes)
{
	_mlx5dv_get_export_sizes(sizes, sizeof(*sizes));
}

int mlx5dv_var_export(struct mlx5dv_var *dv_var, void *attrs);
struct mlx5dv_var *mlx5dv_var_import(struct ibv_context *context, void *attrs);
void mlx5dv_var_unimport(struct mlx5dv_var *dv_var);
int mlx5dv_devx_umem_export(struct mlx5dv_devx_umem *umem, void *attrs);
struct mlx5dv_devx_umem *mlx5dv_devx_umem_import(struct ibv_context *context, void *attrs);
void mlx5dv_devx_umem_unimport(struct mlx5dv_devx_umem *umem);
int mlx5dv_devx_obj_export(struct mlx5dv_devx_obj *obj, void *attrs);
struct mlx5dv_devx_obj *mlx5dv_devx_obj_import(struct ibv_context *context, void *attrs);
void mlx5dv_devx_obj_unimport(struct mlx5dv_devx_obj *obj);

/* ==== Part 4: flow steering ============================================================== */

/* ---- Flow steering through the kernel ----------------------------------------------------- */

enum mlx5dv_flow_action_esp_mask {
	MLX5DV_FLOW_ACTION_ESP_MASK_FLAGS = 1 << 0,
};

struct mlx5dv_flow_action_esp {
	uint64_t comp_mask;    /* enum mlx5dv_flow_action_esp_mask */
	uint32_t action_flags; /* enum mlx5dv_flow_action_flags */
};

/* A match value or mask: match_sz bytes in the device's format. */
struct mlx5dv_flow_match_parameters {
	size_t match_sz;
	uint64_t match_buf[];
};

enum mlx5dv_flow_matcher_attr_mask {
	MLX5DV_FLOW_MATCHER_MASK_FT_TYPE = 1 << 0,
	MLX5DV_FLOW_MATCHER_MASK_IB_PORT = 1 << 1,
};

struct mlx5dv_flow_matcher_attr {
	enum ibv_flow_attr_type type;
	uint32_t flags; /* enum ibv_flow_flags */
	uint16_t priority;
	uint8_t match_criteria_enable; /* groups of fields in match_mask; device format */
	struct mlx5dv_flow_match_parameters *match_mask;
	uint64_t comp_mask; /* enum mlx5dv_flow_matcher_attr_mask */
	enum mlx5dv_flow_table_type ft_type;
	uint32_t ib_port;
};

struct mlx5dv_flow_matcher;

struct mlx5dv_flow_matcher *
mlx5dv_create_flow_matcher(struct ibv_context *context,
			   struct mlx5dv_flow_matcher_attr *matcher_attr);
int mlx5dv_destroy_flow_matcher(struct mlx5dv_flow_matcher *matcher);

enum mlx5dv_flow_action_type {
	MLX5DV_FLOW_ACTION_DEST_IBV_QP = 0,
	MLX5DV_FLOW_ACTION_DROP = 1,
	MLX5DV_FLOW_ACTION_IBV_COUNTER = 2,
	MLX5DV_FLOW_ACTION_IBV_FLOW_ACTION = 3,
	MLX5DV_FLOW_ACTION_TAG = 4,
	MLX5DV_FLOW_ACTION_DEST_DEVX = 5,
	MLX5DV_FLOW_ACTION_COUNTERS_DEVX = 6,
	MLX5DV_FLOW_ACTION_DEFAULT_MISS = 7,
	MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET = 8,
};

/* An action; type determines the valid member. */
struct mlx5dv_flow_action_attr {
	enum mlx5dv_flow_action_type type;
	union {
		struct ibv_qp *qp;
		struct ibv_counters *counter;
		struct ibv_flow_action *action;
		uint32_t tag_value;
		struct mlx5dv_devx_obj *obj;
		struct {
			struct mlx5dv_devx_obj *obj;
			uint32_t offset;
		} bulk_obj; /* one counter of a bulk */
	};
};

/* Creates a flow. A macro passes the size of an element of actions_attr, which has grown: programs
 * built with older headers call the function mlx5dv_create_flow() and have 16 bytes per element. */
struct ibv_flow *__mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
				      struct mlx5dv_flow_match_parameters *match_value,
				      size_t num_actions,
				      struct mlx5dv_flow_action_attr actions_attr[],
				      size_t action_attr_size);

static inline struct ibv_flow *_mlx5dv_create_flow(struct mlx5dv_flow_matcher *matcher,
						   struct mlx5dv_flow_match_parameters *match_value,
						   size_t num_actions,
						   struct mlx5dv_flow_action_attr actions_attr[])
{
	return __mlx5dv_create_flow(matcher, match_value, num_actions, actions_attr,
				    sizeof(actions_attr[0]));
}
#define mlx5dv_create_flow _mlx5dv_create_flow

struct ibv_flow_action *mlx5dv_create_flow_action_esp(struct ibv_context *ctx,
						      struct ibv_flow_action_esp_attr *esp,
						      struct mlx5dv_flow_action_esp *mlx5_attr);

/* Creates an action from actions_sz bytes of header modifications in the device's format. */
struct ibv_flow_action *
mlx5dv_create_flow_action_modify_header(struct ibv_context *ctx, size_t actions_sz,
					uint64_t actions[], enum mlx5dv_flow_table_type ft_type);

/* Creates an action that adds an outer header (data_sz bytes at data), or removes one. */
struct ibv_flow_action *mlx5dv_create_flow_action_packet_reformat(
	struct ibv_context *ctx, size_t data_sz, void *data,
	enum mlx5dv_flow_action_packet_reformat_type reformat_type,
	enum mlx5dv_flow_table_type ft_type);

struct mlx5dv_steering_anchor_attr {
	enum mlx5dv_flow_table_type ft_type;
	uint16_t priority;
	uint64_t comp_mask; /* 0 */
};

/* A table of the kernel's flow steering. Rules that the program creates by DevX can forward packets
 * to it by id. */
struct mlx5dv_steering_anchor {
	uint32_t id;
};

struct mlx5dv_steering_anchor *
mlx5dv_create_steering_anchor(struct ibv_context *context,
			      struct mlx5dv_steering_anchor_attr *attr);
int mlx5dv_destroy_steering_anchor(struct mlx5dv_steering_anchor *sa);

/* ---- Direct rules: tables, matchers and rules written by the library to the device --------- */

struct mlx5dv_dr_domain;
struct mlx5dv_dr_table;
struct mlx5dv_dr_matcher;
struct mlx5dv_dr_rule;
struct mlx5dv_dr_action;

enum mlx5dv_dr_domain_type {
	MLX5DV_DR_DOMAIN_TYPE_NIC_RX = 0,
	MLX5DV_DR_DOMAIN_TYPE_NIC_TX = 1,
	MLX5DV_DR_DOMAIN_TYPE_FDB = 2,
};

enum mlx5dv_dr_domain_sync_flags {
	MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW = 1 << 0,
	MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW = 1 << 1,
	MLX5DV_DR_DOMAIN_SYNC_FLAGS_MEM = 1 << 2,
};

struct mlx5dv_dr_domain *mlx5dv_dr_domain_create(struct ibv_context *ctx,
						 enum mlx5dv_dr_domain_type type);
int mlx5dv_dr_domain_destroy(struct mlx5dv_dr_domain *domain);
int mlx5dv_dr_domain_sync(struct mlx5dv_dr_domain *domain, uint32_t flags);
void mlx5dv_dr_domain_set_reclaim_device_memory(struct mlx5dv_dr_domain *dmn, bool enable);
void mlx5dv_dr_domain_allow_duplicate_rules(struct mlx5dv_dr_domain *domain, bool allow);

/* Creates a table. Level 0 is the root table, which the kernel owns. */
struct mlx5dv_dr_table *mlx5dv_dr_table_create(struct mlx5dv_dr_domain *domain, uint32_t level);
int mlx5dv_dr_table_destroy(struct mlx5dv_dr_table *table);

enum mlx5dv_dr_matcher_layout_flags {
	MLX5DV_DR_MATCHER_LAYOUT_RESIZABLE = 1 << 0,
	MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE = 1 << 1,
};

struct mlx5dv_dr_matcher_layout {
	uint32_t flags; /* enum mlx5dv_dr_matcher_layout_flags */
	uint32_t log_num_of_rules_hint;
};

struct mlx5dv_dr_matcher *mlx5dv_dr_matcher_create(struct mlx5dv_dr_table *table, uint16_t priority,
						   uint8_t match_criteria_enable,
						   struct mlx5dv_flow_match_parameters *mask);
int mlx5dv_dr_matcher_set_layout(struct mlx5dv_dr_matcher *matcher,
				 struct mlx5dv_dr_matcher_layout *layout);
int mlx5dv_dr_matcher_destroy(struct mlx5dv_dr_matcher *matcher);

struct mlx5dv_dr_rule *mlx5dv_dr_rule_create(struct mlx5dv_dr_matcher *matcher,
					     struct mlx5dv_flow_match_parameters *value,
					     size_t num_actions,
					     struct mlx5dv_dr_action *actions[]);
int mlx5dv_dr_rule_destroy(struct mlx5dv_dr_rule *rule);

/* ---- Actions of direct rules -------------------------------------------------------------- */

enum mlx5dv_dr_action_flags {
	MLX5DV_DR_ACTION_FLAGS_ROOT_LEVEL = 1 << 0, /* for rules of the root table */
};

/* Destinations of a packet. */
struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_ibv_qp(struct ibv_qp *ibqp);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_table(struct mlx5dv_dr_table *table);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_root_table(struct mlx5dv_dr_table *table,
								 uint16_t priority);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_vport(struct mlx5dv_dr_domain *domain,
							    uint32_t vport);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_ib_port(struct mlx5dv_dr_domain *domain,
							      uint32_t ib_port);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_dest_devx_tir(struct mlx5dv_devx_obj *devx_obj);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_drop(void);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_default_miss(void);

enum mlx5dv_dr_action_dest_type {
	MLX5DV_DR_ACTION_DEST = 0,
	MLX5DV_DR_ACTION_DEST_REFORMAT = 1,
};

struct mlx5dv_dr_action_dest_reformat {
	struct mlx5dv_dr_action *reformat;
	struct mlx5dv_dr_action *dest;
};

struct mlx5dv_dr_action_dest_attr {
	enum mlx5dv_dr_action_dest_type type;
	union {
		struct mlx5dv_dr_action *dest;
		struct mlx5dv_dr_action_dest_reformat *dest_reformat;
	};
};

/* Destination that copies a packet to several destinations. */
struct mlx5dv_dr_action *
mlx5dv_dr_action_create_dest_array(struct mlx5dv_dr_domain *domain, size_t num_dest,
				   struct mlx5dv_dr_action_dest_attr *dests[]);

/* Actions that mark, count or change a packet. */
struct mlx5dv_dr_action *mlx5dv_dr_action_create_tag(uint32_t tag_value);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_flow_counter(struct mlx5dv_devx_obj *devx_obj,
							      uint32_t offset);
struct mlx5dv_dr_action *
mlx5dv_dr_action_create_packet_reformat(struct mlx5dv_dr_domain *domain, uint32_t flags,
					enum mlx5dv_flow_action_packet_reformat_type reformat_type,
					size_t data_sz, void *data);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_modify_header(struct mlx5dv_dr_domain *domain,
							       uint32_t flags, size_t actions_sz,
							       __be64 actions[]);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_pop_vlan(void);
struct mlx5dv_dr_action *mlx5dv_dr_action_create_push_vlan(struct mlx5dv_dr_domain *domain,
							   __be32 vlan_hdr);

/* Actions for metering and sampling. Parameters are in the device's format. */
struct mlx5dv_dr_flow_meter_attr {
	struct mlx5dv_dr_table *next_table;
	uint8_t active;
	uint8_t reg_c_index; /* register that receives the colour */
	size_t flow_meter_parameter_sz;
	void *flow_meter_parameter;
};

struct mlx5dv_dr_action *mlx5dv_dr_action_create_flow_meter(struct mlx5dv_dr_flow_meter_attr *attr);
int mlx5dv_dr_action_modify_flow_meter(struct mlx5dv_dr_action *action,
				       struct mlx5dv_dr_flow_meter_attr *attr,
				       __be64 modify_field_select);

struct mlx5dv_dr_flow_sampler_attr {
	uint32_t sample_ratio; /* one packet of this many is sampled */
	struct mlx5dv_dr_table *default_next_table;
	uint32_t num_sample_actions;
	struct mlx5dv_dr_action **sample_actions;
	__be64 action;
};

struct mlx5dv_dr_action *
mlx5dv_dr_action_create_flow_sampler(struct mlx5dv_dr_flow_sampler_attr *attr);

/* ASO objects, and the flags of each kind: first hit, flow meter, connection tracking. */
enum mlx5dv_dr_action_aso_first_hit_flags {
	MLX5DV_DR_ACTION_FLAGS_ASO_FIRST_HIT_SET = 1 << 0,
};

enum mlx5dv_dr_action_aso_flow_meter_flags {
	MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_RED = 1 << 0,
	MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_YELLOW = 1 << 1,
	MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_GREEN = 1 << 2,
	MLX5DV_DR_ACTION_FLAGS_ASO_FLOW_METER_UNDEFINED = 1 << 3,
};

enum mlx5dv_dr_action_aso_ct_flags {
	MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_INITIATOR = 1 << 0,
	MLX5DV_DR_ACTION_FLAGS_ASO_CT_DIRECTION_RESPONDER = 1 << 1,
};

struct mlx5dv_dr_action *mlx5dv_dr_action_create_aso(struct mlx5dv_dr_domain *domain,
						     struct mlx5dv_devx_obj *devx_obj,
						     uint32_t offset, uint32_t flags,
						     uint8_t return_reg_c);
int mlx5dv_dr_action_modify_aso(struct mlx5dv_dr_action *action, uint32_t offset, uint32_t flags,
				uint8_t return_reg_c);
int mlx5dv_dr_aso_other_domain_link(struct mlx5dv_devx_obj *devx_obj,
				    struct mlx5dv_dr_domain *peer_dmn, struct mlx5dv_dr_domain *dmn,
				    uint32_t flags, uint8_t return_reg_c);
int mlx5dv_dr_aso_other_domain_unlink(struct mlx5dv_devx_obj *devx_obj,
				      struct mlx5dv_dr_domain *dmn);

int mlx5dv_dr_action_destroy(struct mlx5dv_dr_action *action);

/* Dump an object as text for the vendor's tools. */
int mlx5dv_dump_dr_domain(FILE *fout, struct mlx5dv_dr_domain *domain);
int mlx5dv_dump_dr_table(FILE *fout, struct mlx5dv_dr_table *table);
int mlx5dv_dump_dr_matcher(FILE *fout, struct mlx5dv_dr_matcher *matcher);
int mlx5dv_dump_dr_rule(FILE *fout, struct mlx5dv_dr_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
