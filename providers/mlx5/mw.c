/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw.c - memory windows as objects, and ibv_bind_mw(), which posts the request itself.
 */
#include <errno.h>
#include <stdlib.h>

#include "providers/mlx5/context.h"
#include "providers/mlx5/data/post.h"
#include "util/alloc.h"

struct ibv_mw *mlx5_mw_alloc(struct ibv_pd *pd, enum ibv_mw_type type)
{
	/* Empty: the kernel takes none of its fields for a plain window. */
	const struct mlx5_ib_alloc_mw req = { 0 };
	const struct verbs_udata udata = { .req = &req, .req_len = sizeof(req) };
	struct ibv_mw *mw = calloc_for("alloc_mw", 1, sizeof(*mw));
	int ret = mw ? verbs_cmd_alloc_mw(pd, type, mw, &udata) : ENOMEM;

	if (!ret)
		return mw;
	free(mw);
	errno = ret;
	return NULL;
}

int mlx5_mw_dealloc(struct ibv_mw *mw)
{
	int ret = verbs_cmd_dealloc_mw(mw);

	if (!ret)
		free(mw);
	return ret;
}

/* Windows of type 1 only, as ibv_bind_mw() has seen to. Each binding gives the window a new key. */
int mlx5_mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
	};
	struct ibv_send_wr *bad_wr;
	int ret;

	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	ret = mlx5_post_send(qp, &wr, &bad_wr);
	if (!ret)
		mw->rkey = wr.bind_mw.rkey;
	return ret;
}
