/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-explain: cause and cure of the messages of the checker (VERBS_CHECK), by their
 * names.
 *
 * The texts lie in explanations.c, the names in the checker's own table.
 */
#include "explanations.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { UNKNOWN = 1, NOT_WRITTEN = 1, WRONG_USAGE = 2 };

#define PREFIX "VERBS-"
#define INDENT "    "

static const struct message {
	const char *name, *meaning;
} messages[CHECK_FAULTS] = {
#define MESSAGE(kind, name, meaning) [kind] = { name, meaning },
	CHECK_MESSAGES(MESSAGE)
};

static int usage_print(FILE *to)
{
	fputs("Usage: verbs-explain NAME...\n"
	      "       verbs-explain --list\n"
	      "Explains messages of the checker (VERBS_CHECK) by their names, as VERBS-MR-001.\n"
	      "  -l, --list  print all names and what they mean\n"
	      "  -h, --help  print this text\n",
	      to);
	return to == stdout ? 0 : WRONG_USAGE;
}

static int names_list(void)
{
	for (unsigned int i = 0; i < CHECK_FAULTS; i++)
		printf("%-15s  %s\n", messages[i].name, messages[i].meaning);
	return 0;
}

/* Prints TEXT with four spaces before each line, and as many for each tab. */
static void part_print(const char *title, const char *text)
{
	printf("\n%s:\n" INDENT, title);
	for (; *text; text++) {
		if (*text == '\t')
			fputs(INDENT, stdout);
		else
			putchar(*text);
		if (*text == '\n')
			fputs(INDENT, stdout);
	}
	putchar('\n');
}

static void message_explain(unsigned int which)
{
	const struct explanation *explanation = &explanations[which];

	printf("%s: %s\n", messages[which].name, messages[which].meaning);
	part_print("Cause", explanation->cause);
	part_print("Cure", explanation->cure);
	part_print("Wrong", explanation->wrong);
	part_print("Right", explanation->right);
	part_print("Pages", explanation->pages);
	puts(INDENT "rdmakit_diagnostics(7)");
}

/* Returns whether the LENGTH characters of NAME are TEXT, in small or in capital letters. */
static bool is_text(const char *name, size_t length, const char *text)
{
	return strlen(text) == length && !strncasecmp(name, text, length);
}

/* Returns whether NAME names the message WHOLE. "VERBS-" may be left out, and NAME may be in
 * parentheses, as at the end of a line of the log. */
static bool is_name(const char *name, const char *whole)
{
	size_t length = strlen(name);

	if (length > 2 && *name == '(' && name[length - 1] == ')') {
		name++;
		length -= 2;
	}
	return is_text(name, length, whole) || is_text(name, length, whole + strlen(PREFIX));
}

static int name_explain(const char *name)
{
	for (unsigned int i = 0; i < CHECK_FAULTS; i++) {
		if (is_name(name, messages[i].name)) {
			message_explain(i);
			return 0;
		}
	}
	fprintf(stderr, "verbs-explain: no message has the name %s: see verbs-explain --list\n",
		name);
	return UNKNOWN;
}

static int names_explain(char **names)
{
	int status = 0;

	for (char **name = names; *name; name++) {
		if (name != names)
			putchar('\n');
		status |= name_explain(*name);
	}
	return status;
}

/* Returns STATUS, or the status of a failed write if the text was not written. */
static int output_end(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	perror("verbs-explain: cannot write");
	return status ? status : NOT_WRITTEN;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "list", no_argument, NULL, 'l' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	bool lists = false;
	int option;

	while ((option = getopt_long(argc, argv, "lh", options, NULL)) != -1) {
		if (option == 'h')
			return output_end(usage_print(stdout));
		if (option != 'l')
			return usage_print(stderr);
		lists = true;
	}
	if (lists == (optind < argc))
		return usage_print(stderr);
	return output_end(lists ? names_list() : names_explain(argv + optind));
}
