/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * peers.c - synchronises clients and servers through a controller.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmtime.h"
#include "peers.h"

enum { RETRY_MS = 20 };

static int send_all(int socket, const void *buf, size_t size)
{
	const char *at = buf;
	ssize_t done;

	for (; size; at += done, size -= done) {
		done = send(socket, at, size, MSG_NOSIGNAL);
		if (done < 0)
			return complain_errno("send to a peer");
	}
	return 0;
}

static int receive_all(int socket, void *buf, size_t size)
{
	char *at = buf;
	ssize_t done;

	for (; size; at += done, size -= done) {
		done = recv(socket, at, size, 0);
		if (done < 0)
			return complain_errno("receive from a peer");
		if (!done) {
			fprintf(stderr, "a peer has gone\n");
			return -1;
		}
	}
	return 0;
}

/* Disables Nagle's algorithm, because messages are short and the peer waits for each. */
static int without_delay(int socket)
{
	const int on = 1;

	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return socket;
}

/* Returns the listening socket, or -1 with errno; EADDRINUSE or EADDRNOTAVAIL if another process is
 * the controller. */
static int listen_as_controller(const struct addrinfo *info, int backlog)
{
	int listener = socket(info->ai_family, SOCK_STREAM, 0);
	const int on = 1;
	int error;

	if (listener < 0)
		return -1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!bind(listener, info->ai_addr, info->ai_addrlen) && !listen(listener, backlog))
		return listener;
	error = errno;
	close(listener);
	errno = error;
	return -1;
}

static int gather_peers(struct peers *peers, int listener)
{
	for (int i = 0; i < peers->count - 1; i++) {
		peers->sockets[i] = accept(listener, NULL, NULL);
		if (peers->sockets[i] < 0)
			return complain_errno("accept of a peer");
		peers->socket_count++;
		without_delay(peers->sockets[i]);
		if (receive_all(peers->sockets[i], &peers->all[i + 1], sizeof(*peers->all)))
			return -1;
	}
	for (int i = 0; i < peers->socket_count; i++)
		if (send_all(peers->sockets[i], peers->all, peers->count * sizeof(*peers->all)))
			return -1;
	return 0;
}

static int be_controller(struct peers *peers, int listener, const struct peer *self)
{
	int ret;

	printf("Running as OOB root\n");
	fflush(stdout);
	peers->is_controller = true;
	peers->all[0] = *self;
	ret = gather_peers(peers, listener);
	close(listener);
	return ret;
}

/* Connects to the controller. Retries if refused: the controller may have bound its address without
 * listening yet. */
static int find_controller(const struct addrinfo *info, int timeout_ms)
{
	const uint64_t end = cmtime_now() + (uint64_t)timeout_ms * 1000000;
	int found;

	for (;;) {
		found = socket(info->ai_family, SOCK_STREAM, 0);
		if (found < 0 || !connect(found, info->ai_addr, info->ai_addrlen))
			break;
		close(found);
		found = -1;
		if (errno != ECONNREFUSED || cmtime_now() >= end)
			break;
		poll(NULL, 0, RETRY_MS);
	}
	return found < 0 ? complain_errno("connect to the controller") : without_delay(found);
}

static int join_controller(struct peers *peers, const struct addrinfo *info, int timeout_ms,
			   const struct peer *self)
{
	peers->sockets[0] = find_controller(info, timeout_ms);
	if (peers->sockets[0] < 0)
		return -1;
	peers->socket_count = 1;
	if (send_all(peers->sockets[0], self, sizeof(*self)))
		return -1;
	return receive_all(peers->sockets[0], peers->all, peers->count * sizeof(*peers->all));
}

static int meet_at(struct peers *peers, const struct addrinfo *info, int timeout_ms,
		   const struct peer *self)
{
	int listener = listen_as_controller(info, peers->count);

	if (listener >= 0)
		return be_controller(peers, listener, self);
	if (errno != EADDRINUSE && errno != EADDRNOTAVAIL)
		return complain_errno("bind to the controller's address");
	return join_controller(peers, info, timeout_ms, self);
}

static int check_roles(const struct peers *peers)
{
	int servers = peers_count(peers, true);

	if (!servers)
		printf("need at least 1 listener\n");
	if (servers == peers->count)
		printf("cannot have all listeners\n");
	return servers && servers < peers->count ? 0 : -1;
}

int peers_meet(struct peers *peers, const char *controller, const char *port, int count,
	       int timeout_ms, const struct peer *self)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *info;
	int ret = getaddrinfo(controller, port, &hints, &info);

	*peers = (struct peers){ .count = count };
	if (ret) {
		printf("getaddrinfo error: %s\n", gai_strerror(ret));
		return -1;
	}
	peers->all = calloc(count, sizeof(*peers->all));
	peers->sockets = calloc(count, sizeof(*peers->sockets));
	if (peers->all && peers->sockets)
		ret = meet_at(peers, info, timeout_ms, self);
	else
		ret = complain_errno("peers");
	freeaddrinfo(info);
	return ret ? ret : check_roles(peers);
}

void peers_part(struct peers *peers)
{
	for (int i = 0; i < peers->socket_count; i++)
		close(peers->sockets[i]);
	free(peers->sockets);
	free(peers->all);
	*peers = (struct peers){ 0 };
}

static int receive_step(int socket, uint8_t step)
{
	uint8_t theirs;

	if (receive_all(socket, &theirs, 1))
		return -1;
	if (theirs == step)
		return 0;
	fprintf(stderr, "a peer is at step %u, we are at %u\n", theirs, step);
	return -1;
}

int peers_keep_step(struct peers *peers, uint8_t step)
{
	fflush(stdout);
	for (int i = 0; !peers->is_controller && i < peers->socket_count; i++)
		if (send_all(peers->sockets[i], &step, 1))
			return -1;
	for (int i = 0; i < peers->socket_count; i++)
		if (receive_step(peers->sockets[i], step))
			return -1;
	for (int i = 0; peers->is_controller && i < peers->socket_count; i++)
		if (send_all(peers->sockets[i], &step, 1))
			return -1;
	return 0;
}

static bool has_gone(const struct pollfd *fds, int count)
{
	for (int i = 0; i < count; i++)
		if (fds[i].revents)
			return true;
	return false;
}

int peers_poll(const struct peers *peers, const int *fds, int count, int timeout_ms, bool *readable)
{
	struct pollfd all[4 + peers->socket_count];
	int ret;

	assert(count <= 4);
	for (int i = 0; i < count; i++)
		all[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	for (int i = 0; i < peers->socket_count; i++)
		all[count + i] = (struct pollfd){ .fd = peers->sockets[i], .events = POLLRDHUP };
	ret = poll(all, count + peers->socket_count, timeout_ms);
	if (ret < 0)
		return complain_errno("poll");
	if (has_gone(all + count, peers->socket_count)) {
		fprintf(stderr, "a peer has gone\n");
		return -1;
	}
	for (int i = 0; i < count; i++)
		readable[i] = all[i].revents;
	return ret;
}

int peers_count(const struct peers *peers, bool listens)
{
	int found = 0;

	for (int i = 0; i < peers->count; i++)
		found += !peers->all[i].listens == !listens;
	return found;
}
