/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca_caps.h - capabilities that a device reports through DevX, and that the kernel does not pass
 * on. Each page is queried when it is first needed.
 */
#ifndef PROVIDERS_MLX5_HCA_CAPS_H
#define PROVIDERS_MLX5_HCA_CAPS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "prm/mlx5/caps.h"

struct mlx5_context;

struct mlx5_hca_caps {
	/* log2 of the most READs and atomics in flight: to a DC target, of a DC initiator */
	uint8_t log_dc_reads, log_dc_requests;
	bool has_odp, has_qos, has_general_2;
	/* page ODP: operations of DC that may meet a page fault, enum ibv_odp_transport_cap_bits */
	uint32_t dc_odp;
	uint8_t lag_ports;
	bool lag_chooses_port;
	bool lag_changes_qp; /* an RTS QP may change its LAG port */
	bool changes_udp_port;
	bool schedules_qps, schedules_sqs;
	bool shares_bandwidth, limits_bandwidth;
	uint16_t scheduler_elements, scheduler_tsars;
	bool reserves_qpns;
	uint8_t log_reserved_qpns; /* page GENERAL_2: log2 of the size of a range */
	uint32_t max_copy;         /* largest memory copy by a QP, in bytes; 0: not supported */
	bool signs_blocks;
	bool signs_crc32c, signs_crc64, signs_4048;
	bool drains_on_sig_error;
	bool encrypts;
	/* one key encrypts many units, each with its tweak; otherwise one unit */
	bool encrypts_units;
	bool imports_wrapped;     /* page CRYPTO: data keys must be imported wrapped */
	bool will_import_wrapped; /* wrapped import is being commissioned */
	bool unwraps_aes_xts;
	uint8_t log_deks;
	uint16_t failed_selftests;
	uint32_t early_rc, early_xrc, early_dc;
	uint32_t early_ud, early_uc;
	bool maps_addresses;
	bool writes_in_order; /* a QP may write each message from its first byte to its last */
};

struct hca_caps_cache {
	pthread_mutex_t lock;
	bool known[PRM_CAP_GENERAL_2 + 1];
	struct mlx5_hca_caps caps;
};

void mlx5_hca_caps_init(struct hca_caps_cache *cache);
void mlx5_hca_caps_destroy(struct hca_caps_cache *cache);

/* Sets *CAPS, with the general page filled in. Returns EOPNOTSUPP when the context has no DevX, or
 * the errno of the command; then the next call queries again. */
int mlx5_hca_caps_get(struct mlx5_context *ctx, const struct mlx5_hca_caps **caps);
/* Does what mlx5_hca_caps_get() does, and also fills in PAGE if the device announces it. */
int mlx5_hca_caps_get_with(struct mlx5_context *ctx, enum prm_cap page,
			   const struct mlx5_hca_caps **caps);

#endif
