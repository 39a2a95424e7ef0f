/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkeys.c - memory keys that work requests configure: results of calls in any order and number, and
 * the data of a message through the key. A case has a word for each call: "c2" begins a
 * configuration with 2 setters, "l3" is a list of three pieces, and so on (see calls[]). Each case
 * has its own QP.
 *
 * Covers: providers/mlx5/data/mkey/configure.c, providers/mlx5/data/mkey/finish.c,
 * providers/mlx5/data/mkey/list_requests.c, providers/mlx5/dv/mkey.c
 */
#include <stdlib.h>
#include <string.h>

#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum { PIECE = 8, APART = 64, PIECES_MAX = 52, REPEATS = 3, SKIP = 2 };

enum {
	SIGNATURE = MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
	CRYPTO = MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
};

uint8_t keys_memory[2][KEYS_MEMORY];

static void put_configure(struct keys *keys, unsigned int n)
{
	struct mlx5dv_mkey_conf_attr attr = { 0 };

	mlx5dv_wr_mkey_configure(keys->dvx, keys->mkey, (uint8_t)n, &attr);
}

static void put_reset(struct keys *keys, unsigned int n)
{
	struct mlx5dv_mkey_conf_attr attr = { MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR, 0 };

	mlx5dv_wr_mkey_configure(keys->dvx, keys->mkey, (uint8_t)n, &attr);
}

static void put_unknown(struct keys *keys, unsigned int n)
{
	struct mlx5dv_mkey_conf_attr attr = { n ? 1u << n : 0, n ? 0 : 1 };

	mlx5dv_wr_mkey_configure(keys->dvx, keys->mkey, 0, &attr);
}

static void put_access(struct keys *keys, unsigned int n)
{
	mlx5dv_wr_set_mkey_access_flags(keys->dvx, n ? n : IBV_ACCESS_LOCAL_WRITE);
}

static const struct ibv_sge *pieces_of(const struct keys *keys, unsigned int n)
{
	static struct ibv_sge sge[PIECES_MAX];

	for (unsigned int i = 0; i < n; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)keys_memory[0] + i * APART, PIECE,
					   keys->mr[0]->lkey };
	return sge;
}

static struct mlx5dv_mr_interleaved *pattern_of(const struct keys *keys, unsigned int n)
{
	static struct mlx5dv_mr_interleaved part[PIECES_MAX];

	for (unsigned int i = 0; i < n; i++)
		part[i] = (struct mlx5dv_mr_interleaved){ (uintptr_t)keys_memory[0] + i * APART,
							  PIECE, SKIP, keys->mr[0]->lkey };
	return part;
}

enum { SIG_NONE, SIG_DIF_CRC, SIG_DIF_CSUM, SIG_CRC32, SIG_CRC32C, SIG_CRC64 };
enum {
	WITH_NOTHING,
	WITH_BIG_WIRE,
	WITH_COPY,
	WITH_SEED_0,
	WITH_ESCAPE,
	WITH_TAGS,
	WITH_NO_CHECK,
	WITH_OTHER_BLOCKS,
	WITH_BAD_SEED,
	WITH_BAD_BLOCK
};

struct one_domain {
	struct mlx5dv_sig_block_domain domain;
	struct mlx5dv_sig_t10dif dif;
	struct mlx5dv_sig_crc crc;
};

static uint64_t seed_of(unsigned int kind, unsigned int with)
{
	if (with == WITH_SEED_0 || with == WITH_BAD_SEED)
		return with == WITH_BAD_SEED;
	if (kind == SIG_CRC64)
		return UINT64_MAX;
	return kind >= SIG_CRC32 ? UINT32_MAX : UINT16_MAX;
}

static enum mlx5dv_block_size block_of(unsigned int with, bool on_wire)
{
	if (with == WITH_BIG_WIRE && on_wire)
		return MLX5DV_BLOCK_SIZE_4096;
	if (with == WITH_OTHER_BLOCKS)
		return on_wire ? MLX5DV_BLOCK_SIZE_4048 : MLX5DV_BLOCK_SIZE_520;
	return with == WITH_BAD_BLOCK ? (enum mlx5dv_block_size)7 : MLX5DV_BLOCK_SIZE_512;
}

