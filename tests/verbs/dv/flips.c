/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flips.c - single flipped bits of signed data, in memory and on the wire, in transfers of either
 * end: the memory key reports the block, its wrong part and both values. An oracle computes them
 * without the adapter's code (tests/lib/signature.h).
 *
 * Covers: providers/mlx5/data/mkey/config_rollback.c, providers/mlx5/data/mkey/finish_plan.c,
 * softhca/device/memory/sig.c, softhca/device/memory/guard.c
 */
#include <endian.h>
#include <string.h>

#include "tests/lib/signature.h"
#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum { BLOCK = 512, BLOCKS = 4, DATA = BLOCKS * BLOCK, SIDE_MAX = BLOCKS * (BLOCK + 8) };
enum { SOME_FLIPS = 30, APP_TAG = 0x1234, REF_TAG = 7 };

static const struct protection {
	const char *name;
	enum signature_kind kind;
	int type; /* of the guard, as direct verbs have it */
} protections[] = {
	{ "T10-DIF", SIGN_T10_CRC, MLX5DV_SIG_T10DIF_CRC },
	{ "T10-DIF, checksum", SIGN_T10_SUM, MLX5DV_SIG_T10DIF_CSUM },
	{ "CRC-32", SIGN_CRC32, MLX5DV_SIG_CRC_TYPE_CRC32 },
	{ "CRC-32C", SIGN_CRC32C, MLX5DV_SIG_CRC_TYPE_CRC32C },
	{ "CRC-64", SIGN_CRC64, MLX5DV_SIG_CRC_TYPE_CRC64_XP10 },
};

/* The key checks its side with signatures when data leaves it, in a transfer that either end
 * requests. */
static const struct way {
	const char *name;
	bool on_wire, by_peer;
} ways[] = {
	{ "memory, written", false, false },
	{ "memory, read by the peer", false, true },
	{ "wire, read", true, false },
	{ "wire, written by the peer", true, true },
};

struct flips {
	struct keys keys;
	const struct protection *of;
	const struct way *way;
	struct signature sig;
	uint8_t right[SIDE_MAX]; /* correct bytes of the side with signatures */
	size_t len;
};

static bool is_dif(const struct flips *flips)
{
	return flips->of->kind <= SIGN_T10_SUM;
}

static uint32_t unit_of(const struct flips *flips)
{
	return BLOCK + signature_size(&flips->sig);
}

static uint8_t *far_bytes(const struct flips *flips)
{
	return flips->keys.pair.end[1].buf;
}

static uint8_t *signed_side(const struct flips *flips)
{
	return flips->way->on_wire ? far_bytes(flips) : keys_memory[0];
}

static uint8_t *plain_side(const struct flips *flips)
{
	return flips->way->on_wire ? keys_memory[0] : far_bytes(flips);
}

static void put_signature(const struct flips *flips)
{
	const struct mlx5dv_sig_t10dif dif = {
		.bg_type = (enum mlx5dv_sig_t10dif_bg_type)flips->of->type,
		.app_tag = APP_TAG,
		.ref_tag = REF_TAG,
		.flags = MLX5DV_SIG_T10DIF_FLAG_REF_REMAP,
	};
	const struct mlx5dv_sig_crc crc = {
		.type = (enum mlx5dv_sig_crc_type)flips->of->type,
		.seed = flips->of->kind == SIGN_CRC64 ? UINT64_MAX : UINT32_MAX,
	};
	const struct mlx5dv_sig_block_domain domain = {
		.sig_type = is_dif(flips) ? MLX5DV_SIG_TYPE_T10DIF : MLX5DV_SIG_TYPE_CRC,
		.sig.dif = is_dif(flips) ? &dif : (const void *)&crc,
		.block_size = MLX5DV_BLOCK_SIZE_512,
	};
	const struct mlx5dv_sig_block_attr attr = {
		.mem = flips->way->on_wire ? NULL : &domain,
		.wire = flips->way->on_wire ? &domain : NULL,
		.check_mask = 0xff,
	};

	mlx5dv_wr_set_mkey_sig_block(flips->keys.dvx, &attr);
}

