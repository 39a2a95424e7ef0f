/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrcd.c - XRC domains, and XRC target QPs that other programs open.
 *
 * Programs that open a domain with the same file, by whatever name, share it; it is destroyed with
 * the last of them. A domain without a file is private.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "softhca/front/process/uverbs/objects.h"

struct xrc_domain {
	LIST_ENTRY(xrc_domain) in_all;
	struct adapter *adapter;
	bool has_file;
	dev_t dev;
	ino_t ino;
	unsigned int users;
	uint32_t n;
	LIST_HEAD(, real_qp) targets;
};

static LIST_HEAD(, xrc_domain) domains = LIST_HEAD_INITIALIZER(domains);

uint32_t xrc_domain_number(const struct xrc_domain *domain)
{
	return domain->n;
}

void xrc_domain_add_qp(struct xrc_domain *domain, struct real_qp *real)
{
	LIST_INSERT_HEAD(&domain->targets, real, in_domain);
}

static struct xrc_domain *find_domain(const struct adapter *adapter, const struct stat *st)
{
	struct xrc_domain *domain;

	LIST_FOREACH(domain, &domains, in_all)
		if (domain->adapter == adapter && domain->has_file && domain->ino == st->st_ino &&
		    domain->dev == st->st_dev)
			return domain;
	return NULL;
}

static int new_domain(struct adapter *adapter, const struct stat *st, struct xrc_domain **out)
{
	struct xrc_domain *domain = calloc(1, sizeof(*domain));
	int ret;

	if (!domain)
		return ENOMEM;
	ret = adapter_allocate(adapter, (enum prm_opcode)PRM_OP_ALLOC_XRCD, &domain->n);
	if (ret) {
		free(domain);
		return ret;
	}
	domain->adapter = adapter;
	domain->has_file = st;
	if (st) {
		domain->dev = st->st_dev;
		domain->ino = st->st_ino;
	}
	LIST_INIT(&domain->targets);
	LIST_INSERT_HEAD(&domains, domain, in_all);
	*out = domain;
	return 0;
}

static int domain_put(struct xrc_domain *domain)
{
	int ret;

	if (domain->users > 1) {
		domain->users--;
		return 0;
	}
	ret = adapter_release(domain->adapter, (enum prm_opcode)PRM_OP_DEALLOC_XRCD, domain->n);
	if (ret)
		return ret;
	LIST_REMOVE(domain, in_all);
	free(domain);
	return 0;
}

static int xrcd_destroy(struct object *object, pid_t tid)
{
	(void)tid;
	return domain_put(((struct uverbs_xrcd *)object)->domain);
}

/* Finds the domain of the file that the program names, or makes a new one. The caller counts itself
 * as user. */
static int pick_domain(struct uverbs_call *uc, const struct ib_uverbs_open_xrcd *cmd,
		       struct xrc_domain **domain)
{
	struct stat st;

	if (cmd->fd == (uint32_t)-1)
		return new_domain(uc->adapter, NULL, domain);
	if (client_fd_stat(uc->tid, cmd->fd, &st))
		return EBADF;
	*domain = find_domain(uc->adapter, &st);
	if (!*domain && !(cmd->oflags & O_CREAT))
		return EAGAIN;
	if (*domain)
		return cmd->oflags & O_EXCL ? EINVAL : 0;
	return new_domain(uc->adapter, &st, domain);
}

static int xrcd_open(struct uverbs_call *uc)
{
	struct ib_uverbs_open_xrcd_resp resp = { 0 };
	struct ib_uverbs_open_xrcd cmd;
	struct uverbs_xrcd *xrcd;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (!adapter_cap(uc->adapter, HCA_CAP_XRC))
		return EOPNOTSUPP;
	ret = object_new(sizeof(*xrcd), uc->file, UVERBS_OBJECT_XRCD, xrcd_destroy, &xrcd);
	if (ret)
		return ret;
	ret = pick_domain(uc, &cmd, &xrcd->domain);
	if (ret) {
		object_free(&xrcd->base);
		return ret;
	}
	xrcd->domain->users++;
	ret = uc_publish(uc, &xrcd->base);
	if (ret)
		return ret;
	resp.xrcd_handle = xrcd->base.handle;
	ret = uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (ret)
		object_destroy(&xrcd->base, uc->tid);
	return ret;
}

static int xrcd_close_write(struct uverbs_call *uc)
{
	return uc_destroy_by_handle(uc, UVERBS_OBJECT_XRCD);
}

static int xrcd_close(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_XRCD_HANDLE), uc->tid);
}

static struct real_qp *find_target(const struct xrc_domain *domain, uint32_t qpn)
{
	struct real_qp *real;

	LIST_FOREACH(real, &domain->targets, in_domain)
		if (real->qpn == qpn)
			return real;
	return NULL;
}

static int qp_open(struct uverbs_call *uc)
{
	struct ib_uverbs_create_qp_resp resp = { 0 };
	struct ib_uverbs_open_qp cmd;
	struct uverbs_xrcd *xrcd;
	struct real_qp *real;
	struct uverbs_qp *qp;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (object_find(uc->file, UVERBS_OBJECT_XRCD, cmd.pd_handle, &xrcd))
		return EINVAL;
	real = find_target(xrcd->domain, cmd.qpn);
	if (cmd.qp_type != IB_UVERBS_QPT_XRC_TGT || !real)
		return EINVAL;
	ret = qp_reopen(uc, xrcd, real, cmd.user_handle, &qp);
	if (ret)
		return ret;
	resp.qp_handle = qp->base.handle;
	resp.qpn = real->qpn;
	ret = uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	if (ret)
		object_destroy(&qp->base, uc->tid);
	return ret;
}

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_XRCD_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_XRCD },
};

static const struct uverbs_method method_table[] = {
	METHOD("XRCD_DESTROY", UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, xrcd_close,
	       destroy_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "OPEN_XRCD", IB_USER_VERBS_CMD_OPEN_XRCD, sizeof(struct ib_uverbs_open_xrcd),
	  sizeof(struct ib_uverbs_open_xrcd_resp), xrcd_open },
	{ "CLOSE_XRCD", IB_USER_VERBS_CMD_CLOSE_XRCD, sizeof(struct ib_uverbs_close_xrcd), 0,
	  xrcd_close_write },
	{ "OPEN_QP", IB_USER_VERBS_CMD_OPEN_QP, sizeof(struct ib_uverbs_open_qp),
	  sizeof(struct ib_uverbs_create_qp_resp), qp_open },
};

const struct uverbs_methods xrcd_methods = METHODS(method_table);
const struct uverbs_writes xrcd_writes = METHODS(write_table);
