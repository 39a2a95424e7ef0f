/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file.c - files of /dev/infiniband/rdma_cm: opening, the commands written to them, and their
 * events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/fault.h"
#include "softhca/log.h"
#include "util/bits.h"

static LIST_HEAD(, ucma_file) files = LIST_HEAD_INITIALIZER(files);

/* ---- life ---- */

/* Destroys the file with its ids, whose events go with them; none is on another file. */
static void file_close(struct ucma_file *file)
{
	struct ucma_waiter *waiter;
	struct ucma_id *id;

	while ((id = LIST_FIRST(&file->ids)))
		ucma_id_destroy(id);
	while ((waiter = STAILQ_FIRST(&file->waiters))) {
		STAILQ_REMOVE_HEAD(&file->waiters, entry);
		call_deferred_forget(&waiter->call);
		free(waiter);
	}
	LIST_REMOVE(file, in_all);
	watch_remove(&file->watch);
	close(file->watch.fd);
	client_put(file->opener);
	free(file);
}

/* Closes the file when all reading ends of the pipe are closed. */
static void file_ready(struct watch *watch, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP))
		file_close((struct ucma_file *)watch);
}

static int file_new(struct call *call, int flags, struct ucma_file **out, int *reader)
{
	struct ucma_file *file = calloc(1, sizeof(*file));
	struct client *opener;
	struct stat st;
	int fd[2], ret;

	if (!file)
		return ENOMEM;
	ret = client_get(call->tid, &opener);
	if (ret)
		goto free_file;
	if (pipe2(fd, O_CLOEXEC) || fstat(fd[0], &st) || fcntl(fd[0], F_SETFL, flags) ||
	    fcntl(fd[1], F_SETFL, O_NONBLOCK)) {
		ret = errno;
		goto put_opener;
	}
	*file = (struct ucma_file){ .watch = { fd[1], file_ready },
				    .daemon = call->daemon,
				    .opener = opener,
				    .credentials = credentials_of(opener, call->tid),
				    .dev = st.st_dev,
				    .ino = st.st_ino };
	LIST_INIT(&file->ids);
	STAILQ_INIT(&file->events);
	STAILQ_INIT(&file->waiters);
	ret = watch_add(&file->watch, 0);
	if (ret)
		goto close_pipe;
	LIST_INSERT_HEAD(&files, file, in_all);
	*reader = fd[0];
	*out = file;
	return 0;
close_pipe:
	close(fd[0]);
	close(fd[1]);
put_opener:
	client_put(opener);
free_file:
	free(file);
	return ret;
}

void ucma_open(struct call *call, uint64_t flags)
{
	struct ucma_file *file;
	int fd = -1, number;
	int ret = fd_number_pick(call->tid, &number);

	if (!ret)
		ret = file_new(call, flags & O_NONBLOCK, &file, &fd);
	if (ret) {
		call_fail(call, ret);
		return;
	}
	log_note("rdma_cm: opened by thread %d", call->tid);
	fd_number_return(call, fd, flags & O_CLOEXEC, number);
	close(fd);
}

struct ucma_file *ucma_file_find(const struct stat *st)
{
	struct ucma_file *file;

	LIST_FOREACH(file, &files, in_all)
		if (file->ino == st->st_ino && file->dev == st->st_dev)
			return file;
	return NULL;
}

void ucma_stop(void)
{
	struct ucma_file *file;

	while ((file = LIST_FIRST(&files)))
		file_close(file);
}

/* ---- events ---- */

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

/* Ties the event to the id of the request. The listener may move to another file with its events,
 * while the request's id stays, so either may be freed first. */
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

/* Updates counts after the program has read the event. */
static void count_read(struct ucma_event *event)
{
	event->id->events_reported++;
	if (event->mcast)
		event->mcast->events_reported++;
	if (event->resp.event == EV_CONNECT_REQUEST)
		event->id->backlog++;
}

/* Removes an event from the queue, and its byte from the pipe. Reads by a descriptor of our own, as
 * the program's may block; if none is free, the byte stays until the next time. A program may have
 * read bytes itself. */
