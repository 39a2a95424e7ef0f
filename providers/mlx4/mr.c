/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - memory regions and windows, without driver data in their commands.
 */
#include "providers/mlx4/mr.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/common/mw.h"
#include "providers/mlx4/context.h"
#include "util/alloc.h"

int mlx4_mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		struct verbs_mr **vmr)
{
	/* uninitialised, because the command fills in every field */
	struct verbs_mr *mr = malloc_for("reg_mr", sizeof(*mr));
	int ret;

	if (!mr)
		return ENOMEM;
	ret = verbs_cmd_reg_mr(pd, addr, length, iova, access, mr, NULL);
	if (ret)
		free(mr);
	else
		*vmr = mr;
	return ret;
}

int mlx4_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  unsigned int access)
{
	return verbs_cmd_rereg_mr(vmr, flags, pd, addr, length, (uintptr_t)addr, access, NULL);
}

int mlx4_mr_dereg(struct verbs_mr *vmr)
{
	int ret = verbs_cmd_dereg_mr(vmr);

	if (!ret)
		free(vmr);
	return ret;
}

struct ibv_mw *mlx4_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	return provider_mw_alloc(pd, &to_mctx(pd->context)->common.cells, type, NULL);
}

int mlx4_mw_dealloc(struct ibv_mw *mw)
{
	return provider_mw_dealloc(&to_mctx(mw->context)->common.cells, mw);
}
