/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * calls.c - calls that belong to no other topic: rates, copies of the kernel's structs, fork,
 * sysfs, Ethernet addresses of GIDs, and windows and keys by extended entry points.
 *
 * Covers: libibverbs/rates.c, libibverbs/compat/kern_copy.c, libibverbs/fork.c,
 * libibverbs/discovery/sysfs.c, libibverbs/eth_l2.c
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <infiniband/sa.h>

#include "diff.h"

/* These are exported, but in no installed header of every release. */
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *dst, struct ib_uverbs_ah_attr *src);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *dst, struct ib_uverbs_qp_attr *src);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *dst, struct ib_user_path_rec *src);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *dst, struct ibv_sa_path_rec *src);
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

void diff_rates(struct rig *rig)
{
	(void)rig;
	for (int i = -1; i < 40; i++)
		say("rate %d: mult %d, mbps %d", i, ibv_rate_to_mult((enum ibv_rate)i),
		    ibv_rate_to_mbps((enum ibv_rate)i));
	for (int i = -1; i < 200; i++)
		if (mult_to_ibv_rate(i) != IBV_RATE_MAX)
			say("mult %d: rate %d", i, mult_to_ibv_rate(i));
	for (int i = 0; i < 2000000; i += 1)
		if (mbps_to_ibv_rate(i) != IBV_RATE_MAX)
			say("mbps %d: rate %d", i, mbps_to_ibv_rate(i));
	for (uint32_t label = 1; label < 0x100000; label = label * 3 + 1)
		say("flow label %#x: port %u", label, ibv_flow_label_to_udp_sport(label));
}

static void object_fill(void *object, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)object)[i] = (uint8_t)(i * 7 + 3);
}

static void show_bytes(const char *what, const void *object, size_t size)
{
	char text[1024];
	size_t n = 0;

	for (size_t i = 0; i < size && n + 3 < sizeof(text); i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%02x",
				      ((const uint8_t *)object)[i]);
	say("%s: %s", what, text);
}

void diff_kernel_copies(struct rig *rig)
{
	struct ib_uverbs_ah_attr kern_ah;
	struct ib_uverbs_qp_attr kern_qp;
	struct ib_user_path_rec kern_path, back;
	struct ibv_ah_attr ah = { 0 };
	struct ibv_qp_attr qp = { 0 };
	struct ibv_sa_path_rec path = { 0 };

	(void)rig;
	object_fill(&kern_ah, sizeof(kern_ah));
	object_fill(&kern_qp, sizeof(kern_qp));
	object_fill(&kern_path, sizeof(kern_path));
	ibv_copy_ah_attr_from_kern(&ah, &kern_ah);
	show_bytes("AH", &ah, sizeof(ah));
	ibv_copy_qp_attr_from_kern(&qp, &kern_qp);
	show_bytes("QP", &qp, sizeof(qp));
	ibv_copy_path_rec_from_kern(&path, &kern_path);
	show_bytes("path", &path, sizeof(path));
	memset(&back, 0, sizeof(back));
	ibv_copy_path_rec_to_kern(&back, &path);
	show_bytes("and back", &back, sizeof(back));
}

void diff_small_calls(struct rig *rig)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = RIG_PORT };
	char text[64] = "";
	uint8_t mac[6] = { 0 };
	uint16_t vlan = 0;

	say("sysfs is %s", ibv_get_sysfs_path());
	say("node_type has %d bytes: %s",
	    ibv_read_sysfs_file(rig->ctx->device->ibdev_path, "node_type", text, sizeof(text)),
	    text);
	SAY_RET(ibv_read_sysfs_file(rig->ctx->device->ibdev_path, "no_such", text, sizeof(text)),
		"a file that is not there");
	say("index is %s", ibv_get_device_index(rig->ctx->device) >= 0 ? "known" : "unknown");
	attr.grh.dgid = rig->gid;
	if (rig->port.link_layer == IBV_LINK_LAYER_ETHERNET &&
	    !SAY_RET(ibv_resolve_eth_l2_from_gid(rig->ctx, &attr, mac, &vlan), "own GID"))
		say("%02x:%02x:%02x:%02x:%02x:%02x vlan %u", mac[0], mac[1], mac[2], mac[3], mac[4],
		    mac[5], vlan);
	attr.grh.sgid_index = 255;
	SAY_RET(ibv_resolve_eth_l2_from_gid(rig->ctx, &attr, mac, &vlan), "from no index");
	for (int type = IBV_QPT_RC; type <= IBV_QPT_RAW_PACKET; type++)
		say("QP type %d among mask 0x14: %d", type,
		    ibv_is_qpt_supported(0x14, (enum ibv_qp_type)type));
}