static struct mlx5dv_sig_t10dif dif_of(unsigned int kind, unsigned int with)
{
	struct mlx5dv_sig_t10dif dif = {
		.bg_type = (enum mlx5dv_sig_t10dif_bg_type)(kind - SIG_DIF_CRC),
		.bg = (uint16_t)seed_of(kind, with),
		.app_tag = with == WITH_TAGS ? 0xffff : 0x1234,
		.ref_tag = with == WITH_TAGS ? 0xffffffff : 0x10203040,
		.flags = MLX5DV_SIG_T10DIF_FLAG_REF_REMAP,
	};

	if (with == WITH_ESCAPE)
		dif.flags = MLX5DV_SIG_T10DIF_FLAG_APP_ESCAPE;
	if (with == WITH_TAGS)
		dif.flags = MLX5DV_SIG_T10DIF_FLAG_APP_REF_ESCAPE;
	return dif;
}

static struct mlx5dv_sig_block_domain *domain_of(struct one_domain *one, unsigned int kind,
						 unsigned int with, bool on_wire)
{
	bool dif = kind <= SIG_DIF_CSUM;

	if (kind == SIG_NONE)
		return NULL;
	one->dif = dif_of(kind, with);
	one->crc.type = (enum mlx5dv_sig_crc_type)(kind - SIG_CRC32);
	one->crc.seed = seed_of(kind, with);
	one->domain.block_size = block_of(with, on_wire);
	one->domain.sig_type = dif ? MLX5DV_SIG_TYPE_T10DIF : MLX5DV_SIG_TYPE_CRC;
	one->domain.comp_mask = 0;
	if (dif)
		one->domain.sig.dif = &one->dif;
	else
		one->domain.sig.crc = &one->crc;
	return &one->domain;
}

static void put_signature(struct keys *keys, unsigned int n)
{
	unsigned int with = n % 10;
	struct one_domain mem, wire;
	struct mlx5dv_sig_block_attr attr = {
		.mem = domain_of(&mem, n / 100, with, false),
		.wire = domain_of(&wire, n / 10 % 10, with, true),
		.flags = with == WITH_COPY ? MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK : 0,
		.check_mask = with == WITH_NO_CHECK ? 0 : 0xff,
		.copy_mask = 0x3f,
	};

	mlx5dv_wr_set_mkey_sig_block(keys->dvx, &attr);
}

/* ---- encryption: "e" and three digits: what is encrypted when, the units, and what is special */

enum {
	CRYPT_PLAINLY,
	CRYPT_WITH_MASK,
	CRYPT_BY_ANOTHER,
	CRYPT_IN_BAD_ORDER,
	CRYPT_WITH_OTHER_TAG,
	CRYPT_FROM_HIGH_TWEAK,
	CRYPT_FROM_UNEVEN_TWEAK,
};

static void put_crypto(struct keys *keys, unsigned int n)
{
	unsigned int with = n % 10;
	struct mlx5dv_crypto_attr attr = {
		.crypto_standard = (enum mlx5dv_crypto_standard)(with == CRYPT_BY_ANOTHER),
		.encrypt_on_tx = n / 100 & 1,
		.signature_crypto_order = (enum mlx5dv_signature_crypto_order)(
			with == CRYPT_IN_BAD_ORDER ? 2 : n / 200 & 1),
		.data_unit_size = (enum mlx5dv_block_size)(n / 10 % 10),
		.dek = keys->dek,
		.comp_mask = with == CRYPT_WITH_MASK,
	};

	memset(attr.initial_tweak, with == CRYPT_FROM_HIGH_TWEAK ? 0xff : 0,
	       sizeof(attr.initial_tweak));
	for (size_t i = 0; with == CRYPT_FROM_UNEVEN_TWEAK && i < sizeof(attr.initial_tweak); i++)
		attr.initial_tweak[i] = (char)(i + 1);
	memset(attr.keytag, with == CRYPT_WITH_OTHER_TAG ? 't' : 'T', sizeof(attr.keytag));
	mlx5dv_wr_set_mkey_crypto(keys->dvx, &attr);
}