static void event_unlink(struct ucma_file *file, struct ucma_event *event)
{
	char path[32], byte;
	int fd;

	STAILQ_REMOVE(&file->events, event, ucma_event, entry);
	file->event_count--;
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

/* Copies the event to the program. LISTED: it is in the file's queue. */
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

/* Gives the event to a waiting thread. Returns false if there is none. */
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
	file->event_count++;
	if (write(file->watch.fd, "", 1) == 1)
		file->byte_count++;
	else
		log_note("rdma_cm: more events wait than poll() is told of");
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

	for (struct ucma_event *event = STAILQ_FIRST(&file->events); event; event = next) {
		next = STAILQ_NEXT(event, entry);
		if (!is_of(event, id, mcast))
			continue;
		event_unlink(file, event);
		if (event->request)
			ucma_id_destroy(event->request);
		event_free(event);
		next = STAILQ_FIRST(&file->events); /* destroying may have removed other events */
	}
}

void ucma_events_move(struct ucma_id *id, struct ucma_file *to)
{
	struct ucma_file *from = id->file;
	struct ucma_event *next;

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
}

/* ---- WRITE_CM_EVENT ---- */

/* Events that a program may write, as in Linux: its own and its library's. */
enum { EVENT_USER = 18, EVENT_INTERNAL = 19 };

static int write_event(struct ucma_call *uc)
{
	struct ucma_event *event;
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->write_cm_event.id, &id);

	if (ret)
		return ret;
	if (uc->write_cm_event.event != EVENT_USER && uc->write_cm_event.event != EVENT_INTERNAL)
		return EINVAL;
	event = ucma_event_new(id, (enum ucma_event_type)uc->write_cm_event.event,
			       (int)uc->write_cm_event.status);
	if (!event)
		return ENOMEM;
	memcpy(&event->resp.param, &uc->write_cm_event.param, sizeof(event->resp.param));
	ucma_event_send(event);
	return 0;
}

/* ---- GET_EVENT ---- */

