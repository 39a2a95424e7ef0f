/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.c - decides which sockets of this program become rsockets, by
 * /etc/rdma/rsocket/preload_config, and sizes their queues by the environment.
 *
 * A line of the file has the prefix of a program name, a domain, a type and a protocol,
 * case-insensitive; * means any. Other lines, for instance comments, are ignored. If the file has
 * rules, only sockets that match one become rsockets; otherwise all streams and datagrams of IPv4
 * and IPv6 do. This is how Debian's library was observed to behave.
 */
#include "librdmacm/rsocket/preload/preload.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rsocket.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG "/etc/rdma/rsocket/preload_config"

enum { ANY = -1, NONE = -2 };

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

static int value_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(text, words[i].word))
			return words[i].value;
	}
	return NONE;
}

static bool rule_read(const char *line, char *program, struct preload_rule *rule)
{
	char domain[16], type[16], protocol[16];

	if (sscanf(line, "%63s%15s%15s%15s", program, domain, type, protocol) != 4)
		return false;
	*rule = (struct preload_rule){ value_of(domain), value_of(type), value_of(protocol) };
	return program[0] != '#' && rule->domain != NONE && rule->type != NONE &&
	       rule->protocol != NONE;
}

static bool is_named(const char *program, const char *name)
{
	return !strcmp(name, "*") || !strncasecmp(name, program, strlen(name));
}

/* Skips the rest of a line that is too long, because the rest would be parsed as another line. */
static void skip_rest_of_line(const char *line, FILE *file)
{
	int byte = strchr(line, '\n') ? '\n' : 0;

	while (byte != '\n' && byte != EOF)
		byte = getc(file);
}

void preload_rules_read(struct preload_rules *rules, FILE *file, const char *program)
{
	char line[256], name[64];
	struct preload_rule rule;

	while (fgets(line, sizeof(line), file)) {
		skip_rest_of_line(line, file);
		if (!rule_read(line, name, &rule))
			continue;
		rules->has_lines = true;
		if (is_named(program, name) && rules->count < PRELOAD_MAX_RULES)
			rules->of_program[rules->count++] = rule;
	}
}

static bool part_matches(int part, int value)
{
	return part == ANY || part == value;
}

static int default_protocol(int type)
{
	return type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
}

static bool is_possible(int domain, int type, int protocol)
{
	return (domain == AF_INET || domain == AF_INET6) &&
	       (type == SOCK_STREAM || type == SOCK_DGRAM) && protocol == default_protocol(type);
}

bool preload_rules_want(const struct preload_rules *rules, int domain, int type, int protocol)
{
	const struct preload_rule *rule;

	if (!protocol)
		protocol = default_protocol(type);
	if (!is_possible(domain, type, protocol))
		return false;
	for (int i = 0; i < rules->count; i++) {
		rule = &rules->of_program[i];
		if (part_matches(rule->domain, domain) && part_matches(rule->type, type) &&
		    part_matches(rule->protocol, protocol))
			return true;
	}
	return !rules->has_lines;
}

static struct preload_rules rules;

static void rules_read_once(void)
{
	FILE *file;

	preload_inside++; /* so that stdio's read() and close() go to the system */
	file = fopen(CONFIG, "re");
	if (file) {
		preload_rules_read(&rules, file, program_invocation_short_name);
		fclose(file);
	}
	preload_inside--;
}

static const struct preload_rules *rules_of_program(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, rules_read_once);
	return &rules;
}

bool preload_wants(int domain, int type, int protocol)
{
	return preload_rules_want(rules_of_program(), domain, type, protocol);
}

bool preload_wants_any(void)
{
	return !rules_of_program()->has_lines || rules_of_program()->count;
}

static void set_size(int rsocket, int option, const char *text)
{
	int size = text ? atoi(text) : 0;

	if (size)
		rsetsockopt(rsocket, SOL_RDMA, option, &size, sizeof(size));
}

/* Sets SO_LINGER of a new rsocket to the default of the system's sockets. The rsocket's default,
 * {1, 0}, would hide that the program sets the same value to make close() abort. */
static void linger_as_sockets_do(int rsocket)
{
	const struct linger off = { 0, 0 };

	rsetsockopt(rsocket, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
}

int preload_rsocket(int domain, int type, int protocol)
{
	int socket = rsocket(domain, type, protocol);

	if (socket < 0)
		return socket;
	set_size(socket, RDMA_SQSIZE, getenv("RS_SQ_SIZE"));
	set_size(socket, RDMA_RQSIZE, getenv("RS_RQ_SIZE"));
	set_size(socket, RDMA_INLINE, getenv("RS_INLINE"));
	linger_as_sockets_do(socket);
	return socket;
}
