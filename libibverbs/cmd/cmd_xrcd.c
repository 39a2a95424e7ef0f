/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_xrcd.c - commands on XRC domains. Processes share a domain by the inode of a descriptor.
 */
#include "cmd/cmd.h"

#include <string.h>

static int check_init_attr(const struct ibv_xrcd_init_attr *attr)
{
	const uint32_t needed = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;

	if (attr->comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED) {
		verbs_warn("ibv_open_xrcd: comp_mask 0x%x: no bit above 0x%x has a meaning",
			   attr->comp_mask, IBV_XRCD_INIT_ATTR_RESERVED - 1);
		return EOPNOTSUPP;
	}
	if ((attr->comp_mask & needed) != needed) {
		verbs_warn("ibv_open_xrcd: comp_mask 0x%x: must have IBV_XRCD_INIT_ATTR_FD and "
			   "_OFLAGS",
			   attr->comp_mask);
		return EINVAL;
	}
	return 0;
}

static const char *open_rule(int err)
{
	switch (err) {
	case EAGAIN:
		return ": the file names no domain yet, and oflags lacks O_CREAT";
	case EINVAL:
		return ": the file names a domain already, and oflags has O_EXCL";
	case EBADF:
		return ": fd must be an open file, or -1 for a domain of this process alone";
	default:
		return "";
	}
}

VERBS_EXPORT int verbs_cmd_open_xrcd(struct ibv_context *context,
				     const struct ibv_xrcd_init_attr *attr,
				     struct verbs_xrcd *vxrcd, const struct verbs_udata *udata)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ib_uverbs_open_xrcd req;
	int ret = check_init_attr(attr);

	if (ret)
		return ret;
	req = (struct ib_uverbs_open_xrcd){
		.fd = (uint32_t)attr->fd,
		.oflags = (uint32_t)attr->oflags,
	};
	ret = verbs_cmd_run_write(context, IB_USER_VERBS_CMD_OPEN_XRCD, &req, sizeof(req), &resp,
				  sizeof(resp), udata);
	if (ret) {
		verbs_warn("ibv_open_xrcd: fd %d oflags 0%o: %s%s", attr->fd, attr->oflags,
			   strerror(ret), open_rule(ret));
		return ret;
	}
	vxrcd->xrcd.context = context;
	vxrcd->handle = resp.xrcd_handle;
	return 0;
}

VERBS_EXPORT int verbs_cmd_close_xrcd(struct verbs_xrcd *vxrcd)
{
	int ret = verbs_cmd_destroy(vxrcd->xrcd.context, UVERBS_OBJECT_XRCD,
				    UVERBS_METHOD_XRCD_DESTROY, UVERBS_ATTR_DESTROY_XRCD_HANDLE,
				    vxrcd->handle);

	if (ret)
		verbs_warn("ibv_close_xrcd: XRC domain %u: %s%s", vxrcd->handle, strerror(ret),
			   ret == EBUSY ? ": destroy its SRQs and QPs first" : "");
	return ret;
}
