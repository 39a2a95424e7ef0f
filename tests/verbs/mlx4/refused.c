/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * refused.c - ioctls that mlx4_ib refuses, or interprets in its own way: softhca as
 * ConnectX-3's kernel driver must do the same. The program makes the ioctls itself. Each refused
 * call has a similar one that succeeds.
 *
 * Covers: softhca/front/process/uverbs/mlx4/mlx4.c, softhca/front/process/uverbs/mlx4/wq.c,
 * softhca/front/process/uverbs/mlx4/flow.c
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx4-abi.h>

#include "prm/mlx4/cqe.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum {
	MLX4_DRIVER = 2,
	PAGE = 4096,
	INVOKE_WRITE = 0,
	LARGE_CQE = 64,
};

static struct ibv_context *ctx;
static uint8_t memory[16 * PAGE] __attribute__((aligned(PAGE))); /* for any queue of these, */
static uint32_t record[2] __attribute__((aligned(8)));           /* and its doorbell record */

static int command_run(uint16_t object, uint16_t method, struct ib_uverbs_attr *attrs, uint16_t n)
{
	const struct uverbs_request_header command = { .object_id = object,
						       .method_id = method,
						       .driver_id = MLX4_DRIVER };

	return uverbs_request_run(ctx->cmd_fd, &command, attrs, n);
}

static struct ib_uverbs_attr handle_in(uint16_t id, uint32_t handle)
{
	struct ib_uverbs_attr attr = uverbs_attr_in(id, 0, NULL);

	attr.data = handle;
	return attr;
}

/* Runs a command of the former write() interface. DRIVER may be NULL. */
static int run_written(uint64_t command, const void *in, uint16_t in_len, void *out,
		       uint16_t out_len, const void *driver, uint16_t driver_len)
{
	struct ib_uverbs_attr attrs[] = {
		uverbs_attr_in(UVERBS_ATTR_WRITE_CMD, sizeof(command), &command),
		uverbs_attr_in(UVERBS_ATTR_CORE_IN, in_len, in),
		uverbs_attr_out(UVERBS_ATTR_CORE_OUT, out_len, out),
		uverbs_attr_in(UVERBS_ATTR_UHW_IN, driver_len, driver),
	};
	uint16_t n = 2;

	if (out)
		n = 3;
	if (driver)
		attrs[n++] = attrs[3];
	return command_run(UVERBS_OBJECT_DEVICE, INVOKE_WRITE, attrs, n);
}

static void expect_errno(int ret, int want, const char *what)
{
	say_check(ret == want, "%s: %s", what, say_errno(ret));
}

static void destroy_cq(uint32_t handle)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_uverbs_attr attrs[] = {
		handle_in(UVERBS_ATTR_DESTROY_CQ_HANDLE, handle),
		uverbs_attr_out(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(resp), &resp),
	};

	MUST(!command_run(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, attrs, ARRAY_SIZE(attrs)));
}

static int try_cq(uint32_t cqe, uint32_t flags)
{
	const struct mlx4_ib_create_cq driver = { .buf_addr = (uintptr_t)memory,
						  .db_addr = (uintptr_t)record };
	const uint64_t user = 0;
	const uint32_t vector = 0;
	struct mlx4_ib_create_cq_resp resp;
	uint32_t got;
	struct ib_uverbs_attr attrs[] = {
		handle_in(UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_CQE, sizeof(cqe), &cqe),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, sizeof(user), &user),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, sizeof(vector), &vector),
		uverbs_attr_in(UVERBS_ATTR_CREATE_CQ_FLAGS, sizeof(flags), &flags),
		uverbs_attr_out(UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(got), &got),
		uverbs_attr_in(UVERBS_ATTR_UHW_IN, sizeof(driver), &driver),
		uverbs_attr_out(UVERBS_ATTR_UHW_OUT, sizeof(resp), &resp),
	};
	int ret = command_run(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, attrs, ARRAY_SIZE(attrs));

	if (!ret)
		destroy_cq((uint32_t)attrs[0].data);
	return ret;
}

static void cqs(struct rig *rig)
{
	(void)rig;
	expect_errno(try_cq(1, 0), 0, "one entry");
	expect_errno(try_cq(0, 0), EINVAL, "no entry");
	expect_errno(try_cq(1, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION), 0, "timestamps");
	expect_errno(try_cq(1, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN), EINVAL, "overruns");
}

