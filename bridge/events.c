/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - makes destroying an object wait until the program has acknowledged its events. The
 * host reads the events and counts the acknowledged ones in the object itself.
 */
#include "libibverbs/private.h"

#include <pthread.h>

/* Waits with cancellation disabled: a thread cancelled here would leave an object that the kernel
 * has already destroyed. */
void verbs_event_wait_acked(const char *call, pthread_mutex_t *mutex, pthread_cond_t *cond,
			    uint32_t *acked, uint32_t reported)
{
	int state;

	(void)call;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(mutex);
	while ((int32_t)(reported - *acked) > 0)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
	pthread_setcancelstate(state, NULL);
}
