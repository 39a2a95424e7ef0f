/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ah.c - address handles.
 *
 * The library makes the address vector itself; the kernel checks it and, on RoCE, resolves the MAC
 * address.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/uverbs/objects.h"

struct uverbs_ah {
	struct object base;
	struct uverbs_pd *pd;
};

static int ah_destroy(struct object *object, pid_t tid)
{
	struct uverbs_ah *ah = (struct uverbs_ah *)object;

	(void)tid;
	ah->pd->base.users--;
	return 0;
}

static int check_address(struct uverbs_call *uc, const struct ib_uverbs_ah_attr *attr)
{
	struct gid_entry gid;

	if (!attr->is_global)
		return adapter_is_roce(uc->adapter) ? EINVAL : 0;
	return adapter_query_gid(uc->adapter, attr->port_num, attr->grh.sgid_index, &gid);
}

/* Returns the MAC address before creating anything, as a program without space for it cannot use
 * the handle. */
static int respond_mac(struct uverbs_call *uc, const struct ib_uverbs_ah_attr *attr)
{
	struct mlx5_ib_create_ah_resp driver = {
		.response_length =
			offsetof(struct mlx5_ib_create_ah_resp, dmac) + sizeof(driver.dmac),
	};

	if (!adapter_is_roce(uc->adapter))
		return 0;
	if (uc_len(uc, UVERBS_ATTR_UHW_OUT) < driver.response_length)
		return EINVAL;
	roce_resolve(attr->grh.dgid, driver.dmac);
	return uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, driver.response_length);
}

static int check_request(struct uverbs_call *uc, struct ib_uverbs_create_ah *cmd,
			 struct uverbs_pd **pd)
{
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, cmd, sizeof(*cmd)))
		return EFAULT;
	if (cmd->attr.port_num < 1 || cmd->attr.port_num > uc->adapter->num_ports)
		return EINVAL;
	ret = object_find(uc->file, UVERBS_OBJECT_PD, cmd->pd_handle, pd);
	if (!ret)
		ret = check_address(uc, &cmd->attr);
	return ret ? ret : respond_mac(uc, &cmd->attr);
}

static int ah_create(struct uverbs_call *uc)
{
	struct ib_uverbs_create_ah_resp resp;
	struct ib_uverbs_create_ah cmd;
	struct uverbs_ah *ah;
	struct uverbs_pd *pd;
	int ret = check_request(uc, &cmd, &pd);

	if (!ret)
		ret = object_new(sizeof(*ah), uc->file, UVERBS_OBJECT_AH, ah_destroy, &ah);
	if (ret)
		return ret;
	ah->pd = pd;
	pd->base.users++;
	ret = uc_publish(uc, &ah->base);
	if (ret)
		return ret;
	resp.ah_handle = ah->base.handle;
	ret = uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (ret)
		object_destroy(&ah->base, uc->tid);
	return ret;
}

static int ah_remove_write(struct uverbs_call *uc)
{
	return uc_destroy_by_handle(uc, UVERBS_OBJECT_AH);
}

static int ah_remove(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_AH_HANDLE), uc->tid);
}

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_AH_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_AH },
};

static const struct uverbs_method method_table[] = {
	METHOD("AH_DESTROY", UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, ah_remove, destroy_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "CREATE_AH", IB_USER_VERBS_CMD_CREATE_AH, sizeof(struct ib_uverbs_create_ah),
	  sizeof(struct ib_uverbs_create_ah_resp), ah_create },
	{ "DESTROY_AH", IB_USER_VERBS_CMD_DESTROY_AH, sizeof(struct ib_uverbs_destroy_ah), 0,
	  ah_remove_write },
};

const struct uverbs_methods ah_methods = METHODS(method_table);
const struct uverbs_writes ah_writes = METHODS(write_table);
