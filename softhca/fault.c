/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault.c - parses fault texts and counts towards them.
 *
 * The caller's lock guards messages; commands are counted by the front, possibly from several
 * threads, hence the atomic counter.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/fault.h"

enum kind { FAIL_COMMAND, DROP_NTH, DROP_RANDOM, KILL_AT, LOSE_PACKET, DELAY_PACKET };

enum { PARTS_OF_PERCENT = 10000 };

struct one_fault {
	enum kind kind;
	uint64_t n;  /* which one, percent, or of packets PARTS_OF_PERCENT of it */
	bool random; /* of packets: a share of them, not one */
	int err;
	struct one_fault *next;
};

struct fault {
	struct one_fault *list;
	atomic_uint_fast64_t commands;
	uint64_t messages, packets;
	uint64_t random;
};

int fault_create(uint64_t seed, struct fault **out)
{
	struct fault *fault = calloc(1, sizeof(*fault));

	if (!fault)
		return ENOMEM;
	fault->random = seed;
	*out = fault;
	return 0;
}

void fault_destroy(struct fault *fault)
{
	struct one_fault *one;

	if (!fault)
		return;
	while ((one = fault->list) != NULL) {
		fault->list = one->next;
		free(one);
	}
	free(fault);
}

/* The errno that is called NAME, or 0. */
static int errno_by_name(const char *name)
{
	int err;

	for (err = 1; err < 134; err++) {
		const char *own = strerrorname_np(err);

		if (own && !strcmp(own, name))
			return err;
	}
	return 0;
}

static bool parse_number(const char **text, uint64_t *n)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*n = strtoull(*text, &end, 10);
	*text = end;
	return true;
}

static bool parse_errno(const char *text, int *err)
{
	uint64_t n = 0;

	if (parse_number(&text, &n))
		*err = *text || n > 4095 ? 0 : (int)n;
	else
		*err = errno_by_name(text);
	return *err != 0;
}

/* N, or a percentage with up to four decimals */
static bool parse_packets(const char *text, struct one_fault *one)
{
	uint64_t unit = PARTS_OF_PERCENT;

	if (!parse_number(&text, &one->n))
		return false;
	if (!*text)
		return one->n;
	one->random = true;
	if (one->n > 100)
		return false;
	one->n *= unit;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && unit > 1; text++) {
			unit /= 10;
			one->n += (uint64_t)(*text - '0') * unit;
		}
	return !strcmp(text, "%") && one->n <= 100 * PARTS_OF_PERCENT;
}

static bool parse(const char *text, struct one_fault *one)
{
	bool drop = !strncmp(text, "drop:", 5);

	if (!strncmp(text, "cmd:", 4)) {
		text += 4;
		one->kind = FAIL_COMMAND;
		return parse_number(&text, &one->n) && one->n && *text == '=' &&
		       parse_errno(text + 1, &one->err);
	}
	if (!strncmp(text, "loss:", 5) || !strncmp(text, "late:", 5)) {
		one->kind = text[1] == 'o' ? LOSE_PACKET : DELAY_PACKET;
		return parse_packets(text + 5, one);
	}
	if (!drop && strncmp(text, "kill:", 5))
		return false;
	text += 5;
	one->kind = drop ? DROP_NTH : KILL_AT;
	if (!parse_number(&text, &one->n))
		return false;
	if (drop && !strcmp(text, "%")) {
		one->kind = DROP_RANDOM;
		return one->n <= 100;
	}
	return one->n && !*text;
}

int fault_add(struct fault *fault, const char *text)
{
	struct one_fault *one = calloc(1, sizeof(*one));

	if (!one)
		return ENOMEM;
	if (!parse(text, one)) {
		free(one);
		return EINVAL;
	}
	one->next = fault->list;
	fault->list = one;
	return 0;
}

int fault_command(struct fault *fault)
{
	const struct one_fault *one;
	uint64_t n;

	if (!fault)
		return 0;
	n = atomic_fetch_add(&fault->commands, 1) + 1;
	for (one = fault->list; one; one = one->next)
		if (one->kind == FAIL_COMMAND && one->n == n)
			return one->err;
	return 0;
}

/* splitmix64: passes any seed, 0 included */
static uint64_t next_random(struct fault *fault)
{
	uint64_t z = fault->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static enum fault_action action_of(struct fault *fault, const struct one_fault *one)
{
	switch (one->kind) {
	case DROP_NTH:
		return fault->messages == one->n ? FAULT_DROP : FAULT_NONE;
	case DROP_RANDOM:
		return next_random(fault) % 100 < one->n ? FAULT_DROP : FAULT_NONE;
	case KILL_AT:
		return fault->messages == one->n ? FAULT_KILL : FAULT_NONE;
	default:
		return FAULT_NONE;
	}
}

enum fault_action fault_message(struct fault *fault)
{
	enum fault_action worst = FAULT_NONE, action;
	const struct one_fault *one;

	if (!fault)
		return FAULT_NONE;
	fault->messages++;
	for (one = fault->list; one; one = one->next) {
		action = action_of(fault, one);
		if (action > worst)
			worst = action;
	}
	return worst;
}

static bool is_of_packets(const struct one_fault *one)
{
	return one->kind == LOSE_PACKET || one->kind == DELAY_PACKET;
}

bool fault_has_packets(const struct fault *fault)
{
	const struct one_fault *one;

	for (one = fault ? fault->list : NULL; one; one = one->next)
		if (is_of_packets(one))
			return true;
	return false;
}

static bool hits_packet(struct fault *fault, const struct one_fault *one)
{
	if (!is_of_packets(one))
		return false;
	if (!one->random)
		return fault->packets == one->n;
	return next_random(fault) % (100 * PARTS_OF_PERCENT) < one->n;
}

enum packet_fault fault_packet(struct fault *fault)
{
	enum packet_fault worst = PACKET_FINE;
	const struct one_fault *one;

	if (!fault)
		return PACKET_FINE;
	fault->packets++;
	for (one = fault->list; one; one = one->next) {
		if (!hits_packet(fault, one))
			continue;
		if (one->kind == LOSE_PACKET)
			worst = PACKET_LOST;
		else if (worst == PACKET_FINE)
			worst = PACKET_LATE;
	}
	return worst;
}
