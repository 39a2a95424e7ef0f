/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * event.c - events of a file: those that wait, how a program reads them, and those that it writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/log.h"

struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status)
{
	struct ucma_event *event = calloc(1, sizeof(*event));

	if (!event) {
		log_error("rdma_cm: an event is lost: %s", strerror(ENOMEM));
		return NULL;
	}
	event->id = id;
	event->resp.uid = id->uid;
	event->resp.id = id->number;
	event->resp.event = type;
	event->resp.status = (uint32_t)status;
	return event;
}

/* Makes the event and the id of its connection request point to each other. Either may be freed
 * first: the listener can move to another file with its events, while the request's id stays. */
void ucma_event_join(struct ucma_event *event, struct ucma_id *request)
{
	event->request = request;
	request->told_by = event;
}

void ucma_event_part(struct ucma_id *request)
{
	if (request->told_by)
		request->told_by->request = NULL;
	request->told_by = NULL;
}

static void event_free(struct ucma_event *event)
{
	if (event->request)
		ucma_event_part(event->request);
	free(event);
}

static void count_read(struct ucma_event *event)
{
	event->id->events_reported++;
	if (event->mcast)
		event->mcast->events_reported++;
	if (event->resp.event == EV_CONNECT_REQUEST)
		event->id->backlog++;
}

/* Types of events that a program may write, as in Linux: its own events and those of librdmacm. */
enum {
	EVENT_USER = 18,
	EVENT_INTERNAL = 19,
	MAX_WRITTEN = 4096, /* unread ones of a file */
};

static bool is_written(const struct ucma_event *event)
{
	return event->resp.event == EVENT_USER || event->resp.event == EVENT_INTERNAL;
}

/* Counts an event that is in the queue from now on, or no longer. */
static void count_waiting(struct ucma_file *file, const struct ucma_event *event, int by)
{
	file->event_count += by;
	event->id->events_waiting += by;
	if (is_written(event)) {
		file->written_count += by;
		event->id->events_written += by;
	}
}

/* Removes an event from the queue, and its byte from the pipe. Reads through a descriptor of our
 * own, as the program's may block. If no descriptor is free, the byte stays until the next call.
 * The program may have read bytes itself. */
static void event_unlink(struct ucma_file *file, struct ucma_event *event)
{
	char path[32], byte;
	int fd;

	STAILQ_REMOVE(&file->events, event, ucma_event, entry);
	count_waiting(file, event, -1);
	if (file->byte_count <= file->event_count)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->watch.fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	while (file->byte_count > file->event_count) {
		file->byte_count--;
		if (read(fd, &byte, 1) != 1)
			log_note("rdma_cm: no byte for an event");
	}
	close(fd);
}

/* Copies the event to the program, and frees it. LISTED: the event is in the file's queue, from
 * which this removes it. */
static int hand_over(pid_t tid, uint64_t addr, size_t room, struct ucma_event *event, bool listed)
{
	size_t size = room < sizeof(event->resp) ? room : sizeof(event->resp);

	if (client_write(tid, addr, &event->resp, size))
		return EFAULT;
	if (listed)
		event_unlink(event->id->file, event);
	count_read(event);
	event_free(event);
	return 0;
}

/* Gives the event to a thread that waits in GET_EVENT. Returns false if no thread waits. */
static bool give_to_waiter(struct ucma_file *file, struct ucma_event *event)
{
	struct ucma_waiter *waiter;
	int ret;

	while ((waiter = STAILQ_FIRST(&file->waiters))) {
		STAILQ_REMOVE_HEAD(&file->waiters, entry);
		if (!call_deferred_is_alive(&waiter->call)) {
			call_deferred_forget(&waiter->call);
			free(waiter);
			continue;
		}
		ret = hand_over(waiter->call.tid, waiter->response, waiter->room, event, false);
		call_deferred_return(&waiter->call, ret ? -ret : waiter->result);
		free(waiter);
		return !ret;
	}
	return false;
}

void ucma_event_send(struct ucma_event *event)
{
	struct ucma_file *file = event->id->file;

	if (give_to_waiter(file, event))
		return;
	STAILQ_INSERT_TAIL(&file->events, event, entry);
	count_waiting(file, event, 1);
	if (write(file->watch.fd, "", 1) == 1)
		file->byte_count++;
	else
		log_note("rdma_cm: poll() may miss an event: the pipe is full");
}

