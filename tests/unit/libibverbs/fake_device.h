/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_device.h - a context without a device, whose provider does nothing.
 */
#ifndef TESTS_UNIT_LIBIBVERBS_FAKE_DEVICE_H
#define TESTS_UNIT_LIBIBVERBS_FAKE_DEVICE_H

#include "libibverbs/private.h"

#define FAKE_CMD_FD    77
#define FAKE_ASYNC_FD  78
#define FAKE_DRIVER_ID 1

struct fake_context {
	struct verbs_device vdev;
	struct verbs_context vctx;
};

struct fake_context *fake_open(void);
void fake_close(struct fake_context *fake);

#endif
