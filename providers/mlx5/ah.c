/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - address handles. On InfiniBand one is made of its attributes alone, without the kernel; on
 * RoCE the kernel knows the next hop.
 */
#include "providers/mlx5/ah.h"

#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"

static int check_attr(struct mlx5_context *ctx, const struct ibv_ah_attr *attr)
{
	if (attr->port_num < 1 || attr->port_num > ctx->caps.num_ports) {
		verbs_warn("create_ah: port_num is %u, must be 1 to %u", attr->port_num,
			   ctx->caps.num_ports);
		return EINVAL;
	}
	return 0;
}

int ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	struct mlx5_context *ctx = to_mctx(pd->context);
	struct mlx5_ah *mah;
	int ret;

	ret = check_attr(ctx, attr);
	if (ret)
		return ret;
	mah = calloc(1, sizeof(*mah));
	if (!mah)
		return ENOMEM;
	ah_fill_av(attr, NULL, &mah->av);
	*ah = &mah->ah;
	return 0;
}

int ah_destroy(struct ibv_ah *ah)
{
	free(to_mah(ah));
	return 0;
}
