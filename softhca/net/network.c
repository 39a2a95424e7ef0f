/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * network.c - see network.h. Connections are byte streams, so that one system call carries many
 * packets; a length word precedes each packet. The side that connects sends a greeting first.
 * Decision: docs/adr/0041.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "softhca/log.h"
#include "softhca/net/accept.h"
#include "softhca/net/directory.h"
#include "softhca/net/network.h"

enum {
	QUEUE_BYTES = 4 << 20, /* send queue of a connection; packets that do not fit are dropped */
	QUEUE_HIGH = 256 << 10,
	RECEIVE_BYTES = 256 << 10, /* bytes of one receive call */
	MAX_CALLERS = 64,          /* most connections that have sent no greeting yet */
	LOCK_WAIT_MS = 5000,
	GREETING = 0x52444d4e,
	NAME_SIZE = 16,
};
#define STUCK_NS 100000000ull /* a host that has received nothing for so long is not waited for */

struct greeting {
	uint32_t magic, ethernet, number;
};

struct peer {
	LIST_ENTRY(peer) entry;
	int fd;
	bool known;   /* its greeting has come, or we connected to it */
	bool waiting; /* waits for space in the socket */
	unsigned int number;
	uint64_t moved; /* when the socket last took bytes, or the queue was empty */
	uint8_t *queue; /* 2 * QUEUE_BYTES; bytes sent to queued - 1 have still to be sent */
	size_t sent, queued;
	uint8_t *input; /* room for RECEIVE_BYTES and a packet; the first HAVE bytes are valid */
	size_t have;
};

struct network {
	bool ethernet;
	const struct network_ops *ops;
	void *owner;
	int dir, epoll;
	struct accept_door door; /* accepts connections to this host's socket */
	char name[NAME_SIZE];    /* file name of our socket */
	unsigned int number, callers;
	uint64_t now;
	LIST_HEAD(, peer) peers;
	struct peer *host[NETWORK_MAX_HOSTS];
};

static int peer_add(struct network *network, int fd, struct peer **out)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = peer };

	if (!peer)
		return ENOMEM;
	peer->fd = fd;
	peer->moved = network->now;
	peer->queue = malloc(2 * QUEUE_BYTES);
	peer->input = malloc(RECEIVE_BYTES + sizeof(uint32_t) + NETWORK_MAX_PACKET);
	if (!peer->queue || !peer->input || epoll_ctl(network->epoll, EPOLL_CTL_ADD, fd, &event)) {
		free(peer->queue);
		free(peer->input);
		free(peer);
		return ENOMEM;
	}
	LIST_INSERT_HEAD(&network->peers, peer, entry);
	*out = peer;
	return 0;
}

static void peer_remove(struct network *network, struct peer *peer)
{
	if (!peer->known)
		network->callers--;
	else if (network->host[peer->number] == peer)
		network->host[peer->number] = NULL;
	LIST_REMOVE(peer, entry);
	close(peer->fd);
	free(peer->queue);
	free(peer->input);
	free(peer);
}

static void peer_lost(struct network *network, struct peer *peer, const char *why)
{
	unsigned int number = peer->number;
	bool known = peer->known;

	if (known)
		log_note("network: host %u: %s", number, why);
	else
		log_note("network: a caller %s", why);
	peer_remove(network, peer);
	if (known)
		network->ops->gone(network->owner, number);
}

static void set_known(struct network *network, struct peer *peer, unsigned int number)
{
	peer->known = true;
	peer->number = number;
	network->host[number] = peer;
	log_note("network: host %u is there", number);
}

static void set_waiting(struct network *network, struct peer *peer, bool waiting)
{
	struct epoll_event event = {
		.events = EPOLLIN | (waiting ? EPOLLOUT : 0),
		.data.ptr = peer,
	};

	if (peer->waiting == waiting)
		return;
	peer->waiting = waiting;
	epoll_ctl(network->epoll, EPOLL_CTL_MOD, peer->fd, &event);
}

