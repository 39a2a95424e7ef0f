/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - completion channels and asynchronous event files.
 *
 * The program's descriptor is a stream socket, because a read() with room for several events
 * returns several, as with the kernel's files; DevX channels return one message at a time. Events
 * that do not fit into the socket wait in the channel, and follow when the program has read. To
 * count the events of a CQ or QP that were read, which is needed only when it is destroyed, all
 * unread events are fetched from the program's end, and those of other objects are sent again.
 */
#include <endian.h>
#include <errno.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "prm/mlx5/eqe.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/uverbs/devx/devx.h"
#include "softhca/front/process/uverbs/events.h"
#include "softhca/front/process/link.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/watch.h"
#include "softhca/log.h"
#include "util/bits.h"

/* Events as programs read them; values of enum ibv_event_type. */
enum {
	EVENT_CQ_ERR = 0,
	EVENT_QP_FATAL = 1,
	EVENT_QP_REQ_ERR = 2,
	EVENT_QP_ACCESS_ERR = 3,
	EVENT_COMM_EST = 4,
	EVENT_SQ_DRAINED = 5,
	EVENT_PATH_MIG = 6,
	EVENT_PATH_MIG_ERR = 7,
	EVENT_DEVICE_FATAL = 8,
	EVENT_PORT_ACTIVE = 9,
	EVENT_PORT_ERR = 10,
	EVENT_LID_CHANGE = 11,
	EVENT_PKEY_CHANGE = 12,
	EVENT_SRQ_ERR = 14,
	EVENT_SRQ_LIMIT_REACHED = 15,
	EVENT_QP_LAST_WQE_REACHED = 16,
	EVENT_CLIENT_REREGISTER = 17,
	EVENT_GID_CHANGE = 18,
	EVENT_WQ_FATAL = 19,
};

struct pending {
	STAILQ_ENTRY(pending) in_channel;
	size_t len;
	uint8_t bytes[];
};

STAILQ_HEAD(pending_list, pending);

/* A DevX message in the socket: its length, and the memory that the socket counts for it. */
struct told {
	STAILQ_ENTRY(told) in_channel;
	size_t len, cost;
};

STAILQ_HEAD(told_list, told);

struct event_channel {
	struct watch watch; /* our end; reports a closed peer, and space to write */
	LIST_ENTRY(event_channel) in_all;
	unsigned int refs; /* used only by the notification thread, so no lock guards it */
	dev_t dev;         /* with ino: identity of the program's end */
	ino_t ino;
	int number;              /* the program's descriptor at creation */
	struct adapter *adapter; /* if not NULL: gets port and device events */
	enum channel_kind kind;
	ino_t file_ino; /* device file that created it: other contexts may not use it */
	bool closed;
	void (*on_close)(struct event_channel *channel);
	struct pending_list pending;
	/* DevX: messages in the socket that the program may not have read, and sums over them.
	 * Messages in pending do not count. */
	struct told_list told;
	size_t told_len, told_cost;
	uint64_t messages; /* number ever sent or pending */
	uint64_t unread;
};

enum { BUCKETS = 1024, PORT_DOWN = 1 /* sub-type of a port change */ };

/* Guards all data below except refs. A leaf lock: no other lock is taken while it is held, so it
 * cannot deadlock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, event_channel) channels = LIST_HEAD_INITIALIZER(channels);
static LIST_HEAD(, event_source) buckets[BUCKETS];

static void keep_pending(struct event_channel *channel, const void *event, size_t len)
{
	struct pending *pending = malloc(sizeof(*pending) + len);

	if (!pending) {
		log_error("an event is lost: %s", strerror(ENOMEM));
		channel->unread -= channel->kind != CHANNEL_VERBS;
		return;
	}
	pending->len = len;
	memcpy(pending->bytes, event, len);
	STAILQ_INSERT_TAIL(&channel->pending, pending, in_channel);
	watch_change(&channel->watch, EPOLLRDHUP | EPOLLOUT);
}

/* ---- what of DevX was read ---- */

