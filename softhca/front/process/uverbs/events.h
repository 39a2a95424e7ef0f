/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.h - completion channels and asynchronous event files: they carry the device's events to
 * programs.
 *
 * A channel is a socket whose other end is the program's descriptor. Sources are the CQs, QPs and
 * SRQs that report to channels. The device reports from any thread, with its lock held, so nothing
 * here calls the device.
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
	uint32_t number; /* CQN, QPN or SRQN; a hash of it selects the bucket */
	uint64_t user_handle;
	struct event_channel *comp;  /* CQs only; may be NULL. The source holds a reference */
	struct event_channel *async; /* may be NULL. The source holds a reference */
	uint32_t comp_sent, async_sent;
	/* Numbers of events that the program has read, set when the source is removed: the
	 * program's destroy call waits until it has acknowledged as many. */
	uint32_t comp_read, async_read;
};

void events_from_device(void *adapter, uint32_t eqn, const uint8_t eqe[64]);

/* Kinds of channels, by what programs read. */
enum channel_kind {
	CHANNEL_VERBS,        /* completions or asynchronous events, several in one read() */
	CHANNEL_DEVX_EVENTS,  /* events of the device, one message at a time: devx/event.c */
	CHANNEL_DEVX_ANSWERS, /* answers of commands, one message at a time: devx/async.c */
};

/* Creates a channel of FILE with one reference. CALL's process gets its end as descriptor
 * *NUMBER. */
int event_channel_create(struct call *call, const struct uverbs_file *file, enum channel_kind kind,
			 struct event_channel **channel, int *number);
void event_channel_get(struct event_channel *channel);
void event_channel_put(struct event_channel *channel);
/* Returns the channel of FILE that descriptor FD of process TID reads, or NULL. Takes no
 * reference. */
struct event_channel *event_channel_find(pid_t tid, const struct uverbs_file *file, int fd,
					 enum channel_kind kind);
/* Answers a read() of a DevX channel if its buffer is too small for the next message, which stays
 * queued as in Linux; otherwise the kernel reads. */
void event_channel_read(struct call *call);
void event_channel_on_close(struct event_channel *channel,
			    void (*closed)(struct event_channel *channel));
/* Makes HOLDER report a dead device over CHANNEL if this process is killed. */
void event_channel_entrust(struct event_channel *channel, int holder);
/* Makes CHANNEL the default of ADAPTER: it gets port and device events. */
void event_channel_set_default(struct event_channel *channel, struct adapter *adapter);

/* The lock guards the event sources and channels. It is a leaf lock: no other one is taken while it
 * is held, so device threads that hold their own may take it. */
void events_lock(void);
void events_unlock(void);
/* DevX: queues a message of LEN bytes, which one read returns. Returns its number, from 1. The
 * caller holds the lock. */
uint64_t event_channel_send(struct event_channel *channel, const void *message, size_t len);
/* Returns the number of the last message that the program has read, or 0. The caller holds the
 * lock. */
uint64_t event_channel_read_count(struct event_channel *channel);
/* Returns the number of bytes that the program has not read, and sets *MESSAGES to the number of
 * their messages. The caller holds the lock. */
size_t event_channel_unread(struct event_channel *channel, size_t *messages);

void event_source_add(struct event_source *source);
/* Completes the creation of an event source: RET tells whether the device has created it, as
 * NUMBER. Adds or drops SOURCE; returns RET. */
int event_source_made(struct event_source *source, int ret, uint32_t number);
/* Ends the events of SOURCE and takes back unread ones. Counts those that were read: destroying
 * waits until the program has acknowledged as many. TID is a thread of the program. */
void event_source_remove(struct event_source *source, pid_t tid);

#endif
