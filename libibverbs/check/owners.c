/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners.c - processes and threads that use objects which are not theirs.
 *
 * A child of fork() has its parent's objects in its memory, but the adapter works on the parent's
 * pages. A queue without a lock (thread domain, single-threaded CQ, MLX5_SINGLE_THREADED) belongs
 * to one thread at a time.
 */
#include "check.h"

#include <pthread.h>
#include <rdma/ib_user_ioctl_verbs.h>

static unsigned int forks; /* number of fork() calls from the first process to this one */

unsigned int verbs_check_process(void)
{
	return __atomic_load_n(&forks, __ATOMIC_RELAXED);
}

void verbs_check_forked(void)
{
	__atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED);
}

void verbs_check_is_ours(struct ibv_context *context, const char *call, const char *owner,
			 uint32_t number)
{
	if (to_priv(context)->check->process == verbs_check_process())
		return;
	verbs_check_say(CHECK_FORK,
			"%s: %s 0x%x: a parent of this process opened the device: a child must "
			"open it again, and create objects of its own",
			call, owner, number);
}

static unsigned int regions;

static void region_count(const struct check_record *record)
{
	(void)record;
	regions++;
}

static unsigned int regions_alive(void)
{
	regions = 0;
	verbs_check_each(CHECK_KEY, region_count);
	return regions;
}

void verbs_check_before_fork(void)
{
	unsigned int count;

	verbs_check_lock();
	count = regions_alive();
	verbs_check_unlock();
	if (count && ibv_is_fork_initialized() == IBV_FORK_DISABLED)
		verbs_check_say(CHECK_FORK,
				"fork: %u memory regions are registered without protection, and "
				"this process may lose their pages to the child: call "
				"ibv_fork_init() before the first ibv_reg_mr()",
				count);
}

static const void *self(void)
{
	return (const void *)(uintptr_t)pthread_self();
}

int verbs_check_shield(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

void verbs_check_unshield(int before)
{
	pthread_setcancelstate(before, NULL);
}

void verbs_check_turn_take(struct check_ring *ring)
{
	unsigned int turn;

	verbs_check_lock();
	if (ring->poster != self()) {
		turn = ring->turns++;
		while (ring->poster || (int)(turn - ring->turns_ended) > 0)
			verbs_check_wait();
		ring->poster = self();
	}
	verbs_check_unlock();
}

void verbs_check_turn_end(struct check_ring *ring, const void *poster)
{
	verbs_check_lock();
	if (ring->poster == poster) {
		ring->poster = NULL;
		ring->turns_ended += ring->turns_ended != ring->turns;
	}
	verbs_check_wake();
	verbs_check_unlock();
}

void verbs_check_turn_leave(struct check_ring *ring)
{
	verbs_check_turn_end(ring, self());
}

void verbs_check_domain_made(const struct ibv_pd *domain)
{
	verbs_check_lock();
	verbs_check_add(CHECK_DOMAIN, NULL, check_id(domain), sizeof(struct check_record));
	verbs_check_unlock();
}

void verbs_check_domain_unmade(const struct ibv_pd *domain)
{
	struct check_record *record = verbs_check_find(CHECK_DOMAIN, NULL, check_id(domain));

	if (record)
		check_live(record, false);
}

bool verbs_check_has_no_lock(struct ibv_context *context, const struct ibv_pd *domain)
{
	const char *single = getenv("MLX5_SINGLE_THREADED");

	if (domain && verbs_check_find_live(CHECK_DOMAIN, NULL, check_id(domain)))
		return true;
	return to_priv(context)->driver_id == RDMA_DRIVER_MLX5 && single && !strcmp(single, "1");
}

void verbs_check_meet(const char *call, const char *owner, uint32_t number)
{
	verbs_check_say(CHECK_THREADS,
			"%s: %s 0x%x: another thread is in a call on it, and it has no lock: let "
			"one thread use it, or create it without a thread domain or flag of one "
			"thread",
			call, owner, number);
}

void verbs_check_enter(const void **user, const char *call, const char *owner, uint32_t number)
{
	const void *before = __atomic_exchange_n(user, self(), __ATOMIC_ACQ_REL);

	if (before && before != self())
		verbs_check_meet(call, owner, number);
}

void verbs_check_leave(const void **user)
{
	__atomic_store_n(user, NULL, __ATOMIC_RELEASE);
}
