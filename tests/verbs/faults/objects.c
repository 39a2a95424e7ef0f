/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - lives of objects other than queues: contexts, domains, regions, windows, address
 * handles, channels, imports.
 *
 * Covers: libibverbs/context.c, libibverbs/verbs_pd.c, libibverbs/verbs_mr.c,
 * libibverbs/verbs_ah.c, providers/mlx5/context.c, providers/mlx5/pd.c, providers/mlx4/context.c,
 * providers/mlx4/pd.c
 */
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"
#include "tests/verbs/dv/wrapped.h"

static uint8_t memory[8192] __attribute__((aligned(4096)));

static int free_list(void *list)
{
	ibv_free_device_list(list);
	return 0;
}

static void live_context(struct life *l)
{
	struct ibv_device **list = KEEP(l, ibv_get_device_list(NULL), free_list);

	if (!list || !OK(l, list[0] ? 0 : ENODEV))
		return;
	l->rig.ctx = KEEP(l, ibv_open_device(list[0]), ibv_close_device);
	if (l->rig.ctx && OK(l, ibv_query_device(l->rig.ctx, &l->rig.device)) &&
	    OK(l, ibv_query_port(l->rig.ctx, RIG_PORT, &l->rig.port)))
		OK(l, ibv_query_gid(l->rig.ctx, RIG_PORT, 0, &l->rig.gid));
}

/* Queries GIDs. The call returns their number; a life wants 0 or an errno. */
static int query_gids(struct ibv_context *ctx)
{
	struct ibv_gid_entry entries[16];
	ssize_t n = ibv_query_gid_table(ctx, entries, ARRAY_SIZE(entries), 0);

	return n < 0 ? (int)-n : n ? 0 : ENODATA;
}

static void live_queries(struct life *l)
{
	struct ibv_gid_entry entry;
	struct ibv_device_attr_ex attr;
	struct ibv_port_attr port;
	__be16 pkey;

	if (!OK(l, ibv_query_device_ex(l->rig.ctx, NULL, &attr)) ||
	    !OK(l, ibv_query_gid_ex(l->rig.ctx, RIG_PORT, 0, &entry, 0)) ||
	    !OK(l, query_gids(l->rig.ctx)) ||
	    !OK(l, ibv_query_pkey(l->rig.ctx, RIG_PORT, 0, &pkey)))
		return;
	OK(l, ibv_query_port(l->rig.ctx, RIG_PORT, &port));
}

static void live_pd(struct life *l)
{
	life_pd(l);
}

static void live_domains(struct life *l)
{
	struct ibv_td_init_attr td_attr = { 0 };
	struct ibv_parent_domain_init_attr attr = { .pd = life_pd(l) };
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 16, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_qp_init_attr_ex qp_attr = { .qp_type = IBV_QPT_RC,
					       .comp_mask = IBV_QP_INIT_ATTR_PD };
	struct ibv_cq_ex *cq;

	if (!attr.pd || !(attr.td = KEEP(l, ibv_alloc_td(l->rig.ctx, &td_attr), ibv_dealloc_td)))
		return;
	qp_attr.pd = KEEP(l, ibv_alloc_parent_domain(l->rig.ctx, &attr), ibv_dealloc_pd);
	cq_attr.parent_domain = qp_attr.pd;
	if (!qp_attr.pd)
		return;
	cq = KEEP(l, ibv_create_cq_ex(l->rig.ctx, &cq_attr), ibv_destroy_cq);
	if (!cq)
		return;
	qp_attr.send_cq = qp_attr.recv_cq = ibv_cq_ex_to_cq(cq);
	life_qp(l, &qp_attr);
}

/* Registers a region anew. ibv_rereg_mr() returns an enum; a life wants 0 or an errno. */
static int mr_rereg(struct ibv_mr *mr)
{
	int ret = ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS,
			       NULL, memory, sizeof(memory),
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	return ret ? -1 : 0;
}

static void live_mr(struct life *l)
{
	struct ibv_pd *pd = life_pd(l);
	struct ibv_mr *mr;

	if (!pd)
		return;
	mr = KEEP(l, ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE), ibv_dereg_mr);
	if (mr && OK(l, mr_rereg(mr)))
		KEEP(l, ibv_reg_mr_iova2(pd, memory, 64, 0x1000, IBV_ACCESS_RELAXED_ORDERING),
		     ibv_dereg_mr);
}

static void live_null_mr(struct life *l)
{
	struct ibv_pd *pd = life_pd(l);

	if (pd)
		KEEP(l, ibv_alloc_null_mr(pd), ibv_dereg_mr);
}

static bool lacks_odp(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr)
{
	(void)ctx;
	return !(attr->odp_caps.general_caps & IBV_ODP_SUPPORT);
}

