/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id.c - creates ids and event channels, moves ids to another channel, and destroys both.
 *
 * The kernel counts the events of an id that were read; the id's memory may be freed only when the
 * same number was acknowledged. An id created without a channel has its own, and its calls wait
 * (cm_id.waits).
 */
#include "cma.h"

#include <infiniband/ib.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/checker.h"
#include "util/threads.h"

static int channel_create(struct rdma_event_channel **out)
{
	struct rdma_event_channel *channel = malloc(sizeof(*channel));
	int ret;

	if (!channel)
		return ENOMEM;
	verbs_threads_look();
	ret = rdmacm_device_must_exist();
	if (!ret)
		ret = rdmacm_cmd_open(&channel->fd);
	if (ret) {
		free(channel);
		return ret;
	}
	*out = channel;
	return 0;
}

CMA_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct rdma_event_channel *channel = NULL;

	cma_return(channel_create(&channel));
	return channel;
}

CMA_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
	free(channel);
}

int rdmacm_id_alloc(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		    enum ibv_qp_type qp_type, struct cm_id **out)
{
	struct cm_id *cm = rdmacm_id_memory();
	int ret = 0;

	if (!cm)
		return ENOMEM;
	cm->id.channel = channel;
	cm->id.context = context;
	cm->id.ps = ps;
	cm->id.qp_type = qp_type;
	cm->waits = !channel;
	if (cm->waits)
		ret = channel_create(&cm->id.channel);
	if (ret) {
		rdmacm_id_memory_free(cm);
		return ret;
	}
	*out = cm;
	return 0;
}

/* Resets the lock in a child, because a thread of the parent may have held it, and does not exist
 * here to release it. */
void rdmacm_id_forked(struct cm_id *cm)
{
	rdmacm_id_init_lock(cm);
}

void rdmacm_id_free(struct cm_id *cm)
{
	struct cm_multicast *multicast;

	while ((multicast = LIST_FIRST(&cm->multicasts)) != NULL) {
		LIST_REMOVE(multicast, entry);
		free(multicast);
	}
	if (cm->waits)
		rdma_destroy_event_channel(cm->id.channel);
	rdma_freeaddrinfo(cm->found);
	free(cm->id.route.path_rec);
	free(cm->connect_data);
	free(cm->request_qp);
	if (cm->device)
		rdmacm_device_put(cm->device);
	rdmacm_id_memory_free(cm);
}

int rdmacm_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		     enum ibv_qp_type qp_type, struct cm_id **out)
{
	struct rdma_ucm_create_id_resp resp = { 0 };
	struct cm_cmd cmd;
	struct cm_id *cm;
	int ret = rdmacm_id_alloc(channel, context, ps, qp_type, &cm);

	if (ret)
		return ret;
	cmd.create_id = (struct rdma_ucm_create_id){
		.uid = (uintptr_t)cm, .response = (uintptr_t)&resp, .ps = ps, .qp_type = qp_type
	};
	ret = CM_RUN_ID(cm, &cmd, CREATE_ID, create_id, sizeof(resp));
	if (ret) {
		rdmacm_id_free(cm);
		return ret;
	}
	cm->number = resp.id;
	*out = cm;
	return 0;
}

CMA_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
			      void *context, enum rdma_port_space ps)
{
	bool datagrams = ps == RDMA_PS_IPOIB || ps == RDMA_PS_UDP;
	struct cm_id *cm;
	int ret = rdmacm_id_create(channel, context, ps, datagrams ? IBV_QPT_UD : IBV_QPT_RC, &cm);

	if (!ret)
		*id = &cm->id;
	return cma_return(ret);
}

enum { LOOK_AGAIN_MS = 10, PATIENCE_S = 1 };

/* Name of the message, which libibverbs' checker has too. */
#define ACKS "VERBS-EVENT-001"

static bool await_is_logged(void)
{
	if (verbs_checker_lists("off:", ACKS))
		return false;
	return verbs_log_on(VERBS_LOG_WARN) ||
	       (verbs_checker_is_asked() && verbs_log_on(VERBS_LOG_ERROR));
}

/* Logs that a call waits for COUNT acknowledgements. With the checker on, the line appears at all
 * levels but off, as the lines of libibverbs' checker do, and VERBS_CHECK mutes it or makes it
 * fatal. */