/* With each configuration the key looks at signatures again. */
static void configure(const struct flips *flips)
{
	const struct keys *keys = &flips->keys;
	struct ibv_sge sge = { (uintptr_t)keys_memory[0], flips->way->on_wire ? DATA : flips->len,
			       keys->mr[0]->lkey };
	struct mlx5dv_mkey_conf_attr conf = { 0 };

	ibv_wr_start(keys->qpx);
	keys->qpx->wr_flags = IBV_SEND_INLINE;
	mlx5dv_wr_mkey_configure(keys->dvx, keys->mkey, 3, &conf);
	mlx5dv_wr_set_mkey_access_flags(keys->dvx, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
							   IBV_ACCESS_REMOTE_WRITE);
	mlx5dv_wr_set_mkey_layout_list(keys->dvx, 1, &sge);
	put_signature(flips);
	MUST(!ibv_wr_complete(keys->qpx));
}

static void flips_transfer(const struct flips *flips, int end, enum ibv_wr_opcode opcode)
{
	const struct keys *keys = &flips->keys;
	const struct rig_end *far = &keys->pair.end[1];
	uint64_t bytes = flips->way->on_wire ? flips->len : DATA;
	struct ibv_sge sge = { 0, (uint32_t)bytes, keys->mkey->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)far->buf;
	wr.wr.rdma.rkey = far->mr->rkey;
	if (end) {
		sge = (struct ibv_sge){ (uintptr_t)far->buf, (uint32_t)bytes, far->mr->lkey };
		wr.wr.rdma.remote_addr = 0;
		wr.wr.rdma.rkey = keys->mkey->rkey;
	}
	MUST(!ibv_post_send(keys->pair.end[end].qp, &wr, &bad));
	MUST(rig_poll(keys->pair.end[end].cq, 1, &wc) == 1 && !wc.status);
}

/* The peer names a key that is there. */
static void wait_for_key(const struct flips *flips)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;

	MUST(!ibv_post_send(flips->keys.pair.end[0].qp, &wr, &bad));
	MUST(rig_poll(flips->keys.pair.end[0].cq, 1, &wc) == 1 && !wc.status);
}

/* Data leaves the side with signatures, or comes to it. */
static void flips_move(const struct flips *flips, bool leaves)
{
	bool write = (flips->way->on_wire == flips->way->by_peer) == leaves;

	configure(flips);
	if (flips->way->by_peer)
		wait_for_key(flips);
	flips_transfer(flips, flips->way->by_peer, write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ);
}

/* Errors of transfers that the peer requests are reported on this end's CQ, too. */
static struct mlx5dv_mkey_err flips_check(const struct flips *flips)
{
	struct mlx5dv_mkey_err err = { .err_type = (enum mlx5dv_mkey_err_type)99 };
	struct ibv_wc wc;

	MUST(!ibv_poll_cq(flips->keys.pair.end[0].cq, 1, &wc));
	MUST(!mlx5dv_mkey_check(flips->keys.mkey, &err));
	return err;
}

static uint64_t number_at(const uint8_t *bytes, size_t len)
{
	uint64_t number = 0;

	for (size_t i = 0; i < len; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* Returns the first part of a signature that differs. CAME is with the data; MADE is computed by
 * the oracle. */
static struct mlx5dv_mkey_err first_difference(const struct flips *flips, const uint8_t *came,
					       const uint8_t *made)
{
	static const struct {
		enum mlx5dv_mkey_err_type type;
		uint8_t from, len;
	} parts[] = {
		{ MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD, 0, 2 },
		{ MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG, 2, 2 },
		{ MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG, 4, 4 },
	};
	size_t from = 0, len = signature_size(&flips->sig);
	struct mlx5dv_mkey_err err = { .err_type = MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD };

	for (size_t i = ARRAY_SIZE(parts); is_dif(flips) && i-- > 0;) {
		if (!memcmp(came + parts[i].from, made + parts[i].from, parts[i].len))
			continue;
		err.err_type = parts[i].type;
		from = parts[i].from;
		len = parts[i].len;
	}
	err.err.sig.expected_value = number_at(came + from, len);
	err.err.sig.actual_value = number_at(made + from, len);
	return err;
}

static struct mlx5dv_mkey_err expected_error(const struct flips *flips, size_t bit)
{
	uint32_t unit = unit_of(flips);
	size_t start = bit / 8 / unit * unit;
	const uint8_t *block = signed_side(flips) + start;
	struct signature sig = flips->sig;
	struct mlx5dv_mkey_err err;
	uint8_t made[BLOCK + 8];

	sig.ref += (uint32_t)(start / unit);
	signature_insert(&sig, block, BLOCK, made);
	err = first_difference(flips, block + BLOCK, made + BLOCK);
	err.err.sig.offset = start;
	return err;
}

static bool bit_is_noticed(const struct flips *flips, size_t bit)
{
	struct mlx5dv_mkey_err err, expected;

	signed_side(flips)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	expected = expected_error(flips, bit);
	flips_move(flips, true);
	signed_side(flips)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	err = flips_check(flips);
	if (err.err_type == expected.err_type && err.err.sig.offset == expected.err.sig.offset &&
	    err.err.sig.expected_value == expected.err.sig.expected_value &&
	    err.err.sig.actual_value == expected.err.sig.actual_value)
		return true;
	say("bit %zu: error %d at %llu, %#llx and not %#llx; expected %d at %llu, %#llx and not "
	    "%#llx",
	    bit, (int)err.err_type, (unsigned long long)err.err.sig.offset,
	    (unsigned long long)err.err.sig.actual_value,
	    (unsigned long long)err.err.sig.expected_value, (int)expected.err_type,
	    (unsigned long long)expected.err.sig.offset,
	    (unsigned long long)expected.err.sig.actual_value,
	    (unsigned long long)expected.err.sig.expected_value);
	return false;
}

static uint32_t chance_state;

static uint32_t random_below(uint32_t below)
{
	chance_state = chance_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)chance_state * below >> 32);
}

