/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_exchange.c - how two pingpong programs meet: one TCP connection that carries each side's address.
 *
 * The client speaks first. An address is a NUL-terminated text of fixed length, "LID:QPN:PSN:GID" in hex, the GID as
 * its 16 bytes in order. The server connects its queue pair before it answers, the client after; the client's closing
 * "done" is only an acknowledgement. Other implementations of these programs talk the same way.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pingpong.h"

#define ADDRESS_TEXT sizeof("0000:000000:000000:00000000000000000000000000000000")
#define GID_TEXT     32
static const char done_text[] = "done";

static void print_address(const char *whose, const struct pp_address *address)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &address->gid, gid, sizeof(gid));
	printf("  %-15s LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s\n", whose, address->lid,
	       address->qpn, address->psn, gid);
	fflush(stdout);
}

static void encode_address(const struct pp_address *address, char text[ADDRESS_TEXT])
{
	int used = snprintf(text, ADDRESS_TEXT, "%04x:%06x:%06x:", address->lid,
			    address->qpn & 0xffffff, address->psn & 0xffffff);

	for (int i = 0; i < 16; i++)
		used += snprintf(text + used, ADDRESS_TEXT - used, "%02x", address->gid.raw[i]);
}

static bool decode_address(const char text[ADDRESS_TEXT], struct pp_address *address)
{
	char gid[GID_TEXT + 1];
	unsigned int lid;

	if (text[ADDRESS_TEXT - 1] != '\0' ||
	    sscanf(text, "%x:%x:%x:%32s", &lid, &address->qpn, &address->psn, gid) != 4 ||
	    strlen(gid) != GID_TEXT)
		return false;
	address->lid = (uint16_t)lid;
	for (int i = 0; i < 16; i++)
		if (sscanf(gid + 2 * i, "%2hhx", &address->gid.raw[i]) != 1)
			return false;
	return true;
}

/* Bytes sent or received: fewer than LEN after end of file or an error. */
static size_t send_all(int fd, const void *data, size_t len)
{
	size_t sent = 0;

	while (sent < len) {
		ssize_t n = send(fd, (const char *)data + sent, len - sent, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	return sent;
}

static size_t recv_all(int fd, void *data, size_t len)
{
	size_t received = 0;

	while (received < len) {
		ssize_t n = recv(fd, (char *)data + received, len - received, 0);

		if (n <= 0)
			break;
		received += (size_t)n;
	}
	return received;
}

static struct addrinfo *look_up(const char *host, unsigned int port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = host ? 0 : AI_PASSIVE };
	struct addrinfo *found;
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &found);
	if (!ret)
		return found;
	if (host)
		fprintf(stderr, "%s for %s:%u\n", gai_strerror(ret), host, port);
	else
		fprintf(stderr, "%s for port %u\n", gai_strerror(ret), port);
	return NULL;
}

/* A connected socket, or -1 after a message. */
static int dial(const char *host, unsigned int port)
{
	struct addrinfo *list = look_up(host, port);
	int fd = -1;

	if (!list)
		return -1;
	for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next) {
		fd = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);
		if (fd >= 0 && connect(fd, ai->ai_addr, ai->ai_addrlen)) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		fprintf(stderr, "Couldn't connect to %s:%u\n", host, port);
	return fd;
}

static int listen_on(const struct addrinfo *ai)
{
	int reuse = 1;
	int fd = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
	if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, 1))
		return fd;
	close(fd);
	return -1;
}

/* The first peer that connects to PORT, or -1 after a message. */
static int await_peer(unsigned int port)
{
	struct addrinfo *list = look_up(NULL, port);
	int listener = -1;
	int fd;

	if (!list)
		return -1;
	for (struct addrinfo *ai = list; ai && listener < 0; ai = ai->ai_next)
		listener = listen_on(ai);
	freeaddrinfo(list);
	if (listener < 0) {
		fprintf(stderr, "Couldn't listen to port %u\n", port);
		return -1;
	}
	fd = accept(listener, NULL, NULL);
	close(listener);
	if (fd < 0)
		fprintf(stderr, "accept() failed\n");
	return fd;
}

static int swap_as_client(struct pp *pp, int fd, struct pp_address *remote)
{
	char text[ADDRESS_TEXT];

	encode_address(&pp->local, text);
	if (send_all(fd, text, sizeof(text)) != sizeof(text)) {
		fprintf(stderr, "Couldn't send local address\n");
		return -1;
	}
	if (recv_all(fd, text, sizeof(text)) != sizeof(text) || !decode_address(text, remote) ||
	    send_all(fd, done_text, sizeof(done_text)) != sizeof(done_text)) {
		perror("client read/write");
		fprintf(stderr, "Couldn't read/write remote address\n");
		return -1;
	}
	return 0;
}

static int swap_as_server(struct pp *pp, int fd, pp_connect_fn *connect, struct pp_address *remote)
{
	char text[ADDRESS_TEXT];
	char done[sizeof(done_text)];
	size_t n = recv_all(fd, text, sizeof(text));

	if (n != sizeof(text) || !decode_address(text, remote)) {
		perror("server read");
		fprintf(stderr, "%zu/%zu: Couldn't read remote address\n", n, sizeof(text));
		return -1;
	}
	if (connect(pp, remote)) {
		fprintf(stderr, "Couldn't connect to remote QP\n");
		return -1;
	}
	encode_address(&pp->local, text);
	if (send_all(fd, text, sizeof(text)) != sizeof(text) ||
	    recv_all(fd, done, sizeof(done)) != sizeof(done)) {
		fprintf(stderr, "Couldn't send/recv local address\n");
		return -1;
	}
	return 0;
}

int pp_exchange(struct pp *pp, pp_connect_fn *connect)
{
	const struct pp_options *options = pp->options;
	struct pp_address remote;
	int fd;
	int ret;

	print_address("local address:", &pp->local);
	fd = options->host ? dial(options->host, options->port) : await_peer(options->port);
	if (fd < 0)
		return -1;
	ret = options->host ? swap_as_client(pp, fd, &remote)
			    : swap_as_server(pp, fd, connect, &remote);
	close(fd);
	if (ret)
		return ret;
	print_address("remote address:", &remote);
	return options->host ? connect(pp, &remote) : 0;
}
