/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * socket_calls.c - an ordinary program of sockets that makes each call by each of its names, those
 * of glibc's checked calls among them, and prints what came of it.
 *
 * It knows nothing of rsockets: run plainly and on librspreload it prints the same. What needs no
 * comparison it judges by itself ("is right"). socket-calls PORT [print]; with "print" it is the
 * other program of one check.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

enum { ROOM = 64, LIMIT_S = 120, LONG_MS = 60000, SIGNAL_US = 100000 };

/* What the compiler calls in place of read() and its kin, and names that glibc has besides. */
ssize_t __read_chk(int fd, void *buf, size_t count, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t count, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t count, size_t room, int flags,
		       struct sockaddr *from, socklen_t *len);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		const sigset_t *mask, size_t room);
int __close(int fd);
int __connect(int fd, const struct sockaddr *addr, socklen_t len);
int __dup2(int fd, int to);
int __fcntl(int fd, int cmd, ...);
int __poll(struct pollfd *fds, nfds_t count, int timeout);
ssize_t __read(int fd, void *buf, size_t count);
int __select(int limit, fd_set *read, fd_set *write, fd_set *except, struct timeval *timeout);
ssize_t __send(int fd, const void *buf, size_t count, int flags);
ssize_t __write(int fd, const void *buf, size_t count);

static struct sockaddr_in addr;
static int ends[2]; /* of one connection */

static void say_result(const char *name, long ret)
{
	if (ret < 0)
		printf("%s: %s\n", name, strerrorname_np(errno));
	else
		printf("%s: %ld\n", name, ret);
}

static void say_verdict(const char *name, bool is_right)
{
	printf("%s: %s\n", name, is_right ? "is right" : "IS WRONG");
}

static void *connect_to(void *name)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || __connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "connect");
	*(int *)name = fd;
	return NULL;
}

static int make_listener(void)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(listener, (struct sockaddr *)&addr, sizeof(addr)) || listen(listener, 1))
		err(1, "a listener");
	return listener;
}

static void make_ends(void)
{
	int listener = make_listener();
	pthread_t thread;

	if (pthread_create(&thread, NULL, connect_to, &ends[0]))
		errx(1, "no thread");
	ends[1] = accept(listener, NULL, NULL);
	if (ends[1] < 0)
		err(1, "accept");
	pthread_join(thread, NULL);
	close(listener);
}

/* ---- bytes ---- */

static char text[ROOM];

static struct msghdr *message(struct msghdr *msg, struct iovec *iov, void *bytes, size_t size)
{
	*iov = (struct iovec){ bytes, size };
	*msg = (struct msghdr){ .msg_iov = iov, .msg_iovlen = 1 };
	return msg;
}

static ssize_t by_write(int fd, size_t size)
{
	return write(fd, text, size);
}

static ssize_t by_write_internal(int fd, size_t size)
{
	return __write(fd, text, size);
}

static ssize_t by_send(int fd, size_t size)
{
	return send(fd, text, size, 0);
}

static ssize_t by_send_internal(int fd, size_t size)
{
	return __send(fd, text, size, 0);
}

static ssize_t by_sendto(int fd, size_t size)
{
	return sendto(fd, text, size, 0, NULL, 0);
}

static ssize_t by_writev(int fd, size_t size)
{
	const struct iovec iov = { text, size };

	return writev(fd, &iov, 1);
}

static ssize_t by_pwritev2(int fd, size_t size)
{
	const struct iovec iov = { text, size };

	return pwritev2(fd, &iov, 1, -1, 0);
}

static ssize_t by_pwritev64v2(int fd, size_t size)
{
	const struct iovec iov = { text, size };

	return pwritev64v2(fd, &iov, 1, -1, RWF_NOWAIT);
}

static ssize_t by_sendmsg(int fd, size_t size)
{
	struct msghdr msg;
	struct iovec iov;

	return sendmsg(fd, message(&msg, &iov, text, size), 0);
}

