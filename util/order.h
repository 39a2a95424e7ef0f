/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * order.h - tells a thread sanitizer of order that the adapter or the kernel provides between
 * threads: a doorbell comes before its completion, creation or arming before the event.
 *
 * The sanitizer sees neither of the two. In other builds these functions are empty.
 */
#ifndef UTIL_ORDER_H
#define UTIL_ORDER_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ORDER_IS_WATCHED 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define ORDER_IS_WATCHED 1
#endif

#ifdef ORDER_IS_WATCHED
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);

static inline void order_publish(void *object)
{
	__tsan_release(object);
}

static inline void order_observe(void *object)
{
	__tsan_acquire(object);
}
#else
static inline void order_publish(void *object)
{
	(void)object;
}

static inline void order_observe(void *object)
{
	(void)object;
}
#endif

#endif
