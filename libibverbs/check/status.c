/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status.c - why a program hangs: a line for each QP, on the signal that VERBS_STATUS_SIGNAL names.
 *
 *	signal ---> handler: sem_post() ---> thread: QUERY_QP and the checker's records ---> log
 *
 * The handler may interrupt any function, so it only wakes the thread. While the thread queries the
 * adapter, destroying the QP waits, but no other call. The line is written when the QP is free.
 */
#include "check.h"

#include "util/checker.h"
#include "util/own_thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A CQ that was not polled for so long is taken for one that nobody polls. */
enum { IDLE_NS = 1000000000 };

struct status {
	const struct ibv_qp *qp;
	bool signals_all;
	bool knows_cq; /* not those of direct verbs */
	int err;       /* of QUERY_QP: the attributes are not known */
	struct ibv_qp_attr attr;
	struct check_ring_look sends, receives;
	struct check_cq_look cq; /* of what the QP waits for: sends before receives */
	const struct ibv_cq *of;
	uint64_t now;
	uint32_t qp_num;
	const char *cause;
	size_t length;
	char text[640];
};

/* ---- the likely cause ---- */

static bool is_unconnected(const struct status *s)
{
	return s->attr.qp_state == IBV_QPS_RESET || s->attr.qp_state == IBV_QPS_INIT;
}

static bool has_failed(const struct status *s)
{
	return s->attr.qp_state == IBV_QPS_ERR;
}

static bool has_stopped(const struct status *s)
{
	return s->attr.qp_state == IBV_QPS_SQD || s->attr.qp_state == IBV_QPS_SQE;
}

static bool is_trailing(const struct status *s)
{
	return s->sends.count && !s->sends.signaled && s->sends.had_signal && !s->sends.was_refused;
}

/* Unsignaled sends behind the last signaled one are usual, and wait for nothing, unless they fill
 * the queue. */
static bool sends_wait(const struct status *s)
{
	return s->sends.count && !is_trailing(s);
}

static bool is_waiting(const struct status *s)
{
	return sends_wait(s) || s->receives.count;
}

static bool has_no_signal(const struct status *s)
{
	return sends_wait(s) && !s->sends.signaled && !s->signals_all &&
	       (!s->receives.count || s->sends.was_refused);
}

static bool is_not_polled(const struct status *s)
{
	return is_waiting(s) && s->knows_cq && s->now > s->cq.polled_ns + IDLE_NS;
}

static bool is_not_armed(const struct status *s)
{
	return is_not_polled(s) && s->of->channel && !s->cq.is_armed;
}

static bool is_armed_for_solicited(const struct status *s)
{
	return is_not_polled(s) && s->of->channel && s->cq.is_solicited;
}

static bool is_never_looked_at(const struct status *s)
{
	return is_not_polled(s) && !s->cq.is_armed;
}

static bool waits_for_answer(const struct status *s)
{
	return s->sends.signaled || (sends_wait(s) && s->signals_all);
}

static bool waits_for_receive(const struct status *s)
{
	return waits_for_answer(s) && s->qp->qp_type != IBV_QPT_UD && !s->err &&
	       s->attr.rnr_retry == 7;
}

static bool waits_without_end(const struct status *s)
{
	return waits_for_answer(s) && s->qp->qp_type == IBV_QPT_RC && !s->err && !s->attr.timeout;
}

static bool is_unknown(const struct status *s)
{
	return !s->sends.is_known || (!s->receives.is_known && !s->qp->srq);
}

static bool waits_for_message(const struct status *s)
{
	return s->receives.count;
}

static bool has_srq(const struct status *s)
{
	return s->qp->srq;
}

static bool is_idle(const struct status *s)
{
	(void)s;
	return true;
}

