/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp.c - logs why the kernel refused to create or modify a QP.
 *
 * The kernel only returns an errno. So after a refusal, and only if the log is enabled, this file
 * repeats the kernel's checks: first the attribute mask against the table of transitions, then each
 * value against its range and the limits of device and port.
 */
#include "libibverbs/explain/qp_states.h"
#include "libibverbs/private.h"

#include "util/bits.h"

#include <stdio.h>
#include <string.h>

const char *verbs_qp_state_name(enum ibv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return state < ARRAY_SIZE(names) ? names[state] : "an unknown state";
}

static const char *attr_name(unsigned int bit)
{
	static const char *const names[] = {
		"STATE",
		"CUR_STATE",
		"EN_SQD_ASYNC_NOTIFY",
		"ACCESS_FLAGS",
		"PKEY_INDEX",
		"PORT",
		"QKEY",
		"AV",
		"PATH_MTU",
		"TIMEOUT",
		"RETRY_CNT",
		"RNR_RETRY",
		"RQ_PSN",
		"MAX_QP_RD_ATOMIC",
		"ALT_PATH",
		"MIN_RNR_TIMER",
		"SQ_PSN",
		"MAX_DEST_RD_ATOMIC",
		"PATH_MIG_STATE",
		"CAP",
		"DEST_QPN",
		NULL,
		NULL,
		NULL,
		NULL,
		"RATE_LIMIT",
	};

	return bit < ARRAY_SIZE(names) ? names[bit] : NULL;
}

static void name_attrs(unsigned int mask, char *text, size_t size)
{
	size_t len = 0;

	for (unsigned int bit = 0; bit < 32 && len < size; bit++) {
		const char *name = attr_name(bit), *sep = len ? "|" : "";

		if (!(mask & 1u << bit))
			continue;
		if (name)
			len += (size_t)snprintf(text + len, size - len, "%sIBV_QP_%s", sep, name);
		else
			len += (size_t)snprintf(text + len, size - len, "%s0x%x", sep, 1u << bit);
	}
}

struct refusal {
	struct ibv_qp *qp;
	const struct ibv_qp_attr *attr;
	int mask;
	char *why;
	size_t size;
};

/* Returns an exception to mention: a QP with source_qpn accepts no attribute except its state, and
 * libibverbs cannot distinguish it from other UD QPs. */
static const char *mask_exception(const struct refusal *r)
{
	return r->qp->qp_type == IBV_QPT_UD && !(r->mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE))
		       ? " (unless the QP has a source_qpn)"
		       : "";
}

static void name_next(enum ibv_qp_type type, enum ibv_qp_state from, char *text, size_t size)
{
	int required, allowed;
	size_t len = 0;

	*text = '\0';
	for (enum ibv_qp_state to = IBV_QPS_RESET; to <= IBV_QPS_ERR && len < size; to++)
		if (verbs_qp_transition(type, from, to, &required, &allowed))
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
						verbs_qp_state_name(to));
}

#define WRONG(r, ...) (snprintf((r)->why, (r)->size, __VA_ARGS__), true)

/* Returns whether the type is the adapter's own, such as a DCI. Its masks and addresses have rules
 * of the kernel's driver, which are not known here. */
static bool type_is_own(const struct refusal *r)
{
	return r->qp->qp_type == IBV_QPT_DRIVER;
}

static bool mask_is_wrong(struct refusal *r, enum ibv_qp_state from, enum ibv_qp_state to)
{
	int required, allowed;
	char names[256];

	if (type_is_own(r))
		return false;
	if (!verbs_qp_transition(r->qp->qp_type, from, to, &required, &allowed)) {
		name_next(r->qp->qp_type, from, names, sizeof(names));
		return WRONG(r, "there is no such transition: from %s the QP goes to %s",
			     verbs_qp_state_name(from), names);
	}
	if (required & ~r->mask) {
		name_attrs((unsigned int)(required & ~r->mask), names, sizeof(names));
		return WRONG(r, "attr_mask 0x%x lacks %s%s", r->mask, names, mask_exception(r));
	}
	if (r->mask & ~allowed) {
		name_attrs((unsigned int)(r->mask & ~allowed), names, sizeof(names));
		return WRONG(r, "attr_mask 0x%x has %s, which this transition does not take",
			     r->mask, names);
	}
	return false;
}

static bool is_above(struct refusal *r, int bit, const char *name, unsigned int value,
		     unsigned int max)
{
	return r->mask & bit && value > max && WRONG(r, "%s %u: must be 0 to %u", name, value, max);
}

