/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.h - queues of Ethernet frames: RQ and SQ.
 */
#ifndef PRM_MLX5_WQ_H
#define PRM_MLX5_WQ_H

#include "prm/mlx5/states.h"
#include "util/fields.h"

enum {
	PRM_SQC_SIZE = 240,
	PRM_RQC_SIZE = 240,
	PRM_WQ_SIZE = 192,
};

enum {
	PRM_WQ_TYPE_CYCLIC = 1,
	PRM_WQ_TYPE_LINKED_STRIDING = 2,
	PRM_WQ_TYPE_CYCLIC_STRIDING = 3,
	PRM_RQ_MEMORY_INLINE = 0, /* RQC mem_rq_type */
	PRM_RQ_MODIFY_VSD = 1 << 1,
	PRM_RQ_MODIFY_SCATTER_FCS = 1 << 2,
	PRM_RQ_MODIFY_COUNTER_SET_ID = 1 << 3,
};

/* A WQE of a striding queue has a head segment in front of its buffer list. In a linked queue, the
 * head segment names the next WQE (SRQ_WQE_NEXT). The buffers are one range of 2^3 to 2^16 strides
 * of 2^6 to 2^13 bytes. WQ_LOG_WQE_NUM_OF_STRIDES encodes 2^9 strides and more as 0 and up, fewer
 * strides as 10 (2^3) and up. */
enum {
	PRM_STRIDING_HEAD = 16,
	PRM_LOG_STRIDE_MIN = 6,
	PRM_LOG_STRIDE_MAX = 13,
	PRM_LOG_STRIDES_MIN = 3,
	PRM_LOG_STRIDES_MAX = 16,
	PRM_LOG_STRIDES_BASE = 9,
	PRM_LOG_STRIDES_LOW = 10,
};

enum {
	PRM_MODIFY_SQ_PACING = 1 << 0, /* modify_bitmask */
	PRM_MODIFY_SQ_QOS_GROUP = 1 << 2,
};

#define WQ_PAGE_OFFSET                     FLD(0x4, 20, 16)
#define WQ_PD                              FLD(0x8, 23, 0)
#define WQ_DBR_ADDR                        FLD64(0x10)
#define WQ_LOG_WQ_STRIDE                   FLD(0x20, 19, 16)
#define WQ_LOG_WQ_PG_SZ                    FLD(0x20, 12, 8)
#define WQ_LOG_WQ_SZ                       FLD(0x20, 4, 0)

