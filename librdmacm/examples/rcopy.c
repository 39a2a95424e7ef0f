/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rcopy.c - copies a file to another machine. The server writes the files that clients send, one
 * client after the other.
 *
 * A message begins with a header of 16 bytes, in the machines' byte order. The client sends
 * commands to open a path, to write a number of bytes, which follow, and to close. The answer to a
 * command has the same code with the top bit set, and an errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "complain.h"

enum { OPEN = 1, CLOSE = 2, WRITE = 3, ANSWER = 0x80 };
enum { BUFFER = 1 << 19, CHUNK = 1 << 16, ROUND = 8, MAX_PATH = 4096 };

struct head {
	uint8_t version;
	uint8_t command;
	uint16_t length; /* bytes of the message, without the data to write */
	uint32_t value;  /* OPEN: the file's mode; answers: an errno */
	uint64_t id;
};

static const char *port = "7427";

static int send_all(int socket, const void *buf, size_t size)
{
	const uint8_t *at = buf;
	ssize_t done;

	for (; size; at += done, size -= done) {
		done = rsend(socket, at, size, 0);
		if (done <= 0)
			return complain_errno("rsend");
	}
	return 0;
}

static int receive_all(int socket, void *buf, size_t size)
{
	uint8_t *at = buf;
	ssize_t done;

	for (; size; at += done, size -= done) {
		done = rrecv(socket, at, size, 0);
		if (done <= 0)
			return -1;
	}
	return 0;
}

static int send_answer(int socket, const struct head *to, int error)
{
	struct head head = *to;

	head.command |= ANSWER;
	head.length = sizeof(head);
	head.value = error;
	return send_all(socket, &head, sizeof(head));
}

static int await_answer(int socket, uint8_t command)
{
	struct head head;

	if (receive_all(socket, &head, sizeof(head)))
		return -1;
	if (head.version || head.command != (command | ANSWER)) {
		printf("invalid length %d or bad command response %x:%x\n", head.length,
		       head.command, command | ANSWER);
		return -1;
	}
	return (int)head.value;
}

static int receive_path(int socket, const struct head *head, char *path)
{
	size_t size = head->length - sizeof(*head);

	if (head->version || head->command != OPEN || head->length <= sizeof(*head) ||
	    size > MAX_PATH) {
		printf("invalid version %d or length %d\n", head->version, head->length);
		return -1;
	}
	if (receive_all(socket, path, size))
		return -1;
	path[size - 1] = '\0';
	return 0;
}

static int write_file(int socket, int file, uint64_t size)
{
	static uint8_t buffer[CHUNK];
	int error = 0;
	ssize_t part;

	while (size) {
		part = rrecv(socket, buffer, size < CHUNK ? size : CHUNK, 0);
		if (part <= 0)
			return -1;
		if (!error && write(file, buffer, part) != part)
			error = errno ? errno : ENOSPC;
		size -= part;
	}
	return error;
}

static int serve_write(int socket, int file, const struct head *head)
{
	uint64_t size;
	int error;

	if (receive_all(socket, &size, sizeof(size)))
		return -1;
	printf("transferring...");
	fflush(stdout);
	error = write_file(socket, file, size);
	if (error < 0)
		return error;
	printf("%lld bytes...", (long long)size);
	fflush(stdout);
	return send_answer(socket, head, error);
}

static void serve_commands(int socket, int file)
{
	struct head head;

	while (!receive_all(socket, &head, sizeof(head))) {
		if (head.command == WRITE) {
			if (serve_write(socket, file, &head))
				return;
		} else if (head.command == CLOSE) {
			printf("closing...");
			send_answer(socket, &head, 0);
			printf("done\n");
			return;
		} else {
			send_answer(socket, &head, EINVAL);
			return;
		}
	}
}

static void serve_client(int socket)
{
	char path[MAX_PATH];
	struct head head;
	int file;

	if (receive_all(socket, &head, sizeof(head)) || receive_path(socket, &head, path))
		return;
	printf("opening: %s, ", path);
	fflush(stdout);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, head.value & 0777);
	if (file < 0) {
		printf("unable to open destination file\n");
		send_answer(socket, &head, errno);
		return;
	}
	if (!send_answer(socket, &head, 0))
		serve_commands(socket, file);
	close(file);
}

static void set_options(int socket)
{
	int size = BUFFER, on = 1;

	rsetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	rsetsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	rsetsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static struct addrinfo *resolve_host(const char *host)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = host ? 0 : AI_PASSIVE };
	struct addrinfo *info;
	int ret = getaddrinfo(host, port, &hints, &info);

	if (!ret)
		return info;
	printf("getaddrinfo failed: %s\n", gai_strerror(ret));
	return NULL;
}

static int make_listener(void)
{
	struct addrinfo *info = resolve_host(NULL);
	int on = 1, socket;

	if (!info)
		return -1;
	socket = rsocket(info->ai_family, SOCK_STREAM, 0);
	if (socket >= 0) {
		rsetsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		set_options(socket);
	}
	if (socket < 0 || rbind(socket, info->ai_addr, info->ai_addrlen) || rlisten(socket, 8)) {
		perror("cannot listen");
		socket = -1;
	}
	freeaddrinfo(info);
	return socket;
}

static void print_client(const struct sockaddr_storage *addr, socklen_t len)
{
	char name[NI_MAXHOST];

	if (!getnameinfo((const struct sockaddr *)addr, len, name, sizeof(name), NULL, 0,
			 NI_NUMERICHOST))
		printf("client: %s\n", name);
}

