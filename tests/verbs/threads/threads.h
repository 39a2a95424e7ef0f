/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * threads.h - the common part of verbs-threads: crews of threads that start together, and checks
 * that any thread may make. Each topic makes calls that the API allows threads to make at the same
 * time, and then counts: each completion arrived once, at one thread, with its payload. The thread
 * sanitizer's build also finds data races.
 */
#ifndef TESTS_VERBS_THREADS_H
#define TESTS_VERBS_THREADS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"

#define CREW_MAX 8

/* SIZE threads run BODY(arg, 0 ... SIZE - 1), all from the same moment; returns when all have
 * ended. */
void crew_run(int size, void (*body)(void *arg, int id), void *arg);

/* Checks a condition in one of many threads: prints it only if it is wrong. */
#define CHECK(condition, ...) ((condition) ? (void)0 : crew_complain(__VA_ARGS__))
void crew_complain(const char *fmt, ...) SAY_FORMAT(1);

/* Sleeps for a moment, as programs with more threads than CPUs get nowhere by spinning. */
void crew_nap(void);
long crew_now_ms(void);
/* Until *VALUE is at least TARGET; false when that takes longer than anything should. */
bool crew_await(atomic_int *value, int target);
#define CREW_PATIENCE_MS 60000

void threads_lists(void);
void threads_contexts(void);
void threads_objects(struct rig *rig);
void threads_resized(struct rig *rig);
void threads_refused(struct rig *rig);
void threads_data(struct rig *rig);
void threads_srq(struct rig *rig);
void threads_domains(struct rig *rig);
void threads_churn(struct rig *rig);
void threads_signatures(struct rig *rig);
void threads_comp_events(struct rig *rig);
void threads_async_events(struct rig *rig);
void threads_cancelled(struct rig *rig);

#endif