#define WQ_WQ_TYPE                         FLD(0x0, 31, 28)
#define WQ_WQ_SIGNATURE                    FLD(0x0, 27, 27)
#define WQ_END_PADDING_MODE                FLD(0x0, 26, 25)
#define WQ_LWM                             FLD(0x4, 15, 0)
#define WQ_UAR_PAGE                        FLD(0xc, 23, 0)
#define WQ_HW_COUNTER                      FLD(0x18, 31, 0)
#define WQ_SW_COUNTER                      FLD(0x1c, 31, 0)
#define WQ_DBR_UMEM_VALID                  FLD(0x24, 31, 31)
#define WQ_LOG_WQE_NUM_OF_STRIDES          FLD(0x24, 11, 8) /* encoded: see above */
#define WQ_TWO_BYTE_SHIFT_EN               FLD(0x24, 7, 7)
#define WQ_LOG_WQE_STRIDE_SIZE             FLD(0x24, 2, 0) /* in units of 64 bytes, log2 */
#define WQ_WQ_UMEM_VALID                   FLD(0x24, 30, 30)
#define WQ_DBR_UMEM_ID                     FLD(0x28, 31, 0)
#define WQ_WQ_UMEM_ID                      FLD(0x2c, 31, 0)
#define WQ_WQ_UMEM_OFFSET                  FLD64(0x30)
#define CREATE_RQ_IN_CTX                   FLD_PART(0x20)
#define CREATE_RQ_OUT_RQN                  FLD(0x8, 23, 0)
#define MODIFY_RQ_IN_RQ_STATE              FLD(0x8, 31, 28)
#define MODIFY_RQ_IN_RQN                   FLD(0x8, 23, 0)
#define MODIFY_RQ_IN_MODIFY_BITMASK        FLD_PART(0x10)
#define MODIFY_RQ_IN_CTX                   FLD_PART(0x20)
#define QUERY_RQ_IN_RQN                    FLD(0x8, 23, 0)
#define QUERY_RQ_OUT_RQ_CONTEXT            FLD_PART(0x20)
#define DESTROY_RQ_IN_RQN                  FLD(0x8, 23, 0)
#define RQC_DELAY_DROP_EN                  FLD(0x0, 30, 30)
#define RQC_SCATTER_FCS                    FLD(0x0, 29, 29)
#define RQC_VSD                            FLD(0x0, 28, 28)
#define RQC_MEM_RQ_TYPE                    FLD(0x0, 27, 24)
#define RQC_STATE                          FLD(0x0, 23, 20)
#define RQC_FLUSH_IN_ERROR_EN              FLD(0x0, 18, 18)
#define RQC_HAIRPIN                        FLD(0x0, 17, 17)
#define RQC_TS_FORMAT                      FLD(0x0, 5, 4)
#define RQC_USER_INDEX                     FLD(0x4, 23, 0)
#define RQC_CQN                            FLD(0x8, 23, 0)
#define RQC_COUNTER_SET_ID                 FLD(0xc, 31, 24)
#define RQC_WQ                             FLD_PART(0x30)
#define CREATE_SQ_IN_CTX                   FLD_PART(0x20)
#define CREATE_SQ_OUT_SQN                  FLD(0x8, 23, 0)
#define MODIFY_SQ_IN_SQ_STATE              FLD(0x8, 31, 28)
#define MODIFY_SQ_IN_SQN                   FLD(0x8, 23, 0)
#define MODIFY_SQ_IN_MODIFY_BITMASK        FLD64(0x10)
#define MODIFY_SQ_IN_CTX                   FLD_PART(0x20)
#define QUERY_SQ_IN_SQN                    FLD(0x8, 23, 0)
#define QUERY_SQ_OUT_SQ_CONTEXT            FLD_PART(0x20)
#define DESTROY_SQ_IN_SQN                  FLD(0x8, 23, 0)
#define SQC_CD_MASTER                      FLD(0x0, 30, 30)
#define SQC_FLUSH_IN_ERROR_EN              FLD(0x0, 28, 28)
#define SQC_ALLOW_MULTI_PKT_SEND_WQE       FLD(0x0, 27, 27)
#define SQC_MIN_WQE_INLINE_MODE            FLD(0x0, 26, 24)
#define SQC_TS_FORMAT                      FLD(0x0, 5, 4)
#define SQC_STATE                          FLD(0x0, 23, 20)
#define SQC_REG_UMR                        FLD(0x0, 19, 19)
#define SQC_ALLOW_SWP                      FLD(0x0, 18, 18)
#define SQC_HAIRPIN                        FLD(0x0, 17, 17)
#define SQC_TS_FORMAT                      FLD(0x0, 5, 4)
#define SQC_USER_INDEX                     FLD(0x4, 23, 0)
#define SQC_CQN                            FLD(0x8, 23, 0)
#define SQC_TS_CQE_TO_DEST_CQN             FLD(0x18, 23, 0)
#define SQC_PACKET_PACING_RATE_LIMIT_INDEX FLD(0x1c, 15, 0)
#define SQC_TIS_LST_SZ                     FLD(0x20, 31, 16)
#define SQC_QOS_QUEUE_GROUP_ID             FLD(0x20, 15, 0)
#define SQC_TIS_NUM_0                      FLD(0x2c, 23, 0)
#define SQC_WQ                             FLD_PART(0x30)

#endif
