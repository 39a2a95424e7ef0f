/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * keys.c - pages on memory keys that are configured in parts, on signatures and encryption, and on
 * logins and data keys. An adapter takes data keys as they are, or wrapped ones (ON_WRAPPED).
 *
 * Covers: providers/mlx5/data/mkey/, providers/mlx5/dv/crypto.c, providers/mlx5/dv/mkey.c
 */
#include <infiniband/mlx5dv.h>

#include "errors.h"
#include "tests/verbs/dv/wrapped.h"

enum {
	INDIRECT = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT,
	SIGNED = INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
	ENCRYPTED = INDIRECT | MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
	ENTRIES = 32,
	INLINE = 256,
};

struct batch {
	struct ibv_qp_ex *qp;
	struct mlx5dv_qp_ex *dv;
	struct mlx5dv_mkey *mkey;
	struct ibv_sge sges[ENTRIES];
};

static struct mlx5dv_mkey *mkey_of(struct bed *bed, uint32_t flags)
{
	struct mlx5dv_mkey_init_attr attr = { .pd = bed->pd,
					      .max_entries = ENTRIES,
					      .create_flags = flags };
	struct mlx5dv_mkey *mkey = mlx5dv_create_mkey(&attr);

	MUST(mkey);
	return mkey;
}

static struct batch batch_begin(struct bed *bed, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = bed_qp_attr_ex(bed);
	struct mlx5dv_qp_init_attr mlx5 = { .comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS,
					    .send_ops_flags = MLX5DV_QP_EX_WITH_MKEY_CONFIGURE };
	struct rig_conf conf = rig_conf_default();
	struct batch batch = { .mkey = mkey_of(bed, flags) };
	struct ibv_qp *qp;

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	attr.cap.max_inline_data = INLINE;
	qp = mlx5dv_create_qp(bed->ctx, &attr, &mlx5);
	MUST(qp);
	rig_qp_to(&bed->rig, &conf, qp, qp->qp_num, IBV_QPS_RTS);
	batch.qp = ibv_qp_to_qp_ex(qp);
	batch.dv = mlx5dv_qp_ex_from_ibv_qp_ex(batch.qp);
	for (size_t i = 0; i < ARRAY_SIZE(batch.sges); i++)
		batch.sges[i] = (struct ibv_sge){ (uintptr_t)bed->buf, 512, bed->mr->lkey };
	ibv_wr_start(batch.qp);
	batch.qp->wr_flags = IBV_SEND_INLINE;
	return batch;
}

static struct batch configuration_begin(struct bed *bed, uint32_t flags, uint8_t num_setters)
{
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct batch batch = batch_begin(bed, flags);

	mlx5dv_wr_mkey_configure(batch.dv, batch.mkey, num_setters, &attr);
	return batch;
}

static int batch_end(struct batch *batch)
{
	return RET(ibv_wr_complete(batch->qp));
}

CASE(mlx5dv_wr_mkey_configure, EINVAL, "No request waits for the setter")
{
	struct batch batch = batch_begin(bed, INDIRECT);

	mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_mkey_configure, EINVAL, "or the setter was already called")
{
	struct batch batch = configuration_begin(bed, INDIRECT, 2);

	mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_mkey_configure, EINVAL, "a key cannot have one of the rights")
{
	struct batch batch = configuration_begin(bed, INDIRECT, 2);

	mlx5dv_wr_set_mkey_access_flags(batch.dv, IBV_ACCESS_MW_BIND);
	mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_mkey_configure, EINVAL,
     "the sum of bytes_count and bytes_skip of a part is more than 65535")
{
	struct batch batch = configuration_begin(bed, INDIRECT, 1);
	struct mlx5dv_mr_interleaved part = { (uintptr_t)bed->buf, 512, 65535, bed->mr->lkey };

	mlx5dv_wr_set_mkey_layout_interleaved(batch.dv, 1, 1, &part);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_mkey_configure, EOPNOTSUPP, "or a piece of a list is longer than 2 GiB")
{
	struct batch batch = configuration_begin(bed, INDIRECT, 1);

	batch.sges[0].length = (2u << 30) + 1;
	mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_mkey_configure, ENOMEM, "or than the queue pair has room for")
{
	struct batch batch = configuration_begin(bed, INDIRECT, 1);

	mlx5dv_wr_set_mkey_layout_list(batch.dv, ENTRIES, batch.sges); /* 16 bytes each */
	return batch_end(&batch);
}

