/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - makes each mistake that the command line names, or all, in a process of its own.
 *
 * Prints each line that the process writes with the mistake's name and a tab before it, and at the
 * end "NAME<tab>made", or "NAME<tab>not made" if its effect was not seen.
 */
#include "mistakes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/bits.h"

enum { PATIENCE_S = 30 };

static const struct mistake *const groups[] = {
	setup_mistakes,   memory_mistakes, post_mistakes, queue_mistakes,  connection_mistakes,
	checked_mistakes, batch_mistakes,  life_mistakes, status_mistakes, buffer_mistakes
};

static void __attribute__((noreturn)) mistake_make(const struct mistake *mistake, int fd)
{
	MUST(dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	alarm(PATIENCE_S);
	mistake->make();
	fflush(stdout);
	_exit(0);
}

/* Returns whether the mistake had its effect: the process ended with status 0, or by the mistake's
 * own alarm, which is earlier than the alarm of mistake_make(). */
static bool was_made(int status, unsigned int seconds)
{
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGALRM && seconds < PATIENCE_S - 1;
	return !WEXITSTATUS(status);
}

static void mistake_watch(const struct mistake *mistake)
{
	struct timespec begin, end;
	char line[4096];
	int fds[2], status;
	FILE *lines;
	pid_t pid;

	fflush(stdout);
	MUST(!pipe(fds));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		mistake_make(mistake, fds[1]);
	close(fds[1]);
	lines = fdopen(fds[0], "r");
	MUST(lines);
	while (fgets(line, sizeof(line), lines))
		printf("%s\t%s", mistake->name, line);
	fclose(lines);
	MUST(waitpid(pid, &status, 0) == pid);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%s\t%s\n", mistake->name,
	       was_made(status, (unsigned int)(end.tv_sec - begin.tv_sec)) ? "made" : "not made");
}

static bool is_chosen(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(name, argv[i]))
			return true;
	return argc == 1;
}

int main(int argc, char **argv)
{
	const bool lists = argc == 2 && !strcmp(argv[1], "--list");

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		for (const struct mistake *m = groups[i]; m->name; m++)
			if (lists)
				puts(m->name);
			else if (is_chosen(m->name, argc, argv))
				mistake_watch(m);
	return 0;
}