/* A QP of CQ is flushed of a receive. Returns its number. */
static uint32_t flushed_qp(struct rig *rig, struct ibv_pd *pd, struct ibv_cq *cq)
{
	const struct rig_conf conf = rig_conf_default();
	struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct ibv_qp *qp = rig_qp_create(pd, &conf, cq);
	uint32_t qpn;

	MUST(qp);
	rig_qp_to(rig, &conf, qp, 0, IBV_QPS_INIT);
	MUST(!ibv_modify_qp(qp, &error, IBV_QP_STATE));
	MUST(!ibv_post_recv(qp, &wr, &bad));
	rig_settle();
	qpn = qp->qp_num;
	MUST(!ibv_destroy_qp(qp));
	return qpn;
}

/* Returns the number of the QP that a CQE in memory at OFFSET is for. */
static uint32_t qpn_at(size_t offset)
{
	return fld_get(memory + offset + LARGE_CQE - M4_CQE_SIZE, M4_CQE_QPN);
}

/* The adapter gets page addresses, so a ring begins at the start of a page, whatever its address
 * was. After a resize, the CQ's next completion is the second CQE of the new ring. */
static void rings(struct rig *rig)
{
	enum { OFFSET = PAGE / 4, CQE = 31 };
	const struct mlx4_ib_resize_cq driver = { .buf_addr = (uintptr_t)memory + OFFSET };
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 15, NULL, NULL, 0);
	struct ib_uverbs_resize_cq_resp resp;
	struct ib_uverbs_resize_cq resize = { .cqe = CQE };
	uint32_t qpn;

	MUST(pd && cq);
	resize.cq_handle = cq->handle;
	MUST(!run_written(IB_USER_VERBS_CMD_RESIZE_CQ, &resize, sizeof(resize), &resp, sizeof(resp),
			  &driver, sizeof(driver)));
	qpn = flushed_qp(rig, pd, cq);
	say_check(qpn_at(LARGE_CQE) == qpn, "a CQE is in the ring's page");
	say_check(qpn_at(OFFSET + LARGE_CQE) != qpn, "and not where it was said");
	MUST(!ibv_destroy_cq(cq));
	MUST(!ibv_dealloc_pd(pd));
}

struct asked {
	struct ib_uverbs_qp_cap cap;
	uint32_t type, flags;
	uint8_t log_slots, log_slot;
	uint32_t inline_receive; /* bytes */
};

static void destroy_qp(uint32_t handle)
{
	struct ib_uverbs_destroy_qp_resp resp;
	struct ib_uverbs_attr attrs[] = {
		handle_in(UVERBS_ATTR_DESTROY_QP_HANDLE, handle),
		uverbs_attr_out(UVERBS_ATTR_DESTROY_QP_RESP, sizeof(resp), &resp),
	};

	MUST(!command_run(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, attrs, ARRAY_SIZE(attrs)));
}

/* SRQ may be NULL. */
static int try_qp(const struct asked *asked, struct ibv_pd *pd, struct ibv_cq *cq,
		  struct ibv_srq *srq)
{
	const struct mlx4_ib_create_qp driver = { .buf_addr = (uintptr_t)memory,
						  .db_addr = (uintptr_t)record,
						  .log_sq_bb_count = asked->log_slots,
						  .log_sq_stride = asked->log_slot,
						  .inl_recv_sz = asked->inline_receive };
	const uint64_t user = 0, type = asked->type;
	struct ib_uverbs_qp_cap got;
	uint32_t qpn;
	struct ib_uverbs_attr attrs[] = {
		handle_in(UVERBS_ATTR_CREATE_QP_HANDLE, 0),
		handle_in(UVERBS_ATTR_CREATE_QP_PD_HANDLE, pd->handle),
		handle_in(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq->handle),
		handle_in(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, cq->handle),
		uverbs_attr_in(UVERBS_ATTR_CREATE_QP_USER_HANDLE, sizeof(user), &user),
		uverbs_attr_in(UVERBS_ATTR_CREATE_QP_CAP, sizeof(asked->cap), &asked->cap),
		uverbs_attr_in(UVERBS_ATTR_CREATE_QP_TYPE, sizeof(type), &type),
		uverbs_attr_in(UVERBS_ATTR_CREATE_QP_FLAGS, sizeof(asked->flags), &asked->flags),
		uverbs_attr_out(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(got), &got),
		uverbs_attr_out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, sizeof(qpn), &qpn),
		uverbs_attr_in(UVERBS_ATTR_UHW_IN, sizeof(driver), &driver),
		handle_in(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, srq ? srq->handle : 0),
	};
	int ret = command_run(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, attrs,
			      (uint16_t)(ARRAY_SIZE(attrs) - !srq));

	if (!ret)
		destroy_qp((uint32_t)attrs[0].data);
	return ret;
}

