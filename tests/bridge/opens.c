/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * opens.c - opens a device that is refused, again and again: each time errno is EPROTO, and neither
 * a descriptor nor memory is left.
 */
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/rig.h"

/* malloc() keeps some chunks of each size for the thread, so WARM fills these lists. BYTES is less
 * than 50 contexts have. */
enum { WARM = 16, TIMES = 50, BYTES = 2048 };

static void open_refused(struct ibv_device *device)
{
	errno = 0;
	if (ibv_open_device(device) || errno != EPROTO) {
		fprintf(stderr, "opened, or errno %d\n", errno);
		exit(1);
	}
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t bytes;
	int fds;

	if (!list || !list[0])
		return 2;
	for (int i = 0; i < WARM; i++)
		open_refused(list[0]);
	fds = rig_count_fds();
	bytes = mallinfo2().uordblks;
	for (int i = 0; i < TIMES; i++)
		open_refused(list[0]);
	fds = rig_count_fds() - fds;
	bytes = mallinfo2().uordblks - bytes;
	printf("%d descriptors and %zd bytes left of %d refusals\n", fds, (ssize_t)bytes, TIMES);
	if (fds || (ssize_t)bytes > BYTES)
		return 1;
	ibv_free_device_list(list);
	return 0;
}
