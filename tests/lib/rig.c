/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* rig.c - see rig.h. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "say.h"
#include "topics.h"

/* Returns the device of LIST that RIG_DEVICE in the environment names, or the first one. */
static struct ibv_device *device_choose(struct ibv_device **list)
{
	const char *name = getenv("RIG_DEVICE");

	while (name && *list && strcmp(ibv_get_device_name(*list), name))
		list++;
	return *list;
}

static const char *device_open(struct rig *rig)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *device;
	const char *why = NULL;

	if (!list)
		return "no device list";
	device = device_choose(list);
	if (!device)
		why = "no RDMA device is there, or none that RIG_DEVICE names";
	else if (!(rig->ctx = ibv_open_device(device)))
		why = "the RDMA device does not open";
	ibv_free_device_list(list);
	return why;
}

void rig_open(struct rig *rig)
{
	const char *why;

	memset(rig, 0, sizeof(*rig));
	why = device_open(rig);
	if (why) {
		printf("FAIL: %s (errno %s)\n", why, say_errno(errno));
		exit(1);
	}
	MUST(!ibv_query_device(rig->ctx, &rig->device));
	MUST(!ibv_query_port(rig->ctx, RIG_PORT, &rig->port));
	MUST(!ibv_query_gid(rig->ctx, RIG_PORT, 0, &rig->gid));
}

void rig_close(struct rig *rig)
{
	MUST(!ibv_close_device(rig->ctx));
}

struct rig_conf rig_conf_default(void)
{
	return (struct rig_conf){
		.cap = { .max_send_wr = 16,
			 .max_recv_wr = 16,
			 .max_send_sge = 4,
			 .max_recv_sge = 4,
			 .max_inline_data = 64 },
		.cqe = 64,
		.qp_access = RIG_ALL_REMOTE,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE,
		.buf_size = 128 << 10,
		.mtu = IBV_MTU_1024,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 1,
		.rd_atomic = 4,
	};
}

void rig_qp_init_attr(const struct rig_conf *conf, struct ibv_cq *cq, struct ibv_qp_init_attr *attr)
{
	*attr = (struct ibv_qp_init_attr){
		.qp_context = conf->context,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = conf->cap,
		.qp_type = conf->unreliable ? IBV_QPT_UC : IBV_QPT_RC,
		.sq_sig_all = conf->sig_all,
	};
}

static struct ibv_qp *qp_create_ex(struct ibv_pd *pd, const struct rig_conf *conf,
				   struct ibv_cq *cq)
{
	struct ibv_qp_init_attr_ex attr = { 0 };
	struct ibv_qp_init_attr basic;

	rig_qp_init_attr(conf, cq, &basic);
	memcpy(&attr, &basic,
	       offsetof(struct ibv_qp_init_attr_ex, comp_mask)); /* both begin alike */
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.pd = pd;
	attr.send_ops_flags = conf->send_ops;
	return ibv_create_qp_ex(pd->context, &attr);
}

struct ibv_qp *rig_qp_create(struct ibv_pd *pd, const struct rig_conf *conf, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr;

	if (conf->send_ops)
		return qp_create_ex(pd, conf, cq);
	rig_qp_init_attr(conf, cq, &attr);
	return ibv_create_qp(pd, &attr);
}