/* In two messages */
static ssize_t by_sendmmsg(int fd, size_t size)
{
	struct mmsghdr many[2] = { 0 };
	struct iovec iov[2];

	message(&many[0].msg_hdr, &iov[0], text, 3);
	message(&many[1].msg_hdr, &iov[1], text + 3, size - 3);
	return sendmmsg(fd, many, 2, 0) == 2 ? (ssize_t)(many[0].msg_len + many[1].msg_len) : -1;
}

static int file_of_text(size_t size)
{
	int file = memfd_create("text", MFD_CLOEXEC);

	if (file < 0 || write(file, text, size) != (ssize_t)size || lseek(file, 0, SEEK_SET))
		err(1, "a file");
	return file;
}

static ssize_t by_sendfile(int fd, size_t size)
{
	int file = file_of_text(size);
	ssize_t sent = sendfile(fd, file, NULL, size);

	close(file);
	return sent;
}

static ssize_t by_sendfile64(int fd, size_t size)
{
	int file = file_of_text(size);
	off64_t at = 0;
	ssize_t sent = sendfile64(fd, file, &at, size);

	close(file);
	return sent;
}

/* As programs do it: what does not splice is copied. */
static ssize_t by_splice(int fd, size_t size)
{
	int pipe_ends[2];
	ssize_t sent;

	if (pipe(pipe_ends) || write(pipe_ends[1], text, size) != (ssize_t)size)
		err(1, "a pipe");
	sent = splice(pipe_ends[0], NULL, fd, NULL, size, 0);
	if (sent < 0 && errno == EINVAL)
		sent = write(fd, text, size);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	return sent;
}

static ssize_t by_read(int fd, char *bytes)
{
	return read(fd, bytes, ROOM);
}

static ssize_t by_read_internal(int fd, char *bytes)
{
	return __read(fd, bytes, ROOM);
}

static ssize_t by_read_chk(int fd, char *bytes)
{
	return __read_chk(fd, bytes, ROOM, ROOM);
}

static ssize_t by_recv(int fd, char *bytes)
{
	return recv(fd, bytes, ROOM, 0);
}

static ssize_t by_recv_chk(int fd, char *bytes)
{
	return __recv_chk(fd, bytes, ROOM, ROOM, 0);
}

static ssize_t by_recvfrom(int fd, char *bytes)
{
	return recvfrom(fd, bytes, ROOM, 0, NULL, NULL);
}

static ssize_t by_recvfrom_chk(int fd, char *bytes)
{
	return __recvfrom_chk(fd, bytes, ROOM, ROOM, 0, NULL, NULL);
}

static ssize_t by_readv(int fd, char *bytes)
{
	const struct iovec iov = { bytes, ROOM };

	return readv(fd, &iov, 1);
}

static ssize_t by_preadv2(int fd, char *bytes)
{
	const struct iovec iov = { bytes, ROOM };

	return preadv2(fd, &iov, 1, -1, 0);
}

static ssize_t by_preadv64v2(int fd, char *bytes)
{
	const struct iovec iov = { bytes, ROOM };

	return preadv64v2(fd, &iov, 1, -1, RWF_NOWAIT);
}

static ssize_t by_recvmsg(int fd, char *bytes)
{
	struct msghdr msg;
	struct iovec iov;

	return recvmsg(fd, message(&msg, &iov, bytes, ROOM), 0);
}

/* The second message would be waited for without the flag. */
static ssize_t by_recvmmsg(int fd, char *bytes)
{
	struct timespec time = { LONG_MS / 1000, 0 };
	struct mmsghdr many[2] = { 0 };
	struct iovec iov[2];

	message(&many[0].msg_hdr, &iov[0], bytes, ROOM);
	message(&many[1].msg_hdr, &iov[1], bytes, ROOM);
	return recvmmsg(fd, many, 2, MSG_WAITFORONE, &time) == 1 ? (ssize_t)many[0].msg_len : -1;
}

