/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fd_number.c - numbers of the descriptors that programs get for softhca's files. See fd_number.h.
 *
 * The band begins at FD_BAND_FIRST and has no end. It is divided into regions: the first ends where
 * select() does, and each further one is as large as all before it. A region is filled from above,
 * while the program's own descriptors come from below: a number with FD_GAP free ones below it is
 * not the next that the program gets. Numbers with fewer are used only if no others are left.
 * Decision: docs/adr/0046.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/log.h"
#include "util/bits.h"

/* FD_GAP: number of free descriptors that a chosen one has below it. FD_SPARE: number of
 * descriptors right below the limit that are not chosen, as valgrind keeps twelve there for
 * itself. */
enum { FD_GAP = 16, FD_SPARE = 16, FD_LAST = 8, MOST_NUMBERS = 1 << 20, MOST_TRIES = 8 };

/* Returns how many descriptors the process may have. Reads /proc: prlimit() on another user's
 * process would need CAP_SYS_RESOURCE, which root in a container lacks. */
static rlim_t descriptor_limit(pid_t tid)
{
	unsigned long long limit = 0;
	char path[32], line[128];
	FILE *limits;

	snprintf(path, sizeof(path), "/proc/%d/limits", tid);
	limits = fopen(path, "re");
	if (!limits)
		return 0;
	while (fgets(line, sizeof(line), limits) &&
	       sscanf(line, "Max open files %llu", &limit) != 1)
		;
	fclose(limits);
	return limit;
}

int fd_number_raise_limit(pid_t tid)
{
	struct rlimit limit;

	if (prlimit(tid, RLIMIT_NOFILE, NULL, &limit))
		return errno;
	if (limit.rlim_cur >= FD_SELECT_END)
		return 0;
	limit.rlim_cur = limit.rlim_max < FD_SELECT_END ? limit.rlim_max : FD_SELECT_END;
	return prlimit(tid, RLIMIT_NOFILE, &limit, NULL) ? errno : 0;
}

static int usable_numbers(pid_t tid)
{
	rlim_t limit = descriptor_limit(tid);

	if (limit < FD_SELECT_END && !fd_number_raise_limit(tid))
		limit = descriptor_limit(tid);
	return limit < MOST_NUMBERS ? (int)limit : MOST_NUMBERS;
}

struct numbers {
	uint8_t *used; /* indexed by number */
	int limit;
};

static int numbers_read(pid_t tid, struct numbers *numbers)
{
	struct dirent *entry;
	char path[32];
	DIR *dir;

	numbers->limit = usable_numbers(tid);
	snprintf(path, sizeof(path), "/proc/%d/fd", tid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? ESRCH : errno;
	numbers->used = calloc(numbers->limit + 1, 1);
	while (numbers->used && (entry = readdir(dir)) != NULL) {
		int number = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && number < numbers->limit)
			numbers->used[number] = 1;
	}
	closedir(dir);
	return numbers->used ? 0 : ENOMEM;
}

/* Returns a free number below the band, or -1. */
static int free_below_band(const struct numbers *numbers)
{
	for (int number = FD_BAND_FIRST - 1; number >= 0; number--)
		if (number < numbers->limit && !numbers->used[number])
			return number;
	return -1;
}

/* Returns the highest free number from FIRST to END - 1 that has at least GAP free numbers below
 * it, or -1. */
static int highest_free(const struct numbers *numbers, int first, int end, int gap)
{
	int lower = 0, highest = -1;

	for (int number = 0; number < end; number++) {
		if (numbers->used[number])
			continue;
		if (number >= first && lower >= gap)
			highest = number;
		lower++;
	}
	return highest;
}

/* Returns a free number of the band with GAP free numbers below it, or -1. Prefers numbers that
 * select() supports, then each next region of twice the size; in a region, takes the highest. Skips
 * the last SPARE numbers below the limit, and the last one for select(), which cwd.c uses. */
static int number_with_gap(const struct numbers *numbers, int gap, int spare)
{
	int end = FD_SELECT_END;

	for (int first = FD_BAND_FIRST; first < numbers->limit; first = end, end *= 2) {
		int usable = end == FD_SELECT_END ? end - 1 : end;
		int most = numbers->limit - spare;
		int number = highest_free(numbers, first, usable < most ? usable : most, gap);

		if (number >= 0)
			return number;
	}
	return -1;
}