static void live_odp(struct life *l)
{
	struct ibv_pd *pd = life_pd(l);
	struct ibv_mr *mr;
	struct ibv_sge sge;

	if (!pd)
		return;
	mr = KEEP(l, ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE),
		  ibv_dereg_mr);
	if (!mr)
		return;
	sge = (struct ibv_sge){ (uintptr_t)memory, 4096, mr->lkey };
	OK(l, ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge,
			    1));
}

static void live_mw(struct life *l)
{
	struct ibv_pd *pd = life_pd(l);

	if (pd && KEEP(l, ibv_alloc_mw(pd, IBV_MW_TYPE_1), ibv_dealloc_mw))
		KEEP(l, ibv_alloc_mw(pd, IBV_MW_TYPE_2), ibv_dealloc_mw);
}

static void live_ah(struct life *l)
{
	struct ibv_ah_attr attr = { .dlid = l->rig.port.lid,
				    .is_global = 1,
				    .port_num = RIG_PORT,
				    .grh = { .dgid = l->rig.gid, .hop_limit = 64 } };
	struct ibv_pd *pd = life_pd(l);

	if (pd)
		KEEP(l, ibv_create_ah(pd, &attr), ibv_destroy_ah);
}

static bool lacks_dm(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr)
{
	(void)ctx;
	return !attr->max_dm_size;
}

static void live_dm(struct life *l)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };
	struct ibv_pd *pd = life_pd(l);
	struct ibv_dm *dm;

	if (!pd)
		return;
	dm = KEEP(l, ibv_alloc_dm(l->rig.ctx, &attr), ibv_free_dm);
	if (!dm)
		return;
	if (OK(l, ibv_memcpy_to_dm(dm, 0, memory, 64)) &&
	    OK(l, ibv_memcpy_from_dm(memory, dm, 0, 64)))
		KEEP(l,
		     ibv_reg_dm_mr(pd, dm, 0, 4096, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE),
		     ibv_dereg_mr);
}

static void live_channel(struct life *l)
{
	KEEP(l, ibv_create_comp_channel(l->rig.ctx), ibv_destroy_comp_channel);
}

static int unimport_pd(void *pd)
{
	ibv_unimport_pd(pd);
	return 0;
}

static int unimport_mr(void *mr)
{
	ibv_unimport_mr(mr);
	return 0;
}

/* Imports a context by a duplicate descriptor, as closing the imported context closes its
 * descriptor. */
static struct ibv_context *import_copy(struct ibv_context *ctx)
{
	int fd = dup(ctx->cmd_fd), err;
	struct ibv_context *imported;

	MUST(fd >= 0);
	imported = ibv_import_device(fd);
	if (imported)
		return imported;
	err = errno;
	close(fd);
	errno = err;
	return NULL;
}

static int free_doorbell(struct mlx5dv_var *var)
{
	mlx5dv_free_var(var);
	return 0;
}

static int free_register(struct mlx5dv_devx_uar *uar)
{
	mlx5dv_devx_free_uar(uar);
	return 0;
}

static void live_doorbells(struct life *l)
{
	KEEP(l, mlx5dv_alloc_var(l->rig.ctx, 0), free_doorbell);
	KEEP(l, mlx5dv_devx_alloc_uar(l->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_BF), free_register);
	KEEP(l, mlx5dv_devx_alloc_uar(l->rig.ctx, MLX5DV_UAR_ALLOC_TYPE_NC), free_register);
}

static void live_schedulers(struct life *l)
{
	struct mlx5dv_sched_attr attr = { 0 };

	attr.parent =
		KEEP(l, mlx5dv_sched_node_create(l->rig.ctx, &attr), mlx5dv_sched_node_destroy);
	if (!attr.parent)
		return;
	attr.flags = MLX5DV_SCHED_ELEM_ATTR_FLAGS_MAX_AVG_BW;
	attr.max_avg_bw = 100;
	KEEP(l, mlx5dv_sched_leaf_create(l->rig.ctx, &attr), mlx5dv_sched_leaf_destroy);
}

static int free_rate(struct mlx5dv_pp *pp)
{
	mlx5dv_pp_free(pp);
	return 0;
}

static bool lacks_rates(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr)
{
	(void)ctx;
	return !attr->packet_pacing_caps.supported_qpts;
}

static void live_rates(struct life *l)
{
	const uint8_t rate[4] = { 0, 0, 0, 100 };

	KEEP(l, mlx5dv_pp_alloc(l->rig.ctx, sizeof(rate), rate, 0), free_rate);
}

