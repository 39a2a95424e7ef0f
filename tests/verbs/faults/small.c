/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * small.c - lives of the small objects of direct verbs: schedulers with a QP, numbers, doorbell
 * pages, memory keys, memory of the adapter, and exposed objects.
 *
 * Covers: providers/mlx5/dv/sched.c, providers/mlx5/dv/pp.c, providers/mlx5/dv/var.c,
 * providers/mlx5/dv/uar.c, providers/mlx5/dv/mkey.c, providers/mlx5/dv/dm.c
 */
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faults.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "tests/verbs/devx/dx.h"

static uint8_t memory[4 * DX_PAGE] __attribute__((aligned(4 * DX_PAGE)));

static struct mlx5dv_sched_leaf *live_tree(struct life *l)
{
	struct mlx5dv_sched_attr attr = { 0 };
	struct mlx5dv_sched_leaf *leaf;

	attr.parent =
		KEEP(l, mlx5dv_sched_node_create(l->rig.ctx, &attr), mlx5dv_sched_node_destroy);
	if (!attr.parent)
		return NULL;
	attr.flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_BW_SHARE;
	attr.bw_share = 3;
	attr.parent =
		KEEP(l, mlx5dv_sched_node_create(l->rig.ctx, &attr), mlx5dv_sched_node_destroy);
	if (!attr.parent || !OK(l, mlx5dv_sched_node_modify(attr.parent, &attr)))
		return NULL;
	leaf = KEEP(l, mlx5dv_sched_leaf_create(l->rig.ctx, &attr), mlx5dv_sched_leaf_destroy);
	return leaf && OK(l, mlx5dv_sched_leaf_modify(leaf, &attr)) ? leaf : NULL;
}

static struct ibv_qp *live_connected(struct life *l)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
					    .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_qp *qp;

	attr.pd = life_pd(l);
	attr.send_cq = attr.recv_cq = attr.pd ? life_cq(l) : NULL;
	qp = attr.send_cq ? life_qp(l, &attr) : NULL;
	return qp && life_connect(l, qp) ? qp : NULL;
}

static void live_scheduled_qp(struct life *l)
{
	struct mlx5dv_sched_leaf *leaf = live_tree(l);
	struct ibv_qp *qp = leaf ? live_connected(l) : NULL;

	if (qp && OK(l, mlx5dv_modify_qp_sched_elem(qp, leaf, NULL)))
		OK(l, mlx5dv_modify_qp_sched_elem(qp, NULL, NULL));
}

static struct {
	struct ibv_context *ctx;
	uint32_t n;
} number;

static int number_free(void *unused)
{
	(void)unused;
	return mlx5dv_reserved_qpn_dealloc(number.ctx, number.n);
}

static void live_numbers(struct life *l)
{
	number.ctx = l->rig.ctx;
	if (OK(l, mlx5dv_reserved_qpn_alloc(l->rig.ctx, &number.n)))
		KEEP(l, &number, number_free);
}

static int page_free(void *page)
{
	mlx5dv_devx_free_uar(page);
	return 0;
}

static int var_free(void *var)
{
	mlx5dv_free_var(var);
	return 0;
}

static void live_pages(struct life *l)
{
	if (KEEP(l, mlx5dv_devx_alloc_uar(l->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_BF), page_free) &&
	    KEEP(l, mlx5dv_devx_alloc_uar(l->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_BF), page_free) &&
	    KEEP(l, mlx5dv_devx_alloc_uar(l->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_NC), page_free))
		KEEP(l, mlx5dv_alloc_var(l->rig.ctx, 0), var_free);
}

static void live_mkey(struct life *l)
{
	struct mlx5dv_mkey_init_attr attr = { .create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
					      .max_entries = 4 };

	attr.pd = life_pd(l);
	if (attr.pd)
		KEEP(l, mlx5dv_create_mkey(&attr), mlx5dv_destroy_mkey);
}

