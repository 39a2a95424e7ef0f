/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains, whose numbers address vectors contain, and thread domains.
 */
#include "providers/mlx4/pd.h"

#include <errno.h>

#include "providers/mlx4/context.h"

int mlx4_pd_alloc(struct ibv_context *context, struct ibv_pd **pd)
{
	struct mlx4_ib_alloc_pd_resp resp; /* not cleared here, as the command clears it */
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	int ret = provider_pd_alloc(context, &to_mctx(context)->common.cells, &udata, pd);

	if (!ret)
		to_ppd(*pd)->pdn = resp.pdn;
	return ret;
}

struct ibv_td *mlx4_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	int ret = provider_td_check_attr(attr);
	struct provider_td *td =
		ret ? NULL
		    : provider_cells_take(&to_mctx(context)->common.cells, "alloc_td", sizeof(*td));

	if (!td) {
		errno = ret ? ret : ENOMEM;
		return NULL;
	}
	*td = (struct provider_td){ .td.context = context };
	return &td->td;
}

int mlx4_td_dealloc(struct ibv_td *td)
{
	int ret = provider_td_check_unused(to_ptd(td));

	if (!ret)
		provider_cells_give(&to_mctx(td->context)->common.cells, to_ptd(td),
				    sizeof(struct provider_td));
	return ret;
}
