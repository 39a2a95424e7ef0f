/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collectives of UCC across the adapter: sums of vectors, a broadcast from each rank, and an
 * exchange of all with all; each value is checked. MPI starts the ranks and carries the addresses
 * that they exchange at the beginning, and nothing else.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucc/api/ucc.h>

#define WORDS 30000

static int rank, ranks;
static ucc_context_h context;
static ucc_team_h team;
static int64_t source[WORDS], target[WORDS];

static void check_holds(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static ucc_status_t gather_addresses(void *from, void *to, size_t size, void *info, void **request)
{
	(void)info;
	*request = NULL;
	MPI_Allgather(from, (int)size, MPI_BYTE, to, (int)size, MPI_BYTE, MPI_COMM_WORLD);
	return UCC_OK;
}

static ucc_status_t gather_test(void *request)
{
	(void)request;
	return UCC_OK;
}

#define BOOTSTRAP                                                                                \
	{                                                                                        \
		.allgather = gather_addresses, .req_test = gather_test, .req_free = gather_test, \
		.coll_info = NULL, .n_oob_eps = ranks, .oob_ep = rank,                           \
	}

static void open_context(void)
{
	ucc_lib_params_t lib_params = { .mask = UCC_LIB_PARAM_FIELD_THREAD_MODE,
					.thread_mode = UCC_THREAD_SINGLE };
	ucc_context_params_t params = { .mask = UCC_CONTEXT_PARAM_FIELD_OOB, .oob = BOOTSTRAP };
	ucc_lib_config_h lib_config;
	ucc_context_config_h config;
	ucc_lib_h lib;

	check_holds(ucc_lib_config_read(NULL, NULL, &lib_config) == UCC_OK, "no configuration");
	check_holds(ucc_init(&lib_params, lib_config, &lib) == UCC_OK, "UCC does not start");
	check_holds(ucc_context_config_read(lib, NULL, &config) == UCC_OK, "no configuration");
	check_holds(ucc_context_create(lib, &params, config, &context) == UCC_OK, "no context");
}

static void open_team(void)
{
	ucc_team_params_t params = {
		.mask = UCC_TEAM_PARAM_FIELD_EP | UCC_TEAM_PARAM_FIELD_EP_RANGE |
			UCC_TEAM_PARAM_FIELD_OOB,
		.ep = rank,
		.ep_range = UCC_COLLECTIVE_EP_RANGE_CONTIG,
		.oob = BOOTSTRAP,
	};
	ucc_status_t status;

	check_holds(ucc_team_create_post(&context, 1, &params, &team) == UCC_OK, "no team");
	while ((status = ucc_team_create_test(team)) == UCC_INPROGRESS)
		ucc_context_progress(context);
	check_holds(status == UCC_OK, "no team in the end");
}

static void run_collective(ucc_coll_args_t *args, const char *what)
{
	ucc_coll_req_h request;
	ucc_status_t status;

	check_holds(ucc_collective_init(args, &request, team) == UCC_OK, what);
	check_holds(ucc_collective_post(request) == UCC_OK, what);
	while ((status = ucc_collective_test(request)) == UCC_INPROGRESS)
		ucc_context_progress(context);
	check_holds(status == UCC_OK, what);
	check_holds(ucc_collective_finalize(request) == UCC_OK, what);
}

static ucc_coll_buffer_info_t vector(int64_t *words, int n)
{
	ucc_coll_buffer_info_t info = { .buffer = words,
					.count = n,
					.datatype = UCC_DT_INT64,
					.mem_type = UCC_MEMORY_TYPE_HOST };
	return info;
}

static void sum_vectors(int n)
{
	ucc_coll_args_t args = { .coll_type = UCC_COLL_TYPE_ALLREDUCE,
				 .src.info = vector(source, n),
				 .dst.info = vector(target, n),
				 .op = UCC_OP_SUM };

	for (int i = 0; i < n; i++)
		source[i] = rank * 7 + i;
	run_collective(&args, "no sum");
	for (int i = 0; i < n; i++)
		check_holds(target[i] == (int64_t)ranks * i + 7 * ranks * (ranks - 1) / 2,
			    "a wrong sum");
}

static void broadcast_vector(int root)
{
	ucc_coll_args_t args = { .coll_type = UCC_COLL_TYPE_BCAST,
				 .src.info = vector(source, WORDS),
				 .root = root };

	for (int i = 0; i < WORDS; i++)
		source[i] = rank == root ? root * 1000 + i : -1;
	run_collective(&args, "no broadcast");
	for (int i = 0; i < WORDS; i++)
		check_holds(source[i] == root * 1000 + i, "a wrong broadcast");
}

static void exchange_vectors(void)
{
	int each = WORDS / ranks, n = each * ranks;
	ucc_coll_args_t args = { .coll_type = UCC_COLL_TYPE_ALLTOALL,
				 .src.info = vector(source, n),
				 .dst.info = vector(target, n) };

	for (int i = 0; i < n; i++)
		source[i] = rank * 100000 + i;
	run_collective(&args, "no exchange");
	for (int i = 0; i < n; i++)
		check_holds(target[i] == i / each * 100000 + rank * each + i % each,
			    "a wrong exchange");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	open_context();
	open_team();
	for (int n = 1; n <= WORDS; n = n * 4 + 1)
		sum_vectors(n);
	for (int root = 0; root < ranks; root++)
		broadcast_vector(root);
	exchange_vectors();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, sums, broadcasts and an exchange: all right\n", ranks);
	ucc_team_destroy(team);
	ucc_context_destroy(context);
	MPI_Finalize();
	return 0;
}
