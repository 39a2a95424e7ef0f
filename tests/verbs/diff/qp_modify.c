/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_modify.c - the RC state machine: every pair of states, every superfluous or missing mask bit,
 * values beyond their limits, and query_qp in every state. IBTA vol 1, 10.3.1 has the states and
 * 11.2.5.2 the attributes.
 *
 * Covers: libibverbs/verbs_qp.c ibv_modify_qp ibv_query_qp, libibverbs/explain/qp_states.c,
 * libibverbs/explain/qp.c, libibverbs/cmd/cmd_qp.c, softhca/front/process/uverbs/qp/modify.c,
 * softhca/front/process/uverbs/qp/query.c, softhca/front/process/driver/qp_state.c
 */
#include "diff.h"

/* Without SQD, as drain.c tests it, and SQE, as no command leads an RC QP to it. */
static const enum ibv_qp_state all_states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
						IBV_QPS_RTS, IBV_QPS_ERR };

static const char *state_name(int state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return state >= 0 && state < (int)ARRAY_SIZE(names) ? names[state] : "no state";
}

/* One unconnected QP; tests move it as they like. */
struct modify_rig {
	struct rig *rig;
	struct rig_conf conf;
	struct ibv_pd *pd;
	struct rig_end end;
};

static void modify_rig_open(struct rig *rig, struct modify_rig *m)
{
	m->rig = rig;
	m->conf = rig_conf_default();
	MUST(m->pd = ibv_alloc_pd(rig->ctx));
	rig_end_open(m->pd, &m->conf, &m->end);
}

static void modify_rig_close(struct modify_rig *m)
{
	rig_end_close(&m->end);
	MUST(!ibv_dealloc_pd(m->pd));
}

static void put_in(struct modify_rig *m, enum ibv_qp_state state)
{
	rig_qp_to(m->rig, &m->conf, m->end.qp, m->end.qp->qp_num, state);
}

static int step_attr(struct modify_rig *m, enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
	return rig_qp_attr(m->rig, &m->conf, m->end.qp->qp_num, state, attr);
}

/* The state as the device and as the library's public field have it. */
static void say_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	say("now %s, qp->state %s", state_name(attr.qp_state), state_name(qp->state));
}

void diff_qp_states(struct rig *rig)
{
	static const int targets[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, -1 };
	struct modify_rig m;
	struct ibv_qp_attr attr;

	modify_rig_open(rig, &m);
	for (size_t from = 0; from < ARRAY_SIZE(all_states); from++)
		for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
			int mask = step_attr(&m, (enum ibv_qp_state)targets[i], &attr);

			put_in(&m, all_states[from]);
			SAY_RET(ibv_modify_qp(m.end.qp, &attr, mask), "%s to %s",
				state_name(all_states[from]), state_name(targets[i]));
			say_state(m.end.qp);
			attr.qp_state = (enum ibv_qp_state)targets[i];
			SAY_RET(ibv_modify_qp(m.end.qp, &attr, IBV_QP_STATE),
				"%s again, state alone", state_name(targets[i]));
		}
	modify_rig_close(&m);
}

static void flip_each_bit(struct modify_rig *m, enum ibv_qp_state from, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr;
	int mask = step_attr(m, to, &attr);

	attr.cur_qp_state = from;
	attr.cap = m->conf.cap;
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = RIG_PORT;
	attr.path_mig_state = IBV_MIG_MIGRATED;
	for (int bit = 0; bit < 28; bit++) {
		put_in(m, from);
		SAY_RET(ibv_modify_qp(m->end.qp, &attr, mask ^ 1 << bit),
			"%s to %s, mask bit %d %s", state_name(from), state_name(to), bit,
			mask & 1 << bit ? "missing" : "added");
		say("qp->state %s", state_name(m->end.qp->state));
	}
}

