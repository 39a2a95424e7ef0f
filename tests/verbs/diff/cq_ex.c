/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq_ex.c - polling an extended CQ: start_poll, next_poll, end_poll and every requested reader.
 *
 * Covers: providers/mlx5/data/cq/cq_ex.c, providers/mlx4/data/cq/cq_ex.c, providers/mlx5/clock.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <arpa/inet.h>

#include "diff.h"

struct ex_rig {
	struct rig_pair pair; /* end[1].cq is not used by end[1].qp; ex is */
	struct ibv_cq_ex *ex;
	uint64_t wc_flags;
	uint64_t last_ts;
};

static void ex_open(struct rig *rig, const struct ibv_cq_init_attr_ex *attr, struct ex_rig *ex)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_cq_init_attr_ex copy = *attr;
	struct rig_end *end = &ex->pair.end[1];

	ex->wc_flags = attr->wc_flags;
	ex->last_ts = 0;
	rig_pair_open(rig, &conf, &ex->pair);
	ex->ex = ibv_create_cq_ex(rig->ctx, &copy);
	MUST(ex->ex);
	MUST(!ibv_destroy_qp(end->qp));
	end->qp = rig_qp_create(ex->pair.pd, &conf, ibv_cq_ex_to_cq(ex->ex));
	MUST(end->qp);
	rig_pair_reconnect(&ex->pair);
}

static void ex_close(struct ex_rig *ex)
{
	struct rig_end *end = &ex->pair.end[1];

	MUST(!ibv_destroy_qp(end->qp));
	SAY_RET(ibv_destroy_cq(ibv_cq_ex_to_cq(ex->ex)), "destroy_cq");
	end->qp = rig_qp_create(ex->pair.pd, &ex->pair.conf, end->cq);
	MUST(end->qp);
	rig_pair_close(&ex->pair);
}

static void ex_post_recv(struct ex_rig *ex, uint64_t wr_id)
{
	struct rig_end *end = &ex->pair.end[1];
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 256, .lkey = end->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

/* Sends from end FROM, and waits for the completion if that end has the plain CQ. */
static void ex_post_send(struct ex_rig *ex, int from, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct rig_end *end = &ex->pair.end[from], *peer = &ex->pair.end[!from];
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = len, .lkey = end->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = 100 + opcode,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr.imm_data = htonl(0xcafe0000 + len);
	wr.wr.rdma.remote_addr = (uintptr_t)peer->buf;
	wr.wr.rdma.rkey = peer->mr->rkey;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)peer->buf;
		wr.wr.atomic.rkey = peer->mr->rkey;
	}
	MUST(!ibv_post_send(end->qp, &wr, &bad));
	if (from == 0)
		MUST(rig_poll(end->cq, 1, &wc) == 1);
}

static void say_readers(struct ex_rig *ex)
{
	struct ibv_cq_ex *cq = ex->ex;
	uint64_t want = ex->wc_flags;
	uint32_t peer = ex->pair.end[0].qp->qp_num;

	say("opcode %d wc_flags 0x%x", ibv_wc_read_opcode(cq), ibv_wc_read_wc_flags(cq));
	/* Not compared for an atomic, as the distribution's reader returns the CQE's byte count; a
	 * unit test checks that ours returns 8. */
	if (want & IBV_WC_EX_WITH_BYTE_LEN && ibv_wc_read_opcode(cq) != IBV_WC_FETCH_ADD)
		say("byte_len %u", ibv_wc_read_byte_len(cq));
	if ((want & IBV_WC_EX_WITH_IMM) && (ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM))
		say("imm 0x%x", ntohl(ibv_wc_read_imm_data(cq)));
	if (want & IBV_WC_EX_WITH_QP_NUM)
		say("qp_num %s",
		    ibv_wc_read_qp_num(cq) == ex->pair.end[1].qp->qp_num ? "right" : "wrong");
	if (want & IBV_WC_EX_WITH_SRC_QP)
		say("src_qp %s", ibv_wc_read_src_qp(cq) == peer ? "peer"
				 : ibv_wc_read_src_qp(cq)       ? "other"
								: "0");
	if (want & IBV_WC_EX_WITH_SLID)
		say("slid %u", ibv_wc_read_slid(cq));
	if (want & IBV_WC_EX_WITH_SL)
		say("sl %u", ibv_wc_read_sl(cq));
	if (want & IBV_WC_EX_WITH_DLID_PATH_BITS)
		say("dlid_path_bits %u", ibv_wc_read_dlid_path_bits(cq));
	if (want & IBV_WC_EX_WITH_FLOW_TAG)
		say("flow_tag %u", ibv_wc_read_flow_tag(cq));
	if (want & IBV_WC_EX_WITH_CVLAN)
		say("cvlan %u", ibv_wc_read_cvlan(cq));
}

