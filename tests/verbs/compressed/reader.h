/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader.h - reads a CQ of direct verbs in the program itself, and expands compressed runs,
 * independently of the library.
 */
#ifndef TESTS_VERBS_COMPRESSED_READER_H
#define TESTS_VERBS_COMPRESSED_READER_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stdint.h>

/* One half of a mini CQE, and the byte count. */
struct mini_cqe {
	uint8_t own[4];
	__be32 byte_count;
};

enum { MINI_CQES = 8, CQE_COMPRESSED = 3 };

struct reader {
	struct ibv_cq *cq;
	struct mlx5dv_cq ring;
	uint32_t ci;
	struct mlx5_cqe64 title; /* of the run being expanded */
	uint32_t first, left;    /* index of its next CQE, and number of its CQEs left */
	struct mini_cqe array[MINI_CQES];
	uint32_t runs, compressed; /* completions that came in runs */
	uint8_t format;
	bool striding;    /* messages of a queue with strides complete here */
	uint16_t counter; /* WQE counter of the run's next message */
};

/* Makes a CQ of COUNT entries; FORMAT is enum mlx5dv_cqe_comp_res_format, or 0 for one that does
 * not compress. */
void reader_open(struct reader *reader, struct ibv_context *ctx, uint32_t count, uint8_t format,
		 uint16_t cqe_size, bool padded);
void reader_close(struct reader *reader);
bool reader_wait(struct reader *reader, struct mlx5_cqe64 *cqe);
bool reader_is_empty(const struct reader *reader);

#endif
