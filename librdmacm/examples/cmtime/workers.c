/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * workers.c - worker threads; see workers.h. One lock guards the queue.
 */
#include "workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct work *first, **last;
	bool stop;
	int done;
	int count;
	pthread_t threads[];
};

static struct work *take_work(struct workers *workers)
{
	struct work *work;

	pthread_mutex_lock(&workers->lock);
	while (!workers->first && !workers->stop)
		pthread_cond_wait(&workers->given, &workers->lock);
	work = workers->first;
	if (work)
		workers->first = work->next;
	if (!workers->first)
		workers->last = &workers->first;
	pthread_mutex_unlock(&workers->lock);
	return work;
}

static void *work_on(void *context)
{
	struct workers *workers = context;
	struct work *work;

	while ((work = take_work(workers))) {
		work->run(work);
		eventfd_write(workers->done, 1);
	}
	return NULL;
}

struct workers *workers_start(int threads)
{
	struct workers *workers = calloc(1, sizeof(*workers) + threads * sizeof(pthread_t));
	int ret = 0;

	if (!workers)
		return NULL;
	workers->last = &workers->first;
	workers->done = eventfd(0, EFD_NONBLOCK);
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->given, NULL);
	if (workers->done < 0)
		ret = errno;
	while (!ret && workers->count < threads) {
		ret = pthread_create(&workers->threads[workers->count], NULL, work_on, workers);
		workers->count += !ret;
	}
	if (!ret)
		return workers;
	workers_stop(workers);
	errno = ret;
	return NULL;
}

void workers_stop(struct workers *workers)
{
	pthread_mutex_lock(&workers->lock);
	workers->stop = true;
	pthread_cond_broadcast(&workers->given);
	pthread_mutex_unlock(&workers->lock);
	for (int i = 0; i < workers->count; i++)
		pthread_join(workers->threads[i], NULL);
	if (workers->done >= 0)
		close(workers->done);
	pthread_cond_destroy(&workers->given);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}

void workers_give(struct workers *workers, struct work *work)
{
	work->next = NULL;
	pthread_mutex_lock(&workers->lock);
	*workers->last = work;
	workers->last = &work->next;
	pthread_cond_signal(&workers->given);
	pthread_mutex_unlock(&workers->lock);
}

int workers_fd(const struct workers *workers)
{
	return workers->done;
}

void workers_forget_done(struct workers *workers)
{
	eventfd_t count;

	eventfd_read(workers->done, &count);
}