static int search_number(pid_t tid, int *number, int *below)
{
	struct numbers numbers = { 0 };
	int ret = numbers_read(tid, &numbers);

	if (ret)
		return ret == ENOMEM ? ret : EMFILE;
	*below = free_below_band(&numbers);
	*number = number_with_gap(&numbers, FD_GAP, FD_SPARE);
	if (*number < 0 && *below < 0)
		*number = FD_NUMBER_LOWEST;
	else if (*number < 0 && (*number = number_with_gap(&numbers, 0, 0)) < 0)
		ret = EMFILE;
	free(numbers.used);
	return ret;
}

static bool is_free(pid_t tid, int number)
{
	struct stat st;

	return client_fd_stat(tid, number, &st) == EBADF;
}

static bool is_run(pid_t tid, int first, int count, bool free)
{
	for (int number = first; number < first + count; number++)
		if (is_free(tid, number) != free)
			return false;
	return true;
}

/* Returns whether the number below hint->last can be chosen: the FD_LAST numbers above are still in
 * use, and it and FD_GAP numbers below are free. This saves a search of all numbers, which takes
 * long in a program with thousands of descriptors. */
static bool is_next_free(pid_t tid, const struct fd_hint *hint)
{
	const int next = hint->last - 1;

	if (next < FD_BAND_FIRST + FD_GAP || next == FD_SELECT_END - 1)
		return false;
	return is_run(tid, hint->last, FD_LAST, false) && is_free(tid, hint->below) &&
	       is_run(tid, next - FD_GAP, FD_GAP + 1, true);
}

int fd_number_pick(pid_t tid, int *number)
{
	struct client *client = client_find(tid);
	struct fd_hint hint = { 0 };
	int ret;

	if (client && is_next_free(tid, &client->fd_hint)) {
		*number = --client->fd_hint.last;
		return 0;
	}
	ret = search_number(tid, number, &hint.below);
	hint.last = ret ? 0 : *number;
	if (client)
		client->fd_hint = hint;
	return ret;
}

/* Replaces a descriptor of the caller, of which the program does not know, by one that keeps no
 * object alive. softhca cannot close descriptors of the caller. */
static void make_harmless(struct call *call, int number)
{
	int nothing = open("/dev/null", O_PATH | O_CLOEXEC);

	if (nothing < 0)
		return;
	call_place_fd(call, nothing, true, number);
	close(nothing);
}

/* Lets the kernel choose the number. It is in the band unless the program has closed a lower
 * descriptor meanwhile. Returns EMFILE then, as calls on a lower number are not trapped. */
static int place_lowest(struct call *call, int fd, bool cloexec, int *number)
{
	int got = call_give_fd(call, fd, cloexec);

	if (got < 0)
		return -got;
	if (got < FD_BAND_FIRST) {
		log_error("descriptor %d of thread %d came too low to be used", got, call->tid);
		make_harmless(call, got);
		return EMFILE;
	}
	*number = got;
	return 0;
}

/* Picks another number by a search of all numbers, as the hint was wrong. */
static int pick_anew(pid_t tid, int *number)
{
	struct client *client = client_find(tid);

	if (client)
		client->fd_hint = (struct fd_hint){ 0 };
	return fd_number_pick(tid, number);
}

/* Gives the caller a copy of FD at NUMBER. Returns EBUSY if NUMBER is in use by now, as the kernel
 * would replace that descriptor. */
static int place_at(struct call *call, int fd, bool cloexec, int number)
{
	return is_free(call->tid, number) ? call_place_fd(call, fd, cloexec, number) : EBUSY;
}

/* Gives the caller a copy of FD at *NUMBER, and tries other numbers if that one cannot be used:
 * another thread has taken it (EBUSY), or the program has lowered its limit below it (EBADF). */
int fd_number_place(struct call *call, int fd, bool cloexec, int *number)
{
	int ret = EBUSY;

	for (int tries = 0; (ret == EBUSY || ret == EBADF) && tries < MOST_TRIES; tries++) {
		if (tries && pick_anew(call->tid, number))
			return EMFILE;
		if (*number == FD_NUMBER_LOWEST)
			return place_lowest(call, fd, cloexec, number);
		ret = place_at(call, fd, cloexec, *number);
	}
	return ret;
}

void fd_number_return(struct call *call, int fd, bool cloexec, int number)
{
	int ret = fd_number_place(call, fd, cloexec, &number);

	if (ret)
		call_fail(call, ret);
	else
		call_return(call, number);
}
