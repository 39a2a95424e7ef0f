/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bytes.c - steps that move bytes. Each end sends the same pattern, so the receiver knows which
 * bytes have to come.
 *
 * Covers: librdmacm/rsocket/io.c, librdmacm/rsocket/stream/io.c, librdmacm/rsocket/dgram/io.c,
 * librdmacm/rsocket/span.c
 */
#include "steps.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* QUIET_MS: TCP asks a full receiver after 200 ms, and again 400 ms later; both can make room */
enum { MOST_BYTES = 16 << 20, PIECE = 4096, QUIET_MS = 1000 };

static uint8_t pattern_at(uint32_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8));
}

static uint8_t *pattern(uint32_t offset, size_t size)
{
	uint8_t *bytes = malloc(size + 1);

	MUST(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = pattern_at(offset + i);
	return bytes;
}

static bool is_pattern(const uint8_t *bytes, uint32_t offset, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != pattern_at(offset + i))
			return false;
	}
	return true;
}

static int flags_of(const struct step *step, int word)
{
	static const struct {
		const char *name;
		int flag;
	} names[] = {
		{ "dontwait", MSG_DONTWAIT },
		{ "peek", MSG_PEEK },
		{ "waitall", MSG_WAITALL },
		{ "nosignal", MSG_NOSIGNAL },
		{ "trunc", MSG_TRUNC },
		{ "more", MSG_MORE },
		{ "oob", MSG_OOB },
		{ "errqueue", MSG_ERRQUEUE },
		{ "dontroute", MSG_DONTROUTE },
	};
	int flags = 0;

	for (; step->words[word]; word++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(step->words[word], names[i].name))
				flags |= names[i].flag;
	return flags;
}

/* Counts all bytes as sent before the call, because the peer may receive them during it. */
static ssize_t send_pattern(struct end *end, size_t size, int flags)
{
	uint8_t *bytes = pattern(end->sent, size);
	ssize_t ret;
	int error;

	__atomic_add_fetch(&end->sent, size, __ATOMIC_RELAXED);
	ret = CALL(send, end->fd, bytes, size, flags);
	error = errno;
	__atomic_sub_fetch(&end->sent, size - (ret > 0 ? ret : 0), __ATOMIC_RELAXED);
	free(bytes);
	errno = error;
	return ret;
}

/* send A SIZE [FLAG...]; does not print how many of very many bytes were sent */
static void run_send(struct step *step)
{
	int size = step_number(step, 2, 0);
	ssize_t ret = send_pattern(end_find(step->words[1]), size, flags_of(step, 3));

	MUST(size <= MOST_BYTES);
	if (ret > 0 && ret < size)
		step_say(step, "a part");
	else
		step_say_result(step, ret);
}

static void run_write(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	uint8_t *bytes = pattern(end->sent, step_number(step, 2, 0));
	ssize_t ret = CALL(write, end->fd, bytes, step_number(step, 2, 0));

	step_say_result(step, ret);
	if (ret > 0)
		end->sent += ret;
	free(bytes);
}

/* writev A COUNT SIZE: COUNT pieces of SIZE bytes */
static void run_writev(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	int count = step_number(step, 2, 0), size = step_number(step, 3, 0);
	uint8_t *bytes = pattern(end->sent, (size_t)(count < 0 ? 0 : count) * size);
	struct iovec *iov = calloc((count < 0 ? 0 : count) + 1, sizeof(*iov));
	ssize_t ret;

	for (int i = 0; i < count; i++)
		iov[i] = (struct iovec){ bytes + i * size, size };
	ret = CALL(writev, end->fd, iov, count);
	step_say_result(step, ret);
	if (ret > 0)
		end->sent += ret;
	free(iov);
	free(bytes);
}

/* sendto A ADDRESS SIZE [FLAG...], ADDRESS being an end, or "none" */
static void run_sendto(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	struct sockaddr_in addr = { 0 };
	socklen_t len = sizeof(addr);
	uint8_t *bytes = pattern(0, step_number(step, 3, 0));
	bool none = !strcmp(step->words[2], "none");
	ssize_t ret;

	if (!none)
		MUST(!CALL(getsockname, end_find(step->words[2])->fd, (struct sockaddr *)&addr,
			   &len));
	if (!none && addr.sin_addr.s_addr == htonl(INADDR_ANY))
		addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ret = CALL(sendto, end->fd, bytes, step_number(step, 3, 0), flags_of(step, 4),
		   none ? NULL : (struct sockaddr *)&addr, none ? 0 : len);
	step_say_result(step, ret);
	free(bytes);
}

/* fill A: sends until nothing more fits */
static void run_fill(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	int idle = 0;

	/* waits for a while, as bytes under way make room when they have arrived */
	while (idle < QUIET_MS) {
		if (send_pattern(end, PIECE, MSG_DONTWAIT) > 0)
			idle = 0;
		else if (errno != EAGAIN)
			break;
		else
			idle += !usleep(1000);
	}
	step_say(step, "%s", idle ? say_errno(EAGAIN) : say_errno(errno));
}