static void live_keys_of_keys(struct life *l)
{
	struct mlx5dv_mkey_init_attr attr = {
		.pd = life_pd(l),
		.create_flags = MLX5DV_MKEY_INIT_ATTR_FLAGS_INDIRECT |
				MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE |
				MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
		.max_entries = 4,
	};

	if (attr.pd)
		KEEP(l, mlx5dv_create_mkey(&attr), mlx5dv_destroy_mkey);
}

static void live_keys_of_data(struct life *l)
{
	struct mlx5dv_dek_init_attr attr = { .pd = life_pd(l),
					     .comp_mask = MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN,
					     .key = "two keys that differ" };
	struct mlx5dv_dek_attr asked = { 0 };
	struct mlx5dv_dek *dek;

	if (!attr.pd)
		return;
	dek = KEEP(l, mlx5dv_dek_create(l->rig.ctx, &attr), mlx5dv_dek_destroy);
	if (dek)
		OK(l, mlx5dv_dek_query(dek, &asked));
}

/* The adapter has secrets that keys are wrapped by. */
static bool lacks_logins(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr)
{
	struct mlx5dv_context device = { .comp_mask = MLX5DV_CONTEXT_MASK_CRYPTO_OFFLOAD };

	(void)attr;
	return mlx5dv_query_device(ctx, &device) || !device.crypto_caps.wrapped_import_method;
}

static void keep_wrapped_key(struct life *l, struct mlx5dv_crypto_login_obj *login)
{
	struct mlx5dv_dek_init_attr attr = { .pd = life_pd(l), .crypto_login = login };

	if (!attr.pd)
		return;
	attr.comp_mask = login ? MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN : 0;
	memcpy(attr.key, wrapped_128, sizeof(wrapped_128));
	KEEP(l, mlx5dv_dek_create(l->rig.ctx, &attr), mlx5dv_dek_destroy);
}

static struct ibv_context *context_login(struct ibv_context *ctx)
{
	struct mlx5dv_crypto_login_attr attr = { 0 };

	memcpy(attr.credential, wrapped_credential, sizeof(wrapped_credential));
	errno = mlx5dv_crypto_login(ctx, &attr);
	return errno ? NULL : ctx;
}

static void live_login(struct life *l)
{
	enum mlx5dv_crypto_login_state state;

	if (!KEEP(l, context_login(l->rig.ctx), mlx5dv_crypto_logout))
		return;
	OK(l, mlx5dv_crypto_login_query_state(l->rig.ctx, &state));
	keep_wrapped_key(l, NULL);
}

static void live_login_object(struct life *l)
{
	struct mlx5dv_crypto_login_attr_ex attr = { .credential = wrapped_credential,
						    .credential_len = sizeof(wrapped_credential) };
	struct mlx5dv_crypto_login_query_attr asked = { 0 };
	struct mlx5dv_crypto_login_obj *login;

	login = KEEP(l, mlx5dv_crypto_login_create(l->rig.ctx, &attr), mlx5dv_crypto_login_destroy);
	if (!login)
		return;
	OK(l, mlx5dv_crypto_login_query(login, &asked));
	keep_wrapped_key(l, login);
}

static void live_import(struct life *l)
{
	struct ibv_pd *pd = life_pd(l), *imported_pd;
	struct ibv_context *imported;
	struct ibv_mr *mr;

	if (!pd)
		return;
	mr = KEEP(l, ibv_reg_mr(pd, memory, 4096, IBV_ACCESS_LOCAL_WRITE), ibv_dereg_mr);
	if (!mr || !(imported = KEEP(l, import_copy(l->rig.ctx), ibv_close_device)))
		return;
	imported_pd = KEEP(l, ibv_import_pd(imported, pd->handle), unimport_pd);
	if (imported_pd)
		KEEP(l, ibv_import_mr(imported_pd, mr->handle), unimport_mr);
}

const struct life_kind life_objects[] = {
	{ "context", .live = live_context, .opens = true },
	{ "queries", .live = live_queries },
	{ "pd", .live = live_pd },
	{ "domains", .live = live_domains },
	{ "mr", .live = live_mr },
	{ "null-mr", .live = live_null_mr },
	{ "odp", .live = live_odp, .lacks = lacks_odp },
	{ "mw", .live = live_mw },
	{ "ah", .live = live_ah },
	{ "dm", .live = live_dm, .lacks = lacks_dm },
	{ "channel", .live = live_channel },
	{ "import", .live = live_import },
	{ "doorbells", .live = live_doorbells },
	{ "schedulers", .live = live_schedulers },
	{ "rates", .live = live_rates, .lacks = lacks_rates },
	{ "keys-of-keys", .live = live_keys_of_keys },
	{ "keys-of-data", .live = live_keys_of_data },
	{ "login", .live = live_login, .lacks = lacks_logins },
	{ "login-object", .live = live_login_object, .lacks = lacks_logins },
	{},
};