static void put_whole(struct keys *keys, unsigned int n)
{
	struct ibv_sge sge = { (uintptr_t)keys_memory[0], n, keys->mr[0]->lkey };

	mlx5dv_wr_set_mkey_layout_list(keys->dvx, 1, &sge);
}

static void put_list(struct keys *keys, unsigned int n)
{
	mlx5dv_wr_set_mkey_layout_list(keys->dvx, (uint16_t)n, pieces_of(keys, n));
}

static void put_pattern(struct keys *keys, unsigned int n)
{
	mlx5dv_wr_set_mkey_layout_interleaved(keys->dvx, REPEATS, (uint16_t)n, pattern_of(keys, n));
}

static void put_mr_list(struct keys *keys, unsigned int n)
{
	mlx5dv_wr_mr_list(keys->dvx, keys->mkey, IBV_ACCESS_LOCAL_WRITE, (uint16_t)n,
			  (struct ibv_sge *)(uintptr_t)pieces_of(keys, n));
}

static void put_mr_pattern(struct keys *keys, unsigned int n)
{
	mlx5dv_wr_mr_interleaved(keys->dvx, keys->mkey, IBV_ACCESS_LOCAL_WRITE, REPEATS,
				 (uint16_t)n, pattern_of(keys, n));
}

static void put_mr_access(struct keys *keys, unsigned int n)
{
	mlx5dv_wr_mr_list(keys->dvx, keys->mkey, n, 1,
			  (struct ibv_sge *)(uintptr_t)pieces_of(keys, 1));
}

static void put_flags(struct keys *keys, unsigned int n)
{
	keys->qpx->wr_flags = n;
}

static void put_send(struct keys *keys, unsigned int n)
{
	keys->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(keys->qpx);
	ibv_wr_set_sge(keys->qpx, keys->mkey->lkey, 0, n);
}

static void put_invalidate(struct keys *keys, unsigned int n)
{
	(void)n;
	keys->qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(keys->qpx, keys->mkey->lkey);
}

static void put_large(struct keys *keys, unsigned int n)
{
	struct ibv_sge sge[] = { { (uintptr_t)keys_memory[0], n, keys->mr[0]->lkey },
				 { (uintptr_t)keys_memory[0], 8, keys->mr[0]->lkey } };

	mlx5dv_wr_set_mkey_layout_list(keys->dvx, ARRAY_SIZE(sge), sge);
}

static void put_abort(struct keys *keys, unsigned int n)
{
	(void)n;
	ibv_wr_abort(keys->qpx);
	ibv_wr_start(keys->qpx);
	keys->qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
}

static void put_complete(struct keys *keys, unsigned int n)
{
	(void)n;
	SAY_RET(ibv_wr_complete(keys->qpx), "ibv_wr_complete");
	ibv_wr_start(keys->qpx);
	keys->qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
}

/* What is in the queue has been done when the command is. */
static void put_destroyed(struct keys *keys, unsigned int n)
{
	(void)n;
	if (!SAY_RET(mlx5dv_dek_destroy(keys->dek), "mlx5dv_dek_destroy"))
		keys->dek = NULL;
}

static void put_copy(struct keys *keys, unsigned int n)
{
	keys->qpx->wr_flags = IBV_SEND_SIGNALED;
	mlx5dv_wr_memcpy(keys->dvx, keys->mr[1]->lkey, (uintptr_t)keys_memory[1], keys->mr[0]->lkey,
			 (uintptr_t)keys_memory[0], n);
}

static const struct {
	char word;
	void (*put)(struct keys *keys, unsigned int n);
} calls[] = {
	{ 'c', put_configure }, { 'r', put_reset },      { 'u', put_unknown },
	{ 'a', put_access },    { 'l', put_list },       { 'i', put_pattern },
	{ 'L', put_mr_list },   { 'I', put_mr_pattern }, { 'A', put_mr_access },
	{ 'f', put_flags },     { 's', put_send },       { 'x', put_invalidate },
	{ 'm', put_copy },      { 'g', put_signature },  { 'w', put_whole },
	{ 'e', put_crypto },    { 'X', put_abort },      { 'C', put_complete },
	{ 'b', put_large },     { 'd', put_destroyed },
};