static void check_timestamps(struct ex_rig *ex)
{
	if (ex->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) {
		uint64_t ts = ibv_wc_read_completion_ts(ex->ex);

		say_check(ts >= ex->last_ts, "the time stamp does not go back");
		ex->last_ts = ts;
	}
}

static void say_current(struct ex_rig *ex)
{
	say("ex wc %llu %s", (unsigned long long)ex->ex->wr_id, ibv_wc_status_str(ex->ex->status));
	if (ex->ex->status != IBV_WC_SUCCESS) {
		say("vendor_err 0x%x", ibv_wc_read_vendor_err(ex->ex));
		return;
	}
	say_readers(ex);
	check_timestamps(ex);
}

/* start_poll until it finds something, or 5 s. */
static int start_patiently(struct ibv_cq_ex *cq)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };
	int ret = ENOENT;

	for (int i = 0; i < 50000 && ret == ENOENT; i++) {
		ret = ibv_start_poll(cq, &attr);
		if (ret == ENOENT)
			nanosleep(&nap, NULL);
	}
	return ret;
}

static void say_all(struct ex_rig *ex)
{
	int ret = SAY_RET(start_patiently(ex->ex), "start_poll");

	if (ret)
		return;
	while (!ret) {
		say_current(ex);
		ret = ibv_next_poll(ex->ex);
	}
	say("next_poll ends with %s", say_errno(ret));
	ibv_end_poll(ex->ex);
}

static void say_some(struct ex_rig *ex, int n)
{
	while (n > 0) {
		if (start_patiently(ex->ex)) {
			say("%d are missing", n);
			return;
		}
		do {
			say_current(ex);
			n--;
		} while (n > 0 && !ibv_next_poll(ex->ex));
		ibv_end_poll(ex->ex);
	}
}

static void traffic(struct ex_rig *ex)
{
	struct ibv_poll_cq_attr attr = { .comp_mask = 0 };

	SAY_RET(ibv_start_poll(ex->ex, &attr), "start_poll of an empty CQ");
	attr.comp_mask = 1;
	SAY_RET(ibv_start_poll(ex->ex, &attr), "start_poll with an unknown mask bit");
	ex_post_recv(ex, 1);
	ex_post_send(ex, 0, IBV_WR_SEND, 8);
	say_all(ex);
	ex_post_recv(ex, 2);
	ex_post_recv(ex, 3);
	ex_post_recv(ex, 4);
	ex_post_send(ex, 0, IBV_WR_SEND_WITH_IMM, 40);
	ex_post_send(ex, 0, IBV_WR_RDMA_WRITE_WITH_IMM, 100);
	ex_post_send(ex, 0, IBV_WR_SEND, 200);
	say_all(ex);
	ex_post_send(ex, 1, IBV_WR_RDMA_READ, 20);
	say_all(ex);
	ex_post_send(ex, 1, IBV_WR_RDMA_WRITE, 20);
	say_all(ex);
	ex_post_send(ex, 1, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	say_all(ex);
}

/* An extended CQ can be polled the plain way as well, so the two ways share the position in the
 * ring. */
static void plain_poll(struct ex_rig *ex)
{
	struct ibv_wc wc;

	ex_post_recv(ex, 5);
	ex_post_recv(ex, 6);
	ex_post_send(ex, 0, IBV_WR_SEND, 16);
	ex_post_send(ex, 0, IBV_WR_SEND, 17);
	if (rig_poll(ibv_cq_ex_to_cq(ex->ex), 1, &wc) == 1) {
		/* ConnectX-3 has a timestamp in that field, and the distribution's library returns
		 * it, so the field is cleared. */
		if (ex->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
			wc.slid = wc.sl = 0;
		say_wc("plain", &wc, ex->pair.end[0].qp->qp_num);
	}
	say_all(ex);
}

static void errors(struct ex_rig *ex)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	ex_post_recv(ex, 7);
	ex_post_recv(ex, 8);
	MUST(!ibv_modify_qp(ex->pair.end[1].qp, &attr, IBV_QP_STATE));
	say_some(ex, 2);
}

static bool is_mlx4(const struct rig *rig)
{
	return !strncmp(ibv_get_device_name(rig->ctx->device), "mlx4", 4);
}

enum {
	LID_AND_LEVEL = IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL,
	WITHOUT_LID = IBV_WC_STANDARD_FLAGS & ~LID_AND_LEVEL,
};

/* Returns whether a CQ can have these readers: on ConnectX-3 a CQE has no flow tag, and the
 * timestamp overlays LID and service level, so some are left out. */
static bool has_readers(const struct rig *rig, const struct ibv_cq_init_attr_ex *attr)
{
	uint64_t flags = attr->wc_flags;

	return !is_mlx4(rig) ||
	       !(flags & IBV_WC_EX_WITH_FLOW_TAG ||
		 (flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP && flags & LID_AND_LEVEL));
}

static void say_no_readers(struct rig *rig, const struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_init_attr_ex copy = *attr;

	say_check(!SAY_PTR(ibv_create_cq_ex(rig->ctx, &copy), "readers"), "no such CQ");
}

void diff_cq_ex_poll(struct rig *rig)
{
	static const struct ibv_cq_init_attr_ex cases[] = {
		{ .cqe = 16 },
		{ .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS },
		{ .cqe = 16, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM },
		{ .cqe = 16,
		  .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP },
		{ .cqe = 16,
		  .wc_flags = IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP },
		{ .cqe = 16, .wc_flags = IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP },
		{ .cqe = 16, .wc_flags = WITHOUT_LID | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP },
		{ .cqe = 16,
		  .wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			      IBV_WC_EX_WITH_FLOW_TAG },
		{ .cqe = 16,
		  .wc_flags = IBV_WC_STANDARD_FLAGS,
		  .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		  .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ex_rig ex;

		say("case %zu, wc_flags 0x%llx flags 0x%x", i,
		    (unsigned long long)cases[i].wc_flags, cases[i].flags);
		if (!has_readers(rig, &cases[i])) {
			say_no_readers(rig, &cases[i]);
			continue;
		}
		ex_open(rig, &cases[i], &ex);
		traffic(&ex);
		plain_poll(&ex);
		errors(&ex);
		ex_close(&ex);
	}
}

static struct ibv_cq_ex *stamped_cq(struct rig *rig, uint64_t stamps)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = stamps };

	return ibv_create_cq_ex(rig->ctx, &attr);
}

