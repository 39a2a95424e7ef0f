/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mr.c - protection domains, memory regions, and destroying objects that are in use.
 *
 * Covers: libibverbs/verbs_mr.c, libibverbs/cmd/cmd_mr.c, providers/mlx5/mr.c, providers/mlx4/mr.c,
 * softhca/front/process/uverbs/mr.c, softhca/front/process/driver/region.c
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "diff.h"

#define BUF_SIZE (1 << 20)

static void say_mr(struct ibv_mr *mr, const uint8_t *buf, struct ibv_pd *pd)
{
	if (!mr)
		return;
	say("mr offset %td length %zu lkey %s rkey; pd %s", (uint8_t *)mr->addr - buf, mr->length,
	    mr->lkey == mr->rkey ? "equals" : "differs from", mr->pd == pd ? "ours" : "other");
	SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
}

/* Every combination of the five classic access bits, then bits of which some need capabilities. */
static void mr_access(struct ibv_pd *pd, uint8_t *buf)
{
	static const unsigned int others[] = {
		IBV_ACCESS_ZERO_BASED,
		IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_ON_DEMAND,
		IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE,
		IBV_ACCESS_HUGETLB,
		IBV_ACCESS_HUGETLB | IBV_ACCESS_LOCAL_WRITE,
		1 << 8,
		1 << 9,
		1 << 10,
		1 << 19,
		IBV_ACCESS_RELAXED_ORDERING,
		IBV_ACCESS_RELAXED_ORDERING | IBV_ACCESS_LOCAL_WRITE,
		1 << 21,
		1 << 29,
		1 << 30,
		1U << 31,
		~0U,
	};

	for (unsigned int access = 0; access < 32; access++)
		say_mr(SAY_PTR(ibv_reg_mr(pd, buf, 4096, access), "access 0x%x", access), buf, pd);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		say_mr(SAY_PTR(ibv_reg_mr(pd, buf, 4096, others[i]), "access 0x%x", others[i]), buf,
		       pd);
}

static void mr_ranges(struct ibv_pd *pd, uint8_t *buf)
{
	static const struct {
		size_t offset, length;
	} ranges[] = {
		{ 0, 0 },
		{ 0, 1 },
		{ 1, 1 },
		{ 4095, 2 },
		{ 123, 4567 },
		{ 0, BUF_SIZE },
		{ BUF_SIZE - 1, 1 },
		{ 0, SIZE_MAX },
		{ 0, SIZE_MAX / 2 },
		{ 4096, (size_t)0 - 4096 },
		{ 0, 1ULL << 46 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++)
		say_mr(SAY_PTR(ibv_reg_mr(pd, buf + ranges[i].offset, ranges[i].length,
					  IBV_ACCESS_LOCAL_WRITE),
			       "offset %zu length %zu", ranges[i].offset, ranges[i].length),
		       buf, pd);
}

/* Linux counts the pages that a region touches, so 0 bytes within a page are one page. */
static void mr_of_no_bytes(struct ibv_pd *pd, uint8_t *buf)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, buf + 16, 0, IBV_ACCESS_LOCAL_WRITE);

	MUST(mr && !mr->length && !ibv_dereg_mr(mr));
	MUST(!ibv_reg_mr(pd, buf + 4096, 0, IBV_ACCESS_LOCAL_WRITE) && errno == EINVAL);
}

static void mr_memory(struct ibv_pd *pd)
{
	uint8_t *hole =
		mmap(NULL, 4 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *readonly = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(hole != MAP_FAILED && readonly != MAP_FAILED);
	munmap(hole + (1 << 12), 1 << 12);
	say_mr(SAY_PTR(ibv_reg_mr(pd, hole, 4 << 12, IBV_ACCESS_LOCAL_WRITE), "range with a hole"),
	       hole, pd);
	say_mr(SAY_PTR(ibv_reg_mr(pd, hole, 1 << 12, IBV_ACCESS_LOCAL_WRITE), "before the hole"),
	       hole, pd);
	say_mr(SAY_PTR(ibv_reg_mr(pd, NULL, 4096, IBV_ACCESS_LOCAL_WRITE), "address 0"), NULL, pd);
	say_mr(SAY_PTR(ibv_reg_mr(pd, readonly, 4096, 0), "read-only memory, access 0"), readonly,
	       pd);
	say_mr(SAY_PTR(ibv_reg_mr(pd, readonly, 4096, IBV_ACCESS_LOCAL_WRITE),
		       "read-only memory, LOCAL_WRITE"),
	       readonly, pd);
	munmap(hole, 4 << 12);
	munmap(readonly, 4096);
}

void diff_mr(struct rig *rig)
{
	struct ibv_pd *pd = SAY_PTR(ibv_alloc_pd(rig->ctx), "alloc_pd");
	uint8_t *buf = aligned_alloc(4096, BUF_SIZE);

	MUST(pd && buf);
	say("pd context %s", pd->context == rig->ctx ? "ours" : "other");
	mr_access(pd, buf);
	mr_ranges(pd, buf);
	mr_of_no_bytes(pd, buf);
	mr_memory(pd);
	free(buf);
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd");
}

/* Calls the functions behind the macros, so that each entry point gets each kind of flag. */
static void mr_entry_points(struct ibv_pd *pd, uint8_t *buf)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	const unsigned int relaxed = access | IBV_ACCESS_RELAXED_ORDERING;

	say_mr(SAY_PTR((ibv_reg_mr)(pd, buf, 100, access), "plain reg_mr"), buf, pd);
	say_mr(SAY_PTR((ibv_reg_mr)(pd, buf, 100, relaxed), "plain reg_mr, relaxed"), buf, pd);
	say_mr(SAY_PTR((ibv_reg_mr_iova)(pd, buf, 100, 0, access), "plain reg_mr_iova"), buf, pd);
	say_mr(SAY_PTR(ibv_reg_mr_iova2(pd, buf, 100, 0, access), "reg_mr_iova2"), buf, pd);
	say_mr(SAY_PTR(ibv_reg_mr_iova2(pd, buf, 100, 0, relaxed), "reg_mr_iova2, relaxed"), buf,
	       pd);
	say_mr(SAY_PTR(ibv_reg_mr_iova2(pd, buf, 100, 0, access | 1 << 28),
		       "reg_mr_iova2, unknown optional bit"),
	       buf, pd);
}

