/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocator.c - verbs-allocator [TOPIC...]: parent domains with allocators for rings and doorbell
 * records: the requested sizes, that all memory is freed, and that it is not written before its
 * first use, as the CPU may not reach it. To see that, topics that only look fill the memory with a
 * pattern. Exit code as of verbs-diff.
 *
 * Covers: providers/common/memory/allocators.c, providers/common/memory/queue_mem.c,
 * providers/common/pd.c, providers/common/context.h
 */
#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

#define PATTERN 0xa5

enum kind { QP, RWQ, DBR, SRQ, CQ, KINDS, NONE = KINDS };

static const struct {
	/* mlx5's resource type; mlx4 has none, so there it is the kind of the object being
	 * created */
	uint64_t type;
	const char *name;
} kinds[KINDS] = {
	[QP] = { MLX5DV_RES_TYPE_QP, "QP" },    [RWQ] = { MLX5DV_RES_TYPE_RWQ, "RWQ" },
	[DBR] = { MLX5DV_RES_TYPE_DBR, "DBR" }, [SRQ] = { MLX5DV_RES_TYPE_SRQ, "SRQ" },
	[CQ] = { MLX5DV_RES_TYPE_CQ, "CQ" },
};

enum { RECORD_BYTES = 8 };

static enum kind kind_of_mlx5(uint64_t type)
{
	for (enum kind kind = 0; kind < KINDS; kind++)
		if (kinds[kind].type == type)
			return kind;
	say_check(false, "type %#llx is known", (unsigned long long)type);
	return NONE;
}

struct block {
	uint8_t *addr;
	size_t size;
	uint64_t type;
	enum kind kind;
};

struct allocator {
	struct ibv_pd *base, *domain;
	uint8_t fill;
	bool is_mlx4;
	enum kind created; /* kind of the object being created */
	enum kind left_to_library, refused;
	struct block blocks[16];
	unsigned int count;
	unsigned int given[KINDS]; /* allocations so far */
	unsigned int wrong;
};

static enum kind kind_find(struct allocator *a, size_t size, uint64_t type)
{
	if (!a->is_mlx4)
		return kind_of_mlx5(type);
	a->wrong += type != 0;
	return size == RECORD_BYTES ? DBR : a->created;
}

static void *block_give(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
			uint64_t type)
{
	struct allocator *a = context;
	struct block *block = &a->blocks[a->count];
	enum kind kind = kind_find(a, size, type);

	a->wrong += pd != a->domain || alignment > 4096;
	if (kind == a->left_to_library)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (kind == NONE || kind == a->refused || a->count == ARRAY_SIZE(a->blocks))
		return NULL;
	block->addr = aligned_alloc(4096, align_up(size, 4096));
	MUST(block->addr);
	memset(block->addr, a->fill, size);
	block->size = size;
	block->type = type;
	block->kind = kind;
	a->count++;
	a->given[kind]++;
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

	*a = (struct allocator){ .fill = fill,
				 .is_mlx4 = !mlx5dv_is_supported(rig->ctx->device),
				 .left_to_library = NONE,
				 .refused = NONE };
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

/* Returns whether the first LENGTH bytes of each block of KIND are unchanged. */
static bool is_untouched_up_to(const struct allocator *a, enum kind kind, size_t length)
{
	for (unsigned int i = 0; i < a->count; i++) {
		const struct block *block = &a->blocks[i];

		for (size_t k = 0; block->kind == kind && k < min_of(block->size, length); k++)
			if (block->addr[k] != a->fill)
				return false;
	}
	return true;
}

static bool is_untouched(const struct allocator *a, enum kind kind)
{
	return is_untouched_up_to(a, kind, SIZE_MAX);
}

static void say_given(const struct allocator *a)
{
	for (enum kind kind = 0; kind < KINDS; kind++)
		if (a->given[kind])
			say("%s given %u times", kinds[kind].name, a->given[kind]);
}

static struct ibv_qp *qp_make(struct allocator *a, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = { 16, 16, 1, 1, 0 }, .qp_type = IBV_QPT_RC
	};

	a->created = QP;
	return ibv_create_qp(a->domain, &attr);
}

