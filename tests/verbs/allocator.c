/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocator.c - verbs-allocator [TOPIC...]: parent domains whose allocators give memory for rings
 * and doorbell records.
 *
 * What they are asked for, that it comes back, and that it is not written before it is used, since
 * the CPU may not reach it: so the topics that only look fill what they give with a pattern. Exit
 * code as of verbs-diff.
 */
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define PATTERN 0xa5

static const struct {
	uint64_t type;
	const char *name;
} types[] = {
	{ MLX5DV_RES_TYPE_QP, "QP" },   { MLX5DV_RES_TYPE_RWQ, "RWQ" },
	{ MLX5DV_RES_TYPE_DBR, "DBR" }, { MLX5DV_RES_TYPE_SRQ, "SRQ" },
	{ MLX5DV_RES_TYPE_CQ, "CQ" },
};

static size_t type_find(uint64_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return i;
	say_check(false, "type %#llx is known", (unsigned long long)type);
	return 0;
}

/* ---- an allocator */

struct block {
	uint8_t *addr;
	size_t size;
	uint64_t type;
};

struct allocator {
	struct ibv_pd *base, *domain;
	uint8_t fill;
	uint64_t left_to_library, refused; /* types */
	struct block blocks[16];
	unsigned int count;
	unsigned int given[ARRAY_SIZE(types)]; /* ever */
	unsigned int wrong;                    /* calls whose arguments are not as they should be */
};

static void *block_give(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
			uint64_t type)
{
	struct allocator *a = context;
	struct block *block = &a->blocks[a->count];

	a->wrong += pd != a->domain || alignment > 4096;
	if (type == a->left_to_library)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (type == a->refused || a->count == ARRAY_SIZE(a->blocks))
		return NULL;
	block->addr = aligned_alloc(4096, align_up(size, 4096));
	MUST(block->addr);
	memset(block->addr, a->fill, size);
	block->size = size;
	block->type = type;
	a->count++;
	a->given[type_find(type)]++;
	return block->addr;
}

static void block_take_back(struct ibv_pd *pd, void *context, void *addr, uint64_t type)
{
	struct allocator *a = context;

	a->wrong += pd != a->domain;
	for (unsigned int i = 0; i < a->count; i++) {
		if (a->blocks[i].addr != addr)
			continue;
		a->wrong += a->blocks[i].type != type;
		free(addr);
		a->blocks[i] = a->blocks[--a->count];
		return;
	}
	a->wrong++;
}

static void allocator_open(struct rig *rig, struct allocator *a, uint8_t fill)
{
	struct ibv_parent_domain_init_attr attr = {
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = block_give,
		.free = block_take_back,
		.pd_context = a,
	};

	*a = (struct allocator){ .fill = fill };
	MUST(a->base = ibv_alloc_pd(rig->ctx));
	attr.pd = a->base;
	MUST(a->domain = ibv_alloc_parent_domain(rig->ctx, &attr));
}

static void allocator_close(struct allocator *a)
{
	say_check(!a->count, "everything has come back");
	say_check(!a->wrong, "with the right arguments");
	MUST(!ibv_dealloc_pd(a->domain) && !ibv_dealloc_pd(a->base));
}

/* The function looks at LENGTH bytes of each block of TYPE, or at all. */
static bool is_untouched_up_to(const struct allocator *a, uint64_t type, size_t length)
{
	for (unsigned int i = 0; i < a->count; i++) {
		const struct block *block = &a->blocks[i];

		for (size_t k = 0; block->type == type && k < min_of(block->size, length); k++)
			if (block->addr[k] != a->fill)
				return false;
	}
	return true;
}

static bool is_untouched(const struct allocator *a, uint64_t type)
{
	return is_untouched_up_to(a, type, SIZE_MAX);
}

static void say_given(const struct allocator *a)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (a->given[i])
			say("%s given %u times", types[i].name, a->given[i]);
}

/* ---- objects */

static struct ibv_qp *qp_make(struct allocator *a, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 16, 16, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};

	return ibv_create_qp(a->domain, &attr);
}

static struct ibv_cq *cq_make(struct rig *rig, struct allocator *a)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 63,
					    .wc_flags = IBV_WC_STANDARD_FLAGS,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
					    .parent_domain = a->domain };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(rig->ctx, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct ibv_srq *srq_make(struct allocator *a)
{
	struct ibv_srq_init_attr attr = { .attr = { 15, 1, 0 } };

	return ibv_create_srq(a->domain, &attr);
}

static void untouched_qp(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0);
	struct allocator a;
	struct ibv_qp *qp;

	allocator_open(rig, &a, PATTERN);
	MUST(cq && (qp = qp_make(&a, cq)));
	say_given(&a);
	say_check(is_untouched(&a, MLX5DV_RES_TYPE_QP), "the rings are as they were");
	say_check(is_untouched(&a, MLX5DV_RES_TYPE_DBR), "the record is as it was");
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq));
	allocator_close(&a);
}

