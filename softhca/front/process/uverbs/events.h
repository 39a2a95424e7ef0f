/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.h - completion channels and asynchronous event files: from the device's event queues to
 * what programs read.
 *
 * A channel is a socket whose other end is the program's descriptor. Sources are the CQs, QPs and
 * SRQs that report to channels. The device reports from whatever thread runs it, under its lock; so
 * nothing here calls into the device.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_EVENTS_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct adapter;
struct call;
struct event_channel;
struct uverbs_file;

enum source_kind {
	SOURCE_CQ,
	SOURCE_QP,
	SOURCE_SRQ,
	SOURCE_WQ,
};

struct event_source {
	LIST_ENTRY(event_source) in_bucket;
	struct adapter *adapter;
	enum source_kind kind;
	uint32_t number; /* CQN, QPN or SRQN */
	uint64_t user_handle;
	struct event_channel *comp;  /* CQs only; may be NULL */
	struct event_channel *async; /* may be NULL */
	uint32_t comp_sent, async_sent;
	uint32_t comp_read, async_read; /* known once it is removed */
};

/* The device calls this function, as adapter_listener says. */
void events_from_device(void *adapter, uint32_t eqn, const uint8_t eqe[64]);

/* What is read from a channel */
enum channel_kind {
	CHANNEL_VERBS, /* completions or asynchronous events, as many as a read() has room for */
	CHANNEL_DEVX_EVENTS,  /* the device's own events, one by one: devx/event.c */
	CHANNEL_DEVX_ANSWERS, /* to commands, one by one: devx/async.c */
};

/* Makes a channel of FILE, whose end for the program is given to the caller of CALL as descriptor
 * *NUMBER. It has one reference. */
int event_channel_create(struct call *call, const struct uverbs_file *file, enum channel_kind kind,
			 struct event_channel **channel, int *number);
void event_channel_get(struct event_channel *channel);
void event_channel_put(struct event_channel *channel);
/* Returns the channel of FILE that descriptor FD of process TID reads, or NULL; no new
 * reference. */
struct event_channel *event_channel_find(pid_t tid, const struct uverbs_file *file, int fd,
					 enum channel_kind kind);
/* Answers a read() of one of DevX if there is less room than the next message needs, which stays,
 * as in Linux; else the kernel reads. */
void event_channel_read(struct call *call);
/* CLOSED is called when the program's end of CHANNEL is closed. */
void event_channel_on_close(struct event_channel *channel,
			    void (*closed)(struct event_channel *channel));
/* Should this process be killed, HOLDER tells the program over CHANNEL that the device is gone. */
void event_channel_entrust(struct event_channel *channel, int holder);
/* Makes CHANNEL the file for events of ADAPTER as a whole: port and device events go there. */
void event_channel_set_default(struct event_channel *channel, struct adapter *adapter);

/* The lock guards what the device's events lead to; it is a leaf. */
void events_lock(void);
void events_unlock(void);
/* DevX; needs the lock. Queues a message of LEN bytes, which one read returns, and returns its
 * number. Numbers start at 1. */
uint64_t event_channel_send(struct event_channel *channel, const void *message, size_t len);
/* With the lock held: the number of the last message that the program has read, or 0. */
uint64_t event_channel_read_count(struct event_channel *channel);
/* With the lock held: how many bytes of what was sent the program has not read, and in how many
 * messages. */
size_t event_channel_unread(struct event_channel *channel, size_t *messages);

void event_source_add(struct event_source *source);
/* Ends the making of what events come from: RET says whether the device has made it, as NUMBER.
 * Adds or drops SOURCE; returns RET. */
int event_source_made(struct event_source *source, int ret, uint32_t number);
/* No more events come from SOURCE; what the program has not read yet is taken back. What it has
 * read is counted: destroying waits until the program has acknowledged as many. TID is a thread of
 * the program. */
void event_source_remove(struct event_source *source, pid_t tid);

#endif
