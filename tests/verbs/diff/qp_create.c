/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_create.c - creating RC queue pairs: each capability at its limits, wrong types and masks.
 *
 * Covers: libibverbs/verbs_qp.c, libibverbs/cmd/cmd_qp.c, providers/mlx5/qp/,
 * providers/mlx5/qp/size.c, providers/mlx5/qp/rules.c, providers/mlx4/qp.c,
 * providers/mlx4/qp_size.c, softhca/front/process/uverbs/qp/qp.c,
 * softhca/front/process/uverbs/qp/request.c
 */
#include "diff.h"

struct create_rig {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static void say_cap(const struct ibv_qp_cap *cap)
{
	say("cap send %u x %u recv %u x %u inline %u", cap->max_send_wr, cap->max_send_sge,
	    cap->max_recv_wr, cap->max_recv_sge, cap->max_inline_data);
}

static void say_new_qp(struct ibv_qp *qp, const struct ibv_qp_cap *cap)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!qp)
		return;
	say_cap(cap);
	say("qp type %d state %d", qp->qp_type, qp->state);
	if (!SAY_RET(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), "query_qp")) {
		say("state %d sq_sig_all %d", attr.qp_state, init.sq_sig_all);
		say_cap(&attr.cap);
		say_cap(&init.cap);
	}
	SAY_RET(ibv_destroy_qp(qp), "destroy_qp");
}

static struct ibv_qp_init_attr plain_attr(const struct create_rig *c)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp_init_attr attr;

	conf.cap = (struct ibv_qp_cap){
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1
	};
	rig_qp_init_attr(&conf, c->cq, &attr);
	return attr;
}

/* The first five words of ibv_qp_cap by name, so that a table can run over them. */
static const struct {
	const char *name;
	size_t offset;
} cap_fields[] = {
	{ "max_send_wr", offsetof(struct ibv_qp_cap, max_send_wr) },
	{ "max_recv_wr", offsetof(struct ibv_qp_cap, max_recv_wr) },
	{ "max_send_sge", offsetof(struct ibv_qp_cap, max_send_sge) },
	{ "max_recv_sge", offsetof(struct ibv_qp_cap, max_recv_sge) },
	{ "max_inline_data", offsetof(struct ibv_qp_cap, max_inline_data) },
};

static void cap_one(const struct create_rig *c, size_t field, uint32_t value)
{
	struct ibv_qp_init_attr attr = plain_attr(c);
	struct ibv_qp *qp;

	memcpy((char *)&attr.cap + cap_fields[field].offset, &value, sizeof(value));
	qp = SAY_PTR(ibv_create_qp(c->pd, &attr), "%s %u", cap_fields[field].name, value);
	say_new_qp(qp, &attr.cap);
}

/* The distribution's provider computes inline sizes as int, so an overflow looks like a small
 * number. */
static bool reads_as_small(size_t field, uint32_t value)
{
	return cap_fields[field].offset == offsetof(struct ibv_qp_cap, max_inline_data) &&
	       value >= 0x7fffffff;
}

static void each_cap(const struct create_rig *c)
{
	const struct ibv_device_attr *dev = &c->rig->device;
	const uint32_t values[] = { 0,
				    1,
				    2,
				    3,
				    5,
				    dev->max_sge - 1,
				    dev->max_sge,
				    dev->max_sge + 1,
				    60,
				    100,
				    512,
				    1000,
				    dev->max_qp_wr - 1,
				    dev->max_qp_wr,
				    dev->max_qp_wr + 1,
				    0x7fffffff,
				    0x80000000,
				    0xffffffff };

	for (size_t field = 0; field < ARRAY_SIZE(cap_fields); field++)
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			if (!reads_as_small(field, values[i]))
				cap_one(c, field, values[i]);
}

static void cap_combinations(const struct create_rig *c)
{
	static const struct ibv_qp_cap caps[] = {
		{ 0, 0, 0, 0, 0 },        { 0, 16, 0, 1, 0 },          { 16, 0, 1, 0, 0 },
		{ 0, 0, 4, 4, 64 },       { 16, 16, 0, 0, 0 },         { 100, 100, 3, 3, 32 },
		{ 7, 9, 2, 4, 28 },       { 1024, 1024, 16, 16, 256 }, { 4096, 4096, 1, 1, 0 },
		{ 8192, 1, 4, 1, 128 },   { 16384, 1, 4, 1, 0 },       { 16, 16, 30, 30, 0 },
		{ 16384, 1, 30, 1, 800 }, { 1, 16384, 1, 30, 0 },      { 128, 128, 1, 1, 65 },
		{ 128, 128, 1, 1, 236 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		struct ibv_qp_init_attr attr = plain_attr(c);
		struct ibv_qp *qp;

		attr.cap = caps[i];
		qp = SAY_PTR(ibv_create_qp(c->pd, &attr), "combination %zu", i);
		say_new_qp(qp, &attr.cap);
	}
}

static void other_fields(const struct create_rig *c)
{
	static const int types[] = { 0, 1, 5, 7, 11, 100, -1 };
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;
	int context;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		attr = plain_attr(c);
		attr.qp_type = (enum ibv_qp_type)types[i];
		SAY_PTR(ibv_create_qp(c->pd, &attr), "qp_type %d", types[i]);
	}
	attr = plain_attr(c);
	attr.sq_sig_all = 1;
	attr.qp_context = &context;
	qp = SAY_PTR(ibv_create_qp(c->pd, &attr), "sq_sig_all with a context");
	if (qp)
		say("context %s, pd %s, cqs %s, srq %s",
		    qp->qp_context == &context ? "ours" : "other",
		    qp->pd == c->pd ? "ours" : "other",
		    qp->send_cq == c->cq && qp->recv_cq == c->cq ? "ours" : "other",
		    qp->srq ? "set" : "none");
	say_new_qp(qp, &attr.cap);
}