static const struct writer {
	const char *name;
	ssize_t (*call)(int fd, size_t size);
} writers[] = {
	{ "write", by_write },       { "__write", by_write_internal },
	{ "send", by_send },         { "__send", by_send_internal },
	{ "sendto", by_sendto },     { "writev", by_writev },
	{ "pwritev2", by_pwritev2 }, { "pwritev64v2", by_pwritev64v2 },
	{ "sendmsg", by_sendmsg },   { "sendmmsg", by_sendmmsg },
	{ "sendfile", by_sendfile }, { "sendfile64", by_sendfile64 },
	{ "splice", by_splice },
};

static const struct reader {
	const char *name;
	ssize_t (*call)(int fd, char *bytes);
} readers[] = {
	{ "read", by_read },
	{ "__read", by_read_internal },
	{ "__read_chk", by_read_chk },
	{ "recv", by_recv },
	{ "__recv_chk", by_recv_chk },
	{ "recvfrom", by_recvfrom },
	{ "__recvfrom_chk", by_recvfrom_chk },
	{ "readv", by_readv },
	{ "preadv2", by_preadv2 },
	{ "preadv64v2", by_preadv64v2 },
	{ "recvmsg", by_recvmsg },
	{ "recvmmsg", by_recvmmsg },
};

/* What was sent in one call or two has come as a whole. */
static void await_bytes(int fd, int size)
{
	int count = 0;

	while (!ioctl(fd, FIONREAD, &count) && count < size)
		usleep(1000);
}

static void move_bytes(void)
{
	const struct writer *writer;
	const struct reader *reader;
	char bytes[ROOM];
	int size;

	for (size_t i = 0; i < ARRAY_SIZE(writers) * ARRAY_SIZE(readers); i++) {
		writer = &writers[i % ARRAY_SIZE(writers)];
		reader = &readers[i / ARRAY_SIZE(writers)];
		memset(bytes, 0, sizeof(bytes));
		size = snprintf(text, sizeof(text), "%s to %s", writer->name, reader->name);
		say_result(writer->name, writer->call(ends[i & 1], size));
		await_bytes(ends[!(i & 1)], size);
		say_result(reader->name, reader->call(ends[!(i & 1)], bytes));
		printf("%s\n", bytes);
	}
}

/* ---- waiting ---- */

static int set_of; /* an epoll set that has the descriptor */

static int one_event(int ret, const struct pollfd *fd)
{
	return ret <= 0 ? ret : fd->revents;
}

static struct timespec time_of(int ms)
{
	return (struct timespec){ ms / 1000, ms % 1000 * 1000000L };
}

static int by_poll(int fd, int ms, const sigset_t *mask)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	(void)mask;
	return one_event(poll(&one, 1, ms), &one);
}

static int by_poll_internal(int fd, int ms, const sigset_t *mask)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	(void)mask;
	return one_event(__poll(&one, 1, ms), &one);
}

static int by_poll_chk(int fd, int ms, const sigset_t *mask)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	(void)mask;
	return one_event(__poll_chk(&one, 1, ms, sizeof(one)), &one);
}

static int by_ppoll(int fd, int ms, const sigset_t *mask)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	const struct timespec time = time_of(ms);

	return one_event(ppoll(&one, 1, &time, mask), &one);
}

static int by_ppoll_chk(int fd, int ms, const sigset_t *mask)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };
	const struct timespec time = time_of(ms);

	return one_event(__ppoll_chk(&one, 1, &time, mask, sizeof(one)), &one);
}

static int by_select(int fd, int ms, const sigset_t *mask)
{
	struct timeval time = { ms / 1000, ms % 1000 * 1000 };
	fd_set set;

	(void)mask;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &time);
}

static int by_select_internal(int fd, int ms, const sigset_t *mask)
{
	struct timeval time = { ms / 1000, ms % 1000 * 1000 };
	fd_set set;

	(void)mask;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	return __select(fd + 1, &set, NULL, NULL, &time);
}

static int by_pselect(int fd, int ms, const sigset_t *mask)
{
	const struct timespec time = time_of(ms);
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return pselect(fd + 1, &set, NULL, NULL, &time, mask);
}

