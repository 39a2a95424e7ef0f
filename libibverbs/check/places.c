/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.c - completion queues, and the places that posted requests will take in them.
 *
 * A signaled send and a receive promise one completion each. They are counted before the provider
 * sees them, as another thread may poll at once, and compared when it has accepted them. A counter
 * per CQ has those that are not polled yet. It may be too low (requests of direct verbs,
 * of SRQs and flushed ones without a signal are polled but not counted), and is then never below 0;
 * it is never too high, so that a right program sees no line.
 */
#include "check.h"

#include <time.h>

struct check_cq {
	struct check_record record;
	int promised;
	int unsettled;
	bool is_reported;
	bool has_no_lock;
	const void *poller;
	bool may_overrun;
	bool is_polled;
	uint64_t polled_ns;
	struct check_channel *channel;
	bool is_armed, is_solicited;
	bool is_armed_again; /* maybe before an older event is read, which then disarms nothing */
	/* the CQ has ibv_wc_read_qp_num(); without it, completions do not tell their QP */
	bool has_numbers;
	/* the program polls in a way that hides the QPs of completions, so requests cannot be
	 * matched */
	bool is_mute;
	int (*start_poll)(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr);
	int (*next_poll)(struct ibv_cq_ex *cq);
	void (*end_poll)(struct ibv_cq_ex *cq);
};

static struct check_cq *cq_find(const void *cq)
{
	return cq ? verbs_check_find(CHECK_CQ, NULL, check_id(cq)) : NULL;
}

static struct check_cq *cq_live(const void *cq)
{
	return cq ? verbs_check_find_live(CHECK_CQ, NULL, check_id(cq)) : NULL;
}

uint64_t verbs_check_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void cq_mark_poll(struct check_cq *check)
{
	__atomic_store_n(&check->is_polled, true, __ATOMIC_RELAXED);
	__atomic_store_n(&check->polled_ns, verbs_check_now(), __ATOMIC_RELAXED);
}

/* Returns whether the CQ was armed. */
static bool cq_arm(struct check_cq *check, bool is_armed)
{
	const bool was_armed = __atomic_exchange_n(&check->is_armed, is_armed, __ATOMIC_ACQ_REL);

	if (check->channel && was_armed != is_armed)
		__atomic_fetch_add(&check->channel->armed, is_armed ? 1 : -1, __ATOMIC_ACQ_REL);
	return was_armed;
}

/* Returns the record of CHANNEL, which may be NULL. The caller holds the checker's lock. */
static struct check_channel *channel_record(const struct ibv_comp_channel *channel)
{
	struct check_channel *record;

	if (!channel)
		return NULL;
	record = verbs_check_find(CHECK_CHANNEL, NULL, check_id(channel));
	return record ? record
		      : verbs_check_add(CHECK_CHANNEL, NULL, check_id(channel), sizeof(*record));
}

static void cq_polled(struct check_cq *check, int count)
{
	verbs_check_lock();
	verbs_check_move();
	check->promised = check->promised > count ? check->promised - count : 0;
	verbs_check_unlock();
}

/* Returns whether OPCODE is of a receive. A provider's own opcodes start at IBV_WC_DRIVER1 and are
 * of sends, although they contain the bit IBV_WC_RECV. */
static bool opcode_is_receive(enum ibv_wc_opcode opcode)
{
	return opcode & IBV_WC_RECV && opcode < IBV_WC_DRIVER1;
}

static void current_take(struct check_cq *check, struct ibv_cq_ex *cq)
{
	struct check_completion done = { .wr_id = cq->wr_id, .is_failed = cq->status };

	cq_polled(check, 1);
	if (!check->has_numbers) {
		__atomic_store_n(&check->is_mute, true, __ATOMIC_RELAXED);
		return;
	}
	done.qp_num = ibv_wc_read_qp_num(cq);
	done.is_receive = !done.is_failed && opcode_is_receive(ibv_wc_read_opcode(cq));
	verbs_check_request_done(cq->context, &done);
}

/* Calls the provider. If the CQ has no lock, the calling thread is recorded as its user, until
 * end_poll() if the call succeeds. It would stay its user if it were cancelled. */
static int provider_start(struct check_cq *check, struct ibv_cq_ex *cq,
			  struct ibv_poll_cq_attr *attr)
{
	int ret, cancel;

	if (!check->has_no_lock)
		return check->start_poll(cq, attr);
	cancel = verbs_check_shield();
	verbs_check_enter(&check->poller, "ibv_start_poll", "CQ", cq->handle);
	ret = check->start_poll(cq, attr);
	if (ret)
		verbs_check_leave(&check->poller);
	verbs_check_unshield(cancel);
	return ret;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct check_cq *check = cq_find(cq);
	int ret;