void keys_put(struct keys *keys, const char *words)
{
	while (*words) {
		char word = *words++;
		unsigned int n = (unsigned int)strtoul(words, (char **)(uintptr_t)&words, 10);

		for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
			if (calls[i].word == word)
				calls[i].put(keys, n);
		words += *words == ' ';
	}
}

/* ---- queue pairs ---- */

static struct ibv_qp *create_qp(const struct keys *keys, const struct rig_conf *conf,
				uint64_t dv_ops, uint64_t ops)
{
	struct ibv_qp_init_attr plain;
	struct ibv_qp_init_attr_ex attr = { 0 };
	struct mlx5dv_qp_init_attr dv = {
		.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
		.send_ops_flags = dv_ops,
		.create_flags = keys->create_flags,
	};
	struct ibv_qp *qp;

	if (keys->create_flags)
		dv.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS;
	rig_qp_init_attr(conf, keys->pair.end[0].cq, &plain);
	attr.send_cq = attr.recv_cq = plain.send_cq;
	attr.cap = plain.cap;
	attr.qp_type = plain.qp_type;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | (ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0);
	attr.pd = keys->pair.pd;
	attr.send_ops_flags = ops;
	qp = mlx5dv_create_qp(keys->pair.rig->ctx, &attr, &dv);
	if (qp)
		say("dv ops %#llx, ops %#llx, %u requests, %u sge, %u inline: has %u, %u, %u",
		    (unsigned long long)dv_ops, (unsigned long long)ops, conf->cap.max_send_wr,
		    conf->cap.max_send_sge, conf->cap.max_inline_data, attr.cap.max_send_wr,
		    attr.cap.max_send_sge, attr.cap.max_inline_data);
	return qp;
}

/* The two keys of XTS are the numbers from 1 on, as in tests/consumers/harness/crypto.py. */
static struct mlx5dv_dek *dek_of(const struct keys *keys)
{
	struct mlx5dv_dek_init_attr attr = { .has_keytag = true,
					     .pd = keys->pair.pd,
					     .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };
	struct mlx5dv_dek *dek;

	for (int i = 0; i < 32; i++)
		attr.key[i] = (char)(i + 1);
	memset(attr.key + 32, 'T', 8);
	dek = mlx5dv_dek_create(keys->pair.rig->ctx, &attr);
	MUST(dek);
	return dek;
}

void keys_open(struct rig *rig, const struct rig_conf *conf, uint16_t entries, uint32_t flags,
	       struct keys *keys)
{
	struct mlx5dv_mkey_init_attr attr = { 0 };

	keys->dek = NULL;
	keys->create_flags = 0;
	rig_pair_open(rig, conf, &keys->pair);
	attr.pd = keys->pair.pd;
	attr.create_flags = flags;
	attr.max_entries = entries;
	keys->mkey = mlx5dv_create_mkey(&attr);
	MUST(keys->mkey);
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO)
		keys->dek = dek_of(keys);
	for (int i = 0; i < 2; i++) {
		keys->mr[i] = ibv_reg_mr(keys->pair.pd, keys_memory[i], KEYS_MEMORY,
					 IBV_ACCESS_LOCAL_WRITE);
		MUST(keys->mr[i]);
	}
	for (size_t i = 0; i < KEYS_MEMORY; i++) {
		keys_memory[0][i] = (uint8_t)('!' + i % 89);
		keys_memory[1][i] = '.';
	}
}

void keys_close(struct keys *keys)
{
	say_ret(mlx5dv_destroy_mkey(keys->mkey), "mlx5dv_destroy_mkey");
	if (keys->dek)
		MUST(!mlx5dv_dek_destroy(keys->dek));
	for (int i = 0; i < 2; i++)
		MUST(!ibv_dereg_mr(keys->mr[i]));
	rig_pair_close(&keys->pair);
}

