/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * memory.c - checks memory that the program passes to a call. The kernel returns EFAULT where a
 * library would crash, so the kernel is asked, page by page, by system calls that access the memory
 * without changing it.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The call has only this name on 32-bit machines whose first kernel already had 64-bit times. */
#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

/* Tests a word with a futex operation that adds 0 and wakes no thread: the kernel checks the
 * address without changing the word, and a bad one gives EFAULT instead of a signal. */
static bool word_is_writable(uintptr_t word)
{
	const long add_0 = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0);

	return syscall(SYS_futex, word, FUTEX_WAKE_OP_PRIVATE, 0, 0L, word, add_0) >= 0 ||
	       errno != EFAULT;
}

/* Tests a word with rt_sigprocmask() and an invalid operation: the kernel reads the mask before it
 * rejects the operation. A mask has 8 bytes, so the word is aligned down to stay within the
 * page. */
static bool word_is_readable(uintptr_t word)
{
	enum { NO_CHANGE = -1, MASK = 8 };

	return !syscall(SYS_rt_sigprocmask, NO_CHANGE, word & ~(uintptr_t)(MASK - 1), NULL, MASK) ||
	       errno != EFAULT;
}

static bool is_there(const void *at, size_t size, bool (*word_is)(uintptr_t word))
{
	enum { PAGE = 4096, WORD = 4 };
	const uintptr_t begin = (uintptr_t)at, end = begin + size;
	const int error = errno;
	/* NULL is no error for rt_sigprocmask(), so exclude the first page */
	bool good = end >= begin && (begin >= PAGE || !size);

	for (uintptr_t next = begin; good && next < end; next = (next | (PAGE - 1)) + 1)
		good = word_is(next & ~(uintptr_t)(WORD - 1));
	errno = error;
	return good;
}

bool preload_may_read(const void *at, size_t size)
{
	return is_there(at, size, word_is_readable);
}

bool preload_may_write(const void *at, size_t size)
{
	return is_there(at, size, word_is_writable);
}
