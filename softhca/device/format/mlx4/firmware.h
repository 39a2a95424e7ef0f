/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * firmware.h - what the commands of an mlx4 adapter keep: how far a driver has come in setting it
 * up, the memory that it gave, and the table of multicast groups.
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

/* What the adapter announces, as powers of two */
#define M4_ICM_MAX (1ull << 40)

/* A guest's queue pairs cost no more memory of this process than: see vfio-user/server.c */
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
	M4_LOG_BF_BYTES = 9, /* of a register for BlueFlame */
	M4_DMPT_SIZE = 64,   /* bytes of a key in its table */
	M4_LOG_MIN_MCG = 6,
	M4_LOG_MAX_MCG = 12, /* bytes of an entry */
	M4_LOG_MSG_MAX = 30,
	M4_TAKEN_MAX = 4096,
};

struct m4_groups; /* cmd/mcg.c */

struct mlx4_firmware {
	uint32_t area_pages; /* that were mapped for the firmware */
	bool running;
	uint64_t icm_size;
	uint32_t aux_wanted, aux_pages;
	struct icm icm;
	bool initialized;
	uint8_t init[M4_INIT_SIZE]; /* INIT_HCA, as software wrote it */
	struct q_counter *counters; /* of errors, of all QPs */
	uint32_t special_base;      /* number of the first management QP; 0: there are none */
	struct res_table eth_qps;   /* queue pairs of frames */
	uint64_t qp_bytes;          /* of this process, that all queue pairs cost */
	uint32_t frames_to;         /* that all which arrive go to; 0: none */
	uint8_t vlans[PORT_MAX][M4_VLAN_TABLE_SIZE]; /* as software wrote them */
	/* Keys that software has had back, and may change in their table: the last ones of them,
	 * the newest at the end. */
	uint32_t taken[M4_TAKEN_MAX], num_taken;
	struct m4_groups *groups; /* of multicast; NULL: none was written */
	struct m4_flows flows;
	unsigned int num_flows;
	uint64_t last_flow; /* its number */
};

/* Make and free it. */
int m4_create(struct hca *hca);
void m4_destroy(struct hca *hca);
void m4_groups_free(struct hca *hca);
/* Begin and end the counting of errors. */
int m4_diag_begin(struct hca *hca);
void m4_diag_end(struct hca *hca);

#endif