	if (!check_lives(&check->record) && check_cq_is_dead(ibv_cq_ex_to_cq(cq), "ibv_start_poll"))
		return EINVAL;
	verbs_check_is_ours(cq->context, "ibv_start_poll", "CQ", cq->handle);
	ret = provider_start(check, cq, attr);
	cq_mark_poll(check);
	if (!ret)
		current_take(check, cq);
	return ret;
}

static int next_poll(struct ibv_cq_ex *cq)
{
	struct check_cq *check = cq_find(cq);
	int ret = check->next_poll(cq);

	if (!ret)
		current_take(check, cq);
	return ret;
}

static void end_poll(struct ibv_cq_ex *cq)
{
	struct check_cq *check = cq_find(cq);

	check->end_poll(cq);
	if (check->has_no_lock)
		verbs_check_leave(&check->poller);
}

static void cq_watch(struct check_cq *check, struct ibv_cq_ex *cq)
{
	check->start_poll = cq->start_poll;
	check->next_poll = cq->next_poll;
	check->end_poll = cq->end_poll;
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
}

static bool cq_has_no_lock(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr)
{
	const bool has_flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
	const bool has_domain = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD;

	return (has_flags && attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) ||
	       verbs_check_has_no_lock(context, has_domain ? attr->parent_domain : NULL);
}

int verbs_check_create_cq(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			  struct verbs_cq **vcq)
{
	const bool has_flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS;
	int err = check_real(context)->create_cq(context, attr, vcq);
	struct check_cq *check;

	if (err)
		return err;
	verbs_check_lock();
	check = verbs_check_add(CHECK_CQ, NULL, check_id(*vcq), sizeof(*check));
	if (check) {
		check->channel = channel_record(attr->channel);
		check->has_no_lock = cq_has_no_lock(context, attr);
		check->may_overrun = has_flags && attr->flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
		check->has_numbers = attr->wc_flags & IBV_WC_EX_WITH_QP_NUM;
		/* A guest's basic CQ may end before these members, so they must not be read. */
		if (!to_priv(context)->foreign && (*vcq)->cq_ex.start_poll)
			cq_watch(check, &(*vcq)->cq_ex);
	}
	verbs_check_unlock();
	verbs_check_made(*vcq, "ibv_create_cq");
	return 0;
}

int verbs_check_destroy_cq(struct ibv_cq *cq)
{
	struct check_cq *check = cq_live(cq);
	bool was_armed = false;
	int err;

	if (!check && check_cq_is_dead(cq, "ibv_destroy_cq"))
		return EINVAL;
	verbs_check_is_ours(cq->context, "ibv_destroy_cq", "CQ", cq->handle);
	/* Mark the record first, because another thread may get the same address at once. */
	if (check) {
		was_armed = cq_arm(check, false);
		check_live(&check->record, false);
	}
	verbs_check_bury(cq, "ibv_destroy_cq");
	err = check_real(cq->context)->destroy_cq(cq);
	if (err && check) {
		check_live(&check->record, true);
		cq_arm(check, was_armed);
	}
	if (err)
		return err;
	verbs_check_unmade(cq);
	return 0;
}

/* As provider_start(), but only during the call. */
static int provider_poll(struct check_cq *check, struct ibv_cq *cq, int num_entries,
			 struct ibv_wc *wc)
{
	int n, cancel;

	if (!check || !check->has_no_lock)
		return check_real(cq->context)->poll_cq(cq, num_entries, wc);
	cancel = verbs_check_shield();
	verbs_check_enter(&check->poller, "ibv_poll_cq", "CQ", cq->handle);
	n = check_real(cq->context)->poll_cq(cq, num_entries, wc);
	verbs_check_leave(&check->poller);
	verbs_check_unshield(cancel);
	return n;
}

int verbs_check_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct check_cq *check = cq_live(cq);
	int n;

	if (!check && check_cq_is_dead(cq, "ibv_poll_cq"))
		return -EINVAL;
	verbs_check_is_ours(cq->context, "ibv_poll_cq", "CQ", cq->handle);
	n = provider_poll(check, cq, num_entries, wc);
	if (!check)
		return n;
	cq_mark_poll(check);
	if (n > 0)
		cq_polled(check, n);
	for (int i = 0; i < n; i++) {
		const struct check_completion done = { wc[i].qp_num, wc[i].wr_id, wc[i].status,
						       opcode_is_receive(wc[i].opcode) };

		verbs_check_request_done(cq->context, &done);
	}
	return n;
}

int verbs_check_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct check_cq *check = cq_live(cq);
	int err;

	if (!check && check_cq_is_dead(cq, "ibv_req_notify_cq"))
		return EINVAL;
	/* before the call, because another thread may take the event at once */
	if (check) {
		__atomic_store_n(&check->is_solicited, solicited_only, __ATOMIC_RELAXED);
		if (cq_arm(check, true))
			__atomic_store_n(&check->is_armed_again, true, __ATOMIC_RELEASE);
	}
	err = check_real(cq->context)->req_notify_cq(cq, solicited_only);
	if (err && check)
		cq_arm(check, false);
	return err;
}