static void untouched_srq_record(struct rig *rig)
{
	struct allocator a;
	struct ibv_srq *srq;

	allocator_open(rig, &a, PATTERN);
	MUST(srq = srq_make(&a));
	say_given(&a);
	say_check(is_untouched(&a, MLX5DV_RES_TYPE_DBR), "the record is as it was");
	MUST(!ibv_destroy_srq(srq));
	allocator_close(&a);
}

/* The distribution's library writes links into an SRQ, and the record of a CQ. */
static void untouched_more(struct rig *rig)
{
	struct allocator a;
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	allocator_open(rig, &a, PATTERN);
	MUST(srq = srq_make(&a));
	say_check(is_untouched(&a, MLX5DV_RES_TYPE_SRQ), "an SRQ is as it was");
	MUST(!ibv_destroy_srq(srq));
	MUST(cq = cq_make(rig, &a));
	/* softhca writes the word behind it. */
	say_check(is_untouched_up_to(&a, MLX5DV_RES_TYPE_DBR, 4),
		  "the consumer index of a CQ is as it was");
	MUST(!ibv_destroy_cq(cq));
	allocator_close(&a);
}

static void post_recv(struct ibv_srq *srq, struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr + 512, 512, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_srq_recv(srq, &wr, &bad));
}

static void post_send(struct ibv_qp *qp, struct ibv_mr *mr)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, 512, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	MUST(!ibv_post_send(qp, &wr, &bad));
}

/* Two QPs, their CQ and an SRQ, of which all but what LEFT says is the allocator's. */
static void messages(struct rig *rig, uint64_t left)
{
	struct rig_conf conf = rig_conf_default();
	static uint8_t buf[1024];
	struct ibv_qp_init_attr attr = { .cap = { 16, 0, 1, 0, 0 }, .qp_type = IBV_QPT_RC };
	struct allocator a;
	struct ibv_qp *sender, *receiver;
	struct ibv_wc wc[2];
	struct ibv_mr *mr;

	allocator_open(rig, &a, 0);
	a.left_to_library = left;
	MUST(mr = ibv_reg_mr(a.base, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE));
	MUST(attr.recv_cq = attr.send_cq = cq_make(rig, &a));
	MUST(attr.srq = srq_make(&a));
	MUST(sender = qp_make(&a, attr.send_cq));
	MUST(receiver = ibv_create_qp(a.domain, &attr));
	rig_qp_to(rig, &conf, receiver, sender->qp_num, IBV_QPS_RTS);
	rig_qp_to(rig, &conf, sender, receiver->qp_num, IBV_QPS_RTS);
	for (int i = 0; i < 100; i++) {
		buf[0] = (uint8_t)i;
		buf[512] = 0xff;
		post_recv(attr.srq, mr);
		post_send(sender, mr);
		MUST(rig_poll(attr.send_cq, 2, wc) == 2);
		MUST(wc[0].status == IBV_WC_SUCCESS && wc[1].status == IBV_WC_SUCCESS);
		MUST(buf[512] == (uint8_t)i);
	}
	say("100 messages");
	say_given(&a);
	MUST(!ibv_destroy_qp(sender) && !ibv_destroy_qp(receiver) && !ibv_destroy_srq(attr.srq));
	MUST(!ibv_destroy_cq(attr.send_cq) && !ibv_dereg_mr(mr));
	allocator_close(&a);
}

static void all_given(struct rig *rig)
{
	messages(rig, 0);
}

static void records_left(struct rig *rig)
{
	messages(rig, MLX5DV_RES_TYPE_DBR);
}

static void rings_left(struct rig *rig)
{
	messages(rig, MLX5DV_RES_TYPE_QP);
	messages(rig, MLX5DV_RES_TYPE_CQ);
	messages(rig, MLX5DV_RES_TYPE_SRQ);
}

/* What was given for an object that does not come to be is given back. */
static void refused(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0);
	struct allocator a;

	MUST(cq);
	allocator_open(rig, &a, 0);
	a.refused = MLX5DV_RES_TYPE_DBR;
	say_check(!qp_make(&a, cq) && !a.count, "no QP without a record");
	say_check(!cq_make(rig, &a) && !a.count, "no CQ");
	say_check(!srq_make(&a) && !a.count, "no SRQ");
	a.refused = MLX5DV_RES_TYPE_QP;
	say_check(!qp_make(&a, cq) && !a.count, "no QP without rings");
	MUST(!ibv_destroy_cq(cq));
	allocator_close(&a);
}

static const struct rig_topic topics[] = {
	{ "untouched-qp", untouched_qp },     { "untouched-srq-record", untouched_srq_record },
	{ "all-given", all_given },           { "records-left", records_left },
	{ "rings-left", rings_left },         { "refused", refused },
	{ "untouched-more", untouched_more },
};

int main(int argc, char **argv)
{
	struct rig rig;

	rig_open(&rig);
	rig_run_topics(&rig, topics, ARRAY_SIZE(topics), argc, argv);
	rig_close(&rig);
	return say_failures() ? 1 : 0;
}