/* Sends as much as the socket takes. A dead host is noticed when receiving. */
static void peer_flush(struct network *network, struct peer *peer)
{
	while (peer->sent < peer->queued) {
		ssize_t n = send(peer->fd, peer->queue + peer->sent, peer->queued - peer->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		peer->sent += (size_t)n;
		peer->moved = network->now;
	}
	if (peer->sent == peer->queued) {
		peer->sent = peer->queued = 0;
		peer->moved = network->now;
	}
	set_waiting(network, peer, peer->queued);
}

/* Moves the queue to the start of its buffer. Half of the buffer is free then, so the cost is
 * bounded by the bytes sent. */
static void make_room(struct peer *peer)
{
	memmove(peer->queue, peer->queue + peer->sent, peer->queued - peer->sent);
	peer->queued -= peer->sent;
	peer->sent = 0;
}

static void peer_enqueue(struct peer *peer, const void *data, uint32_t len)
{
	if (peer->queued - peer->sent + sizeof(len) + len > QUEUE_BYTES)
		return; /* the queue is full, so drop the packet */
	if (2 * QUEUE_BYTES - peer->queued < sizeof(len) + len)
		make_room(peer);
	memcpy(peer->queue + peer->queued, &len, sizeof(len));
	memcpy(peer->queue + peer->queued + sizeof(len), data, len);
	peer->queued += sizeof(len) + len;
}

void network_send(struct network *network, unsigned int host, const uint8_t *packet, size_t len)
{
	struct peer *peer;

	if (len > NETWORK_MAX_PACKET)
		return;
	if (host < NETWORK_MAX_HOSTS) {
		if (network->host[host])
			peer_enqueue(network->host[host], packet, (uint32_t)len);
		return;
	}
	LIST_FOREACH(peer, &network->peers, entry)
		if (peer->known)
			peer_enqueue(peer, packet, (uint32_t)len);
}

void network_flush(struct network *network)
{
	struct peer *peer;

	LIST_FOREACH(peer, &network->peers, entry)
		if (peer->queued && !peer->waiting)
			peer_flush(network, peer);
}

bool network_is_congested(const struct network *network)
{
	const struct peer *peer;

	LIST_FOREACH(peer, &network->peers, entry)
		if (peer->queued - peer->sent > QUEUE_HIGH && network->now - peer->moved < STUCK_NS)
			return true;
	return false;
}

static void name_socket(const struct network *network, unsigned int number, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%u.%s", number, network->ethernet ? "roce" : "ib");
}

/* Returns 0 if the caller may have the number. It may if it has proved that it listens at the
 * number's socket, or if no live socket and no connection has that number: the caller may be a host
 * that has left, whose messages still count. */
static int prove_number(const struct network *network, const struct peer *peer, unsigned int number)
{
	char name[NAME_SIZE];
	int ret;

	name_socket(network, number, name);
	ret = directory_prove(network->dir, name, peer->fd);
	return (ret == ENOENT || ret == ECONNREFUSED) && !network->host[number] ? 0 : ret;
}

/* Takes the greeting of a caller and its number. Closes another connection with that number, as its
 * host was killed and has been replaced. Returns NULL, or the reason to close this one. */
static const char *take_greeting(struct network *network, struct peer *peer, const uint8_t *data,
				 uint32_t len)
{
	struct greeting greeting;
	int ret;

	if (len != sizeof(greeting))
		return "has not identified itself";
	memcpy(&greeting, data, sizeof(greeting));
	if (greeting.magic != GREETING || greeting.ethernet != network->ethernet ||
	    greeting.number >= NETWORK_MAX_HOSTS || greeting.number == network->number)
		return "is of another network";
	ret = prove_number(network, peer, greeting.number);
	if (ret) {
		log_error("network: a caller that claims to be host %u is refused: %s",
			  greeting.number,
			  ret == EPERM ? "host is another process" : strerror(ret));
		return "has not proved its number";
	}
	if (network->host[greeting.number])
		peer_lost(network, network->host[greeting.number], "has been replaced");
	network->callers--;
	set_known(network, peer, greeting.number);
	return NULL;
}

/* Delivers all complete packets. Returns NULL, or the reason to close the connection. */
static const char *take_packets(struct network *network, struct peer *peer)
{
	size_t at = 0;
	uint32_t len;

	while (peer->have - at >= sizeof(len)) {
		uint8_t *data = peer->input + at + sizeof(len);
		const char *why = NULL;

		memcpy(&len, peer->input + at, sizeof(len));
		if (!len || len > NETWORK_MAX_PACKET)
			return "has sent nonsense";
		if (peer->have - at - sizeof(len) < len)
			break;
		if (peer->known)
			network->ops->receive(network->owner, peer->number, data, len);
		else
			why = take_greeting(network, peer, data, len);
		if (why)
			return why;
		at += sizeof(len) + len;
	}
	memmove(peer->input, peer->input + at, peer->have - at);
	peer->have -= at;
	return NULL;
}

static const char *peer_receive(struct network *network, struct peer *peer)
{
	ssize_t n = recv(peer->fd, peer->input + peer->have, RECEIVE_BYTES, MSG_DONTWAIT);
	const char *why;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? NULL : "has gone";
	if (!n)
		return "has left";
	peer->have += (size_t)n;
	why = take_packets(network, peer);
	if (!why && peer->known)
		network->ops->pause(network->owner, peer->number);
	return why;
}

/* Closes the oldest connection without a greeting. Any user who may connect can stay silent, but
 * must not keep hosts out. */
static void close_oldest_caller(struct network *network)
{
	struct peer *peer, *oldest = NULL;

	LIST_FOREACH(peer, &network->peers, entry)
		if (!peer->known)
			oldest = peer;
	if (oldest)
		peer_lost(network, oldest, "has not identified itself, and others wait");
}

static void accept_caller(struct network *network)
{
	int fd = accept_next(&network->door, SOCK_NONBLOCK);
	struct peer *peer;

	if (fd < 0)
		return;
	if (network->callers == MAX_CALLERS)
		close_oldest_caller(network);
	if (peer_add(network, fd, &peer))
		close(fd);
	else
		network->callers++;
}

static void peer_serve(struct network *network, const struct epoll_event *event)
{
	struct peer *peer = event->data.ptr;
	const char *why = NULL;

	if (!peer) {
		accept_caller(network);
		return;
	}
	if (event->events & EPOLLOUT)
		peer_flush(network, peer);
	if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		why = peer_receive(network, peer);
	if (why)
		peer_lost(network, peer, why);
}

/* Gets one event from epoll at a time, as serving one peer can remove another. */
bool network_progress(struct network *network, uint64_t now_ns)
{
	enum { EVENTS_PER_CALL = 8 };
	struct epoll_event event;
	bool worked = false;

	network->now = now_ns;
	for (int i = 0; i < EVENTS_PER_CALL && epoll_wait(network->epoll, &event, 1, 0) == 1; i++) {
		peer_serve(network, &event);
		worked = true;
	}
	network_flush(network);
	return worked;
}

static int new_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static int add_host(struct network *network, int fd, unsigned int number)
{
	struct peer *peer;
	int ret = peer_add(network, fd, &peer);

	if (!ret)
		set_known(network, peer, number);
	return ret;
}

/* Connects to the host whose socket is NAME. */
static int meet_host(void *owner, const char *name, unsigned int number, bool ethernet)
{
	struct network *network = owner;
	int fd, ret = directory_connect(network->dir, name, &fd);

	if (ret == ECONNREFUSED)
		directory_remove(network->dir, name, number);
	if (ret == EAGAIN)
		log_error("network: host %u accepts no connections: it is stopped, or it hangs",
			  number);
	if (ret)
		return ret == ECONNREFUSED || ret == ENOENT ? 0 : ret;
	ret = ethernet == network->ethernet ? add_host(network, fd, number) : EPROTOTYPE;
	if (ret)
		close(fd);
	return ret;
}

static int take_number(struct network *network)
{
	while (network->number < NETWORK_MAX_HOSTS && network->host[network->number])
		network->number++;
	if (network->number == NETWORK_MAX_HOSTS)
		return EMFILE;
	name_socket(network, network->number, network->name);
	return 0;
}

static int listen_there(struct network *network)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ret, fd = new_socket();

	if (fd < 0)
		return errno;
	ret = accept_open(&network->door, fd);
	if (ret)
		return ret;
	directory_clean(network->dir, network->number);
	if (epoll_ctl(network->epoll, EPOLL_CTL_ADD, fd, &event))
		return errno;
	return directory_listen(network->dir, network->name, fd);
}

