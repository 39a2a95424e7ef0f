/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cancel.c - see cancel.h.
 */
#include "librdmacm/rsocket/cancel.h"

#include <stdbool.h>
#include <stddef.h>

static __thread struct {
	unsigned int shields, sleep_shields;
	int state; /* the thread's setting before the first shield */
	struct cm_lock *lock;
} own;

void rdmacm_rs_shield(void)
{
	if (!own.shields++)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &own.state);
}

void rdmacm_rs_unshield(void)
{
	if (!--own.shields)
		pthread_setcancelstate(own.state, NULL);
}

void rdmacm_rs_shield_sleep(void)
{
	rdmacm_rs_shield();
	own.sleep_shields++;
}

void rdmacm_rs_unshield_sleep(void)
{
	own.sleep_shields--;
	rdmacm_rs_unshield();
}

int rdmacm_rs_cancel_poll(struct pollfd *fds, nfds_t count, int timeout_ms, void (*undo)(void *of),
			  void *of)
{
	const bool opens = own.shields && !own.sleep_shields;
	int ret;

	pthread_cleanup_push(undo, of);
	if (opens)
		pthread_setcancelstate(own.state, NULL);
	ret = poll(fds, count, timeout_ms);
	if (opens)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
	return ret;
}

void rdmacm_rs_cancel_has(struct cm_lock *lock)
{
	own.lock = lock;
}

void rdmacm_rs_cancel_unlock(void)
{
	if (own.lock)
		cm_lock_drop(own.lock);
	own.lock = NULL;
}
