/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains and thread domains: the parts that are specific to mlx5.
 */
#include "providers/mlx5/pd.h"

#include <errno.h>

#include "providers/mlx5/context.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

int mlx5_pd_alloc(struct ibv_context *context, struct ibv_pd **pd)
{
	struct mlx5_ib_alloc_pd_resp resp; /* not cleared here, as the command clears it */
	const struct verbs_udata udata = { .resp = &resp, .resp_len = sizeof(resp) };
	int ret = provider_pd_alloc(context, &to_mctx(context)->common.cells, &udata, pd);

	if (!ret)
		to_ppd(*pd)->pdn = resp.pdn;
	return ret;
}

int mlx5_pd_import(struct ibv_context *context, uint32_t handle, struct ibv_pd **pd)
{
	uint32_t pdn = 0;
	const struct verbs_attr attrs[] = {
		verbs_attr_handle(MLX5_IB_ATTR_QUERY_PD_HANDLE, handle),
		verbs_attr_out(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pdn, sizeof(pdn)),
	};
	int ret = verbs_cmd_run(context, UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, attrs,
				ARRAY_SIZE(attrs));

	if (ret) {
		verbs_warn("import_pd: the context has no PD of handle %u that can be imported: "
			   "errno %d",
			   handle, ret);
		return ret;
	}
	return provider_pd_import(context, handle, pdn, pd);
}

static int td_alloc(struct ibv_context *context, const struct ibv_td_init_attr *attr,
		    struct mlx5_td **out)
{
	int ret = provider_td_check_attr(attr);
	struct mlx5_td *td;

	if (ret)
		return ret;
	td = provider_cells_take(&to_mctx(context)->common.cells, "alloc_td", sizeof(*td));
	if (!td)
		return ENOMEM;
	*td = (struct mlx5_td){ .ptd.td.context = context };
	ret = mlx5_uar_get_domain_bfreg(to_mctx(context), &td->bfreg);
	if (ret) {
		provider_cells_give(&to_mctx(context)->common.cells, td, sizeof(*td));
		return ret;
	}
	*out = td;
	return 0;
}

struct ibv_td *mlx5_td_alloc(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct mlx5_td *td;
	int ret = td_alloc(context, attr, &td);

	if (!ret)
		return &td->ptd.td;
	errno = ret;
	return NULL;
}

int mlx5_td_dealloc(struct ibv_td *ibtd)
{
	struct mlx5_context *ctx = to_mctx(ibtd->context);
	struct mlx5_td *td = to_mtd(to_ptd(ibtd));
	int ret = provider_td_check_unused(&td->ptd);

	if (ret)
		return ret;
	mlx5_uar_put_bfreg(ctx, td->bfreg);
	provider_cells_give(&ctx->common.cells, td, sizeof(*td));
	return 0;
}