/* The first cause that applies is the likely one. */
static const struct {
	bool (*applies)(const struct status *s);
	const char *text;
} causes[] = {
	{ is_unconnected, "the QP is not connected: move it to RTR and RTS by ibv_modify_qp()" },
	{ has_failed, "a request has failed or the peer has disconnected: poll the first "
		      "completion that is neither IBV_WC_SUCCESS nor IBV_WC_WR_FLUSH_ERR" },
	{ has_stopped, "the send queue has stopped: move the QP to RTS again" },
	{ has_no_signal, "no request in the send queue is signaled, so none will have a "
			 "completion: set IBV_SEND_SIGNALED on one of them" },
	{ is_not_armed, "the CQ is neither polled nor armed: call ibv_req_notify_cq(), then poll "
			"once more, before each wait for an event" },
	{ is_armed_for_solicited, "the CQ is armed for solicited events only: the peer must send "
				  "with IBV_SEND_SOLICITED" },
	{ is_never_looked_at, "nobody polls the CQ: call ibv_poll_cq()" },
	{ waits_without_end, "the peer does not answer, and timeout 0 waits for it without end: "
			     "look at the peer's QP, and set timeout to 14 to 18" },
	{ waits_for_receive, "the peer does not answer, or has no receive posted, for which "
			     "rnr_retry 7 waits without end: look at the peer's status" },
	{ waits_for_answer, "the peer has not answered yet: look at the peer's status and at the "
			    "path" },
	{ is_unknown, "which requests have not completed is not known after a failed completion, "
		      "with direct verbs, or with a CQ without IBV_WC_EX_WITH_QP_NUM: poll the CQ, "
		      "and look at the status of each completion" },
	{ waits_for_message, "the peer has sent nothing yet: look at the peer's status" },
	{ is_trailing, "the last sends are not signaled, so they have no completion before a later "
		       "signaled one: nothing waits for them" },
	{ has_srq, "no send is posted, and receives come from the SRQ" },
	{ is_idle, "nothing is posted: a message of the peer would find no receive" },
};

static const char *cause_of(const struct status *s)
{
	unsigned int i = 0;

	while (!causes[i].applies(s))
		i++;
	return causes[i].text;
}

/* ---- the line ---- */

static void __attribute__((format(printf, 2, 3)))
text_add(struct status *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->length, sizeof(s->text) - s->length, format, args);
	va_end(args);
	s->length += (size_t)n;
	if (s->length >= sizeof(s->text))
		s->length = sizeof(s->text) - 1;
}

static double seconds_since(const struct status *s, uint64_t then)
{
	return s->now > then ? (double)(s->now - then) / 1e9 : 0;
}

static void add_peer(struct status *s)
{
	const struct ibv_ah_attr *ah = &s->attr.ah_attr;
	char gid[INET6_ADDRSTRLEN];

	if (s->qp->qp_type != IBV_QPT_RC && s->qp->qp_type != IBV_QPT_UC)
		return;
	if (s->err) {
		text_add(s, "; ibv_query_qp: %s", strerror(s->err));
		return;
	}
	if (s->attr.qp_state != IBV_QPS_RTR && s->attr.qp_state != IBV_QPS_RTS)
		return;
	text_add(s, " to QP 0x%x at ", s->attr.dest_qp_num);
	if (ah->is_global)
		text_add(s, "GID %s", inet_ntop(AF_INET6, &ah->grh.dgid, gid, sizeof(gid)));
	else
		text_add(s, "LID %u", ah->dlid);
	if (s->qp->qp_type == IBV_QPT_RC && s->attr.qp_state == IBV_QPS_RTS)
		text_add(s, " (timeout %u, retry_cnt %u, rnr_retry %u)", s->attr.timeout,
			 s->attr.retry_cnt, s->attr.rnr_retry);
}

static void add_sends(struct status *s)
{
	if (s->sends.is_known)
		text_add(s, "%u sends (%u signaled)", s->sends.count,
			 s->signals_all ? s->sends.count : s->sends.signaled);
	else
		text_add(s, "an unknown number of sends");
}

static void add_receives(struct status *s)
{
	if (s->qp->srq)
		return;
	if (s->receives.is_known)
		text_add(s, " and %u receives", s->receives.count);
	else
		text_add(s, " and an unknown number of receives");
}