static void qps(struct rig *rig)
{
	static const struct {
		const char *what;
		struct asked asked;
		bool has_srq;
		int ret;
	} cases[] = {
		{ "RC", { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 0 }, false, 0 },
		{ "slots that are too long",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 4, 11, 0 },
		  false,
		  EINVAL },
		{ "slots that are too short",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 5, 0 },
		  false,
		  EINVAL },
		{ "too many slots",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 15, 6, 0 },
		  false,
		  EINVAL },
		{ "more slots than a number has",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 32, 6, 0 },
		  false,
		  EINVAL },
		{ "no receives",
		  { { 8, 0, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 0 },
		  false,
		  EINVAL },
		{ "receives into WQEs, which softhca does not know",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 512 },
		  false,
		  EOPNOTSUPP },
		{ "receives into WQEs that are too long",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 513 },
		  false,
		  EINVAL },
		{ "receives into WQEs, and an SRQ",
		  { { 8, 0, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 16 },
		  true,
		  EINVAL },
		{ "an SRQ", { { 8, 0, 2, 32, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 0 }, true, 0 },
		{ "an SRQ, and receives",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 0 },
		  true,
		  EINVAL },
		{ "an SRQ, and too many SGEs",
		  { { 8, 0, 2, 33, 0 }, IB_UVERBS_QPT_RC, 0, 6, 6, 0 },
		  true,
		  EINVAL },
		{ "a raw packet QP",
		  { { 8, 8, 2, 2, 0 }, IB_UVERBS_QPT_RAW_PACKET, 0, 6, 6, 0 },
		  false,
		  0 },
		{ "one without tags of VLANs",
		  { { 8, 8, 2, 2, 0 },
		    IB_UVERBS_QPT_RAW_PACKET,
		    IB_UVERBS_QP_CREATE_CVLAN_STRIPPING,
		    6,
		    6,
		    0 },
		  false,
		  EOPNOTSUPP },
		{ "one with checksums of frames",
		  { { 8, 8, 2, 2, 0 },
		    IB_UVERBS_QPT_RAW_PACKET,
		    IB_UVERBS_QP_CREATE_SCATTER_FCS,
		    6,
		    6,
		    0 },
		  false,
		  EOPNOTSUPP },
	};
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 15, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);

	(void)rig;
	MUST(pd && cq && srq);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		expect_errno(try_qp(&cases[i].asked, pd, cq, cases[i].has_srq ? srq : NULL),
			     cases[i].ret, cases[i].what);
	MUST(!ibv_destroy_srq(srq) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

static void destroy_srq(uint32_t handle)
{
	struct ib_uverbs_destroy_srq_resp resp;
	struct ib_uverbs_attr attrs[] = {
		handle_in(UVERBS_ATTR_DESTROY_SRQ_HANDLE, handle),
		uverbs_attr_out(UVERBS_ATTR_DESTROY_SRQ_RESP, sizeof(resp), &resp),
	};

	MUST(!command_run(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, attrs, ARRAY_SIZE(attrs)));
}

static int try_srq(struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge)
{
	const struct mlx4_ib_create_srq driver = { .buf_addr = (uintptr_t)memory,
						   .db_addr = (uintptr_t)record };
	const uint64_t user = 0, type = IB_UVERBS_SRQT_BASIC;
	const uint32_t limit = 0;
	struct mlx4_ib_create_srq_resp resp;
	uint32_t got_wr, got_sge;
	struct ib_uverbs_attr attrs[] = {
		handle_in(UVERBS_ATTR_CREATE_SRQ_HANDLE, 0),
		handle_in(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pd->handle),
		uverbs_attr_in(UVERBS_ATTR_CREATE_SRQ_TYPE, sizeof(type), &type),
		uverbs_attr_in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, sizeof(user), &user),
		uverbs_attr_in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, sizeof(max_wr), &max_wr),
		uverbs_attr_in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, sizeof(max_sge), &max_sge),
		uverbs_attr_in(UVERBS_ATTR_CREATE_SRQ_LIMIT, sizeof(limit), &limit),
		uverbs_attr_out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, sizeof(got_wr), &got_wr),
		uverbs_attr_out(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, sizeof(got_sge), &got_sge),
		uverbs_attr_in(UVERBS_ATTR_UHW_IN, sizeof(driver), &driver),
		uverbs_attr_out(UVERBS_ATTR_UHW_OUT, sizeof(resp), &resp),
	};
	int ret =
		command_run(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, attrs, ARRAY_SIZE(attrs));

	if (!ret)
		destroy_srq((uint32_t)attrs[0].data);
	return ret;
}

