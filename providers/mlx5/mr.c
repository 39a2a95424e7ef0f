/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - memory regions of this process.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"

int mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
	   struct verbs_mr **vmr)
{
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	int ret;

	if (!mr)
		return ENOMEM;
	ret = verbs_cmd_reg_mr(pd, addr, length, iova, access, mr, NULL);
	if (ret) {
		free(mr);
		return ret;
	}
	*vmr = mr;
	return 0;
}

int mr_dereg(struct verbs_mr *vmr)
{
	int ret = verbs_cmd_dereg_mr(vmr);

	if (!ret)
		free(vmr);
	return ret;
}