static int by_epoll_wait(int fd, int ms, const sigset_t *mask)
{
	struct epoll_event event;
	int ret = epoll_wait(set_of, &event, 1, ms);

	(void)fd, (void)mask;
	return ret <= 0 ? ret : (int)event.events;
}

static int by_epoll_pwait(int fd, int ms, const sigset_t *mask)
{
	struct epoll_event event;
	int ret = epoll_pwait(set_of, &event, 1, ms, mask);

	(void)fd;
	return ret <= 0 ? ret : (int)event.events;
}

/* glibc has it since 2.35. */
#if __GLIBC_PREREQ(2, 35)
static int by_epoll_pwait2(int fd, int ms, const sigset_t *mask)
{
	const struct timespec time = time_of(ms);
	struct epoll_event event;
	int ret = epoll_pwait2(set_of, &event, 1, &time, mask);

	(void)fd;
	return ret <= 0 ? ret : (int)event.events;
}
#endif

static const struct waiter {
	const char *name;
	int (*call)(int fd, int ms, const sigset_t *mask);
	bool takes_mask;
} waiters[] = {
	{ "poll", by_poll, false },
	{ "__poll", by_poll_internal, false },
	{ "__poll_chk", by_poll_chk, false },
	{ "ppoll", by_ppoll, true },
	{ "__ppoll_chk", by_ppoll_chk, true },
	{ "select", by_select, false },
	{ "__select", by_select_internal, false },
	{ "pselect", by_pselect, true },
	{ "epoll_wait", by_epoll_wait, false },
	{ "epoll_pwait", by_epoll_pwait, true },
#if __GLIBC_PREREQ(2, 35)
	{ "epoll_pwait2", by_epoll_pwait2, true },
#endif
};

