/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * batches.c - mistakes with ibv_wr_*() that only the checker sees (VERBS_CHECK=1).
 *
 * Covers: libibverbs/check/batches.c
 */
#include "mistakes.h"

#include <unistd.h>

/* Opens a scene whose near end has a QP of TYPE for sends, and an RC one for READs too. */
static struct scene *scene_of_batches(enum ibv_qp_type type, struct ibv_qp_ex **qp)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	conf.send_ops = IBV_QP_EX_WITH_SEND;
	if (type == IBV_QPT_RC)
		conf.send_ops |= IBV_QP_EX_WITH_RDMA_READ;
	scene = scene_open(&conf);
	if (type == IBV_QPT_UD)
		scene->near->qp = scene_datagram_qp(scene, scene->pair.pd, scene->near->cq, 0);
	*qp = ibv_qp_to_qp_ex(scene->near->qp);
	MUST(*qp);
	(*qp)->wr_id = 0x5e4d;
	(*qp)->wr_flags = IBV_SEND_SIGNALED;
	return scene;
}

static struct scene *scene_usual(struct ibv_qp_ex **qp)
{
	return scene_of_batches(IBV_QPT_RC, qp);
}

static void sge_set(const struct scene *scene, struct ibv_qp_ex *qp)
{
	ibv_wr_set_sge(qp, scene->near->mr->lkey, (uintptr_t)scene->near->buf, 64);
}

static void must_hang(void)
{
	alarm(2);
}

MISTAKE(wr_without_start)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);

	ibv_wr_send(qp);
	sge_set(scene, qp);
}

MISTAKE(wr_complete_without_start)
{
	struct ibv_qp_ex *qp;

	scene_usual(&qp);
	ibv_wr_complete(qp);
}

MISTAKE(wr_start_twice)
{
	struct ibv_qp_ex *qp;

	scene_usual(&qp);
	ibv_wr_start(qp);
	must_hang();
	ibv_wr_start(qp);
	MUST(!"the call returns");
}

MISTAKE(wr_post_send_in_batch)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);

	ibv_wr_start(qp);
	must_hang();
	scene_send(scene, IBV_WR_SEND);
	MUST(!"the call returns");
}

MISTAKE(wr_without_data)
{
	struct ibv_qp_ex *qp;

	scene_usual(&qp);
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_complete(qp);
}

MISTAKE(wr_setter_before_operation)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);

	ibv_wr_start(qp);
	sge_set(scene, qp);
	MUST(!ibv_wr_complete(qp));
	MUST(!rig_drain(scene->near->cq));
}

MISTAKE(wr_setter_twice)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	sge_set(scene, qp);
	ibv_wr_set_inline_data(qp, scene->near->buf, 8);
	ibv_wr_abort(qp);
}

/* It works here; another provider may have no function to call. */
MISTAKE(wr_operation_not_asked_for)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);

	ibv_wr_start(qp);
	ibv_wr_rdma_write(qp, scene->far->mr->rkey, (uintptr_t)scene->far->buf);
	sge_set(scene, qp);
	MUST(!ibv_wr_complete(qp));
	must_end(scene->near, IBV_WC_SUCCESS);
}

MISTAKE(wr_datagram_without_address)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_of_batches(IBV_QPT_UD, &qp);

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	sge_set(scene, qp);
	MUST(!ibv_wr_complete(qp));
}

MISTAKE(wr_datagram_by_handle_of_another_pd)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_of_batches(IBV_QPT_UD, &qp);
	struct ibv_ah *ah = scene_address(scene, ibv_alloc_pd(scene->rig.ctx));

	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ah, scene->far->qp->qp_num, 0);
	sge_set(scene, qp);
	MUST(!ibv_wr_complete(qp));
}

MISTAKE(wr_buffer_beyond_region)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);

	MUST(!ibv_rereg_mr(scene->near->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, scene->near->buf,
			   32, 0));
	scene_receive(scene->far, 64);
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	sge_set(scene, qp);
	MUST(!ibv_wr_complete(qp));
	must_end(scene->near, IBV_WC_LOC_PROT_ERR);
}

MISTAKE(wr_read_into_readonly_region)
{
	struct ibv_qp_ex *qp;
	struct scene *scene = scene_usual(&qp);
	struct ibv_sge sge = { (uintptr_t)scene->near->buf, 64, 0 };
	struct ibv_mr *mr = ibv_reg_mr(scene->pair.pd, scene->near->buf, 64, 0);

	MUST(mr);
	sge.lkey = mr->lkey;
	ibv_wr_start(qp);
	ibv_wr_rdma_read(qp, scene->far->mr->rkey, (uintptr_t)scene->far->buf);
	ibv_wr_set_sge_list(qp, 1, &sge);
	MUST(!ibv_wr_complete(qp));
	must_end(scene->near, IBV_WC_LOC_PROT_ERR);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake batch_mistakes[] = {
	ROW(wr_without_start),
	ROW(wr_complete_without_start),
	ROW(wr_start_twice),
	ROW(wr_post_send_in_batch),
	ROW(wr_without_data),
	ROW(wr_setter_before_operation),
	ROW(wr_setter_twice),
	ROW(wr_operation_not_asked_for),
	ROW(wr_datagram_without_address),
	ROW(wr_datagram_by_handle_of_another_pd),
	ROW(wr_buffer_beyond_region),
	ROW(wr_read_into_readonly_region),
	{ 0 },
};
