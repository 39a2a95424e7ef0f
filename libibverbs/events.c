/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - completion channels and asynchronous events.
 *
 * The kernel identifies an object by the address it was created with, so no event may outlive its
 * object: the application acknowledges each event that it read, and destruction waits for these
 * acknowledgements (verbs_event_wait_acked).
 */
#include "check/check.h"
#include "cmd/cmd.h"
#include "util/alloc.h"
#include "util/order.h"
#include "util/threads.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- events lost by a cancelled thread ----
 *
 * A thread may be cancelled after the kernel has handed out its event. The kernel does not repeat
 * it, and destroying its object would wait for an acknowledgement that the program cannot give. So
 * the event is kept here, unacknowledged, for the next call on the same source: the channel of
 * completion events, or the context of asynchronous ones.
 */

/* Counter of an object's acknowledged events, and the lock of the counter. All NULL for an event of
 * a port, because nothing waits for its acknowledgement. */
struct acks {
	uint32_t *count;
	pthread_mutex_t *mutex;
	pthread_cond_t *cond;
};

struct unheard {
	struct unheard *next;
	const void *source;
	struct ibv_async_event event; /* a completion event has its CQ in element.cq */
	struct acks acks;
};

static struct unheard *unheard;
static pthread_mutex_t unheard_lock = PTHREAD_MUTEX_INITIALIZER;

static bool any_unheard(void)
{
	return __atomic_load_n(&unheard, __ATOMIC_RELAXED);
}

static void unheard_append(struct unheard *new)
{
	struct unheard **end = &unheard;

	pthread_mutex_lock(&unheard_lock);
	while (*end)
		end = &(*end)->next;
	__atomic_store_n(end, new, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&unheard_lock);
}

/* Keeps an event. Destroying the event's object may already be waiting, and continues when this
 * thread releases the object's lock; after that, the object must not be touched. */
static void keep_unheard(const struct unheard *event)
{
	const struct acks *acks = &event->acks;
	struct unheard *new = malloc(sizeof(*new));

	if (!new)
		return; /* destruction waits forever, as it would without this list */
	*new = *event;
	if (!acks->count) {
		unheard_append(new);
		return;
	}
	pthread_mutex_lock(acks->mutex);
	unheard_append(new);
	pthread_cond_signal(acks->cond);
	pthread_mutex_unlock(acks->mutex);
}

/* Removes events from the list, at most MAX: those of SOURCE, or those of the object with counter
 * ACKED. Returns their number; *EVENT becomes the last one. */
static unsigned int take_unheard(const void *source, const uint32_t *acked, unsigned int max,
				 struct ibv_async_event *event)
{
	struct unheard **at = &unheard, *found;
	unsigned int count = 0;

	if (!any_unheard())
		return 0;
	pthread_mutex_lock(&unheard_lock);
	while ((found = *at) && count < max) {
		if (source ? found->source != source : found->acks.count != acked) {
			at = &found->next;
			continue;
		}
		__atomic_store_n(at, found->next, __ATOMIC_RELAXED);
		*event = found->event;
		free(found);
		count++;
	}
	pthread_mutex_unlock(&unheard_lock);
	return count;
}

static unsigned int drop_unheard(const void *source, const uint32_t *acked)
{
	struct ibv_async_event event;

	return take_unheard(source, acked, UINT_MAX, &event);
}

void verbs_event_forget_all(const struct ibv_context *context)
{
	drop_unheard(context, NULL);
}

static int32_t events_left(uint32_t *acked, uint32_t reported)
{
	*acked += drop_unheard(NULL, acked);
	return (int32_t)(reported - *acked);
}

/* If the log or the checker is on, waits for a second at most, and logs how many events CALL then
 * still waits for. The caller holds MUTEX, which is dropped for the log: a thread that acknowledges
 * must not wait for stderr. */
static void wait_and_say(const char *call, pthread_mutex_t *mutex, pthread_cond_t *cond,
			 uint32_t *acked, uint32_t reported)
{
	struct timespec until;
	int32_t left;
	int err = 0;

	if (!verbs_check_is_on() && !verbs_log_on(VERBS_LOG_WARN))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	while ((left = events_left(acked, reported)) > 0 && !err)
		err = pthread_cond_timedwait(cond, mutex, &until);
	if (left <= 0)
		return;
	pthread_mutex_unlock(mutex);
	verbs_check_say(CHECK_EVENTS,
			"%s waits: %d events of the object were read, but not acknowledged: "
			"call ibv_ack_cq_events() or ibv_ack_async_event() for each event",
			call, left);
	pthread_mutex_lock(mutex);
}

/* Does the waiting of verbs_event_wait_acked(), in its own function so that a call without events
 * saves no registers. Disables cancellation, because a cancelled thread would leave the object's
 * lock held, and an object that the kernel has destroyed. */
static void __attribute__((noinline))
events_wait(const char *call, pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *acked,
	    uint32_t reported)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(mutex);
	if (events_left(acked, reported) > 0)
		wait_and_say(call, mutex, cond, acked, reported);
	while (events_left(acked, reported) > 0)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
	pthread_setcancelstate(state, NULL);
}

/* Waits until the events of an object are acknowledged. The counts wrap. *ACKED may exceed
 * REPORTED, because the kernel reports no events for a removed device. */
void verbs_event_wait_acked(const char *call, pthread_mutex_t *mutex, pthread_cond_t *cond,
			    uint32_t *acked, uint32_t reported)
{
	/* No other thread holds the lock or will acknowledge anything, so the count is final. */
	if (process_has_one_thread() && !any_unheard() && (int32_t)(reported - *acked) <= 0)
		return;
	events_wait(call, mutex, cond, acked, reported);
}

