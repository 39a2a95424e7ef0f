/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strict_locks.c - a preloaded library that aborts a program at the first wrong use of a mutex that
 * the C library does not report: unlocking an unlocked one, locking it twice in one thread,
 * destroying a locked one.
 *
 * So a forgotten lock shows even with one thread, in any test that reaches it. It checks plain
 * mutexes only. A child of fork() may unlock a mutex that its parent has locked.
 * Decision: docs/adr/0050.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void mutex_stop(const char *what, const void *mutex, void *caller)
{
	Dl_info info = { 0 };

	dladdr(caller, &info);
	fprintf(stderr, "strict_locks: mutex %p %s, by %s (%s+%#lx)\n", mutex, what,
		info.dli_sname ? info.dli_sname : "?", info.dli_fname ? info.dli_fname : "?",
		(unsigned long)((char *)caller - (char *)info.dli_fbase));
	abort();
}

/* Returns whether MUTEX is a plain one. The C library keeps these fields for every kind of
 * mutex. */
static int is_plain(const pthread_mutex_t *mutex)
{
	return (mutex->__data.__kind & 0x7f) == PTHREAD_MUTEX_NORMAL;
}

static int is_locked(const pthread_mutex_t *mutex)
{
	return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != 0;
}

static int is_mine(const pthread_mutex_t *mutex)
{
	return is_locked(mutex) && mutex->__data.__owner == (int)syscall(SYS_gettid);
}

#define REPLACES __attribute__((visibility("default")))

typedef int mutex_call(pthread_mutex_t *mutex);

static mutex_call *real(mutex_call **call, const char *name)
{
	if (!*call)
		*call = (mutex_call *)dlsym(RTLD_NEXT, name);
	return *call;
}

REPLACES int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static mutex_call *call;

	if (is_plain(mutex) && is_mine(mutex))
		mutex_stop("is locked twice", mutex, __builtin_return_address(0));
	return real(&call, "pthread_mutex_lock")(mutex);
}

REPLACES int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static mutex_call *call;

	if (is_plain(mutex) && !is_locked(mutex))
		mutex_stop("is unlocked, but nobody has it", mutex, __builtin_return_address(0));
	return real(&call, "pthread_mutex_unlock")(mutex);
}

REPLACES int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	static mutex_call *call;

	if (is_plain(mutex) && is_mine(mutex))
		mutex_stop("is destroyed while it is locked", mutex, __builtin_return_address(0));
	return real(&call, "pthread_mutex_destroy")(mutex);
}