void diff_qp_masks(struct rig *rig)
{
	static const struct {
		enum ibv_qp_state from, to;
	} steps[] = {
		{ IBV_QPS_RESET, IBV_QPS_INIT }, { IBV_QPS_INIT, IBV_QPS_INIT },
		{ IBV_QPS_INIT, IBV_QPS_RTR },   { IBV_QPS_RTR, IBV_QPS_RTS },
		{ IBV_QPS_RTS, IBV_QPS_RTS },    { IBV_QPS_RTS, IBV_QPS_SQD },
		{ IBV_QPS_RTS, IBV_QPS_ERR },    { IBV_QPS_RTS, IBV_QPS_RESET },
	};
	struct modify_rig m;

	modify_rig_open(rig, &m);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		flip_each_bit(&m, steps[i].from, steps[i].to);
	put_in(&m, IBV_QPS_INIT);
	SAY_RET(ibv_modify_qp(m.end.qp, &(struct ibv_qp_attr){ 0 }, 0), "mask 0 in INIT");
	put_in(&m, IBV_QPS_RTS);
	SAY_RET(ibv_modify_qp(m.end.qp, &(struct ibv_qp_attr){ 0 }, 0), "mask 0 in RTS");
	SAY_RET(ibv_modify_qp(m.end.qp, &(struct ibv_qp_attr){ .min_rnr_timer = 3 },
			      IBV_QP_MIN_RNR_TIMER),
		"min_rnr_timer alone in RTS");
	modify_rig_close(&m);
}

/* A case is one step with one attribute changed. */
struct value_case {
	const char *name;
	enum ibv_qp_state to;
	void (*change)(struct ibv_qp_attr *attr, int value);
	int values[8];
	int n;
};

static void set_port(struct ibv_qp_attr *attr, int value)
{
	attr->port_num = value;
}
static void set_pkey_index(struct ibv_qp_attr *attr, int value)
{
	attr->pkey_index = value;
}
static void set_access(struct ibv_qp_attr *attr, int value)
{
	attr->qp_access_flags = value;
}
static void set_mtu(struct ibv_qp_attr *attr, int value)
{
	attr->path_mtu = (enum ibv_mtu)value;
}
static void set_dest_rd(struct ibv_qp_attr *attr, int value)
{
	attr->max_dest_rd_atomic = value;
}
static void set_rd(struct ibv_qp_attr *attr, int value)
{
	attr->max_rd_atomic = value;
}
static void set_rnr_timer(struct ibv_qp_attr *attr, int value)
{
	attr->min_rnr_timer = value;
}
static void set_rq_psn(struct ibv_qp_attr *attr, int value)
{
	attr->rq_psn = value;
}
static void set_sq_psn(struct ibv_qp_attr *attr, int value)
{
	attr->sq_psn = value;
}
static void set_dest_qpn(struct ibv_qp_attr *attr, int value)
{
	attr->dest_qp_num = value;
}
static void set_timeout(struct ibv_qp_attr *attr, int value)
{
	attr->timeout = value;
}
static void set_retry(struct ibv_qp_attr *attr, int value)
{
	attr->retry_cnt = value;
}
static void set_rnr_retry(struct ibv_qp_attr *attr, int value)
{
	attr->rnr_retry = value;
}
static void set_ah_port(struct ibv_qp_attr *attr, int value)
{
	attr->ah_attr.port_num = value;
}
static void set_sl(struct ibv_qp_attr *attr, int value)
{
	attr->ah_attr.sl = value;
}
static void set_rate(struct ibv_qp_attr *attr, int value)
{
	attr->ah_attr.static_rate = value;
}
static void set_gid_index(struct ibv_qp_attr *attr, int value)
{
	attr->ah_attr.is_global = 1;
	attr->ah_attr.grh.sgid_index = value;
}
static void set_global(struct ibv_qp_attr *attr, int value)
{
	attr->ah_attr.is_global = value;
}
static void set_dlid(struct ibv_qp_attr *attr, int value)
{
	attr->ah_attr.dlid = value;
}

static void try_values(struct modify_rig *m, const struct value_case *c)
{
	for (int i = 0; i < c->n; i++) {
		struct ibv_qp_attr attr;
		int mask = step_attr(m, c->to, &attr);

		put_in(m, c->to - 1);
		c->change(&attr, c->values[i]);
		SAY_RET(ibv_modify_qp(m->end.qp, &attr, mask), "to %s, %s %d", state_name(c->to),
			c->name, c->values[i]);
	}
}