static size_t queued_in(int fd)
{
	int queued = 0;

	return ioctl(fd, SIOCOUTQ, &queued) ? 0 : (size_t)queued;
}

/* A socket pair of our own, to ask how much memory a socket counts for a message, as that depends
 * only on its length. Opened before the first message that may need it. */
static int probe[2] = { -1, -1 };

static int probe_open(void)
{
	if (probe[0] >= 0)
		return 0;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, probe) ? errno : 0;
}

/* Returns the cost of a message; 0: no memory to measure it. */
static size_t ask_cost(const void *message, size_t len)
{
	size_t cost = 0;

	if (send(probe[0], message, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len) {
		cost = queued_in(probe[0]);
		recv(probe[1], NULL, 0, MSG_DONTWAIT);
	}
	return cost;
}

/* Returns the cost of a message. Caches the last one, as most messages of a channel have the same
 * length. */
static size_t cost_of(const void *message, size_t len)
{
	static size_t last_len, last_cost;

	if (!last_cost || last_len != len) {
		last_cost = ask_cost(message, len);
		last_len = len;
	}
	return last_cost;
}

static void note_told(struct event_channel *channel, const void *message, size_t len)
{
	struct told *told;
	size_t cost;

	if (channel->kind == CHANNEL_VERBS)
		return;
	cost = cost_of(message, len);
	told = cost ? malloc(sizeof(*told)) : NULL;
	if (!told) {
		channel->unread--; /* count it as read */
		return;
	}
	*told = (struct told){ .len = len, .cost = cost };
	STAILQ_INSERT_TAIL(&channel->told, told, in_channel);
	channel->told_len += told->len;
	channel->told_cost += told->cost;
}

static void drop_told(struct event_channel *channel)
{
	struct told *told = STAILQ_FIRST(&channel->told);

	STAILQ_REMOVE_HEAD(&channel->told, in_channel);
	channel->told_len -= told->len;
	channel->told_cost -= told->cost;
	channel->unread--;
	free(told);
}

/* Drops the messages that were read. They are read in order, so those left in the socket are the
 * last ones. */
static void forget_read(struct event_channel *channel)
{
	size_t queued = queued_in(channel->watch.fd);
	const struct told *told;

	while ((told = STAILQ_FIRST(&channel->told)) != NULL &&
	       channel->told_cost - told->cost >= queued)
		drop_told(channel);
}

static bool channel_put(struct event_channel *channel, const void *event, size_t len)
{
	return send(channel->watch.fd, event, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

static void channel_write(struct event_channel *channel, const void *event, size_t len)
{
	if (channel->closed)
		return;
	if (STAILQ_EMPTY(&channel->pending) && channel_put(channel, event, len))
		note_told(channel, event, len);
	else
		keep_pending(channel, event, len);
}

void events_lock(void)
{
	pthread_mutex_lock(&lock);
}

void events_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

size_t event_channel_unread(struct event_channel *channel, size_t *messages)
{
	const struct pending *pending;
	size_t bytes;

	forget_read(channel);
	bytes = channel->told_len;
	STAILQ_FOREACH(pending, &channel->pending, in_channel)
		bytes += pending->len;
	*messages = channel->unread;
	return bytes;
}

uint64_t event_channel_read_count(struct event_channel *channel)
{
	forget_read(channel);
	return channel->messages - channel->unread;
}

uint64_t event_channel_send(struct event_channel *channel, const void *message, size_t len)
{
	forget_read(channel);
	channel->messages++;
	channel->unread += !channel->closed;
	channel_write(channel, message, len);
	return channel->messages;
}

static void channel_flush(struct event_channel *channel)
{
	struct pending *pending;

	while ((pending = STAILQ_FIRST(&channel->pending))) {
		if (!channel_put(channel, pending->bytes, pending->len))
			return;
		note_told(channel, pending->bytes, pending->len);
		STAILQ_REMOVE_HEAD(&channel->pending, in_channel);
		free(pending);
	}
	watch_change(&channel->watch, EPOLLRDHUP);
}

static void drop_pending(struct event_channel *channel)
{
	struct pending *pending;

	while ((pending = STAILQ_FIRST(&channel->pending))) {
		STAILQ_REMOVE_HEAD(&channel->pending, in_channel);
		free(pending);
	}
}

/* ---- channels ---- */

static void channel_ready(struct watch *watch, uint32_t events)
{
	struct event_channel *channel = (struct event_channel *)watch;
	bool closed = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);

	pthread_mutex_lock(&lock);
	if (closed) {
		channel->closed = true;
		watch_remove(watch);
	} else {
		channel_flush(channel);
	}
	pthread_mutex_unlock(&lock);
	if (closed && channel->on_close)
		channel->on_close(channel);
	if (closed)
		event_channel_put(channel);
}

void event_channel_get(struct event_channel *channel)
{
	channel->refs++;
}

void event_channel_put(struct event_channel *channel)
{
	if (--channel->refs)
		return;
	pthread_mutex_lock(&lock);
	LIST_REMOVE(channel, in_all);
	drop_pending(channel);
	while (!STAILQ_EMPTY(&channel->told))
		drop_told(channel);
	pthread_mutex_unlock(&lock);
	close(channel->watch.fd);
	free(channel);
}

/* Gives the program its descriptor. Reads of DevX channels must be intercepted
 * (event_channel_read()), so these get numbers in the band that the seccomp filter traps. */
static int channel_place(struct event_channel *channel, struct call *call, int fd)
{
	int ret;

	if (channel->kind == CHANNEL_VERBS) {
		channel->number = call_give_fd(call, fd, true);
		return channel->number < 0 ? -channel->number : 0;
	}
	ret = fd_number_pick(call->tid, &channel->number);
	return ret ? ret : fd_number_place(call, fd, true, &channel->number);
}

/* Registers the channel; PAIR is our end and the program's, which goes to CALL's process. */
static int channel_publish(struct event_channel *channel, struct call *call, const int pair[2])
{
	struct stat st;
	int ret;

	if (fstat(pair[1], &st))
		return errno;
	ret = watch_add(&channel->watch, EPOLLRDHUP);
	if (ret)
		return ret;
	ret = channel_place(channel, call, pair[1]);
	if (ret) {
		watch_remove(&channel->watch);
		return ret;
	}
	channel->dev = st.st_dev;
	channel->ino = st.st_ino;
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&channels, channel, in_all);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Creates a channel with two references: one while the program's end is open, one for the
 * caller. */
int event_channel_create(struct call *call, const struct uverbs_file *file, enum channel_kind kind,
			 struct event_channel **out, int *number)
{
	int type = kind == CHANNEL_VERBS ? SOCK_STREAM : SOCK_SEQPACKET;
	struct event_channel *channel = calloc(1, sizeof(*channel));
	int pair[2], ret;

	if (!channel)
		return ENOMEM;
	ret = kind == CHANNEL_VERBS ? 0 : probe_open();
	if (ret)
		goto free_channel;
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair)) {
		ret = errno;
		goto free_channel;
	}
	*channel = (struct event_channel){
		.watch = { pair[0], channel_ready }, .refs = 2, .kind = kind, .file_ino = file->ino
	};
	STAILQ_INIT(&channel->pending);
	STAILQ_INIT(&channel->told);
	ret = channel_publish(channel, call, pair);
	if (ret)
		goto close_pair;
	close(pair[1]);
	*out = channel;
	*number = channel->number;
	return 0;
close_pair:
	close(pair[0]);
	close(pair[1]);
free_channel:
	free(channel);
	return ret;
}

