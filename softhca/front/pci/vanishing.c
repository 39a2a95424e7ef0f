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

/* Where bus_error() jumps to if the memory of this thread's current copy is gone. NULL: the thread
 * is not copying. */
static _Thread_local sigjmp_buf *volatile escape;

/* Handles SIGBUS. During a copy, ends the copy. Any other SIGBUS is a bug of ours: restores the
 * default action, which ends the process when the access is repeated. */
static void bus_error(int signal_number)
{
	if (escape)
		siglongjmp(*escape, 1);
	signal(signal_number, SIG_DFL);
}

/* Uses SA_NODEFER, as siglongjmp() out of the handler does not restore the signal mask, and SIGBUS
 * must not stay blocked. */
int vanishing_prepare(void)
{
	struct sigaction action = { .sa_handler = bus_error, .sa_flags = SA_NODEFER };

	return sigaction(SIGBUS, &action, NULL) ? errno : 0;
}

/* Copies the last byte after the others. In a CQE or EQE it has the ownership bit, so the guest
 * must not see it first. */
static void copy_last_byte_last(uint8_t *to, const uint8_t *from, size_t len)
{
	memcpy(to, from, len - 1);
	__atomic_store_n(to + len - 1, from[len - 1], __ATOMIC_RELEASE);
}

/* The signal fences keep the compiler from moving the copy out from between the two stores to
 * ESCAPE, which the signal handler reads. */
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
