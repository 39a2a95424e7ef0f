/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - memory other than plain pinned memory: device memory, on-demand paging and its advice,
 * dma-bufs; and changes of a region that keep its keys.
 *
 * Covers: libibverbs/verbs_dm.c, libibverbs/cmd/cmd_dm.c, providers/mlx5/dm.c,
 * softhca/front/process/uverbs/dm.c, softhca/front/process/uverbs/dmabuf.c,
 * softhca/front/process/uverbs/mr_advise.c, softhca/front/process/uverbs/mr_dmabuf.c,
 * softhca/device/memory/odp.c, softhca/device/memory/pins.c
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "diff.h"

#define PAGE   4096u
#define LW     IBV_ACCESS_LOCAL_WRITE
#define RW     IBV_ACCESS_REMOTE_WRITE
#define RR     IBV_ACCESS_REMOTE_READ
#define RA     IBV_ACCESS_REMOTE_ATOMIC
#define ALL    (LW | RW | RR | RA)
#define ZB     IBV_ACCESS_ZERO_BASED
#define ODP    IBV_ACCESS_ON_DEMAND
#define DM_LEN 8192

static enum ibv_wc_status data_move(struct rig_pair *pair, enum ibv_wr_opcode opcode, uint64_t addr,
				    uint32_t lkey, uint32_t len, uint64_t remote, uint32_t rkey,
				    const char *what)
{
	struct ibv_sge sge = { .addr = addr, .length = len, .lkey = lkey };
	struct ibv_send_wr wr = { .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .wr.rdma = { remote, rkey } },
			   *bad;
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	MUST(!ibv_post_send(pair->end[0].qp, &wr, &bad));
	MUST(rig_poll(pair->end[0].cq, 1, &wc) == 1);
	say("%s: %s", what, ibv_wc_status_str(wc.status));
	if (wc.status) {
		rig_drain(pair->end[0].cq);
		rig_drain(pair->end[1].cq);
		rig_pair_reconnect(pair);
	}
	return wc.status;
}

static uint8_t *map_pages(unsigned int pages)
{
	uint8_t *buf = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(buf != MAP_FAILED);
	return buf;
}

static bool has_on_demand(struct ibv_context *ctx)
{
	struct ibv_device_attr_ex device;

	MUST(!ibv_query_device_ex(ctx, NULL, &device));
	return device.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT;
}

static void dm_sizes(struct ibv_context *ctx)
{
	static const struct {
		size_t length;
		uint32_t log_align, comp_mask;
	} cases[] = {
		{ 0, 0, 0 },       { 1, 0, 0 },        { 64, 0, 0 }, { 100, 2, 0 },
		{ 4096, 0, 0 },    { 5000, 0, 0 },     { 64, 6, 0 }, { 64, 7, 0 },
		{ 64, 12, 0 },     { 64, 13, 0 },      { 64, 0, 1 }, { 65536, 0, 0 },
		{ 1 << 30, 0, 0 }, { SIZE_MAX, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_alloc_dm_attr attr = { cases[i].length, cases[i].log_align,
						  cases[i].comp_mask };
		struct ibv_dm *dm = SAY_PTR(ibv_alloc_dm(ctx, &attr),
					    "alloc_dm length %zu align %u comp_mask %u",
					    attr.length, attr.log_align_req, attr.comp_mask);

		if (dm)
			SAY_RET(ibv_free_dm(dm), "free_dm");
	}
}

/* Prints how many pieces of a quarter of all device memory can be allocated. */
static void dm_is_used_up(struct ibv_context *ctx, uint64_t size)
{
	struct ibv_alloc_dm_attr attr = { size / 4, 0, 0 };
	struct ibv_dm *dm[8] = { NULL };
	size_t n = 0;

	while (n < ARRAY_SIZE(dm) && (dm[n] = SAY_PTR(ibv_alloc_dm(ctx, &attr), "a quarter")))
		n++;
	while (n)
		MUST(!ibv_free_dm(dm[--n]));
}

static void dm_copies(struct ibv_dm *dm)
{
	static const struct {
		uint64_t offset;
		size_t length;
	} cases[] = { { 0, 0 },  { 0, 4 },          { 4, 8 },         { 1, 4 },
		      { 0, 3 },  { 0, DM_LEN },     { 4, DM_LEN },    { DM_LEN, 4 },
		      { ~0, 4 }, { 0, DM_LEN * 2 }, { DM_LEN - 4, 4 } };
	uint8_t out[2 * DM_LEN], in[2 * DM_LEN];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = i * 5 + i / 256;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t offset = cases[i].offset;
		size_t length = cases[i].length;
		bool bad = ibv_memcpy_to_dm(dm, offset, out, length);

		say("copy to %lld length %zu: %s", (long long)offset, length,
		    bad ? "refused" : "done");
		if (bad)
			continue;
		memset(in, 0, sizeof(in));
		SAY_RET(ibv_memcpy_from_dm(in, dm, offset, length), "copy back");
		say_check(!memcmp(in, out, length), "the same bytes");
	}
}

