/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checked.c - mistakes that only the checker sees (VERBS_CHECK=1).
 *
 * Covers: libibverbs/check/
 */
#include "mistakes.h"

#include <infiniband/mlx5dv.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scene *scene_usual(void)
{
	struct rig_conf conf = scene_conf();

	return scene_open(&conf);
}

/* Opens the scene without lines of providers, which would hide that the checker says nothing. */
static struct scene *scene_quiet(void)
{
	MUST(!setenv("VERBS_LOG", "error", 1));
	return scene_usual();
}

MISTAKE(lkey_of_shrunk_region)
{
	struct scene *scene = scene_usual();

	MUST(!ibv_rereg_mr(scene->near->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, scene->near->buf,
			   32, 0));
	scene_send(scene, IBV_WR_RDMA_WRITE);
	must_end(scene->near, IBV_WC_LOC_PROT_ERR);
}

MISTAKE(device_memory_beyond_region)
{
	struct scene *scene = scene_usual();
	struct ibv_alloc_dm_attr attr = { .length = 64 };
	struct ibv_dm *dm = ibv_alloc_dm(scene->rig.ctx, &attr);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);
	struct ibv_mr *mr;

	MUST(dm);
	mr = ibv_reg_dm_mr(scene->pair.pd, dm, 0, 64,
			   IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE);
	MUST(mr);
	sge = (struct ibv_sge){ 32, 64, mr->lkey };
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_LOC_PROT_ERR);
}

MISTAKE(srq_receive_of_another_pd)
{
	struct scene *scene = scene_usual();
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_pd *pd = ibv_alloc_pd(scene->rig.ctx);
	struct ibv_srq *srq = pd ? ibv_create_srq(pd, &init) : NULL;
	struct ibv_sge sge = { (uintptr_t)scene->near->buf, 64, scene->near->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = 0x77, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(srq);
	MUST(!ibv_post_srq_recv(srq, &wr, &bad));
}

MISTAKE(datagram_by_handle_of_another_pd)
{
	struct scene *scene = scene_usual();
	struct ibv_qp *qp = scene_datagram_qp(scene, scene->pair.pd, scene->near->cq, 0);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, &sge), *bad;

	wr.wr.ud.ah = scene_address(scene, ibv_alloc_pd(scene->rig.ctx));
	wr.wr.ud.remote_qpn = qp->qp_num;
	MUST(!ibv_post_send(qp, &wr, &bad));
}

MISTAKE(datagram_by_destroyed_handle)
{
	struct scene *scene = scene_usual();
	struct ibv_qp *qp = scene_datagram_qp(scene, scene->pair.pd, scene->near->cq, 0);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, &sge), *bad;

	wr.wr.ud.ah = scene_address(scene, scene->pair.pd);
	wr.wr.ud.remote_qpn = qp->qp_num;
	MUST(!ibv_destroy_ah(wr.wr.ud.ah));
	ibv_post_send(qp, &wr, &bad);
}

/* wr.rdma.remote_addr is where wr.ud.ah would be. */
MISTAKE(datagram_of_wrong_opcode)
{
	struct scene *scene = scene_quiet();
	struct ibv_qp *qp = scene_datagram_qp(scene, scene->pair.pd, scene->near->cq, 0);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge), *bad;

	wr.wr.rdma.remote_addr = 0x1000;
	MUST(ibv_post_send(qp, &wr, &bad) == EINVAL);
}

MISTAKE(num_sge_negative)
{
	struct scene *scene = scene_quiet();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, &sge), *bad;

	wr.sg_list = NULL;
	wr.num_sge = -1;
	MUST(ibv_post_send(scene->near->qp, &wr, &bad));
	wr.num_sge = 1 << 20;
	MUST(ibv_post_send(scene->near->qp, &wr, &bad));
}

MISTAKE(receive_num_sge_above_limit)
{
	struct scene *scene = scene_quiet();
	struct ibv_recv_wr wr = { .num_sge = 1 << 20 }, *bad;

	MUST(ibv_post_recv(scene->near->qp, &wr, &bad) == EINVAL);
}