static void say_received(struct step *step, struct end *end, const uint8_t *bytes, ssize_t ret,
			 size_t size, bool is_taken)
{
	step_say_result(step, ret);
	if (ret <= 0)
		return;
	if (!is_pattern(bytes, end->received, (size_t)ret < size ? (size_t)ret : size))
		step_say(step, " wrong");
	if (is_taken)
		end->received += ret;
}

/* recv A SIZE [FLAG...] */
static void run_recv(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	size_t size = step_number(step, 2, 0);
	int flags = flags_of(step, 3);
	uint8_t *bytes = calloc(1, size + 1);
	ssize_t ret = CALL(recv, end->fd, bytes, size, flags);

	/* ignores bytes that MSG_TRUNC has discarded */
	say_received(step, end, bytes, ret, flags & MSG_TRUNC ? 0 : size, !(flags & MSG_PEEK));
	free(bytes);
}

static void run_read(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	size_t size = step_number(step, 2, 0);
	uint8_t *bytes = calloc(1, size + 1);

	say_received(step, end, bytes, CALL(read, end->fd, bytes, size), size, true);
	free(bytes);
}

/* readv A COUNT SIZE */
static void run_readv(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	int count = step_number(step, 2, 0), size = step_number(step, 3, 0);
	uint8_t *bytes = calloc(1, (size_t)(count < 0 ? 0 : count) * size + 1);
	struct iovec *iov = calloc((count < 0 ? 0 : count) + 1, sizeof(*iov));

	for (int i = 0; i < count; i++)
		iov[i] = (struct iovec){ bytes + i * size, size };
	say_received(step, end, bytes, CALL(readv, end->fd, iov, count),
		     (size_t)(count < 0 ? 0 : count) * size, true);
	free(iov);
	free(bytes);
}

static const char *end_at_port(in_port_t port)
{
	struct sockaddr_in addr;
	socklen_t len;

	for (int i = 0; end_at(i); i++) {
		len = sizeof(addr);
		if (end_at(i)->fd >= 0 &&
		    !CALL(getsockname, end_at(i)->fd, (struct sockaddr *)&addr, &len) &&
		    addr.sin_port == port)
			return end_at(i)->name;
	}
	return "a stranger";
}

/* recvmsg A SIZE [FLAG...]: prints a datagram, its sender and msg_flags */
static void run_recvmsg(struct step *step)
{
	struct sockaddr_in from = { 0 };
	size_t size = step_number(step, 2, 0);
	uint8_t *bytes = calloc(1, size + 1);
	struct iovec iov = { bytes, size };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1
	};
	ssize_t ret = CALL(recvmsg, end_find(step->words[1])->fd, &msg, flags_of(step, 3));

	step_say_result(step, ret);
	if (ret >= 0)
		step_say(step, "%s from %s%s",
			 is_pattern(bytes, 0, (size_t)ret < size ? (size_t)ret : size) ? ""
										       : " wrong",
			 msg.msg_namelen ? end_at_port(from.sin_port) : "nobody",
			 msg.msg_flags & MSG_TRUNC ? ", truncated" : "");
	free(bytes);
}

/* drain B A: receives everything that A has sent, and prints how that ends */
static void run_drain(struct step *step)
{
	struct end *end = end_find(step->words[1]), *from = end_find(step->words[2]);
	uint8_t bytes[PIECE];
	ssize_t ret = 1;

	while (ret > 0 && end->received != __atomic_load_n(&from->sent, __ATOMIC_RELAXED)) {
		ret = CALL(recv, end->fd, bytes, sizeof(bytes), 0);
		if (ret > 0 && !is_pattern(bytes, end->received, ret))
			step_say(step, "wrong ");
		if (ret > 0)
			end->received += ret;
	}
	if (end->received == from->sent)
		step_say(step, "all");
	else
		step_say_result(step, ret);
}

/* upto B: receives until the end of the stream or an error, and prints which; not how much */
static void run_upto(struct step *step)
{
	struct end *end = end_find(step->words[1]);
	uint8_t bytes[PIECE];
	ssize_t ret;

	do
		ret = CALL(recv, end->fd, bytes, sizeof(bytes), 0);
	while (ret > 0);
	step_say_result(step, ret);
}

const struct command byte_commands[] = {
	{ "drain", run_drain }, { "fill", run_fill },     { "read", run_read },
	{ "readv", run_readv }, { "recv", run_recv },     { "recvmsg", run_recvmsg },
	{ "send", run_send },   { "sendto", run_sendto }, { "upto", run_upto },
	{ "write", run_write }, { "writev", run_writev }, { NULL, NULL },
};