static bool is_nonblocking(struct ucma_call *uc)
{
	int fd = client_fd_copy(uc->call->tid, call_arg_int(uc->call, 0));
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

static int get_event(struct ucma_call *uc)
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

/* ---- commands ---- */

#define COMMAND(number, member, run) \
	[RDMA_USER_CM_CMD_##number] = { #number, sizeof(((struct ucma_call *)0)->member), run }

/* Sizes of two commands before they had ECE. For all others Linux reads the full size, whatever the
 * header says. */
enum {
	OLD_CONNECT = offsetof(struct rdma_ucm_connect, ece),
	OLD_ACCEPT = offsetof(struct rdma_ucm_accept, ece),
};

static const struct {
	const char *name;
	uint16_t size;
	int (*run)(struct ucma_call *uc);
} commands[] = {
	COMMAND(CREATE_ID, create_id, ucma_id_create),
	COMMAND(DESTROY_ID, destroy_id, ucma_id_remove),
	COMMAND(BIND_IP, bind_ip, ucma_id_bind_ip),
	COMMAND(BIND, bind, ucma_id_bind),
	COMMAND(RESOLVE_IP, resolve_ip, ucma_id_resolve_ip),
	COMMAND(RESOLVE_ADDR, resolve_addr, ucma_id_resolve_addr),
	COMMAND(RESOLVE_ROUTE, resolve_route, ucma_id_resolve_route),
	COMMAND(QUERY, query, ucma_id_query),
	COMMAND(QUERY_ROUTE, query, ucma_id_query_route),
	[RDMA_USER_CM_CMD_CONNECT] = { "CONNECT", OLD_CONNECT, ucma_conn_connect },
	COMMAND(LISTEN, listen, ucma_id_listen),
	[RDMA_USER_CM_CMD_ACCEPT] = { "ACCEPT", OLD_ACCEPT, ucma_conn_accept },
	COMMAND(REJECT, reject, ucma_conn_reject),
	COMMAND(DISCONNECT, disconnect, ucma_conn_disconnect),
	COMMAND(INIT_QP_ATTR, init_qp_attr, ucma_conn_init_qp_attr),
	COMMAND(GET_EVENT, get_event, get_event),
	COMMAND(SET_OPTION, set_option, ucma_id_set_option),
	COMMAND(NOTIFY, notify, ucma_conn_notify),
	COMMAND(JOIN_IP_MCAST, join_ip_mcast, ucma_mcast_join_ip),
	COMMAND(JOIN_MCAST, join_mcast, ucma_mcast_join),
	COMMAND(LEAVE_MCAST, destroy_id, ucma_mcast_leave),
	COMMAND(MIGRATE_ID, migrate_id, ucma_id_migrate),
	COMMAND(RESOLVE_IB_SERVICE, resolve_ib_service, ucma_service_resolve),
	COMMAND(WRITE_CM_EVENT, write_cm_event, write_event),
};

enum { COMMANDS = ARRAY_SIZE(commands) };

int ucma_respond(struct ucma_call *uc, uint64_t addr, const void *data, size_t size)
{
	if (uc->hdr.out < size)
		return ENOSPC;
	return caller_write(uc->call, addr, data, size);
}

static bool has_ece(uint32_t command)
{
	return command == RDMA_USER_CM_CMD_CONNECT || command == RDMA_USER_CM_CMD_ACCEPT;
}

/* Returns whether the caller may write. Linux compares the writer's credentials pointer with the
 * opener's; a forked child has a copy of the credentials. */
static bool may_write(const struct ucma_call *uc)
{
	if (!client_has_thread(uc->file->opener, uc->call->tid)) {
		log_note("rdma_cm: thread %d is not of the process that opened the file",
			 uc->call->tid);
		return false;
	}
	if (credentials_are_of(&uc->file->credentials, uc->file->opener, uc->call->tid))
		return true;
	log_note("rdma_cm: thread %d has other credentials than the one that opened the file",
		 uc->call->tid);
	return false;
}

/* Checks the header as the kernel does, and runs the command. A command without row, which the
 * kernel has removed, gets ENOSYS. */
static int run_command(struct ucma_call *uc, uint64_t addr, uint64_t len)
{
	const size_t room = sizeof(*uc) - offsetof(struct ucma_call, create_id);
	size_t size;
	int ret;

	if (len < sizeof(uc->hdr) || caller_read(uc->call, addr, &uc->hdr, sizeof(uc->hdr)))
		return len < sizeof(uc->hdr) ? EINVAL : EFAULT;
	if (uc->hdr.cmd > RDMA_USER_CM_CMD_WRITE_CM_EVENT || uc->hdr.in + sizeof(uc->hdr) > len)
		return EINVAL;
	if (uc->hdr.cmd >= COMMANDS || !commands[uc->hdr.cmd].run)
		return ENOSYS;
	size = commands[uc->hdr.cmd].size;
	if (has_ece(uc->hdr.cmd)) {
		if (uc->hdr.in < size)
			return EINVAL;
		size = uc->hdr.in < room ? uc->hdr.in : room;
	}
	ret = fault_command(uc->call->daemon->adapters[0]->fault);
	if (ret)
		return ret;
	if (caller_read(uc->call, addr + sizeof(uc->hdr), &uc->create_id, size))
		return EFAULT;
	return commands[uc->hdr.cmd].run(uc);
}

void ucma_write(struct call *call)
{
	struct ucma_call uc = { .call = call };
	struct stat st;
	int ret;

	if (client_fd_stat(call->tid, call_arg_int(call, 0), &st))
		return;
	uc.file = ucma_file_find(&st);
	if (!uc.file)
		return;
	ret = may_write(&uc) ? run_command(&uc, call_arg(call, 1), call_arg(call, 2)) : EACCES;
	log_detail("rdma_cm: thread %d: %s: %s", call->tid,
		   uc.hdr.cmd < COMMANDS && commands[uc.hdr.cmd].name ? commands[uc.hdr.cmd].name
								      : "?",
		   strerror(ret));
	if (call->answered)
		return;
	if (ret)
		call_fail(call, ret);
	else
		call_return(call, (int64_t)call_arg(call, 2));
}
