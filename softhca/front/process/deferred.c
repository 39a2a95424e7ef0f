/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deferred.c - trapped calls that wait for an event. See deferred.h.
 *
 * While calls wait, signals are checked at intervals. The kernel turns an answer of ERESTARTSYS
 * into a restart or EINTR if a signal is pending; without one, the program would see that number.
 * So if another thread might take the signal, it gets time to do so, and then the answer is EINTR.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "softhca/front/process/deferred.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/signals.h"
#include "softhca/front/process/timer.h"
#include "softhca/log.h"

enum {
	RESTARTSYS = 512, /* ERESTARTSYS, internal to the kernel */
	LOOK_MS = 10,
	/* threads read from /proc in one round, at most, as one thread serves all calls; the next
	 * round continues */
	ROUND_READS = 1000,
	MOST_DOUBTS = 20,
};

/* Waiting calls. The least recently checked call is the first, so that each round continues after
 * the last one. */
static TAILQ_HEAD(deferred_calls, deferred_call) waiting = TAILQ_HEAD_INITIALIZER(waiting);

static int deferred_answer(const struct deferred_call *deferred, int64_t value)
{
	struct seccomp_notif_resp response = { .id = deferred->id };

	if (value < 0)
		response.error = (int)value;
	else
		response.val = value;
	return ioctl(deferred->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) ? errno : 0;
}

static void slot_free(struct deferred_call *deferred)
{
	if (deferred->slot)
		*deferred->slot = 0;
	deferred->slot = NULL;
}

static void call_interrupt(struct deferred_call *deferred, int error)
{
	deferred_answer(deferred, -error);
	slot_free(deferred);
	deferred->listener = -1;
}

static void look_at(struct deferred_call *deferred, unsigned int *reads)
{
	switch (signals_look(deferred->tid, reads)) {
	case SIGNALS_WAIT:
		call_interrupt(deferred, RESTARTSYS);
		break;
	case SIGNALS_PERHAPS:
		if (++deferred->doubts == MOST_DOUBTS)
			call_interrupt(deferred, EINTR);
		break;
	case SIGNALS_NONE:
		deferred->doubts = 0;
		break;
	}
}

/* Checks waiting calls for signals. Stops after ROUND_READS reads, as a check of all calls could
 * take too long with many threads. */
static void look_at_all(struct timer *timer)
{
	struct deferred_call *last = TAILQ_LAST(&waiting, deferred_calls), *deferred = NULL;
	unsigned int reads = 0;

	while (deferred != last && reads < ROUND_READS) {
		deferred = TAILQ_FIRST(&waiting);
		TAILQ_REMOVE(&waiting, deferred, entry);
		TAILQ_INSERT_TAIL(&waiting, deferred, entry);
		if (call_deferred_is_alive(deferred))
			look_at(deferred, &reads);
	}
	/* Check less often if it takes long, so that most time is left to other work. */
	if (reads)
		timer_start(timer, timer_now() + (LOOK_MS + reads / 4) * NS_PER_MS);
}

static struct timer look = { .expired = look_at_all };

void call_defer(struct call *call, struct deferred_call *deferred)
{
	*deferred = (struct deferred_call){ .listener = call->listener,
					    .id = call->notif->id,
					    .tid = call->tid };
	for (unsigned int i = 0; i < MAILBOX_DEFERRED && !deferred->slot; i++)
		if (!call->mailbox->deferred[i])
			deferred->slot = &call->mailbox->deferred[i];
	if (deferred->slot)
		*deferred->slot = deferred->id;
	else
		log_note("if softhca is killed, a waiting call gets no answer");
	TAILQ_INSERT_TAIL(&waiting, deferred, entry);
	call->answered = true;
	if (!look.deadline)
		timer_start(&look, timer_now() + LOOK_MS * NS_PER_MS);
}

void call_deferred_forget(struct deferred_call *deferred)
{
	slot_free(deferred);
	TAILQ_REMOVE(&waiting, deferred, entry);
}

bool call_deferred_is_alive(const struct deferred_call *deferred)
{
	return deferred->listener >= 0 &&
	       !ioctl(deferred->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &deferred->id);
}

void call_deferred_return(struct deferred_call *deferred, int64_t value)
{
	if (deferred->listener >= 0)
		deferred_answer(deferred, value);
	call_deferred_forget(deferred);
}

void deferred_end(int listener)
{
	struct deferred_call *deferred;

	TAILQ_FOREACH(deferred, &waiting, entry)
		if (deferred->listener == listener) {
			deferred->listener = -1;
			deferred->slot = NULL;
		}
}
