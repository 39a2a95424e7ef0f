/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mpi_ring.c - an MPI program that looks at every byte: a message goes round all ranks, growing
 * from nothing to a few megabytes (so that it is sent inline, eagerly and by rendezvous), and sums
 * are made by allreduce. The first rank prints what was done; a wrong byte ends all with status 1.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 4 << 20, SUMS = 100000 };

static int rank, ranks;

static void wrong(const char *what, size_t at)
{
	fprintf(stderr, "rank %d: %s is wrong at %zu\n", rank, what, at);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* What rank FROM puts at AT of the message with number SEQUENCE. */
static uint8_t byte_of(unsigned int sequence, int from, size_t at)
{
	return sequence * 7 + from * 31 + at + (at >> 8) * 3 + (at >> 16) * 5;
}

static void pass_round(uint8_t *out, uint8_t *in, size_t size, unsigned int sequence)
{
	int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
	MPI_Request requests[2];

	for (size_t i = 0; i < size; i++)
		out[i] = byte_of(sequence, rank, i);
	MPI_Irecv(in, size, MPI_BYTE, previous, sequence, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(out, size, MPI_BYTE, next, sequence, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	for (size_t i = 0; i < size; i++)
		if (in[i] != byte_of(sequence, previous, i))
			wrong("the ring", i);
}

static unsigned int ring_run(void)
{
	uint8_t *out = malloc(LARGEST), *in = malloc(LARGEST);
	unsigned int sequence = 0;

	if (!out || !in)
		wrong("memory", 0);
	pass_round(out, in, 0, sequence++);
	for (size_t size = 1; size <= LARGEST; size *= 4)
		for (int i = 0; i < 3; i++)
			pass_round(out, in, size - i * (size > 2), sequence++);
	free(out);
	free(in);
	return sequence;
}

static void sum_up(void)
{
	int64_t *mine = malloc(SUMS * sizeof(*mine)), *sum = malloc(SUMS * sizeof(*sum));

	if (!mine || !sum)
		wrong("memory", 0);
	for (int i = 0; i < SUMS; i++)
		mine[i] = (int64_t)(rank + 1) * i;
	MPI_Allreduce(mine, sum, SUMS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < SUMS; i++)
		if (sum[i] != (int64_t)ranks * (ranks + 1) / 2 * i)
			wrong("the sum", i);
	free(mine);
	free(sum);
}

int main(int argc, char **argv)
{
	unsigned int messages;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	messages = ring_run();
	sum_up();
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, %u messages round the ring, %d sums: all right\n", ranks,
		       messages, SUMS);
	MPI_Finalize();
	return 0;
}