void diff_qp_values(struct rig *rig)
{
	const int rd = rig->device.max_qp_rd_atom;
	const struct value_case cases[] = {
		{ "port_num", IBV_QPS_INIT, set_port, { 0, 1, 2, 255 }, 4 },
		{ "pkey_index",
		  IBV_QPS_INIT,
		  set_pkey_index,
		  { 0, 1, rig->port.pkey_tbl_len, 65535 },
		  4 },
		{ "access", IBV_QPS_INIT, set_access, { 0, 1, 2, 4, 8, 15, 32, 1 << 20 }, 8 },
		{ "path_mtu", IBV_QPS_RTR, set_mtu, { 0, 1, 3, 5, 6, 7, 255 }, 7 },
		{ "max_dest_rd_atomic",
		  IBV_QPS_RTR,
		  set_dest_rd,
		  { 0, 1, 3, rd, rd + 1, 2 * rd, 128, 255 },
		  8 },
		{ "min_rnr_timer", IBV_QPS_RTR, set_rnr_timer, { 0, 31, 32, 255 }, 4 },
		{ "rq_psn", IBV_QPS_RTR, set_rq_psn, { 0, 0xffffff, 0x1000000, -1 }, 4 },
		{ "dest_qp_num", IBV_QPS_RTR, set_dest_qpn, { 0, 0xffffff, 0x1000000 }, 3 },
		{ "ah port", IBV_QPS_RTR, set_ah_port, { 0, 1, 2, 255 }, 4 },
		{ "sl", IBV_QPS_RTR, set_sl, { 0, 7, 8, 15, 16, 255 }, 6 },
		{ "static_rate", IBV_QPS_RTR, set_rate, { 0, 2, 10, 18, 23, 255 }, 6 },
		{ "sgid_index",
		  IBV_QPS_RTR,
		  set_gid_index,
		  { 0, 1, rig->port.gid_tbl_len, 255 },
		  4 },
		{ "is_global", IBV_QPS_RTR, set_global, { 0, 1 }, 2 },
		{ "dlid", IBV_QPS_RTR, set_dlid, { 0, 1, 0xbfff, 0xc000, 0xffff }, 5 },
		{ "max_rd_atomic",
		  IBV_QPS_RTS,
		  set_rd,
		  { 0, 1, 3, rd, rd + 1, 2 * rd, 128, 255 },
		  8 },
		{ "sq_psn", IBV_QPS_RTS, set_sq_psn, { 0, 0xffffff, 0x1000000, -1 }, 4 },
		{ "timeout", IBV_QPS_RTS, set_timeout, { 0, 31, 32, 255 }, 4 },
		{ "retry_cnt", IBV_QPS_RTS, set_retry, { 0, 7, 8, 255 }, 4 },
		{ "rnr_retry", IBV_QPS_RTS, set_rnr_retry, { 0, 7, 8, 255 }, 4 },
	};
	struct modify_rig m;

	modify_rig_open(rig, &m);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		try_values(&m, &cases[i]);
	modify_rig_close(&m);
}

/* A number of 24 bits, given with more: Linux takes it without them, for both kinds of adapter. */
static void say_wide_psn(struct modify_rig *m, uint32_t psn)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int mask = step_attr(m, IBV_QPS_RTR, &attr);

	put_in(m, IBV_QPS_INIT);
	attr.rq_psn = psn;
	attr.min_rnr_timer = 6;
	SAY_RET(ibv_modify_qp(m->end.qp, &attr, mask), "rq_psn 0x%x", psn);
	mask = step_attr(m, IBV_QPS_RTS, &attr);
	attr.sq_psn = psn;
	SAY_RET(ibv_modify_qp(m->end.qp, &attr, mask), "sq_psn 0x%x", psn);
	MUST(!ibv_query_qp(m->end.qp, &attr, IBV_QP_RQ_PSN, &init));
	say_check(attr.rq_psn == (psn & 0xffffff) && attr.sq_psn == (psn & 0xffffff) &&
			  attr.min_rnr_timer == 6,
		  "0x%x: rq_psn 0x%x sq_psn 0x%x rnr timer %u", psn, attr.rq_psn, attr.sq_psn,
		  attr.min_rnr_timer);
}

