/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * notify.h - one trapped system call and its answer.
 */
#ifndef SOFTHCA_FRONT_PROCESS_NOTIFY_H
#define SOFTHCA_FRONT_PROCESS_NOTIFY_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "softhca/front/process/holder/mailbox.h"

struct daemon;
struct epitaph;

/* A trapped call. It is answered exactly once, by one of the functions below; a call without answer
 * continues in the kernel. */
struct call {
	struct daemon *daemon;
	struct epitaph *epitaph; /* of the caller's runner */
	int holder;              /* socket to the caller's holder */
	int listener;
	const struct seccomp_notif *notif;
	pid_t tid;
	bool answered;
	struct mailbox *mailbox;
};

static inline uint64_t call_arg(const struct call *call, unsigned int arg)
{
	return call->notif->data.args[arg];
}

static inline int call_arg_int(const struct call *call, unsigned int arg)
{
	return (int)call->notif->data.args[arg];
}

void call_return(struct call *call, int64_t value);
void call_fail(struct call *call, int error);
/* Lets the kernel execute the call. ENOENT: the caller does not wait any more. */
int call_continue(struct call *call);
/* Answers with a copy of descriptor FD, at the caller's lowest free number. */
void call_return_fd(struct call *call, int fd, bool cloexec);
/* Gives the caller a copy of FD without answering. Returns its number, or minus an errno. */
int call_give_fd(struct call *call, int fd, bool cloexec);

/* Gives the caller a copy of FD at that number, replacing any descriptor there, without answering.
 * Returns 0 or an errno. */
int call_place_fd(struct call *call, int fd, bool cloexec, int number);

/* Asks the kernel for fast wake-ups, if it supports them. */
void notify_tune(int listener);
/* Receives and answers one notification of LISTENER. ENOENT: the caller was gone. ETIMEDOUT: the
 * client has received it itself. Errors other than ENOENT and EINTR end the listener. */
int notify_serve_one(struct daemon *daemon, int listener, struct mailbox *mailbox,
		     struct epitaph *epitaph, int holder);

#endif
