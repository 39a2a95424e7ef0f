/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * configure_test.c - parts of mkey configuration that no adapter shows: the writes of the
 * register, and remains of failed batches.
 *
 * Covers: providers/mlx5/data/mkey/, providers/mlx5/mkey.h
 */
#include "rig.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prm/mlx5/cqe.h"
#include "prm/mlx5/wqe.h"
#include "providers/mlx5/context.h"
#include "providers/mlx5/data/mkey/ctrl_words.h"
#include "providers/mlx5/data/cq/poll.h"
#include "providers/mlx5/mkey.h"
#include "util/bits.h"

#define REG 0x800 /* the first register of a page (PRM: UAR page), which is the rig's QP's */

static struct rig *key_rig_at(uint32_t pi, uint32_t max_inline)
{
	struct rig *rig = rig_new(&(struct rig_options){ .sq_wqebbs = 32,
							 .max_send = 16,
							 .max_inline = max_inline,
							 .bf_max = 4 * WQE_BB,
							 .sq_pi = pi });

	mlx5_send_wr_fill_mkeys(rig->qp, MLX5DV_QP_EX_WITH_MKEY_CONFIGURE |
						 MLX5DV_QP_EX_WITH_MR_LIST |
						 MLX5DV_QP_EX_WITH_MR_INTERLEAVED);
	rig->qp->vqp.qp_ex.wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	return rig;
}

static struct rig *key_rig(void)
{
	return key_rig_at(0, 256);
}

static void set_signature(struct mlx5dv_qp_ex *dvx)
{
	static const struct mlx5dv_sig_crc crc = { .type = MLX5DV_SIG_CRC_TYPE_CRC32 };
	static const struct mlx5dv_sig_block_domain wire = {
		.sig_type = MLX5DV_SIG_TYPE_CRC,
		.sig.crc = &crc,
		.block_size = MLX5DV_BLOCK_SIZE_512,
	};
	static const struct mlx5dv_sig_block_attr attr = { .wire = &wire, .check_mask = 0xff };

	mlx5dv_wr_set_mkey_sig_block(dvx, &attr);
}

/* The signature needs WQEs of 3 and 1 WQEBBs, as many as one BlueFlame write takes, but several
 * WQEs are only rung. */
static void a_request_of_several_wqes_is_only_rung(void **state)
{
	static const uint8_t nothing[4 * WQE_BB];
	struct mkey_sig sig = { 0 };
	struct mlx5_mkey mkey = { .dv.lkey = 0x700, .sig = &sig, .computes = true };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	mkey_prepare(&mkey);
	ibv_wr_start(qpx);
	mlx5dv_wr_mkey_configure(&rig->qp->dv_qp, &mkey.dv, 1, &attr);
	set_signature(&rig->qp->dv_qp);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 4);
	assert_memory_equal(rig->uar + REG, rig_sq(rig, 3), 8);
	assert_memory_equal(rig->uar + REG + 8, nothing, sizeof(nothing) - 8);
	rig_free(rig);
}

/* A plain request goes through the same register by BlueFlame. */
static void a_request_of_one_wqe_is_pushed(void **state)
{
	struct mlx5_mkey mkey = { .dv.lkey = 0x700, .max_entries = 4 };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	mkey_prepare(&mkey);
	rig->qp->sq.db.push[PUSH_PLAIN] = 0;
	ibv_wr_start(qpx);
	mlx5dv_wr_mkey_configure(&rig->qp->dv_qp, &mkey.dv, 1, &attr);
	mlx5dv_wr_set_mkey_access_flags(&rig->qp->dv_qp, IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 2);
	assert_memory_equal(rig->uar + REG, rig_sq(rig, 0), 2 * WQE_BB);
	rig_free(rig);
}

