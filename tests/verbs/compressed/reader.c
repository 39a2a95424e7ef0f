/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reader.c - see reader.h. Facts of the entries: prm/mlx5/mini_cqe.h. This file has its own copy on
 * purpose, so that a wrong fact shows.
 */
#include "tests/verbs/compressed/reader.h"

#include <string.h>
#include <time.h>

#include "tests/lib/say.h"

enum { WAIT_MS = 20000, OWNER = 1, INVALID = 0xf0 };

static struct mlx5_cqe64 *entry(const struct reader *reader, uint32_t index)
{
	uint32_t slot = index & (reader->ring.cqe_cnt - 1);
	uint8_t *end = (uint8_t *)reader->ring.buf + (size_t)(slot + 1) * reader->ring.cqe_size;

	return (struct mlx5_cqe64 *)end - 1;
}

static uint8_t lap_owner(const struct reader *reader, uint32_t index)
{
	return !!(index & reader->ring.cqe_cnt);
}

void reader_open(struct reader *reader, struct ibv_context *ctx, uint32_t count, uint8_t format,
		 uint16_t cqe_size, bool padded)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = count - 1 };
	struct mlx5dv_cq_init_attr dv = {
		.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
		.cqe_comp_res_format = format,
		.cqe_size = cqe_size,
	};
	struct ibv_cq_ex *cq;
	struct mlx5dv_obj obj;

	if (format)
		dv.comp_mask |= MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE;
	if (padded) {
		dv.comp_mask |= MLX5DV_CQ_INIT_ATTR_MASK_FLAGS;
		dv.flags = MLX5DV_CQ_INIT_ATTR_FLAGS_CQE_PAD;
	}
	memset(reader, 0, sizeof(*reader));
	reader->format = format;
	MUST(cq = mlx5dv_create_cq(ctx, &attr, &dv));
	reader->cq = ibv_cq_ex_to_cq(cq);
	obj = (struct mlx5dv_obj){ .cq = { reader->cq, &reader->ring } };
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	MUST(reader->ring.cqe_cnt == count && reader->ring.cqe_size == cqe_size);
	for (uint32_t i = 0; i < count; i++)
		entry(reader, i)->op_own = INVALID | OWNER;
}

void reader_close(struct reader *reader)
{
	MUST(!ibv_destroy_cq(reader->cq));
}

bool reader_is_empty(const struct reader *reader)
{
	uint8_t op_own;

	if (reader->left)
		return false;
	op_own = __atomic_load_n(&entry(reader, reader->ci)->op_own, __ATOMIC_ACQUIRE);
	return (op_own & INVALID) == INVALID || (op_own & OWNER) != lap_owner(reader, reader->ci);
}

/* Gives an entry back to the adapter. A mini CQE may have overwritten its owner bit, so this sets
 * it. */
static void entry_give_back(struct reader *reader)
{
	entry(reader, reader->ci)->op_own = INVALID | lap_owner(reader, reader->ci);
	reader->ci++;
}

static void publish(struct reader *reader)
{
	__atomic_store_n(reader->ring.dbrec, htobe32(reader->ci & 0xffffff), __ATOMIC_RELEASE);
}

static void run_begin(struct reader *reader)
{
	reader->title = *entry(reader, reader->ci);
	reader->first = reader->ci;
	reader->left = be32toh(reader->title.byte_cnt);
	reader->counter = be16toh(reader->title.wqe_counter);
	memcpy(reader->array, entry(reader, reader->ci + 1), sizeof(reader->array));
	reader->runs++;
	reader->compressed += reader->left;
}

/* Takes a run. A requester's mini CQE has the WQE counter and the opcode. A responder's has the
 * counter in one format only; otherwise the counter grows by one each, or by the strides of a
 * frame. */
static void run_take(struct reader *reader, struct mlx5_cqe64 *cqe)
{
	uint32_t part = reader->ci - reader->first;
	const struct mini_cqe *mini = &reader->array[part % MINI_CQES];

	if (part && part % MINI_CQES == 0)
		memcpy(reader->array, entry(reader, reader->ci), sizeof(reader->array));
	*cqe = reader->title;
	cqe->op_own &= INVALID | OWNER;
	cqe->byte_cnt = mini->byte_count;
	if (mlx5dv_get_cqe_opcode(cqe) == MLX5_CQE_REQ) {
		memcpy(&cqe->wqe_counter, mini->own, sizeof(cqe->wqe_counter));
		cqe->sop_drop_qpn &= htobe32(0xffffff);
		cqe->sop_drop_qpn |= htobe32((uint32_t)mini->own[2] << 24);
	} else if (reader->format == MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX) {
		memcpy(&cqe->wqe_counter, mini->own + 2, sizeof(cqe->wqe_counter));
	} else {
		cqe->wqe_counter = htobe16(reader->counter);
		reader->counter += reader->striding ? be32toh(cqe->byte_cnt) >> 16 & 0x7fff : 1;
	}
	reader->left--;
}

static bool reader_take(struct reader *reader, struct mlx5_cqe64 *cqe)
{
	if (reader_is_empty(reader))
		return false;
	if (!reader->left && mlx5dv_get_cqe_format(entry(reader, reader->ci)) == CQE_COMPRESSED)
		run_begin(reader);
	if (reader->left)
		run_take(reader, cqe);
	else
		*cqe = *entry(reader, reader->ci);
	entry_give_back(reader);
	if (!reader->left)
		publish(reader);
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool reader_wait(struct reader *reader, struct mlx5_cqe64 *cqe)
{
	uint64_t end = now_ms() + WAIT_MS;

	while (!reader_take(reader, cqe))
		if (now_ms() > end)
			return false;
	return true;
}