void event_channel_on_close(struct event_channel *channel,
			    void (*closed)(struct event_channel *channel))
{
	channel->on_close = closed;
}

static struct event_channel *channel_of(pid_t tid, int fd)
{
	struct event_channel *channel;
	struct stat st;

	if (client_fd_stat(tid, fd, &st))
		return NULL;
	LIST_FOREACH(channel, &channels, in_all)
		if (channel->ino == st.st_ino && channel->dev == st.st_dev)
			return channel;
	return NULL;
}

struct event_channel *event_channel_find(pid_t tid, const struct uverbs_file *file, int fd,
					 enum channel_kind kind)
{
	struct event_channel *channel = channel_of(tid, fd);

	return channel && channel->kind == kind && channel->file_ino == file->ino ? channel : NULL;
}

/* Returns the length of the next message at the program's end, its descriptor FD; 0: none. */
static size_t next_message(const struct event_channel *channel, pid_t tid, int fd)
{
	int copy = client_fd_copy_of(tid, fd, channel->dev, channel->ino);
	ssize_t len;

	if (copy < 0)
		return 0;
	len = recv(copy, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
	close(copy);
	return len < 0 ? 0 : (size_t)len;
}

void event_channel_read(struct call *call)
{
	int fd = call_arg_int(call, 0);
	const struct event_channel *channel = channel_of(call->tid, fd);

	if (!channel || channel->kind == CHANNEL_VERBS)
		return;
	if (call_arg(call, 2) < next_message(channel, call->tid, fd))
		call_fail(call, channel->kind == CHANNEL_DEVX_ANSWERS ? ENOSPC : EINVAL);
}

void event_channel_entrust(struct event_channel *channel, int holder)
{
	int ret = link_send_fd(holder, channel->watch.fd);

	if (ret)
		log_note("no event would tell that this process was killed: %s", strerror(ret));
}

void event_channel_set_default(struct event_channel *channel, struct adapter *adapter)
{
	pthread_mutex_lock(&lock);
	channel->adapter = adapter;
	pthread_mutex_unlock(&lock);
}

/* ---- sources ---- */

static unsigned int bucket_of(const struct adapter *adapter, enum source_kind kind, uint32_t number)
{
	return (number * 4 + kind + adapter->index * 37) % BUCKETS;
}

static void put_channels(struct event_source *source)
{
	if (source->comp)
		event_channel_put(source->comp);
	if (source->async)
		event_channel_put(source->async);
}

void event_source_add(struct event_source *source)
{
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&buckets[bucket_of(source->adapter, source->kind, source->number)], source,
			 in_bucket);
	pthread_mutex_unlock(&lock);
}