MISTAKE(srq_receive_num_sge_above_limit)
{
	struct scene *scene = scene_quiet();
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(scene->pair.pd, &init);
	struct ibv_recv_wr wr = { .num_sge = 1 << 20 }, *bad;

	MUST(srq);
	MUST(ibv_post_srq_recv(srq, &wr, &bad) == EINVAL);
}

/* An invalidation names no buffer, so its list is not read. */
MISTAKE(invalidate_with_num_sge)
{
	struct scene *scene = scene_quiet();
	struct ibv_send_wr wr = { .num_sge = 1,
				  .opcode = IBV_WR_LOCAL_INV,
				  .invalidate_rkey = scene->near->mr->rkey },
			   *bad;

	ibv_post_send(scene->near->qp, &wr, &bad);
}

/* All null regions share one lkey, so it lives on with the second one. */
MISTAKE(right_null_region)
{
	struct scene *scene = scene_quiet();
	struct ibv_mr *first = ibv_alloc_null_mr(scene->pair.pd);
	struct ibv_mr *second = ibv_alloc_null_mr(ibv_alloc_pd(scene->rig.ctx));
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);

	MUST(first && second && first->lkey == second->lkey);
	sge.lkey = first->lkey;
	scene_post(scene, &wr);
	MUST(!ibv_dereg_mr(second));
	scene_post(scene, &wr);
}

/* Posts a list that is longer than the CQ, of which the queue takes a part that is not. */
MISTAKE(right_list_refused)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_quiet();
	struct ibv_recv_wr wrs[200] = { 0 }, *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	rig_qp_init_attr(&conf, ibv_create_cq(scene->rig.ctx, 100, NULL, NULL, 0), &init);
	init.cap.max_recv_wr = 32;
	qp = ibv_create_qp(scene->pair.pd, &init);
	MUST(qp && qp->recv_cq->cqe < 200 && (int)init.cap.max_recv_wr <= qp->recv_cq->cqe);
	rig_qp_to(&scene->rig, &conf, qp, scene->far->qp->qp_num, IBV_QPS_INIT);
	for (int i = 0; i < 199; i++)
		wrs[i].next = &wrs[i + 1];
	MUST(ibv_post_recv(qp, wrs, &bad) == ENOMEM);
}

/* Destroys queue pairs of direct verbs with their receives: these take no place in the CQ. */
MISTAKE(right_direct_queue_pairs)
{
	struct scene *scene = scene_quiet();
	struct ibv_cq *cq = ibv_create_cq(scene->rig.ctx, 32, NULL, NULL, 0);
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC,
					    .send_cq = cq,
					    .recv_cq = cq,
					    .pd = scene->pair.pd,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .cap = { 1, 16, 1, 1, 0 } };
	struct mlx5dv_qp_init_attr direct = { 0 };
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;

	MUST(cq && cq->cqe < 8 * 16);
	for (int i = 0; i < 8; i++) {
		struct ibv_qp *qp = mlx5dv_create_qp(scene->rig.ctx, &init, &direct);
		struct rig_end end = { .qp = qp };

		MUST(qp);
		scene_to(scene, &end, IBV_QPS_INIT, IBV_QPS_RESET, NULL);
		for (int j = 0; j < 16; j++)
			MUST(!ibv_post_recv(qp, &wr, &bad));
		MUST(!ibv_destroy_qp(qp));
	}
}

/* A child that ends need not destroy what its parent made, as the parent does. */
MISTAKE(right_child_exits)
{
	struct rig rig;
	struct ibv_pd *pd;
	pid_t child;
	int status;

	MUST(!setenv("VERBS_CHECK", "leaks", 1));
	rig_open(&rig);
	pd = ibv_alloc_pd(rig.ctx);
	child = fork();
	if (!child)
		exit(0);
	MUST(child > 0 && waitpid(child, &status, 0) == child && !status);
	MUST(!ibv_dealloc_pd(pd));
}

