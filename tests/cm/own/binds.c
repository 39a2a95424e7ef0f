/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * binds.c - Linux' answers to a bind to an address of no adapter, or to a port below 1024. A child
 * makes each attempt, because it may have to give up its privileges.
 *
 * Covers: softhca/front/process/ucma/bind.c
 */
#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cm/cm.h"
#include "tests/lib/rights.h"
#include "own.h"

enum { OF_ROOT = 1023, OF_ALL = 1024 };

static int bind_anew(struct sockaddr *addr, enum rdma_port_space space)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!channel || rdma_create_id(channel, &id, NULL, space))
		return EIO;
	return rdma_bind_addr(id, addr) ? errno : 0;
}

static int bind_to_port(int port)
{
	struct sockaddr_in here = cm_loopback((uint16_t)port);

	return bind_anew((struct sockaddr *)&here, RDMA_PS_TCP);
}

static int bind_as_nobody(int port)
{
	return rights_drop() ? EIO : bind_to_port(port);
}

static int bind_to_address(int unused)
{
	struct sockaddr_in nowhere = cm_loopback(0);

	(void)unused;
	nowhere.sin_addr.s_addr = inet_addr("192.0.2.1");
	return bind_anew((struct sockaddr *)&nowhere, RDMA_PS_TCP);
}

static int bind_to_gid(int unused)
{
	struct sockaddr_ib nowhere = { .sib_family = AF_IB, .sib_addr.sib_raw = { 0xfe, 0x80 } };

	(void)unused;
	nowhere.sib_addr.sib_raw[15] = 0x77;
	return bind_anew((struct sockaddr *)&nowhere, RDMA_PS_IB);
}

enum { OF_TWO = 23456, ANY_FIRST = 1, ANY_SECOND = 2 };

static int bind_twice(int which)
{
	struct sockaddr_in first = cm_loopback(OF_TWO), second = cm_loopback(OF_TWO);

	first.sin_addr.s_addr = second.sin_addr.s_addr = inet_addr("198.18.0.1");
	if (which & ANY_FIRST)
		first.sin_addr.s_addr = INADDR_ANY;
	if (which & ANY_SECOND)
		second.sin_addr.s_addr = INADDR_ANY;
	if (bind_anew((struct sockaddr *)&first, RDMA_PS_TCP))
		return EIO;
	return bind_anew((struct sockaddr *)&second, RDMA_PS_TCP);
}

static int answer_of(int (*act)(int), int argument)
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child)
		_exit(act(argument));
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

void own_binds(void)
{
	say_topic("binding");
	say_check(answer_of(bind_as_nobody, OF_ROOT) == EACCES, "root's ports are root's");
	say_check(!answer_of(bind_as_nobody, OF_ALL), "the next one is anybody's");
	say_check(answer_of(bind_to_port, OF_ROOT) == (getuid() ? EACCES : 0),
		  "who has the right gets one");
	say_check(answer_of(bind_to_address, 0) == EADDRNOTAVAIL,
		  "an address that is not this machine's is not available");
	say_check(answer_of(bind_twice, 0) == EADDRINUSE, "an address has one id");
	for (int which = ANY_FIRST; which <= (ANY_FIRST | ANY_SECOND); which++)
		say_check(answer_of(bind_twice, which) == EADDRNOTAVAIL,
			  "any address has what others have left: %d", which);
	say_check(answer_of(bind_to_gid, 0) == ENODEV, "a GID that no adapter has has no device");
}
