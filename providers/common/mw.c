/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw.c - memory windows.
 */
#include "providers/common/mw.h"

#include <errno.h>

#include "providers/common/memory/cells.h"

struct ibv_mw *provider_mw_alloc(struct ibv_pd *pd, struct cells *cells, enum ibv_mw_type type,
				 const struct verbs_udata *udata)
{
	struct ibv_mw *mw = provider_cells_take(cells, "alloc_mw", sizeof(*mw));
	int ret = mw ? verbs_cmd_alloc_mw(pd, type, mw, udata) : ENOMEM;

	if (!ret)
		return mw;
	if (mw)
		provider_cells_give(cells, mw, sizeof(*mw));
	errno = ret;
	return NULL;
}

int provider_mw_dealloc(struct cells *cells, struct ibv_mw *mw)
{
	int ret = verbs_cmd_dealloc_mw(mw);

	if (!ret)
		provider_cells_give(cells, mw, sizeof(*mw));
	return ret;
}

/* Posts a binding of MW, which is of type 1 (ibv_bind_mw() has checked), and sets its new key. */
int provider_mw_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	/* Fields that a binding does not use stay uninitialised, as the provider reads only those
	 * of the opcode. */
	struct ibv_send_wr wr, *bad_wr;
	int ret;

	wr.wr_id = bind->wr_id;
	wr.next = NULL;
	wr.num_sge = 0;
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = bind->send_flags;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = bind->bind_info;
	ret = ibv_post_send(qp, &wr, &bad_wr);
	if (!ret)
		mw->rkey = wr.bind_mw.rkey;
	return ret;
}