static void wait_for_bytes(const struct waiter *waiter)
{
	char bytes[ROOM];

	say_result(waiter->name, waiter->call(ends[1], 0, NULL));
	say_result(waiter->name, waiter->call(ends[1], 2, NULL));
	say_result("write", write(ends[0], "word", 4));
	say_result(waiter->name, waiter->call(ends[1], LONG_MS, NULL));
	say_result("read", read(ends[1], bytes, ROOM));
	say_result(waiter->name, waiter->call(ends[1], 0, NULL));
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* The thread has the signal blocked, as the one that has made it. */
static void *signal_soon(void *unused)
{
	usleep(SIGNAL_US);
	kill(getpid(), SIGUSR1);
	return unused;
}

/* A signal that is blocked but for the time of the call ends the call, be it there before. */
static void wait_for_signals(const struct waiter *waiter)
{
	sigset_t none, users, before;
	pthread_t thread;

	signals = 0;
	sigemptyset(&none);
	sigemptyset(&users);
	sigaddset(&users, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &users, &before);
	if (pthread_create(&thread, NULL, signal_soon, NULL))
		errx(1, "no thread");
	say_result(waiter->name, waiter->call(ends[1], LONG_MS, &none));
	pthread_join(thread, NULL);
	kill(getpid(), SIGUSR1);
	say_result(waiter->name, waiter->call(ends[1], LONG_MS, &none));
	kill(getpid(), SIGUSR1);
	say_result(waiter->name, waiter->call(ends[1], 0, &none));
	say_result("signals", signals);
	kill(getpid(), SIGUSR1);
	say_result(waiter->name,
		   waiter->call(ends[1], 0, NULL)); /* without a mask it stays blocked */
	say_result("signals", signals);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	say_result("signals", signals);
}

static void wait_by_all(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	const struct timespec wrong = { 0, 1000000000 };
	struct pollfd one = { .fd = ends[1] }, *volatile no_fds = NULL;

	signal(SIGUSR1, count_signal);
	set_of = epoll_create1(EPOLL_CLOEXEC);
	say_result("epoll_ctl", epoll_ctl(set_of, EPOLL_CTL_ADD, ends[1], &event));
	for (size_t i = 0; i < ARRAY_SIZE(waiters); i++) {
		wait_for_bytes(&waiters[i]);
		if (waiters[i].takes_mask)
			wait_for_signals(&waiters[i]);
	}
	say_result("ppoll", ppoll(&one, 1, &wrong, NULL));
	say_result("poll", poll(no_fds, 1, 0));
	say_result("epoll_create1", epoll_create1(EPOLL_CLOEXEC | 1));
	say_result("F_GETFD", fcntl(set_of, F_GETFD));
	say_result("epoll_pwait", epoll_pwait(-1, &event, 1, 0, NULL));
	say_result("epoll_pwait", epoll_pwait(set_of, &event, 0, 0, NULL));
}

static bool is_closed(int fd)
{
	return fcntl(fd, F_GETFD) < 0 && errno == EBADF;
}

static void copy_numbers(void)
{
	enum { FIRST = 100 };
	char bytes[ROOM];

	say_result("dup3", dup3(ends[0], FIRST, O_CLOEXEC));
	say_result("F_GETFD", __fcntl(FIRST, F_GETFD));
	say_result("dup3", dup3(ends[0], ends[0], 0));
	say_result("dup3", dup3(-1, FIRST, 0));
	say_result("dup2", dup2(-1, FIRST));
	say_result("write", write(FIRST, "copy", 4));
	say_result("read", read(ends[1], bytes, ROOM));
	say_result("__dup2", __dup2(ends[0], FIRST + 1));
	say_result("dup2", dup2(0, FIRST + 2));
	say_result("F_DUPFD", __fcntl(ends[0], F_DUPFD, FIRST + 3));
	say_result("close_range", close_range(FIRST + 1, FIRST, 0));
	say_result("close_range", close_range(FIRST, FIRST, CLOSE_RANGE_CLOEXEC));
	say_result("write", write(FIRST, "copy", 4));
	say_result("read", read(ends[1], bytes, ROOM));
	say_result("close_range", close_range(FIRST, FIRST + 2, 0));
	say_verdict("close_range",
		    is_closed(FIRST) && is_closed(FIRST + 1) && is_closed(FIRST + 2));
	say_result("write", write(FIRST + 3, "copy", 4));
	say_result("read", read(ends[1], bytes, ROOM));
	say_result("__close", __close(FIRST + 3));
	say_result("__close", __close(FIRST + 3));
	say_result("write", write(ends[0], "end", 3));
	say_result("read", read(ends[1], bytes, ROOM));
}

/* The time that is left is what Linux' select() leaves in its last argument. */
static void select_again(void)
{
	enum { LONG_S = 1000 };
	struct timeval time = { LONG_S, 0 };
	char bytes[ROOM];
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[1], &set);
	say_result("write", write(ends[0], "word", 4));
	say_result("select", select(ends[1] + 1, &set, NULL, NULL, &time));
	say_verdict("time left", time.tv_sec <= LONG_S && time.tv_sec > LONG_S / 2);
	say_result("read", read(ends[1], bytes, ROOM));
	time = (struct timeval){ 0, 5000 };
	say_result("select", select(ends[1] + 1, &set, NULL, NULL, &time));
	say_verdict("time left", !time.tv_sec && !time.tv_usec);
}

/* A closed descriptor among those that select() waits for */
static void select_closed(void)
{
	enum { CLOSED = 90 };
	const struct timespec no_time = { 0, 0 };
	struct timeval none = { 0, 0 };
	fd_set set, kept;

	FD_ZERO(&set);
	FD_SET(ends[1], &set);
	FD_SET(CLOSED, &set);
	kept = set;
	say_result("select", select(CLOSED + 1, &set, NULL, NULL, &none));
	say_result("pselect", pselect(CLOSED + 1, &kept, NULL, NULL, &no_time, NULL));
}

static void count_bytes(void)
{
	char bytes[ROOM];
	int count = -1;

	say_result("FIONREAD", ioctl(ends[1], FIONREAD, &count));
	say_result("bytes", count);
	say_result("write", write(ends[0], "12345", 5));
	await_bytes(ends[1], 5);
	say_result("FIONREAD", ioctl(ends[1], FIONREAD, &count));
	say_result("bytes", count);
	say_result("read", read(ends[1], bytes, 2));
	say_result("FIONREAD", ioctl(ends[1], FIONREAD, &count));
	say_result("bytes", count);
	say_result("read", read(ends[1], bytes, ROOM));
}