static void add_requests(struct status *s)
{
	const struct check_ring_look *oldest = sends_wait(s) ? &s->sends : &s->receives;

	text_add(s, "; ");
	add_sends(s);
	add_receives(s);
	text_add(s, " have not completed");
	if (is_waiting(s))
		text_add(s, ", the oldest of %s, wr_id 0x%llx, since %.1f s", oldest->oldest.call,
			 (unsigned long long)oldest->oldest.wr_id,
			 seconds_since(s, oldest->oldest.posted_ns));
}

static void add_cq(struct status *s)
{
	text_add(s, "; CQ 0x%x has %d places, of which %d are promised, is %s", s->of->handle,
		 s->cq.cqe, s->cq.promised,
		 s->cq.is_solicited ? "armed for solicited events"
		 : s->cq.is_armed   ? "armed"
				    : "not armed");
	if (s->cq.is_polled)
		text_add(s, ", was polled %.1f s ago", seconds_since(s, s->cq.polled_ns));
	else
		text_add(s, ", was never polled");
}

static void add_events(struct status *s)
{
	struct pollfd fds[] = {
		{ .fd = s->qp->context->async_fd, .events = POLLIN },
		{ .fd = s->of->channel ? s->of->channel->fd : -1, .events = POLLIN },
	};

	if (poll(fds, 2, 0) <= 0)
		return;
	if (fds[0].revents & POLLIN)
		text_add(s, "; asynchronous events are unread (ibv_get_async_event)");
	if (fds[1].revents & POLLIN)
		text_add(s, "; events of its channel are unread (ibv_get_cq_event)");
}

/* Copies what the records have of one queue, which is unknown if CQ hides completions. */
static void ring_copy(const struct check_ring *ring, const struct ibv_cq *cq,
		      struct check_ring_look *look)
{
	verbs_check_ring_look(ring, look);
	if (!look->is_known || (cq && !verbs_check_cq_tells(cq)))
		*look = (struct check_ring_look){ .is_known = false };
}

static void records_copy(const struct check_qp *check, struct status *s)
{
	verbs_check_lock();
	s->now = verbs_check_now();
	ring_copy(&check->sends, s->qp->send_cq, &s->sends);
	ring_copy(&check->receives, s->qp->recv_cq, &s->receives);
	s->of = sends_wait(s) || !s->qp->recv_cq ? s->qp->send_cq : s->qp->recv_cq;
	s->knows_cq = s->of && verbs_check_cq_look(s->of, &s->cq);
	verbs_check_unlock();
}

static void adapter_ask(struct status *s)
{
	const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_TIMEOUT |
			 IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;
	struct ibv_qp *qp = (struct ibv_qp *)s->qp;
	struct ibv_qp_init_attr init;

	s->err = check_real(qp->context)->query_qp(qp, &s->attr, mask, &init);
	if (s->err)
		s->attr.qp_state = qp->state;
}

static void qp_look(const struct check_qp *check, void *into)
{
	struct status *s = into;

	*s = (struct status){ .qp = check->of,
			      .qp_num = check->of->qp_num,
			      .signals_all = check->signals_all };
	records_copy(check, s);
	adapter_ask(s);
	text_add(s, "%s", verbs_qp_state_name(s->attr.qp_state));
	add_peer(s);
	add_requests(s);
	if (s->knows_cq) {
		add_cq(s);
		add_events(s);
	}
	s->cause = cause_of(s);
}

static void qp_say(void *from)
{
	const struct status *s = from;

	verbs_log_write_each(VERBS_LOG_WARN, "status: QP 0x%x is in %s: %s", s->qp_num, s->text,
			     s->cause);
}

