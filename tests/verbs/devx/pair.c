/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pair.c - two RC QPs in two contexts, with all their objects created by the device's own commands:
 * sends data both ways and compares it.
 *
 * Covers: providers/mlx5/dv/devx_obj.c, providers/mlx5/dv/devx_umem.c, providers/mlx5/dv/uar.c,
 * softhca/device/format/mlx5/cmd/umem.c, softhca/device/memory/umem.c
 */
#include <string.h>

#include "dx.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { SIZE = 3 * DX_PAGE, LAPS = 3 };

static struct dx_piece all_of(const struct dx_end *end)
{
	return (struct dx_piece){ end->memory.addr, SIZE, end->key.key };
}

static void fill_memory(struct dx_end *end, uint8_t seed)
{
	for (size_t i = 0; i < SIZE; i++)
		end->memory.addr[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

static bool same_memory(const struct dx_end *a, const struct dx_end *b)
{
	return !memcmp(a->memory.addr, b->memory.addr, SIZE);
}

static void say_cqe(const struct mlx5_cqe64 *cqe, const struct dx_end *end, const char *who)
{
	MUST(cqe);
	say("%s: opcode %d, counter %u, bytes %u, of its QP %d", who, cqe->op_own >> 4,
	    be16toh(cqe->wqe_counter), be32toh(cqe->byte_cnt),
	    (be32toh(cqe->sop_drop_qpn) & 0xffffff) == end->qp.qpn);
}

static void move_by_send(struct dx_end *from, struct dx_end *to, uint8_t seed)
{
	struct dx_piece source = all_of(from), target = all_of(to);

	fill_memory(from, seed);
	fill_memory(to, ~seed);
	dx_post_recv(&to->qp, &target);
	dx_post_send(&from->qp, MLX5_OPCODE_SEND, &source, 0, 0);
	say_cqe(dx_cq_poll(&to->cq), to, "received");
	say_cqe(dx_cq_poll(&from->cq), from, "sent");
	say_check(same_memory(from, to), "data of a send");
}

static void move_by_rdma(struct dx_end *end, struct dx_end *peer, uint8_t opcode, uint8_t seed)
{
	struct dx_piece own = all_of(end);

	fill_memory(end, seed);
	fill_memory(peer, ~seed);
	dx_post_send(&end->qp, opcode, &own, (uintptr_t)peer->memory.addr, peer->key.key);
	say_cqe(dx_cq_poll(&end->cq), end, opcode == MLX5_OPCODE_RDMA_READ ? "read" : "written");
	say_check(same_memory(end, peer), "data of RDMA");
	fill_memory(end, opcode == MLX5_OPCODE_RDMA_READ ? ~seed : seed);
	say_check(same_memory(end, peer), "from where it should come");
}

/* A key without rights for the peer ends the connection, as IBTA has it fail with a remote access
 * error. */
static void break_rules(struct dx_end *end, struct dx_end *peer)
{
	struct dx_piece own = all_of(end);
	const struct mlx5_cqe64 *cqe;

	dx_post_send(&end->qp, MLX5_OPCODE_RDMA_WRITE, &own, (uintptr_t)peer->memory.addr + DX_PAGE,
		     peer->key.key);
	cqe = dx_cq_poll(&end->cq);
	MUST(cqe);
	say("beyond the key's end: opcode %d, syndrome %#x", cqe->op_own >> 4,
	    ((const struct mlx5_err_cqe *)cqe)->syndrome);
}

static void connect_pair(struct dx_end *a, struct dx_end *b)
{
	dx_qp_connect(&a->qp, &b->device, b->qp.qpn);
	dx_qp_connect(&b->qp, &a->device, a->qp.qpn);
}

static void move_laps(struct dx_end *a, struct dx_end *b)
{
	for (int i = 0; i < LAPS << DX_LOG_SQ; i++) {
		move_by_send(a, b, i);
		move_by_rdma(b, a, MLX5_OPCODE_RDMA_WRITE, i + 1);
		move_by_rdma(a, b, MLX5_OPCODE_RDMA_READ, i + 2);
	}
}

void dx_pair(void)
{
	struct dx_end a, b;

	dx_end_open(SIZE, &a);
	dx_end_open(SIZE, &b);
	connect_pair(&a, &b);
	move_laps(&a, &b);
	break_rules(&a, &b);
	dx_end_close(&a);
	dx_end_close(&b);
}

/* Rings begin within a page of their memory, and end in another. */
void dx_places(void)
{
	static const size_t offsets[][2] = { { 64, 2048 }, { DX_PAGE - 64, DX_PAGE + 0x800 } };
	struct dx_end a, b;

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		say("rings at %zu and %zu", offsets[i][0], offsets[i][1]);
		dx_end_open_at(SIZE, offsets[i][0], &a);
		dx_end_open_at(SIZE, offsets[i][1], &b);
		connect_pair(&a, &b);
		move_laps(&a, &b);
		dx_end_close(&a);
		dx_end_close(&b);
	}
}
