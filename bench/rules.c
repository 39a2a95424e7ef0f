/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rules.c - direct rules below the root table: how many a second threads insert and delete, and how
 * many bytes of the heap each takes.
 *
 * rules COUNT THREADS: each thread has a matcher of its own, and COUNT rules of one UDP port and
 * address each. It needs an adapter that lets software write entries (softhca --steering v1), and
 * runs on the distribution's library, too. On softhca, the adapter shares the processors, so rates
 * compare libraries only; the time of the threads' processors includes their polling.
 */
#include <infiniband/mlx5dv.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "prm/mlx5/match.h"
#include "tests/lib/say.h"

enum { THREADS_MAX = 8, MATCH_SIZE = 64 };

struct worker {
	pthread_t thread;
	struct mlx5dv_dr_matcher *matcher;
	struct mlx5dv_dr_action *drop;
	struct mlx5dv_dr_rule **rules;
	unsigned int number, count;
	double cpu[2]; /* seconds of insertion and deletion */
};

static double now(clockid_t clock)
{
	struct timespec time;

	MUST(!clock_gettime(clock, &time));
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct mlx5dv_flow_match_parameters *match_make(void)
{
	struct mlx5dv_flow_match_parameters *match = calloc(1, sizeof(*match) + MATCH_SIZE);

	MUST(match);
	match->match_sz = MATCH_SIZE;
	return match;
}

static void match_set(struct mlx5dv_flow_match_parameters *match, uint32_t port, uint32_t address)
{
	fld_set(match->match_buf, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_IP_VERSION), 4);
	fld_set(match->match_buf, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_UDP_DPORT), port);
	fld_set(match->match_buf, FLD_IN(MATCH_OUTER_HEADERS, LYR_2_4_DST_IPV4 + FLD(0x0, 31, 0)),
		address);
}

static void *insert_all(void *arg)
{
	const double start = now(CLOCK_THREAD_CPUTIME_ID);
	struct mlx5dv_flow_match_parameters *value = match_make();
	struct worker *worker = arg;

	for (unsigned int i = 0; i < worker->count; i++) {
		match_set(value, i & 0xffff, worker->number << 24 | i);
		worker->rules[i] = mlx5dv_dr_rule_create(worker->matcher, value, 1, &worker->drop);
		MUST(worker->rules[i]);
	}
	free(value);
	worker->cpu[0] = now(CLOCK_THREAD_CPUTIME_ID) - start;
	return NULL;
}

static void *delete_all(void *arg)
{
	const double start = now(CLOCK_THREAD_CPUTIME_ID);
	struct worker *worker = arg;

	for (unsigned int i = 0; i < worker->count; i++)
		MUST(!mlx5dv_dr_rule_destroy(worker->rules[i]));
	worker->cpu[1] = now(CLOCK_THREAD_CPUTIME_ID) - start;
	return NULL;
}

/* Returns the time that all threads together take for RUN. */
static double workers_run(struct worker *workers, unsigned int threads, void *(*run)(void *arg))
{
	const double start = now(CLOCK_MONOTONIC);

	for (unsigned int i = 0; i < threads; i++)
		MUST(!pthread_create(&workers[i].thread, NULL, run, &workers[i]));
	for (unsigned int i = 0; i < threads; i++)
		MUST(!pthread_join(workers[i].thread, NULL));
	return now(CLOCK_MONOTONIC) - start;
}

static size_t heap_used(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void workers_open(struct worker *workers, unsigned int threads, unsigned int count,
			 struct mlx5dv_dr_table *table)
{
	struct mlx5dv_flow_match_parameters *mask = match_make();

	match_set(mask, 0xffff, 0xffffffff);
	for (unsigned int i = 0; i < threads; i++) {
		MUST(workers[i].matcher =
			     mlx5dv_dr_matcher_create(table, (uint16_t)i, PRM_MATCH_OUTER, mask));
		MUST(workers[i].drop = mlx5dv_dr_action_create_drop());
		MUST(workers[i].rules = calloc(count, sizeof(workers[i].rules[0])));
		workers[i].number = i;
		workers[i].count = count;
	}
	free(mask);
}

static void workers_close(struct worker *workers, unsigned int threads)
{
	for (unsigned int i = 0; i < threads; i++) {
		MUST(!mlx5dv_dr_matcher_destroy(workers[i].matcher));
		MUST(!mlx5dv_dr_action_destroy(workers[i].drop));
		free(workers[i].rules);
	}
}

static void rules_measure(struct mlx5dv_dr_domain *domain, unsigned int threads, unsigned int count)
{
	struct worker workers[THREADS_MAX] = { { .count = 0 } };
	const double rules = (double)count * threads;
	struct mlx5dv_dr_table *table;
	double insertion, deletion, cpu[2] = { 0 };
	size_t heap;

	MUST(table = mlx5dv_dr_table_create(domain, 1));
	workers_open(workers, threads, count, table);
	heap = heap_used();
	insertion = workers_run(workers, threads, insert_all);
	heap = heap_used() - heap;
	deletion = workers_run(workers, threads, delete_all);
	for (unsigned int i = 0; i < threads; i++)
		for (int j = 0; j < 2; j++)
			cpu[j] += workers[i].cpu[j];
	printf("%u threads, %u rules each: %.0f insertions/s (%.2f us of a processor each), "
	       "%.0f deletions/s (%.2f us), %.0f bytes a rule\n",
	       threads, count, rules / insertion, cpu[0] / rules * 1e6, rules / deletion,
	       cpu[1] / rules * 1e6, (double)heap / rules);
	workers_close(workers, threads);
	MUST(!mlx5dv_dr_table_destroy(table));
}

int main(int argc, char **argv)
{
	const unsigned int count = argc > 1 ? (unsigned int)atoi(argv[1]) : 10000;
	const unsigned int threads = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct mlx5dv_dr_domain *domain;
	struct ibv_context *context;
	size_t heap;

	MUST(devices && devices[0]);
	MUST(count && threads && threads <= THREADS_MAX);
	MUST(context = ibv_open_device(devices[0]));
	heap = heap_used();
	MUST(domain = mlx5dv_dr_domain_create(context, MLX5DV_DR_DOMAIN_TYPE_NIC_RX));
	printf("a domain: %zu bytes\n", heap_used() - heap);
	rules_measure(domain, threads, count);
	MUST(!mlx5dv_dr_domain_destroy(domain));
	MUST(!ibv_close_device(context));
	ibv_free_device_list(devices);
	return 0;
}
