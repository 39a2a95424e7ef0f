/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lives.c - objects that are destroyed while requests need them, or used afterwards, which the
 * checker sees.
 */
#include "mistakes.h"

/* Opens a scene whose near CQ the program has polled. */
static struct scene *scene_polled(void)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open(&conf);
	struct ibv_wc wc;

	MUST(!ibv_poll_cq(scene->near->cq, 1, &wc));
	return scene;
}

/* ---- requests that have not completed ---- */

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

MISTAKE(queue_pair_gone_before_completion)
{
	struct scene *scene = scene_polled();

	scene_send(scene, IBV_WR_SEND);
	MUST(!ibv_destroy_qp(scene->near->qp));
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

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake life_mistakes[] = {
	ROW(region_gone_before_receive),
	ROW(region_gone_before_completion),
	ROW(queue_pair_gone_before_completion),
	ROW(right_destruction_after_completion),
	{ 0 },
};