static void dm_regions(struct ibv_pd *pd, struct ibv_dm *dm)
{
	static const struct {
		uint64_t offset;
		size_t length;
		unsigned int access;
	} cases[] = {
		{ 0, DM_LEN, ZB | LW },
		{ 0, DM_LEN, LW },
		{ 0, DM_LEN, ZB },
		{ 0, DM_LEN, ZB | ALL },
		{ 0, DM_LEN, ZB | RW },
		{ 0, DM_LEN, ZB | LW | ODP },
		{ 0, 0, ZB | LW },
		{ 1, 1, ZB | LW },
		{ DM_LEN, 0, ZB | LW },
		{ 0, DM_LEN + 1, ZB | LW },
		{ 1, DM_LEN, ZB | LW },
		{ ~0, 1, ZB | LW },
		{ 0, 64, ZB | LW | 1 << 20 },
		{ 0, 64, ZB | LW | 1 << 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_mr *mr = SAY_PTR(
			ibv_reg_dm_mr(pd, dm, cases[i].offset, cases[i].length, cases[i].access),
			"reg_dm_mr offset %lld length %zu access 0x%x", (long long)cases[i].offset,
			cases[i].length, cases[i].access);

		if (!mr)
			continue;
		say("mr length %zu addr %s keys %s", mr->length, mr->addr ? "set" : "NULL",
		    mr->lkey == mr->rkey ? "equal" : "differ");
		SAY_RET(ibv_free_dm(dm), "free_dm under a region");
		SAY_RET(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, LW),
			"rereg_mr of its access");
		SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
	}
}

static void dm_moves_data(struct rig *rig, struct ibv_dm *dm)
{
	struct rig_conf conf = rig_conf_default();
	uint64_t word = 40, sum = 0;
	struct rig_pair pair;
	struct ibv_mr *mr, *local;
	uint8_t *buf;

	rig_pair_open(rig, &conf, &pair);
	buf = pair.end[0].buf;
	local = pair.end[0].mr;
	MUST(mr = ibv_reg_dm_mr(pair.pd, dm, 64, DM_LEN - 64, ZB | ALL));
	for (size_t i = 0; i < DM_LEN; i++)
		buf[i] = i * 3 + i / 256;
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf, local->lkey, DM_LEN - 64, 0, mr->rkey,
		  "write to device memory");
	MUST(!ibv_memcpy_from_dm(buf + DM_LEN, dm, 64, DM_LEN - 64));
	say_check(!memcmp(buf, buf + DM_LEN, DM_LEN - 64), "it is there");
	memset(buf + DM_LEN, 0, DM_LEN);
	data_move(&pair, IBV_WR_RDMA_READ, (uintptr_t)buf + DM_LEN, local->lkey, 1000, 7, mr->rkey,
		  "read from device memory");
	say_check(!memcmp(buf + 7, buf + DM_LEN, 1000), "the bytes read");
	data_move(&pair, IBV_WR_RDMA_WRITE, 16, mr->lkey, 100, (uintptr_t)pair.end[1].buf,
		  pair.end[1].mr->rkey, "write out of device memory");
	say_check(!memcmp(buf + 16, pair.end[1].buf, 100), "the bytes that arrived");
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf, local->lkey, DM_LEN, 0, mr->rkey,
		  "one block too much");
	MUST(!ibv_memcpy_to_dm(dm, 128, &word, sizeof(word)));
	{
		struct ibv_sge sge = { (uintptr_t)buf, 8, local->lkey };
		struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					  .send_flags = IBV_SEND_SIGNALED,
					  .sg_list = &sge,
					  .num_sge = 1,
					  .wr.atomic = { 64, 2, 0, mr->rkey } },
				   *bad;
		struct ibv_wc wc;

		MUST(!ibv_post_send(pair.end[0].qp, &wr, &bad));
		MUST(rig_poll(pair.end[0].cq, 1, &wc) == 1);
		MUST(!ibv_memcpy_from_dm(&sum, dm, 128, sizeof(sum)));
		memcpy(&word, buf, sizeof(word));
		say("fetch and add: %s, was %d, is %d", ibv_wc_status_str(wc.status), (int)word,
		    (int)sum);
	}
	MUST(!ibv_dereg_mr(mr));
	rig_pair_close(&pair);
}

