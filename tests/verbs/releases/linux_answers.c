/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linux_answers.c - see linux_answers.h. EINVAL is also the answer to an attribute of a wrong form,
 * so a call with that answer proves nothing by itself: another of its method is taken.
 */
#include "tests/verbs/releases/linux_answers.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "util/bits.h"

static const struct {
	const char *call;
	const char *link; /* NULL: both */
	int err;
	unsigned int since; /* the first kernel with this answer, as 100 * major + minor */
} refused[] = {
	/* no such port, or object */
	{ "query_port 9", NULL, EINVAL, 0 },
	{ "query_port_speed 300", NULL, EINVAL, 0 },
	{ "import_mr", NULL, ENOENT, 0 },
	/* the descriptor is not open */
	{ "reg_mr_ex 0xc", NULL, EBADF, 0 },
	{ "reg_mr_ex 0xd", NULL, EBADF, 0 },
	{ "reg_mr_ex 0x1c", NULL, EBADF, 0 },
	{ "reg_mr_ex 0x1d", NULL, EBADF, 0 },
	{ "reg_dmabuf_mr", NULL, EBADF, 0 },
	{ "mlx5dv_reg_dmabuf_mr", NULL, EBADF, 0 },
	{ "umem_reg_ex dma-buf", NULL, EBADF, 0 },
	/* a guest has no memory on demand */
	{ "advise_mr", NULL, EOPNOTSUPP, 0 },
	{ "advise_mr flush", NULL, EOPNOTSUPP, 0 },
	{ "reg_mr on demand", NULL, EOPNOTSUPP, 612 },
	{ "reg_mr on demand", NULL, EINVAL, 0 },
	/* nor a device for its data */
	{ "mlx5dv_reg_dmabuf_mr direct", NULL, EINVAL, 0 },
	{ "data_direct_path", NULL, ENODEV, 0 },
	/* nor hints for caches */
	{ "alloc_dmah", NULL, EOPNOTSUPP, 0 },
	/* no flow counts into the set */
	{ "read_counters", NULL, EINVAL, 0 },
	{ "read_counters cached", NULL, EINVAL, 0 },
	/* no command changes a flow counter */
	{ "obj_modify", NULL, EINVAL, 0 },
	/* a guest has no memory for steering, doorbells of virtio, or paced packets */
	{ "mlx5dv_alloc_dm 1", NULL, EOPNOTSUPP, 0 },
	{ "mlx5dv_alloc_dm 2", NULL, EOPNOTSUPP, 0 },
	{ "mlx5dv_alloc_dm 3", NULL, EOPNOTSUPP, 0 },
	{ "mlx5dv_alloc_dm 4", NULL, EOPNOTSUPP, 0 },
	{ "alloc_var", NULL, EOPNOTSUPP, 0 },
	{ "pp_alloc", "ib", EOPNOTSUPP, 0 },
	{ "pp_alloc dedicated", "ib", EOPNOTSUPP, 0 },
	{ "pp_alloc", "roce", EINVAL, 0 }, /* of no rate */
	{ "pp_alloc dedicated", "roce", EINVAL, 0 },
	/* nor rules that change headers */
	{ "modify_header", NULL, EOPNOTSUPP, 0 },
	{ "reformat to L2", NULL, EOPNOTSUPP, 0 },
	{ "reformat to a tunnel", NULL, EOPNOTSUPP, 0 },
	/* RC and UC have no multicast to block */
	{ "create_qp of type 2 with flags", NULL, EINVAL, 0 },
	{ "create_qp of type 3 with flags", NULL, EINVAL, 0 },
	/* Ethernet's; a guest has no checksums of frames in memory */
	{ "create_wq", "ib", EOPNOTSUPP, 0 },
	{ "create_wq with flags", NULL, EOPNOTSUPP, 0 },
};

static unsigned int kernel(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname system;

	if (uname(&system) || sscanf(system.release, "%u.%u", &major, &minor) != 2)
		return 0;
	return 100 * major + minor;
}

int linux_answer(const char *call, const char *link)
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (!strcmp(refused[i].call, call) && refused[i].since <= kernel() &&
		    (!refused[i].link || !strcmp(refused[i].link, link)))
			return refused[i].err;
	return 0;
}