CASE(mlx5dv_wr_mkey_configure, ENOMEM, "or the send queue is full")
{
	struct mlx5dv_mkey_conf_attr attr = { 0 };
	struct batch batch = batch_begin(bed, INDIRECT);

	for (int i = 0; i < 2000; i++) {
		mlx5dv_wr_mkey_configure(batch.dv, batch.mkey, 1, &attr);
		mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	}
	return batch_end(&batch);
}

static struct mlx5dv_sig_crc crc32(void)
{
	return (struct mlx5dv_sig_crc){ .type = MLX5DV_SIG_CRC_TYPE_CRC32, .seed = UINT32_MAX };
}

static struct mlx5dv_sig_block_domain domain_of(const struct mlx5dv_sig_crc *crc)
{
	return (struct mlx5dv_sig_block_domain){ .sig_type = MLX5DV_SIG_TYPE_CRC,
						 .block_size = MLX5DV_BLOCK_SIZE_512,
						 .sig.crc = crc };
}

/* A configuration of a signature and nothing else, so that the setter decides. */
static int mkey_sign(struct bed *bed, uint32_t flags, struct mlx5dv_sig_block_attr attr)
{
	struct batch batch = configuration_begin(bed, flags, 3);

	mlx5dv_wr_set_mkey_sig_block(batch.dv, &attr);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "Both domains are NULL")
{
	return mkey_sign(bed, SIGNED, (struct mlx5dv_sig_block_attr){ .mem = NULL });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "a type, a block size, flags or a seed are invalid")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);

	mem.sig_type = (enum mlx5dv_sig_type)77;
	return mkey_sign(bed, SIGNED, (struct mlx5dv_sig_block_attr){ .mem = &mem });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "a type, a block size, flags or a seed are invalid")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);

	mem.block_size = (enum mlx5dv_block_size)77;
	return mkey_sign(bed, SIGNED, (struct mlx5dv_sig_block_attr){ .mem = &mem });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "a type, a block size, flags or a seed are invalid")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);

	return mkey_sign(bed, SIGNED,
			 (struct mlx5dv_sig_block_attr){ .mem = &mem, .flags = 1u << 20 });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "a type, a block size, flags or a seed are invalid")
{
	struct mlx5dv_sig_crc crc = { .type = MLX5DV_SIG_CRC_TYPE_CRC32, .seed = 77 };
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);

	return mkey_sign(bed, SIGNED, (struct mlx5dv_sig_block_attr){ .mem = &mem });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL,
     "the flag for copy_mask is set, and the domains have different structures")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc), wire = domain_of(&crc);

	wire.block_size = MLX5DV_BLOCK_SIZE_4096;
	return mkey_sign(
		bed, SIGNED,
		(struct mlx5dv_sig_block_attr){ .mem = &mem,
						.wire = &wire,
						.flags = MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK,
						.copy_mask = MLX5DV_SIG_MASK_CRC32 });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "signatures are already set")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);
	struct mlx5dv_sig_block_attr attr = { .mem = &mem };
	struct batch batch = configuration_begin(bed, SIGNED, 3);

	mlx5dv_wr_set_mkey_sig_block(batch.dv, &attr);
	mlx5dv_wr_set_mkey_sig_block(batch.dv, &attr);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "the key was created without signatures")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);

	return mkey_sign(bed, INDIRECT, (struct mlx5dv_sig_block_attr){ .mem = &mem });
}

