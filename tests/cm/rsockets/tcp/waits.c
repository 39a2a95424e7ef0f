/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits.c - steps that wait for events, by poll, select and sets; and steps that take time.
 *
 * Covers: librdmacm/rsocket/poll/poll.c, librdmacm/rsocket/poll/epoll.c,
 * librdmacm/rsocket/poll/select.h
 */
#include "steps.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static const struct {
	const char *name;
	short poll;
} names[] = {
	{ "in", POLLIN },       { "pri", POLLPRI },       { "out", POLLOUT },
	{ "err", POLLERR },     { "hup", POLLHUP },       { "nval", POLLNVAL },
	{ "rdhup", POLLRDHUP }, { "rdnorm", POLLRDNORM }, { "wrnorm", POLLWRNORM },
};

enum { ALL_EVENTS = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };

/* Parses "in+out", "all" or "none". */
static short events_of(const char *word)
{
	short events = strcmp(word, "all") ? 0 : ALL_EVENTS;
	char copy[64], *rest = NULL, *part;

	snprintf(copy, sizeof(copy), "%s", word);
	for (part = strtok_r(copy, "+", &rest); part; part = strtok_r(NULL, "+", &rest))
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (!strcmp(part, names[i].name))
				events |= names[i].poll;
	return events;
}

static void say_events(struct step *step, short events)
{
	const char *between = "";

	if (!events)
		step_say(step, "none");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(events & names[i].poll))
			continue;
		step_say(step, "%s%s", between, names[i].name);
		between = "+";
	}
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static short events_now(int fd, short events)
{
	struct pollfd entry = { .fd = fd, .events = events };

	return CALL(poll, &entry, 1, 0) > 0 ? entry.revents : 0;
}

/* poll A EVENTS [MS] */
static void run_poll(struct step *step)
{
	struct pollfd entry = { .fd = end_find(step->words[1])->fd,
				.events = events_of(step->words[2]) };
	int ret = CALL(poll, &entry, 1, step_number(step, 3, 0));

	step_say_result(step, ret);
	step_say(step, " ");
	say_events(step, entry.revents);
}

/* await A EVENTS: waits until all of these are reported; prints what is reported then */
static void run_await(struct step *step)
{
	int fd = end_find(step->words[1])->fd;
	short wanted = events_of(step->words[2]);
	int64_t until = now_ms() + PATIENCE_MS;

	while ((events_now(fd, ALL_EVENTS) & wanted) != wanted && now_ms() < until)
		usleep(1000);
	say_events(step, events_now(fd, ALL_EVENTS));
}

/* poll2 A EVENTS B EVENTS [MS]: both in one call */
static void run_poll2(struct step *step)
{
	struct pollfd entries[] = {
		{ .fd = end_find(step->words[1])->fd, .events = events_of(step->words[2]) },
		{ .fd = end_find(step->words[3])->fd, .events = events_of(step->words[4]) },
	};

	step_say_result(step, CALL(poll, entries, 2, step_number(step, 5, 0)));
	step_say(step, " ");
	say_events(step, entries[0].revents);
	step_say(step, " ");
	say_events(step, entries[1].revents);
}

/* WHICH: the sets "rwx" with the COUNT ends; MS: the time limit, or NULL for none. */
static void select_ends(struct step *step, int count, const char *which, const char *ms)
{
	struct timeval limit = { 0, ms ? atoi(ms) * 1000 : 0 };
	int fds[2], above = 0, ret;
	fd_set sets[3];

	memset(sets, 0, sizeof(sets));
	for (int k = 0; k < count; k++) {
		fds[k] = end_find(step->words[1 + k])->fd;
		above = fds[k] >= above ? fds[k] + 1 : above;
		for (int i = 0; i < 3; i++)
			if (strchr(which, "rwx"[i]))
				FD_SET(fds[k], &sets[i]);
	}
	ret = CALL(select, above, &sets[0], &sets[1], &sets[2], ms ? &limit : NULL);
	step_say_result(step, ret);
	for (int i = 0; ret > 0 && i < 3; i++)
		for (int k = 0; k < count; k++)
			if (FD_ISSET(fds[k], &sets[i]))
				step_say(step, " %s %c", step->words[1 + k], "rwx"[i]);
}

/* select A r|w|x|rw|rwx [MS] */
static void run_select(struct step *step)
{
	select_ends(step, 1, step->words[2], step->words[3]);
}

/* select2 A B r|w|x|rw|rwx [MS] */
static void run_select2(struct step *step)
{
	select_ends(step, 2, step->words[3], step->words[4]);
}

static int set_ctl(int set, int op, int fd, struct epoll_event *event)
{
	return steps_use_rsockets ? repoll_ctl_fn(set, op, fd, event)
				  : epoll_ctl(set, op, fd, event);
}

static void run_set(struct step *step)
{
	int fd = steps_use_rsockets ? repoll_create_fn(1) : epoll_create1(0);

	end_new(step->words[1], fd)->is_set = true;
	step_say(step, "%s", fd < 0 ? say_errno(errno) : "made");
}

static struct epoll_event event_of(const struct step *step)
{
	struct epoll_event event = { .events = (uint16_t)events_of(step->words[3]) };

	for (int i = 4; step->words[i]; i++) {
		if (!strcmp(step->words[i], "et"))
			event.events |= EPOLLET;
		else if (!strcmp(step->words[i], "oneshot"))
			event.events |= EPOLLONESHOT;
	}
	for (int i = 0; end_at(i); i++) {
		if (!strcmp(end_at(i)->name, step->words[2]))
			event.data.u32 = i;
	}
	return event;
}

/* add|mod E A EVENTS [et] [oneshot] */
static void change_set(struct step *step, int op)
{
	struct epoll_event event = event_of(step);

	step_say_result(step, set_ctl(end_find(step->words[1])->fd, op,
				      end_find(step->words[2])->fd, &event));
}

static void run_add(struct step *step)
{
	change_set(step, EPOLL_CTL_ADD);
}

static void run_mod(struct step *step)
{
	change_set(step, EPOLL_CTL_MOD);
}

static void run_del(struct step *step)
{
	step_say_result(step, set_ctl(end_find(step->words[1])->fd, EPOLL_CTL_DEL,
				      end_find(step->words[2])->fd, NULL));
}

/* wait E [MS] */
static void run_wait(struct step *step)
{
	struct epoll_event events[MOST_ENDS];
	int set = end_find(step->words[1])->fd, ms = step_number(step, 2, 0);
	int ret = steps_use_rsockets ? repoll_wait_fn(set, events, MOST_ENDS, ms)
				     : epoll_wait(set, events, MOST_ENDS, ms);

	step_say_result(step, ret);
	for (uint32_t of = 0; of < MOST_ENDS; of++)
		for (int i = 0; i < ret; i++) {
			if (events[i].data.u32 != of)
				continue;
			step_say(step, " %s ", end_at((int)of)->name);
			say_events(step, (short)events[i].events);
		}
}

/* nap MS: waits while nothing may happen */
static void run_nap(struct step *step)
{
	usleep(step_number(step, 1, 0) * 1000);
	step_say(step, "over");
}

const struct command wait_commands[] = {
	{ "add", run_add },     { "await", run_await },   { "del", run_del },
	{ "mod", run_mod },     { "nap", run_nap },       { "poll", run_poll },
	{ "poll2", run_poll2 }, { "select", run_select }, { "select2", run_select2 },
	{ "set", run_set },     { "wait", run_wait },     { NULL, NULL },
};