static int serve_clients(void)
{
	int listener = make_listener(), socket;
	struct sockaddr_storage addr;
	socklen_t len;

	if (listener < 0)
		return -1;
	for (;;) {
		printf("waiting for connection...");
		fflush(stdout);
		len = sizeof(addr);
		socket = raccept(listener, (struct sockaddr *)&addr, &len);
		if (socket < 0)
			return complain_errno("raccept");
		print_client(&addr, len);
		serve_client(socket);
		rshutdown(socket, SHUT_RDWR);
		rclose(socket);
	}
}

struct source {
	int file;
	struct stat stat;
	void *bytes;
};

static int open_source(const char *path, struct source *source)
{
	source->file = open(path, O_RDONLY);
	if (source->file < 0)
		return -1;
	if (fstat(source->file, &source->stat))
		return -1;
	source->bytes = NULL;
	if (!source->stat.st_size)
		return 0;
	source->bytes = mmap(NULL, source->stat.st_size, PROT_READ, MAP_SHARED, source->file, 0);
	return source->bytes == MAP_FAILED ? -1 : 0;
}

static int ask_open(int socket, const char *path, uint32_t mode)
{
	char message[sizeof(struct head) + MAX_PATH + ROUND] = { 0 };
	size_t size = sizeof(struct head) + strlen(path) + 1;
	struct head head = { .command = OPEN, .value = mode };

	if (size > sizeof(struct head) + MAX_PATH)
		return ENAMETOOLONG;
	size = (size + ROUND - 1) / ROUND * ROUND;
	head.length = size;
	memcpy(message, &head, sizeof(head));
	strcpy(message + sizeof(head), path);
	return send_all(socket, message, size) ? -1 : await_answer(socket, OPEN);
}

static int ask_write(int socket, const struct source *source)
{
	struct {
		struct head head;
		uint64_t size;
	} message = { { .command = WRITE, .length = sizeof(message) }, source->stat.st_size };

	if (send_all(socket, &message, sizeof(message)) ||
	    send_all(socket, source->bytes, message.size))
		return -1;
	return await_answer(socket, WRITE);
}

static int ask_close(int socket)
{
	struct head head = { .command = CLOSE, .length = sizeof(head) };

	return send_all(socket, &head, sizeof(head)) ? -1 : await_answer(socket, CLOSE);
}

static int print_step(const char *name)
{
	printf("%s", name);
	fflush(stdout);
	return 0;
}

static int copy_source(int socket, const struct source *source, const char *to)
{
	int ret = ask_open(socket, to, source->stat.st_mode);

	if (!ret)
		ret = print_step("transferring...");
	if (!ret)
		ret = ask_write(socket, source);
	if (!ret)
		ret = print_step("closing...");
	if (!ret)
		ret = ask_close(socket);
	return ret;
}

static int connect_to(const char *host)
{
	struct addrinfo *info = resolve_host(host);
	int socket;

	if (!info)
		return -1;
	socket = rsocket(info->ai_family, SOCK_STREAM, 0);
	if (socket >= 0) {
		set_options(socket);
		if (rconnect(socket, info->ai_addr, info->ai_addrlen)) {
			perror("rconnect failed");
			rclose(socket);
			socket = -1;
		}
	}
	freeaddrinfo(info);
	return socket;
}

static void print_speed(const struct source *source, const struct timespec *start)
{
	struct timespec end;
	double seconds, bytes = (double)source->stat.st_size;

	clock_gettime(CLOCK_MONOTONIC, &end);
	seconds =
		(double)(end.tv_sec - start->tv_sec) + (double)(end.tv_nsec - start->tv_nsec) / 1e9;
	printf("%lld bytes in %.2f seconds = %.2f Gb/sec\n", (long long)source->stat.st_size,
	       seconds, bytes * 8 / 1e9 / seconds);
}

static int send_file(const char *from, const char *host, const char *to)
{
	struct source source;
	struct timespec start;
	int socket = connect_to(host);
	int ret;

	if (socket < 0)
		return -1;
	print_step("opening...");
	ret = open_source(from, &source);
	if (!ret) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		ret = copy_source(socket, &source, to);
	}
	if (!ret) {
		printf("done\n");
		print_speed(&source, &start);
	}
	rshutdown(socket, SHUT_RDWR);
	rclose(socket);
	return ret;
}

static int usage(const char *program)
{
	printf("usage 1: %s [options]\n", program);
	printf("\t     starts the server application\n"
	       "\t[-p  port_number]\n");
	printf("usage 2: %s source server[:destination] [options]\n", program);
	printf("\t     source - file name and path\n"
	       "\t     server - name or address\n"
	       "\t     destination - file name and path\n"
	       "\t[-p  port_number]\n");
	return 1;
}

/* Sends the file. Without a destination, the copy gets the path of the source. */
static int send_as_told(char **argv)
{
	char *to = strchr(argv[1], ':');

	if (to)
		*to++ = '\0';
	return send_file(argv[0], argv[1], to && *to ? to : argv[0]);
}

int main(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "p:")) != -1) {
		if (option != 'p')
			return usage(argv[0]);
		port = optarg;
	}
	argv += optind;
	argc -= optind;
	if (!argc)
		return serve_clients();
	return argc == 2 ? send_as_told(argv) : usage(argv[-optind]);
}