static void dm_is_imported(struct rig *rig, struct ibv_dm *dm)
{
	struct ibv_context *ctx = ibv_import_device(dup(rig->ctx->cmd_fd));
	uint32_t word = 0x12345678, seen = 0;
	struct ibv_dm *twin;

	MUST(ctx);
	MUST(twin = SAY_PTR(ibv_import_dm(ctx, dm->handle), "import_dm"));
	MUST(!ibv_memcpy_to_dm(dm, 256, &word, sizeof(word)));
	SAY_RET(ibv_memcpy_from_dm(&seen, twin, 256, sizeof(seen)), "copy from the import");
	say_check(seen == word, "it is the same memory");
	ibv_unimport_dm(twin);
	SAY_PTR(ibv_import_dm(ctx, 9999), "import no DM");
	SAY_RET(ibv_close_device(ctx), "close the import");
}

void diff_dm(struct rig *rig)
{
	struct ibv_alloc_dm_attr attr = { DM_LEN, 0, 0 };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_device_attr_ex device;
	struct ibv_dm *dm;

	MUST(pd && !ibv_query_device_ex(rig->ctx, NULL, &device));
	say("max_dm_size %llu", (unsigned long long)device.max_dm_size);
	dm_sizes(rig->ctx);
	if (!device.max_dm_size) {
		MUST(!ibv_dealloc_pd(pd));
		return;
	}
	dm_is_used_up(rig->ctx, device.max_dm_size);
	MUST(dm = SAY_PTR(ibv_alloc_dm(rig->ctx, &attr), "alloc_dm"));
	dm_copies(dm);
	dm_regions(pd, dm);
	dm_moves_data(rig, dm);
	dm_is_imported(rig, dm);
	SAY_RET(ibv_free_dm(dm), "free_dm");
	MUST(!ibv_dealloc_pd(pd));
}

static void odp_caps(struct ibv_context *ctx)
{
	struct ibv_device_attr_ex device;

	MUST(!ibv_query_device_ex(ctx, NULL, &device));
	say("general 0x%llx rc 0x%x uc 0x%x ud 0x%x xrc 0x%x",
	    (unsigned long long)device.odp_caps.general_caps,
	    device.odp_caps.per_transport_caps.rc_odp_caps,
	    device.odp_caps.per_transport_caps.uc_odp_caps,
	    device.odp_caps.per_transport_caps.ud_odp_caps, device.xrc_odp_caps);
}

static void odp_ranges(struct ibv_pd *pd, uint8_t *buf)
{
	const struct {
		const char *name;
		void *addr;
		size_t length;
		unsigned int access;
	} cases[] = {
		{ "mapped", buf, PAGE, ODP | LW },
		{ "no length", buf, 0, ODP | LW },
		{ "far beyond what is mapped", buf, (size_t)1 << 40, ODP | LW },
		{ "not mapped", (void *)(uintptr_t)PAGE, PAGE, ODP | ALL },
		{ "wraps", buf, SIZE_MAX, ODP | LW },
		{ "implicit", NULL, SIZE_MAX, ODP | LW },
		{ "implicit, all access", NULL, SIZE_MAX, ODP | ALL },
		{ "implicit without on demand", NULL, SIZE_MAX, LW },
		{ "almost implicit", NULL, SIZE_MAX - 1, ODP | LW },
		{ "remote write only", buf, PAGE, ODP | RW },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_mr *mr =
			SAY_PTR(ibv_reg_mr(pd, cases[i].addr, cases[i].length, cases[i].access),
				"%s", cases[i].name);

		if (mr)
			SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
	}
	SAY_PTR(ibv_reg_mr_iova(pd, NULL, SIZE_MAX, PAGE, ODP | LW), "implicit with an iova");
}