static void mr_iova_values(struct ibv_pd *pd, uint8_t *buf)
{
	static const struct {
		size_t offset;
		uint64_t iova;
	} cases[] = {
		{ 0, 0 },
		{ 0, 4096 },
		{ 0, 1 },
		{ 5, 5 },
		{ 5, 4096 + 5 },
		{ 5, 4096 },
		{ 0, 0x7fffffff0000ULL },
		{ 0, 0xffffffffffff0000ULL },
		{ 0, 0xfffffffffffff000ULL },
		{ 0, 0xffffffffffffff00ULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		say_mr(SAY_PTR(ibv_reg_mr_iova(pd, buf + cases[i].offset, 4096, cases[i].iova,
					       IBV_ACCESS_LOCAL_WRITE),
			       "offset %zu iova 0x%llx", cases[i].offset,
			       (unsigned long long)cases[i].iova),
		       buf, pd);
}

/* Data moves by the iova, not by the address. */
static void mr_iova_data(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED,
				  .num_sge = 1 },
			   *bad;
	struct ibv_mr *source, *target;
	struct ibv_sge sge;
	struct ibv_wc wc;

	rig_pair_open(rig, &conf, &pair);
	source = ibv_reg_mr_iova(pair.pd, pair.end[0].buf + 8192, 4096, 0, IBV_ACCESS_LOCAL_WRITE);
	target = ibv_reg_mr_iova(pair.pd, pair.end[1].buf + 4096, 4096, 0x10000, conf.mr_access);
	MUST(source && target);
	strcpy((char *)pair.end[0].buf + 8192 + 10, "by iova");
	sge = (struct ibv_sge){ .addr = 10, .length = 8, .lkey = source->lkey };
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = 0x10000 + 20;
	wr.wr.rdma.rkey = target->rkey;
	MUST(!ibv_post_send(pair.end[0].qp, &wr, &bad));
	if (rig_poll(pair.end[0].cq, 1, &wc) == 1)
		say_wc("A", &wc, pair.end[1].qp->qp_num);
	say_check(!strcmp((char *)pair.end[1].buf + 4096 + 20, "by iova"),
		  "data arrived at the iova");
	MUST(!ibv_dereg_mr(source) && !ibv_dereg_mr(target));
	rig_pair_close(&pair);
}

void diff_mr_iova(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	uint8_t *buf = aligned_alloc(4096, BUF_SIZE);

	MUST(pd && buf);
	mr_entry_points(pd, buf);
	mr_iova_values(pd, buf);
	free(buf);
	MUST(!ibv_dealloc_pd(pd));
	mr_iova_data(rig);
}

void diff_in_use(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig->ctx);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct rig_end end;
	struct ibv_cq *cq;

	MUST(channel && pd);
	rig_end_open(pd, &conf, &end);
	SAY_RET(ibv_destroy_cq(end.cq), "destroy_cq under a QP");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd under QP and MR");
	SAY_RET(ibv_destroy_cq(end.cq), "destroy_cq under a QP, again");
	rig_qp_to(rig, &conf, end.qp, end.qp->qp_num, IBV_QPS_RTS);
	say("QP still reaches RTS");
	cq = ibv_create_cq(rig->ctx, 8, NULL, channel, 0);
	MUST(cq);
	SAY_RET(ibv_destroy_comp_channel(channel), "destroy_comp_channel under a CQ");
	SAY_RET(ibv_destroy_cq(cq), "destroy_cq");
	SAY_RET(ibv_destroy_comp_channel(channel), "destroy_comp_channel");
	SAY_RET(ibv_destroy_qp(end.qp), "destroy_qp");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd under MR");
	SAY_RET(ibv_destroy_cq(end.cq), "destroy_cq");
	SAY_RET(ibv_dereg_mr(end.mr), "dereg_mr");
	SAY_RET(ibv_dealloc_pd(pd), "dealloc_pd");
	free(end.buf);
}