static void __attribute__((cold))
await_say(const struct cm_id *cm, const uint32_t *counter, uint32_t count)
{
	if (await_is_logged())
		verbs_log_write_each(
			VERBS_LOG_WARN,
			"%s waits: %u events of the id were read, but not acknowledged: call "
			"rdma_ack_cm_event() for each event (" ACKS ")",
			counter == &cm->events_acked ? "rdma_destroy_id or rdma_migrate_id"
						     : "rdma_leave_multicast",
			count);
	if (verbs_checker_lists("abort:", ACKS) && !verbs_checker_lists("off:", ACKS))
		abort();
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits in a process with one thread, where only a signal handler can acknowledge an event. The
 * handler counts without a lock and signals no condition, but it interrupts the sleep. */
static void await_handler(const struct cm_id *cm, const uint32_t *counter, uint32_t reported)
{
	const int64_t until_ms = now_ms() + PATIENCE_S * 1000;
	bool is_said = false;
	uint32_t acked;

	while (process_has_one_thread() &&
	       (acked = __atomic_load_n(counter, __ATOMIC_RELAXED)) < reported) {
		if (!is_said && now_ms() >= until_ms) {
			await_say(cm, counter, reported - acked);
			is_said = true;
		}
		poll(NULL, 0, LOOK_AGAIN_MS);
	}
}

/* Waits a second at most, and logs how many acknowledgements are then missing. The caller holds the
 * id's lock, which is dropped for the log: a thread that acknowledges must not wait for stderr. */
static void await_patiently(struct cm_id *cm, struct cm_ack_wait *wait, const uint32_t *counter,
			    uint32_t reported)
{
	struct timespec until;
	uint32_t missing;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	while (*counter < reported && !err)
		err = pthread_cond_timedwait(&wait->acked, &cm->lock, &until);
	if (*counter >= reported)
		return;
	missing = reported - *counter;
	pthread_mutex_unlock(&cm->lock);
	await_say(cm, counter, missing);
	pthread_mutex_lock(&cm->lock);
}

static void __attribute__((noinline))
await_threads(struct cm_id *cm, const uint32_t *counter, uint32_t reported)
{
	struct cm_ack_wait wait = { .acked = PTHREAD_COND_INITIALIZER };

	pthread_mutex_lock(&cm->lock);
	LIST_INSERT_HEAD(&cm->ack_waits, &wait, entry);
	if (*counter < reported)
		await_patiently(cm, &wait, counter, reported);
	while (*counter < reported)
		pthread_cond_wait(&wait.acked, &cm->lock);
	LIST_REMOVE(&wait, entry);
	pthread_mutex_unlock(&cm->lock);
	pthread_cond_destroy(&wait.acked);
}

/* Waits for acknowledgements with cancellation disabled: a cancelled thread would leave the id
 * locked, and destroyed in the kernel only. */
void rdmacm_id_await_acks(struct cm_id *cm, const uint32_t *counter, uint32_t reported)
{
	int state;

	/* With one thread, no acknowledgement is in progress elsewhere, so the count can be read
	 * without the lock. */
	if (!reported || (process_has_one_thread() && *counter >= reported))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (process_has_one_thread())
		await_handler(cm, counter, reported);
	await_threads(cm, counter, reported);
	pthread_setcancelstate(state, NULL);
}

int rdmacm_id_destroy_in_kernel(struct cm_id *cm)
{
	struct rdma_ucm_destroy_id_resp resp = { 0 };
	struct cm_cmd cmd;
	int ret;

	cmd.destroy_id =
		(struct rdma_ucm_destroy_id){ .response = (uintptr_t)&resp, .id = cm->number };
	ret = CM_RUN_ID(cm, &cmd, DESTROY_ID, destroy_id, sizeof(resp));
	if (ret)
		return ret;
	rdmacm_event_release(cm);
	rdmacm_id_await_acks(cm, &cm->events_acked, resp.events_reported);
	return 0;
}

CMA_EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	int ret = rdmacm_id_destroy_in_kernel(to_cm_id(id));

	if (!ret)
		rdmacm_id_free(to_cm_id(id));
	return cma_return(ret);
}

CMA_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval,
			       size_t optlen)
{
	struct cm_cmd cmd;

	cmd.set_option = (struct rdma_ucm_set_option){ .optval = (uintptr_t)optval,
						       .id = to_cm_id(id)->number,
						       .level = level,
						       .optname = optname,
						       .optlen = optlen };
	return cma_return(CM_RUN_ID(to_cm_id(id), &cmd, SET_OPTION, set_option, 0));
}

int rdmacm_id_fetch(uint32_t number, int from, const struct rdma_event_channel *channel,
		    uint32_t *reported)
{
	struct rdma_ucm_migrate_resp resp = { 0 };
	struct cm_cmd cmd;
	int ret;

	cmd.migrate_id = (struct rdma_ucm_migrate_id){ .response = (uintptr_t)&resp,
						       .id = number,
						       .fd = from };
	ret = CM_RUN(channel->fd, &cmd, MIGRATE_ID, migrate_id, sizeof(resp));
	*reported = resp.events_reported;
	return ret;
}

CMA_EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct rdma_event_channel *old = id->channel;
	struct cm_id *cm = to_cm_id(id);
	bool waits = !channel;
	uint32_t reported;
	int ret = 0;

	if (cm->waits && waits)
		return 0;
	if (waits)
		ret = channel_create(&channel);
	if (ret)
		return cma_return(ret);
	ret = rdmacm_id_fetch(cm->number, old->fd, channel, &reported);
	if (ret) {
		if (waits)
			rdma_destroy_event_channel(channel);
		return cma_return(ret);
	}
	/* acknowledge the events of the old channel before the new one can be read */
	rdmacm_event_release(cm);
	rdmacm_id_await_acks(cm, &cm->events_acked, reported);
	if (cm->waits)
		rdma_destroy_event_channel(old);
	cm->waits = waits;
	id->channel = channel;
	return 0;
}
