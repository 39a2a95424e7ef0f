/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault.c - parses faults and counts towards them.
 *
 * The caller's lock guards counts of messages. Fronts count commands, maybe from several threads,
 * hence the atomic counters. Faults are only added at the head of the list, so another thread can
 * walk it meanwhile.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "softhca/fault.h"
#include "util/bits.h"

enum kind {
	FAIL_COMMAND,
	REFUSE_COMMAND,
	LOSE_COMMAND,
	REFUSE_QUEUED,
	DELAY_QUEUED,
	KILL_PROGRAM,
	UNPLUG_AT,
	DROP_NTH,
	DROP_RANDOM,
	KILL_AT,
	LOSE_PACKET,
	DELAY_PACKET,
	FLIP_BIT,
	TIMED,
};

enum { PARTS_OF_PERCENT = 10000 };
enum { MAX_MS = 1000000000 }; /* so that no sum of nanoseconds overflows */

struct one_fault {
	enum kind kind;
	/* number of the command, message or packet; or a share, in PARTS_OF_PERCENT; or a time in
	 * ns */
	uint64_t n;
	bool random; /* a share of packets or transfers, not a single one */
	bool has_more;
	/* late: number of packets that overtake it; flip: number of the bit; cmd-late: time in
	 * ms */
	uint64_t more;
	int err;
	enum fault_event event;
	bool done;
	struct one_fault *next;
};

