/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control.c - see control.h. Each text is one datagram, so no connections need to be kept. The
 * kernel assigns the sender an abstract address for the answer.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "softhca/fault.h"
#include "softhca/front/control.h"
#include "softhca/front/faults.h"
#include "softhca/front/reach.h"
#include "softhca/log.h"
#include "softhca/options.h"

static const char late_answer[] = "it will happen, but has not within a second";

enum { MAX_TEXT = 128, ANSWER_MS = 5000, OWNER_ONLY = 0600 };

static int set_address(const char *path, struct sockaddr_un *addr)
{
	int len;

	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	len = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s.control", path);
	return len < (int)sizeof(addr->sun_path) ? 0 : ENAMETOOLONG;
}

/* Opens the socket and binds it to ADDR. fchmod() before bind() sets the mode of the file, as Linux
 * takes it from the socket, less the umask's bits. Source: unix_bind() */
static int open_socket(const struct sockaddr *addr, socklen_t len, int *fd)
{
	int ret;

	*fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return errno;
	ret = fchmod(*fd, OWNER_ONLY) || bind(*fd, addr, len) ? errno : 0;
	if (!ret)
		return 0;
	close(*fd);
	*fd = -1;
	return ret;
}

int control_open(const char *path, int *fd)
{
	struct sockaddr_un addr;
	int ret = set_address(path, &addr);

	/* The caller has bound PATH, so no other server uses this name: an existing file is
	 * stale. */
	if (!ret)
		unlink(addr.sun_path);
	if (!ret)
		ret = open_socket((struct sockaddr *)&addr, sizeof(addr), fd);
	if (ret)
		log_error("%s.control: %s", path, strerror(ret));
	return ret;
}

void control_close(const char *path, int fd)
{
	struct sockaddr_un addr;

	if (!set_address(path, &addr))
		unlink(addr.sun_path);
	close(fd);
}

static void tell_state(const struct fault *fault, uint64_t objects, char *answer, size_t size)
{
	uint64_t kernel_commands, commands;

	fault_counts(fault, &kernel_commands, &commands);
	snprintf(answer, size, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, kernel_commands,
		 commands, objects, fault_count_queued(fault));
}

static void add_fault(const struct control *control, const char *text, uint64_t now_ns,
		      char *answer, size_t size)
{
	int ret = fault_add(control->fault, text, now_ns);

	if (!ret)
		ret = control->faults_finish(control->host, now_ns);
	snprintf(answer, size, "%s", ret == ETIMEDOUT ? late_answer : faults_answer(ret));
	log_note("fault %s: %s", text, answer);
}

void control_receive(int fd, const struct control *control, uint64_t now_ns, uint64_t objects)
{
	struct sockaddr_un from;
	socklen_t from_len = sizeof(from);
	char text[MAX_TEXT], answer[MAX_TEXT];
	ssize_t len = recvfrom(fd, text, sizeof(text) - 1, MSG_DONTWAIT, (struct sockaddr *)&from,
			       &from_len);

	if (len < 0)
		return;
	text[len] = 0;
	if (!strcmp(text, "state"))
		tell_state(control->fault, objects, answer, sizeof(answer));
	else
		add_fault(control, text, now_ns, answer, sizeof(answer));
	sendto(fd, answer, strlen(answer), MSG_DONTWAIT, (struct sockaddr *)&from, from_len);
}

/* Returns 0, EINPROGRESS if the fault is still to happen, or another errno. */
static int control_ask(int fd, const char *text)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char answer[MAX_TEXT];
	ssize_t len;

	if (send(fd, text, strlen(text), 0) < 0)
		return errno;
	if (poll(&pfd, 1, ANSWER_MS) != 1)
		return ETIMEDOUT;
	len = recv(fd, answer, sizeof(answer) - 1, 0);
	if (len < 0)
		return errno;
	answer[len] = 0;
	if (!strcmp(answer, "ok"))
		return 0;
	log_error("fault %s: %s", text, answer);
	return strcmp(answer, late_answer) ? EINVAL : EINPROGRESS;
}

/* Sends the texts up to one that is refused. It goes on after a late one, as faults that are due
 * happen in the order in which they were added. */
static int send_texts(int fd, char *const *text)
{
	int ret, late = 0;

	for (; *text; text++) {
		ret = control_ask(fd, *text);
		if (ret == EINPROGRESS)
			late = ret;
		else if (ret)
			return ret;
	}
	return late;
}

int control_send(const struct options *options)
{
	const struct sockaddr_un any = { .sun_family = AF_UNIX };
	struct sockaddr_un addr;
	int fd = -1, ret = set_address(options->socket_path, &addr);

	if (!ret)
		ret = open_socket((const struct sockaddr *)&any,
				  offsetof(struct sockaddr_un, sun_path), &fd);
	if (!ret)
		ret = reach_server(fd, &addr, options->socket_path);
	if (!ret)
		ret = send_texts(fd, options->program);
	if (ret && !log_has_error())
		log_error("fault: %s.control: %s", options->socket_path, strerror(ret));
	if (fd >= 0)
		close(fd);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
