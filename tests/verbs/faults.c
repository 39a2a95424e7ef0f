/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.c - verbs-faults: a small life, from opening the adapter to closing it, in which any one kernel command may fail.
 *
 * run-faults makes the Nth command fail, for every N. Whatever failed, this program gives back all that it got, and then no
 * descriptor is left; memory is watched from outside. A destruction that fails leaves its object as it was, so it is
 * tried again. Exit code 0: no call failed; 3: one did, and was coped with; 1: something was lost.
 */
#include <stdio.h>
#include <stdlib.h>

#include "diff.h"

#define NUM_STEPS 9

struct life {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_mr *mr;
	struct ibv_qp *qps[2];
	uint8_t buf[4096];
};

static bool failed_once;

static bool tell(bool good, const char *call)
{
	if (!good) {
		say("%s fails, errno %s", call, say_errno(errno));
		failed_once = true;
	}
	return good;
}

static bool open_adapter(struct life *l)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!tell(list && list[0], "get_device_list"))
		return false;
	l->rig.ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	return tell(l->rig.ctx, "open_device");
}

static bool query(struct life *l)
{
	return tell(!ibv_query_device(l->rig.ctx, &l->rig.device), "query_device") &&
	       tell(!ibv_query_port(l->rig.ctx, RIG_PORT, &l->rig.port), "query_port") &&
	       tell(!ibv_query_gid(l->rig.ctx, RIG_PORT, 0, &l->rig.gid), "query_gid");
}

static bool alloc_pd(struct life *l)
{
	return tell((l->pd = ibv_alloc_pd(l->rig.ctx)) != NULL, "alloc_pd");
}

static bool reg_mr(struct life *l)
{
	return tell((l->mr = ibv_reg_mr(l->pd, l->buf, sizeof(l->buf), IBV_ACCESS_LOCAL_WRITE)) !=
			    NULL,
		    "reg_mr");
}

static bool create_channel(struct life *l)
{
	return tell((l->channel = ibv_create_comp_channel(l->rig.ctx)) != NULL,
		    "create_comp_channel");
}

static bool create_cqs(struct life *l)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS };

	return tell((l->cq = ibv_create_cq(l->rig.ctx, 16, NULL, l->channel, 0)) != NULL,
		    "create_cq") &&
	       tell((l->cq_ex = ibv_create_cq_ex(l->rig.ctx, &attr)) != NULL, "create_cq_ex");
}

static bool create_qps(struct life *l)
{
	struct rig_conf conf = rig_conf_default();

	l->qps[0] = rig_qp_create(l->pd, &conf, l->cq);
	if (!tell(l->qps[0], "create_qp"))
		return false;
	conf.send_ops = IBV_QP_EX_WITH_SEND;
	return tell((l->qps[1] = rig_qp_create(l->pd, &conf, ibv_cq_ex_to_cq(l->cq_ex))) != NULL,
		    "create_qp_ex");
}

static bool connect(struct life *l)
{
	struct rig_conf conf = rig_conf_default();

	for (int i = 0; i < 2; i++)
		for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
			struct ibv_qp_attr attr;
			int mask = rig_qp_attr(&l->rig, &conf, l->qps[!i]->qp_num, state, &attr);

			if (!tell(!(errno = ibv_modify_qp(l->qps[i], &attr, mask)), "modify_qp"))
				return false;
		}
	return true;
}

static bool message(struct life *l)
{
	struct ibv_sge sge = { (uintptr_t)l->buf, 64, l->mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &sge,
				    .num_sge = 1,
				    .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad_send;
	struct ibv_wc wc;

	MUST(!ibv_post_recv(l->qps[1], &recv, &bad_recv));
	MUST(!ibv_post_send(l->qps[0], &send, &bad_send));
	MUST(rig_poll(l->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	return true;
}

/* DESTROY(object), and again when the first try met the fault. */
#define GIVE_BACK(object, destroy)                                           \
	do {                                                                 \
		if ((object) && !tell(!(errno = destroy(object)), #destroy)) \
			MUST(!destroy(object));                              \
	} while (0)

static void give_back(struct life *l)
{
	for (int i = 0; i < 2; i++)
		GIVE_BACK(l->qps[i], ibv_destroy_qp);
	if (l->cq_ex)
		GIVE_BACK(ibv_cq_ex_to_cq(l->cq_ex), ibv_destroy_cq);
	GIVE_BACK(l->cq, ibv_destroy_cq);
	GIVE_BACK(l->channel, ibv_destroy_comp_channel);
	GIVE_BACK(l->mr, ibv_dereg_mr);
	GIVE_BACK(l->pd, ibv_dealloc_pd);
	if (l->rig.ctx)
		MUST(!ibv_close_device(l->rig.ctx));
}

int main(void)
{
	static bool (*const steps[NUM_STEPS])(
		struct life * l) = { open_adapter, query,      alloc_pd, reg_mr, create_channel,
				     create_cqs,   create_qps, connect,  message };
	int fds = rig_count_fds();
	struct life l = { 0 };

	say_topic("faults");
	for (int i = 0; i < NUM_STEPS && steps[i](&l); i++)
		;
	give_back(&l);
	if (!say_check(rig_count_fds() == fds, "no descriptor is left"))
		return 1;
	return failed_once ? 3 : 0;
}