void diff_ah_of_wc(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_wc wc = { .slid = rig->port.lid, .sl = 1 };
	struct ibv_grh grh = { .version_tclass_flow = htobe32(6u << 28), .next_hdr = 0x1b };
	struct ibv_ah *ah;

	MUST(pd);
	for (int global = 0; global < 2; global++)
		for (int foreign = 0; foreign < 2; foreign++) {
			wc.wc_flags = global ? IBV_WC_GRH : 0;
			grh.sgid = rig->gid;
			grh.dgid = rig->gid;
			grh.dgid.raw[15] ^= (uint8_t)foreign;
			ah = SAY_PTR(ibv_create_ah_from_wc(pd, &wc, &grh, RIG_PORT),
				     "GRH %d, to another %d", global, foreign);
			if (ah)
				MUST(!ibv_destroy_ah(ah));
		}
	MUST(!ibv_dealloc_pd(pd));
}

/* ---- fork: each case in a process of its own, as initialisation cannot be undone ---- */

static void fork_state(void)
{
	say("is_fork_initialized %d", (int)ibv_is_fork_initialized());
}

static void child_of_registration(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static struct ibv_mr *mr; /* static, so that the child's leak checker can reach it */
	int status;
	pid_t pid;

	MUST(pd && page != MAP_FAILED);
	memset(page, 7, 8192);
	MUST(mr = ibv_reg_mr(pd, page, 4096, IBV_ACCESS_LOCAL_WRITE));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		_exit(page[0] == 7 && page[4096] == 7 ? 0 : 1);
	MUST(waitpid(pid, &status, 0) == pid);
	say("a child of a process with a region: %s %d",
	    WIFSIGNALED(status) ? "signal" : "exit code",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	MUST(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	MUST(!munmap(page, 8192));
}

static void fork_first(struct rig *rig)
{
	(void)rig;
	SAY_RET(ibv_fork_init(), "fork_init before anything");
	SAY_RET(ibv_fork_init(), "fork_init again");
	fork_state();
}

static void fork_after_registration(struct rig *rig)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	static char buf[4096];
	struct ibv_mr *mr;

	MUST(pd && (mr = ibv_reg_mr(pd, buf, sizeof(buf), 0)));
	fork_state();
	SAY_RET(ibv_fork_init(), "fork_init with a region");
	fork_state();
	MUST(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
	child_of_registration(rig);
}

static void fork_ranges(struct rig *rig)
{
	static char range[3 * 4096] __attribute__((aligned(4096)));

	(void)rig;
	SAY_RET(ibv_fork_init(), "fork_init");
	SAY_RET(ibv_dontfork_range(range, sizeof(range)), "dontfork");
	SAY_RET(ibv_dontfork_range(range + 100, 10), "dontfork inside");
	SAY_RET(ibv_dofork_range(range, sizeof(range)), "dofork");
	SAY_RET(ibv_dofork_range(range + 100, 10), "dofork inside");
	SAY_RET(ibv_dofork_range(range, 1), "dofork of what is not kept");
}

/* If the kernel copies pinned pages, these calls have no visible effect. */
void diff_fork(struct rig *rig)
{
	static void (*const bodies[])(struct rig * rig) = { fork_first, fork_after_registration,
							    fork_ranges };
	int status;
	pid_t pid;

	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		fflush(stdout);
		pid = fork();
		MUST(pid >= 0);
		if (!pid) {
			struct rig own;

			rig_open(&own);
			bodies[i](&own);
			rig_close(&own);
			fflush(stdout);
			_exit(say_failures() ? 1 : 0);
		}
		MUST(waitpid(pid, &status, 0) == pid);
		say_check(WIFEXITED(status) && !WEXITSTATUS(status), "fork case %zu ends well", i);
	}
	(void)rig;
}

static void completion_report(struct rig_end *end, const char *what)
{
	struct ibv_wc wc;

	if (rig_poll(end->cq, 1, &wc) != 1)
		say("%s: no completion", what);
	else if (wc.status)
		say("%s: %s", what, ibv_wc_status_str(wc.status));
	else
		say("%s: opcode %d", what, (int)wc.opcode);
}

static void bind_by_wr(struct rig_pair *pair, struct ibv_mw *mw)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(end->qp);
	struct ibv_mw_bind_info info = { end->mr, (uintptr_t)end->buf, 256,
					 IBV_ACCESS_REMOTE_WRITE };

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qpx, mw, ibv_inc_rkey(mw->rkey), &info);
	if (!SAY_RET(ibv_wr_complete(qpx), "wr_bind_mw"))
		completion_report(end, "wr_bind_mw");
}

