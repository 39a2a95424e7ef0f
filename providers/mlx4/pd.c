/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains, whose number address vectors have, and thread domains.
 */
#include "providers/mlx4/pd.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/mlx4/context.h"
#include "util/alloc.h"

int mlx4_pd_alloc(struct ibv_context *context, struct ibv_pd **pd)
{
	struct mlx4_ib_alloc_pd_resp resp = { 0 };
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	int ret = provider_pd_alloc(context, &udata, pd);

	if (!ret)
		to_ppd(*pd)->pdn = resp.pdn;
	return ret;
}

struct ibv_td *mlx4_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	int ret = provider_td_check_attr(attr);
	struct provider_td *td = ret ? NULL : calloc_for("alloc_td", 1, sizeof(*td));

	if (!td) {
		errno = ret ? ret : ENOMEM;
		return NULL;
	}
	td->td.context = context;
	return &td->td;
}

int mlx4_td_dealloc(struct ibv_td *td)
{
	int ret = provider_td_check_unused(to_ptd(td));

	if (!ret)
		free(to_ptd(td));
	return ret;
}
