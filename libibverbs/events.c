/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - completion channels and asynchronous events.
 *
 * The kernel names an object by the address it was created with, so an event must not outlive its
 * object: the application acknowledges each event that it read, and destruction waits until that
 * has happened (verbs_event_wait_acked).
 */
#include "cmd/cmd.h"
#include "util/alloc.h"
#include "util/order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The counts wrap. More may be acknowledged than the kernel reported: a device that is gone reports
 * none. A thread that were cancelled in here would leave an object that the kernel has no more, and
 * its lock locked. */
void verbs_event_wait_acked(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *acked,
			    uint32_t reported)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(mutex);
	while ((int32_t)(reported - *acked) > 0)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
	pthread_setcancelstate(state, NULL);
}

static void events_ack(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *acked,
		       unsigned int count)
{
	pthread_mutex_lock(mutex);
	*acked += count;
	pthread_cond_signal(cond);
	pthread_mutex_unlock(mutex);
}

VERBS_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel =
		calloc_for("ibv_create_comp_channel", 1, sizeof(*channel));
	int err;

	if (!channel)
		return fail_null(ENOMEM);
	context = verbs_compat_real_context(context);
	err = verbs_cmd_create_comp_channel(context, &channel->fd);
	if (err) {
		verbs_warn("ibv_create_comp_channel on %s: %s", context->device->name,
			   strerror(err));
		free(channel);
		return fail_null(err);
	}
	channel->context = context;
	return channel;
}

VERBS_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct ibv_context *context = channel->context;
	int users;

	pthread_mutex_lock(&context->mutex);
	users = channel->refcnt;
	pthread_mutex_unlock(&context->mutex);
	if (users) {
		verbs_warn("ibv_destroy_comp_channel: %d CQs use it: destroy them first", users);
		return EBUSY;
	}
	close(channel->fd);
	free(channel);
	return 0;
}

/* The function reads a whole event, or returns -1 and errno says why: programs poll a non-blocking
 * descriptor until EAGAIN. */
static int read_event(int fd, void *event, size_t size)
{
	ssize_t got = read(fd, event, size);

	if (got == (ssize_t)size)
		return 0;
	if (got >= 0)
		errno = EIO;
	return -1;
}

VERBS_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
				  void **cq_context)
{
	struct ib_uverbs_comp_event_desc desc;

	if (read_event(channel->fd, &desc, sizeof(desc)))
		return -1;
	*cq = (struct ibv_cq *)(uintptr_t)desc.cq_handle;
	order_observe(*cq);
	*cq_context = (*cq)->cq_context;
	get_ops((*cq)->context)->cq_event(*cq);
	return 0;
}

VERBS_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	events_ack(&cq->mutex, &cq->cond, &cq->comp_events_completed, nevents);
}

enum element_kind verbs_event_element(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_CQ_ERR:
		return ELEMENT_CQ;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return ELEMENT_QP;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return ELEMENT_SRQ;
	case IBV_EVENT_WQ_FATAL:
		return ELEMENT_WQ;
	default:
		return ELEMENT_PORT;
	}
}

VERBS_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct ib_uverbs_async_event_desc desc;
	void *object;

	if (read_event(context->async_fd, &desc, sizeof(desc)))
		return -1;
	object = (void *)(uintptr_t)desc.element;
	event->event_type = desc.event_type;
	if (verbs_event_element(event->event_type) != ELEMENT_PORT)
		order_observe(object);
	switch (verbs_event_element(event->event_type)) {
	case ELEMENT_CQ:
		event->element.cq = object;
		break;
	case ELEMENT_QP:
		event->element.qp = object;
		break;
	case ELEMENT_SRQ:
		event->element.srq = object;
		break;
	case ELEMENT_WQ:
		event->element.wq = object;
		break;
	case ELEMENT_PORT:
		event->element.port_num = (int)desc.element;
		break;
	}
	return 0;
}

VERBS_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct ibv_cq *cq = event->element.cq;
	struct ibv_qp *qp = event->element.qp;
	struct ibv_srq *srq = event->element.srq;
	struct ibv_wq *wq = event->element.wq;

	switch (verbs_event_element(event->event_type)) {
	case ELEMENT_CQ:
		events_ack(&cq->mutex, &cq->cond, &cq->async_events_completed, 1);
		break;
	case ELEMENT_QP:
		events_ack(&qp->mutex, &qp->cond, &qp->events_completed, 1);
		break;
	case ELEMENT_SRQ:
		events_ack(&srq->mutex, &srq->cond, &srq->events_completed, 1);
		break;
	case ELEMENT_WQ:
		events_ack(&wq->mutex, &wq->cond, &wq->events_completed, 1);
		break;
	case ELEMENT_PORT:
		break;
	}
}