void keys_connect(struct keys *keys, uint64_t dv_ops)
{
	struct rig_pair *pair = &keys->pair;
	struct ibv_qp *qp = create_qp(keys, &pair->conf, dv_ops,
				      IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_LOCAL_INV);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	MUST(qp && !ibv_destroy_qp(pair->end[0].qp));
	pair->end[0].qp = qp;
	MUST(!ibv_modify_qp(pair->end[1].qp, &attr, IBV_QP_STATE));
	rig_qp_to(pair->rig, &pair->conf, qp, pair->end[1].qp->qp_num, IBV_QPS_RTS);
	rig_qp_to(pair->rig, &pair->conf, pair->end[1].qp, qp->qp_num, IBV_QPS_RTS);
	keys->qpx = ibv_qp_to_qp_ex(qp);
	keys->dvx = mlx5dv_qp_ex_from_ibv_qp_ex(keys->qpx);
}

enum { LAST = 99 };

/* Posts a request that completes after all requests before it. */
static void put_last(struct keys *keys)
{
	struct ibv_send_wr wr = { .wr_id = LAST,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	MUST(!ibv_post_send(&keys->qpx->qp_base, &wr, &bad));
}

static int say_sent(const struct keys *keys)
{
	struct ibv_wc wc;
	int count = 0;

	while (MUST(rig_poll(keys->pair.end[0].cq, 1, &wc) == 1), wc.wr_id != LAST) {
		say("sent: %s, opcode %d", ibv_wc_status_str(wc.status),
		    wc.status ? 0 : (int)wc.opcode);
		count++;
	}
	/* After a failure the last request is flushed: the log names the first that failed. */
	say_result(wc.status);
	return count;
}

static void say_state(const struct keys *keys)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(&keys->qpx->qp_base, &attr, IBV_QP_STATE, &init));
	say("the QP is in state %d", (int)attr.qp_state);
}

static uint32_t sum_of(const uint8_t *bytes, size_t len)
{
	uint32_t sum = 2166136261u;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

static void say_received(uint32_t len)
{
	char text[PIECES_MAX * PIECE * REPEATS + 1];

	if (len > 400) {
		say("received %u bytes, sum %08x", len, sum_of(keys_memory[1], len));
		return;
	}
	for (uint32_t i = 0; i < len; i++)
		text[i] = (char)keys_memory[1][i];
	text[len] = 0;
	say("received %s", text);
}

static void say_check_of(struct mlx5dv_mkey *mkey)
{
	struct mlx5dv_mkey_err err = { 0 };
	int ret = SAY_RET(mlx5dv_mkey_check(mkey, &err), "mlx5dv_mkey_check");

	if (!ret && err.err_type)
		say("error %d, expected %#llx, actual %#llx, offset %llu", (int)err.err_type,
		    (unsigned long long)err.err.sig.expected_value,
		    (unsigned long long)err.err.sig.actual_value,
		    (unsigned long long)err.err.sig.offset);
	else if (!ret)
		say("no error");
}

struct keys_outcome keys_case(struct rig *rig, const char *words, uint32_t inlines,
			      uint16_t entries, uint32_t flags)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_wc wc;
	struct keys keys;
	struct ibv_recv_wr recv = { 0 }, *bad;
	struct ibv_sge sge;
	struct keys_outcome came = { 0 };
	int ret;

	conf.cap.max_inline_data = inlines;
	keys_open(rig, &conf, entries, MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT | flags, &keys);
	keys_connect(&keys, MLX5DV_QP_EX_WITH_MR_LIST | MLX5DV_QP_EX_WITH_MR_INTERLEAVED |
				    MLX5DV_QP_EX_WITH_MKEY_CONFIGURE | MLX5DV_QP_EX_WITH_MEMCPY);
	sge = (struct ibv_sge){ (uintptr_t)keys_memory[1], KEYS_MEMORY, keys.mr[1]->lkey };
	recv.sg_list = &sge;
	recv.num_sge = 1;
	/* Two messages of a case's, and the last. */
	for (int i = 0; i < 3; i++)
		MUST(!ibv_post_recv(keys.pair.end[1].qp, &recv, &bad));
	ibv_wr_start(keys.qpx);
	keys.qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
	keys_put(&keys, words);
	ret = SAY_RET(ibv_wr_complete(keys.qpx), "%s, inline %u, entries %u", words, inlines,
		      entries);
	if (!ret) {
		put_last(&keys);
		came.completions = say_sent(&keys);
	}
	if (!ret && ibv_poll_cq(keys.pair.end[1].cq, 1, &wc) == 1 && !wc.status)
		came.bytes = wc.byte_len;
	if (came.bytes)
		say_received(came.bytes);
	if (flags & MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE) {
		say_check_of(keys.mkey);
		say_check_of(keys.mkey);
	}
	say_state(&keys);
	keys_close(&keys);
	return came;
}

