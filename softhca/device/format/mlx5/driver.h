/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.h - state of the driver that runs the adapter: the capabilities that it has set (caps.c),
 * and the pages that it has given (pages.c).
 */
#ifndef SOFTHCA_DEVICE_FORMAT_MLX5_DRIVER_H
#define SOFTHCA_DEVICE_FORMAT_MLX5_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

struct hca;

enum { CAPS_WRITABLE = 2 };

struct caps {
	bool is_set[CAPS_WRITABLE];
	uint8_t value[CAPS_WRITABLE];
};

struct mlx5_firmware {
	struct caps caps;
	bool enabled, initialized;
	uint16_t issi;
	uint64_t *page; /* host pages given to the adapter */
	uint32_t pages;
	int64_t requested; /* pages requested by an event; below 0: to take back */
	uint32_t denied;   /* pages wanted when the driver had none to give */
};

void pages_free(struct hca *hca);
/* Requests pages from the driver, or asks it to take some back, depending on the number of
 * objects. */
void pages_balance(struct hca *hca);
void pages_forget_requests(struct hca *hca);

#endif