/* The end of the ring falls between any two blocks, or behind the last. */
static void a_request_is_pushed_around_the_end_of_the_ring(void **state)
{
	static const struct ibv_sge piece = { 0x1000, 64, 0x100 };
	static const uint8_t nothing[WQE_BB];

	(void)state;
	for (uint32_t pi = 28; pi <= 32; pi++) {
		struct mlx5_mkey mkey = { .dv.lkey = 0x700, .max_entries = 4 };
		struct rig *rig = key_rig_at(pi, 256);
		struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

		mkey_prepare(&mkey);
		ibv_wr_start(qpx);
		mlx5dv_wr_mr_list(&rig->qp->dv_qp, &mkey.dv, 0, 1, (struct ibv_sge *)&piece);
		assert_int_equal(ibv_wr_complete(qpx), 0);
		assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), pi + 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_memory_equal(rig->uar + REG + i * WQE_BB, rig_sq(rig, pi + i),
					    WQE_BB);
		assert_memory_equal(rig->uar + REG + 3 * WQE_BB, nothing, WQE_BB);
		rig_free(rig);
	}
}

/* Bytes of an earlier lap must not extend the list, so the padding is zeroed. */
static void a_list_ends_in_zeroes(void **state)
{
	enum { LIST = 2 * WQE_BB, PIECES = 5 };
	static const uint8_t nothing[3 * WQE_SEG];
	struct ibv_sge piece[PIECES];
	struct mlx5dv_mr_interleaved part[PIECES - 1];
	struct mlx5_mkey mkey = { .dv.lkey = 0x700, .max_entries = 8 };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct mlx5dv_qp_ex *dvx = &rig->qp->dv_qp;

	(void)state;
	mkey_prepare(&mkey);
	memset(piece, 0x11, sizeof(piece));
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		part[i] = (struct mlx5dv_mr_interleaved){ 0x1000, 8, 8, 0x100 };
	memset(rig_sq(rig, 0), 0xff, 8 * WQE_BB);
	ibv_wr_start(&rig->qp->vqp.qp_ex);
	mlx5dv_wr_mkey_configure(dvx, &mkey.dv, 1, &attr);
	mlx5dv_wr_set_mkey_layout_list(dvx, PIECES, piece);
	mlx5dv_wr_mkey_configure(dvx, &mkey.dv, 1, &attr);
	mlx5dv_wr_set_mkey_layout_interleaved(dvx, 1, PIECES - 1, part);
	assert_int_equal(ibv_wr_complete(&rig->qp->vqp.qp_ex), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 8);
	for (uint32_t wqe = 0; wqe < 8; wqe += 4) {
		const uint8_t *list = (uint8_t *)rig_sq(rig, wqe) + LIST;

		assert_memory_not_equal(list + 4 * WQE_SEG, nothing, WQE_SEG);
		assert_memory_equal(list + PIECES * WQE_SEG, nothing, sizeof(nothing));
	}
	rig_free(rig);
}

/* Setters after another request's failure must not complete the configuration, as the batch is
 * cancelled. */
static void a_batch_that_failed_finishes_no_request(void **state)
{
	static const struct ibv_sge piece = { 0x1000, 64, 0x100 };
	struct mlx5_mkey mkey = { .dv.lkey = 0x700, .max_entries = 4 };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;
	uint8_t data[512] = { 0 };

	(void)state;
	mkey_prepare(&mkey);
	ibv_wr_start(qpx);
	mlx5dv_wr_mkey_configure(&rig->qp->dv_qp, &mkey.dv, 2, &attr);
	mlx5dv_wr_set_mkey_access_flags(&rig->qp->dv_qp, IBV_ACCESS_LOCAL_WRITE);
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data(qpx, data, sizeof(data));
	mlx5dv_wr_set_mkey_layout_list(&rig->qp->dv_qp, 1, &piece);
	assert_int_equal(ibv_wr_complete(qpx), ENOMEM);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);

	ibv_wr_start(qpx);
	mlx5dv_wr_mkey_configure(&rig->qp->dv_qp, &mkey.dv, 1, &attr);
	mlx5dv_wr_set_mkey_layout_list(&rig->qp->dv_qp, 1, &piece);
	assert_int_equal(ibv_wr_complete(qpx), 0);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 3);
	rig_free(rig);
}