static struct ibv_cq *cq_make(struct rig *rig, struct allocator *a)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 63,
					    .wc_flags = IBV_WC_STANDARD_FLAGS,
					    .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
					    .parent_domain = a->domain };
	struct ibv_cq_ex *cq;

	a->created = CQ;
	cq = ibv_create_cq_ex(rig->ctx, &attr);
	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct ibv_srq *srq_make(struct allocator *a)
{
	struct ibv_srq_init_attr attr = { .attr = { 15, 1, 0 } };

	a->created = SRQ;
	return ibv_create_srq(a->domain, &attr);
}

/* An adapter of mlx4 prefetches WQEs, so the library stamps them as invalid before RTS. */
static void check_stamps(const struct allocator *a, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	say_check(is_untouched(a, QP) == !a->is_mlx4, "in INIT, the rings are %s",
		  a->is_mlx4 ? "stamped" : "as they were");
}

static void untouched_qp(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0);
	struct allocator a;
	struct ibv_qp *qp;

	allocator_open(rig, &a, PATTERN);
	MUST(cq && (qp = qp_make(&a, cq)));
	say_given(&a);
	say_check(is_untouched(&a, QP), "the rings are as they were");
	say_check(is_untouched(&a, DBR), "the record is as it was");
	check_stamps(&a, qp);
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
	say_check(is_untouched(&a, DBR), "the record is as it was");
	MUST(!ibv_destroy_srq(srq));
	allocator_close(&a);
}

/* Not compared, as the distribution's library writes links into an SRQ, and the record of a CQ. */
static void untouched_more(struct rig *rig)
{
	struct allocator a;
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	allocator_open(rig, &a, PATTERN);
	MUST(srq = srq_make(&a));
	/* the free requests of mlx4 form a list in the ring, so its creation writes there */
	say_check(is_untouched(&a, SRQ) == !a.is_mlx4, "an SRQ is %s",
		  a.is_mlx4 ? "a list" : "as it was");
	MUST(!ibv_destroy_srq(srq));
	MUST(cq = cq_make(rig, &a));
	/* softhca writes the next word */
	say_check(is_untouched_up_to(&a, DBR, 4), "the consumer index of a CQ is as it was");
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

/* Creates two QPs, their CQ and an SRQ. The allocator provides all their memory except kinds
 * LEFT. */
static void messages(struct rig *rig, enum kind left)
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
	a.created = QP;
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
	messages(rig, NONE);
}

static void records_left(struct rig *rig)
{
	messages(rig, DBR);
}

static void rings_left(struct rig *rig)
{
	messages(rig, QP);
	messages(rig, CQ);
	messages(rig, SRQ);
}

/* A WQ has a ring and a record. */
static void wqs(struct rig *rig)
{
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ, .max_wr = 16, .max_sge = 1 };
	struct allocator a;
	struct ibv_wq *wq;

	allocator_open(rig, &a, 0);
	MUST(attr.cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0));
	attr.pd = a.domain;
	a.created = RWQ;
	wq = ibv_create_wq(rig->ctx, &attr);
	if (wq) {
		say_given(&a);
		MUST(!ibv_destroy_wq(wq));
		a.refused = DBR;
		say_check(!ibv_create_wq(rig->ctx, &attr) && !a.count, "no WQ without a record");
	} else { /* on InfiniBand, which has no WQs */
		say("no WQs: %s", strerror(errno));
	}
	MUST(!ibv_destroy_cq(attr.cq));
	allocator_close(&a);
}

/* If creation fails, the program's memory is freed. */
static void creation_refused(struct rig *rig)
{
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 63, NULL, NULL, 0);
	struct allocator a;

	MUST(cq);
	allocator_open(rig, &a, 0);
	a.refused = DBR;
	say_check(!qp_make(&a, cq) && !a.count, "no QP without a record");
	say_check(!cq_make(rig, &a) && !a.count, "no CQ");
	say_check(!srq_make(&a) && !a.count, "no SRQ");
	a.refused = QP;
	say_check(!qp_make(&a, cq) && !a.count, "no QP without rings");
	MUST(!ibv_destroy_cq(cq));
	allocator_close(&a);
}

static const struct rig_topic topics[] = {
	{ "untouched-qp", untouched_qp },     { "untouched-srq-record", untouched_srq_record },
	{ "all-given", all_given },           { "records-left", records_left },
	{ "rings-left", rings_left },         { "refused", creation_refused },
	{ "untouched-more", untouched_more }, { "wqs", wqs },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