static void stop_listening(struct network *network)
{
	accept_close(&network->door);
	if (network->door.listener >= 0)
		close(network->door.listener);
	network->door.listener = -1;
}

/* Takes the lowest number that is free. A number stays in use if its socket cannot be removed, for
 * example because another user's host left it in a directory with the sticky bit. */
static int listen_as_next(struct network *network)
{
	int ret = take_number(network);

	if (!ret)
		ret = listen_there(network);
	while (ret == EEXIST) {
		stop_listening(network);
		network->number++;
		ret = take_number(network);
		if (!ret)
			ret = listen_there(network);
	}
	return ret;
}

static void greet_all(struct network *network)
{
	struct greeting greeting = {
		.magic = GREETING,
		.ethernet = network->ethernet,
		.number = network->number,
	};

	network_send(network, NETWORK_ALL, (const uint8_t *)&greeting, sizeof(greeting));
	network_flush(network);
}

static int join_locked(struct network *network)
{
	int ret = directory_sockets(network->dir, meet_host, network);

	if (!ret)
		ret = listen_as_next(network);
	if (!ret)
		greet_all(network);
	return ret;
}

static void network_free(struct network *network)
{
	while (!LIST_EMPTY(&network->peers))
		peer_remove(network, LIST_FIRST(&network->peers));
	stop_listening(network);
	if (network->epoll >= 0)
		close(network->epoll);
	if (network->dir >= 0)
		close(network->dir);
	free(network);
}

