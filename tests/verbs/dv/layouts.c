/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * layouts.c - random layouts of memory keys, keys of keys among them, compared with a map of their
 * bytes that shares no code with the adapter.
 *
 * Covers: providers/mlx5/data/mkey/configure.c, providers/mlx5/data/umr.c,
 * softhca/device/memory/xlt.c
 */
#include <stdlib.h>
#include <string.h>

#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum { LAYOUTS = 300, MANY_LAYOUTS = 100000, MAP_MAX = 16384, PIECES = 8, PIECE_MAX = 300 };

static uint64_t chance_state = 1;

static uint32_t random_below(uint32_t below)
{
	chance_state = chance_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(chance_state >> 33) % below;
}

/* The bytes of a key, by their offset in memory or in the key below */
struct map {
	uint32_t len;
	uint32_t at[MAP_MAX];
};

struct below {
	uint32_t lkey;
	uint64_t base;
	uint32_t len;
	const struct map *map; /* NULL: memory itself */
};

static void map_add(struct map *map, const struct below *below, uint32_t from, uint32_t len)
{
	for (uint32_t i = from; i < from + len; i++)
		map->at[map->len++] = below->map ? below->map->at[i] : i;
}

static void lay_list(struct keys *keys, struct mlx5dv_mkey *mkey, const struct below *below,
		     unsigned int belows, struct map *map)
{
	uint16_t count = (uint16_t)(1 + random_below(PIECES));
	struct ibv_sge sge[PIECES];

	for (unsigned int i = 0; i < count; i++) {
		const struct below *under = &below[random_below(belows)];
		uint32_t len = 1 + random_below(min_of(under->len, (uint32_t)PIECE_MAX));
		uint32_t from = random_below(under->len - len + 1);

		sge[i] = (struct ibv_sge){ under->base + from, len, under->lkey };
		map_add(map, under, from, len);
	}
	mlx5dv_wr_mr_list(keys->dvx, mkey, IBV_ACCESS_LOCAL_WRITE, count, sge);
}

static void lay_pattern(struct keys *keys, struct mlx5dv_mkey *mkey, const struct below *below,
			unsigned int belows, struct map *map)
{
	uint32_t repeats = 1 + random_below(5);
	uint16_t count = (uint16_t)(1 + random_below(4));
	struct mlx5dv_mr_interleaved part[4];
	const struct below *under[4];

	for (unsigned int i = 0; i < count; i++) {
		uint32_t stride, len;

		under[i] = &below[random_below(belows)];
		stride = under[i]->len / repeats;
		stride = 1 + random_below(min_of(max_of(stride, 1u), (uint32_t)PIECE_MAX));
		if (stride * repeats > under[i]->len) { /* the key below is too short */
			under[i] = &below[0];
			stride = 1 + random_below(PIECE_MAX);
		}
		len = 1 + random_below(stride);
		part[i] = (struct mlx5dv_mr_interleaved){
			under[i]->base + random_below(under[i]->len - stride * repeats + 1), len,
			stride - len, under[i]->lkey
		};
	}
	for (uint32_t turn = 0; turn < repeats; turn++)
		for (unsigned int i = 0; i < count; i++)
			map_add(map, under[i],
				(uint32_t)(part[i].addr - under[i]->base) +
					turn * (part[i].bytes_count + part[i].bytes_skip),
				part[i].bytes_count);
	mlx5dv_wr_mr_interleaved(keys->dvx, mkey, IBV_ACCESS_LOCAL_WRITE, repeats, count, part);
}

static void lay_any(struct keys *keys, struct mlx5dv_mkey *mkey, const struct below *below,
		    unsigned int belows, struct map *map)
{
	map->len = 0;
	if (random_below(2))
		lay_list(keys, mkey, below, belows, map);
	else
		lay_pattern(keys, mkey, below, belows, map);
}

static void post_recv_whole(struct keys *keys)
{
	struct ibv_sge sge = { (uintptr_t)keys_memory[1], KEYS_MEMORY, keys->mr[1]->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(keys->pair.end[1].qp, &recv, &bad));
}

/* Returns whether a message from the outer of two random keys has the bytes of the map. */
static bool layout_is_right(struct keys *keys, struct mlx5dv_mkey *outer)
{
	static struct map inner_map, outer_map;
	struct below below[2] = {
		{ keys->mr[0]->lkey, (uintptr_t)keys_memory[0], KEYS_MEMORY, NULL },
		{ keys->mkey->lkey, 0, 0, &inner_map },
	};
	uint32_t from, len;
	struct ibv_wc wc;

	post_recv_whole(keys);
	ibv_wr_start(keys->qpx);
	keys->qpx->wr_flags = IBV_SEND_INLINE;
	lay_any(keys, keys->mkey, below, 1, &inner_map);
	below[1].len = inner_map.len;
	lay_any(keys, outer, below, 2, &outer_map);
	len = 1 + random_below(outer_map.len);
	from = random_below(outer_map.len - len + 1);
	keys->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(keys->qpx);
	ibv_wr_set_sge(keys->qpx, outer->lkey, from, len);
	MUST(!ibv_wr_complete(keys->qpx));
	if (rig_poll(keys->pair.end[0].cq, 1, &wc) != 1 || wc.status)
		return false;
	if (rig_poll(keys->pair.end[1].cq, 1, &wc) != 1 || wc.status || wc.byte_len != len)
		return false;
	for (uint32_t i = 0; i < len; i++)
		if (keys_memory[1][i] != keys_memory[0][outer_map.at[from + i]])
			return false;
	return true;
}

static void move_layouts(struct rig *rig, int count)
{
	struct mlx5dv_mkey_init_attr attr = { .max_entries = 16,
					      .create_flags =
						      MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT };
	struct rig_conf conf = rig_conf_default();
	struct mlx5dv_mkey *outer;
	struct keys keys;
	int right = 0;

	conf.cap.max_inline_data = 512;
	keys_open(rig, &conf, 16, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT, &keys);
	keys_connect(&keys, MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED);
	for (size_t i = 0; i < KEYS_MEMORY; i++)
		keys_memory[0][i] = (uint8_t)random_below(256);
	attr.pd = keys.pair.pd;
	outer = mlx5dv_create_mkey(&attr);
	MUST(outer);
	while (right < count && layout_is_right(&keys, outer))
		right++;
	say_check(right == count, "layout %d of %d", right, count);
	MUST(!mlx5dv_destroy_mkey(outer));
	keys_close(&keys);
}

void dv_layouts(struct rig *rig)
{
	move_layouts(rig, LAYOUTS);
}

/* Not among the usual topics, as this takes minutes. */
void dv_many_layouts(struct rig *rig)
{
	move_layouts(rig, MANY_LAYOUTS);
}
