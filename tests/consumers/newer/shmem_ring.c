/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * OpenSHMEM across the adapter: each PE puts a block of its own into the next PE's memory, gets it
 * back, adds to a counter of the first PE, swaps a word of the next one, and sums vectors with all
 * others. Every value is checked; the first PE says "all right".
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS  20000
#define ROUNDS 10

/* static, as all of it is symmetric memory: the others reach it */
static long block[WORDS], counter, word, sums[WORDS], parts[WORDS];
static long scratch[WORDS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE], syncs[SHMEM_REDUCE_SYNC_SIZE];

static long value(int pe, int round, int i)
{
	return (pe + 1L) * 1000000 + round * 1000L + i % 997;
}

static void check_holds(int holds, const char *what, int round)
{
	if (holds)
		return;
	fprintf(stderr, "PE %d, round %d: wrong %s\n", shmem_my_pe(), round, what);
	shmem_global_exit(1);
}

static void check_block(const long *words, int pe, int round, const char *what)
{
	for (int i = 0; i < WORDS; i++)
		check_holds(words[i] == value(pe, round, i), what, round);
}

static void copy_round_the_ring(int me, int n, int round)
{
	static long mine[WORDS], back[WORDS];
	int next = (me + 1) % n, before = (me + n - 1) % n;

	for (int i = 0; i < WORDS; i++)
		mine[i] = value(me, round, i);
	shmem_long_put(block, mine, WORDS, next);
	shmem_barrier_all();
	check_block(block, before, round, "put");
	shmem_long_get(back, block, WORDS, next);
	check_block(back, me, round, "get");
	shmem_barrier_all();
}

static void count_atomically(int me, int n, int round)
{
	long old;

	shmem_long_atomic_add(&counter, me + 1, 0);
	old = shmem_long_atomic_swap(&word, round + 1, (me + 1) % n);
	check_holds(old == round, "swap", round);
	shmem_barrier_all();
	check_holds(me != 0 || counter == (round + 1L) * n * (n + 1) / 2, "sum of additions",
		    round);
	shmem_barrier_all();
}

static void sum_vectors(int me, int n, int round)
{
	for (int i = 0; i < WORDS; i++)
		parts[i] = me + i;
	shmem_barrier_all();
	shmem_long_sum_to_all(sums, parts, WORDS, 0, 0, n, scratch, syncs);
	for (int i = 0; i < WORDS; i++)
		check_holds(sums[i] == (long)n * i + (long)n * (n - 1) / 2, "sum of vectors",
			    round);
}

int main(void)
{
	int me, n;

	shmem_init();
	me = shmem_my_pe();
	n = shmem_n_pes();
	for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
		syncs[i] = SHMEM_SYNC_VALUE;
	shmem_barrier_all();
	for (int round = 0; round < ROUNDS; round++) {
		copy_round_the_ring(me, n, round);
		count_atomically(me, n, round);
		sum_vectors(me, n, round);
	}
	if (me == 0)
		printf("%d PEs, %d rounds: all right\n", n, ROUNDS);
	shmem_finalize();
	return 0;
}