CASE(mlx5dv_wr_set_mkey_sig_block, EINVAL, "or no configuration waits for a setter")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);
	struct mlx5dv_sig_block_attr attr = { .mem = &mem };
	struct batch batch = batch_begin(bed, SIGNED);

	mlx5dv_wr_set_mkey_sig_block(batch.dv, &attr);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_set_mkey_sig_block, ENOMEM, "The list of the key's pieces, 64 bytes")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain mem = domain_of(&crc);
	struct mlx5dv_sig_block_attr attr = { .mem = &mem };
	struct batch batch = configuration_begin(bed, SIGNED, 2);

	mlx5dv_wr_set_mkey_layout_list(batch.dv, INLINE / 16, batch.sges);
	mlx5dv_wr_set_mkey_sig_block(batch.dv, &attr);
	return batch_end(&batch);
}

static struct mlx5dv_dek_init_attr plain_dek(struct bed *bed)
{
	struct mlx5dv_dek_init_attr attr = { .has_keytag = true,
					     .pd = bed->pd,
					     .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN };

	for (int i = 0; i < 32; i++)
		attr.key[i] = (char)(i + 1);
	memset(attr.key + 32, 'T', 8);
	return attr;
}

static struct mlx5dv_crypto_attr crypto_attr(struct bed *bed)
{
	struct mlx5dv_dek_init_attr dek = plain_dek(bed);
	struct mlx5dv_crypto_attr attr = {
		.crypto_standard = MLX5DV_CRYPTO_STANDARD_AES_XTS,
		.encrypt_on_tx = true,
		.signature_crypto_order =
			MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_AFTER_CRYPTO_ON_TX,
		.data_unit_size = MLX5DV_BLOCK_SIZE_512,
		.dek = mlx5dv_dek_create(bed->ctx, &dek),
		.keytag = { 'T', 'T', 'T', 'T', 'T', 'T', 'T', 'T' },
	};

	MUST(attr.dek);
	return attr;
}

static int encrypt(struct bed *bed, uint32_t flags, struct mlx5dv_crypto_attr attr, int times)
{
	struct batch batch = configuration_begin(bed, flags, 4);

	for (int i = 0; i < times; i++)
		mlx5dv_wr_set_mkey_crypto(batch.dv, &attr);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_set_mkey_crypto, EINVAL, "no configuration waits for a setter")
{
	struct mlx5dv_crypto_attr attr = crypto_attr(bed);
	struct batch batch = batch_begin(bed, ENCRYPTED);

	mlx5dv_wr_set_mkey_crypto(batch.dv, &attr);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_set_mkey_crypto, EINVAL, "encryption is already set")
{
	return encrypt(bed, ENCRYPTED, crypto_attr(bed), 2);
}

CASE(mlx5dv_wr_set_mkey_crypto, EINVAL, "the key was created without encryption")
{
	return encrypt(bed, INDIRECT, crypto_attr(bed), 1);
}

CASE(mlx5dv_wr_set_mkey_crypto, EINVAL, "an attribute is unknown")
{
	struct mlx5dv_crypto_attr attr = crypto_attr(bed);

	attr.data_unit_size = (enum mlx5dv_block_size)77;
	return encrypt(bed, ENCRYPTED, attr, 1);
}

CASE(mlx5dv_wr_set_mkey_crypto, EINVAL, "an attribute is unknown")
{
	struct mlx5dv_crypto_attr attr = crypto_attr(bed);

	attr.comp_mask = 1;
	return encrypt(bed, ENCRYPTED, attr, 1);
}

CASE(mlx5dv_wr_set_mkey_crypto, EINVAL,
     "or the order does not fit a key with signatures on both sides")
{
	struct mlx5dv_sig_crc crc = crc32();
	struct mlx5dv_sig_block_domain domain = domain_of(&crc);
	struct mlx5dv_sig_block_attr both = { .mem = &domain, .wire = &domain };
	struct mlx5dv_crypto_attr attr = crypto_attr(bed);
	struct batch batch = configuration_begin(bed, SIGNED | ENCRYPTED, 3);

	mlx5dv_wr_set_mkey_layout_list(batch.dv, 1, batch.sges);
	mlx5dv_wr_set_mkey_sig_block(batch.dv, &both);
	mlx5dv_wr_set_mkey_crypto(batch.dv, &attr);
	return batch_end(&batch);
}