static void srqs(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	MUST(pd);
	expect_errno(try_srq(pd, 7, (uint32_t)rig->device.max_srq_sge), 0, "max_srq_sge");
	expect_errno(try_srq(pd, 7, (uint32_t)rig->device.max_srq_sge + 1), EINVAL, "one more");
	MUST(!ibv_dealloc_pd(pd));
}

enum { WQ_STATE = 1 << 0, WQ_FLAGS = 1 << 2 };

static int try_wq_change(uint32_t handle, uint32_t mask, const struct mlx4_ib_modify_wq *driver,
			 uint16_t driver_len)
{
	const struct ib_uverbs_ex_modify_wq cmd = { .attr_mask = mask, .wq_handle = handle };

	return run_written(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ, &cmd,
			   sizeof(cmd), NULL, 0, driver, driver_len);
}

static void wqs(struct rig *rig)
{
	static const struct mlx4_ib_modify_wq plain, strange = { .comp_mask = 1 };
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 15, NULL, NULL, 0);
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = pd, .cq = cq
	};
	struct ibv_wq *wq = ibv_create_wq(ctx, &attr);

	(void)rig;
	MUST(pd && cq && wq);
	expect_errno(try_wq_change(wq->handle, WQ_STATE, &plain, sizeof(plain)), 0, "its state");
	expect_errno(try_wq_change(wq->handle, WQ_STATE, NULL, 0), EINVAL,
		     "without the driver's part");
	expect_errno(try_wq_change(wq->handle, WQ_STATE, &plain, 4), EINVAL, "with half of it");
	expect_errno(try_wq_change(wq->handle, WQ_STATE, &strange, sizeof(strange)), EOPNOTSUPP,
		     "with more than it has");
	expect_errno(try_wq_change(wq->handle, WQ_STATE | WQ_FLAGS, &plain, sizeof(plain)),
		     EOPNOTSUPP, "its flags");
	MUST(!ibv_destroy_wq(wq) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd));
}

/* The driver has none of these operations, so Linux does not know their methods. */
static void methods(struct rig *rig)
{
	static const struct {
		const char *what;
		uint16_t object, method;
	} absent[] = {
		{ "device memory", UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC },
		{ "keys of it", UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG },
		{ "advice", UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR },
		{ "keys of dma-bufs", UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR },
		{ "counters", UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE },
	};

	struct ib_uverbs_attr none;

	(void)rig;
	for (unsigned int i = 0; i < ARRAY_SIZE(absent); i++)
		expect_errno(command_run(absent[i].object, absent[i].method, &none, 0),
			     EPROTONOSUPPORT, absent[i].what);
}

int main(int argc, char **argv)
{
	static const struct rig_topic topics[] = {
		{ "cqs", cqs },   { "rings", rings }, { "qps", qps },
		{ "srqs", srqs }, { "wqs", wqs },     { "methods", methods },
	};
	struct rig rig;

	TOPICS_CHOOSE(topics, argc, argv);
	rig_open(&rig);
	ctx = rig.ctx;
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run(&rig);
	rig_close(&rig);
	return topics_end();
}
