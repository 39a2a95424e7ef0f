/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cancel.c - see cancel.h.
 */
#include "librdmacm/rsocket/cancel.h"
#include "librdmacm/shield.h"

#include <stdbool.h>
#include <stddef.h>

static __thread struct cm_lock *own_lock;

void rdmacm_rs_shield(void)
{
	cm_shield_begin();
}

void rdmacm_rs_unshield(void)
{
	cm_shield_end();
}

void rdmacm_rs_shield_sleep(void)
{
	cm_shield_begin();
	rdmacm_shield.sleeps++;
}

void rdmacm_rs_unshield_sleep(void)
{
	rdmacm_shield.sleeps--;
	cm_shield_end();
}

int rdmacm_rs_cancel_poll(struct pollfd *fds, nfds_t count, int timeout_ms, void (*undo)(void *of),
			  void *of)
{
	const struct cm_shield shield = rdmacm_shield;
	const bool opens = shield.depth && !shield.sleeps;
	int ret;

	pthread_cleanup_push(undo, of);
	if (opens) {
		/* the calls of UNDO and of a signal handler have shields of their own */
		rdmacm_shield.depth = 0;
		pthread_setcancelstate(shield.state, NULL);
	}
	ret = poll(fds, count, timeout_ms);
	if (opens) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
		shield_set(shield.depth, shield.state);
	}
	pthread_cleanup_pop(0);
	return ret;
}

void rdmacm_rs_cancel_has(struct cm_lock *lock)
{
	own_lock = lock;
}

void rdmacm_rs_cancel_unlock(void)
{
	if (own_lock)
		cm_lock_drop(own_lock);
	own_lock = NULL;
}
