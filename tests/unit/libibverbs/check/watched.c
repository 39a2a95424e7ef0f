/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watched.c - see watched.h.
 */
#include "watched.h"

#include "tests/unit/libibverbs/fake_device.h"

#include "util/bits.h"

#include <stdlib.h>

struct watched_provider provider;
struct ibv_context *watched;
struct ibv_pd watched_pd, other_pd;

/* Objects of the test, kept here so that it need not destroy them. */
static void *objects[64];

static void *object_new(size_t size)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(objects) && objects[i])
		i++;
	assert_true(i < ARRAY_SIZE(objects));
	objects[i] = calloc(1, size);
	assert_non_null(objects[i]);
	return objects[i];
}

/* Frees an object, unless the provider refuses all calls. */
static int object_free(void *object)
{
	if (provider.err)
		return provider.err;
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		if (objects[i] == object)
			objects[i] = NULL;
	free(object);
	return 0;
}

/* Objects that tests have left. The checker knows them while the process runs, as it does those
 * that a program leaves to a device that it closes. */
static struct left {
	struct left *next;
	void *object;
} * all_left;

/* Leaves the objects that the test has not destroyed, without a context: each begins with it. */
static void objects_leave(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		struct left *left = objects[i] ? calloc(1, sizeof(*left)) : NULL;

		if (!left)
			continue;
		memset(objects[i], 0, sizeof(struct ibv_context *));
		*left = (struct left){ all_left, objects[i] };
		all_left = left;
		objects[i] = NULL;
	}
}

static int reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		  struct verbs_mr **vmr)
{
	(void)iova;
	(void)access;
	if (provider.err)
		return provider.err;
	*vmr = object_new(sizeof(**vmr));
	(*vmr)->mr = (struct ibv_mr){ .context = pd->context,
				      .pd = pd,
				      .addr = addr,
				      .length = length,
				      .lkey = provider.lkey++ };
	return 0;
}

static int rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    unsigned int access)
{
	(void)flags;
	(void)pd;
	(void)addr;
	(void)length;
	(void)access;
	if (!provider.err)
		vmr->mr.lkey = provider.lkey++;
	return provider.err;
}

static int dereg_mr(struct verbs_mr *vmr)
{
	return object_free(vmr);
}

static int create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		     struct verbs_cq **vcq)
{
	if (provider.err)
		return provider.err;
	*vcq = object_new(sizeof(**vcq));
	(*vcq)->cq.context = context;
	(*vcq)->cq.cqe = (int)attr->cqe;
	memcpy(&(*vcq)->cq_ex.start_poll, &provider.behind, sizeof(provider.behind));
	return 0;
}

static int destroy_cq(struct ibv_cq *cq)
{
	return object_free(cq);
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	const int n = provider.completions < num_entries ? provider.completions : num_entries;

	(void)cq;
	provider.polls++;
	if (provider.in_poll)
		provider.in_poll();
	for (int i = 0; i < n; i++)
		wc[i] = provider.wcs[i];
	provider.completions = 0;
	return n;
}

static int create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
		     struct verbs_qp **vqp)
{
	if (provider.err)
		return provider.err;
	*vqp = object_new(sizeof(**vqp));
	(*vqp)->qp = (struct ibv_qp){ .context = context,
				      .pd = attr->pd,
				      .send_cq = attr->send_cq,
				      .recv_cq = attr->recv_cq,
				      .srq = attr->srq,
				      .qp_num = provider.qpn++,
				      .qp_type = attr->qp_type };
	return 0;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	if (!provider.err && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return provider.err;
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		    struct ibv_qp_init_attr *init)
{
	void (*const run)(void) = provider.in_query;

	(void)mask;
	(void)init;
	provider.in_query = NULL;
	if (run)
		run();
	attr->qp_state = qp->state;
	return provider.err;
}

static int destroy_qp(struct ibv_qp *qp)
{
	return object_free(qp);
}

/* Returns how a post of many requests ends, at the one that the provider does not take. */
static int post_ends(void)
{
	provider.posts++;
	if (provider.in_post)
		provider.in_post();
	return ENOMEM;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	const int err = post_ends();

	(void)qp;
	for (int i = 0; wr && i < provider.takes; i++)
		wr = wr->next;
	*bad_wr = wr;
	return wr ? err : 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	const int err = post_ends();

	(void)qp;
	for (int i = 0; wr && i < provider.takes; i++)
		wr = wr->next;
	*bad_wr = wr;
	return wr ? err : 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)srq;
	return post_recv(NULL, wr, bad_wr);
}