CASE(mlx5dv_wr_set_mkey_crypto, ENOMEM, "the list, 64 bytes for encryption")
{
	struct mlx5dv_crypto_attr attr = crypto_attr(bed);
	struct batch batch = configuration_begin(bed, ENCRYPTED, 2);

	for (size_t i = 0; i < ARRAY_SIZE(batch.sges); i++)
		batch.sges[i].length = 16;
	mlx5dv_wr_set_mkey_layout_list(batch.dv, INLINE / 16, batch.sges);
	mlx5dv_wr_set_mkey_crypto(batch.dv, &attr);
	return batch_end(&batch);
}

/* Another credential of 40 bytes, wrapped with the adapter's key: see wrapped.h. */
static const uint8_t other_credential[] = {
	0x39, 0x8e, 0x81, 0x27, 0x31, 0x9b, 0xff, 0x35, 0x6c, 0x1e, 0x19, 0x55,
	0xab, 0xb5, 0x5a, 0xa0, 0x77, 0xe6, 0xd4, 0x8b, 0x96, 0xf9, 0x62, 0xb3,
	0xf9, 0xa4, 0x74, 0xc7, 0x2c, 0xb9, 0x66, 0xf6, 0x97, 0x73, 0xb5, 0x96,
	0x04, 0xe3, 0xf9, 0x14, 0x14, 0x75, 0xe1, 0xad, 0xd6, 0xb1, 0xd5, 0x5f,
};

static struct mlx5dv_crypto_login_attr login_attr(void)
{
	struct mlx5dv_crypto_login_attr attr = { 0 };

	memcpy(attr.credential, wrapped_credential, sizeof(wrapped_credential));
	return attr;
}

/* A login that succeeds is undone. */
static int login(struct bed *bed, struct mlx5dv_crypto_login_attr attr)
{
	int ret = RET(mlx5dv_crypto_login(bed->ctx, &attr));

	if (!ret)
		MUST(!mlx5dv_crypto_logout(bed->ctx));
	return ret;
}

static struct mlx5dv_crypto_login_attr_ex object_attr(void)
{
	return (struct mlx5dv_crypto_login_attr_ex){ .credential = wrapped_credential,
						     .credential_len = sizeof(wrapped_credential) };
}

static int login_object(struct bed *bed, struct mlx5dv_crypto_login_attr_ex attr)
{
	struct mlx5dv_crypto_login_obj *object;
	int ret = OBJ(object = mlx5dv_crypto_login_create(bed->ctx, &attr));

	if (object)
		MUST(!mlx5dv_crypto_login_destroy(object));
	return ret;
}

CASE_ON(ON_MLX4, mlx5dv_crypto_login, EOPNOTSUPP, "The device does not encrypt")
{
	return login(bed, login_attr());
}

CASE(mlx5dv_crypto_login, EOPNOTSUPP, "or takes keys as they are")
{
	return login(bed, login_attr());
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, EINVAL, "The credential is another")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();

	memcpy(attr.credential, other_credential, sizeof(other_credential));
	return login(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, EINVAL, "or is not wrapped with that key")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();

	attr.credential[5] ^= 1;
	return login(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, EINVAL, "there is no credential or key of that number")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();

	attr.credential_id = 1;
	return login(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, EINVAL, "there is no credential or key of that number")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();

	attr.import_kek_id = 1;
	return login(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, EINVAL, "comp_mask is not 0")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();

	attr.comp_mask = 1;
	return login(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, EEXIST, "The context is logged in already")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();
	int ret;

	MUST(!mlx5dv_crypto_login(bed->ctx, &attr));
	ret = RET(mlx5dv_crypto_login(bed->ctx, &attr));
	MUST(!mlx5dv_crypto_logout(bed->ctx));
	return ret;
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, ENOMEM, "There is no memory")
{
	return NO_MEMORY(login(bed, login_attr()));
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login, ENOMEM, "or this context has a login object")
{
	struct mlx5dv_crypto_login_attr_ex attr = object_attr();

	MUST(mlx5dv_crypto_login_create(bed->ctx, &attr));
	return login(bed, login_attr());
}