struct fault {
	_Atomic(struct one_fault *) list;
	atomic_uint_fast64_t commands, executed, queued, messages, packets, transfers;
	uint64_t random;
	unsigned int fronts; /* enum fault_front; 0: any */
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

void fault_set_front(struct fault *fault, unsigned int fronts)
{
	fault->fronts = fronts;
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

static int errno_by_name(const char *name)
{
	for (int err = 1; err < 134; err++) {
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

/* Names and kinds of the faults that take a count: of commands, messages, packets or transfers. */
static const struct {
	const char *name;
	enum kind kind;
} counted[] = {
	{ "cmd", FAIL_COMMAND },
	{ "prm", REFUSE_COMMAND },
	{ "cmd-timeout", LOSE_COMMAND },
	{ "cmd-refuse", REFUSE_QUEUED },
	{ "cmd-late", DELAY_QUEUED },
	{ "cmd-kill", KILL_PROGRAM },
	{ "unplug", UNPLUG_AT },
	{ "drop", DROP_NTH },
	{ "kill", KILL_AT },
	{ "loss", LOSE_PACKET },
	{ "late", DELAY_PACKET },
	{ "flip", FLIP_BIT },
};

static const struct {
	const char *name;
	enum fault_event event;
} timed[] = {
	{ "kill", FAULT_DIE },
	{ "link-down", FAULT_LINK_DOWN },
	{ "link-up", FAULT_LINK_UP },
	{ "lid-change", FAULT_LID_CHANGE },
	{ "pkey-change", FAULT_PKEY_CHANGE },
	{ "gid-change", FAULT_GID_CHANGE },
	{ "client-reregister", FAULT_CLIENT_REREGISTER },
	{ "keks-vanish", FAULT_KEKS_VANISH },
	{ "nodes-vanish", FAULT_NODES_VANISH },
	{ "nodes-appear", FAULT_NODES_APPEAR },
	{ "unplug", FAULT_UNPLUG },
};

static bool is_name(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(text, name, len);
}

/* Parses the text behind N: the number of packets that overtake a late one, or the bit to flip. */
static bool parse_more(const char *text, struct one_fault *one)
{
	if (!*text)
		return true;
	if (one->kind == LOSE_PACKET || *text++ != '+' || !parse_number(&text, &one->more))
		return false;
	one->has_more = true;
	return (one->more || one->kind == FLIP_BIT) && !*text;
}

/* Parses N, or a percentage with up to four decimals. */
static bool parse_share(const char *text, struct one_fault *one)
{
	uint64_t unit = PARTS_OF_PERCENT;

	if (!parse_number(&text, &one->n))
		return false;
	if (!*text || *text == '+')
		return one->n && parse_more(text, one);
	one->random = true;
	if (one->n > 100)
		return false;
	one->n *= unit;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9' && unit > 1; text++) {
			unit /= 10;
			one->n += (uint64_t)(*text - '0') * unit;
		}
	return *text == '%' && parse_more(text + 1, one) && one->n <= 100 * PARTS_OF_PERCENT;
}

static bool is_of_packets(const struct one_fault *one)
{
	return one->kind == LOSE_PACKET || one->kind == DELAY_PACKET;
}

static bool parse_count(const char *text, struct one_fault *one)
{
	if (is_of_packets(one) || one->kind == FLIP_BIT)
		return parse_share(text, one);
	if (!parse_number(&text, &one->n))
		return false;
	if (one->kind == DROP_NTH && !strcmp(text, "%")) {
		one->kind = DROP_RANDOM;
		return one->n <= 100;
	}
	if (one->kind == FAIL_COMMAND)
		return one->n && *text == '=' && parse_errno(text + 1, &one->err);
	if (one->kind == DELAY_QUEUED)
		return one->n && *text == '+' && parse_more(text, one) && one->more <= MAX_MS;
	return one->n && !*text;
}

static bool parse_counted(const char *text, size_t len, struct one_fault *one)
{
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		if (!is_name(text, len, counted[i].name))
			continue;
		one->kind = counted[i].kind;
		one->n = 1;
		if (text[len])
			return parse_count(text + len + 1, one);
		return one->kind != FAIL_COMMAND && one->kind != DELAY_QUEUED;
	}
	return false;
}

static bool parse_timed(const char *text, size_t len, uint64_t now, struct one_fault *one)
{
	enum { NS_PER_MS = 1000000 };
	uint64_t ms = 0;

	for (size_t i = 0; i < ARRAY_SIZE(timed); i++) {
		if (!is_name(text, len, timed[i].name))
			continue;
		one->kind = TIMED;
		one->event = timed[i].event;
		text += len;
		if (*text++ == '@' && (!parse_number(&text, &ms) || ms > MAX_MS || *text))
			return false;
		one->n = now + ms * NS_PER_MS;
		return true;
	}
	return false;
}

static bool fault_parse(const char *text, uint64_t now, struct one_fault *one)
{
	size_t len = strcspn(text, ":@");

	if (text[len] == ':')
		return parse_counted(text, len, one);
	return parse_timed(text, len, now, one) || (!text[len] && parse_counted(text, len, one));
}

static bool is_of_queue(const struct one_fault *one)
{
	return one->kind >= LOSE_COMMAND && one->kind <= UNPLUG_AT;
}

static void count_from(const struct fault *fault, struct one_fault *one)
{
	if (one->kind == FAIL_COMMAND)
		one->n += fault->commands;
	else if (one->kind == REFUSE_COMMAND)
		one->n += fault->executed;
	else if (is_of_queue(one))
		one->n += fault->queued;
	else if (one->kind == DROP_NTH || one->kind == KILL_AT)
		one->n += fault->messages;
	else if (is_of_packets(one) && !one->random)
		one->n += fault->packets;
	else if (one->kind == FLIP_BIT && !one->random)
		one->n += fault->transfers;
}

/* Returns the fronts that have the fault. */
static unsigned int fronts_of(const struct one_fault *one)
{
	if (one->kind == LOSE_COMMAND)
		return FAULT_PCI_FRONT | FAULT_VFIO_FRONT;
	if (is_of_queue(one) || (one->kind == TIMED && one->event == FAULT_UNPLUG))
		return FAULT_VFIO_FRONT;
	if (one->kind == FAIL_COMMAND)
		return FAULT_PROCESS_FRONT;
	if (one->kind == TIMED &&
	    (one->event == FAULT_KEKS_VANISH || one->event == FAULT_NODES_VANISH ||
	     one->event == FAULT_NODES_APPEAR))
		return FAULT_PROCESS_FRONT;
	return FAULT_ANY_FRONT;
}

int fault_add(struct fault *fault, const char *text, uint64_t now_ns)
{
	struct one_fault *one = calloc(1, sizeof(*one));

	if (!one)
		return ENOMEM;
	if (!fault_parse(text, now_ns, one)) {
		free(one);
		return EINVAL;
	}
	if (fault->fronts && !(fronts_of(one) & fault->fronts)) {
		free(one);
		return EOPNOTSUPP;
	}
	count_from(fault, one);
	one->next = fault->list;
	fault->list = one;
	return 0;
}

static const struct one_fault *fault_find(struct fault *fault, enum kind kind, uint64_t n)
{
	const struct one_fault *one = fault->list;

	while (one && (one->kind != kind || one->n != n))
		one = one->next;
	return one;
}

int fault_command(struct fault *fault)
{
	const struct one_fault *one;

	if (!fault)
		return 0;
	one = fault_find(fault, FAIL_COMMAND, atomic_fetch_add(&fault->commands, 1) + 1);
	return one ? one->err : 0;
}

bool fault_refuse(struct fault *fault)
{
	return fault &&
	       fault_find(fault, REFUSE_COMMAND, atomic_fetch_add(&fault->executed, 1) + 1);
}

void fault_counts(const struct fault *fault, uint64_t *kernel_commands, uint64_t *commands)
{
	*kernel_commands = fault ? fault->commands : 0;
	*commands = fault ? fault->executed : 0;
}

bool fault_lose_command(struct fault *fault)
{
	uint64_t late_ms;

	return fault_queued(fault, &late_ms) == QUEUED_LOST;
}

enum queued_fault fault_queued(struct fault *fault, uint64_t *late_ms)
{
	static const enum queued_fault faults[] = {
		[LOSE_COMMAND] = QUEUED_LOST, [REFUSE_QUEUED] = QUEUED_REFUSED,
		[DELAY_QUEUED] = QUEUED_LATE, [KILL_PROGRAM] = QUEUED_KILL,
		[UNPLUG_AT] = QUEUED_UNPLUG,
	};
	uint64_t n;

	if (!fault)
		return QUEUED_FINE;
	n = atomic_fetch_add(&fault->queued, 1) + 1;
	for (const struct one_fault *one = fault->list; one; one = one->next) {
		if (!is_of_queue(one) || one->n != n)
			continue;
		*late_ms = one->more;
		return faults[one->kind];
	}
	return QUEUED_FINE;
}

uint64_t fault_count_queued(const struct fault *fault)
{
	return fault ? fault->queued : 0;
}

/* splitmix64, as it takes any seed, also 0. */
static uint64_t next_random(struct fault *fault)
{
	uint64_t z = fault->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static enum fault_action action_of(struct fault *fault, const struct one_fault *one,
				   uint64_t message)
{
	switch (one->kind) {
	case DROP_NTH:
		return message == one->n ? FAULT_DROP : FAULT_NONE;
	case DROP_RANDOM:
		return next_random(fault) % 100 < one->n ? FAULT_DROP : FAULT_NONE;
	case KILL_AT:
		return message == one->n ? FAULT_KILL : FAULT_NONE;
	default:
		return FAULT_NONE;
	}
}

enum fault_action fault_message(struct fault *fault)
{
	enum fault_action worst = FAULT_NONE, action;
	uint64_t message;

	if (!fault)
		return FAULT_NONE;
	message = atomic_fetch_add(&fault->messages, 1) + 1;
	for (const struct one_fault *one = fault->list; one; one = one->next) {
		action = action_of(fault, one, message);
		if (action > worst)
			worst = action;
	}
	return worst;
}

bool fault_has_packets(const struct fault *fault)
{
	for (const struct one_fault *one = fault ? fault->list : NULL; one; one = one->next)
		if (is_of_packets(one))
			return true;
	return false;
}

static bool fault_hits(struct fault *fault, const struct one_fault *one, uint64_t n)
{
	if (!one->random)
		return n == one->n;
	return next_random(fault) % (100 * PARTS_OF_PERCENT) < one->n;
}

enum packet_fault fault_packet(struct fault *fault, uint64_t *overtaken)
{
	enum packet_fault worst = PACKET_FINE;
	uint64_t packet;

	if (!fault)
		return PACKET_FINE;
	packet = atomic_fetch_add(&fault->packets, 1) + 1;
	for (const struct one_fault *one = fault->list; one; one = one->next) {
		if (!is_of_packets(one) || !fault_hits(fault, one, packet))
			continue;
		if (one->kind == LOSE_PACKET) {
			worst = PACKET_LOST;
		} else if (worst == PACKET_FINE) {
			worst = PACKET_LATE;
			*overtaken = one->more;
		}
	}
	return worst;
}

bool fault_flip(struct fault *fault, uint64_t bits, uint64_t *bit)
{
	const struct one_fault *one;
	uint64_t transfer;

	if (!fault)
		return false;
	transfer = atomic_fetch_add(&fault->transfers, 1) + 1;
	for (one = fault->list; one; one = one->next)
		if (one->kind == FLIP_BIT && fault_hits(fault, one, transfer))
			break;
	if (!one)
		return false;
	*bit = (one->has_more ? one->more : next_random(fault)) % bits;
	return true;
}

static struct one_fault *fault_earliest(const struct fault *fault)
{
	struct one_fault *found = NULL;

	for (struct one_fault *one = fault->list; one; one = one->next)
		if (one->kind == TIMED && !one->done && (!found || one->n <= found->n))
			found = one;
	return found;
}

bool fault_due(struct fault *fault, uint64_t now_ns, enum fault_event *event)
{
	struct one_fault *one = fault ? fault_earliest(fault) : NULL;

	if (!one || one->n > now_ns)
		return false;
	one->done = true;
	*event = one->event;
	return true;
}

uint64_t fault_deadline(const struct fault *fault)
{
	const struct one_fault *one = fault ? fault_earliest(fault) : NULL;

	return one ? one->n : FAULT_NEVER;
}
