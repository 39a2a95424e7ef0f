/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * left.c - programs that exit, or close the device, with objects that they have created by
 * commands: users of an object are destroyed before it, and no object is left for the next program.
 *
 * Covers: softhca/front/process/uverbs/devx/obj.c, softhca/front/process/uverbs/file.c,
 * softhca/device/uctx.c
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dx.h"
#include "tests/lib/say.h"

enum { ENDS = 100 /* of ten objects each: memory four times, CQ, QP, key, PD, page; and a user */ };

/* Reachable, so that leak checkers see none: memory of a program that exits is no leak. Never
 * read. */
static struct dx_end *volatile left;

static void leave_objects(unsigned int ends)
{
	struct dx_end *end = left = calloc(ends, sizeof(*end));

	MUST(end);
	for (unsigned int i = 0; i < ends; i++) {
		if (i)
			end[i].device = end[0].device;
		else
			dx_device_open(&end[i].device);
		dx_cq_open(&end[i].device, &end[i].cq);
		dx_qp_open(&end[i].device, &end[i].cq, &end[i].qp);
		dx_memory_open(end[i].device.ctx, DX_PAGE, &end[i].memory);
		dx_key_open(&end[i].device, &end[i].memory, &end[i].key);
		if (!i)
			continue;
		dx_qp_connect(&end[i].qp, &end[0].device, end[i - 1].qp.qpn);
	}
}

/* RUN in a child, which must end by SIGNAL; 0: by itself, with status 0. */
static void in_child(void (*run)(void), int signal)
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child) {
		run();
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	if (signal)
		say_check(WIFSIGNALED(status) && WTERMSIG(status) == signal, "a child is killed");
	else
		say_check(WIFEXITED(status) && !WEXITSTATUS(status), "a child ends");
}

static void leave_and_end(void)
{
	leave_objects(ENDS);
}

static void leave_and_die(void)
{
	leave_objects(ENDS);
	raise(SIGKILL);
}

/* Each object gets the lowest free number, so leftovers would show as a device that becomes
 * full. */
void dx_left(void)
{
	in_child(leave_and_end, 0);
	in_child(leave_and_die, SIGKILL);
	for (int i = 0; i < 5; i++)
		in_child(leave_and_die, SIGKILL);
	leave_objects(2);
}