/* A request that needs more room must not use the slot that another request has taken since. */
static void a_request_takes_no_place_that_is_taken(void **state)
{
	struct mlx5_mkey mkey = { .dv.lkey = 0x700, .max_entries = 4 };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	(void)state;
	mkey_prepare(&mkey);
	rig->qp->sq.wq.limit = rig->qp->sq.wq.head + 1;
	rig->qp->sq.wq.max_post = 1;
	ibv_wr_start(qpx);
	mlx5dv_wr_mkey_configure(&rig->qp->dv_qp, &mkey.dv, 1, &attr);
	ibv_wr_send(qpx);
	mlx5dv_wr_set_mkey_access_flags(&rig->qp->dv_qp, IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(ibv_wr_complete(qpx), EINVAL);
	assert_int_equal(rig_dbrec(rig, MLX5_SND_DBR), 0);
	rig_free(rig);
}

/* A stride has 16 bits in the device's format, so a longer one is refused. */
static void a_longer_stride_is_refused(void **state)
{
	static const struct {
		uint32_t count, skip;
		int err;
	} cases[] = { { 0xfffe, 1, 0 },         { 0, 0xffff, 0 },       { 0x8000, 0x8000, EINVAL },
		      { 0x10000, 0, EINVAL },   { 1, 0x10000, EINVAL }, { 1, UINT32_MAX, EINVAL },
		      { UINT32_MAX, 1, EINVAL } };
	struct mlx5_mkey mkey = { .dv.lkey = 0x700, .max_entries = 4 };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct mlx5dv_qp_ex *dvx = &rig->qp->dv_qp;

	(void)state;
	mkey_prepare(&mkey);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mlx5dv_mr_interleaved part[2] = {
			{ 0x1000, 8, 8, 0x100 }, { 0x2000, cases[i].count, cases[i].skip, 0x200 }
		};

		rig->qp->sq.wq.tail = rig->qp->sq.wq.head;
		ibv_wr_start(&rig->qp->vqp.qp_ex);
		mlx5dv_wr_mr_interleaved(dvx, &mkey.dv, 0, 3, 2, part);
		assert_int_equal(ibv_wr_complete(&rig->qp->vqp.qp_ex), cases[i].err);
		ibv_wr_start(&rig->qp->vqp.qp_ex);
		mlx5dv_wr_mkey_configure(dvx, &mkey.dv, 1, &attr);
		mlx5dv_wr_set_mkey_layout_interleaved(dvx, 3, 2, part);
		assert_int_equal(ibv_wr_complete(&rig->qp->vqp.qp_ex), cases[i].err);
	}
	rig_free(rig);
}

static int lay_out_and_sign(struct rig *rig, struct mlx5_mkey *mkey)
{
	static const struct ibv_sge piece = { 0x1000, 64, 0x100 };
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct mlx5dv_qp_ex *dvx = &rig->qp->dv_qp;

	ibv_wr_start(&rig->qp->vqp.qp_ex);
	mlx5dv_wr_mkey_configure(dvx, &mkey->dv, mkey->sig ? 3 : 2, &attr);
	mlx5dv_wr_set_mkey_access_flags(dvx, IBV_ACCESS_LOCAL_WRITE);
	mlx5dv_wr_set_mkey_layout_list(dvx, 1, &piece);
	if (mkey->sig)
		set_signature(dvx);
	return ibv_wr_complete(&rig->qp->vqp.qp_ex);
}

/* One QP has room for list and signature, another only for the list, so a cached size of the first
 * must not pass the check of the second. */