static void write_through(struct rig_pair *pair, uint32_t rkey, const char *what)
{
	struct rig_end *end = &pair->end[0];
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(end->qp);

	ibv_wr_start(qpx);
	qpx->wr_id = 2;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(qpx, rkey, (uintptr_t)pair->end[1].buf);
	ibv_wr_set_sge(qpx, end->mr->lkey, (uintptr_t)end->buf, 64);
	if (!SAY_RET(ibv_wr_complete(qpx), "%s", what))
		completion_report(end, what);
}

static void key_invalidate(struct rig_pair *pair, uint32_t rkey)
{
	struct rig_end *end = &pair->end[1];
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(end->qp);

	ibv_wr_start(qpx);
	qpx->wr_id = 3;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(qpx, rkey);
	if (!SAY_RET(ibv_wr_complete(qpx), "wr_local_inv"))
		completion_report(end, "wr_local_inv");
}

/* An invalidated key is reported to the receiver. */
static void invalidate_remotely(struct rig_pair *pair, uint32_t rkey)
{
	struct rig_end *end = &pair->end[0], *to = &pair->end[1];
	struct ibv_cq_ex *cqx = rig_end_cq_ex(to);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(end->qp);
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_recv_wr recv = { .wr_id = 4 }, *bad;

	MUST(!ibv_post_recv(to->qp, &recv, &bad));
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_inv(qpx, rkey);
	ibv_wr_set_sge_list(qpx, 0, NULL);
	if (SAY_RET(ibv_wr_complete(qpx), "wr_send_inv"))
		return;
	completion_report(end, "wr_send_inv");
	rig_settle();
	if (SAY_RET(ibv_start_poll(cqx, &attr), "start_poll"))
		return;
	say("flags 0x%x", ibv_wc_read_wc_flags(cqx));
	say_check(ibv_wc_read_invalidated_rkey(cqx) == rkey, "it is told which key");
	ibv_end_poll(cqx);
}

void diff_wr_keys(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_mw *mw;
	uint32_t rkey;

	conf.cq_ex = 1;
	conf.mr_access |= IBV_ACCESS_MW_BIND;
	conf.send_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_BIND_MW |
			IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_SEND_WITH_INV;
	rig_pair_open(rig, &conf, &pair);
	MUST(mw = ibv_alloc_mw(pair.pd, IBV_MW_TYPE_2));
	rkey = ibv_inc_rkey(mw->rkey);
	bind_by_wr(&pair, mw);
	write_through(&pair, rkey, "write through the window");
	key_invalidate(&pair, rkey);
	write_through(&pair, rkey, "write through what is invalid");
	rig_pair_reconnect(&pair);
	mw->rkey = rkey;
	rkey = ibv_inc_rkey(rkey);
	bind_by_wr(&pair, mw);
	invalidate_remotely(&pair, rkey);
	write_through(&pair, rkey, "write after a remote invalidation");
	rig_pair_reconnect(&pair);
	MUST(!ibv_dealloc_mw(mw));
	rig_pair_close(&pair);
}
