/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pd.c - protection domains.
 */
#include <errno.h>
#include <stddef.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/cmd.h"
#include "softhca/front/process/uverbs/objects.h"

static int pd_destroy(struct object *object, pid_t tid)
{
	struct uverbs_pd *pd = (struct uverbs_pd *)object;

	(void)tid;
	return adapter_release(object->file->adapter, PRM_OP_DEALLOC_PD, pd->pdn);
}

static int pd_respond(struct uverbs_call *uc, const struct uverbs_pd *pd)
{
	struct ib_uverbs_alloc_pd_resp resp = { .pd_handle = pd->base.handle };
	struct mlx5_ib_alloc_pd_resp driver = { .pdn = pd->pdn };

	if (!uc_attr(uc, UVERBS_ATTR_UHW_OUT) ||
	    uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp)) ||
	    uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver)))
		return EFAULT;
	return 0;
}

static int pd_alloc(struct uverbs_call *uc)
{
	struct uverbs_pd *pd;
	int ret = object_new(sizeof(*pd), uc->file, UVERBS_OBJECT_PD, pd_destroy, &pd);

	if (ret)
		return ret;
	ret = adapter_allocate(uc->adapter, PRM_OP_ALLOC_PD, &pd->pdn);
	if (ret) {
		object_free(&pd->base);
		return ret;
	}
	ret = uc_publish(uc, &pd->base);
	if (ret)
		return ret;
	ret = pd_respond(uc, pd);
	if (ret)
		object_destroy(&pd->base, uc->tid);
	return ret;
}

static int pd_dealloc(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_PD_HANDLE), uc->tid);
}

static int pd_dealloc_write(struct uverbs_call *uc)
{
	return uc_destroy_by_handle(uc, UVERBS_OBJECT_PD);
}

static int pd_query(struct uverbs_call *uc)
{
	const struct uverbs_pd *pd = uc_object(uc, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return uc_out(uc, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &pd->pdn, sizeof(pd->pdn));
}

static const struct uverbs_attr dealloc_attrs[] = {
	{ UVERBS_ATTR_DESTROY_PD_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
};

static const struct uverbs_attr query_attrs[] = {
	{ MLX5_IB_ATTR_QUERY_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ MLX5_IB_ATTR_QUERY_PD_RESP_PDN, ATTR_OUT, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("PD_DESTROY", UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, pd_dealloc, dealloc_attrs),
	METHOD("PD_QUERY", UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, pd_query, query_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "ALLOC_PD", IB_USER_VERBS_CMD_ALLOC_PD, sizeof(struct ib_uverbs_alloc_pd),
	  sizeof(struct ib_uverbs_alloc_pd_resp), pd_alloc },
	{ "DEALLOC_PD", IB_USER_VERBS_CMD_DEALLOC_PD, sizeof(struct ib_uverbs_dealloc_pd), 0,
	  pd_dealloc_write },
};

const struct uverbs_methods pd_methods = METHODS(method_table);
const struct uverbs_writes pd_writes = METHODS(write_table);
