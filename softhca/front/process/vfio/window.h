/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window.h - BAR 0 of the device as pages that the program maps: registers are written by plain
 * stores, which notify nobody, so the engine looks for them.
 */
#ifndef SOFTHCA_FRONT_PROCESS_VFIO_WINDOW_H
#define SOFTHCA_FRONT_PROCESS_VFIO_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "softhca/front/pci/device.h"

struct window {
	uint8_t *pages; /* BAR_SIZE; NULL: the program has not opened the device */
	int memfd;      /* of these pages */
	uint32_t *uars; /* numbers of the adapter's UARs */
	unsigned int num_uars, room;
	uint32_t shown_high, shown_low; /* address of the command queue, as the program finds it */
};

/* Makes the pages. Returns 0 or a positive errno. */
int window_open(struct window *window, struct device *device);
void window_close(struct window *window);
/* Takes what the program has written since the last call. Returns whether there was anything. */
bool window_scan(struct window *window, struct device *device);
/* Shows the registers as they are now, and learns the adapter's UARs, which commands and resets
 * change. */
void window_show(struct window *window, struct device *device);
void window_learn_uars(struct window *window, struct device *device);

#endif