static void what_a_wide_queue_has_done_a_narrow_one_refuses(void **state)
{
	struct mkey_sig sig = { 0 };
	struct mlx5_mkey signs = { .dv.lkey = 0x700,
				   .max_entries = 4,
				   .sig = &sig,
				   .computes = true },
			 plain = { .dv.lkey = 0x800, .max_entries = 4 };
	struct rig *wide = key_rig(), *narrow = key_rig_at(0, WQE_BB);

	(void)state;
	mkey_prepare(&signs);
	mkey_prepare(&plain);
	assert_int_equal(lay_out_and_sign(wide, &signs), 0);
	assert_int_equal(lay_out_and_sign(wide, &signs), 0);
	assert_int_equal(lay_out_and_sign(narrow, &signs), ENOMEM);
	assert_int_equal(lay_out_and_sign(wide, &signs), 0);
	assert_int_equal(lay_out_and_sign(narrow, &plain), 0);
	assert_int_equal(rig_dbrec(narrow, MLX5_SND_DBR), 3);
	rig_free(wide);
	rig_free(narrow);
}

static struct mlx5_mkey key_that_signs(struct mkey_sig *sig)
{
	return (struct mlx5_mkey){
		.dv.lkey = 0x700, .max_entries = 4, .sig = sig, .computes = true
	};
}

/* The format of the signature is the fourth block: behind head, context and list. */
static void a_request_that_signs_has_the_format(void **state)
{
	static const uint8_t nothing[BSF_SIZE];
	struct mkey_sig sig = { 0 };
	struct mlx5_mkey mkey = key_that_signs(&sig);
	struct rig *rig = key_rig();
	const uint8_t *format;

	(void)state;
	mkey_prepare(&mkey);
	for (uint32_t round = 0; round < 2; round++) { /* the second time, it is known */
		const uint32_t pi = rig->qp->sq.pi;

		memset(rig_sq(rig, pi + 3), 0xee, WQE_BB);
		assert_int_equal(lay_out_and_sign(rig, &mkey), 0);
		format = mkey_sig_at(&mkey, mkey.config.sig)->bsf;
		assert_memory_not_equal(format, nothing, BSF_SIZE);
		/* the first 8 bytes have the kind, too */
		assert_memory_equal((uint8_t *)rig_sq(rig, pi + 3) + 8, format + 8, BSF_SIZE - 8);
	}
	rig_free(rig);
}

static void an_aborted_batch_leaves_the_key_as_it_was(void **state)
{
	struct mkey_sig sig = { 0 };
	struct mlx5_mkey mkey = key_that_signs(&sig);
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct rig *rig = key_rig();
	struct mlx5dv_qp_ex *dvx = &rig->qp->dv_qp;
	struct mkey_config before;

	(void)state;
	mkey_prepare(&mkey);
	assert_int_equal(lay_out_and_sign(rig, &mkey), 0);
	before = mkey.config;
	ibv_wr_start(&rig->qp->vqp.qp_ex);
	mlx5dv_wr_mkey_configure(dvx, &mkey.dv, 1, &attr);
	set_signature(dvx);
	assert_true(mkey.is_in_batch);
	assert_memory_not_equal(&mkey.config, &before, sizeof(before));
	ibv_wr_abort(&rig->qp->vqp.qp_ex);
	assert_false(mkey.is_in_batch);
	assert_memory_equal(&mkey.config, &before, sizeof(before));
	rig_free(rig);
}

/* ---- repeated requests ----
 *
 * A key caches its encoded signature, encryption and layout. A random sequence of requests goes to
 * a key, and to a copy without cache: both must write the same bytes. */

enum { REQUESTS = 20000 };

static uint32_t random_below(uint32_t n)
{
	static uint64_t x = 88172645463325252;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32) % n;
}