int event_source_made(struct event_source *source, int ret, uint32_t number)
{
	if (ret) {
		put_channels(source);
		return ret;
	}
	source->number = number;
	event_source_add(source);
	return 0;
}

static struct event_source *find_source(const struct adapter *adapter, enum source_kind kind,
					uint32_t number)
{
	struct event_source *source;

	LIST_FOREACH(source, &buckets[bucket_of(adapter, kind, number)], in_bucket)
		if (source->number == number && source->kind == kind && source->adapter == adapter)
			return source;
	return NULL;
}

/* Takes unread events out of the program's end of CHANNEL and puts them before those that are
 * pending. */
static void fetch_unread(struct event_channel *channel, pid_t tid, size_t event_len)
{
	struct pending_list fetched = STAILQ_HEAD_INITIALIZER(fetched);
	int fd = client_fd_copy_of(tid, channel->number, channel->dev, channel->ino);
	struct pending *pending;

	while (fd >= 0 && (pending = malloc(sizeof(*pending) + event_len))) {
		if (recv(fd, pending->bytes, event_len, MSG_DONTWAIT) != (ssize_t)event_len) {
			free(pending);
			break;
		}
		pending->len = event_len;
		STAILQ_INSERT_TAIL(&fetched, pending, in_channel);
	}
	if (fd >= 0)
		close(fd);
	STAILQ_CONCAT(&fetched, &channel->pending);
	STAILQ_CONCAT(&channel->pending, &fetched);
}

