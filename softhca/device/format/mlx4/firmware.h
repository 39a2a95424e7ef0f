/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * firmware.h - state of an mlx4 adapter's commands: setup by the driver, the memory that it gave,
 * and the multicast table.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX4_FIRMWARE_H
#define SOFTHCA_DEVICE_FORMAT_MLX4_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx4/caps.h"
#include "softhca/device/format/mlx4/flow.h"
#include "softhca/device/format/mlx4/icm.h"
#include "softhca/device/port.h"
#include "softhca/device/res.h"

/* Capabilities, mostly as powers of two. */
#define M4_ICM_MAX (1ull << 40)

/* Most memory of this process for a guest's queue pairs: see vfio-user/server.c */
#define M4_QP_BYTES_MAX (512ull << 20)

enum {
	M4_LOG_QPS = 19,
	M4_LOG_SRQS = 16,
	M4_LOG_CQS = 17,
	M4_LOG_EQS = 7,
	M4_LOG_MPTS = 20,
	M4_LOG_PDS = 17,
	M4_LOG_XRCDS = 16,
	M4_LOG_MCGS = 13,
	M4_LOG_QP_SIZE = 14,
	M4_LOG_CQ_SIZE = 22,
	M4_LOG_SRQ_SIZE = 15,
	M4_LOG_RSVD_QPS = 6,
	M4_SPECIAL_QPNS = 8, /* numbers of management QPs */
	M4_RSVD_UARS = 1,
	M4_UAR_LOG_MB = 3,
	M4_UARS = (1 << (M4_UAR_LOG_MB + 20)) / 4096,
	M4_LOG_BF_BYTES = 9, /* log2 of the bytes of a BlueFlame register */
	M4_DMPT_SIZE = 64,   /* bytes of a key's entry in its table */
	M4_LOG_MIN_MCG = 6,
	M4_LOG_MAX_MCG = 12, /* log2 of the bytes of an entry */
	M4_LOG_MSG_MAX = 30,
	M4_TAKEN_MAX = 4096,
};

struct m4_groups;

struct mlx4_firmware {
	uint32_t area_pages;
	bool running;
	uint64_t icm_size;
	uint32_t aux_wanted, aux_pages;
	struct icm icm;
	bool initialized;
	uint8_t init[M4_INIT_SIZE]; /* INIT_HCA, as software wrote it */
	struct q_counter *counters; /* error counters, shared by all QPs */
	uint32_t special_base;      /* number of the first management QP; 0: none */
	struct res_table eth_qps;
	uint64_t qp_bytes;  /* memory of this process that all queue pairs use */
	uint32_t frames_to; /* QP that gets all frames (promiscuous); 0: none */
	uint8_t vlans[PORT_MAX][M4_VLAN_TABLE_SIZE]; /* as software wrote them */
	/* The last keys that were returned to software, newest at the end: software may write their
	 * table entries. */
	uint32_t taken[M4_TAKEN_MAX], num_taken;
	struct m4_groups *groups; /* multicast groups; NULL: none was written */
	struct m4_flows flows;
	unsigned int num_flows;
	uint64_t last_flow; /* number of the newest rule */
};

int m4_create(struct hca *hca);
void m4_destroy(struct hca *hca);
void m4_groups_free(struct hca *hca);
int m4_diag_begin(struct hca *hca);
void m4_diag_end(struct hca *hca);

#endif
