/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - work queues, indirection tables, and the QPs that spread packets over them: valid and
 * invalid arguments, states, and destroying objects in use.
 *
 * Covers: libibverbs/cmd/cmd_wq.c, providers/mlx5/wq.c, providers/mlx4/wq.c,
 * providers/common/rwq_table.c, softhca/front/process/uverbs/wq.c,
 * softhca/front/process/uverbs/qp/rss.c, softhca/front/process/uverbs/mlx4/wq.c,
 * softhca/device/eth/rss.c, softhca/device/eth/rqt.c
 */
#include <stdio.h>

#include "diff.h"

struct wq_rig {
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static struct ibv_wq_init_attr wq_attr(const struct wq_rig *w)
{
	return (struct ibv_wq_init_attr){
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 2, .pd = w->pd, .cq = w->cq
	};
}

static void try_wq(const struct wq_rig *w, struct ibv_wq_init_attr attr, const char *what)
{
	struct ibv_wq *wq = SAY_PTR(ibv_create_wq(w->rig->ctx, &attr), "create_wq %s", what);

	if (!wq)
		return;
	say("%s: max_wr %u max_sge %u state %d", what, attr.max_wr, attr.max_sge, wq->state);
	SAY_RET(ibv_destroy_wq(wq), "destroy %s", what);
}

static void create_wqs(const struct wq_rig *w)
{
	struct ibv_wq_init_attr attr = wq_attr(w);

	try_wq(w, attr, "as it should be");
	attr.wq_type = (enum ibv_wq_type)7;
	try_wq(w, attr, "of type 7");
	attr = wq_attr(w);
	attr.max_wr = 0;
	try_wq(w, attr, "of no requests");
	attr = wq_attr(w);
	attr.max_sge = 10000;
	try_wq(w, attr, "of 10000 SGEs");
	attr.max_sge = 0;
	try_wq(w, attr, "of no SGE");
	attr = wq_attr(w);
	attr.max_wr = 5;
	attr.max_sge = 3;
	try_wq(w, attr, "of odd sizes");
	attr = wq_attr(w);
	attr.comp_mask = 1u << 30;
	try_wq(w, attr, "with a mask that is unknown");
	attr.comp_mask = IBV_WQ_INIT_ATTR_FLAGS;
	attr.create_flags = 1u << 30;
	try_wq(w, attr, "with a flag that is unknown");
	for (uint32_t flag = 1; flag <= IBV_WQ_FLAGS_PCI_WRITE_END_PADDING; flag <<= 1) {
		char what[32];

		attr.create_flags = flag;
		snprintf(what, sizeof(what), "with flag %#x", flag);
		try_wq(w, attr, what);
	}
}

static void post_in_state(struct ibv_wq *wq, const char *state)
{
	struct ibv_recv_wr wr = { 0 }, *bad;

	SAY_RET(ibv_post_wq_recv(wq, &wr, &bad), "post in %s", state);
}

static void change_state(struct ibv_wq *wq, int to, int from, uint32_t mask)
{
	struct ibv_wq_attr attr = { .attr_mask = mask,
				    .wq_state = (enum ibv_wq_state)to,
				    .curr_wq_state = (enum ibv_wq_state)from };

	SAY_RET(ibv_modify_wq(wq, &attr), "modify to %d from %d mask %#x", to, from, mask);
	say("state %d", wq->state);
}

static void walk_states(const struct wq_rig *w)
{
	const uint32_t both = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
	struct ibv_wq_init_attr attr = wq_attr(w);
	struct ibv_wq *wq = ibv_create_wq(w->rig->ctx, &attr);

	if (!wq)
		return;
	post_in_state(wq, "RESET");
	change_state(wq, IBV_WQS_ERR, IBV_WQS_RESET, both);
	change_state(wq, IBV_WQS_RESET, 0, IBV_WQ_ATTR_STATE);
	change_state(wq, IBV_WQS_RDY, IBV_WQS_ERR, both);
	change_state(wq, IBV_WQS_RDY, 0, IBV_WQ_ATTR_STATE);
	post_in_state(wq, "RDY");
	change_state(wq, IBV_WQS_RDY, 0, 1u << 20);
	for (int i = 0; i < 10; i++)
		post_in_state(wq, "RDY, again");
	change_state(wq, IBV_WQS_ERR, IBV_WQS_RDY, both);
	change_state(wq, IBV_WQS_RESET, IBV_WQS_ERR, both);
	post_in_state(wq, "RESET again");
	SAY_RET(ibv_destroy_wq(wq), "destroy");
}

static void try_table(const struct wq_rig *w, struct ibv_wq **wqs, uint32_t log, uint32_t mask)
{
	struct ibv_rwq_ind_table_init_attr attr = { .log_ind_tbl_size = log,
						    .ind_tbl = wqs,
						    .comp_mask = mask };
	struct ibv_rwq_ind_table *table = SAY_PTR(ibv_create_rwq_ind_table(w->rig->ctx, &attr),
						  "table of 2^%u, mask %#x", log, mask);

	if (table)
		SAY_RET(ibv_destroy_rwq_ind_table(table), "destroy the table");
}

static void try_rss(const struct wq_rig *w, struct ibv_rwq_ind_table *table,
		    struct ibv_rx_hash_conf conf, const char *what)
{
	static uint8_t key[256];
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask =
			IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE,
		.pd = w->pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = conf,
	};
	struct ibv_qp *qp;

