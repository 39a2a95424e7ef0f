/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * indirect.c - keys made of pieces of other keys: a peer reads the pieces in their order.
 *
 * Covers: providers/mlx5/dv/devx_obj.c, softhca/device/memory/mkey.c, softhca/device/memory/xlt.c
 */
#include <string.h>

#include "dx.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/umr.h"
#include "tests/lib/say.h"

enum { PIECES = 4, PIECE = 96, SIZE = 2 * DX_PAGE };

static uint8_t *piece_at(const struct dx_end *end, unsigned int i)
{
	return end->memory.addr + (size_t)(PIECES - 1 - i) * 1024;
}

static void key_of_pieces(const struct dx_end *end, struct dx_key *key)
{
	struct dx_command cmd;
	uint8_t *mkc = fld_at(cmd.in, CREATE_MKEY_IN_MKC);
	uint32_t index;

	dx_command(&cmd, PRM_OP_CREATE_MKEY, PRM_CREATE_MKEY_IN_SIZE + PIECES * 16);
	fld_set(cmd.in, CREATE_MKEY_IN_TRANSLATIONS_OCTWORD_ACTUAL_SIZE, PIECES);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_KLMS);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_RR, 1);
	fld_set(mkc, MKC_QPN, PRM_MKC_ANY_QP);
	fld_set(mkc, MKC_PD, end->device.pdn);
	fld_set(mkc, MKC_LEN, PIECES * PIECE);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, PIECES);
	for (unsigned int i = 0; i < PIECES; i++) {
		uint8_t *klm = (uint8_t *)fld_at(cmd.in, CREATE_MKEY_IN_PAS) + (size_t)i * 16;

		fld_set(klm, KLM_BCOUNT, PIECE);
		fld_set(klm, KLM_KEY, end->key.key);
		fld_set(klm, KLM_VA, (uintptr_t)piece_at(end, i));
	}
	key->obj = dx_must_create(end->device.ctx, &cmd, &index);
	key->key = index << 8;
}

static bool pieces_came(const struct dx_end *reader)
{
	for (unsigned int i = 0; i < PIECES * PIECE; i++)
		if (reader->memory.addr[i] != 'a' + i / PIECE)
			return false;
	return true;
}

static void read_pieces(struct dx_end *reader, struct dx_end *owner, const struct dx_key *key)
{
	struct dx_piece into = { reader->memory.addr, PIECES * PIECE, reader->key.key };
	const struct mlx5_cqe64 *cqe;

	for (unsigned int i = 0; i < PIECES; i++)
		memset(piece_at(owner, i), 'a' + i, PIECE);
	dx_post_send(&reader->qp, MLX5_OPCODE_RDMA_READ, &into, 0, key->key);
	cqe = dx_cq_poll(&reader->cq);
	MUST(cqe);
	say("read: opcode %d", cqe->op_own >> 4);
	say_check(pieces_came(reader), "the pieces in their order");
}

void dx_indirect(void)
{
	struct dx_end reader, owner;
	struct dx_key key;

	dx_end_open(SIZE, &reader);
	dx_end_open(SIZE, &owner);
	key_of_pieces(&owner, &key);
	dx_qp_connect(&reader.qp, &owner.device, owner.qp.qpn);
	dx_qp_connect(&owner.qp, &reader.device, reader.qp.qpn);
	read_pieces(&reader, &owner, &key);
	MUST(!mlx5dv_devx_obj_destroy(key.obj));
	dx_end_close(&reader);
	dx_end_close(&owner);
}
