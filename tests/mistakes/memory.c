/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - mistakes with memory regions and their keys.
 *
 * Covers: providers/common/syndrome.c, providers/mlx5/data/cq/cqe_error.c,
 * libibverbs/cmd/cmd_mr.c
 */
#include "mistakes.h"

#include <endian.h>
#include <sys/mman.h>

typedef void spoil_wr_fn(struct scene *scene, struct ibv_send_wr *wr);

static void fails(unsigned int mr_access, enum ibv_wr_opcode opcode, spoil_wr_fn *spoil,
		  enum ibv_wc_status status)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	conf.mr_access = mr_access;
	scene = scene_open(&conf);
	wr = scene_wr(scene, opcode, &sge);
	if (spoil)
		spoil(scene, &wr);
	scene_post(scene, &wr);
	must_end(scene->near, status);
}

#define ALL (IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE)

static void spoil_lkey_pd(struct scene *scene, struct ibv_send_wr *wr)
{
	struct ibv_pd *pd = ibv_alloc_pd(scene->rig.ctx);
	struct ibv_mr *mr = ibv_reg_mr(pd, scene->near->buf, 4096, IBV_ACCESS_LOCAL_WRITE);

	MUST(mr);
	wr->sg_list->lkey = mr->lkey;
}

MISTAKE(lkey_of_another_pd)
{
	fails(ALL, IBV_WR_SEND, spoil_lkey_pd, IBV_WC_LOC_PROT_ERR);
}

static void spoil_lkey_dead(struct scene *scene, struct ibv_send_wr *wr)
{
	struct ibv_mr *mr = ibv_reg_mr(scene->pair.pd, scene->near->buf, 4096, 0);

	MUST(mr);
	wr->sg_list->lkey = mr->lkey;
	MUST(!ibv_dereg_mr(mr));
}

MISTAKE(lkey_deregistered)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_lkey_dead, IBV_WC_LOC_PROT_ERR);
}

static void spoil_local_range(struct scene *scene, struct ibv_send_wr *wr)
{
	wr->sg_list->addr += scene->conf.buf_size - 32;
}

MISTAKE(buffer_beyond_region)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_local_range, IBV_WC_LOC_PROT_ERR);
}

static void spoil_lkey_zero(struct scene *scene, struct ibv_send_wr *wr)
{
	(void)scene;
	wr->sg_list->lkey = 0;
}

MISTAKE(lkey_0)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_lkey_zero, IBV_WC_LOC_PROT_ERR);
}

static void spoil_lkey_order(struct scene *scene, struct ibv_send_wr *wr)
{
	(void)scene;
	wr->sg_list->lkey = htobe32(wr->sg_list->lkey);
}

MISTAKE(lkey_swapped)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_lkey_order, IBV_WC_LOC_PROT_ERR);
}

MISTAKE(read_into_readonly_region)
{
	fails(IBV_ACCESS_REMOTE_READ, IBV_WR_RDMA_READ, NULL, IBV_WC_LOC_PROT_ERR);
}

static struct scene *send_into_readonly(void)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	conf.mr_access = 0;
	scene = scene_open(&conf);
	scene_receive(scene->far, 64);
	scene_send(scene, IBV_WR_SEND);
	return scene;
}

MISTAKE(receive_into_readonly_region)
{
	must_end(send_into_readonly()->far, IBV_WC_LOC_PROT_ERR);
}

MISTAKE(peer_receives_into_readonly_region)
{
	must_end(send_into_readonly()->near, IBV_WC_REM_OP_ERR);
}

MISTAKE(region_forbids_write)
{
	fails(IBV_ACCESS_LOCAL_WRITE, IBV_WR_RDMA_WRITE, NULL, IBV_WC_REM_ACCESS_ERR);
}

MISTAKE(region_forbids_read)
{
	fails(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, IBV_WR_RDMA_READ, NULL,
	      IBV_WC_REM_ACCESS_ERR);
}

MISTAKE(region_forbids_atomic)
{
	fails(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD, NULL,
	      IBV_WC_REM_ACCESS_ERR);
}