static struct wish {
	bool access, layout, signs, encrypts, resets, repeats, at_once;
	uint32_t pieces, max_inline, rights, flags;
	struct mlx5dv_sig_t10dif dif[2];
	struct mlx5dv_sig_crc crc[2];
	struct mlx5dv_sig_block_domain domain[2];
	struct mlx5dv_sig_block_attr sig;
	struct mlx5dv_crypto_attr crypto;
} wish;

static void draw_domain(struct wish *to, int side)
{
	to->dif[side] = (struct mlx5dv_sig_t10dif){
		.bg_type = (enum mlx5dv_sig_t10dif_bg_type)random_below(2),
		.bg = random_below(2) ? UINT16_MAX : (uint16_t)!random_below(8),
		.app_tag = (uint16_t)random_below(2),
		.ref_tag = random_below(2),
		.flags = (uint16_t)random_below(random_below(4) ? 2 : 16),
	};
	to->crc[side] = (struct mlx5dv_sig_crc){
		.type = (enum mlx5dv_sig_crc_type)random_below(3),
		.seed = random_below(2)   ? UINT32_MAX
			: random_below(4) ? 0
					  : UINT64_MAX,
	};
	to->domain[side] = (struct mlx5dv_sig_block_domain){
		.sig_type = (enum mlx5dv_sig_type)random_below(2),
		.block_size =
			(enum mlx5dv_block_size)random_below(random_below(8) ? 2 : MKEY_BLOCKS + 1),
		.comp_mask = !random_below(32),
	};
	if (to->domain[side].sig_type == MLX5DV_SIG_TYPE_T10DIF)
		to->domain[side].sig.dif = &to->dif[side];
	else
		to->domain[side].sig.crc = &to->crc[side];
}

static void draw_crypto(struct wish *to, struct mlx5dv_dek *deks)
{
	to->crypto = (struct mlx5dv_crypto_attr){
		.crypto_standard = (enum mlx5dv_crypto_standard) !random_below(16),
		.encrypt_on_tx = random_below(2),
		.signature_crypto_order =
			(enum mlx5dv_signature_crypto_order)random_below(random_below(8) ? 2 : 3),
		.data_unit_size =
			(enum mlx5dv_block_size)random_below(random_below(8) ? 2 : MKEY_BLOCKS + 1),
		.dek = random_below(16) ? &deks[random_below(2)] : NULL,
		.comp_mask = !random_below(16),
	};
	to->crypto.initial_tweak[random_below(16)] = (char)random_below(2);
	to->crypto.keytag[random_below(8)] = (char)random_below(2);
}

/* Changes a few fields of the former request. */
static void draw_wish(struct wish *to, struct mlx5dv_dek *deks)
{
	to->access = random_below(8);
	to->layout = random_below(8);
	to->signs = random_below(4);
	to->encrypts = random_below(4);
	to->resets = !random_below(16);
	to->repeats = !random_below(4);
	to->at_once = !random_below(4);
	to->pieces = random_below(4) ? 1 : random_below(9);
	to->rights =
		random_below(2) ? IBV_ACCESS_LOCAL_WRITE : random_below(random_below(16) ? 16 : 32);
	to->flags = IBV_SEND_INLINE | (random_below(2) ? IBV_SEND_SIGNALED : random_below(8));
	to->max_inline = random_below(16) ? 512 : 188;
	if (!random_below(4))
		draw_domain(to, (int)random_below(2));
	if (!random_below(4)) /* only the tag, which must match the other side's */
		to->dif[random_below(2)].app_tag ^= 1;
	if (!random_below(8))
		to->sig = (struct mlx5dv_sig_block_attr){
			.mem = random_below(3) ? &to->domain[0] : NULL,
			.wire = random_below(3) ? &to->domain[1] : NULL,
			.flags = !random_below(4),
			.check_mask = (uint8_t)random_below(2),
			.copy_mask = (uint8_t)random_below(2),
			.comp_mask = !random_below(16),
		};
	if (!random_below(4))
		draw_crypto(to, deks);
	deks[0].object.id ^= !random_below(8); /* another DEK at the same address */
}