static int open_directory(struct network *network, const char *path)
{
	if (mkdir(path, 0777) && errno != EEXIST)
		return errno;
	network->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return network->dir < 0 ? errno : 0;
}

int network_join(const char *path, bool ethernet, const struct network_ops *ops, void *owner,
		 struct network **out)
{
	struct network *network = calloc(1, sizeof(*network));
	int lock, ret;

	if (!network)
		return ENOMEM;
	network->ethernet = ethernet;
	network->ops = ops;
	network->owner = owner;
	network->dir = -1;
	network->door = (struct accept_door){ .listener = -1, .spare = -1 };
	LIST_INIT(&network->peers);
	network->epoll = epoll_create1(EPOLL_CLOEXEC);
	ret = network->epoll < 0 ? errno : open_directory(network, path);
	if (ret)
		goto free_network;
	ret = directory_lock(network->dir, LOCK_WAIT_MS, &lock);
	if (ret)
		goto free_network;
	ret = join_locked(network);
	close(lock);
	if (ret)
		goto free_network;
	*out = network;
	return 0;
free_network:
	network_free(network);
	return ret;
}

void network_leave(struct network *network)
{
	network_flush(network);
	directory_remove(network->dir, network->name, network->number);
	network_free(network);
}

int network_describe(struct network *network, const char *text, size_t len)
{
	return directory_describe(network->dir, network->number, text, len);
}

unsigned int network_number(const struct network *network)
{
	return network->number;
}

bool network_has_host(const struct network *network, unsigned int host)
{
	return host < NETWORK_MAX_HOSTS && network->host[host];
}

int network_fd(const struct network *network)
{
	return network->epoll;
}
