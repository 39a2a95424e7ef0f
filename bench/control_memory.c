/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control_memory.c - instructions of the calls of libibverbs for memory that control.c and
 * control_rest.c leave out: device memory, dma-bufs, buffers of the library, DMA handles, advice.
 *
 * Its headers are ours, as the distribution's lack most of the calls.
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { PAGE = 4096, DM_BYTES = 64 };

/* No installed header declares these; the distribution's providers call them. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

/* Objects that the rows use; OBJECT and FD are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_dm *dm, *exported; /* exported fills pages */
	struct ibv_dmah *dmah;
	struct ibv_buf *buf;
	void *addr; /* of buf */
	int file;   /* of pages, which softhca accepts as a dma-buf */
	void *object[EACH];
	int fd[EACH];
};

static char bytes[PAGE] __attribute__((aligned(PAGE)));

static bool object_is_made(struct world *w, int i, void *object)
{
	w->object[i] = object;
	return step_done(object ? 0 : errno);
}

static bool fd_is_made(struct world *w, int i, int fd)
{
	w->fd[i] = fd;
	return step_done(fd >= 0 ? 0 : errno);
}

static bool fd_end(struct world *w, int i)
{
	return step_done(close(w->fd[i]) ? errno : 0);
}

static bool mr_end(struct world *w, int i)
{
	return step_done(ibv_dereg_mr(w->object[i]));
}

/* ---- regions */

static bool mr_ex_make(struct world *w, int i)
{
	struct ibv_mr_init_attr attr = { .length = PAGE,
					 .access = IBV_ACCESS_LOCAL_WRITE,
					 .comp_mask = IBV_REG_MR_MASK_ADDR,
					 .addr = bytes };

	return object_is_made(w, i, ibv_reg_mr_ex(w->pd, &attr));
}

static bool mr_ex_make_of_all(struct world *w, int i)
{
	struct ibv_mr_init_attr attr = { .length = PAGE,
					 .access = IBV_ACCESS_LOCAL_WRITE,
					 .comp_mask = IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_IOVA |
						      IBV_REG_MR_MASK_DMAH,
					 .iova = PAGE,
					 .addr = bytes,
					 .dmah = w->dmah };

	if (!w->dmah)
		return false;
	return object_is_made(w, i, ibv_reg_mr_ex(w->pd, &attr));
}

static bool dmabuf_make(struct world *w, int i)
{
	return object_is_made(
		w, i, ibv_reg_dmabuf_mr(w->pd, 0, PAGE, PAGE, w->file, IBV_ACCESS_LOCAL_WRITE));
}

static bool dv_dmabuf_make(struct world *w, int i)
{
	return object_is_made(
		w, i,
		mlx5dv_reg_dmabuf_mr(w->pd, 0, PAGE, PAGE, w->file, IBV_ACCESS_LOCAL_WRITE, 0));
}

