/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - rsocket-tcp system|rsockets FILE...: runs scripts of steps on one kind of sockets, and
 * prints each step with its result. The script run compares the outputs.
 *
 * A line "== NAME" begins a script; scripts share no ends. "bg" before a step runs the step in a
 * thread, and "join" waits for it. "timed MS" before a step checks that it takes at least that
 * long.
 *
 * Covers: librdmacm/rsocket/stream/conn.c, librdmacm/rsocket/stream/io.c,
 * librdmacm/rsocket/options.c,
 * librdmacm/rsocket/poll/poll.c, librdmacm/rsocket/dgram/io.c, librdmacm/rsocket/stream/accept.c
 */
#include "steps.h"

#include <ctype.h>
#include <dirent.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool steps_use_rsockets;
static struct end ends[MOST_ENDS];
static int end_count;

struct end *end_find(const char *name)
{
	for (int i = 0; name && i < end_count; i++) {
		if (!strcmp(ends[i].name, name))
			return &ends[i];
	}
	fprintf(stderr, "no end %s\n", name ? name : "is named");
	exit(1);
}

struct end *end_new(const char *name, int fd)
{
	struct end *end = &ends[end_count++];

	MUST(end_count <= MOST_ENDS && name);
	*end = (struct end){ .fd = fd };
	snprintf(end->name, sizeof(end->name), "%s", name);
	return end;
}

struct end *end_at(int index)
{
	return index < end_count ? &ends[index] : NULL;
}

void end_close(struct end *end)
{
	if (end->fd >= 0)
		CALL(close, end->fd);
	end->fd = -1;
}

/* Closes the remaining ends with a reset, so that no script waits for another. */
static void ends_close(void)
{
	const struct linger off = { 0 }, hard = { .l_onoff = 1 };

	for (int i = 0; i < end_count; i++) {
		if (ends[i].fd < 0)
			continue;
		if (!ends[i].is_set) {
			CALL(setsockopt, ends[i].fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
			CALL(setsockopt, ends[i].fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		}
		end_close(&ends[i]);
	}
	end_count = 0;
}

void step_say(struct step *step, const char *fmt, ...)
{
	size_t at = strlen(step->text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(step->text + at, sizeof(step->text) - at, fmt, args);
	va_end(args);
}

void step_say_result(struct step *step, ssize_t result)
{
	if (result < 0)
		step_say(step, "%s", say_errno(errno));
	else
		step_say(step, "%zd", result);
}

int step_number(const struct step *step, int word, int otherwise)
{
	return step->words[word] ? atoi(step->words[word]) : otherwise;
}

static const struct command *command_find(const char *name)
{
	static const struct command *const all[] = { connect_commands, byte_commands, wait_commands,
						     option_commands };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (const struct command *command = all[i]; command->name; command++)
			if (!strcmp(command->name, name))
				return command;
	fprintf(stderr, "no command %s\n", name);
	exit(1);
}

static struct background {
	pthread_t thread;
	struct step step;
	char line[STEP_TEXT];
	pid_t tid; /* 0 until the thread runs */
} background;

static void *background_run(void *unused)
{
	__atomic_store_n(&background.tid, gettid(), __ATOMIC_RELEASE);
	command_find(background.step.words[0])->run(&background.step);
	return unused;
}

static char thread_state(pid_t tid)
{
	char path[64], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return 'X'; /* the thread has ended */
	if (fscanf(file, "%*d %*s %c", &state) != 1)
		state = '?';
	fclose(file);
	return state;
}

/* Waits until the thread has ended, or was seen asleep several times in succession. */
static void await_sleep(void)
{
	int seen = 0;
	pid_t tid;

	while (!(tid = __atomic_load_n(&background.tid, __ATOMIC_ACQUIRE)))
		usleep(1000);
	while (seen < 10) {
		usleep(1000);
		seen = strchr("SX", thread_state(tid)) ? seen + 1 : 0;
	}
}

static void background_begin(const struct step *step, const char *line)
{
	int count = 0;

	MUST(!background.tid);
	background.step = (struct step){ 0 };
	snprintf(background.line, sizeof(background.line), "%s", line);
	while (count + 1 < STEP_WORDS && step->words[count + 1]) {
		background.step.words[count] = strdup(step->words[count + 1]);
		count++;
	}
	MUST(!pthread_create(&background.thread, NULL, background_run, NULL));
	await_sleep();
}

static void background_join(void)
{
	MUST(background.tid && !pthread_join(background.thread, NULL));
	say("%s: %s", background.line, background.step.text);
	for (int i = 0; background.step.words[i]; i++)
		free(background.step.words[i]);
	background.tid = 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* timed MS STEP: prints whether the step took at least MS */
static void timed_run(struct step *step)
{
	int64_t least = now_ms() + step_number(step, 1, 0);

	memmove(step->words, step->words + 2, sizeof(step->words) - 2 * sizeof(step->words[0]));
	command_find(step->words[0])->run(step);
	step_say(step, now_ms() < least ? " too early" : " in time");
}

static void line_split(char *line, struct step *step)
{
	char *rest = NULL, *word = strtok_r(line, " ", &rest);
	int count = 0;

	for (; word; word = strtok_r(NULL, " ", &rest)) {
		MUST(count + 1 < STEP_WORDS);
		step->words[count++] = word;
	}
}

static void line_run(const char *line)
{
	char copy[STEP_TEXT];
	struct step step = { 0 };

	snprintf(copy, sizeof(copy), "%s", line);
	line_split(copy, &step);
	if (!strcmp(step.words[0], "join")) {
		background_join();
	} else if (!strcmp(step.words[0], "bg")) {
		background_begin(&step, line);
	} else {
		if (!strcmp(step.words[0], "timed"))
			timed_run(&step);
		else
			command_find(step.words[0])->run(&step);
		say("%s: %s", line, step.text);
	}
}

static void script_begin(char *topic, size_t size, char *file, const char *name)
{
	MUST(!background.tid);
	ends_close();
	snprintf(topic, size, "%.*s/%s", (int)strcspn(basename(file), "."), basename(file), name);
	say_topic(topic);
}

static void file_run(char *name)
{
	char line[STEP_TEXT], topic[STEP_TEXT] = "";
	FILE *file = fopen(name, "re");

	MUST(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		for (size_t end = strlen(line); end && isspace(line[end - 1]); end--)
			line[end - 1] = '\0';
		if (!strncmp(line, "== ", 3))
			script_begin(topic, sizeof(topic), name, line + 3);
		else if (*line)
			line_run(line);
	}
	ends_close();
	fclose(file);
}

int main(int argc, char **argv)
{
	MUST(argc > 2);
	steps_use_rsockets = !strcmp(argv[1], "rsockets");
	signal(SIGPIPE, SIG_IGN);
	if (steps_use_rsockets)
		repoll_find();
	for (int i = 2; i < argc; i++)
		file_run(argv[i]);
	printf("end: %d of %d topics, %d checks\n", argc - 2, argc - 2, argc - 2);
	return 0;
}