/* In either direction, data without a wrong bit is as the oracle has it. */
static void flips_begin(struct flips *flips, const struct protection *of, const struct way *way)
{
	uint8_t data[DATA];

	flips->of = of;
	flips->way = way;
	flips->sig = (struct signature){
		.kind = of->kind,
		.block = BLOCK,
		.from_ones = of->kind > SIGN_T10_SUM,
		.app = APP_TAG,
		.ref = REF_TAG,
		.ref_counts = true,
	};
	for (size_t i = 0; i < DATA; i++)
		data[i] = (uint8_t)random_below(256);
	flips->len = signature_insert(&flips->sig, data, DATA, flips->right);
	memcpy(plain_side(flips), data, DATA);
	memset(signed_side(flips), 0, flips->len);
	flips_move(flips, false);
	say_check(!memcmp(signed_side(flips), flips->right, flips->len), "%s, %s: is signed",
		  of->name, way->name);
	memset(plain_side(flips), 0, DATA);
	flips_move(flips, true);
	say_check(!memcmp(plain_side(flips), data, DATA) &&
			  flips_check(flips).err_type == MLX5DV_MKEY_NO_ERR,
		  "%s, %s: is right", of->name, way->name);
}

static void some_bits(struct flips *flips)
{
	uint32_t unit = unit_of(flips), noticed = 0;

	while (noticed < SOME_FLIPS) {
		uint32_t bit = random_below(8 * (uint32_t)flips->len);

		if (noticed % 2) /* as often in a signature as anywhere */
			bit = 8 * (bit / 8 / unit * unit + BLOCK) +
			      random_below(8 * (unit - BLOCK));
		if (!bit_is_noticed(flips, bit))
			break;
		noticed++;
	}
	say_check(noticed == SOME_FLIPS, "%s, %s: bit %u of %d", flips->of->name, flips->way->name,
		  noticed, SOME_FLIPS);
}

static void bits_of_the_second_block(struct flips *flips)
{
	size_t first = (size_t)8 * unit_of(flips), bit = first;

	while (bit < 2 * first && bit_is_noticed(flips, bit))
		bit++;
	say_check(bit == 2 * first, "%s, %s: bit %zu of %zu", flips->of->name, flips->way->name,
		  bit - first, first);
}

static void flips_run(struct rig *rig, void (*bits)(struct flips *flips))
{
	struct rig_conf conf = rig_conf_default();
	struct flips flips;

	conf.cap.max_inline_data = 512;
	keys_open(rig, &conf, 4,
		  MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
			  MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
		  &flips.keys);
	keys_connect(&flips.keys, MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_MR_LIST);
	for (size_t i = 0; i < ARRAY_SIZE(protections) * ARRAY_SIZE(ways); i++) {
		flips_begin(&flips, &protections[i / ARRAY_SIZE(ways)],
			    &ways[i % ARRAY_SIZE(ways)]);
		bits(&flips);
	}
	keys_close(&flips.keys);
}

void dv_flips(struct rig *rig)
{
	flips_run(rig, some_bits);
}

void dv_every_bit(struct rig *rig)
{
	flips_run(rig, bits_of_the_second_block);
}
