/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * last_close.h - notices the last close of files that are memory of this process.
 *
 * Such a file is a memfd that is opened a second time for the program. That file description lives
 * until its last descriptor and mapping in any process is gone, which inotify reports.
 */
#ifndef SOFTHCA_FRONT_PROCESS_LAST_CLOSE_H
#define SOFTHCA_FRONT_PROCESS_LAST_CLOSE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "softhca/front/process/watch.h"

/* A file that a program has open. Its owner frees it after last_close_forget(). */
struct last_close {
	LIST_ENTRY(last_close) in_all;
	int memfd; /* this process's descriptor; open until last_close_forget() */
	int watch; /* inotify's number of the file */
};

/* Files that share a callback. All calls come from the loop's thread. */
struct last_closes {
	struct watch watch; /* inotify; its descriptor is -1 before last_closes_start() */
	LIST_HEAD(, last_close) all;
	/* The kernel dropped events, so the next one has all files looked at once more: a close
	 * comes shortly before the file counts as closed. */
	bool look_again;
	/* Closes FILE, which it forgets first. It may forget no other file. */
	void (*closed)(struct last_close *file);
};

/* Begins to wait for closes in the loop. Returns 0 or a positive errno. */
int last_closes_start(struct last_closes *closes, void (*closed)(struct last_close *file));
/* Stops; the files must be forgotten. Does nothing if it has not been started. */
void last_closes_stop(struct last_closes *closes);
/* Reports files that programs have closed by now. */
void last_closes_settle(struct last_closes *closes);

/* Opens MEMFD for a program. Returns 0 and the descriptor, which the caller closes after the
 * program got it, or a positive errno. */
int last_close_open(struct last_closes *closes, struct last_close *file, int memfd, int *fd);
void last_close_forget(struct last_closes *closes, struct last_close *file);

#endif
