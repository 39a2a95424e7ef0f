/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * processes.c - cm-processes: processes that exit or fork while other threads are inside the
 * libraries.
 *
 * Covers: librdmacm/leave.c, librdmacm/device.c, libibverbs/device.c
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "tests/lib/allocator_forks.h"
#include "tests/lib/topics.h"

enum { ENDS = 50, FORKS = 8, CHILD_S = 60 };

static int in_child(void (*body)(void *arg), void *arg)
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child) {
		alarm(CHILD_S);
		body(arg);
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	return status;
}

static struct ibv_cq *cq;
static struct ibv_qp *qp;
static pthread_barrier_t started;

static void *poll_for_ever(void *unused)
{
	struct ibv_wc wc;

	pthread_barrier_wait(&started);
	while (ibv_poll_cq(cq, 1, &wc) >= 0)
		;
	return unused;
}

static void *post_for_ever(void *unused)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	pthread_barrier_wait(&started);
	for (;;) {
		ibv_post_recv(qp, &wr, &bad); /* until the queue is full */
		MUST(!ibv_req_notify_cq(cq, 0));
	}
	return unused;
}

static void make_queues(struct ibv_context *context)
{
	struct ibv_qp_init_attr init = { .cap = { 4, 64, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_pd *pd = ibv_alloc_pd(context);

	cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	MUST(pd && cq);
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	MUST(qp &&
	     !ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS));
}

/* The library keeps the context after the id is destroyed, because another id may use the
 * device. */
static struct ibv_context *context_of_an_id_that_was(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = cm_resolved(channel, RDMA_PS_TCP, 7471);
	struct ibv_context *context = id->verbs;

	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return context;
}

static struct ibv_context *context_of_the_list(void)
{
	struct ibv_context **list = rdma_get_devices(NULL), *context;

	MUST(list && *list);
	context = *list;
	rdma_free_devices(list);
	return context;
}

/* Two threads use a CQ and a QP during exit(), until the kernel ends them, so the library must free
 * neither. */
static void end_beside_threads(void *arg)
{
	struct ibv_context *(**of)(void) = arg;
	pthread_t thread;

	make_queues((*of)());
	MUST(!pthread_barrier_init(&started, NULL, 3));
	MUST(!pthread_create(&thread, NULL, poll_for_ever, NULL));
	MUST(!pthread_create(&thread, NULL, post_for_ever, NULL));
	pthread_barrier_wait(&started);
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	exit(0);
}

static void processes_exit(void)
{
	struct ibv_context *(*ofs[])(void) = { context_of_the_list, context_of_an_id_that_was };
	int bad = 0;

	for (int i = 0; i < ENDS; i++)
		bad += in_child(end_beside_threads, &ofs[i % 2]) != 0;
	say_check(!bad, "exit() beside threads that poll: %d of %d ended otherwise", bad, ENDS);
}

static pthread_barrier_t about_to_list;

static void list_devices(void *unused)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	(void)unused;
	MUST(list && *list);
	rdma_free_devices(list);
}

static void *list_in_thread(void *unused)
{
	pthread_barrier_wait(&about_to_list);
	list_devices(NULL);
	return unused;
}

static void fork_beside_first_list(void *arg)
{
	const struct timespec delay = { .tv_nsec = *(int *)arg * 50000L };
	pthread_t thread;
	int status;

	MUST(!pthread_barrier_init(&about_to_list, NULL, 2));
	MUST(!pthread_create(&thread, NULL, list_in_thread, NULL));
	pthread_barrier_wait(&about_to_list);
	nanosleep(&delay, NULL);
	status = in_child(list_devices, NULL);
	MUST(!pthread_join(thread, NULL));
	_exit(status ? 1 : 0);
}

/* Forks at several moments, as one fork may miss the lock of the list: without the library's fork
 * handler, 21 of 24 children hung. */
static void processes_fork(void)
{
	int bad = 0;

	for (int i = 0; i < FORKS; i++)
		bad += in_child(fork_beside_first_list, &i) != 0;
	say_check(!bad, "a child of fork() beside the first list: %d of %d hang", bad, FORKS);
}

static const struct topic topics[] = {
	{ "exit", processes_exit },
	{ "fork", processes_fork },
};

int main(int argc, char **argv)
{
	TOPICS_CHOOSE(topics, argc, argv);
	if (!ALLOCATOR_FORKS)
		topic_skip("fork", ALLOCATOR_FORKS_NOT);
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	return topics_end();
}