static struct ibv_sge pieces[8] = { { 0x1000, 500, 0x100 }, { 0x2000, 100, 0x200 } };
static struct mlx5dv_mr_interleaved parts[8] = { { 0x1000, 500, 12, 0x100 },
						 { 0x2000, 100, 28, 0x200 } };

static void lay_out_at_once(struct mlx5dv_qp_ex *dvx, struct mlx5_mkey *mkey, const struct wish *of)
{
	if (of->repeats)
		mlx5dv_wr_mr_interleaved(dvx, &mkey->dv, of->rights, 3, (uint16_t)of->pieces,
					 parts);
	else
		mlx5dv_wr_mr_list(dvx, &mkey->dv, of->rights, (uint16_t)of->pieces, pieces);
}

static void configure_by_parts(struct mlx5dv_qp_ex *dvx, struct mlx5_mkey *mkey,
			       const struct wish *of)
{
	struct mlx5dv_mkey_conf_attr attr = {
		.conf_flags = of->resets ? MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR : 0
	};

	mlx5dv_wr_mkey_configure(dvx, &mkey->dv,
				 (uint8_t)(of->access + of->layout + of->signs + of->encrypts),
				 &attr);
	if (of->access)
		mlx5dv_wr_set_mkey_access_flags(dvx, of->rights);
	if (of->layout && of->repeats)
		mlx5dv_wr_set_mkey_layout_interleaved(dvx, 3, (uint16_t)of->pieces, parts);
	else if (of->layout)
		mlx5dv_wr_set_mkey_layout_list(dvx, (uint16_t)of->pieces, pieces);
	if (of->signs)
		mlx5dv_wr_set_mkey_sig_block(dvx, &of->sig);
	if (of->encrypts)
		mlx5dv_wr_set_mkey_crypto(dvx, &of->crypto);
}

static int configure(struct rig *rig, struct mlx5_mkey *mkey, const struct wish *of, bool cancels)
{
	struct mlx5dv_qp_ex *dvx = &rig->qp->dv_qp;
	struct ibv_qp_ex *qpx = &rig->qp->vqp.qp_ex;

	qpx->wr_flags = of->flags;
	rig->qp->sq.max_inline = of->max_inline;
	rig->qp->sq.wq.tail = rig->qp->sq.wq.head;
	ibv_wr_start(qpx);
	if (of->at_once)
		lay_out_at_once(dvx, mkey, of);
	else
		configure_by_parts(dvx, mkey, of);
	if (!cancels)
		return ibv_wr_complete(qpx);
	ibv_wr_abort(qpx);
	return 0;
}

static void sequence(bool signs, bool encrypts, bool counts_units)
{
	struct mkey_sig sig = { .mem.n = 5, .wire.n = 6 };
	struct mlx5_mkey keeps = { .dv.lkey = 0x700,
				   .max_entries = 8,
				   .sig = signs ? &sig : NULL,
				   .encrypts = encrypts,
				   .encrypts_units = counts_units,
				   .computes = signs || encrypts },
			 anew;
	struct mlx5dv_dek deks[2] = { { .object.id = 10 }, { .object.id = 20 } };
	struct rig *a = key_rig(), *b = key_rig();
	int good = 0;

	mkey_prepare(&keeps);
	draw_domain(&wish, 0);
	draw_domain(&wish, 1);
	draw_crypto(&wish, deks);
	for (int i = 0; i < REQUESTS; i++) {
		const bool cancels = !random_below(8);
		int ret;

		draw_wish(&wish, deks);
		wish.signs &= signs;
		wish.encrypts &= encrypts;
		keeps.sig_count += !random_below(16) && signs;
		anew = keeps;
		mkey_forget_formats(&anew);
		anew.again.usual.word = 0;
		ret = configure(a, &keeps, &wish, cancels);
		good += !ret;
		assert_int_equal(configure(b, &anew, &wish, cancels), ret);
		assert_memory_equal(rig_sq(a, 0), rig_sq(b, 0), 32 * WQE_BB);
		assert_memory_equal(&keeps.config, &anew.config, sizeof(anew.config));
		assert_int_equal(a->qp->sq.pi, b->qp->sq.pi);
	}
	assert_in_range(good, REQUESTS / 4, REQUESTS - 1);
	rig_free(a);
	rig_free(b);
}