static bool mr_prefetch(struct world *w, int i)
{
	struct ibv_sge sge = { (uintptr_t)bytes, PAGE, w->mr->lkey };

	(void)i;
	return step_done(ibv_advise_mr(w->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
}

/* ---- DMA handles */

static bool dmah_make(struct world *w, int i)
{
	struct ibv_dmah_init_attr attr = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 };

	return object_is_made(w, i, ibv_alloc_dmah(w->rig.ctx, &attr));
}

static bool dmah_end(struct world *w, int i)
{
	return step_done(ibv_dealloc_dmah(w->object[i]));
}

/* ---- device memory */

static bool dm_mr_make(struct world *w, int i)
{
	return object_is_made(w, i,
			      ibv_reg_dm_mr(w->pd, w->dm, 0, DM_BYTES,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED));
}

static bool dm_import(struct world *w, int i)
{
	return object_is_made(w, i, ibv_import_dm(w->rig.ctx, w->dm->handle));
}

static bool dm_unimport(struct world *w, int i)
{
	ibv_unimport_dm(w->object[i]);
	return true;
}

static bool dm_export(struct world *w, int i)
{
	return fd_is_made(w, i, ibv_dm_export_dmabuf_fd(w->exported));
}

static bool dm_write(struct world *w, int i)
{
	(void)i;
	return step_done(ibv_memcpy_to_dm(w->dm, 0, bytes, DM_BYTES));
}

static bool dm_read(struct world *w, int i)
{
	(void)i;
	return step_done(ibv_memcpy_from_dm(bytes, w->dm, 0, DM_BYTES));
}

static bool dm_write_word(struct world *w, int i)
{
	(void)i;
	return step_done(ibv_memcpy_to_dm(w->dm, 0, bytes, sizeof(uint32_t)));
}

static bool dm_map(struct world *w, int i)
{
	w->object[i] = mlx5dv_dm_map_op_addr(w->dm, 0);
	return step_done(w->object[i] ? 0 : errno);
}

static bool dm_unmap(struct world *w, int i)
{
	void *page = (void *)((uintptr_t)w->object[i] & ~(uintptr_t)(PAGE - 1));

	return step_done(munmap(page, PAGE) ? errno : 0);
}

/* ---- buffers of the library */

static bool buf_make(struct world *w, int i)
{
	struct ibv_buf *buf = NULL;

	ibv_alloc_buf(w->pd, PAGE, &buf);
	return object_is_made(w, i, buf);
}

static bool buf_end(struct world *w, int i)
{
	ibv_free_buf(w->object[i]);
	return true;
}

static bool buf_mr_make(struct world *w, int i)
{
	if (!w->buf)
		return false;
	return object_is_made(w, i,
			      ibv_reg_buf_mr(w->pd, w->buf, w->addr, PAGE, IBV_ACCESS_LOCAL_WRITE));
}

/* ---- pages that a child must not share */

static bool range_unshare(struct world *w, int i)
{
	(void)w, (void)i;
	return step_done(ibv_dontfork_range(bytes, PAGE));
}

static bool range_share(struct world *w, int i)
{
	(void)w, (void)i;
	return step_done(ibv_dofork_range(bytes, PAGE));
}

static const struct row rows[] = {
	{ "reg_mr_ex", NULL, mr_ex_make, mr_end },
	{ "reg_mr_ex, IOVA and DMA handle", NULL, mr_ex_make_of_all, mr_end },
	{ "reg_dmabuf_mr", NULL, dmabuf_make, mr_end },
	{ "mlx5dv_reg_dmabuf_mr", NULL, dv_dmabuf_make, mr_end },
	{ "advise_mr", NULL, mr_prefetch, NULL },
	{ "alloc_dmah", NULL, dmah_make, dmah_end },
	{ "dealloc_dmah", dmah_make, dmah_end, NULL },
	{ "reg_dm_mr", NULL, dm_mr_make, mr_end },
	{ "dereg_mr of device memory", dm_mr_make, mr_end, NULL },
	{ "import_dm", NULL, dm_import, dm_unimport },
	{ "unimport_dm", dm_import, dm_unimport, NULL },
	{ "dm_export_dmabuf_fd", NULL, dm_export, fd_end },
	{ "memcpy_to_dm, 64 bytes", NULL, dm_write, NULL },
	{ "memcpy_to_dm, 4 bytes", NULL, dm_write_word, NULL },
	{ "memcpy_from_dm, 64 bytes", NULL, dm_read, NULL },
	{ "mlx5dv_dm_map_op_addr", NULL, dm_map, dm_unmap },
	{ "alloc_buf", NULL, buf_make, buf_end },
	{ "free_buf", buf_make, buf_end, NULL },
	{ "reg_buf_mr", NULL, buf_mr_make, mr_end },
	{ "dontfork_range", NULL, range_unshare, range_share },
	{ "dofork_range", range_unshare, range_share, NULL },
};

static void world_make(struct world *w)
{
	struct ibv_dmah_init_attr hint = { .comp_mask = IBV_DMAH_INIT_ATTR_MASK_PH, .ph = 1 };
	struct ibv_alloc_dm_attr dm = { .length = DM_BYTES };
	struct ibv_alloc_dm_attr whole = { .length = 2 * PAGE, .log_align_req = 12 };

	rig_open(&w->rig);
	MUST(w->pd = ibv_alloc_pd(w->rig.ctx));
	MUST(w->mr = ibv_reg_mr(w->pd, bytes, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
	MUST(w->dm = ibv_alloc_dm(w->rig.ctx, &dm));
	MUST(w->exported = ibv_alloc_dm(w->rig.ctx, &whole));
	w->dmah = ibv_alloc_dmah(w->rig.ctx, &hint);
	w->addr = ibv_alloc_buf(w->pd, PAGE, &w->buf);
	MUST((w->file = memfd_create("dma-buf", MFD_CLOEXEC)) >= 0);
	MUST(!ftruncate(w->file, 4 * PAGE));
}

static void world_end(struct world *w)
{
	MUST(!close(w->file));
	if (w->buf)
		ibv_free_buf(w->buf);
	MUST(!w->dmah || !ibv_dealloc_dmah(w->dmah));
	MUST(!ibv_free_dm(w->exported));
	MUST(!ibv_free_dm(w->dm));
	MUST(!ibv_dereg_mr(w->mr));
	MUST(!ibv_dealloc_pd(w->pd));
	rig_close(&w->rig);
}

int main(void)
{
	static struct world w;

	return rows_main(&w, rows, ARRAY_SIZE(rows), world_make, world_end);
}
