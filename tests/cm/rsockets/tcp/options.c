/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * options.c - steps about options and flags, and about calls with a limit of time.
 *
 * Covers: librdmacm/rsocket/options.c, librdmacm/rsocket/rs.c
 */
#include "steps.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const struct option {
	const char *name;
	int level, number;
} options[] = {
	{ "sndbuf", SOL_SOCKET, SO_SNDBUF },
	{ "rcvbuf", SOL_SOCKET, SO_RCVBUF },
	{ "reuseaddr", SOL_SOCKET, SO_REUSEADDR },
	{ "reuseport", SOL_SOCKET, SO_REUSEPORT },
	{ "keepalive", SOL_SOCKET, SO_KEEPALIVE },
	{ "oobinline", SOL_SOCKET, SO_OOBINLINE },
	{ "broadcast", SOL_SOCKET, SO_BROADCAST },
	{ "error", SOL_SOCKET, SO_ERROR },
	{ "type", SOL_SOCKET, SO_TYPE },
	{ "domain", SOL_SOCKET, SO_DOMAIN },
	{ "protocol", SOL_SOCKET, SO_PROTOCOL },
	{ "acceptconn", SOL_SOCKET, SO_ACCEPTCONN },
	{ "linger", SOL_SOCKET, SO_LINGER },
	{ "rcvtimeo", SOL_SOCKET, SO_RCVTIMEO },
	{ "sndtimeo", SOL_SOCKET, SO_SNDTIMEO },
	{ "rcvlowat", SOL_SOCKET, SO_RCVLOWAT },
	{ "priority", SOL_SOCKET, SO_PRIORITY },
	{ "nodelay", IPPROTO_TCP, TCP_NODELAY },
	{ "cork", IPPROTO_TCP, TCP_CORK },
	{ "quickack", IPPROTO_TCP, TCP_QUICKACK },
	{ "keepidle", IPPROTO_TCP, TCP_KEEPIDLE },
	{ "keepintvl", IPPROTO_TCP, TCP_KEEPINTVL },
	{ "keepcnt", IPPROTO_TCP, TCP_KEEPCNT },
	{ "user_timeout", IPPROTO_TCP, TCP_USER_TIMEOUT },
	{ "tos", IPPROTO_IP, IP_TOS },
	{ "ttl", IPPROTO_IP, IP_TTL },
	{ "unknown", SOL_SOCKET, 9999 },
	{ "level", 9999, 1 },
};

static const struct option *option_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (!strcmp(options[i].name, name))
			return &options[i];
	}
	MUST(!"there is such an option");
	return NULL;
}

/* set-option A OPTION VALUE [LENGTH] */
static void run_set_option(struct step *step)
{
	const struct option *option = option_find(step->words[2]);
	int value[4] = { step_number(step, 3, 0) };

	step_say_result(step, CALL(setsockopt, end_find(step->words[1])->fd, option->level,
				   option->number, value, step_number(step, 4, sizeof(int))));
}

/* get-option A OPTION [LENGTH]: the value as an int, and its length */
static void run_get_option(struct step *step)
{
	const struct option *option = option_find(step->words[2]);
	int value[4] = { 0 };
	socklen_t len = step_number(step, 3, sizeof(int));
	int ret = CALL(getsockopt, end_find(step->words[1])->fd, option->level, option->number,
		       value, &len);

	step_say_result(step, ret);
	if (!ret)
		step_say(step, " %d of %u bytes", value[0], len);
}

static void run_error(struct step *step)
{
	int error = 0;
	socklen_t len = sizeof(error);

	MUST(!CALL(getsockopt, end_find(step->words[1])->fd, SOL_SOCKET, SO_ERROR, &error, &len));
	step_say(step, "%s", say_errno(error));
}

/* linger A ON SECONDS */
static void run_linger(struct step *step)
{
	const struct linger linger = { step_number(step, 2, 0), step_number(step, 3, 0) };

	step_say_result(step, CALL(setsockopt, end_find(step->words[1])->fd, SOL_SOCKET, SO_LINGER,
				   &linger, sizeof(linger)));
}

/* limit A rcvtimeo|sndtimeo SECONDS MICROSECONDS [LENGTH] */
static void run_limit(struct step *step)
{
	const struct timeval time[2] = { { step_number(step, 3, 0), step_number(step, 4, 0) } };

	step_say_result(step, CALL(setsockopt, end_find(step->words[1])->fd, SOL_SOCKET,
				   option_find(step->words[2])->number, time,
				   step_number(step, 5, sizeof(time[0]))));
}

/* get-limit A rcvtimeo|sndtimeo: prints tenths of a second, because the kernel rounds to jiffies */
static void run_get_limit(struct step *step)
{
	struct timeval time = { 0 };
	socklen_t len = sizeof(time);
	int ret = CALL(getsockopt, end_find(step->words[1])->fd, SOL_SOCKET,
		       option_find(step->words[2])->number, &time, &len);

	step_say_result(step, ret);
	if (!ret)
		step_say(step, " %ld.%ld s of %u bytes", (long)time.tv_sec,
			 (long)(time.tv_usec + 50000) / 100000, len);
}

/* flags A: prints whether it is non-blocking */
static void run_flags(struct step *step)
{
	int flags = CALL(fcntl, end_find(step->words[1])->fd, F_GETFL);

	step_say(step, "%s",
		 flags < 0            ? say_errno(errno)
		 : flags & O_NONBLOCK ? "nonblocking"
				      : "blocking");
}

/* nonblock A 0|1 */
static void run_nonblock(struct step *step)
{
	int fd = end_find(step->words[1])->fd, flags = CALL(fcntl, fd, F_GETFL);

	flags = step_number(step, 2, 1) ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	step_say_result(step, CALL(fcntl, fd, F_SETFL, flags));
}

/* pending A: prints how many bytes can be read */
static void run_pending(struct step *step)
{
	int fd = end_find(step->words[1])->fd, count = -1;
	int ret = steps_use_rsockets ? rfcntl(fd, FIONREAD, &count) : ioctl(fd, FIONREAD, &count);

	step_say_result(step, ret);
	if (!ret)
		step_say(step, " %d", count);
}

const struct command option_commands[] = {
	{ "error", run_error },           { "flags", run_flags },
	{ "get-limit", run_get_limit },   { "get-option", run_get_option },
	{ "limit", run_limit },           { "linger", run_linger },
	{ "nonblock", run_nonblock },     { "pending", run_pending },
	{ "set-option", run_set_option }, { NULL, NULL },
};
