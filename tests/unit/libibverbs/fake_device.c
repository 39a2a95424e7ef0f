/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fake_device.c - see fake_device.h.
 */
#include "fake_device.h"

#include <stdlib.h>

struct fake_context *fake_open(void)
{
	struct fake_context *fake = calloc(1, sizeof(*fake));

	if (!fake)
		abort();
	fake->vdev.info.driver_id = FAKE_DRIVER_ID;
	strcpy(fake->vdev.device.name, "fake_0");
	if (verbs_context_init(&fake->vctx, &fake->vdev, FAKE_CMD_FD))
		abort();
	fake->vctx.context.async_fd = FAKE_ASYNC_FD;
	return fake;
}

void fake_close(struct fake_context *fake)
{
	verbs_context_cleanup(&fake->vctx);
	free(fake);
}