static void spoil_rkey_order(struct scene *scene, struct ibv_send_wr *wr)
{
	(void)scene;
	wr->wr.rdma.rkey = htobe32(wr->wr.rdma.rkey);
}

MISTAKE(rkey_swapped)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_rkey_order, IBV_WC_REM_ACCESS_ERR);
}

static void spoil_raddr_order(struct scene *scene, struct ibv_send_wr *wr)
{
	(void)scene;
	/* The low bytes of a page's address may be 0, so the swapped one would look usual. */
	wr->wr.rdma.remote_addr = htobe64(wr->wr.rdma.remote_addr + 64);
}

MISTAKE(remote_address_swapped)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_raddr_order, IBV_WC_REM_ACCESS_ERR);
}

static void spoil_raddr_unset(struct scene *scene, struct ibv_send_wr *wr)
{
	(void)scene;
	wr->wr.rdma.remote_addr = 0;
	wr->wr.rdma.rkey = 0;
}

MISTAKE(remote_address_unset)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_raddr_unset, IBV_WC_REM_ACCESS_ERR);
}

static void spoil_remote_range(struct scene *scene, struct ibv_send_wr *wr)
{
	wr->wr.rdma.remote_addr += scene->conf.buf_size - 32;
}

MISTAKE(write_beyond_region)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_remote_range, IBV_WC_REM_ACCESS_ERR);
}

static void spoil_rkey_dead(struct scene *scene, struct ibv_send_wr *wr)
{
	struct ibv_mr *mr = ibv_reg_mr(scene->pair.pd, scene->far->buf, 4096, ALL);

	MUST(mr);
	wr->wr.rdma.rkey = mr->rkey;
	MUST(!ibv_dereg_mr(mr));
}

MISTAKE(rkey_deregistered)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_rkey_dead, IBV_WC_REM_ACCESS_ERR);
}

static void spoil_rkey_pd(struct scene *scene, struct ibv_send_wr *wr)
{
	struct ibv_pd *pd = ibv_alloc_pd(scene->rig.ctx);
	struct ibv_mr *mr = ibv_reg_mr(pd, scene->far->buf, 4096, ALL);

	MUST(mr);
	wr->wr.rdma.rkey = mr->rkey;
}

MISTAKE(rkey_of_another_pd)
{
	fails(ALL, IBV_WR_RDMA_WRITE, spoil_rkey_pd, IBV_WC_REM_ACCESS_ERR);
}

static int register_errno(void *addr, size_t length, int access)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	MUST(!ibv_reg_mr(scene->pair.pd, addr, length, access));
	return errno;
}

static char buffer[8192];

MISTAKE(register_remote_without_local_write)
{
	MUST(register_errno(buffer, sizeof(buffer), IBV_ACCESS_REMOTE_WRITE) == EINVAL);
}

MISTAKE(register_unmapped)
{
	MUST(register_errno((void *)0x1000, 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
}

MISTAKE(register_readonly_for_writing)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(page != MAP_FAILED);
	MUST(register_errno(page, 4096, IBV_ACCESS_LOCAL_WRITE) == EFAULT);
}

MISTAKE(register_unknown_access)
{
	MUST(register_errno(buffer, sizeof(buffer), 1 << 15) != 0);
}

MISTAKE(pd_with_regions)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	MUST(ibv_dealloc_pd(scene->pair.pd) == EBUSY);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake memory_mistakes[] = {
	ROW(lkey_of_another_pd),
	ROW(lkey_deregistered),
	ROW(buffer_beyond_region),
	ROW(lkey_0),
	ROW(lkey_swapped),
	ROW(read_into_readonly_region),
	ROW(receive_into_readonly_region),
	ROW(peer_receives_into_readonly_region),
	ROW(region_forbids_write),
	ROW(region_forbids_read),
	ROW(region_forbids_atomic),
	ROW(rkey_swapped),
	ROW(remote_address_swapped),
	ROW(remote_address_unset),
	ROW(write_beyond_region),
	ROW(rkey_deregistered),
	ROW(rkey_of_another_pd),
	ROW(register_remote_without_local_write),
	ROW(register_unmapped),
	ROW(register_readonly_for_writing),
	ROW(register_unknown_access),
	ROW(pd_with_regions),
	{ 0 },
};
