/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca_caps.h - what a device says of itself to those who command it (DevX): facts that the kernel
 * has no words for. They are asked for when first needed.
 */
#ifndef PROVIDERS_MLX5_HCA_CAPS_H
#define PROVIDERS_MLX5_HCA_CAPS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/caps.h"

struct mlx5_context;

struct mlx5_hca_caps {
	uint8_t log_dc_reads;    /* reads and atomics that a DC target answers at a time */
	uint8_t log_dc_requests; /* that a DC initiator has in flight */
	bool has_odp, has_qos, has_general_2;    /* pages */
	uint32_t dc_odp;                         /* enum ibv_odp_transport_cap_bits; page ODP */
	uint8_t lag_ports;                       /* that are bonded; 0: none */
	bool lag_chooses_port;                   /* a queue may name the port that it sends by, */
	bool lag_changes_qp;                     /* QPs also while they send */
	bool changes_udp_port;                   /* of a QP while it sends */
	bool schedules_qps, schedules_sqs;       /* page QOS, as */
	bool shares_bandwidth, limits_bandwidth; /* what schedulers can do */
	uint16_t scheduler_elements, scheduler_tsars;
	bool reserves_qpns;        /* QP numbers, */
	uint8_t log_reserved_qpns; /* so many at a time; page GENERAL_2 */
	uint32_t max_copy;         /* bytes that a QP copies in memory at a time; 0: it cannot */
	bool signs_blocks;         /* by memory keys, */
	bool signs_crc32c, signs_crc64, signs_4048;
	bool drains_on_sig_error; /* a QP */
	bool encrypts;            /* by memory keys, */
	bool encrypts_units;      /* each with its own tweak; or one unit for each key */
	bool imports_wrapped;     /* page CRYPTO: keys of data come only so, */
	bool will_import_wrapped; /* or will */
	bool unwraps_aes_xts;
	uint8_t log_deks;
	uint16_t failed_selftests;
	/* Receives that a QP may have outstanding which takes messages out of order; 0: none. */
	uint32_t early_rc, early_xrc, early_dc;
	uint32_t early_ud, early_uc;
	bool maps_addresses; /* to QPs whose congestion control counts */
};

struct hca_caps_cache {
	pthread_mutex_t lock;              /* one thread asks at a time */
	bool known[PRM_CAP_GENERAL_2 + 1]; /* by enum prm_cap: that page's facts stay as they are */
	struct mlx5_hca_caps caps;
};

void mlx5_hca_caps_init(struct hca_caps_cache *cache);
void mlx5_hca_caps_destroy(struct hca_caps_cache *cache);

/* Returns EOPNOTSUPP when the context is without DevX, or the command's errno: then the next call
 * asks again. *CAPS has what the general page says. */
int mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
/* Does the same; *CAPS has also what PAGE says, if the device announces that page. */
int mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
			   const struct mlx5_hca_caps **caps);

#endif