void ucma_event_simple(struct ucma_id *id, enum ucma_event_type type, int status)
{
	struct ucma_event *event = ucma_event_new(id, type, status);

	if (event)
		ucma_event_send(event);
}

static bool is_of(const struct ucma_event *event, const struct ucma_id *id,
		  const struct ucma_mcast *mcast)
{
	return event->id == id && (!mcast || event->mcast == mcast);
}

void ucma_events_drop(struct ucma_id *id, struct ucma_mcast *mcast)
{
	struct ucma_file *file = id->file;
	struct ucma_event *next;

	for (struct ucma_event *event = STAILQ_FIRST(&file->events); event && id->events_waiting;
	     event = next) {
		next = STAILQ_NEXT(event, entry);
		if (!is_of(event, id, mcast))
			continue;
		event_unlink(file, event);
		if (event->request)
			ucma_id_destroy(event->request);
		event_free(event);
		/* the next one now, as destroying may have removed other events */
		next = STAILQ_FIRST(&file->events);
	}
}

int ucma_events_move(struct ucma_id *id, struct ucma_file *to)
{
	struct ucma_file *from = id->file;
	struct ucma_event *next;

	if (id->events_written && to->written_count + id->events_written > MAX_WRITTEN)
		return ENOMEM;
	LIST_REMOVE(id, in_file);
	id->file = to;
	LIST_INSERT_HEAD(&to->ids, id, in_file);
	for (struct ucma_event *event = STAILQ_FIRST(&from->events); event; event = next) {
		next = STAILQ_NEXT(event, entry);
		if (event->id != id)
			continue;
		event_unlink(from, event);
		ucma_event_send(event);
	}
	return 0;
}

int ucma_event_write(struct ucma_call *uc)
{
	struct ucma_event *event;
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->write_cm_event.id, &id);

	if (ret)
		return ret;
	if (uc->write_cm_event.event != EVENT_USER && uc->write_cm_event.event != EVENT_INTERNAL)
		return EINVAL;
	if (uc->file->written_count >= MAX_WRITTEN)
		return ENOMEM;
	event = ucma_event_new(id, (enum ucma_event_type)uc->write_cm_event.event,
			       (int)uc->write_cm_event.status);
	if (!event)
		return ENOMEM;
	memcpy(&event->resp.param, &uc->write_cm_event.param, sizeof(event->resp.param));
	ucma_event_send(event);
	return 0;
}

static bool is_nonblocking(struct ucma_call *uc)
{
	int fd = caller_fd_copy(uc->call, call_arg_int(uc->call, 0));
	int flags = fd < 0 ? 0 : fcntl(fd, F_GETFL);

	if (fd >= 0)
		close(fd);
	return flags & O_NONBLOCK;
}

/* Drops waiters that a signal has interrupted or killed. */
static void drop_dead_waiters(struct ucma_file *file)
{
	struct ucma_waiter *next;

	for (struct ucma_waiter *waiter = STAILQ_FIRST(&file->waiters); waiter; waiter = next) {
		next = STAILQ_NEXT(waiter, entry);
		if (call_deferred_is_alive(&waiter->call))
			continue;
		STAILQ_REMOVE(&file->waiters, waiter, ucma_waiter, entry);
		call_deferred_forget(&waiter->call);
		free(waiter);
	}
}

static int wait_for_event(struct ucma_call *uc)
{
	struct ucma_waiter *waiter = calloc(1, sizeof(*waiter));

	if (!waiter)
		return ENOMEM;
	drop_dead_waiters(uc->file);
	waiter->response = uc->get_event.response;
	waiter->room = uc->hdr.out;
	waiter->result = (int64_t)call_arg(uc->call, 2);
	call_defer(uc->call, &waiter->call);
	STAILQ_INSERT_TAIL(&uc->file->waiters, waiter, entry);
	return 0;
}

int ucma_event_get(struct ucma_call *uc)
{
	struct ucma_event *event = STAILQ_FIRST(&uc->file->events);

	if (uc->hdr.out < offsetof(struct rdma_ucm_event_resp, reserved))
		return ENOSPC;
	if (!event)
		return is_nonblocking(uc) ? EAGAIN : wait_for_event(uc);
	if (!caller_is_alive(uc->call))
		return EFAULT;
	return hand_over(uc->call->tid, uc->get_event.response, uc->hdr.out, event, true);
}