/* Writes from a region with pages on demand. Mappings change while the region stays. */
static void odp_follows_mappings(struct rig *rig, bool implicit)
{
	struct rig_conf conf = rig_conf_default();
	uint8_t *buf = map_pages(4), *to;
	struct rig_pair pair;
	struct ibv_mr *mr;
	uint32_t rkey;

	rig_pair_open(rig, &conf, &pair);
	to = pair.end[1].buf;
	rkey = pair.end[1].mr->rkey;
	MUST(mr = ibv_reg_mr(pair.pd, implicit ? NULL : buf, implicit ? SIZE_MAX : 4 * PAGE,
			     ODP | ALL));
	memset(buf, 1, 4 * PAGE);
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf, mr->lkey, 4 * PAGE, (uintptr_t)to, rkey,
		  "all pages");
	MUST(!munmap(buf + PAGE, 2 * PAGE));
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf, mr->lkey, PAGE, (uintptr_t)to, rkey,
		  "the page before the hole");
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf + 100, mr->lkey, PAGE, (uintptr_t)to,
		  rkey, "into the hole");
	data_move(&pair, IBV_WR_RDMA_READ, (uintptr_t)buf + PAGE, mr->lkey, 8, (uintptr_t)to, rkey,
		  "a read to the hole");
	MUST(mmap(buf + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == buf + PAGE);
	memset(buf + PAGE, 7, 2 * PAGE);
	memset(to, 0, 4 * PAGE);
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf, mr->lkey, 4 * PAGE, (uintptr_t)to, rkey,
		  "new pages in the hole");
	say_check(!memcmp(buf, to, 4 * PAGE), "what the new pages hold");
	/* The region is the remote side here. */
	data_move(&pair, IBV_WR_RDMA_READ, (uintptr_t)pair.end[0].buf, pair.end[0].mr->lkey, PAGE,
		  (uintptr_t)buf + PAGE, mr->rkey, "read from it");
	say_check(pair.end[0].buf[0] == 7, "what was read");
	MUST(!munmap(buf, 4 * PAGE));
	data_move(&pair, IBV_WR_RDMA_READ, (uintptr_t)pair.end[0].buf, pair.end[0].mr->lkey, PAGE,
		  (uintptr_t)buf, mr->rkey, "read from what is gone");
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)pair.end[0].buf, pair.end[0].mr->lkey, PAGE,
		  (uintptr_t)buf, mr->rkey, "write to what is gone");
	SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
	rig_pair_close(&pair);
}

static void odp_needs_rights(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	uint8_t *buf = map_pages(1);
	struct ibv_mr *mr;

	rig_pair_open(rig, &conf, &pair);
	MUST(!mprotect(buf, PAGE, PROT_READ));
	MUST(mr = ibv_reg_mr(pair.pd, buf, PAGE, ODP | ALL));
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)buf, mr->lkey, 8, (uintptr_t)pair.end[1].buf,
		  pair.end[1].mr->rkey, "out of read-only memory");
	data_move(&pair, IBV_WR_RDMA_READ, (uintptr_t)buf, mr->lkey, 8, (uintptr_t)pair.end[1].buf,
		  pair.end[1].mr->rkey, "into read-only memory");
	MUST(!ibv_dereg_mr(mr));
	munmap(buf, PAGE);
	rig_pair_close(&pair);
}

void diff_odp(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	uint8_t *buf = map_pages(1);

	MUST(pd);
	odp_caps(rig->ctx);
	odp_ranges(pd, buf);
	if (has_on_demand(rig->ctx)) {
		odp_follows_mappings(rig, false);
		odp_follows_mappings(rig, true);
		odp_needs_rights(rig);
	}
	munmap(buf, PAGE);
	MUST(!ibv_dealloc_pd(pd));
}

struct advice {
	const char *name;
	enum ibv_advise_mr_advice advice;
	uint32_t flags;
	uint64_t offset;
	uint32_t length;
	int num_sge;
};

