/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * proc_status.c - /proc/PID/status of programs with pinned memory.
 *
 * The library reads its line VmPin to explain a failed registration. The kernel does not know pages
 * that pinned.c counts, so the program gets a copy of the file, made at open(), with that line
 * changed. Decision: docs/adr/0053.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/program/proc_status.h"

/* Returns the process or thread whose status file PATH is, if it belongs to the caller's process;
 * else 0. A number in PATH is of the caller's PID namespace, so it does not identify another
 * process here. */
static pid_t status_owner(const char *path, const struct client *caller, pid_t tid)
{
	pid_t owner = 0;
	int end = 0;

	if (!strcmp(path, "/proc/self/status"))
		return caller->pid;
	if (!strcmp(path, "/proc/thread-self/status"))
		return tid;
	if (sscanf(path, "/proc/%d/status%n", &owner, &end) != 1 || !end || path[end])
		return 0;
	return owner == caller->pid || client_has_thread(caller, owner) ? owner : 0;
}

static void status_copy(FILE *from, FILE *to, uint64_t pages)
{
	char line[4096];

	while (fgets(line, sizeof(line), from))
		if (!strncmp(line, "VmPin:", strlen("VmPin:")))
			fprintf(to, "VmPin:\t%8" PRIu64 " kB\n", pages * 4);
		else
			fputs(line, to);
}

/* Makes a copy of TID's status file in which VmPin is PAGES pages. Returns a descriptor, or -1. */
static int status_make(pid_t tid, uint64_t pages)
{
	int fd = memfd_create("status", MFD_CLOEXEC);
	char path[48];
	FILE *from, *to;

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	from = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	to = from ? fopen(path, "we") : NULL;
	if (to) {
		status_copy(from, to, pages);
		fclose(to);
	}
	if (from)
		fclose(from);
	if (to)
		return fd;
	close(fd);
	return -1;
}

void proc_status_open(struct call *call, const char *path, uint64_t flags)
{
	const struct client *client;
	pid_t owner;
	int fd;

	if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_PATH | O_DIRECTORY))
		return;
	client = client_find(call->tid);
	owner = client && client->pinned_pages ? status_owner(path, client, call->tid) : 0;
	fd = owner ? status_make(owner, client->pinned_pages) : -1;
	if (fd < 0)
		return;
	call_return_fd(call, fd, flags & O_CLOEXEC);
	close(fd);
}