static void what_comes_again_is_as_the_first_time(void **state)
{
	(void)state;
	sequence(false, false, false);
	sequence(true, false, false);
	sequence(false, true, true);
	sequence(false, true, false);
	sequence(true, true, true);
}

static void *poll_once(void *rig)
{
	struct ibv_wc wc;

	assert_int_equal(mlx5_poll_cq(&((struct rig *)rig)->cq->vcq.cq, 1, &wc), 0);
	return NULL;
}

/* Writes the CQE of a signature error, by byte numbers, like rig_complete(). */
static void tell_of_error(struct rig *rig, uint32_t key)
{
	uint8_t *cqe = rig->cq->ring;
	const uint32_t key_be = htobe32(key);

	rig_complete(rig, &(struct rig_cqe){ .opcode = MLX5_CQE_SIG_ERR });
	memcpy(cqe + FLD_BYTE(SIG_ERR_MKEY), &key_be, sizeof(key_be));
}

/* Destroying a key waits while an error is recorded, so that no record goes into freed memory, and
 * later errors no longer find the key. */
static void an_error_waits_for_who_destroys_the_key(void **state)
{
	enum { KEY = 0x700, LONGER_MS = 100 };
	struct mkey_sig sig = { 0 };
	struct mlx5_mkey mkey = { .dv.lkey = KEY, .sig = &sig, .computes = true };
	struct mlx5_context *ctx = calloc(1, sizeof(*ctx));
	struct rig *rig = key_rig();
	pthread_t poller;

	(void)state;
	mkey_prepare(&mkey);
	assert_non_null(ctx);
	ctx->sig_keys = calloc(1, sizeof(*ctx->sig_keys));
	assert_non_null(ctx->sig_keys);
	provider_id_lookup_init(ctx->sig_keys);
	assert_int_equal(provider_id_set(ctx->sig_keys, KEY >> 8, &mkey), 0);
	rig->cq->vcq.cq.context = &ctx->vctx.context;
	tell_of_error(rig, KEY);
	pthread_mutex_lock(&ctx->sig_keys->lock);
	assert_int_equal(pthread_create(&poller, NULL, poll_once, rig), 0);
	usleep(LONGER_MS * 1000);
	assert_false(__atomic_load_n(&sig.has_error, __ATOMIC_RELAXED));
	pthread_mutex_unlock(&ctx->sig_keys->lock);
	assert_int_equal(pthread_join(poller, NULL), 0);
	assert_true(sig.has_error);
	provider_id_lookup_destroy(ctx->sig_keys);
	free(ctx->sig_keys);
	free(ctx);
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_that_signs_has_the_format),
		cmocka_unit_test(an_aborted_batch_leaves_the_key_as_it_was),
		cmocka_unit_test(a_request_of_several_wqes_is_only_rung),
		cmocka_unit_test(a_request_of_one_wqe_is_pushed),
		cmocka_unit_test(a_request_is_pushed_around_the_end_of_the_ring),
		cmocka_unit_test(a_list_ends_in_zeroes),
		cmocka_unit_test(a_batch_that_failed_finishes_no_request),
		cmocka_unit_test(a_request_takes_no_place_that_is_taken),
		cmocka_unit_test(a_longer_stride_is_refused),
		cmocka_unit_test(what_a_wide_queue_has_done_a_narrow_one_refuses),
		cmocka_unit_test(what_comes_again_is_as_the_first_time),
		cmocka_unit_test(an_error_waits_for_who_destroys_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
