/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * front.c - what a kernel promises to programs that use an adapter, whatever the libraries do:
 * descriptors stay what they are, memory is reached as long as it is there.
 *
 * Covers: softhca/front/process/fd_number.c, softhca/front/process/client.c,
 * softhca/front/process/uverbs/file.c
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/say.h"
#include "tests/lib/topics.h"

static const char cm_file[] = "/dev/infiniband/rdma_cm";

/* ---- numbers of descriptors ---- */

enum {
	SELECT_NUMBERS = 1024,
	FILES = 30000, /* of the program's own, while others open an adapter's */
	LOOKS = 50,    /* at each */
	OPENERS = 2,
	LIMIT = 2500, /* descriptors of a process that opens as many as it can */
	SPARE = 10,   /* that it has otherwise */
};

static atomic_bool enough;

static void *open_and_close(void *arg)
{
	atomic_long *opens = arg;

	while (!enough) {
		int fd = open(cm_file, O_RDWR | O_CLOEXEC);

		MUST(fd >= 0);
		(*opens)++;
		close(fd);
	}
	return NULL;
}

/* How many files of the program became other files, which are pipes here. That is asked by a call
 * that softhca never answers. */
static int count_changed(void)
{
	int changed = 0;

	for (int i = 0; i < FILES; i++) {
		int fd = memfd_create("mine", MFD_CLOEXEC);

		MUST(fd >= 0);
		for (int look = 0; look < LOOKS; look++)
			changed += lseek(fd, 0, SEEK_CUR) < 0;
		close(fd);
	}
	return changed;
}

static void numbers_filled(int *filler, int count)
{
	pthread_t thread[OPENERS];
	atomic_long opens = 0;

	for (int i = 0; i < count; i++)
		MUST((filler[i] = dup(STDIN_FILENO)) >= 0);
	enough = false;
	for (int i = 0; i < OPENERS; i++)
		MUST(!pthread_create(&thread[i], NULL, open_and_close, &opens));
	say_check(!count_changed(), "with %d descriptors, files stay what they are", count);
	enough = true;
	for (int i = 0; i < OPENERS; i++)
		MUST(!pthread_join(thread[i], NULL));
	say_check(opens > 0, "while other threads open files of adapters");
	for (int i = 0; i < count; i++)
		close(filler[i]);
}

/* The numbers that are left below the ones that softhca gives are none, or few. */
static void numbers(void)
{
	static int filler[SELECT_NUMBERS];

	numbers_filled(filler, 520);
	numbers_filled(filler, 507);
}

/* A process can have as many files of adapters as descriptors, and calls on each are answered. */
static void many(void)
{
	static int files[LIMIT];
	struct rlimit before, limit;
	int count = 0, devices = 0;
	struct stat st;

	MUST(!getrlimit(RLIMIT_NOFILE, &before) && before.rlim_max >= LIMIT);
	limit = (struct rlimit){ LIMIT, before.rlim_max };
	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
	for (; count < LIMIT && (files[count] = open(cm_file, O_RDWR | O_CLOEXEC)) >= 0; count++)
		devices += !fstat(files[count], &st) && S_ISCHR(st.st_mode);
	say_check(count == LIMIT || errno == EMFILE, "there are no more: EMFILE");
	/* Numbers too low to be watched are other files'. */
	say_check(count >= LIMIT - 512 - SPARE, "a limit of descriptors is one of files");
	say_check(devices == count, "each is a device");
	for (int i = 0; i < count; i++)
		close(files[i]);
	MUST(!setrlimit(RLIMIT_NOFILE, &before));
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = {
		{ "numbers", numbers },
		{ "many", many },
	};

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