static void advise_about(struct ibv_pd *pd, const struct ibv_mr *mr, uint64_t base,
			 const char *whose)
{
	static const struct advice cases[] = {
		{ "prefetch", IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 0, PAGE, 1 },
		{ "prefetch now", IBV_ADVISE_MR_ADVICE_PREFETCH, 1, 0, 2 * PAGE, 1 },
		{ "prefetch to write", IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 1, 5, PAGE, 1 },
		{ "prefetch without faults", IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 1, 0, PAGE,
		  1 },
		{ "beyond the end, later", IBV_ADVISE_MR_ADVICE_PREFETCH, 0, PAGE, 4 * PAGE, 1 },
		{ "beyond the end, now", IBV_ADVISE_MR_ADVICE_PREFETCH, 1, PAGE, 4 * PAGE, 1 },
		{ "unknown advice", 99, 0, 0, PAGE, 1 },
		{ "unknown flag", IBV_ADVISE_MR_ADVICE_PREFETCH, 2, 0, PAGE, 1 },
		{ "no range", IBV_ADVISE_MR_ADVICE_PREFETCH, 0, 0, PAGE, 0 },
		{ "no length", IBV_ADVISE_MR_ADVICE_PREFETCH, 1, 0, 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_sge sge = { base + cases[i].offset, cases[i].length, mr->lkey };

		SAY_RET(ibv_advise_mr(pd, cases[i].advice, cases[i].flags, &sge, cases[i].num_sge),
			"%s: %s", whose, cases[i].name);
	}
}

static void range_advise(struct ibv_pd *pd, struct ibv_pd *other, uint8_t *buf)
{
	struct ibv_mr *mr, *plain, *reader, *all;
	struct ibv_sge sges[2];

	MUST(mr = ibv_reg_mr(pd, buf, 2 * PAGE, ODP | LW));
	MUST(reader = ibv_reg_mr(pd, buf, 2 * PAGE, ODP));
	MUST(plain = ibv_reg_mr(pd, buf, 2 * PAGE, LW));
	MUST(all = ibv_reg_mr(pd, NULL, SIZE_MAX, ODP | LW));
	advise_about(pd, mr, (uintptr_t)buf, "on demand");
	advise_about(pd, reader, (uintptr_t)buf, "on demand, read only");
	advise_about(pd, all, (uintptr_t)buf, "implicit");
	advise_about(pd, plain, (uintptr_t)buf, "pinned");
	advise_about(other, mr, (uintptr_t)buf, "other PD");
	sges[0] = (struct ibv_sge){ (uintptr_t)buf, PAGE, mr->lkey };
	sges[1] = (struct ibv_sge){ (uintptr_t)buf, PAGE, ~0u };
	SAY_RET(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, sges, 2), "one key of none");
	munmap(buf, 2 * PAGE);
	SAY_RET(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, sges, 1), "gone, later");
	SAY_RET(ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 1, sges, 1), "gone, now");
	MUST(!ibv_dereg_mr(mr) && !ibv_dereg_mr(plain) && !ibv_dereg_mr(reader) &&
	     !ibv_dereg_mr(all));
}

void diff_advise(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx), *other = ibv_alloc_pd(rig->ctx);
	uint8_t *buf = map_pages(8);

	MUST(pd && other && !mprotect(buf + 2 * PAGE, 6 * PAGE, PROT_NONE));
	if (has_on_demand(rig->ctx))
		range_advise(pd, other, buf);
	munmap(buf, 8 * PAGE);
	MUST(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other));
}

static void dmabuf_values(struct ibv_pd *pd, int fd)
{
	static const struct {
		uint64_t offset;
		size_t length;
		uint64_t iova;
		unsigned int access;
	} cases[] = {
		{ 0, PAGE, 0, LW },     { 0, 4 * PAGE, 0, ALL },      { 0, 4 * PAGE + 1, 0, LW },
		{ PAGE, PAGE, 0, LW },  { 100, 50, 100, LW },         { 100, 50, 0, LW },
		{ 0, 0, 0, LW },        { 5 * PAGE, 1, 0, LW },       { 0, PAGE, PAGE * 16, 0 },
		{ 0, PAGE, 0, RW },     { 0, PAGE, 0, LW | ODP },     { 0, PAGE, 0, LW | ZB },
		{ 0, SIZE_MAX, 0, LW }, { 0, PAGE, 0, LW | 1 << 20 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_mr *mr = SAY_PTR(ibv_reg_dmabuf_mr(pd, cases[i].offset, cases[i].length,
							      cases[i].iova, fd, cases[i].access),
					    "offset %llu length %zu iova %llu access 0x%x",
					    (unsigned long long)cases[i].offset, cases[i].length,
					    (unsigned long long)cases[i].iova, cases[i].access);

		if (mr)
			SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
	}
}

static void dmabuf_moves_data(struct rig *rig, int fd, const uint8_t *memory)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_mr *mr;

	rig_pair_open(rig, &conf, &pair);
	MUST(mr = ibv_reg_dmabuf_mr(pair.pd, PAGE + 64, 2 * PAGE, 64, fd, ALL));
	memset(pair.end[0].buf, 0x3c, 2 * PAGE);
	data_move(&pair, IBV_WR_RDMA_WRITE, (uintptr_t)pair.end[0].buf, pair.end[0].mr->lkey,
		  2 * PAGE, 64, mr->rkey, "write to a dma-buf");
	say_check(memory[PAGE + 63] == 0 && memory[PAGE + 64] == 0x3c &&
			  memory[3 * PAGE + 63] == 0x3c && memory[3 * PAGE + 64] == 0,
		  "its range");
	data_move(&pair, IBV_WR_RDMA_WRITE, 64, mr->lkey, 100, (uintptr_t)pair.end[1].buf,
		  pair.end[1].mr->rkey, "write out of it");
	say_check(!memcmp(pair.end[1].buf, memory + PAGE + 64, 100), "what arrived");
	SAY_RET(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, LW), "less access");
	SAY_RET(ibv_dereg_mr(mr), "dereg_mr");
	rig_pair_close(&pair);
}