static bool is_kind_of(uint32_t event_type, enum source_kind kind)
{
	switch (event_type) {
	case EVENT_CQ_ERR:
		return kind == SOURCE_CQ;
	case EVENT_SRQ_ERR:
	case EVENT_SRQ_LIMIT_REACHED:
		return kind == SOURCE_SRQ;
	case EVENT_WQ_FATAL:
		return kind == SOURCE_WQ;
	default: /* all others belong to the device or its ports */
		return kind == SOURCE_QP &&
		       (event_type < EVENT_DEVICE_FATAL || event_type == EVENT_QP_LAST_WQE_REACHED);
	}
}

/* Returns whether the event belongs to SOURCE. The handle is first in both kinds of events;
 * asynchronous events of CQs, SRQs and QPs differ by their type. */
static bool is_event_of(const struct pending *pending, const struct event_source *source)
{
	const struct ib_uverbs_async_event_desc *async = (const void *)pending->bytes;
	uint64_t handle;

	memcpy(&handle, pending->bytes, sizeof(handle));
	if (handle != source->user_handle)
		return false;
	if (pending->len < sizeof(*async))
		return true;
	return is_kind_of(async->event_type, source->kind);
}

/* Removes unread events of SOURCE from CHANNEL, as the kernel does when an object is destroyed.
 * Returns their number. */
static uint32_t take_back(struct event_channel *channel, pid_t tid, size_t event_len,
			  const struct event_source *source)
{
	struct pending *next;
	uint32_t taken = 0;

	if (channel->closed)
		return 0;
	fetch_unread(channel, tid, event_len);
	for (struct pending *pending = STAILQ_FIRST(&channel->pending); pending; pending = next) {
		next = STAILQ_NEXT(pending, in_channel);
		if (!is_event_of(pending, source))
			continue;
		STAILQ_REMOVE(&channel->pending, pending, pending, in_channel);
		free(pending);
		taken++;
	}
	channel_flush(channel);
	return taken;
}

void event_source_remove(struct event_source *source, pid_t tid)
{
	const size_t comp_len = sizeof(struct ib_uverbs_comp_event_desc);
	const size_t async_len = sizeof(struct ib_uverbs_async_event_desc);

	pthread_mutex_lock(&lock);
	LIST_REMOVE(source, in_bucket);
	if (source->comp && source->comp_sent)
		source->comp_read =
			source->comp_sent - take_back(source->comp, tid, comp_len, source);
	if (source->async && source->async_sent)
		source->async_read =
			source->async_sent - take_back(source->async, tid, async_len, source);
	pthread_mutex_unlock(&lock);
	put_channels(source);
}

/* ---- from the device ---- */

static void send_completion(struct adapter *adapter, const uint8_t *eqe)
{
	struct event_source *source = find_source(adapter, SOURCE_CQ, fld_get(eqe, EQE_COMP_CQN));
	struct ib_uverbs_comp_event_desc event;

	if (!source || !source->comp)
		return;
	event.cq_handle = source->user_handle;
	source->comp_sent++;
	channel_write(source->comp, &event, sizeof(event));
}

/* Sends the event to each program with a handle of the object, as several may share an XRC target
 * QP. */
static void send_async(const struct adapter *adapter, enum source_kind kind, uint32_t number,
		       uint32_t type)
{
	struct ib_uverbs_async_event_desc event = { .event_type = type };
	struct event_source *source;

	LIST_FOREACH(source, &buckets[bucket_of(adapter, kind, number)], in_bucket) {
		if (source->number != number || source->kind != kind ||
		    source->adapter != adapter || !source->async)
			continue;
		event.element = source->user_handle;
		source->async_sent++;
		channel_write(source->async, &event, sizeof(event));
	}
}

static void send_global(struct adapter *adapter, uint32_t type, uint32_t element)
{
	struct ib_uverbs_async_event_desc event = { .element = element, .event_type = type };
	struct event_channel *channel;

	LIST_FOREACH(channel, &channels, in_all)
		if (channel->adapter == adapter)
			channel_write(channel, &event, sizeof(event));
}

