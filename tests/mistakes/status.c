/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status.c - programs that hang, and ask why by the signal that VERBS_STATUS_SIGNAL names.
 *
 * Covers: libibverbs/check/status.c
 */
#include "mistakes.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct scene *scene_asking(const struct rig_conf *conf)
{
	MUST(!setenv("VERBS_STATUS_SIGNAL", "SIGUSR2", 1));
	return scene_open(conf);
}

static struct scene *scene_asking_usual(void)
{
	struct rig_conf conf = scene_conf();

	return scene_asking(&conf);
}

static void status_ask(void)
{
	raise(SIGUSR2);
	usleep(500000); /* the answer comes from another thread */
}

static void poll_nothing(struct rig_end *end)
{
	struct ibv_wc wc;

	MUST(!ibv_poll_cq(end->cq, 1, &wc));
}

MISTAKE(hang_without_signal)
{
	struct scene *scene = scene_asking_usual();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);

	wr.send_flags = 0;
	scene_post(scene, &wr);
	poll_nothing(scene->near);
	status_ask();
}

MISTAKE(hang_of_cq_not_polled)
{
	struct scene *scene = scene_asking_usual();

	scene_send(scene, IBV_WR_RDMA_WRITE);
	usleep(1200000);
	status_ask();
}

static struct scene *scene_with_events(int solicited_only)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	MUST(!setenv("VERBS_STATUS_SIGNAL", "SIGUSR2", 1));
	scene = scene_open_apart(&conf);
	conf.channel = ibv_create_comp_channel(scene->rig.ctx);
	MUST(conf.channel);
	for (int i = 0; i < 2; i++)
		rig_end_open(scene->pair.pd, &conf, &scene->pair.end[i]);
	rig_pair_reconnect(&scene->pair);
	scene_receive(scene->far, 64);
	if (solicited_only)
		MUST(!ibv_req_notify_cq(scene->far->cq, 1));
	usleep(1200000);
	return scene;
}

MISTAKE(hang_of_cq_not_armed)
{
	scene_with_events(0);
	status_ask();
}

MISTAKE(hang_of_cq_armed_for_solicited)
{
	scene_with_events(1);
	status_ask();
}

MISTAKE(hang_without_receive)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	conf.rnr_retry = 7;
	scene = scene_asking(&conf);
	scene_send(scene, IBV_WR_SEND);
	usleep(100000);
	poll_nothing(scene->near);
	status_ask();
}

MISTAKE(hang_of_idle_program)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	MUST(!setenv("VERBS_STATUS_IDLE", "1", 1));
	scene = scene_open(&conf);
	scene_receive(scene->far, 64);
	poll_nothing(scene->far);
	usleep(3500000);
}

MISTAKE(status_idle_unknown)
{
	struct rig_conf conf = scene_conf();

	MUST(!setenv("VERBS_STATUS_IDLE", "soon", 1));
	scene_open(&conf);
}

/* The send of an unknown key fails, and the adapter counts it. */
MISTAKE(status_with_counters)
{
	struct scene *scene = scene_asking_usual();
	struct ibv_sge sge;
	struct ibv_send_wr wr = scene_wr(scene, IBV_WR_RDMA_WRITE, &sge);

	wr.wr.rdma.rkey ^= 0x100;
	scene_post(scene, &wr);
	usleep(300000);
	status_ask();
}

MISTAKE(hang_without_message)
{
	struct scene *scene = scene_asking_usual();

	scene_receive(scene->far, 64);
	poll_nothing(scene->far);
	status_ask();
}

MISTAKE(hang_of_failed_qp)
{
	struct scene *scene = scene_asking_usual();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	MUST(!ibv_modify_qp(scene->near->qp, &attr, IBV_QP_STATE));
	status_ask();
}

MISTAKE(hang_before_connection)
{
	struct rig_conf conf = scene_conf();
	struct scene *scene;

	MUST(!setenv("VERBS_STATUS_SIGNAL", "12", 1));
	scene = scene_open_apart(&conf);
	scene_to(scene, scene->near, IBV_QPS_INIT, IBV_QPS_RESET, NULL);
	scene_receive(scene->near, 64);
	raise(12);
	usleep(500000);
}

static void signal_take(int number)
{
	(void)number;
}

MISTAKE(status_signal_of_the_program)
{
	signal(SIGUSR2, signal_take);
	scene_asking_usual();
}

MISTAKE(status_signal_unknown)
{
	struct rig_conf conf = scene_conf();

	MUST(!setenv("VERBS_STATUS_SIGNAL", "USR3", 1));
	scene_open(&conf);
}

MISTAKE(status_signal_ignored)
{
	signal(SIGUSR2, SIG_IGN);
	scene_asking_usual();
}

MISTAKE(status_signal_that_always_ends)
{
	struct rig_conf conf = scene_conf();

	MUST(!setenv("VERBS_STATUS_SIGNAL", "9", 1));
	scene_open(&conf);
}

/* Threads inherit the set of blocked signals, so nobody of the program takes this one. */
MISTAKE(status_signal_blocked)
{
	struct scene *scene;
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	MUST(!sigprocmask(SIG_BLOCK, &blocked, NULL));
	scene = scene_asking_usual();
	scene_receive(scene->far, 64);
	poll_nothing(scene->far);
	MUST(!kill(getpid(), SIGUSR2));
	usleep(500000);
}

/* Nobody answers in a child, which the signal ends as without the checker. */
MISTAKE(status_signal_of_a_child)
{
	pid_t child;
	int status;

	scene_asking_usual();
	child = fork();
	MUST(child >= 0);
	if (!child) {
		raise(SIGUSR2);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
}

#define ROW(name)           \
	{                   \
#name, name \
	}

const struct mistake status_mistakes[] = {
	ROW(hang_without_signal),
	ROW(hang_of_cq_not_polled),
	ROW(hang_of_cq_not_armed),
	ROW(hang_of_cq_armed_for_solicited),
	ROW(hang_without_receive),
	ROW(hang_of_idle_program),
	ROW(status_idle_unknown),
	ROW(status_with_counters),
	ROW(hang_without_message),
	ROW(hang_of_failed_qp),
	ROW(hang_before_connection),
	ROW(status_signal_of_the_program),
	ROW(status_signal_unknown),
	ROW(status_signal_ignored),
	ROW(status_signal_that_always_ends),
	ROW(status_signal_blocked),
	ROW(status_signal_of_a_child),
	{ 0 },
};