static int create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr,
		      struct verbs_srq **vsrq)
{
	if (provider.err)
		return provider.err;
	*vsrq = object_new(sizeof(**vsrq));
	(*vsrq)->srq = (struct ibv_srq){ .context = context, .pd = attr->pd };
	return 0;
}

static int destroy_srq(struct ibv_srq *srq)
{
	return object_free(srq);
}

static int create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr, struct ibv_ah **ah)
{
	(void)attr;
	if (provider.err)
		return provider.err;
	*ah = object_new(sizeof(**ah));
	**ah = (struct ibv_ah){ .context = pd->context, .pd = pd };
	return 0;
}

static int destroy_ah(struct ibv_ah *ah)
{
	return object_free(ah);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	struct ibv_pd *domain = object_new(sizeof(*domain));

	*domain = (struct ibv_pd){ context, attr->pd->handle };
	return domain;
}

static const struct verbs_ops provider_ops = {
	.alloc_parent_domain = alloc_parent_domain,
	.poll_cq = poll_cq,
	.post_send = post_send,
	.post_recv = post_recv,
	.post_srq_recv = post_srq_recv,
	.reg_mr = reg_mr,
	.rereg_mr = rereg_mr,
	.dereg_mr = dereg_mr,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.query_qp = query_qp,
	.destroy_qp = destroy_qp,
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.create_ah = create_ah,
	.destroy_ah = destroy_ah,
};

int watched_open(void **state)
{
	struct fake_context *fake = fake_open();
	const struct verbs_ops *checks;

	/* reads the environment first, so it cannot do so in a test */
	verbs_log_on(VERBS_LOG_WARN);
	verbs_set_ops(&fake->vctx, &provider_ops);
	checks = verbs_check_context(&fake->vctx);
	assert_non_null(checks);
	verbs_ops_replace(&fake->vctx, checks);
	provider = (struct watched_provider){ .takes = 1000, .lkey = 0x100, .qpn = 0x40 };
	watched = &fake->vctx.context;
	watched_pd = (struct ibv_pd){ watched, 1 };
	other_pd = (struct ibv_pd){ watched, 2 };
	log_text();
	*state = fake;
	return 0;
}

int watched_close(void **state)
{
	objects_leave();
	fake_close(*state);
	return 0;
}

struct verbs_mr *watched_region(void *addr, size_t length, unsigned int access)
{
	struct verbs_mr *vmr;

	assert_int_equal(
		verbs_check_reg_mr(&watched_pd, addr, length, (uintptr_t)addr, access, &vmr), 0);
	return vmr;
}

struct ibv_cq *watched_cq(int cqe)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = (uint32_t)cqe };
	struct verbs_cq *vcq;

	assert_int_equal(verbs_check_create_cq(watched, &attr, &vcq), 0);
	return &vcq->cq;
}

struct ibv_qp *watched_qp(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = type,
					    .send_cq = cq,
					    .recv_cq = cq,
					    .srq = srq,
					    .pd = &watched_pd,
					    .cap = { 64, 64, 2, 2, 0 } };
	struct verbs_qp *vqp;

	assert_int_equal(verbs_check_create_qp(watched, &attr, &vqp), 0);
	watched_modify(&vqp->qp, IBV_QPS_RTS);
	return &vqp->qp;
}

struct ibv_srq *watched_srq(void)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { 16, 2, 0 }, .pd = &watched_pd };
	struct verbs_srq *vsrq;

	assert_int_equal(verbs_check_create_srq(watched, &attr, &vsrq), 0);
	return &vsrq->srq;
}

void watched_modify(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	assert_int_equal(verbs_check_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

struct ibv_sge watched_sge(const void *addr, uint32_t length, const struct verbs_mr *vmr)
{
	return (struct ibv_sge){ (uintptr_t)addr, length, vmr->mr.lkey };
}

int watched_send(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge, unsigned int flags)
{
	struct ibv_send_wr *bad, wr = { .wr_id = wr_id,
					.sg_list = sge,
					.num_sge = sge ? 1 : 0,
					.opcode = IBV_WR_SEND,
					.send_flags = flags };

	return verbs_check_post_send(qp, &wr, &bad);
}

int watched_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge *sge)
{
	struct ibv_recv_wr *bad, wr = { wr_id, NULL, sge, sge ? 1 : 0 };

	return verbs_check_post_recv(qp, &wr, &bad);
}

void watched_complete(struct ibv_cq *cq, const struct ibv_qp *qp, uint64_t wr_id,
		      enum ibv_wc_opcode opcode, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	provider.wcs[0] = (struct ibv_wc){
		.wr_id = wr_id, .status = status, .opcode = opcode, .qp_num = qp->qp_num
	};
	provider.completions = 1;
	assert_int_equal(verbs_check_poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, wr_id);
}