/* ---- stdio ---- */

int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);

static int print_by_list(int fd, bool is_checked, const char *format, ...)
{
	va_list args;
	int ret;

	va_start(args, format);
	ret = is_checked ? __vdprintf_chk(fd, 1, format, args) : vdprintf(fd, format, args);
	va_end(args);
	return ret;
}

static void say_text(int size)
{
	char bytes[ROOM] = { 0 };

	await_bytes(ends[1], size);
	say_result("read", read(ends[1], bytes, ROOM));
	printf("%s", bytes);
}

/* A file for each way, as a socket is one that cannot seek. */
static void use_stdio(void)
{
	FILE *in = fdopen(dup(ends[1]), "r"), *out = fdopen(dup(ends[0]), "w");
	char line[ROOM] = { 0 };

	say_verdict("fdopen", in && out);
	say_verdict("fileno",
		    fileno(out) >= 0 && fileno(out) != ends[0] && fileno_unlocked(in) >= 0);
	say_verdict("fileno", fileno(stdin) == 0);
	say_result("fprintf", fprintf(out, "%d lines\n%s\n", 2, "the second"));
	say_result("bytes", fcntl(fileno(out), F_GETFD));
	say_result("fflush", fflush(out));
	say_verdict("fgets", fgets(line, ROOM, in) == line);
	printf("%s", line);
	say_verdict("fgets", fgets(line, ROOM, in) == line);
	printf("%s", line);
	say_result("fseek", fseek(out, 0, SEEK_SET));
	say_result("write", write(fileno(out), "by number\n", 10));
	say_text(10);
	say_result("dprintf", dprintf(ends[0], "%s\n", "dprintf"));
	say_text(8);
	say_result("vdprintf", print_by_list(ends[0], false, "%s\n", "vdprintf"));
	say_text(9);
	say_result("__vdprintf_chk", print_by_list(ends[0], true, "%s\n", "checked"));
	say_text(8);
	say_result("__dprintf_chk", __dprintf_chk(ends[0], 1, "%s\n", "checked"));
	say_text(8);
	say_result("fclose", fclose(out));
	say_result("fclose", fclose(in));
	say_verdict("fdopen", !fdopen(ends[0], "x") && errno == EINVAL);
	say_verdict("fdopen", !fdopen(-1, "r") && errno == EBADF);
}

/* The other program: it leaves it to exit() to write what its file has, and to close the socket. */
static int print_and_end(void)
{
	FILE *out;
	int fd;

	connect_to(&fd);
	out = fdopen(fd, "w");
	return out && fprintf(out, "printed at the end\n") > 0 ? 0 : 1;
}

static void read_what_is_printed_at_the_end(char *port)
{
	char *arguments[] = { "socket-calls", port, "print", NULL }, bytes[ROOM] = { 0 };
	int listener = make_listener(), fd, status = -1;
	pid_t child;

	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ))
		errx(1, "no other program");
	fd = accept(listener, NULL, NULL);
	say_result("recv", recv(fd, bytes, ROOM, MSG_WAITALL));
	printf("%s", bytes);
	waitpid(child, &status, 0);
	say_result("status", status);
	close(fd);
	close(listener);
}

static void use_as_file(void)
{
	struct iovec iov = { text, 1 };

	say_result("lseek", lseek(ends[0], 0, SEEK_CUR));
	say_result("pread", pread(ends[0], text, 1, 0));
	say_result("pwrite", pwrite(ends[0], text, 1, 0));
	say_result("preadv", preadv(ends[0], &iov, 1, 0));
	say_result("preadv2", preadv2(ends[0], &iov, 1, 0, 0));
	say_result("pwritev2", pwritev2(ends[0], &iov, 1, 0, 0));
	say_result("ftruncate", ftruncate(ends[0], 0));
}