static void attr_set_path(const struct rig *rig, struct ibv_ah_attr *ah)
{
	ah->port_num = RIG_PORT;
	ah->dlid = rig->port.lid;
	if (rig->port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return;
	ah->is_global = 1;
	ah->grh.dgid = rig->gid;
	ah->grh.hop_limit = 64;
}

/* Attributes of a responder and of retries, which UC does not have */
#define OF_RC                                                                                   \
	(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | \
	 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

static int rc_qp_attr(const struct rig *rig, const struct rig_conf *conf, uint32_t dest_qpn,
		      enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	switch (state) {
	case IBV_QPS_INIT:
		attr->port_num = RIG_PORT;
		attr->qp_access_flags = conf->qp_access;
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	case IBV_QPS_RTR:
		attr_set_path(rig, &attr->ah_attr);
		attr->path_mtu = conf->mtu;
		attr->dest_qp_num = dest_qpn;
		attr->rq_psn = 0x1234;
		attr->max_dest_rd_atomic = conf->rd_atomic;
		attr->min_rnr_timer = conf->min_rnr_timer;
		return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPS_RTS:
		attr->sq_psn = 0x1234;
		attr->timeout = conf->timeout;
		attr->retry_cnt = conf->retry_cnt;
		attr->rnr_retry = conf->rnr_retry;
		attr->max_rd_atomic = conf->rd_atomic;
		return IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
		       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	default:
		return IBV_QP_STATE;
	}
}

int rig_qp_attr(const struct rig *rig, const struct rig_conf *conf, uint32_t dest_qpn,
		enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
	int mask = rc_qp_attr(rig, conf, dest_qpn, state, attr);

	if (!conf->unreliable)
		return mask;
	attr->qp_access_flags &= IBV_ACCESS_REMOTE_WRITE;
	return mask & ~OF_RC;
}

static void qp_step(const struct rig *rig, const struct rig_conf *conf, struct ibv_qp *qp,
		    uint32_t dest_qpn, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask = rig_qp_attr(rig, conf, dest_qpn, state, &attr);

	MUST(!ibv_modify_qp(qp, &attr, mask));
}

void rig_qp_to(const struct rig *rig, const struct rig_conf *conf, struct ibv_qp *qp,
	       uint32_t dest_qpn, enum ibv_qp_state state)
{
	qp_step(rig, conf, qp, dest_qpn, IBV_QPS_RESET);
	/* by INIT, as the kernel's table has no step from RESET to ERR */
	if (state == IBV_QPS_ERR) {
		qp_step(rig, conf, qp, dest_qpn, IBV_QPS_INIT);
		qp_step(rig, conf, qp, dest_qpn, IBV_QPS_ERR);
		return;
	}
	for (enum ibv_qp_state next = IBV_QPS_INIT; next <= state; next++)
		qp_step(rig, conf, qp, dest_qpn, next);
}

static struct ibv_cq *cq_create_ex(struct ibv_context *ctx, const struct rig_conf *conf)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = conf->cqe,
		.cq_context = conf->context,
		.channel = conf->channel,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct ibv_cq *cq_create(struct ibv_context *ctx, const struct rig_conf *conf)
{
	if (conf->cq_ex)
		return cq_create_ex(ctx, conf);
	return ibv_create_cq(ctx, conf->cqe, conf->context, conf->channel, 0);
}

struct ibv_cq_ex *rig_end_cq_ex(const struct rig_end *end)
{
	return (struct ibv_cq_ex *)end->cq;
}

void rig_end_open(struct ibv_pd *pd, const struct rig_conf *conf, struct rig_end *end)
{
	end->buf = aligned_alloc(4096, conf->buf_size);
	MUST(end->buf);
	memset(end->buf, 0, conf->buf_size);
	end->mr = ibv_reg_mr(pd, end->buf, conf->buf_size, conf->mr_access);
	MUST(end->mr);
	end->cq = cq_create(pd->context, conf);
	MUST(end->cq);
	end->qp = rig_qp_create(pd, conf, end->cq);
	MUST(end->qp);
}

void rig_end_close(struct rig_end *end)
{
	MUST(!ibv_destroy_qp(end->qp));
	MUST(!ibv_destroy_cq(end->cq));
	MUST(!ibv_dereg_mr(end->mr));
	free(end->buf);
}

void rig_pair_reconnect(struct rig_pair *pair)
{
	for (int i = 0; i < 2; i++)
		rig_qp_to(pair->rig, &pair->conf, pair->end[i].qp, pair->end[!i].qp->qp_num,
			  IBV_QPS_RTR);
	for (int i = 0; i < 2; i++)
		qp_step(pair->rig, &pair->conf, pair->end[i].qp, 0, IBV_QPS_RTS);
}

void rig_pair_open(struct rig *rig, const struct rig_conf *conf, struct rig_pair *pair)
{
	pair->rig = rig;
	pair->conf = *conf;
	pair->pd = ibv_alloc_pd(rig->ctx);
	MUST(pair->pd);
	for (int i = 0; i < 2; i++)
		rig_end_open(pair->pd, conf, &pair->end[i]);
	rig_pair_reconnect(pair);
}

void rig_pair_close(struct rig_pair *pair)
{
	for (int i = 0; i < 2; i++)
		rig_end_close(&pair->end[i]);
	MUST(!ibv_dealloc_pd(pair->pd));
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static long patience_ms(void)
{
	const char *text = getenv("RIG_TIMEOUT_MS");

	return text ? atol(text) : 20000;
}

int rig_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	long end = now_ms() + patience_ms();
	int have = 0;

	while (have < n && now_ms() < end) {
		int got = ibv_poll_cq(cq, n - have, wc + have);

		MUST(got >= 0);
		if (got == 0)
			nanosleep(&nap, NULL);
		else
			end = now_ms() + patience_ms();
		have += got;
	}
	return have;
}

void rig_settle(void)
{
	const struct timespec nap = { .tv_nsec = 20000000 };

	nanosleep(&nap, NULL);
}

int rig_drain(struct ibv_cq *cq)
{
	struct ibv_wc wc[16];
	int count = 0;
	int n;

	rig_settle();
	while ((n = ibv_poll_cq(cq, 16, wc)) > 0)
		count += n;
	return count;
}

int rig_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	MUST(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 3; /* ".", ".." and the directory itself */
}

int rig_main(const struct rig_topic *topics, size_t count, int argc, char **argv)
{
	struct rig rig;

	topics_add(&topics->name, sizeof(*topics), count);
	topics_choose(argc, argv);
	rig_open(&rig);
	for (size_t i = 0; i < count; i++)
		if (topic_begin(topics[i].name))
			topics[i].run(&rig);
	rig_close(&rig);
	return topics_end();
}
