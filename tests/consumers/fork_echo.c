/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork_echo.c - an ordinary TCP server with a process for each connection, and its client, which
 * compares what comes back.
 *
 * It knows nothing of rsockets: it is there to be run on librspreload. The parent accepts, forks
 * and closes; the child reads and writes until the client has ended. Or the parent only listens, as
 * servers do that start their workers first.
 *
 * fork_echo serve PORT CONNECTIONS ends after so many connections, with 0 if all children did.
 * fork_echo workers PORT CONNECTIONS has as many workers, each of which accepts one.
 * fork_echo daemon PORT CONNECTIONS does so in the background; the process that listened has ended.
 * fork_echo ask PORT CONNECTIONS BYTES makes so many connections at the same time, each with so
 * many bytes there and back.
 * FORK_ECHO_ADDRESS in the environment is the server's address, if that is not 127.0.0.1.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 64, PIECE = 30000, BACKLOG = 64 };

static int echo_fail(const char *what)
{
	perror(what);
	return 1;
}

static struct sockaddr_in echo_address(int port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };
	const char *address = getenv("FORK_ECHO_ADDRESS");

	addr.sin_addr.s_addr = inet_addr(address ? address : "127.0.0.1");
	return addr;
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	ssize_t ret;

	for (; size; size -= ret, bytes += ret) {
		ret = write(fd, bytes, size);
		if (ret <= 0)
			return echo_fail("write");
	}
	return 0;
}

static int read_all(int fd, uint8_t *bytes, size_t size)
{
	ssize_t ret;

	for (; size; size -= ret, bytes += ret) {
		ret = read(fd, bytes, size);
		if (ret <= 0)
			return echo_fail("read");
	}
	return 0;
}

static int client_echo(int fd)
{
	uint8_t bytes[PIECE];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
		if (write_all(fd, bytes, got))
			return 1;
	}
	close(fd);
	return got ? echo_fail("read") : 0;
}

static int start_child(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		return echo_fail("accept");
	switch (fork()) {
	case -1:
		return echo_fail("fork");
	case 0:
		close(listener);
		exit(client_echo(fd));
	}
	close(fd);
	return 0;
}

static int await_children(int count)
{
	int status, failures = 0;

	while (count--) {
		if (wait(&status) < 0)
			return echo_fail("wait");
		failures += status != 0;
	}
	printf("%d failed\n", failures);
	return failures != 0;
}

static int start_worker(int listener)
{
	int fd;

	switch (fork()) {
	case -1:
		return echo_fail("fork");
	case 0:
		fd = accept(listener, NULL, NULL);
		exit(fd < 0 ? echo_fail("accept") : client_echo(fd));
	}
	return 0;
}

static int port_listen(int port)
{
	struct sockaddr_in addr = echo_address(port);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&addr, sizeof(addr)))
		exit(echo_fail("bind"));
	if (listen(listener, BACKLOG))
		exit(echo_fail("listen"));
	return listener;
}

static int port_serve(int port, int connections, int (*start)(int listener))
{
	int listener = port_listen(port);

	for (int i = 0; i < connections; i++) {
		if (start(listener))
			return 1;
	}
	return await_children(connections);
}

/* Keeps the standard output open, so that its reader notices when the daemon ends. */
static int port_serve_as_daemon(int port, int connections)
{
	int listener = port_listen(port);

	if (daemon(1, 1))
		return echo_fail("daemon");
	for (int i = 0; i < connections; i++) {
		if (start_worker(listener))
			return 1;
	}
	return await_children(connections);
}

static uint8_t byte_at(int connection, size_t offset)
{
	return connection * 31 + offset + (offset >> 8) * 7;
}

static int connect_one(int port)
{
	struct sockaddr_in addr = echo_address(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int bytes_exchange(int fd, int connection, size_t offset, size_t size)
{
	uint8_t out[PIECE], in[PIECE];

	for (size_t i = 0; i < size; i++)
		out[i] = byte_at(connection, offset + i);
	if (write_all(fd, out, size) || read_all(fd, in, size))
		return 1;
	if (!memcmp(in, out, size))
		return 0;
	fprintf(stderr, "connection %d: other bytes came back at %zu\n", connection, offset);
	return 1;
}

/* A piece of each connection in turn, so that all children are busy at once. */
static int echo_ask(int port, int connections, size_t bytes)
{
	int fds[MAX_CONNECTIONS];
	size_t size;

	for (int i = 0; i < connections; i++) {
		fds[i] = connect_one(port);
		if (fds[i] < 0)
			return echo_fail("connect");
	}
	for (size_t offset = 0; offset < bytes; offset += size) {
		size = bytes - offset < PIECE ? bytes - offset : PIECE;
		for (int i = 0; i < connections; i++) {
			if (bytes_exchange(fds[i], i, offset, size))
				return 1;
		}
	}
	for (int i = 0; i < connections; i++)
		close(fds[i]);
	printf("%d connections, %zu bytes each, are the same\n", connections, bytes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return port_serve(atoi(argv[2]), atoi(argv[3]), start_child);
	if (argc == 4 && !strcmp(argv[1], "workers"))
		return port_serve(atoi(argv[2]), atoi(argv[3]), start_worker);
	if (argc == 4 && !strcmp(argv[1], "daemon"))
		return port_serve_as_daemon(atoi(argv[2]), atoi(argv[3]));
	if (argc == 5 && !strcmp(argv[1], "ask") && atoi(argv[3]) <= MAX_CONNECTIONS)
		return echo_ask(atoi(argv[2]), atoi(argv[3]), strtoul(argv[4], NULL, 0));
	fprintf(stderr,
		"usage: %s serve|workers|daemon PORT CONNECTIONS | ask PORT CONNECTIONS BYTES\n",
		argv[0]);
	return 2;
}