/* UMEMs with a requested page size, and from a file. */
static void live_umems(struct life *l)
{
	struct mlx5dv_devx_umem_in in = { .addr = memory,
					  .size = sizeof(memory),
					  .access = IBV_ACCESS_LOCAL_WRITE,
					  .pgsz_bitmap = 1 << 12 };
	int fd;

	if (!KEEP(l, mlx5dv_devx_umem_reg_ex(l->rig.ctx, &in), mlx5dv_devx_umem_dereg))
		return;
	fd = memfd_create("pages", MFD_CLOEXEC);
	MUST(fd >= 0 && !ftruncate(fd, sizeof(memory)));
	in.addr = NULL;
	in.dmabuf_fd = fd;
	in.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
	KEEP(l, mlx5dv_devx_umem_reg_ex(l->rig.ctx, &in), mlx5dv_devx_umem_dereg);
	close(fd);
}

static void live_typed_dm(struct life *l)
{
	struct ibv_alloc_dm_attr attr = { .length = 256 };
	struct mlx5dv_alloc_dm_attr dv = { .type = MLX5DV_DM_TYPE_MEMIC };

	KEEP(l, mlx5dv_alloc_dm(l->rig.ctx, &attr, &dv), ibv_free_dm);
}

static bool lacks_dm(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr)
{
	(void)ctx;
	return !attr->max_dm_size;
}

/* Each is hardly more than a number. */
static void live_domains_by_devx(struct life *l)
{
	static const uint32_t opcodes[] = { PRM_OP_ALLOC_PD, PRM_OP_ALLOC_TRANSPORT_DOMAIN,
					    PRM_OP_ALLOC_XRCD, PRM_OP_ALLOC_Q_COUNTER };
	struct dx_command cmd;

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		dx_command(&cmd, opcodes[i], 16);
		if (!KEEP(l,
			  mlx5dv_devx_obj_create(l->rig.ctx, cmd.in, 16, cmd.out, sizeof(cmd.out)),
			  mlx5dv_devx_obj_destroy))
			return;
	}
	dx_command(&cmd, PRM_OP_QUERY_ADAPTER, 16);
	OK(l, mlx5dv_devx_general_cmd(l->rig.ctx, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

static bool lay_open(struct life *l, struct ibv_qp *qp)
{
	struct mlx5dv_qp dv_qp = { .comp_mask = MLX5DV_QP_MASK_UAR_MMAP_OFFSET };
	struct mlx5dv_cq dv_cq = { 0 };
	struct mlx5dv_pd dv_pd = { 0 };
	struct mlx5dv_obj obj = { .qp = { qp, &dv_qp },
				  .cq = { qp->send_cq, &dv_cq },
				  .pd = { qp->pd, &dv_pd } };

	return OK(l, mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ | MLX5DV_OBJ_PD));
}

static void live_laid_open(struct life *l)
{
	struct ibv_qp *qp = live_connected(l);
	struct mlx5dv_context dv = { .comp_mask = UINT64_MAX };
	struct dx_command cmd;

	if (!qp || !lay_open(l, qp) || !OK(l, mlx5dv_query_device(l->rig.ctx, &dv)))
		return;
	dx_command(&cmd, PRM_OP_QUERY_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, qp->qp_num);
	if (!OK(l, mlx5dv_devx_qp_query(qp, cmd.in, 16, cmd.out, sizeof(cmd.out))))
		return;
	dx_command(&cmd, PRM_OP_2ERR_QP, 16);
	fld_set(cmd.in, QUERY_QP_IN_QPN, qp->qp_num);
	OK(l, mlx5dv_devx_qp_modify(qp, cmd.in, 16, cmd.out, sizeof(cmd.out)));
}

static void live_source_port(struct life *l)
{
	struct ibv_qp *qp = live_connected(l);

	if (qp)
		OK(l, mlx5dv_modify_qp_udp_sport(qp, 55555));
}

const struct life_kind life_small[] = {
	{ .name = "scheduled-qp", .live = live_scheduled_qp },
	{ .name = "numbers", .live = live_numbers },
	{ .name = "pages", .live = live_pages },
	{ .name = "indirect-key", .live = live_mkey },
	{ .name = "umems", .live = live_umems },
	{ .name = "typed-dm", .live = live_typed_dm, .lacks = lacks_dm },
	{ .name = "domains-by-devx", .live = live_domains_by_devx },
	{ .name = "laid-open", .live = live_laid_open },
	{ .name = "source-port", .live = live_source_port, .eth_only = true },
	{ .name = NULL },
};