void verbs_check_event_taken(const struct ibv_cq *cq)
{
	struct check_cq *check = cq_live(cq);

	if (check && !__atomic_exchange_n(&check->is_armed_again, false, __ATOMIC_ACQ_REL))
		cq_arm(check, false);
}

static void look_add(struct check_cq_look *look, const struct check_cq *check)
{
	const uint64_t polled_ns = __atomic_load_n(&check->polled_ns, __ATOMIC_RELAXED);
	const bool is_armed = __atomic_load_n(&check->is_armed, __ATOMIC_ACQUIRE);

	look->promised += check->promised;
	look->is_armed |= is_armed;
	look->is_solicited |= is_armed && __atomic_load_n(&check->is_solicited, __ATOMIC_RELAXED);
	look->is_polled |= __atomic_load_n(&check->is_polled, __ATOMIC_RELAXED);
	if (polled_ns > look->polled_ns)
		look->polled_ns = polled_ns;
}

bool verbs_check_cq_look(const struct ibv_cq *cq, struct check_cq_look *look)
{
	const struct check_cq *check = cq_live(cq);

	*look = (struct check_cq_look){ .cqe = check ? cq->cqe : 0 };
	if (check)
		look_add(look, check);
	return check;
}

/* Guarded by the checker's lock. */
static struct {
	const struct check_channel *of;
	struct check_cq_look *look;
	unsigned int count;
} sum;

static void channel_add(const struct check_record *record)
{
	const struct check_cq *check = (const struct check_cq *)record;

	if (check->channel != sum.of)
		return;
	look_add(sum.look, check);
	sum.count++;
}

unsigned int verbs_check_channel_look(const struct check_channel *channel,
				      struct check_cq_look *look)
{
	unsigned int count;

	*look = (struct check_cq_look){ .cqe = 0 };
	verbs_check_lock();
	sum.of = channel;
	sum.look = look;
	sum.count = 0;
	verbs_check_each(CHECK_CQ, channel_add);
	count = sum.count;
	verbs_check_unlock();
	return count;
}

/* Returns whether the checker sees all completions that the program polls. It does not if the CQ's
 * poll functions have been replaced since. */
static bool cq_is_watched(const struct check_cq *check, const struct ibv_cq *cq)
{
	const struct ibv_cq_ex *cqx = (const struct ibv_cq_ex *)cq;

	return !check->start_poll || (cqx->start_poll == start_poll && cqx->next_poll == next_poll);
}

bool verbs_check_cq_tells(const struct ibv_cq *cq)
{
	const struct check_cq *check = cq_live(cq);

	return check && !__atomic_load_n(&check->is_mute, __ATOMIC_RELAXED) &&
	       cq_is_watched(check, cq);
}

bool verbs_check_cq_is_polled(const struct ibv_cq *cq)
{
	const struct check_cq *check = cq_live(cq);

	return check && __atomic_load_n(&check->is_polled, __ATOMIC_RELAXED) &&
	       verbs_check_cq_tells(cq);
}

void verbs_check_promise(struct check_places *places, const struct check_post *post)
{
	struct check_cq *check = cq_live(places->cq);

	if (!check)
		return;
	places->count++;
	if (!places->is_over)
		places->post = *post;
	verbs_check_lock();
	check->unsettled++;
	places->is_over |= ++check->promised > places->cq->cqe;
	verbs_check_unlock();
}

static void overrun_say(const struct check_post *post, const struct ibv_cq *cq, int promised)
{
	verbs_check_say(CHECK_CQ_SMALL,
			"%s: %s 0x%x: wr_id 0x%llx: its CQ has %d places, but %d posted requests "
			"may complete to it: create the CQ with a larger cqe, or poll it before "
			"you post more",
			post->call, post->owner, post->number, (unsigned long long)post->wr_id,
			cq->cqe, promised);
}

void verbs_check_settle(const struct check_places *places, int refused)
{
	struct check_cq *check = places->count ? cq_live(places->cq) : NULL;
	bool overruns;
	int accepted;

	if (!check)
		return;
	verbs_check_lock();
	check->unsettled -= places->count;
	check->promised = check->promised > refused ? check->promised - refused : 0;
	accepted = check->promised - check->unsettled;
	overruns = accepted > places->cq->cqe && !check->is_reported && !check->may_overrun &&
		   cq_is_watched(check, places->cq);
	check->is_reported |= overruns;
	verbs_check_unlock();
	if (overruns)
		overrun_say(&places->post, places->cq, accepted);
}

/* Resets the counts of both CQs to 0, because resetting or destroying a QP removes an unknown
 * number of completions from them. */
void verbs_check_forget(const struct ibv_cq *send_cq, const struct ibv_cq *recv_cq)
{
	struct check_cq *send = cq_live(send_cq), *recv = cq_live(recv_cq);

	verbs_check_lock();
	if (send)
		send->promised = 0;
	if (recv)
		recv->promised = 0;
	verbs_check_unlock();
}
