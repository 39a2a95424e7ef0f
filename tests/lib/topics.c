/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* topics.c - see topics.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "topics.h"
#include "util/bits.h"

enum { MAX_TOPICS = 256 };

enum topic_state { UNWANTED, WANTED, HAS_RUN, LEFT_OUT };

static struct {
	const char *name;
	enum topic_state state;
	bool has_checks;
} known[MAX_TOPICS];

static const char *skipped; /* reason why a topic was skipped */
static int num_known, current = -1, checks_before;

void topics_add(const void *names, size_t size, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		MUST(num_known < MAX_TOPICS);
		memcpy(&known[num_known++].name, (const char *)names + i * size,
		       sizeof(known[0].name));
	}
}

static int topic_index(const char *name)
{
	for (int i = 0; i < num_known; i++)
		if (!strcmp(known[i].name, name))
			return i;
	return -1;
}

static void names_print(FILE *to)
{
	for (int i = 0; i < num_known; i++)
		fprintf(to, "%s\n", known[i].name);
}

static void arguments_refuse(const char *program, const char *what, const char *argument)
{
	printf("%s: %s%s; the topics are:\n", program, what, argument);
	names_print(stdout);
	fflush(stdout);
	exit(2);
}

static int argument_topic(char **argv, const char *argument)
{
	int topic = topic_index(argument + (argument[0] == '-'));

	if (topic < 0)
		arguments_refuse(argv[0], "there is no topic ", argument);
	return topic;
}

void topics_choose(int argc, char **argv)
{
	bool all = true, any = false;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		names_print(stdout);
		exit(0);
	}
	for (int i = 1; i < argc; i++)
		all = all && argv[i][0] == '-';
	for (int i = 0; i < num_known; i++)
		known[i].state = all ? WANTED : UNWANTED;
	for (int i = 1; i < argc; i++)
		known[argument_topic(argv, argv[i])].state = argv[i][0] == '-' ? UNWANTED : WANTED;
	for (int i = 0; i < num_known; i++)
		any = any || known[i].state == WANTED;
	if (!any)
		arguments_refuse(argv[0], "no topic is left to run", "");
}

static void current_end(void)
{
	if (current >= 0)
		known[current].has_checks = say_checks() > checks_before;
	current = -1;
}

bool topic_begin(const char *name)
{
	int topic = topic_index(name);

	current_end();
	MUST(topic >= 0);
	if (known[topic].state != WANTED)
		return false;
	known[topic].state = HAS_RUN;
	current = topic;
	checks_before = say_checks();
	say_topic(name);
	return true;
}

void topic_leave_out(const char *name, const char *reason)
{
	int topic = topic_index(name);

	MUST(topic >= 0);
	if (known[topic].state != WANTED)
		return;
	known[topic].state = LEFT_OUT;
	say_topic(name);
	say("left out: %s", reason);
}

void topic_skip(const char *name, const char *reason)
{
	topic_leave_out(name, reason);
	if (known[topic_index(name)].state == LEFT_OUT)
		skipped = reason;
}

static int count_of(enum topic_state state)
{
	int count = 0;

	for (int i = 0; i < num_known; i++)
		count += known[i].state == state;
	return count;
}

static void unchecked_print(void)
{
	const char *before = "; without a check: ";

	for (int i = 0; i < num_known; i++) {
		if (known[i].state != HAS_RUN || known[i].has_checks)
			continue;
		printf("%s%s", before, known[i].name);
		before = " ";
	}
}

int topics_end(void)
{
	int ran = count_of(HAS_RUN), left_out = count_of(LEFT_OUT);

	current_end();
	printf("end: %d of %d topics, %d checks", ran, ran + count_of(WANTED), say_checks());
	if (left_out)
		printf(", %d left out", left_out);
	unchecked_print();
	printf("\n");
	if (skipped)
		printf("SKIP: %s\n", skipped);
	fflush(stdout);
	if (say_failures() || count_of(WANTED) || !(ran + left_out))
		return 1;
	return skipped ? 77 : 0;
}

int topics_main(const struct topic *topics, size_t count, int argc, char **argv)
{
	topics_add(&topics->name, sizeof(*topics), count);
	topics_choose(argc, argv);
	for (size_t i = 0; i < count; i++)
		if (topic_begin(topics[i].name))
			topics[i].run();
	return topics_end();
}