static const struct {
	enum prm_event device;
	uint32_t program;
} qp_events[] = {
	{ PRM_EVENT_PATH_MIG, EVENT_PATH_MIG },
	{ PRM_EVENT_COMM_EST, EVENT_COMM_EST },
	{ PRM_EVENT_SQ_DRAINED, EVENT_SQ_DRAINED },
	{ PRM_EVENT_SRQ_LAST_WQE, EVENT_QP_LAST_WQE_REACHED },
	{ PRM_EVENT_WQ_CATAS_ERROR, EVENT_QP_FATAL },
	{ PRM_EVENT_PATH_MIG_FAILED, EVENT_PATH_MIG_ERR },
	{ PRM_EVENT_WQ_INVAL_REQ_ERROR, EVENT_QP_REQ_ERR },
	{ PRM_EVENT_WQ_ACCESS_ERROR, EVENT_QP_ACCESS_ERR },
};

static void send_qp_event(struct adapter *adapter, unsigned int type, const uint8_t *eqe)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(qp_events); i++)
		if (qp_events[i].device == type)
			send_async(adapter, SOURCE_QP, fld_get(eqe, EQE_QPN), qp_events[i].program);
}

static void count_link(struct adapter *adapter, const uint8_t *eqe)
{
	unsigned int port = fld_get(eqe, EQE_PORT);

	if (fld_get(eqe, EQE_SUB_TYPE) == PORT_DOWN && port >= 1 && port <= adapter->num_ports)
		adapter->link_downs[port - 1]++;
}

static void send_port_event(struct adapter *adapter, const uint8_t *eqe)
{
	static const uint8_t events[] = {
		[PRM_PORT_CHANGE_DOWN] = EVENT_PORT_ERR,
		[PRM_PORT_CHANGE_ACTIVE] = EVENT_PORT_ACTIVE,
		[PRM_PORT_CHANGE_LID] = EVENT_LID_CHANGE,
		[PRM_PORT_CHANGE_PKEY] = EVENT_PKEY_CHANGE,
		[PRM_PORT_CHANGE_GUID] = EVENT_GID_CHANGE,
		[PRM_PORT_CHANGE_CLIENT_REREG] = EVENT_CLIENT_REREGISTER,
	};
	unsigned int change = fld_get(eqe, EQE_SUB_TYPE);

	if (change < sizeof(events) && events[change])
		send_global(adapter, events[change], fld_get(eqe, EQE_PORT));
}

void events_from_device(void *front, uint32_t eqn, const uint8_t eqe[64])
{
	struct adapter *adapter = front;
	unsigned int type = fld_get(eqe, EQE_TYPE);

	(void)eqn;
	pthread_mutex_lock(&lock);
	devx_event_from_device(adapter, eqe);
	switch (type) {
	case PRM_EVENT_COMP:
		send_completion(adapter, eqe);
		break;
	case PRM_EVENT_CQ_ERROR:
		send_async(adapter, SOURCE_CQ, fld_get(eqe, EQE_CQ_ERROR_CQN), EVENT_CQ_ERR);
		break;
	case PRM_EVENT_SRQ_RQ_LIMIT:
		send_async(adapter, SOURCE_SRQ, fld_get(eqe, EQE_QPN), EVENT_SRQ_LIMIT_REACHED);
		break;
	case PRM_EVENT_SRQ_CATAS_ERROR:
		send_async(adapter, SOURCE_SRQ, fld_get(eqe, EQE_QPN), EVENT_SRQ_ERR);
		break;
	case PRM_EVENT_INTERNAL_ERROR:
		adapter->dead = true;
		send_global(adapter, EVENT_DEVICE_FATAL, 0);
		break;
	case PRM_EVENT_PORT_CHANGE:
		count_link(adapter, eqe);
		send_port_event(adapter, eqe);
		break;
	default:
		send_qp_event(adapter, type, eqe);
	}
	pthread_mutex_unlock(&lock);
}
