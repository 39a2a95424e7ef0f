/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.c - reads /etc/rdma/rsocket/preload_config, which says which programs' sockets become
 * rsockets.
 *
 * A line names a program, a domain, a type and a protocol; * stands for any, and # begins a
 * comment. If there is the file, only sockets that a line matches become rsockets; if not, all
 * streams and datagrams of IPv4 and IPv6 do.
 */
#include "preload.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG "/etc/rdma/rsocket/preload_config"

enum { ANY = -1, NONE = -2, MAX_RULES = 256 };

struct rule {
	int domain, type, protocol;
};

static struct rule rules[MAX_RULES]; /* the rules for this program */
static int count;
static bool has_file;

struct word {
	const char *word;
	int value;
};

static const struct word words[] = {
	{ "*", ANY },
	{ "INET", AF_INET },
	{ "AF_INET", AF_INET },
	{ "PF_INET", AF_INET },
	{ "INET6", AF_INET6 },
	{ "AF_INET6", AF_INET6 },
	{ "PF_INET6", AF_INET6 },
	{ "STREAM", SOCK_STREAM },
	{ "SOCK_STREAM", SOCK_STREAM },
	{ "DGRAM", SOCK_DGRAM },
	{ "SOCK_DGRAM", SOCK_DGRAM },
	{ "TCP", IPPROTO_TCP },
	{ "IPPROTO_TCP", IPPROTO_TCP },
	{ "UDP", IPPROTO_UDP },
	{ "IPPROTO_UDP", IPPROTO_UDP },
};

/* Returns what a word of the file, or a number, stands for. */
static int value_of(const char *text)
{
	char *end;
	long value;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(text, words[i].word))
			return words[i].value;
	}
	value = strtol(text, &end, 0);
	return *end ? NONE : (int)value;
}

static bool is_this_program(const char *name)
{
	return !strcmp(name, "*") || !strcmp(name, program_invocation_short_name);
}

static void take_line(const char *line)
{
	char program[64], domain[16] = "*", type[16] = "*", protocol[16] = "*";

	if (sscanf(line, "%63s%15s%15s%15s", program, domain, type, protocol) < 1 ||
	    program[0] == '#' || !is_this_program(program) || count == MAX_RULES)
		return;
	rules[count++] = (struct rule){ value_of(domain), value_of(type), value_of(protocol) };
}

static void read_file(void)
{
	char line[256];
	FILE *file;

	preload_inside++; /* stdio's own calls of read() and close() are no program's */
	file = fopen(CONFIG, "re");
	has_file = file != NULL;
	while (file && fgets(line, sizeof(line), file))
		take_line(line);
	if (file)
		fclose(file);
	preload_inside--;
}

static bool rule_matches(int rule, int value)
{
	return rule == ANY || rule == value;
}

static bool is_ours_by_default(int domain, int type, int protocol)
{
	if (domain != AF_INET && domain != AF_INET6)
		return false;
	if (type == SOCK_STREAM)
		return !protocol || protocol == IPPROTO_TCP;
	return type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP);
}

bool preload_wants(int domain, int type, int protocol)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_file);
	if (!is_ours_by_default(domain, type, protocol))
		return false;
	for (int i = 0; i < count; i++) {
		if (rule_matches(rules[i].domain, domain) && rule_matches(rules[i].type, type) &&
		    rule_matches(rules[i].protocol, protocol))
			return true;
	}
	return !has_file;
}
