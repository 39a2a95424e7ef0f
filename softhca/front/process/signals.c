/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * signals.c - see signals.h.
 *
 * A signal for a whole process goes to its main thread unless that blocks it; otherwise the kernel
 * chooses another thread, and does not tell which. The chosen thread acts on it at the end of its
 * system call. Linux: signal(7)
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "softhca/front/process/signals.h"

struct thread {
	char state; /* as in proc(5) */
	pid_t pid;
	uint64_t own, shared, blocked, ignored; /* a bit for each signal */
};

static void line_read(struct thread *thread, const char *line)
{
	unsigned long long set;

	sscanf(line, "State: %c", &thread->state);
	sscanf(line, "Tgid: %d", &thread->pid);
	if (sscanf(line, "SigPnd: %llx", &set) == 1)
		thread->own = set;
	else if (sscanf(line, "ShdPnd: %llx", &set) == 1)
		thread->shared = set;
	else if (sscanf(line, "SigBlk: %llx", &set) == 1)
		thread->blocked = set;
	else if (sscanf(line, "SigIgn: %llx", &set) == 1)
		thread->ignored = set;
}

static bool thread_read(pid_t tid, struct thread *thread, unsigned int *reads)
{
	char path[32], line[256];
	FILE *status;

	++*reads;
	*thread = (struct thread){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	status = fopen(path, "re");
	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		line_read(thread, line);
	fclose(status);
	return thread->pid > 0;
}

static bool has_ended(const struct thread *thread)
{
	return thread->state == 'Z' || thread->state == 'X';
}

static bool thread_takes(const struct thread *thread, uint64_t signals)
{
	return !has_ended(thread) && (signals & ~thread->blocked & ~thread->ignored);
}

/* Returns whether a thread of PID other than TID would take one of SIGNALS. */
static bool others_take(pid_t pid, pid_t tid, uint64_t signals, unsigned int *reads)
{
	struct dirent *entry;
	struct thread other;
	bool found = false;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks)) != NULL) {
		pid_t at = atoi(entry->d_name);

		found = isdigit((unsigned char)entry->d_name[0]) && at != tid &&
			thread_read(at, &other, reads) && thread_takes(&other, signals);
	}
	if (tasks)
		closedir(tasks);
	return found;
}

/* Checks signals for the whole process, for a thread other than the main one, which takes them
 * first if it can. A stopped main thread means that SIGSTOP is stopping all threads, so returns
 * SIGNALS_WAIT. */
static enum signals_verdict look_beside_main(const struct thread *thread, pid_t tid,
					     unsigned int *reads)
{
	uint64_t shared = thread->shared & ~thread->blocked & ~thread->ignored;
	struct thread leader;

	if (!thread_read(thread->pid, &leader, reads))
		return SIGNALS_NONE;
	if (leader.state == 'T')
		return SIGNALS_WAIT;
	if (!shared || thread_takes(&leader, shared))
		return SIGNALS_NONE;
	return others_take(thread->pid, tid, shared, reads) ? SIGNALS_PERHAPS : SIGNALS_WAIT;
}

enum signals_verdict signals_look(pid_t tid, unsigned int *reads)
{
	struct thread thread;

	if (!thread_read(tid, &thread, reads))
		return SIGNALS_NONE;
	if (thread_takes(&thread, thread.own))
		return SIGNALS_WAIT;
	if (thread.pid != tid)
		return look_beside_main(&thread, tid, reads);
	return thread_takes(&thread, thread.shared) ? SIGNALS_WAIT : SIGNALS_NONE;
}