static void events_ack(struct acks acks, unsigned int count)
{
	pthread_mutex_lock(acks.mutex);
	*acks.count += count;
	pthread_cond_signal(acks.cond);
	pthread_mutex_unlock(acks.mutex);
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
		return verbs_result(EBUSY);
	}
	close(channel->fd);
	free(channel);
	return 0;
}

/* Reads a whole event. Otherwise returns -1 with errno, for instance EAGAIN from a nonblocking
 * descriptor. */
static int read_event(int fd, void *event, size_t size)
{
	ssize_t got = read(fd, event, size);

	if (got == (ssize_t)size)
		return 0;
	if (got >= 0)
		errno = EIO;
	return -1;
}

/* Does read_event() as a cancellation point. If the thread is cancelled, KEEP is called with WAIT,
 * which contains EVENT; EVENT is all zeros unless the kernel has handed one out. */
static int await_event(int fd, void *event, size_t size, void (*keep)(void *wait), void *wait)
{
	int ret;

	if (process_has_one_thread())
		return read_event(fd, event, size);
	memset(event, 0, size);
	pthread_cleanup_push(keep, wait);
	ret = read_event(fd, event, size);
	pthread_cleanup_pop(0);
	return ret;
}

struct comp_wait {
	const struct ibv_comp_channel *channel;
	struct ib_uverbs_comp_event_desc desc;
};

static struct ibv_cq *comp_event_cq(const struct comp_wait *wait)
{
	struct ibv_cq *cq = (struct ibv_cq *)(uintptr_t)wait->desc.cq_handle;

	order_observe(cq);
	return cq;
}

static struct acks comp_acks(struct ibv_cq *cq)
{
	return (struct acks){ &cq->comp_events_completed, &cq->mutex, &cq->cond };
}

static void comp_event_keep(void *of)
{
	const struct comp_wait *wait = of;
	struct unheard event = { .source = wait->channel };

	if (!wait->desc.cq_handle)
		return;
	event.event.element.cq = comp_event_cq(wait);
	event.acks = comp_acks(event.event.element.cq);
	keep_unheard(&event);
}

static int comp_event_next(const struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
	struct comp_wait wait = { .channel = channel };
	struct ibv_async_event kept;

	if (take_unheard(channel, NULL, 1, &kept)) {
		*cq = kept.element.cq;
		return 0;
	}
	if (await_event(channel->fd, &wait.desc, sizeof(wait.desc), comp_event_keep, &wait))
		return -1;
	*cq = comp_event_cq(&wait);
	return 0;
}

static void checked_end(void *channel)
{
	verbs_check_wait_end(channel);
}

/* Does comp_event_next() for a context with the checker. The thread may be cancelled in it. */
static int comp_event_next_checked(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
	int ret;

	verbs_check_wait_begin(channel);
	pthread_cleanup_push(checked_end, channel);
	ret = comp_event_next(channel, cq);
	pthread_cleanup_pop(1);
	if (!ret)
		verbs_check_event_taken(*cq);
	return ret;
}

VERBS_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq,
				  void **cq_context)
{
	const bool is_checked = verbs_check_is_on();

	if (is_checked ? comp_event_next_checked(channel, cq) : comp_event_next(channel, cq))
		return -1;
	*cq_context = (*cq)->cq_context;
	get_ops((*cq)->context)->cq_event(*cq);
	return 0;
}

VERBS_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	events_ack(comp_acks(cq), nevents);
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

struct async_wait {
	const struct ibv_context *context;
	struct ib_uverbs_async_event_desc desc;
};

static struct acks async_acks(const struct ibv_async_event *event)
{
	struct ibv_cq *cq = event->element.cq;
	struct ibv_qp *qp = event->element.qp;
	struct ibv_srq *srq = event->element.srq;
	struct ibv_wq *wq = event->element.wq;

	switch (verbs_event_element(event->event_type)) {
	case ELEMENT_CQ:
		return (struct acks){ &cq->async_events_completed, &cq->mutex, &cq->cond };
	case ELEMENT_QP:
		return (struct acks){ &qp->events_completed, &qp->mutex, &qp->cond };
	case ELEMENT_SRQ:
		return (struct acks){ &srq->events_completed, &srq->mutex, &srq->cond };
	case ELEMENT_WQ:
		return (struct acks){ &wq->events_completed, &wq->mutex, &wq->cond };
	case ELEMENT_PORT:
		break;
	}
	return (struct acks){ 0 };
}

static void event_decode(const struct ib_uverbs_async_event_desc *desc,
			 struct ibv_async_event *event)
{
	void *object = (void *)(uintptr_t)desc->element;

	event->event_type = desc->event_type;
	if (verbs_event_element(event->event_type) == ELEMENT_PORT) {
		event->element.port_num = (int)desc->element;
		return;
	}
	order_observe(object);
	/* all members but port_num are pointers, so one store sets the one of this type */
	event->element.cq = object;
}

static void async_event_keep(void *of)
{
	const struct async_wait *wait = of;
	struct unheard event = { .source = wait->context };

	if (!wait->desc.element && !wait->desc.event_type)
		return;
	event_decode(&wait->desc, &event.event);
	event.acks = async_acks(&event.event);
	keep_unheard(&event);
}

VERBS_EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct async_wait wait = { .context = context };

	if (take_unheard(context, NULL, 1, event))
		return 0;
	if (await_event(context->async_fd, &wait.desc, sizeof(wait.desc), async_event_keep, &wait))
		return -1;
	event_decode(&wait.desc, event);
	return 0;
}

VERBS_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	const struct acks acks = async_acks(event);

	if (acks.count)
		events_ack(acks, 1);
}