/* Returns whether the adapter writes the time of day. Otherwise it writes ticks, even if no reader
 * is requested. */
static bool stamps_are_of_day(const struct rig *rig, uint64_t stamps)
{
	return rig->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
	       stamps == IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
}

static void try_stamps(struct rig *rig, struct ibv_pd *pd, uint64_t sends, uint64_t receives)
{
	struct ibv_cq_ex *send = stamped_cq(rig, sends), *receive = stamped_cq(rig, receives);
	struct ibv_qp_init_attr attr = { .cap = { 4, 4, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp;

	MUST(send && receive);
	attr.send_cq = ibv_cq_ex_to_cq(send);
	attr.recv_cq = ibv_cq_ex_to_cq(receive);
	qp = SAY_PTR(ibv_create_qp(pd, &attr), "sends 0x%llx receives 0x%llx",
		     (unsigned long long)sends, (unsigned long long)receives);
	say_check(!!qp == (stamps_are_of_day(rig, sends) == stamps_are_of_day(rig, receives)),
		  "both sides have one format");
	if (qp)
		MUST(!ibv_destroy_qp(qp));
	MUST(!ibv_destroy_cq(attr.send_cq) && !ibv_destroy_cq(attr.recv_cq));
}

/* Returns nanoseconds since the epoch. */
static uint64_t time_of_day(void)
{
	struct timespec now;

	MUST(!clock_gettime(CLOCK_REALTIME, &now));
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void read_stamp(struct rig *rig, struct ibv_pd *pd, uint64_t stamps)
{
	const uint64_t allowed = 2000000000;
	struct rig_conf conf = rig_conf_default();
	struct ibv_cq_ex *cq = stamped_cq(rig, stamps);
	struct ibv_poll_cq_attr none = { 0 };
	struct ibv_qp *qp[2];
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	uint64_t before = time_of_day(), stamp;

	MUST(cq);
	for (int i = 0; i < 2; i++)
		MUST(qp[i] = rig_qp_create(pd, &conf, ibv_cq_ex_to_cq(cq)));
	for (int i = 0; i < 2; i++)
		rig_qp_to(rig, &conf, qp[i], qp[!i]->qp_num, IBV_QPS_RTS);
	MUST(!ibv_post_send(qp[0], &wr, &bad));
	while (ibv_start_poll(cq, &none))
		MUST(time_of_day() - before < 20 * allowed);
	stamp = ibv_wc_read_completion_wallclock_ns(cq);
	say("stamps 0x%llx: %s", (unsigned long long)stamps, ibv_wc_status_str(cq->status));
	say_check(stamp + allowed > before && stamp < time_of_day() + allowed,
		  "the time of the day");
	ibv_end_poll(cq);
	for (int i = 0; i < 2; i++)
		MUST(!ibv_destroy_qp(qp[i]));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

/* Returns the nanoseconds of a clock that cannot be set. */
static uint64_t time_passed(void)
{
	struct timespec now;

	MUST(!clock_gettime(CLOCK_MONOTONIC, &now));
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A WRITE of no bytes completes at STAMP, which lies between *FROM and *TO. */
static void stamp_write(struct ibv_qp *qp, struct ibv_cq_ex *cq, uint64_t *stamp, uint64_t *from,
			uint64_t *to)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED },
			   *bad;

	*from = time_passed();
	MUST(!ibv_post_send(qp, &wr, &bad));
	MUST(!start_patiently(cq));
	*to = time_passed();
	MUST(cq->status == IBV_WC_SUCCESS);
	*stamp = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
}

/* Checks that the adapter's clock has the reported frequency, and its timestamps the reported
 * number of bits. */
static void read_ticks(struct rig *rig, struct ibv_pd *pd, const struct ibv_device_attr_ex *device)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct rig_conf conf = rig_conf_default();
	struct ibv_cq_ex *cq = stamped_cq(rig, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	uint64_t stamp[2], from[2], to[2], passed;
	struct ibv_qp *qp[2];

	MUST(cq);
	for (int i = 0; i < 2; i++)
		MUST(qp[i] = rig_qp_create(pd, &conf, ibv_cq_ex_to_cq(cq)));
	for (int i = 0; i < 2; i++)
		rig_qp_to(rig, &conf, qp[i], qp[!i]->qp_num, IBV_QPS_RTS);
	for (int i = 0; i < 2; i++) {
		stamp_write(qp[0], cq, &stamp[i], &from[i], &to[i]);
		say_check(!(stamp[i] & ~device->completion_timestamp_mask), "bits of a stamp");
		nanosleep(&pause, NULL);
	}
	passed = ((stamp[1] - stamp[0]) & device->completion_timestamp_mask) * 1000000 /
		 device->hca_core_clock;
	say_check(passed >= from[1] - to[0] && passed <= to[1] - from[0] + 1,
		  "ticks of the adapter's clock");
	for (int i = 0; i < 2; i++)
		MUST(!ibv_destroy_qp(qp[i]));
	MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
}

/* Returns whether timestamps can be converted to the time of day. mlx4's cannot, as its kernel
 * driver exports nothing for it. */
static bool has_times_of_day(struct rig *rig)
{
	struct ibv_cq_ex *cq = SAY_PTR(
		stamped_cq(rig, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK), "times of the day");

	say_check(!!cq == !is_mlx4(rig), "all but mlx4 have them");
	if (cq)
		MUST(!ibv_destroy_cq(ibv_cq_ex_to_cq(cq)));
	return cq;
}

void diff_cq_ex_time(struct rig *rig)
{
	const uint64_t raw = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	const uint64_t day = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	const uint64_t stamps[] = { 0, raw, day, raw | day };
	const bool has_day = has_times_of_day(rig);
	const unsigned int n = has_day ? ARRAY_SIZE(stamps) : 2;
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_device_attr_ex device;

	MUST(pd && !ibv_query_device_ex(rig->ctx, NULL, &device));
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int j = 0; j < n; j++)
			try_stamps(rig, pd, stamps[i], stamps[j]);
	read_ticks(rig, pd, &device);
	if (!has_day) {
		MUST(!ibv_dealloc_pd(pd));
		return;
	}
	read_stamp(rig, pd, raw | day);
	/* Not compared on RoCE, as the adapter itself has the time of day there, and the
	 * distribution's reader returns its seconds and nanoseconds unchanged; a unit test checks
	 * our conversion. */
	if (rig->port.link_layer == IBV_LINK_LAYER_INFINIBAND)
		read_stamp(rig, pd, day);
	MUST(!ibv_dealloc_pd(pd));
}
