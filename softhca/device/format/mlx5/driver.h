/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * driver.h - what the adapter knows of the driver that runs it: which capabilities it wants
 * (caps.c), and the pages that it was given (pages.c).
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
	uint64_t *page; /* of the host, kept for it */
	uint32_t pages;
	int64_t requested; /* pages that an event has asked for; below 0: to take back */
	uint32_t denied;   /* how many were wanted when the driver had none to give */
};

void pages_free(struct hca *hca);
/* Asks the driver for pages, or to take some back, where the number of objects calls for it. */
void pages_balance(struct hca *hca);
void pages_forget_requests(struct hca *hca);

#endif
