/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* main.c - verbs-threads: runs the topics, and the crews of all of them. See threads.h. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "threads.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

struct crew {
	pthread_barrier_t start;
	void (*body)(void *arg, int id);
	void *arg;
};

struct hand {
	struct crew *crew;
	pthread_t thread;
	int id;
};

static void *hand_main(void *arg)
{
	struct hand *hand = arg;

	pthread_barrier_wait(&hand->crew->start);
	hand->crew->body(hand->crew->arg, hand->id);
	return NULL;
}

void crew_run(int size, void (*body)(void *arg, int id), void *arg)
{
	struct crew crew = { .body = body, .arg = arg };
	struct hand hands[CREW_MAX];

	MUST(size <= CREW_MAX && !pthread_barrier_init(&crew.start, NULL, size));
	for (int i = 0; i < size; i++) {
		hands[i].crew = &crew;
		hands[i].id = i;
		MUST(!pthread_create(&hands[i].thread, NULL, hand_main, &hands[i]));
	}
	for (int i = 0; i < size; i++)
		MUST(!pthread_join(hands[i].thread, NULL));
	pthread_barrier_destroy(&crew.start);
}

/* Serializes output, as say.h is for one thread. */
void crew_complain(const char *fmt, ...)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	say_check(false, "%s", text);
	pthread_mutex_unlock(&lock);
}

void crew_nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

long crew_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool crew_await(atomic_int *value, int target)
{
	long end = crew_now_ms() + CREW_PATIENCE_MS;

	while (atomic_load(value) < target) {
		if (crew_now_ms() > end)
			return false;
		crew_nap();
	}
	return true;
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*run_with)(struct rig *rig);
} topics[] = {
	/* First, so that threads meet while the providers are being loaded. */
	{ "lists", threads_lists, NULL },
	{ "contexts", threads_contexts, NULL },
	{ "refused", NULL, threads_refused },
	{ "resized", NULL, threads_resized },
	{ "objects", NULL, threads_objects },
	{ "data", NULL, threads_data },
	{ "srq", NULL, threads_srq },
	{ "domains", NULL, threads_domains },
	{ "churn", NULL, threads_churn },
	{ "signatures", NULL, threads_signatures },
	{ "completion-events", NULL, threads_comp_events },
	{ "asynchronous-events", NULL, threads_async_events },
	{ "cancelled", NULL, threads_cancelled },
};

static void topic_run(void (*run)(struct rig *rig))
{
	struct rig rig;

	rig_open(&rig);
	run(&rig);
	rig_close(&rig);
}

int main(int argc, char **argv)
{
	/* A report of the thread sanitizer is one descriptor more, and fails anyway. */
	int fds = rig_count_fds();

	TOPICS_CHOOSE(topics, argc, argv);
#ifdef __SANITIZE_THREAD__
	topic_leave_out("cancelled", "the sanitizer does not see what cancelled threads unlock");
#endif
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++) {
		if (!topic_begin(topics[i].name))
			continue;
		if (topics[i].run)
			topics[i].run();
		else
			topic_run(topics[i].run_with);
		say_check(rig_count_fds() == fds, "no descriptor is left");
	}
	return topics_end();
}