/* Held while a status is written, so that the lines of two do not mix. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

static void all_say(void)
{
	struct status s;

	verbs_check_each_qp(qp_look, qp_say, &s);
	verbs_check_counters_say();
}

void verbs_check_status_say(void)
{
	if (!verbs_log_on(VERBS_LOG_ERROR))
		return;
	pthread_mutex_lock(&writing);
	all_say();
	pthread_mutex_unlock(&writing);
}

void verbs_check_status_say_idle(unsigned int seconds)
{
	if (!verbs_log_on(VERBS_LOG_ERROR))
		return;
	pthread_mutex_lock(&writing);
	verbs_log_write_each(VERBS_LOG_WARN,
			     "status: nothing was posted and no completion polled for %u s",
			     seconds);
	all_say();
	pthread_mutex_unlock(&writing);
}

/* ---- the signal ---- */

static sem_t asked;
static bool answers, watches; /* the threads that are started; guarded by the checker's lock */
static int claimed;           /* the signal that signal_take() handles, or 0 */

static void signal_take(int number)
{
	const int saved = errno;

	(void)number;
	sem_post(&asked);
	errno = saved;
}

/* Answers signals. All threads of the program may block the signal, so this one takes it. Signals
 * that come at once get one answer. */
static void *status_answer(void *nothing)
{
	sigset_t own;

	sigemptyset(&own);
	sigaddset(&own, claimed);
	pthread_sigmask(SIG_UNBLOCK, &own, NULL);
	for (;;) {
		if (sem_wait(&asked))
			continue;
		while (!sem_trywait(&asked))
			;
		verbs_check_status_say();
	}
	return nothing;
}

/* Takes the signal, unless the program has it. A signal that is ignored stays so in a program that
 * the process executes, which a handler would not. */
static bool signal_claim(int number)
{
	const struct sigaction ours = { .sa_handler = signal_take, .sa_flags = SA_RESTART };
	struct sigaction before;

	if (sigaction(number, NULL, &before))
		return false;
	if (before.sa_handler != SIG_DFL) {
		verbs_error("VERBS_STATUS_SIGNAL=%s: the program %s this signal: use another",
			    getenv("VERBS_STATUS_SIGNAL"),
			    before.sa_handler == SIG_IGN ? "ignores" : "handles");
		return false;
	}
	return !sem_init(&asked, 0, 0) && !sigaction(number, &ours, NULL);
}

static void signal_release(void)
{
	struct sigaction now;

	if (claimed && !sigaction(claimed, NULL, &now) && now.sa_handler == signal_take)
		signal(claimed, SIG_DFL);
	claimed = 0;
}

static bool thread_is_missing(const char *variable, const char *does, int err)
{
	if (err)
		verbs_error("%s: the thread that %s cannot be started: %s", variable, does,
			    strerror(err));
	return err;
}

/* Returns false if a later device shall try again. */
static bool signal_start(int number)
{
	if (!signal_claim(number))
		return true;
	claimed = number;
	if (!thread_is_missing("VERBS_STATUS_SIGNAL", "answers",
			       verbs_own_thread_start(status_answer, NULL)))
		return true;
	signal_release();
	return false;
}

static bool idle_start(int seconds)
{
	return !thread_is_missing("VERBS_STATUS_IDLE", "watches", verbs_check_idle_start(seconds));
}

/* Calls START with what the environment asks for, unless another call has. */
static void start_once(bool *is_started, bool (*start)(int asked), int asked)
{
	bool was_started;

	verbs_check_lock();
	was_started = *is_started;
	*is_started |= asked > 0;
	verbs_check_unlock();
	if (was_started || asked <= 0 || start(asked))
		return;
	verbs_check_lock();
	*is_started = false;
	verbs_check_unlock();
}

void verbs_check_status_start(const struct ibv_device *device)
{
	const int number = verbs_checker_signal(), seconds = verbs_checker_idle();

	if (number <= 0 && seconds <= 0)
		return;
	verbs_check_counters_watch(device);
	start_once(&answers, signal_start, number);
	start_once(&watches, idle_start, seconds);
}

void verbs_check_status_forked(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	writing = fresh;
	signal_release();
	answers = watches = false;
}