static void run_case(struct rig *rig, const char *words, uint32_t inlines, uint16_t entries)
{
	keys_case(rig, words, inlines, entries, 0);
}

/* ---- topics ---- */

static void say_creations(struct rig *rig)
{
	static const struct {
		uint32_t flags;
		uint16_t entries;
	} tries[] = {
		{ 0, 1 },  { 1, 0 },       { 1, 1 },  { 1, 3 }, { 1, 4 },
		{ 1, 5 },  { 1, 255 },     { 8, 1 },  { 9, 1 }, { 16, 1 },
		{ 17, 1 }, { 1u << 5, 1 }, { 33, 1 }, { 2, 1 }, { 3, 1 },
	};
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);

	MUST(pd);
	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		struct mlx5dv_mkey_init_attr attr = { pd, tries[i].flags, tries[i].entries };
		struct mlx5dv_mkey *mkey =
			SAY_PTR(mlx5dv_create_mkey(&attr), "flags %u, entries %u", tries[i].flags,
				tries[i].entries);

		if (!mkey)
			continue;
		say("entries %u, low byte %u, rkey is lkey %d", attr.max_entries, mkey->lkey & 0xff,
		    mkey->rkey == mkey->lkey);
		say_ret(mlx5dv_destroy_mkey(mkey), "mlx5dv_destroy_mkey");
	}
	ibv_dealloc_pd(pd);
}

void dv_mkeys(struct rig *rig)
{
	static const char *const cases[] = {
		"L1 s8",
		"L2 s16",
		"L3 s24",
		"L4",
		"L5",
		"I1 s24",
		"I2 s48",
		"I3",
		"I4",
		"L0",
		"I0",
		"f2 L2",
		"f0 L2",
		"A0 s8",
		"A1 s8",
		"A3",
		"A2",
		"A15",
		"A16",
		"A2147483648",
		"A1024",
		/* configuration, and its setters in any order and number */
		"c0",
		"c1 a",
		"c1 l2",
		"c2 a l2 s16",
		"c2 l2 a s16",
		"c2 a i2 s48",
		"c2 a",
		"c2 a s8",
		"c1 a l2",
		"c0 a",
		"c2 a a l2",
		"c2 l2 l2",
		"c2 l2 i2",
		"c3 a l2 i2",
		"a",
		"l2",
		"i2",
		"c2 a L2",
		"c2 a x",
		"f2 c2 a l2",
		"c2 a l4",
		"c2 a l5",
		"c2 a i3",
		"c2 a i4",
		"r0",
		"r2 a l2 s16",
		"u0",
		"u1",
		"u5",
		"c2 a16 l2",
		"c2 a2 l2",
		"c2 a1024 l2",
		"c2 a l0",
		"c2 a i0",
		/* one after the other */
		"L2 s16 L3 s24",
		"c2 a l2 s16 x c2 a i2 s48",
		"L2 x s16",
		"L2 c1 a s16",
		"L2 c1 l3 s24",
		"c1 l2 s16",
		"s8",
		"m16",
		"m0",
		"m4096",
		"m16777217",
	};

	say_creations(rig);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(rig, cases[i], 0, 16);
	run_case(rig, "L5 s40", 256, 16);
	run_case(rig, "L16 s128", 512, 16);
	run_case(rig, "L17", 512, 16);
	run_case(rig, "L24", 512, 32);
	run_case(rig, "c2 a l24", 512, 32);
	run_case(rig, "c2 a l16 s128", 512, 16);
	run_case(rig, "c2 a l17", 512, 16);
	run_case(rig, "I15", 512, 16);
	run_case(rig, "I16", 512, 16);
	run_case(rig, "c2 a i16", 512, 16);
	run_case(rig, "c2 a i3", 512, 3);
	run_case(rig, "I3", 512, 3);
	run_case(rig, "I4", 512, 4);
	run_case(rig, "L4", 512, 3);
}