CASE_ON(ON_MLX4, mlx5dv_crypto_login_create, EOPNOTSUPP, "The device does not encrypt")
{
	return login_object(bed, object_attr());
}

CASE(mlx5dv_crypto_login_create, EOPNOTSUPP, "or takes keys as they are")
{
	return login_object(bed, object_attr());
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, EINVAL, "The credential is another")
{
	struct mlx5dv_crypto_login_attr_ex attr = object_attr();

	attr.credential = other_credential;
	return login_object(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, EINVAL, "or is not wrapped with that key")
{
	struct mlx5dv_crypto_login_attr_ex attr = object_attr();

	attr.credential_len = 40;
	return login_object(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, EINVAL,
	"there is no credential or key of that number")
{
	struct mlx5dv_crypto_login_attr_ex attr = object_attr();

	attr.credential_id = 1;
	return login_object(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, EINVAL, "comp_mask is not 0")
{
	struct mlx5dv_crypto_login_attr_ex attr = object_attr();

	attr.comp_mask = 1;
	return login_object(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, EINVAL, "or credential_len is above 48")
{
	static const uint8_t credential[49];
	struct mlx5dv_crypto_login_attr_ex attr = { .credential = credential,
						    .credential_len = sizeof(credential) };

	return login_object(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, ENOMEM, "There is no memory")
{
	return NO_MEMORY(login_object(bed, object_attr()));
}

CASE_ON(ON_WRAPPED, mlx5dv_crypto_login_create, ENOMEM, "or the context has a login")
{
	struct mlx5dv_crypto_login_attr attr = login_attr();

	MUST(!mlx5dv_crypto_login(bed->ctx, &attr));
	return login_object(bed, object_attr());
}

static int create_dek(struct bed *bed, struct mlx5dv_dek_init_attr attr)
{
	return OBJ(mlx5dv_dek_create(bed->ctx, &attr));
}

CASE(mlx5dv_dek_create, EINVAL, "the context is not logged in")
{
	struct mlx5dv_dek_init_attr attr = plain_dek(bed);

	attr.comp_mask = 0;
	return create_dek(bed, attr);
}

CASE(mlx5dv_dek_create, EINVAL, "both keys are the same")
{
	struct mlx5dv_dek_init_attr attr = plain_dek(bed);

	memcpy(attr.key + 16, attr.key, 16);
	return create_dek(bed, attr);
}

static struct mlx5dv_dek_init_attr wrapped_dek(struct bed *bed)
{
	struct mlx5dv_crypto_login_attr login = login_attr();
	struct mlx5dv_dek_init_attr attr = { .pd = bed->pd };

	/* an error here counts for nothing, as an earlier case may have done so */
	mlx5dv_crypto_login(bed->ctx, &login);
	memcpy(attr.key, wrapped_128, sizeof(wrapped_128));
	return attr;
}

CASE_ON(ON_WRAPPED, mlx5dv_dek_create, EINVAL, "the device takes keys wrapped, and this is not")
{
	struct mlx5dv_dek_init_attr attr = wrapped_dek(bed);

	memcpy(attr.key, plain_dek(bed).key, sizeof(attr.key));
	return create_dek(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_dek_create, EINVAL, "or with another key")
{
	struct mlx5dv_dek_init_attr attr = wrapped_dek(bed);

	attr.key[5] ^= 1;
	return create_dek(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_dek_create, EINVAL, "or of another length")
{
	struct mlx5dv_dek_init_attr attr = wrapped_dek(bed);

	attr.has_keytag = true;
	return create_dek(bed, attr);
}

CASE_ON(ON_WRAPPED, mlx5dv_dek_create, EINVAL, "A query needs the login, too")
{
	struct mlx5dv_dek_init_attr attr = wrapped_dek(bed);
	struct mlx5dv_dek *dek = mlx5dv_dek_create(bed->ctx, &attr);
	struct mlx5dv_dek_attr asked = { 0 };

	MUST(dek && !mlx5dv_crypto_logout(bed->ctx));
	return RET(mlx5dv_dek_query(dek, &asked));
}