void diff_dmabuf(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	int fd = memfd_create("buffer", MFD_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct ibv_mr *mr;
	uint8_t *memory;

	MUST(pd && fd >= 0 && null >= 0 && !ftruncate(fd, 4 * PAGE));
	memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(memory != MAP_FAILED);
	dmabuf_values(pd, fd);
	SAY_PTR(ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, null, LW), "a file that is no dma-buf");
	SAY_PTR(ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, 999, LW), "a closed descriptor");
	SAY_PTR(ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, -1, LW), "no descriptor");
	mr = ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, fd, LW);
	if (mr) {
		MUST(!ibv_dereg_mr(mr));
		dmabuf_moves_data(rig, fd, memory);
	}
	munmap(memory, 4 * PAGE);
	close(fd);
	close(null);
	MUST(!ibv_dealloc_pd(pd));
}

static void mr_change(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		      int access, const char *what)
{
	uint32_t lkey = mr->lkey, rkey = mr->rkey;
	int ret = SAY_RET(ibv_rereg_mr(mr, flags, pd, addr, length, access), "%s", what);

	if (!ret)
		say("lkey %s, rkey %s", mr->lkey == lkey ? "stays" : "is new",
		    mr->rkey == rkey ? "stays" : "is new");
}

static void change_on_demand(struct ibv_pd *pd, uint8_t *buf)
{
	const int moved = IBV_REREG_MR_CHANGE_TRANSLATION, rights = IBV_REREG_MR_CHANGE_ACCESS;
	struct ibv_mr *mr;

	MUST(mr = ibv_reg_mr(pd, buf, PAGE, ODP | LW));
	mr_change(mr, rights, NULL, NULL, 0, ODP | LW | RR, "on demand: more rights");
	mr_change(mr, rights, NULL, NULL, 0, LW, "on demand no more");
	mr_change(mr, moved, NULL, buf, 2 * PAGE, 0, "on demand: another range");
	MUST(!ibv_dereg_mr(mr));
	MUST(mr = ibv_reg_mr(pd, NULL, SIZE_MAX, ODP | LW));
	mr_change(mr, rights, NULL, NULL, 0, ODP | LW | RR, "implicit: more rights");
	mr_change(mr, rights, NULL, NULL, 0, LW, "implicit, on demand no more");
	MUST(!ibv_dereg_mr(mr));
}

void diff_rereg_keys(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx), *other = ibv_alloc_pd(rig->ctx);
	const int moved = IBV_REREG_MR_CHANGE_TRANSLATION, rights = IBV_REREG_MR_CHANGE_ACCESS;
	uint8_t *buf = map_pages(64);
	struct ibv_mr *mr;

	MUST(pd && other);
	MUST(mr = ibv_reg_mr(pd, buf, PAGE, LW));
	mr_change(mr, rights, NULL, NULL, 0, ALL, "more rights");
	mr_change(mr, rights, NULL, NULL, 0, 0, "no rights");
	mr_change(mr, rights, NULL, NULL, 0, LW | IBV_ACCESS_MW_BIND, "windows");
	mr_change(mr, rights, NULL, NULL, 0, LW | IBV_ACCESS_MW_BIND | RR, "a right, with windows");
	mr_change(mr, IBV_REREG_MR_CHANGE_PD, other, NULL, 0, 0, "PD");
	mr_change(mr, moved, NULL, buf + PAGE, 2 * PAGE, 0, "another range");
	mr_change(mr, moved | rights, NULL, buf, PAGE, LW, "another range, without windows");
	MUST(!ibv_dereg_mr(mr));
	if (has_on_demand(rig->ctx))
		change_on_demand(pd, buf);
	MUST(mr = ibv_alloc_null_mr(pd));
	mr_change(mr, rights, NULL, NULL, 0, LW, "null region");
	MUST(!ibv_dereg_mr(mr));
	munmap(buf, 64 * PAGE);
	MUST(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(other));
}
