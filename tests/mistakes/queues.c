/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - mistakes with completion queues, their events, and the order of destruction.
 *
 * Covers: libibverbs/cmd/cmd_cq.c, libibverbs/events.c, libibverbs/check/waits.c
 */
#include "mistakes.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static struct scene *scene_usual(void)
{
	struct rig_conf conf = scene_conf();

	return scene_open(&conf);
}

static int create_errno(int cqe, int vector)
{
	struct scene *scene = scene_usual();

	MUST(!ibv_create_cq(scene->rig.ctx, cqe, NULL, NULL, vector));
	return errno;
}

MISTAKE(cq_of_0_entries)
{
	MUST(create_errno(0, 0) == EINVAL);
}

MISTAKE(cq_vector_beyond)
{
	MUST(create_errno(16, 10000) == EINVAL);
}

MISTAKE(cq_in_use)
{
	struct scene *scene = scene_usual();

	MUST(ibv_destroy_cq(scene->near->cq) == EBUSY);
}

MISTAKE(srq_in_use)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);
	struct ibv_qp_init_attr attr;

	rig_qp_init_attr(&conf, scene->near->cq, &attr);
	attr.srq = ibv_create_srq(scene->pair.pd, &srq);
	MUST(attr.srq && ibv_create_qp(scene->pair.pd, &attr));
	MUST(ibv_destroy_srq(attr.srq) == EBUSY);
}

static struct scene *scene_with_channel(void)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene = scene_open_apart(&conf);

	conf.channel = ibv_create_comp_channel(scene->rig.ctx);
	MUST(conf.channel);
	for (int i = 0; i < 2; i++)
		rig_end_open(scene->pair.pd, &conf, &scene->pair.end[i]);
	scene->conf.channel = conf.channel;
	rig_pair_reconnect(&scene->pair);
	return scene;
}

MISTAKE(channel_in_use)
{
	struct scene *scene = scene_with_channel();

	MUST(ibv_destroy_comp_channel(scene->conf.channel) == EBUSY);
}

static void must_not_wake(struct scene *scene)
{
	struct pollfd fd = { .fd = scene->conf.channel->fd, .events = POLLIN };

	scene_receive(scene->far, 64);
	scene_send(scene, IBV_WR_SEND);
	MUST(poll(&fd, 1, 200) == 0);
	must_end(scene->far, IBV_WC_SUCCESS);
}

MISTAKE(cq_not_armed)
{
	must_not_wake(scene_with_channel());
}

MISTAKE(cq_armed_for_solicited)
{
	struct scene *scene = scene_with_channel();

	MUST(!ibv_req_notify_cq(scene->far->cq, 1));
	must_not_wake(scene);
}

static void wait_for_event(struct scene *scene)
{
	struct ibv_cq *cq;
	void *context;

	MUST(!ibv_get_cq_event(scene->conf.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
}

MISTAKE(cq_not_armed_waited)
{
	struct scene *scene = scene_with_channel();

	scene_receive(scene->far, 64);
	alarm(3); /* a limit, as the call that follows never returns */
	wait_for_event(scene);
	MUST(!"the call returns");
}

static void *send_late(void *of)
{
	struct scene *scene = of;

	usleep(1500000);
	scene_send(scene, IBV_WR_SEND);
	return NULL;
}

MISTAKE(right_wait_of_armed_cq)
{
	struct scene *scene = scene_with_channel();
	pthread_t thread;

	scene_receive(scene->far, 64);
	MUST(!ibv_req_notify_cq(scene->far->cq, 0));
	MUST(!pthread_create(&thread, NULL, send_late, scene));
	wait_for_event(scene);
	must_end(scene->far, IBV_WC_SUCCESS);
}

/* Polls for longer than the checker's patience before it arms the CQ. */
static void *poll_long(void *of)
{
	struct scene *scene = of;
	struct ibv_wc wc;

	for (int i = 0; i < 150; i++) {
		MUST(!ibv_poll_cq(scene->far->cq, 1, &wc));
		usleep(10000);
	}
	MUST(!ibv_req_notify_cq(scene->far->cq, 0));
	scene_send(scene, IBV_WR_SEND);
	return NULL;
}

MISTAKE(right_wait_while_another_thread_polls)
{
	struct scene *scene = scene_with_channel();
	pthread_t thread;

	scene_receive(scene->far, 64);
	MUST(!pthread_create(&thread, NULL, poll_long, scene));
	wait_for_event(scene);
	must_end(scene->far, IBV_WC_SUCCESS);
}

MISTAKE(cq_events_not_acknowledged)
{
	struct scene *scene = scene_with_channel();
	struct ibv_cq *cq;
	void *context;

	MUST(!ibv_req_notify_cq(scene->near->cq, 0));
	scene_send(scene, IBV_WR_RDMA_WRITE);
	MUST(!ibv_get_cq_event(scene->conf.channel, &cq, &context));
	MUST(!ibv_destroy_qp(scene->near->qp));
	alarm(3); /* a limit, as the call that follows never returns */
	ibv_destroy_cq(cq);
	MUST(!"the call returns");
}

MISTAKE(cq_overflow)
{
	struct rig_conf conf = scene_conf();
	struct ibv_async_event event;
	struct scene *scene;
	struct ibv_wc wc[2];

	conf.cqe = 1;
	scene = scene_open(&conf);
	for (int i = 0; i < 4; i++)
		scene_send(scene, IBV_WR_RDMA_WRITE);
	MUST(!ibv_get_async_event(scene->rig.ctx, &event));
	MUST(event.event_type == IBV_EVENT_CQ_ERR || event.event_type == IBV_EVENT_QP_FATAL);
	ibv_poll_cq(scene->near->cq, 2, wc);
}

MISTAKE(completion_without_signal)
{
	struct scene *scene = scene_usual();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);

	wr.send_flags = 0;
	scene_post(scene, &wr);
	MUST(!rig_drain(scene->near->cq));
}

MISTAKE(flushed_after_failure)
{
	struct scene *scene = scene_usual();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);

	scene_receive(scene->near, 64);
	wr.wr.rdma.rkey = 0;
	scene_post(scene, &wr);
	must_end(scene->near, IBV_WC_REM_ACCESS_ERR);
	must_end(scene->near, IBV_WC_WR_FLUSH_ERR);
}

MISTAKE(flushed_after_error_state)
{
	struct scene *scene = scene_usual();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	MUST(!ibv_modify_qp(scene->near->qp, &attr, IBV_QP_STATE));
	scene_send(scene, IBV_WR_SEND);
	must_end(scene->near, IBV_WC_WR_FLUSH_ERR);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake queue_mistakes[] = {
	ROW(cq_of_0_entries),
	ROW(cq_vector_beyond),
	ROW(cq_in_use),
	ROW(srq_in_use),
	ROW(channel_in_use),
	ROW(cq_not_armed),
	ROW(cq_armed_for_solicited),
	ROW(cq_not_armed_waited),
	ROW(right_wait_of_armed_cq),
	ROW(right_wait_while_another_thread_polls),
	ROW(cq_events_not_acknowledged),
	ROW(cq_overflow),
	ROW(completion_without_signal),
	ROW(flushed_after_failure),
	ROW(flushed_after_error_state),
	{ 0 },
};