/* A CQ of another context has a handle that this context does not know, so the kernel must not find
 * another object by it. */
static void foreign_cq(const struct create_rig *c)
{
	struct ibv_qp_init_attr attr = plain_attr(c);
	struct ibv_cq *cqs[32];
	struct rig other;

	rig_open(&other);
	for (size_t i = 0; i < ARRAY_SIZE(cqs); i++)
		MUST(cqs[i] = ibv_create_cq(other.ctx, 1, NULL, NULL, 0));
	attr.send_cq = cqs[ARRAY_SIZE(cqs) - 1];
	SAY_PTR(ibv_create_qp(c->pd, &attr), "send_cq of another context");
	attr = plain_attr(c);
	attr.recv_cq = cqs[ARRAY_SIZE(cqs) - 1];
	SAY_PTR(ibv_create_qp(c->pd, &attr), "recv_cq of another context");
	for (size_t i = 0; i < ARRAY_SIZE(cqs); i++)
		MUST(!ibv_destroy_cq(cqs[i]));
	rig_close(&other);
}

static void with_create_rig(struct rig *rig, void (*body)(const struct create_rig *))
{
	struct create_rig c = { .rig = rig };

	MUST(c.pd = ibv_alloc_pd(rig->ctx));
	MUST(c.cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0));
	body(&c);
	MUST(!ibv_destroy_cq(c.cq));
	MUST(!ibv_dealloc_pd(c.pd));
}

void diff_qp_create(struct rig *rig)
{
	with_create_rig(rig, each_cap);
	with_create_rig(rig, cap_combinations);
	with_create_rig(rig, other_fields);
	with_create_rig(rig, foreign_cq);
}

static struct ibv_qp_init_attr_ex ex_attr(const struct create_rig *c)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = c->cq,
		.recv_cq = c->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = c->pd,
	};
}

static void ex_one(const struct create_rig *c, struct ibv_qp_init_attr_ex attr)
{
	struct ibv_qp *qp = SAY_PTR(ibv_create_qp_ex(c->rig->ctx, &attr),
				    "mask 0x%x create_flags 0x%x send_ops 0x%llx", attr.comp_mask,
				    attr.create_flags, (unsigned long long)attr.send_ops_flags);

	if (qp && (attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) {
		struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

		say("qp_ex %s comp_mask 0x%llx", qpx ? "given" : "NULL",
		    qpx ? (unsigned long long)qpx->comp_mask : 0ULL);
	}
	say_new_qp(qp, &attr.cap);
}

static void ex_send_ops(const struct create_rig *c)
{
	struct ibv_qp_init_attr_ex attr = ex_attr(c);

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ex_one(c, attr);
	for (int bit = 0; bit < 14; bit++) {
		if (bit == 7 || bit == 8)
			continue; /* left out, as LOCAL_INV and BIND_MW need memory windows */
		attr.send_ops_flags = 1ULL << bit;
		ex_one(c, attr);
	}
	attr.send_ops_flags = 1ULL << 63;
	ex_one(c, attr);
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND | 1ULL << 40;
	ex_one(c, attr);
	attr.send_ops_flags =
		IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ;
	ex_one(c, attr);
}

static void ex_masks(const struct create_rig *c)
{
	struct ibv_qp_init_attr_ex attr = ex_attr(c);

	ex_one(c, attr);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | 1 << 7;
	ex_one(c, attr);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | 1U << 31;
	ex_one(c, attr);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	attr.max_tso_header = 64;
	ex_one(c, attr);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE;
	ex_one(c, attr);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH;
	ex_one(c, attr);
}

static void ex_create_flags(const struct create_rig *c)
{
	struct ibv_qp_init_attr_ex attr = ex_attr(c);

	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	ex_one(c, attr);
	for (int bit = 0; bit < 14; bit++) {
		attr.create_flags = 1U << bit;
		ex_one(c, attr);
	}
	attr.create_flags = 1U << 31;
	ex_one(c, attr);
}

void diff_qp_create_ex(struct rig *rig)
{
	with_create_rig(rig, ex_send_ops);
	with_create_rig(rig, ex_masks);
	with_create_rig(rig, ex_create_flags);
}