void dv_mkey_queues(struct rig *rig)
{
	static const uint64_t ops[] = { 1, 2, 4, 8, 16, 31, 32 };
	static const uint32_t inlines[] = { 0, 64, 100, 512 };
	struct rig_conf conf = rig_conf_default();
	struct keys keys = { 0 };

	rig_pair_open(rig, &conf, &keys.pair);
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		for (size_t k = 0; k < 2 * ARRAY_SIZE(inlines); k++) {
			struct ibv_qp *qp;

			conf.cap.max_inline_data = inlines[k / 2];
			conf.cap.max_send_sge = 1;
			errno = 0;
			qp = create_qp(&keys, &conf, ops[i], k & 1 ? IBV_QP_EX_WITH_SEND : 0);
			say_ptr(qp, "dv ops %#llx", (unsigned long long)ops[i]);
			if (qp)
				ibv_destroy_qp(qp);
		}
	rig_pair_close(&keys.pair);
	keys_case(rig, "c3 a l44 e100", 704, 52, CRYPTO);
	keys_case(rig, "c3 a l45 e100", 704, 52, CRYPTO);
	keys_case(rig, "c4 a l40 g010 e100", 704, 52, CRYPTO | SIGNATURE);
	keys_case(rig, "c4 a l41 g010 e100", 704, 52, CRYPTO | SIGNATURE);
}

/* What the memory holds is no signature of anything, so checks of memory find errors. */
void dv_signatures(struct rig *rig)
{
	static const char *const cases[] = {
		"c3 a w512 g010 s520",
		"c3 a w1024 g010 s1040",
		"c3 a w1024 g020 s1040",
		"c3 a w1024 g030 s1032",
		"c3 a w1024 g040 s1032",
		"c3 a w1024 g050 s1040",
		"c3 a w1040 g100 s1024",
		"c3 a w1040 g200 s1024",
		"c3 a w1032 g300 s1024",
		"c3 a w1032 g400 s1024",
		"c3 a w1040 g500 s1024",
		"c3 a w1040 g110 s1040",
		"c3 a w1040 g220 s1040",
		"c3 a w1032 g330 s1032",
		"c3 a w1040 g550 s1040",
		"c3 a w1040 g120 s1040",
		"c3 a w1032 g350 s1040",
		"c3 a w4160 g111 s4104",
		"c3 a w1040 g112 s1040",
		"c3 a w1032 g332 s1032",
		"c3 a w1040 g122 s1040",
		"c3 a w1040 g111 s512",
		"c3 a w1024 g013 s1040",
		"c3 a w1024 g033 s1032",
		"c3 a w1024 g053 s1040",
		"c3 a w1040 g114 s1040",
		"c3 a w1040 g115 s1040",
		"c3 a w1040 g116 s1040",
		"c3 a w8448 g117 s8112",
		"c3 g010 a w512 s520",
		"c3 a g010 w512 s520",
		"c3 w512 g010 a s520",
		"c1 g010 s520",
		"c2 a g010 s8",
		"c3 a w512 g018",
		"c3 a w512 g038",
		"c3 a w512 g058",
		"c3 a w512 g019",
		"c3 a w512 g000 s512",
		"c3 a w1024 g130 s1032",
		"c3 a w512 g010 c1 w1024 s1040",
		"c3 a w512 g010 r1 w1024 s1024",
		"c3 a w1040 g100 s1024 f10 c3 a w512 g010 s520",
		"c2 a w512 s512",
	};
	/* Requested inline sizes for which blocks of 64 bytes just fit, or just do not, so that
	 * roundings show. */
	static const uint32_t inlines[] = { 60, 61, 124, 188, 189, 252 };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		keys_case(rig, cases[i], 512, 4, MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE);
	run_case(rig, "c3 a w512 g010", 512, 4);
	keys_case(rig, "c3 a w512 g010", 0, 4, MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE);
	for (size_t i = 0; i < ARRAY_SIZE(inlines); i++) {
		keys_case(rig, "c3 a w512 g010 s520", inlines[i], 4, SIGNATURE);
		keys_case(rig, "c3 a l12 g010", inlines[i], 16, SIGNATURE);
		keys_case(rig, "c3 g100 a i3", inlines[i], 4, SIGNATURE);
	}
}

