/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gone.c - an adapter that vanishes while a program has objects on it: the kernel answers each
 * command of an open file with EIO from then on. With RDMAV_ALLOW_DISASSOC_DESTROY=1 objects are
 * destroyed nevertheless. The output is the same on either library.
 *
 * Covers: foreign/, libibverbs/discovery/foreign_calls.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

static bool is_gone;

static bool is_device(int fd)
{
	char link[32], path[64] = { 0 };

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && strstr(path, "/uverbs");
}

/* In front of the C library's, for the libraries */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, void *) =
		(int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (is_gone && request == RDMA_VERBS_IOCTL) {
		errno = EIO;
		return -1;
	}
	return real(fd, request, arg);
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *buf, size_t count)
{
	ssize_t (*real)(int, const void *, size_t) =
		(ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");

	if (is_gone && is_device(fd)) {
		errno = EIO;
		return -1;
	}
	return real(fd, buf, count);
}

static void use_gone(struct rig *rig, struct ibv_pd *pd, struct rig_end *end)
{
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port_attr;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	SAY_PTR(ibv_alloc_pd(rig->ctx), "PD");
	SAY_PTR(ibv_create_cq(rig->ctx, 4, NULL, NULL, 0), "CQ");
	SAY_PTR(ibv_reg_mr(pd, &attr, sizeof(attr), 0), "MR");
	SAY_RET(ibv_query_device(rig->ctx, &device_attr), "query device");
	SAY_RET(ibv_query_port(rig->ctx, 1, &port_attr), "query port");
	SAY_RET(ibv_modify_qp(end->qp, &attr, IBV_QP_STATE), "modify QP");
	SAY_RET(ibv_query_qp(end->qp, &attr, IBV_QP_STATE, &init_attr), "query QP");
}

static void destroy_gone(struct rig *rig, struct ibv_pd *pd, struct rig_end *end)
{
	const bool is_allowed = getenv("RDMAV_ALLOW_DISASSOC_DESTROY");
	int failed = 0;

	failed += !!SAY_RET(ibv_destroy_qp(end->qp), "destroy QP");
	failed += !!SAY_RET(ibv_dereg_mr(end->mr), "deregister MR");
	failed += !!SAY_RET(ibv_destroy_cq(end->cq), "destroy CQ");
	failed += !!SAY_RET(ibv_dealloc_pd(pd), "free PD");
	say_check(failed == (is_allowed ? 0 : 4), "what is gone is destroyed if that is allowed");
	SAY_RET(ibv_close_device(rig->ctx), "close");
}

static void vanish(void)
{
	const struct rig_conf conf = rig_conf_default();
	struct rig_end end;
	struct ibv_pd *pd;
	struct rig rig;

	rig_open(&rig);
	pd = ibv_alloc_pd(rig.ctx);
	MUST(pd);
	rig_end_open(pd, &conf, &end);
	is_gone = true;
	use_gone(&rig, pd, &end);
	destroy_gone(&rig, pd, &end);
}

static const struct topic topics[] = { { "vanish", vanish } };

int main(int argc, char **argv)
{
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
