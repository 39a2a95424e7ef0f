/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pwait_echo.c - an ordinary program of sockets that waits by epoll_pwait(), as those of libuv do:
 * a thread sends back what the other one sends. pwait-echo PORT.
 */
#include <arpa/inet.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 200000, LIMIT_S = 30 };

static struct sockaddr_in addr;

static int set_with(int fd)
{
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(EPOLL_CLOEXEC);

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event))
		err(1, "a set");
	return set;
}

static void await_one(int set)
{
	struct epoll_event event;

	if (epoll_pwait(set, &event, 1, -1, NULL) != 1)
		err(1, "epoll_pwait");
}

static void send_all(int fd, const char *bytes, size_t size)
{
	ssize_t sent;

	for (; size; bytes += sent, size -= sent) {
		sent = send(fd, bytes, size, 0);
		if (sent <= 0)
			err(1, "send");
	}
}

static void *send_back(void *argument)
{
	int listener = *(int *)argument, fd, set = set_with(listener);
	char bytes[4096];
	ssize_t got;

	await_one(set);
	close(set);
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		err(1, "accept");
	set = set_with(fd);
	for (;;) {
		await_one(set);
		got = recv(fd, bytes, sizeof(bytes), 0);
		if (got <= 0)
			break;
		send_all(fd, bytes, got);
	}
	close(set);
	close(fd);
	return NULL;
}

static int listen_at(void)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 1))
		err(1, "a listener");
	return listener;
}

/* Sends only as many bytes at a time as both sides buffer: if more were in flight, both would wait
 * for room, and neither would read. */
static void exchange_bytes(int fd, const char *bytes)
{
	int set = set_with(fd);
	char back[4096];
	size_t done = 0, ahead = 0;
	ssize_t got;

	while (done < SIZE) {
		if (ahead == done) {
			ahead += SIZE - done < sizeof(back) ? SIZE - done : sizeof(back);
			send_all(fd, bytes + done, ahead - done);
		}
		await_one(set);
		got = recv(fd, back, ahead - done, 0);
		if (got <= 0 || memcmp(back, bytes + done, got))
			errx(1, "other bytes come back");
		done += got;
	}
	close(set);
}

int main(int argc, char **argv)
{
	static char bytes[SIZE];
	pthread_t thread;
	int listener, fd;

	if (argc != 2)
		errx(2, "usage: pwait-echo PORT");
	alarm(LIMIT_S);
	for (int i = 0; i < SIZE; i++)
		bytes[i] = (char)(i * 7 + i / 251);
	addr = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = listen_at();
	if (pthread_create(&thread, NULL, send_back, &listener))
		errx(1, "no thread");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connect");
	exchange_bytes(fd, bytes);
	close(fd);
	pthread_join(thread, NULL);
	close(listener);
	printf("%d bytes came back\n", SIZE);
	return 0;
}
