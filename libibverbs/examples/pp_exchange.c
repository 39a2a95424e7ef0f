/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pp_exchange.c - exchanges the addresses of two pingpong programs over a TCP connection.
 *
 * The client sends first, and each side sends pp.records addresses. An address is a NUL-terminated
 * text of fixed length, "LID:QPN:PSN:GID" in hexadecimal, the GID as its 16 bytes in order. The
 * server connects its queue pair before it answers, the client after; the client's closing "done"
 * is only an acknowledgement. Other implementations of these programs use the same protocol.
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

/* Prints an address. By tradition, the line of a datagram's local address has a colon in the
 * middle. */
static void print_address(const char *whose, const struct pp_address *address, char separator)
{
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, &address->gid, gid, sizeof(gid));
	printf("  %-15s LID 0x%04x, QPN 0x%06x, PSN 0x%06x%c GID %s\n", whose, address->lid,
	       address->qpn, address->psn, separator, gid);
}

static void print_local(struct pp *pp)
{
	const bool is_ud = pp->peers[0].qp->qp_type == IBV_QPT_UD;

	for (unsigned int i = 0; i < pp->options->num_qp; i++)
		print_address("local address:", &pp->peers[i].local, is_ud ? ':' : ',');
	fflush(stdout);
}

static void print_remote(struct pp *pp)
{
	for (unsigned int i = 0; i < pp->options->num_qp; i++)
		print_address("remote address:", &pp->peers[i].remote, ',');
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

size_t pp_send_all(int fd, const void *data, size_t len)
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

size_t pp_recv_all(int fd, void *data, size_t len)
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

int pp_dial(const char *host, unsigned int port)
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

int pp_listen(unsigned int port)
{
	struct addrinfo *list = look_up(NULL, port);
	int listener = -1;

	if (!list)
		return -1;
	for (struct addrinfo *ai = list; ai && listener < 0; ai = ai->ai_next)
		listener = listen_on(ai);
	freeaddrinfo(list);
	if (listener < 0)
		fprintf(stderr, "Couldn't listen to port %u\n", port);
	return listener;
}

static int await_peer(unsigned int port)
{
	int listener = pp_listen(port);
	int fd;

	if (listener < 0)
		return -1;
	fd = accept(listener, NULL, NULL);
	close(listener);
	if (fd < 0)
		fprintf(stderr, "accept() failed\n");
	return fd;
}

static bool send_addresses(const struct pp *pp, int fd)
{
	char text[ADDRESS_TEXT];

	for (unsigned int i = 0; i < pp->records; i++) {
		encode_address(&pp->peers[i].local, text);
		if (pp_send_all(fd, text, sizeof(text)) != sizeof(text))
			return false;
	}
	return true;
}

/* Returns -1 if all addresses have arrived, or else the number of bytes of the incomplete one. */
static ssize_t receive_addresses(struct pp *pp, int fd)
{
	char text[ADDRESS_TEXT];

	for (unsigned int i = 0; i < pp->records; i++) {
		const size_t n = pp_recv_all(fd, text, sizeof(text));

		if (n != sizeof(text) || !decode_address(text, &pp->peers[i].remote))
			return (ssize_t)n;
	}
	return -1;
}

static int swap_as_client(struct pp *pp, int fd)
{
	if (!send_addresses(pp, fd)) {
		fprintf(stderr, "Couldn't send local address\n");
		return -1;
	}
	if (receive_addresses(pp, fd) >= 0 ||
	    pp_send_all(fd, done_text, sizeof(done_text)) != sizeof(done_text)) {
		perror("client read/write");
		fprintf(stderr, "Couldn't read/write remote address\n");
		return -1;
	}
	return 0;
}

static int connect_all(struct pp *pp, pp_connect_fn *connect)
{
	for (unsigned int i = 0; i < pp->options->num_qp; i++)
		if (connect(pp, &pp->peers[i]))
			return -1;
	return 0;
}

static int swap_as_server(struct pp *pp, int fd, pp_connect_fn *connect)
{
	char done[sizeof(done_text)];
	ssize_t n = receive_addresses(pp, fd);

	if (n >= 0) {
		perror("server read");
		fprintf(stderr, "%zd/%zu: Couldn't read remote address\n", n, ADDRESS_TEXT);
		return -1;
	}
	if (connect_all(pp, connect)) {
		fprintf(stderr, "Couldn't connect to remote QP\n");
		return -1;
	}
	if (!send_addresses(pp, fd) || pp_recv_all(fd, done, sizeof(done)) != sizeof(done)) {
		fprintf(stderr, "Couldn't send/recv local address\n");
		return -1;
	}
	return 0;
}

int pp_exchange(struct pp *pp, pp_connect_fn *connect)
{
	const struct pp_options *options = pp->options;
	int fd;
	int ret;

	print_local(pp);
	fd = options->host ? pp_dial(options->host, options->port) : await_peer(options->port);
	if (fd < 0)
		return -1;
	ret = options->host ? swap_as_client(pp, fd) : swap_as_server(pp, fd, connect);
	close(fd);
	if (ret)
		return ret;
	print_remote(pp);
	return options->host ? connect_all(pp, connect) : 0;
}
