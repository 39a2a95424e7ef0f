/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GASNet-EX across the adapter: each rank puts a block into the next rank's segment, gets it back,
 * and sends long and short active messages, whose replies are counted. Every word is checked; each
 * rank says "all right".
 */
#include <gasnetex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS      40000
#define ROUNDS     5
#define LONG_WORDS 500

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Segment_t segment;
static int rank, ranks, pings, pongs;

static uint32_t value(int from, int round, int i)
{
	return (uint32_t)(from * 1000003 + round * 7919 + i);
}

static void check_holds(int holds, const char *what, int round)
{
	if (holds)
		return;
	fprintf(stderr, "rank %d, round %d: %s\n", rank, round, what);
	gasnet_exit(1);
}

static void check_words(const uint32_t *words, int n, int from, int round, const char *what)
{
	for (int i = 0; i < n; i++)
		check_holds(words[i] == value(from, round, i), what, round);
}

enum { PING = GEX_AM_INDEX_BASE, PONG };

static void ping(gex_Token_t token, void *words, size_t size, gex_AM_Arg_t from, gex_AM_Arg_t round)
{
	check_holds(size == LONG_WORDS * sizeof(uint32_t), "a message of another size", round);
	check_words(words, LONG_WORDS, from, round, "wrong words in a message");
	pings++;
	gex_AM_ReplyShort1(token, PONG, 0, round);
}

static void pong(gex_Token_t token, gex_AM_Arg_t round)
{
	(void)token;
	check_holds(round == pongs, "a reply out of turn", round);
	pongs++;
}

static gex_AM_Entry_t handlers[] = {
	{ PING, (gex_AM_Fn_t)ping, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 2, NULL, "ping" },
	{ PONG, (gex_AM_Fn_t)pong, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1, NULL, "pong" },
};

static void barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

static uint32_t *segment_of(int of)
{
	void *address;
	gex_Event_t event = gex_EP_QueryBoundSegmentNB(team, of, &address, NULL, NULL, 0);

	gex_Event_Wait(event);
	return address;
}

static void copy_round_the_ring(uint32_t *mine, uint32_t *theirs, int next, int round)
{
	static uint32_t words[WORDS], back[WORDS];
	int before = (rank + ranks - 1) % ranks;

	for (int i = 0; i < WORDS; i++)
		words[i] = value(rank, round, i);
	check_holds(gex_RMA_PutBlocking(team, next, theirs, words, sizeof(words), 0) == 0, "no put",
		    round);
	barrier();
	check_words(mine, WORDS, before, round, "wrong words were put");
	check_holds(gex_RMA_GetBlocking(team, back, next, theirs, sizeof(back), 0) == 0, "no get",
		    round);
	check_words(back, WORDS, rank, round, "wrong words were got");
	barrier();
}

/* A message's words have a place of their own behind the block. */
static void send_messages(uint32_t *theirs, int next, int round)
{
	static uint32_t words[LONG_WORDS];

	for (int i = 0; i < LONG_WORDS; i++)
		words[i] = value(rank, round, i);
	gex_AM_RequestLong2(team, next, PING, words, sizeof(words), theirs + WORDS, GEX_EVENT_NOW,
			    0, rank, round);
	GASNET_BLOCKUNTIL(pongs > round && pings > round);
	barrier();
}

int main(int argc, char **argv)
{
	uint32_t *mine, *theirs;
	int next;

	gex_Client_Init(&client, &endpoint, &team, "gasnet_ring", &argc, &argv, 0);
	gex_EP_RegisterHandlers(endpoint, handlers, sizeof(handlers) / sizeof(handlers[0]));
	gex_Segment_Attach(&segment, team, 4 << 20);
	rank = gex_TM_QueryRank(team);
	ranks = gex_TM_QuerySize(team);
	next = (rank + 1) % ranks;
	mine = segment_of(rank);
	theirs = segment_of(next);
	for (int round = 0; round < ROUNDS; round++) {
		copy_round_the_ring(mine, theirs, next, round);
		send_messages(theirs, next, round);
	}
	printf("rank %d of %d: all right\n", rank, ranks);
	fflush(stdout);
	barrier();
	gasnet_exit(0);
	return 0;
}