static bool width_is_wrong(struct refusal *r)
{
	if (is_above(r, IBV_QP_TIMEOUT, "timeout", r->attr->timeout, 31) ||
	    is_above(r, IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", r->attr->min_rnr_timer, 31))
		return true;
	if (r->mask & IBV_QP_PATH_MTU &&
	    (r->attr->path_mtu < IBV_MTU_256 || r->attr->path_mtu > IBV_MTU_4096))
		return WRONG(
			r, "path_mtu %d: must be an enum ibv_mtu, 1 (256 bytes) to 5 (4096 bytes)",
			r->attr->path_mtu);
	return false;
}

/* Checks the retry counts. Runs after the other checks, because most kernels accept values that are
 * too large. */
static bool retries_are_wrong(struct refusal *r)
{
	return is_above(r, IBV_QP_RETRY_CNT, "retry_cnt", r->attr->retry_cnt, 7) ||
	       is_above(r, IBV_QP_RNR_RETRY, "rnr_retry", r->attr->rnr_retry, 7);
}

static bool device_limit_is_passed(struct refusal *r)
{
	const struct ibv_device_attr *limits = verbs_limits(r->qp->context);
	const struct ibv_qp_attr *attr = r->attr;

	if (!limits)
		return false;
	if (r->mask & IBV_QP_PORT && (!attr->port_num || attr->port_num > limits->phys_port_cnt))
		return WRONG(r, "port_num %u: must be 1 to %u", attr->port_num,
			     limits->phys_port_cnt);
	if (r->mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > limits->max_qp_rd_atom)
		return WRONG(
			r, "max_dest_rd_atomic %u: must be at most the device's max_qp_rd_atom, %d",
			attr->max_dest_rd_atomic, limits->max_qp_rd_atom);
	if (r->mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > limits->max_qp_init_rd_atom)
		return WRONG(
			r, "max_rd_atomic %u: must be at most the device's max_qp_init_rd_atom, %d",
			attr->max_rd_atomic, limits->max_qp_init_rd_atom);
	return false;
}

static bool pkey_is_wrong(struct refusal *r)
{
	struct ibv_port_attr port;

	if (!(r->mask & IBV_QP_PKEY_INDEX) || !(r->mask & IBV_QP_PORT) ||
	    get_ops(r->qp->context)
		    ->query_port(r->qp->context, r->attr->port_num, &port, sizeof(port)))
		return false;
	if (r->attr->pkey_index >= port.pkey_tbl_len)
		return WRONG(r, "pkey_index %u: must be below port %u's pkey_tbl_len, %u",
			     r->attr->pkey_index, r->attr->port_num, port.pkey_tbl_len);
	return false;
}

static bool address_is_wrong(struct refusal *r)
{
	return r->mask & IBV_QP_AV && !type_is_own(r) &&
	       verbs_ah_find_fault(r->qp->context, "ah_attr.", &r->attr->ah_attr, r->why, r->size);
}

static bool value_is_wrong(struct refusal *r)
{
	return width_is_wrong(r) || device_limit_is_passed(r) || pkey_is_wrong(r) ||
	       address_is_wrong(r) || retries_are_wrong(r);
}

/* Returns whether ERR may be caused by attribute values. ENODATA and ENOENT are caused by an empty
 * GID. */
static bool error_is_of_values(int err)
{
	return err == EINVAL || err == ENODATA || err == ENOENT;
}

void verbs_qp_explain_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, int err)
{
	enum ibv_qp_state from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	char why[512];
	struct refusal r = { qp, attr, mask, why, sizeof(why) };
	bool explained;

	/* EINVAL is a mistake of the program. Other errors need the level warn, because programs
	 * meet them when a device is gone, or provoke them to find out features. */
	if (err == EINVAL ? !verbs_log_mistake() : !verbs_log_on(VERBS_LOG_WARN))
		return;
	snprintf(why, sizeof(why), "%s: see the kernel's log",
		 type_is_own(&r) ? "the values look right, and the mask has rules of the adapter"
				 : "the mask and the values look right");
	explained = (err == EINVAL && mask_is_wrong(&r, from, to)) ||
		    (error_is_of_values(err) && value_is_wrong(&r));
	verbs_warn("ibv_modify_qp: QP 0x%x %s to %s: %s%s%s", qp->qp_num, verbs_qp_state_name(from),
		   verbs_qp_state_name(to), strerror(err), explained || err == EINVAL ? ": " : "",
		   explained || err == EINVAL ? why : "");
}

static bool needs_net_raw(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->qp_type == IBV_QPT_RAW_PACKET ||
	       (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
		attr->create_flags & IBV_QP_CREATE_SOURCE_QPN);
}

void verbs_qp_explain_create(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			     int err)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	const char *why = "";

	if (!verbs_log_on(VERBS_LOG_WARN))
		return;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		why = attr->recv_cq || cap->max_recv_wr || cap->max_recv_sge || attr->srq
			      ? ": what receives through an indirection table has no recv_cq, srq, "
				"max_recv_wr and max_recv_sge of its own"
			      : "";
	else if (!attr->send_cq && attr->qp_type != IBV_QPT_XRC_RECV)
		why = ": send_cq is NULL";
	else if (!attr->recv_cq && attr->qp_type != IBV_QPT_XRC_SEND &&
		 attr->qp_type != IBV_QPT_XRC_RECV)
		why = ": recv_cq is NULL";
	else if (attr->send_cq && attr->send_cq->context != context)
		why = ": send_cq belongs to another context";
	else if (attr->recv_cq && attr->recv_cq->context != context)
		why = ": recv_cq belongs to another context";
	else if (err == EPERM && needs_net_raw(attr))
		why = ": a QP for raw packets or with a source_qpn needs CAP_NET_RAW";
	else if (err == ENOMEM)
		why = ": the device has no QP left (max_qp), the host no memory, "
		      "or its ring would pass RLIMIT_MEMLOCK (ulimit -l)";
	verbs_warn("ibv_create_qp: qp_type %d max_send_wr %u max_recv_wr %u max_send_sge %u "
		   "max_recv_sge %u max_inline_data %u: %s%s",
		   attr->qp_type, cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge,
		   cap->max_recv_sge, cap->max_inline_data, strerror(err), why);
}
