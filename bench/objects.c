/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - the costs of opening a device and creating objects: kernel calls and bytes, and
 * microseconds for the device.
 *
 * kernel_calls.h counts. Bytes are those of the heap and of private mappings that the libraries
 * made, for each of COUNT objects. The time to open a device includes softhca's answers. The time
 * to create objects would be little else than those answers, so it is left out.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "tests/lib/kernel/kernel_calls.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define COUNT 1024 /* objects of each kind */
#define OPENS 51

static void print_figure(const char *object, const char *what, double value)
{
	printf("%s: %s\t%.1f\n", object, what, value);
}

/* Prints an empty row. Each library prints the same rows, so that outputs can be put side by
 * side. */
static void print_absent(const char *object, const char *what)
{
	printf("%s: %s\tabsent\n", object, what);
}

static struct ibv_context *measure_open(void)
{
	static double us[OPENS];
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	MUST(list && list[0]);
	for (int i = 0; i < OPENS; i++) {
		double start = now_us();

		MUST(ctx = ibv_open_device(list[0]));
		us[i] = now_us() - start;
		MUST(!ibv_close_device(ctx));
	}
	print_figure("open", "microseconds", median(us, OPENS));
	long ioctls = kernel_calls.ioctls, pages = kernel_calls.shared_pages;
	long calls = kernel_calls.all;
	long bytes = kernel_calls_bytes_in_use();

	MUST(ctx = ibv_open_device(list[0]));
	print_figure("open", "ioctls", kernel_calls.ioctls - ioctls);
	print_figure("open", "calls of the kernel", kernel_calls.all - calls);
	print_figure("open", "doorbell pages mapped", kernel_calls.shared_pages - pages);
	print_figure("open", "bytes", kernel_calls_bytes_in_use() - bytes);
	ibv_free_device_list(list);
	return ctx;
}

struct parents {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	uint8_t *buf;
};

static void *create_pd(const struct parents *p)
{
	return ibv_alloc_pd(p->ctx);
}

static void destroy_pd(void *pd)
{
	MUST(!ibv_dealloc_pd(pd));
}

static void *create_mr(const struct parents *p)
{
	return ibv_reg_mr(p->pd, p->buf, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static void destroy_mr(void *mr)
{
	MUST(!ibv_dereg_mr(mr));
}

static void *create_cq(const struct parents *p)
{
	return ibv_create_cq(p->ctx, 63, NULL, NULL, 0);
}

static void destroy_cq(void *cq)
{
	MUST(!ibv_destroy_cq(cq));
}

static void *create_srq(const struct parents *p)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 31, .max_sge = 1 } };

	return ibv_create_srq(p->pd, &attr);
}

static void destroy_srq(void *srq)
{
	MUST(!ibv_destroy_srq(srq));
}

static void *create_qp(const struct parents *p)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(p->pd, &attr);
}

/* Creates a QP for few operations, so that its WQEs need no room for others. */
static void *create_qp_for_ops(const struct parents *p)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = p->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
	};

	return ibv_create_qp_ex(p->ctx, &attr);
}

static void destroy_qp(void *qp)
{
	MUST(!ibv_destroy_qp(qp));
}

/* Objects that a program creates together, as a library may put their rings side by side. */
struct together {
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
};

static struct together *create_together(const struct parents *p, bool with_srq)
{
	static struct together sets[COUNT];
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct together *set = sets;

	while (set->qp)
		set++;
	set->cq = with_srq ? NULL : ibv_create_cq(p->ctx, 15, NULL, NULL, 0);
	set->srq = with_srq ? create_srq(p) : NULL;
	MUST(set->cq || set->srq);
	attr.send_cq = attr.recv_cq = with_srq ? p->cq : set->cq;
	attr.srq = set->srq;
	MUST(set->qp = ibv_create_qp(p->pd, &attr));
	return set;
}

static void *create_cq_and_qp(const struct parents *p)
{
	return create_together(p, false);
}

static void *create_srq_and_qp(const struct parents *p)
{
	return create_together(p, true);
}

static void destroy_together(void *object)
{
	struct together *set = object;

	MUST(!ibv_destroy_qp(set->qp));
	MUST(!set->srq || !ibv_destroy_srq(set->srq));
	MUST(!set->cq || !ibv_destroy_cq(set->cq));
	set->qp = NULL;
}

static const struct kind {
	const char *name;
	void *(*create)(const struct parents *p);
	void (*destroy)(void *object);
} kinds[] = {
	{ "PD", create_pd, destroy_pd },
	{ "MR", create_mr, destroy_mr },
	{ "CQ of 63 entries", create_cq, destroy_cq },
	{ "SRQ of 31 requests", create_srq, destroy_srq },
	{ "RC QP of 8 and 8 requests", create_qp, destroy_qp },
	{ "the same, SEND and WRITE only", create_qp_for_ops, destroy_qp },
	{ "CQ of 15 and RC QP of 8 and 8", create_cq_and_qp, destroy_together },
	{ "SRQ of 31 and RC QP of 8", create_srq_and_qp, destroy_together },
};

/* Returns whether the library offers the object. It fails with EOPNOTSUPP, or in older libraries
 * EINVAL, if not. */
static bool is_offered(const struct parents *p, const struct kind *kind)
{
	void *object = kind->create(p);

	MUST(object || errno == EOPNOTSUPP || errno == EINVAL);
	if (object)
		/* not counted, as the first object also pays for what stays */
		kind->destroy(object);
	return object;
}

static void measure_kind(const struct parents *p, const struct kind *kind)
{
	void *objects[COUNT];
	long ioctls, calls, bytes;

	if (!is_offered(p, kind)) {
		print_absent(kind->name, "bytes");
		print_absent(kind->name, "ioctls");
		print_absent(kind->name, "calls of the kernel");
		return;
	}
	objects[0] = kind->create(p);
	ioctls = kernel_calls.ioctls;
	calls = kernel_calls.all;
	bytes = kernel_calls_bytes_in_use();
	for (int i = 1; i < COUNT; i++)
		MUST(objects[i] = kind->create(p));
	print_figure(kind->name, "bytes",
		     (double)(kernel_calls_bytes_in_use() - bytes) / (COUNT - 1));
	print_figure(kind->name, "ioctls", (double)(kernel_calls.ioctls - ioctls) / (COUNT - 1));
	print_figure(kind->name, "calls of the kernel",
		     (double)(kernel_calls.all - calls) / (COUNT - 1));
	for (int i = 0; i < COUNT; i++)
		kind->destroy(objects[i]);
}

static void print_library(const void *function)
{
	Dl_info info;

	MUST(dladdr(function, &info));
	printf("%s\n", info.dli_fname);
}

static int print_libraries(void)
{
	struct rig rig;

	rig_open(&rig);
	print_library(dlsym(RTLD_NEXT, "ibv_open_device"));
	print_library((const void *)rig.ctx->ops.poll_cq);
	rig_close(&rig);
	return 0;
}

int main(int argc, char **argv)
{
	struct parents p;

	if (argc == 2 && !strcmp(argv[1], "--libraries"))
		return print_libraries();
	p.ctx = measure_open();
	MUST(p.pd = ibv_alloc_pd(p.ctx));
	MUST(p.cq = ibv_create_cq(p.ctx, 63, NULL, NULL, 0));
	MUST(p.buf = aligned_alloc(4096, 4096));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		measure_kind(&p, &kinds[i]);
	MUST(!ibv_destroy_cq(p.cq));
	MUST(!ibv_dealloc_pd(p.pd));
	MUST(!ibv_close_device(p.ctx));
	free(p.buf);
	return 0;
}
