/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wqe.h - send opcodes, CQE opcodes and syndromes, and the reasons why the device refuses a WQE.
 *
 * The vendor syndromes of remote errors and flushes are those that adapters are known to report;
 * the others are ours, one per reason, so that a test and a reader can tell them apart.
 */
#ifndef SOFTHCA_DEVICE_QUEUE_WQE_H
#define SOFTHCA_DEVICE_QUEUE_WQE_H

#include "softhca/device/core.h"

enum wqe_opcode {
	WQE_NOP = 0x00,
	WQE_SEND_INVAL = 0x01,
	WQE_RDMA_WRITE = 0x08,
	WQE_RDMA_WRITE_IMM = 0x09,
	WQE_SEND = 0x0a,
	WQE_SEND_IMM = 0x0b,
	WQE_RDMA_READ = 0x10,
	WQE_ATOMIC_CS = 0x11,
	WQE_ATOMIC_FA = 0x12,
	WQE_UMR = 0x25,
	WQE_TAG_MATCHING = 0x28,
};

enum wqe_fence { /* fence mode: with what the WQE waits for earlier ones */
		 WQE_FENCE_NONE = 0,
		 WQE_FENCE_INITIATOR_SMALL = 1,
		 WQE_FENCE_STRONG = 3,
		 WQE_FENCE_SMALL_AND_STRONG = 4,
};

enum cqe_opcode {
	CQE_OP_REQ = 0,
	CQE_OP_RESP_WRITE_IMM = 1,
	CQE_OP_RESP_SEND = 2,
	CQE_OP_RESP_SEND_IMM = 3,
	CQE_OP_RESP_SEND_INVAL = 4,
	CQE_OP_NO_PACKET = 6,
	CQE_OP_REQ_ERR = 13,
	CQE_OP_RESP_ERR = 14,
};

enum cqe_l3 { /* what a datagram had behind its Ethernet header */
	      CQE_L3_GRH = 0,
	      CQE_L3_IPV6 = 1,
	      CQE_L3_IPV4 = 2,
};

enum cqe_syndrome {
	SYND_LOCAL_LENGTH = 0x01,
	SYND_LOCAL_QP_OP = 0x02,
	SYND_LOCAL_PROT = 0x04,
	SYND_FLUSH = 0x05,
	SYND_MW_BIND = 0x06,
	SYND_BAD_RESPONSE = 0x10,
	SYND_LOCAL_ACCESS = 0x11,
	SYND_REMOTE_INVAL_REQ = 0x12,
	SYND_REMOTE_ACCESS = 0x13,
	SYND_REMOTE_OP = 0x14,
	SYND_RETRY_EXCEEDED = 0x15,
	SYND_RNR_EXCEEDED = 0x16,
	SYND_REMOTE_ABORTED = 0x22,
};

enum vendor_syndrome {
	VEND_RETRY_EXCEEDED = 0x81,
	VEND_RNR_EXCEEDED = 0x87,
	VEND_REMOTE_ACCESS = 0x88,
	VEND_REMOTE_OP = 0x89,
	VEND_REMOTE_INVAL_REQ = 0x8a,
	VEND_FLUSH = 0xf9,
	/* a refused WQE */
	WQE_BAD_OPCODE = 0x68,
	WQE_BAD_INDEX = 0x69,
	WQE_BAD_QPN = 0x6a,
	WQE_BAD_SIZE = 0x6b,
	WQE_BAD_INLINE = 0x6c,
	WQE_BAD_FETCH = 0x6d,
	WQE_BAD_LENGTH = 0x6e,
	WQE_BAD_AV = 0x6f,
	/* the memory key it is about, or what it wants of it */
	WQE_BAD_MKEY = 0x70,
	WQE_BAD_UMR = 0x71,
	WQE_BAD_TAG = 0x72, /* operation, or index of a tag */
	/* its data */
	WQE_BAD_LKEY = 0x51,
	WQE_BAD_DMA = 0x56,
};

/* WQEBBs of the send WQE at RAW; 0 is not valid. */
uint32_t wqe_bbs(const uint8_t *raw);
/* Its bytes */
uint32_t wqe_size(const uint8_t *raw);

/* Add LEN bytes, OFFSET into what the segments describe, to a transfer; 0, WQE_BAD_LKEY or
 * WQE_BAD_DMA. */
int sges_add(struct dma_batch *batch, const struct pd *pd, unsigned int access,
	     const struct wqe_sge *sge, unsigned int count, uint64_t offset, uint64_t len);
/* The same, and carry it out. */
int sges_dma(struct dma_batch *batch, const struct pd *pd, unsigned int access,
	     const struct wqe_sge *sge, unsigned int count, uint64_t offset, uint64_t len);
bool sges_allow(struct hca *hca, const struct pd *pd, unsigned int access,
		const struct wqe_sge *sge, unsigned int count);

#endif