/* An import shares the lkey of the region, so it outlives that. */
MISTAKE(right_import_beside_region)
{
	struct scene *scene = scene_quiet();
	struct ibv_mr *mr = ibv_import_mr(scene->pair.pd, scene->near->mr->handle);

	MUST(mr && mr->lkey == scene->near->mr->lkey);
	ibv_unimport_mr(mr);
	scene_send(scene, IBV_WR_RDMA_WRITE);
	must_end(scene->near, IBV_WC_SUCCESS);
}

/* The device writes 8 bytes, whatever the length, so a longer buffer is no fault. */
MISTAKE(right_atomic_with_long_buffer)
{
	struct scene *scene = scene_quiet();
	struct ibv_mr *mr = ibv_reg_mr(scene->pair.pd, scene->near->buf, 8, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_ATOMIC_FETCH_AND_ADD, &sge);

	MUST(mr);
	sge.length = 64;
	sge.lkey = mr->lkey;
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_SUCCESS);
}

MISTAKE(cq_smaller_than_receives)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	conf.cqe = 1;
	scene = scene_open(&conf);
	MUST(scene->near->cq->cqe < (int)conf.cap.max_recv_wr);
	for (unsigned int i = 0; i < conf.cap.max_recv_wr; i++)
		scene_receive(scene->near, 64);
}

MISTAKE(never_destroyed)
{
	struct rig rig;

	MUST(!setenv("VERBS_CHECK", "leaks", 1));
	rig_open(&rig);
	MUST(ibv_alloc_pd(rig.ctx));
	exit(0);
}

static void abort_caught(int signal)
{
	(void)signal;
	_exit(0);
}

static void receive_into_readonly(const char *setting)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	MUST(!setenv("VERBS_CHECK", setting, 1));
	MUST(signal(SIGABRT, abort_caught) != SIG_ERR);
	conf.mr_access = 0;
	scene = scene_open(&conf);
	scene_receive(scene->near, 64);
}

MISTAKE(first_mistake_aborts)
{
	receive_into_readonly("abort");
	MUST(!"alive");
}

MISTAKE(mistake_aborts_by_name)
{
	receive_into_readonly("off:VERBS-MR-001,abort:VERBS-MR-004");
	MUST(!"alive");
}

MISTAKE(mistake_muted_by_name)
{
	receive_into_readonly("off:VERBS-MR-004");
}

MISTAKE(name_unknown)
{
	MUST(!setenv("VERBS_CHECK", "off:VERBS-MR-099", 1));
	scene_usual();
}

MISTAKE(first_mistake_aborts_unlogged)
{
	MUST(!setenv("VERBS_LOG", "off", 1));
	first_mistake_aborts();
}

MISTAKE(setting_unknown)
{
	MUST(!setenv("VERBS_CHECK", "1,leak", 1));
	scene_usual();
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake checked_mistakes[] = {
	ROW(lkey_of_shrunk_region),
	ROW(device_memory_beyond_region),
	ROW(srq_receive_of_another_pd),
	ROW(datagram_by_handle_of_another_pd),
	ROW(datagram_by_destroyed_handle),
	ROW(datagram_of_wrong_opcode),
	ROW(num_sge_negative),
	ROW(receive_num_sge_above_limit),
	ROW(srq_receive_num_sge_above_limit),
	ROW(invalidate_with_num_sge),
	ROW(right_null_region),
	ROW(right_list_refused),
	ROW(right_direct_queue_pairs),
	ROW(right_child_exits),
	ROW(right_import_beside_region),
	ROW(right_atomic_with_long_buffer),
	ROW(cq_smaller_than_receives),
	ROW(never_destroyed),
	ROW(first_mistake_aborts),
	ROW(first_mistake_aborts_unlogged),
	ROW(mistake_aborts_by_name),
	ROW(mistake_muted_by_name),
	ROW(name_unknown),
	ROW(setting_unknown),
	{ 0 },
};