/* A checked call ends a program whose buffer is too small. */
static void ask_for_too_much(void)
{
	char bytes[ROOM];
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		signal(SIGABRT, SIG_DFL);
		__recv_chk(ends[1], bytes, ROOM + 1, ROOM, MSG_DONTWAIT);
		_exit(0);
	}
	waitpid(child, &status, 0);
	say_verdict("__recv_chk", WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static const struct asking {
	const char *name;
	int level, option;
} askings[] = {
	{ "IP_PKTINFO", IPPROTO_IP, IP_PKTINFO },
	{ "IP_RECVTTL", IPPROTO_IP, IP_RECVTTL },
	{ "IP_RECVTOS", IPPROTO_IP, IP_RECVTOS },
	{ "SO_TIMESTAMP", SOL_SOCKET, SO_TIMESTAMP },
	{ "SO_TIMESTAMPNS", SOL_SOCKET, SO_TIMESTAMPNS },
};

static const struct asking askings_6[] = {
	{ "IPV6_RECVPKTINFO", IPPROTO_IPV6, IPV6_RECVPKTINFO },
	{ "IPV6_RECVHOPLIMIT", IPPROTO_IPV6, IPV6_RECVHOPLIMIT },
	{ "IPV6_RECVTCLASS", IPPROTO_IPV6, IPV6_RECVTCLASS },
	{ "SO_TIMESTAMP", SOL_SOCKET, SO_TIMESTAMP },
};

static bool control_comes(int fd)
{
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	char bytes[ROOM], control[256];
	struct iovec iov = { bytes, ROOM };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control,
			      .msg_controllen = sizeof(control) };

	return !getsockname(fd, (struct sockaddr *)&name, &len) &&
	       sendto(fd, "word", 4, 0, (struct sockaddr *)&name, len) == 4 &&
	       recvmsg(fd, &msg, 0) == 4 && msg.msg_controllen;
}

/* A socket has what it was asked for, or says that it has not. */
static void ask_for_control(int family, const struct asking *asking)
{
	struct sockaddr_in6 name = { .sin6_family = family };
	int fd = socket(family, SOCK_DGRAM, 0), on = 1, off = 0;

	if (family == AF_INET6)
		name.sin6_addr = in6addr_loopback;
	else
		((struct sockaddr_in *)&name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name,
			   family == AF_INET6 ? sizeof(name) : sizeof(struct sockaddr_in)))
		err(1, "a datagram socket");
	say_verdict(asking->name, setsockopt(fd, asking->level, asking->option, &on, sizeof(on))
					  ? errno == EOPNOTSUPP
					  : control_comes(fd));
	say_verdict("off", !setsockopt(fd, asking->level, asking->option, &off, sizeof(off)));
	close(fd);
}

static void end_all(void)
{
	char bytes[ROOM];

	closefrom((ends[0] > ends[1] ? ends[0] : ends[1]) + 1);
	say_result("read", recv(ends[1], bytes, ROOM, MSG_DONTWAIT));
	close_range(ends[0], ends[0], 0);
	say_result("read", read(ends[1], bytes, ROOM));
	closefrom(3);
	say_verdict("closefrom", is_closed(ends[0]) && is_closed(ends[1]));
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		errx(2, "usage: socket-calls PORT [print]");
	alarm(LIMIT_S);
	setvbuf(stdout, NULL, _IOLBF, 0);
	addr = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(atoi(argv[1])) };
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (argc == 3)
		return print_and_end();
	make_ends();
	move_bytes();
	wait_by_all();
	copy_numbers();
	select_again();
	select_closed();
	count_bytes();
	use_stdio();
	read_what_is_printed_at_the_end(argv[1]);
	use_as_file();
	ask_for_too_much();
	for (size_t i = 0; i < ARRAY_SIZE(askings); i++)
		ask_for_control(AF_INET, &askings[i]);
	for (size_t i = 0; i < ARRAY_SIZE(askings_6); i++)
		ask_for_control(AF_INET6, &askings_6[i]);
	end_all();
	printf("every call was made\n");
	return 0;
}
