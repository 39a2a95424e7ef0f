/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"

struct mlx5_pd {
	struct ibv_pd pd;
	uint32_t pdn;
};

int pd_alloc(struct ibv_context *context, struct ibv_pd **pd)
{
	struct mlx5_ib_alloc_pd_resp resp = { 0 };
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	struct mlx5_pd *mpd = calloc(1, sizeof(*mpd));
	int ret;

	if (!mpd)
		return ENOMEM;
	ret = verbs_cmd_alloc_pd(context, &mpd->pd, &udata);
	if (ret) {
		free(mpd);
		return ret;
	}
	mpd->pdn = resp.pdn;
	*pd = &mpd->pd;
	return 0;
}

int pd_dealloc(struct ibv_pd *pd)
{
	int ret = verbs_cmd_dealloc_pd(pd);

	if (!ret)
		free(container_of(pd, struct mlx5_pd, pd));
	return ret;
}

uint32_t pd_number(struct ibv_pd *pd)
{
	return container_of(pd, struct mlx5_pd, pd)->pdn;
}