	attr.rx_hash_conf.rx_hash_key = key;
	qp = SAY_PTR(ibv_create_qp_ex(w->rig->ctx, &attr), "RSS %s", what);
	if (!qp)
		return;
	SAY_RET(ibv_destroy_rwq_ind_table(table), "destroy the table of a QP");
	SAY_RET(ibv_destroy_qp(qp), "destroy %s", what);
}

static void try_hashes(const struct wq_rig *w, struct ibv_rwq_ind_table *table)
{
	const struct ibv_rx_hash_conf good = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
					       .rx_hash_key_len = 40,
					       .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 };
	struct ibv_rx_hash_conf conf = good;

	try_rss(w, table, conf, "as it should be");
	conf.rx_hash_function = 9;
	try_rss(w, table, conf, "of hash 9");
	conf = good;
	for (int len = 0; len < 140; len += 33) {
		conf.rx_hash_key_len = (uint8_t)len;
		try_rss(w, table, conf, "with another key length");
	}
	conf = good;
	conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_SRC_IPV6;
	try_rss(w, table, conf, "of IPv4 and IPv6");
	conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_PORT_TCP | IBV_RX_HASH_SRC_PORT_UDP;
	try_rss(w, table, conf, "of TCP and UDP");
	conf.rx_hash_fields_mask = 1ULL << 40;
	try_rss(w, table, conf, "of a field that is unknown");
	conf.rx_hash_fields_mask = 0;
	try_rss(w, table, conf, "of no field");
	conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
	try_rss(w, table, conf, "of a whole pair");
	for (int len = 0; len < 140; len += 33) {
		conf.rx_hash_key_len = (uint8_t)len;
		try_rss(w, table, conf, "of a whole pair with another key length");
	}
	conf = good;
	conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
	conf.rx_hash_function = 9;
	try_rss(w, table, conf, "of a whole pair, of hash 9");
	conf = good;
	conf.rx_hash_fields_mask = IBV_RX_HASH_SRC_PORT_UDP | IBV_RX_HASH_DST_PORT_UDP;
	try_rss(w, table, conf, "of ports without addresses");
}

bool diff_wq_row(struct ibv_context *ctx, const struct ibv_wq_init_attr *attr,
		 struct ibv_wq *wqs[WQ_ROW], struct ibv_wq *spare[WQ_ROW])
{
	int spares = 0, n = 0;

	while (n < WQ_ROW) {
		struct ibv_wq_init_attr each = *attr;
		struct ibv_wq *wq = ibv_create_wq(ctx, &each);

		if (!wq)
			return false;
		if (!n && wq->wq_num % WQ_ROW && spares < WQ_ROW)
			spare[spares++] = wq;
		else
			wqs[n++] = wq;
	}
	return true;
}

static void tables(const struct wq_rig *w)
{
	struct ibv_wq_init_attr attr = wq_attr(w);
	struct ibv_rwq_ind_table_init_attr table_attr = { .log_ind_tbl_size = 1 };
	struct ibv_rwq_ind_table *table;
	struct ibv_wq *wqs[WQ_ROW], *spare[WQ_ROW] = { NULL };

	if (!diff_wq_row(w->rig->ctx, &attr, wqs, spare))
		return;
	try_table(w, wqs, 0, 0);
	try_table(w, wqs, 2, 0);
	try_table(w, wqs, 1, 1);
	table_attr.ind_tbl = wqs;
	table = SAY_PTR(ibv_create_rwq_ind_table(w->rig->ctx, &table_attr), "a table");
	if (table) {
		SAY_RET(ibv_destroy_wq(wqs[0]), "destroy a WQ of the table");
		try_hashes(w, table);
		SAY_RET(ibv_destroy_rwq_ind_table(table), "destroy it");
	}
	for (int i = 0; i < WQ_ROW; i++) {
		SAY_RET(ibv_destroy_wq(wqs[i]), "destroy WQ %d", i);
		MUST(!spare[i] || !ibv_destroy_wq(spare[i]));
	}
}

static void wq_rig_open(struct rig *rig, struct wq_rig *w)
{
	*w = (struct wq_rig){ .rig = rig };
	MUST(w->pd = ibv_alloc_pd(rig->ctx));
	MUST(w->cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0));
}

static void wq_rig_close(const struct wq_rig *w)
{
	MUST(!ibv_destroy_cq(w->cq) && !ibv_dealloc_pd(w->pd));
}

void diff_wq(struct rig *rig)
{
	struct wq_rig w;

	wq_rig_open(rig, &w);
	create_wqs(&w);
	walk_states(&w);
	tables(&w);
	wq_rig_close(&w);
}

/* Undefined states: Linux refuses them, but leaves the WQ marked as in use, so guests skip this
 * topic with a library that passes them to Linux. */
void diff_wq_no_state(struct rig *rig)
{
	struct ibv_wq_init_attr attr;
	struct ibv_wq *wq;
	struct wq_rig w;

	wq_rig_open(rig, &w);
	attr = wq_attr(&w);
	wq = ibv_create_wq(rig->ctx, &attr);
	if (wq) {
		change_state(wq, 17, 0, IBV_WQ_ATTR_STATE);
		change_state(wq, IBV_WQS_RDY, 17, IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE);
		change_state(wq, IBV_WQS_RDY, 17, IBV_WQ_ATTR_STATE);
		SAY_RET(ibv_destroy_wq(wq), "destroy");
	}
	wq_rig_close(&w);
}
