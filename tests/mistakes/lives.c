/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lives.c - objects that are destroyed while requests need them, or used by a process or thread
 * that may not, which the checker sees.
 */
#include "mistakes.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scene *scene_polled(void)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open(&conf);
	struct ibv_wc wc;

	MUST(!ibv_poll_cq(scene->near->cq, 1, &wc));
	return scene;
}

MISTAKE(region_gone_before_receive)
{
	struct scene *scene = scene_polled();

	scene_receive(scene->near, 64);
	MUST(!ibv_dereg_mr(scene->near->mr));
}

MISTAKE(region_gone_before_completion)
{
	struct scene *scene = scene_polled();

	scene_send(scene, IBV_WR_RDMA_WRITE);
	MUST(!ibv_dereg_mr(scene->near->mr));
}

MISTAKE(right_destruction_after_completion)
{
	struct scene *scene = scene_polled();

	scene_receive(scene->far, 64);
	scene_send(scene, IBV_WR_SEND);
	must_end(scene->near, IBV_WC_SUCCESS);
	MUST(!ibv_dereg_mr(scene->near->mr));
	MUST(!ibv_destroy_qp(scene->near->qp));
	MUST(!ibv_destroy_qp(scene->far->qp));
	MUST(!ibv_dereg_mr(scene->far->mr));
}

MISTAKE(queue_pair_destroyed_twice)
{
	struct scene *scene = scene_polled();

	MUST(!ibv_destroy_qp(scene->near->qp));
	MUST(ibv_destroy_qp(scene->near->qp) == EINVAL);
}

MISTAKE(post_to_destroyed_queue_pair)
{
	struct scene *scene = scene_polled();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_SEND, &sge), *bad = NULL;

	MUST(!ibv_destroy_qp(scene->near->qp));
	MUST(ibv_post_send(scene->near->qp, &wr, &bad) == EINVAL && bad == &wr);
}

MISTAKE(destroyed_cq_polled)
{
	struct scene *scene = scene_polled();
	struct ibv_wc wc;

	MUST(!ibv_destroy_qp(scene->near->qp));
	MUST(!ibv_destroy_cq(scene->near->cq));
	MUST(ibv_poll_cq(scene->near->cq, 1, &wc) < 0);
}

/* A new object often gets the memory of the last one, so the checker must not take it for that. */
MISTAKE(right_queue_pair_after_another)
{
	struct scene *scene = scene_polled();
	struct ibv_qp_init_attr_ex init = { .qp_type = IBV_QPT_RC,
					    .send_cq = scene->near->cq,
					    .recv_cq = scene->near->cq,
					    .pd = scene->pair.pd,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .cap = scene->conf.cap };

	MUST(!ibv_destroy_qp(scene->near->qp));
	for (int i = 0; i < 8; i++) {
		struct ibv_qp *qp = ibv_create_qp_ex(scene->rig.ctx, &init);

		MUST(qp);
		MUST(!ibv_destroy_qp(qp));
		qp = mlx5dv_create_qp(scene->rig.ctx, &init, NULL);
		MUST(qp);
		MUST(!ibv_destroy_qp(qp));
	}
}

/* Runs BODY in a child, which must end by itself. */
static void child_run(struct scene *scene, void (*body)(struct scene *scene))
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child) {
		body(scene);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child && !status);
}

static void near_poll(struct scene *scene)
{
	struct ibv_wc wc;

	ibv_poll_cq(scene->near->cq, 1, &wc);
}

MISTAKE(child_polls_of_its_parent)
{
	child_run(scene_polled(), near_poll);
}

static void near_destroy(struct scene *scene)
{
	ibv_destroy_qp(scene->near->qp);
}

MISTAKE(child_destroys_of_its_parent)
{
	child_run(scene_polled(), near_destroy);
}

static void device_open(struct scene *scene)
{
	struct rig_conf conf = scene->conf;

	near_poll(scene_open(&conf));
}

MISTAKE(right_child_opens_the_device)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open(&conf);

	child_run(scene, device_open);
	near_poll(scene);
}

/* Opens a QP without a lock, by its thread domain. */
static struct ibv_qp_ex *qp_of_thread(struct scene *scene)
{
	struct ibv_td_init_attr td_init = { 0 };
	struct ibv_parent_domain_init_attr domain_init = {
		.pd = scene->pair.pd, .td = ibv_alloc_td(scene->rig.ctx, &td_init)
	};
	struct ibv_pd *domain = ibv_alloc_parent_domain(scene->rig.ctx, &domain_init);
	struct ibv_qp *qp;

	MUST(domain);
	qp = scene_datagram_qp(scene, domain, scene->near->cq, 0);
	return ibv_qp_to_qp_ex(qp);
}

static void *batch_abort(void *qp)
{
	ibv_wr_start(qp);
	ibv_wr_abort(qp);
	return NULL;
}

/* Another thread has a batch while this one has. */
static void batches_meet(struct ibv_qp_ex *qp)
{
	pthread_t thread;

	MUST(qp);
	ibv_wr_start(qp);
	MUST(!pthread_create(&thread, NULL, batch_abort, qp));
	MUST(!pthread_join(thread, NULL));
	ibv_wr_abort(qp);
}

MISTAKE(two_threads_of_thread_domain)
{
	struct rig_conf conf = scene_conf();

	conf.send_ops = IBV_QP_EX_WITH_SEND;
	batches_meet(qp_of_thread(scene_open(&conf)));
}

MISTAKE(right_threads_one_after_the_other)
{
	struct rig_conf conf = scene_conf();
	struct ibv_qp_ex *qp;
	pthread_t thread;

	conf.send_ops = IBV_QP_EX_WITH_SEND;
	qp = qp_of_thread(scene_open(&conf));
	batch_abort(qp);
	MUST(!pthread_create(&thread, NULL, batch_abort, qp));
	MUST(!pthread_join(thread, NULL));
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake life_mistakes[] = {
	ROW(region_gone_before_receive),
	ROW(region_gone_before_completion),
	ROW(right_destruction_after_completion),
	ROW(queue_pair_destroyed_twice),
	ROW(post_to_destroyed_queue_pair),
	ROW(destroyed_cq_polled),
	ROW(right_queue_pair_after_another),
	ROW(child_polls_of_its_parent),
	ROW(child_destroys_of_its_parent),
	ROW(right_child_opens_the_device),
	ROW(two_threads_of_thread_domain),
	ROW(right_threads_one_after_the_other),
	{ 0 },
};
