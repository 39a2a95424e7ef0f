/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vanishing.c - see vanishing.h. An access beyond the end of a mapped file raises SIGBUS in the
 * thread that made it, at the access.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "softhca/front/pci/vanishing.h"

/* Where the thread's current copy ends if its memory is gone; NULL: it copies nothing. */
static _Thread_local sigjmp_buf *volatile escape;

/* Ends the current copy. Any other access gets the signal's default action when it is repeated, as
 * it is a fault of our own. */
static void bus_error(int signal_number)
{
	if (escape)
		siglongjmp(*escape, 1);
	signal(signal_number, SIG_DFL);
}

/* SA_NODEFER: leaving by siglongjmp() restores no mask, so the signal must not be blocked. */
int vanishing_prepare(void)
{
	struct sigaction action = { .sa_handler = bus_error, .sa_flags = SA_NODEFER };

	return sigaction(SIGBUS, &action, NULL) ? errno : 0;
}

/* The last byte has the ownership bit of CQEs and EQEs, so the guest must not see it before the
 * others. */
static void copy_last_byte_last(uint8_t *to, const uint8_t *from, size_t len)
{
	memcpy(to, from, len - 1);
	__atomic_store_n(to + len - 1, from[len - 1], __ATOMIC_RELEASE);
}

/* The fences keep the copy between the two stores, as a signal handler reads what they wrote. */
int vanishing_copy(void *to, const void *from, size_t len)
{
	volatile int ret = EFAULT;
	sigjmp_buf here;

	if (!sigsetjmp(here, 0)) {
		escape = &here;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		copy_last_byte_last(to, from, len);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		ret = 0;
	}
	escape = NULL;
	return ret;
}