void dv_encryption(struct rig *rig)
{
	enum { BOTH = CRYPTO | SIGNATURE };
	static const char *const cases[] = {
		"c3 a w512 e100 s512",
		"c3 a w512 e0 s512",
		"c3 a w512 e200 s512",
		"c3 a w512 e300 s512",
		"c3 a w1024 e100 s1024",
		"c3 a w1040 e110 s1040",
		"c3 a w8096 e120 s8096",
		"c3 a w8192 e130 s8192",
		"c3 a w8320 e140 s8320",
		"c3 a w1024 e105 s1024",
		"c3 a w1024 e106 s1024",
		"c3 a w512 e150 s512",
		"c3 a w512 e101 s512",
		"c3 a w512 e102 s512",
		"c3 a w512 e103 s512",
		"c3 a w512 e104 s512",
		"c3 a w1024 e100 s512",
		"c3 a w1024 e100 s528",
		"c3 a w1024 e100 s47",
		"c3 a w512 e110 s512",
		"c3 a w496 e110 s496",
		"c3 e100 a w512 s512",
		"c3 a e100 w512 s512",
		"c3 a e100 e100",
		"c2 a w512 s512",
		"c1 e100",
		"e100",
		"c2 a w512 c1 e100 s512",
		"c3 a w512 e100 c1 w1024 s1024",
		"c3 a w512 e100 c3 a w512 e0 s512",
		"c3 a w512 e100 r1 w512 s512",
		"c3 a l2 e100 s16",
		"c3 a i1 e100 s16",
		/* the key of data goes while a memory key names it */
		"c3 a w512 e100 C d s512",
		"c3 a w512 e0 C d s512",
	};
	static const char *const with_signatures[] = {
		"c4 a w512 g010 e310 s520",    "c4 a w512 g010 e100 s520",
		"c4 a w512 g030 e300 s512",    "c4 a w1040 g100 e310 s1024",
		"c4 a w1040 g100 e300 s1024",  "c4 a w1040 g120 e310 s1040",
		"c4 a w1024 g010 e0 s1040",    "c4 a w1040 g100 e10 s1024",
		"c4 a w1040 g120 e10 s1040",   "c4 a w1040 g100 e200 s1024",
		"c3 a w512 e100 s512",         "c3 a w512 g010 s520",
		"c3 a w512 g010 c1 e310 s520", "c3 a w512 e310 c1 g010 s520",
		"c4 a w512 g010 e100 r0 s512", "c4 e310 g010 a w512 s520",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		keys_case(rig, cases[i], 512, 4, CRYPTO);
	for (size_t i = 0; i < ARRAY_SIZE(with_signatures); i++)
		keys_case(rig, with_signatures[i], 512, 4, BOTH);
	run_case(rig, "c3 a w512 e100", 512, 4);
	for (uint32_t inlines = 0; inlines <= 256; inlines += 64) {
		keys_case(rig, "c3 a w512 e100", inlines, 4, CRYPTO);
		keys_case(rig, "c3 a w512 e100", inlines, 4, BOTH);
		keys_case(rig, "c4 a w512 g010 e100", inlines, 4, BOTH);
	}
}
