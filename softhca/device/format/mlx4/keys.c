/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keys.c - work requests on memory keys: binding of windows and invalidation; fast_reg.c has fast
 * registration. The queue executes nothing else meanwhile. Sources: see prm/mlx4/wqe.h; IBTA vol 1,
 * 10.6.7.
 */
#include "prm/mlx4/wqe.h"
#include "softhca/device/core.h"
#include "softhca/device/format/mlx4/mlx4.h"
#include "softhca/device/queue/wqe.h"

struct bind {
	bool type_2, zero_based;
	unsigned int access;
	uint32_t rkey, lkey;
	uint64_t addr, length;
};

uint32_t mlx4_changed_key(const uint8_t *raw)
{
	const uint8_t *seg = raw + M4_SEG;

	switch (mlx4_wqe_opcode(raw)) {
	case M4_BIND_MW:
		return fld_get(seg, M4_BIND_RKEY);
	case M4_FAST_REG:
		return fld_get(seg, M4_REG_KEY);
	default:
		return fld_get(seg, M4_INVAL_KEY);
	}
}

static struct bind decode_bind(const uint8_t *seg)
{
	return (struct bind){
		.type_2 = fld_get(seg, M4_BIND_TYPE_2),
		.zero_based = fld_get(seg, M4_BIND_ZERO_BASED),
		.access = (fld_get(seg, M4_BIND_ATOMIC) ? MKEY_REMOTE_ATOMIC : 0) |
			  (fld_get(seg, M4_BIND_REMOTE_WRITE) ? MKEY_REMOTE_WRITE : 0) |
			  (fld_get(seg, M4_BIND_REMOTE_READ) ? MKEY_REMOTE_READ : 0),
		.rkey = fld_get(seg, M4_BIND_RKEY),
		.lkey = fld_get(seg, M4_BIND_LKEY),
		.addr = fld_get(seg, M4_BIND_ADDR),
		.length = fld_get(seg, M4_BIND_LENGTH),
	};
}

/* Returns whether the key is a window. A key with pages is a region: binding would replace bus
 * addresses in its table, and so give access to others' memory. */
static bool is_window(struct hca *hca, const struct qp *qp, const struct mkey *mkey)
{
	if (mkey->mode == MKEY_KLMS)
		return true;
	if (hca->config.strict)
		strict_report(hca->config.strict, hca->config.trace, "bind.region",
			      "QP 0x%06x: key 0x%x, which is to be bound, is no window's", qp->n,
			      mkey->key);
	return false;
}

/* Finds a window that may be bound. Windows of type 2 are those that may be invalidated; a bound
 * one must be invalidated before it can be bound again. */
static struct mkey *find_window(struct hca *hca, const struct qp *qp, const struct bind *bind)
{
	struct mkey *mkey = mkey_find(hca, bind->rkey);

	if (!mkey || mkey->pd != qp->pd || !is_window(hca, qp, mkey) || !mkey->umr_enabled ||
	    mkey->may_invalidate != bind->type_2)
		return NULL;
	return bind->type_2 && !mkey->free ? NULL : mkey;
}

/* Returns the region if it allows windows and has the rights that the window grants. */
static struct mkey *find_region(struct hca *hca, const struct qp *qp, const struct bind *bind)
{
	unsigned int writes = MKEY_REMOTE_WRITE | MKEY_REMOTE_ATOMIC;
	struct mkey *region =
		mkey_check(hca, bind->lkey, qp->pd, bind->access & writes ? MKEY_LOCAL_WRITE : 0,
			   bind->addr, bind->length);

	return region && region->may_bind ? region : NULL;
}

static int execute_bind(struct hca *hca, const struct qp *qp, const uint8_t *raw)
{
	struct bind bind = decode_bind(raw + M4_SEG);
	struct mkey *mkey = find_window(hca, qp, &bind);
	struct mkey *region = bind.length ? find_region(hca, qp, &bind) : NULL;

	if (!mkey || (bind.length && !region))
		return WQE_BAD_MKEY;
	if (region && xlt_set_piece(mkey, bind.lkey, bind.addr, bind.length))
		return WQE_BAD_UMR;
	mkey_bind(mkey, region);
	mkey->key = bind.rkey;
	mkey->free = !region;
	mkey->access = bind.access;
	mkey->start = bind.zero_based ? 0 : bind.addr;
	mkey->len = bind.length;
	mkey->qpn = bind.type_2 ? qp->n : MKEY_ANY_QP;
	return 0;
}

static int execute_invalidate(struct hca *hca, const struct qp *qp, const uint8_t *raw)
{
	uint32_t key = fld_get(raw + M4_SEG, M4_INVAL_KEY);
	struct mkey *mkey = mkey_to_invalidate(hca, key, qp->pd, qp->n);

	if (!mkey || mkey->free)
		return WQE_BAD_MKEY;
	mkey_invalidate(mkey);
	return 0;
}

/* Executes a request on a key. Checks it again, as software may have changed the ring since it was
 * decoded. */
int mlx4_execute_on_key(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len)
{
	static const struct {
		size_t size;
		int (*execute)(struct hca *hca, const struct qp *qp, const uint8_t *raw);
	} requests[FLD_MASK(M4_CTRL_OPCODE) + 1] = {
		[M4_BIND_MW] = { M4_BIND_SIZE, execute_bind },
		[M4_FAST_REG] = { M4_REG_SIZE, mlx4_execute_fast_reg },
		[M4_LOCAL_INVAL] = { M4_INVAL_SIZE, execute_invalidate },
	};
	uint8_t opcode = mlx4_wqe_opcode(raw);

	if (!requests[opcode].execute)
		return WQE_BAD_OPCODE;
	return len < M4_SEG + requests[opcode].size ? WQE_BAD_SIZE
						    : requests[opcode].execute(hca, qp, raw);
}