void diff_qp_psn(struct rig *rig)
{
	static const uint32_t wide[] = { 0xffffff, 0x1000000, 0x2345678, 0x20000005, 0xffffffff };
	struct modify_rig m;

	modify_rig_open(rig, &m);
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
		say_wide_psn(&m, wide[i]);
	modify_rig_close(&m);
}

static void say_path(const char *name, const struct ibv_ah_attr *ah, const struct modify_rig *m)
{
	say("%s dlid %u sl %u path bits %u rate %u global %u port %u", name, ah->dlid, ah->sl,
	    ah->src_path_bits, ah->static_rate, ah->is_global, ah->port_num);
	if (ah->is_global)
		say("%s dgid %s flow %u sgid_index %u hop %u class %u", name,
		    memcmp(&ah->grh.dgid, &m->rig->gid, 16) ? "other" : "ours", ah->grh.flow_label,
		    ah->grh.sgid_index, ah->grh.hop_limit, ah->grh.traffic_class);
}

static void say_attr(const struct ibv_qp_attr *attr, const struct modify_rig *m)
{
	say("state %s cur %s mtu %d mig %d qkey 0x%x", state_name(attr->qp_state),
	    state_name(attr->cur_qp_state), attr->path_mtu, attr->path_mig_state, attr->qkey);
	say("rq_psn 0x%x sq_psn 0x%x dest %s access 0x%x", attr->rq_psn, attr->sq_psn,
	    attr->dest_qp_num == m->end.qp->qp_num ? "itself"
	    : attr->dest_qp_num                    ? "other"
						   : "0",
	    attr->qp_access_flags);
	say("cap %u %u %u %u %u", attr->cap.max_send_wr, attr->cap.max_recv_wr,
	    attr->cap.max_send_sge, attr->cap.max_recv_sge, attr->cap.max_inline_data);
	say_path("path", &attr->ah_attr, m);
	say_path("alt", &attr->alt_ah_attr, m);
	say("pkey %u/%u sqd notify %u draining %u rd %u/%u rnr timer %u", attr->pkey_index,
	    attr->alt_pkey_index, attr->en_sqd_async_notify, attr->sq_draining, attr->max_rd_atomic,
	    attr->max_dest_rd_atomic, attr->min_rnr_timer);
	say("port %u timeout %u retry %u rnr %u alt port %u alt timeout %u", attr->port_num,
	    attr->timeout, attr->retry_cnt, attr->rnr_retry, attr->alt_port_num, attr->alt_timeout);
}

static void say_init(const struct ibv_qp_init_attr *init, const struct modify_rig *m)
{
	say("init type %d sig_all %d cqs %s srq %s", init->qp_type, init->sq_sig_all,
	    init->send_cq == m->end.cq && init->recv_cq == m->end.cq ? "ours" : "other",
	    init->srq ? "set" : "none");
	say("init cap %u %u %u %u %u", init->cap.max_send_wr, init->cap.max_recv_wr,
	    init->cap.max_send_sge, init->cap.max_recv_sge, init->cap.max_inline_data);
}

void diff_qp_query(struct rig *rig)
{
	static const int masks[] = { IBV_QP_STATE, 0, IBV_QP_CAP, 0x1fffff, -1 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct modify_rig m;

	modify_rig_open(rig, &m);
	for (size_t i = 0; i < ARRAY_SIZE(all_states); i++) {
		say("in %s:", state_name(all_states[i]));
		put_in(&m, all_states[i]);
		memset(&attr, 0, sizeof(attr));
		memset(&init, 0, sizeof(init));
		if (SAY_RET(ibv_query_qp(m.end.qp, &attr, 0x1fffff, &init), "query_qp"))
			continue;
		say_attr(&attr, &m);
		say_init(&init, &m);
	}
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++)
		SAY_RET(ibv_query_qp(m.end.qp, &attr, masks[i], &init), "query_qp mask 0x%x",
			masks[i]);
	modify_rig_close(&m);
}
