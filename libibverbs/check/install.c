/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * install.c - the checker's functions for the tables of a context, and what a fork() changes.
 */
#include "check.h"

#include "util/alloc.h"

#include <pthread.h>

static const struct verbs_ops checks = {
	.poll_cq = verbs_check_poll_cq,
	.req_notify_cq = verbs_check_req_notify_cq,
	.post_send = verbs_check_post_send,
	.post_recv = verbs_check_post_recv,
	.post_srq_recv = verbs_check_post_srq_recv,
	.reg_mr = verbs_check_reg_mr,
	.reg_dmabuf_mr = verbs_check_reg_dmabuf_mr,
	.reg_mr_ex = verbs_check_reg_mr_ex,
	.rereg_mr = verbs_check_rereg_mr,
	.dereg_mr = verbs_check_dereg_mr,
	.import_mr = verbs_check_import_mr,
	.unimport_mr = verbs_check_unimport_mr,
	.reg_dm_mr = verbs_check_reg_dm_mr,
	.alloc_pd = verbs_check_alloc_pd,
	.dealloc_pd = verbs_check_dealloc_pd,
	.alloc_parent_domain = verbs_check_alloc_parent_domain,
	.create_ah = verbs_check_create_ah,
	.destroy_ah = verbs_check_destroy_ah,
	.create_srq = verbs_check_create_srq,
	.destroy_srq = verbs_check_destroy_srq,
	.create_cq = verbs_check_create_cq,
	.destroy_cq = verbs_check_destroy_cq,
	.modify_qp = verbs_check_modify_qp,
	.create_qp = verbs_check_create_qp,
	.destroy_qp = verbs_check_destroy_qp,
};

static struct check_context *contexts;

static void before_fork(void)
{
	verbs_check_before_fork();
	verbs_check_lock();
}

static void forked(void)
{
	verbs_check_forked();
	verbs_check_request_forked();
	verbs_check_status_forked();
	verbs_check_lock_forked();
}

static void forks_watch(void)
{
	pthread_atfork(before_fork, verbs_check_unlock, forked);
}

const struct verbs_ops *verbs_check_context(struct verbs_context *vctx)
{
	struct verbs_ex_private *priv = vctx->priv;
	struct check_context *check = calloc_for("ibv_open_device", 1, sizeof(*check));
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!check)
		return NULL;
	pthread_once(&once, forks_watch);
	verbs_check_status_start(vctx->context.device);
	check->real = priv->ops;
	check->process = verbs_check_process();
	verbs_check_lock();
	check->next = contexts;
	contexts = check;
	verbs_check_unlock();
	priv->check = check;
	return &checks;
}
