/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mw.c - memory windows: memory keys that allow nothing until a work request binds them.
 */
#include <errno.h>
#include <stddef.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mkc.h"
#include "softhca/front/process/uverbs/objects.h"

enum { TYPE_1 = 1, TYPE_2 = 2, KLMS_UNIT = 4 };

struct uverbs_mw {
	struct object base;
	struct uverbs_pd *pd;
	uint32_t key;
};

static int mw_destroy(struct object *object, pid_t tid)
{
	struct uverbs_mw *mw = (struct uverbs_mw *)object;
	int ret = adapter_release(object->file->adapter, PRM_OP_DESTROY_MKEY, mw->key >> 8);

	(void)tid;
	if (!ret)
		mw->pd->base.users--;
	return ret;
}

static int create_mkey(struct adapter *adapter, uint32_t type, uint32_t klms, struct uverbs_mw *mw)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);
	uint32_t octwords = (klms + KLMS_UNIT - 1) / KLMS_UNIT * KLMS_UNIT;
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(in, CREATE_MKEY_IN_IS_WINDOW, 1);
	fld_set(mkc, MKC_FREE, 1);
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS);
	fld_set(mkc, MKC_EN_RINVAL, type == TYPE_2);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_PD, mw->pd->pdn);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, octwords ? octwords : KLMS_UNIT);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		mw->key = fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8;
	return ret;
}

static int check_request(struct uverbs_call *uc, struct ib_uverbs_alloc_mw *cmd,
			 struct mlx5_ib_alloc_mw *driver, struct uverbs_pd **pd)
{
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, cmd, sizeof(*cmd)) ||
	    uc_in(uc, UVERBS_ATTR_UHW_IN, driver, sizeof(*driver)))
		return EFAULT;
	ret = object_find(uc->file, UVERBS_OBJECT_PD, cmd->pd_handle, pd);
	if (ret)
		return ret;
	if (cmd->mw_type != TYPE_1 && cmd->mw_type != TYPE_2)
		return EINVAL;
	return driver->comp_mask || driver->reserved1 || driver->reserved2 ? EOPNOTSUPP : 0;
}

static int mw_respond(struct uverbs_call *uc, const struct uverbs_mw *mw)
{
	struct ib_uverbs_alloc_mw_resp resp = { .mw_handle = mw->base.handle, .rkey = mw->key };

	return uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static int mw_alloc(struct uverbs_call *uc)
{
	struct ib_uverbs_alloc_mw cmd;
	struct mlx5_ib_alloc_mw driver;
	struct uverbs_pd *pd;
	struct uverbs_mw *mw;
	int ret = check_request(uc, &cmd, &driver, &pd);

	if (!ret)
		ret = object_new(sizeof(*mw), uc->file, UVERBS_OBJECT_MW, mw_destroy, &mw);
	if (ret)
		return ret;
	mw->pd = pd;
	ret = create_mkey(uc->adapter, cmd.mw_type, driver.num_klms, mw);
	if (ret) {
		object_free(&mw->base);
		return ret;
	}
	pd->base.users++;
	ret = uc_publish(uc, &mw->base);
	if (ret)
		return ret;
	ret = mw_respond(uc, mw);
	if (ret)
		object_destroy(&mw->base, uc->tid);
	return ret;
}

static int mw_dealloc_write(struct uverbs_call *uc)
{
	return uc_destroy_by_handle(uc, UVERBS_OBJECT_MW);
}

static int mw_dealloc(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_MW_HANDLE), uc->tid);
}

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_MW_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_MW },
};

static const struct uverbs_method method_table[] = {
	METHOD("MW_DESTROY", UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, mw_dealloc, destroy_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "ALLOC_MW", IB_USER_VERBS_CMD_ALLOC_MW, sizeof(struct ib_uverbs_alloc_mw),
	  sizeof(struct ib_uverbs_alloc_mw_resp), mw_alloc },
	{ "DEALLOC_MW", IB_USER_VERBS_CMD_DEALLOC_MW, sizeof(struct ib_uverbs_dealloc_mw), 0,
	  mw_dealloc_write },
};

const struct uverbs_methods mw_methods = METHODS(method_table);
const struct uverbs_writes mw_writes = METHODS(write_table);
