/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control.c - control calls|others|ids|streams|scale|flows: instructions of calls that are not on
 * the data path, of rsockets, and of creating queues where many are there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "bench/parts.h"
#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum { STREAMS = 500, THOUSAND = 1000, MOST_SETS = 6 * THOUSAND, ARRIVE_US = 100000 };

/* Objects that the rows use; OBJECT are those of the current row. */
struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_cq *queue[EACH];
	void *object[EACH];
	struct rdma_event_channel *channel;
	int listener, streams;
	struct pollfd ends[2 * STREAMS]; /* both ends of the streams */
	int polled;
	size_t bytes;
};

/* Records the object. It must exist, unless the library lacks the call. */
static bool object_is_made(struct world *w, int i, void *object)
{
	MUST(object || is_absent(errno));
	w->object[i] = object;
	return object;
}

static bool object_is_gone(int ret)
{
	MUST(!ret);
	return true;
}

static bool list_devices(struct world *w, int i)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)w, (void)i;
	MUST(list);
	ibv_free_device_list(list);
	return true;
}

static bool query_device(struct world *w, int i)
{
	(void)i;
	return object_is_gone(ibv_query_device(w->rig.ctx, &w->rig.device));
}

static bool query_device_ex(struct world *w, int i)
{
	struct ibv_device_attr_ex attr;

	(void)i;
	return object_is_gone(ibv_query_device_ex(w->rig.ctx, NULL, &attr));
}

static bool query_port(struct world *w, int i)
{
	(void)i;
	return object_is_gone(ibv_query_port(w->rig.ctx, RIG_PORT, &w->rig.port));
}

static bool query_gid_table(struct world *w, int i)
{
	struct ibv_gid_entry entries[64];

	(void)i;
	MUST(ibv_query_gid_table(w->rig.ctx, entries, ARRAY_SIZE(entries), 0) > 0);
	return true;
}

static bool query_rt_values(struct world *w, int i)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	int ret = ibv_query_rt_values_ex(w->rig.ctx, &values);

	(void)i;
	return ret != EOPNOTSUPP && object_is_gone(ret);
}

/* ---- objects: each is made, and destroyed, by a row of its own */

static bool pd_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_alloc_pd(w->rig.ctx));
}

static bool pd_end(struct world *w, int i)
{
	return object_is_gone(ibv_dealloc_pd(w->object[i]));
}

static bool td_make(struct world *w, int i)
{
	struct ibv_td_init_attr attr = { 0 };

	return object_is_made(w, i, ibv_alloc_td(w->rig.ctx, &attr));
}

static bool td_end(struct world *w, int i)
{
	return object_is_gone(ibv_dealloc_td(w->object[i]));
}

static bool ah_make(struct world *w, int i)
{
	struct ibv_ah_attr attr = { .dlid = w->rig.port.lid,
				    .is_global = 1,
				    .grh = { .dgid = w->rig.gid, .hop_limit = 1 },
				    .port_num = RIG_PORT };

	return object_is_made(w, i, ibv_create_ah(w->pd, &attr));
}

static bool ah_end(struct world *w, int i)
{
	return object_is_gone(ibv_destroy_ah(w->object[i]));
}

static bool mw_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_alloc_mw(w->pd, IBV_MW_TYPE_2));
}

static bool mw_end(struct world *w, int i)
{
	return object_is_gone(ibv_dealloc_mw(w->object[i]));
}

static bool channel_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_create_comp_channel(w->rig.ctx));
}

static bool channel_end(struct world *w, int i)
{
	return object_is_gone(ibv_destroy_comp_channel(w->object[i]));
}

static bool cq_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_create_cq(w->rig.ctx, 15, NULL, NULL, 0));
}

static bool cq_large_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_create_cq(w->rig.ctx, 256, NULL, NULL, 0));
}

static bool cq_end(struct world *w, int i)
{
	return object_is_gone(ibv_destroy_cq(w->object[i]));
}

static bool srq_make(struct world *w, int i)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 128, .max_sge = 1 } };

	return object_is_made(w, i, ibv_create_srq(w->pd, &attr));
}

static bool srq_end(struct world *w, int i)
{
	return object_is_gone(ibv_destroy_srq(w->object[i]));
}

static struct ibv_qp *qp_of(struct world *w, enum ibv_qp_type type, struct ibv_cq *cq,
			    uint32_t requests)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { requests, requests, 1, 1, 0 },
		.qp_type = type,
	};

	return ibv_create_qp(w->pd, &attr);
}

static bool qp_make(struct world *w, int i)
{
	return object_is_made(w, i, qp_of(w, IBV_QPT_RC, w->cq, 8));
}

static bool qp_large_make(struct world *w, int i)
{
	return object_is_made(w, i, qp_of(w, IBV_QPT_RC, w->cq, 128));
}

static bool qp_end(struct world *w, int i)
{
	return object_is_gone(ibv_destroy_qp(w->object[i]));
}

static bool qp_step(struct world *w, int i, enum ibv_qp_state state)
{
	const struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp = w->object[i];
	struct ibv_qp_attr attr;
	int mask = rig_qp_attr(&w->rig, &conf, qp->qp_num, state, &attr);

	return object_is_gone(ibv_modify_qp(qp, &attr, mask));
}

static bool qp_to_init(struct world *w, int i)
{
	return qp_step(w, i, IBV_QPS_INIT);
}

static bool qp_to_rtr(struct world *w, int i)
{
	return qp_step(w, i, IBV_QPS_RTR);
}

static bool qp_to_rts(struct world *w, int i)
{
	return qp_step(w, i, IBV_QPS_RTS);
}

static bool qp_make_init(struct world *w, int i)
{
	return qp_make(w, i) && qp_to_init(w, i);
}

static bool qp_make_rtr(struct world *w, int i)
{
	return qp_make_init(w, i) && qp_to_rtr(w, i);
}

static const struct row calls[] = {
	{ "get_device_list", NULL, list_devices, NULL },
	{ "query_device", NULL, query_device, NULL },
	{ "query_device_ex", NULL, query_device_ex, NULL },
	{ "query_port", NULL, query_port, NULL },
	{ "query_gid_table, 64 entries", NULL, query_gid_table, NULL },
	{ "query_rt_values_ex", NULL, query_rt_values, NULL },
	{ "alloc_pd", NULL, pd_make, pd_end },
	{ "dealloc_pd", pd_make, pd_end, NULL },
	{ "alloc_td", NULL, td_make, td_end },
	{ "dealloc_td", td_make, td_end, NULL },
	{ "create_ah", NULL, ah_make, ah_end },
	{ "destroy_ah", ah_make, ah_end, NULL },
	{ "alloc_mw", NULL, mw_make, mw_end },
	{ "dealloc_mw", mw_make, mw_end, NULL },
	{ "create_comp_channel", NULL, channel_make, channel_end },
	{ "destroy_comp_channel", channel_make, channel_end, NULL },
	{ "create_cq, 15 entries", NULL, cq_make, cq_end },
	{ "destroy_cq, 15 entries", cq_make, cq_end, NULL },
	{ "create_cq, 256 entries", NULL, cq_large_make, cq_end },
	{ "destroy_cq, 256 entries", cq_large_make, cq_end, NULL },
	{ "create_srq, 128 requests", NULL, srq_make, srq_end },
	{ "destroy_srq, 128 requests", srq_make, srq_end, NULL },
	{ "create_qp, 8 requests", NULL, qp_make, qp_end },
	{ "destroy_qp, 8 requests", qp_make, qp_end, NULL },
	{ "create_qp, 128 requests", NULL, qp_large_make, qp_end },
	{ "destroy_qp, 128 requests", qp_large_make, qp_end, NULL },
	{ "modify_qp to INIT", qp_make, qp_to_init, qp_end },
	{ "modify_qp to RTR", qp_make_init, qp_to_rtr, qp_end },
	{ "modify_qp to RTS", qp_make_rtr, qp_to_rts, qp_end },
};

static void calls_measure(struct world *w)
{
	rows_measure(w, calls, ARRAY_SIZE(calls));
}

/* ---- what else libibverbs' control path has */

static bool context_make(struct world *w, int i)
{
	return object_is_made(w, i, ibv_open_device(w->rig.ctx->device));
}

static bool context_end(struct world *w, int i)
{
	return object_is_gone(ibv_close_device(w->object[i]));
}

static bool query_gid(struct world *w, int i)
{
	(void)i;
	return object_is_gone(ibv_query_gid(w->rig.ctx, RIG_PORT, 0, &w->rig.gid));
}

static bool query_gid_ex(struct world *w, int i)
{
	struct ibv_gid_entry entry;

	(void)i;
	return object_is_gone(ibv_query_gid_ex(w->rig.ctx, RIG_PORT, 0, &entry, 0));
}

static bool query_pkey(struct world *w, int i)
{
	__be16 pkey;

	(void)i;
	return object_is_gone(ibv_query_pkey(w->rig.ctx, RIG_PORT, 0, &pkey));
}

static char region[EACH][4096];

static bool mr_make(struct world *w, int i)
{
	return object_is_made(
		w, i, ibv_reg_mr(w->pd, region[i], sizeof(region[i]), IBV_ACCESS_LOCAL_WRITE));
}

static bool mr_end(struct world *w, int i)
{
	return object_is_gone(ibv_dereg_mr(w->object[i]));
}

static bool mr_again(struct world *w, int i)
{
	return object_is_gone(ibv_rereg_mr(w->object[i], IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
}

static bool domain_make(struct world *w, int i)
{
	struct ibv_parent_domain_init_attr attr = { .pd = w->pd };

	return object_is_made(w, i, ibv_alloc_parent_domain(w->rig.ctx, &attr));
}

static bool dm_make(struct world *w, int i)
{
	struct ibv_alloc_dm_attr attr = { .length = 64 };

	return object_is_made(w, i, ibv_alloc_dm(w->rig.ctx, &attr));
}

static bool dm_end(struct world *w, int i)
{
	return object_is_gone(ibv_free_dm(w->object[i]));
}

static bool xrcd_make(struct world *w, int i)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = -1,
					   .oflags = O_CREAT };

	return object_is_made(w, i, ibv_open_xrcd(w->rig.ctx, &attr));
}

static bool xrcd_end(struct world *w, int i)
{
	return object_is_gone(ibv_close_xrcd(w->object[i]));
}

static bool cq_ex_make(struct world *w, int i)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 15, .wc_flags = IBV_WC_STANDARD_FLAGS };

	return object_is_made(w, i, ibv_create_cq_ex(w->rig.ctx, &attr));
}

static bool cq_resize(struct world *w, int i)
{
	return object_is_gone(ibv_resize_cq(w->object[i], 31));
}

static bool cq_arm(struct world *w, int i)
{
	return object_is_gone(ibv_req_notify_cq(w->object[i], 0));
}

static bool cq_moderate(struct world *w, int i)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE,
					   .moderate = { .cq_count = 4, .cq_period = 10 } };
	int ret = ibv_modify_cq(w->object[i], &attr);

	return ret != EOPNOTSUPP && object_is_gone(ret);
}

static bool srq_query(struct world *w, int i)
{
	struct ibv_srq_attr attr;

	return object_is_gone(ibv_query_srq(w->object[i], &attr));
}

static bool srq_limit(struct world *w, int i)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	return object_is_gone(ibv_modify_srq(w->object[i], &attr, IBV_SRQ_LIMIT));
}

static bool qp_query(struct world *w, int i)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return object_is_gone(ibv_query_qp(w->object[i], &attr, IBV_QP_STATE, &init));
}

static bool qp_reset(struct world *w, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	return object_is_gone(ibv_modify_qp(w->object[i], &attr, IBV_QP_STATE));
}

static const struct row others[] = {
	{ "open_device", NULL, context_make, context_end },
	{ "close_device", context_make, context_end, NULL },
	{ "query_gid", NULL, query_gid, NULL },
	{ "query_gid_ex", NULL, query_gid_ex, NULL },
	{ "query_pkey", NULL, query_pkey, NULL },
	{ "reg_mr", NULL, mr_make, mr_end },
	{ "rereg_mr", mr_make, mr_again, mr_end },
	{ "dereg_mr", mr_make, mr_end, NULL },
	{ "alloc_parent_domain", NULL, domain_make, pd_end },
	{ "dealloc_pd of a parent domain", domain_make, pd_end, NULL },
	{ "alloc_dm", NULL, dm_make, dm_end },
	{ "free_dm", dm_make, dm_end, NULL },
	{ "open_xrcd", NULL, xrcd_make, xrcd_end },
	{ "close_xrcd", xrcd_make, xrcd_end, NULL },
	{ "create_cq_ex, 15 entries", NULL, cq_ex_make, cq_end },
	{ "resize_cq, 15 to 31 entries", cq_make, cq_resize, cq_end },
	{ "req_notify_cq", cq_make, cq_arm, cq_end },
	{ "modify_cq", cq_make, cq_moderate, cq_end },
	{ "query_srq", srq_make, srq_query, srq_end },
	{ "modify_srq", srq_make, srq_limit, srq_end },
	{ "query_qp", qp_make, qp_query, qp_end },
	{ "modify_qp to RESET", qp_make_init, qp_reset, qp_end },
};

static void others_measure(struct world *w)
{
	rows_measure(w, others, ARRAY_SIZE(others));
}

static bool frames_make(struct world *w, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	if (!object_is_made(w, i, qp_of(w, IBV_QPT_RAW_PACKET, w->cq, 8)))
		return false;
	return object_is_gone(ibv_modify_qp(w->object[i], &attr, IBV_QP_STATE | IBV_QP_PORT));
}

static bool flow_make(struct world *w, int i)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} rule = { { .type = IBV_FLOW_ATTR_NORMAL,
		     .size = sizeof(rule),
		     .num_of_specs = 1,
		     .port = RIG_PORT },
		   { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) } };

	memset(rule.eth.mask.dst_mac, 0xff, ETH_ALEN);
	rule.eth.val.dst_mac[0] = 2;
	rule.eth.val.dst_mac[ETH_ALEN - 1] = (uint8_t)(i + 1);
	return object_is_made(w, i, ibv_create_flow((struct ibv_qp *)w->queue[0], &rule.attr));
}

static bool flow_end(struct world *w, int i)
{
	return object_is_gone(ibv_destroy_flow(w->object[i]));
}

static const struct row flows[] = {
	{ "create_flow", NULL, flow_make, flow_end },
	{ "destroy_flow", flow_make, flow_end, NULL },
};

static void flows_measure(struct world *w)
{
	MUST(frames_make(w, 0));
	w->queue[0] = w->object[0];
	rows_measure(w, flows, ARRAY_SIZE(flows));
	MUST(!ibv_destroy_qp((struct ibv_qp *)w->queue[0]));
}

static bool event_channel_make(struct world *w, int i)
{
	return object_is_made(w, i, rdma_create_event_channel());
}

static bool event_channel_end(struct world *w, int i)
{
	rdma_destroy_event_channel(w->object[i]);
	return true;
}

static bool id_make(struct world *w, int i)
{
	struct rdma_cm_id *id = NULL;

	MUST(!rdma_create_id(w->channel, &id, NULL, RDMA_PS_TCP));
	return object_is_made(w, i, id);
}

static bool id_end(struct world *w, int i)
{
	return object_is_gone(rdma_destroy_id(w->object[i]));
}

static bool id_bind(struct world *w, int i)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	return object_is_gone(rdma_bind_addr(w->object[i], (struct sockaddr *)&any));
}

static bool id_make_bound(struct world *w, int i)
{
	return id_make(w, i) && id_bind(w, i);
}

static bool id_listen(struct world *w, int i)
{
	return object_is_gone(rdma_listen(w->object[i], 8));
}

static bool get_addrinfo(struct world *w, int i)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;

	(void)w, (void)i;
	MUST(!rdma_getaddrinfo("127.0.0.1", "7471", &hints, &res));
	rdma_freeaddrinfo(res);
	return true;
}

static bool get_devices(struct world *w, int i)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	(void)w, (void)i;
	MUST(list);
	rdma_free_devices(list);
	return true;
}

static const struct row ids[] = {
	{ "rdma_create_event_channel", NULL, event_channel_make, event_channel_end },
	{ "rdma_destroy_event_channel", event_channel_make, event_channel_end, NULL },
	{ "rdma_create_id", NULL, id_make, id_end },
	{ "rdma_destroy_id", id_make, id_end, NULL },
	{ "rdma_bind_addr", id_make, id_bind, id_end },
	{ "rdma_listen", id_make_bound, id_listen, id_end },
	{ "rdma_destroy_id of a listener", id_make_bound, id_end, NULL },
	{ "rdma_getaddrinfo", NULL, get_addrinfo, NULL },
	{ "rdma_get_devices", NULL, get_devices, NULL },
};

static void ids_measure(struct world *w)
{
	MUST(w->channel = rdma_create_event_channel());
	rows_measure(w, ids, ARRAY_SIZE(ids));
	rdma_destroy_event_channel(w->channel);
}

/* ---- rsockets: both ends of each stream are in this process */

static void *streams_accept(void *arg)
{
	struct world *w = arg;

	MUST((w->ends[2 * w->streams + 1].fd = raccept(w->listener, NULL, NULL)) >= 0);
	return NULL;
}

static void stream_open(struct world *w)
{
	struct sockaddr_in to;
	socklen_t len = sizeof(to);
	pthread_t thread;
	int fd;

	MUST(!rgetsockname(w->listener, (struct sockaddr *)&to, &len));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(!pthread_create(&thread, NULL, streams_accept, w));
	MUST((fd = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	MUST(!rconnect(fd, (struct sockaddr *)&to, sizeof(to)));
	MUST(!pthread_join(thread, NULL));
	w->ends[2 * w->streams].fd = fd;
	w->ends[2 * w->streams].events = w->ends[2 * w->streams + 1].events = POLLIN;
	w->streams++;
}

static void streams_open(struct world *w, int count)
{
	while (w->streams < count)
		stream_open(w);
}

static bool stream_send(struct world *w, int i)
{
	static char bytes[1 << 16];

	(void)i;
	MUST(rsend(w->ends[0].fd, bytes, w->bytes, 0) == (ssize_t)w->bytes);
	return true;
}

static bool stream_receive(struct world *w, int i)
{
	static char bytes[1 << 16];

	(void)i;
	MUST(rrecv(w->ends[1].fd, bytes, w->bytes, MSG_WAITALL) == (ssize_t)w->bytes);
	return true;
}

/* Fills the streams before the measured receives, as the adapter must have delivered everything by
 * then. */
static bool stream_fill(struct world *w, int i)
{
	stream_send(w, i);
	return i + 1 < EACH || !usleep(ARRIVE_US);
}

/* Lets each end process its completions, so that it grants room to its peer. */
static bool stream_settle(struct world *w, int i)
{
	return i || rpoll(w->ends, 2, 0) >= 0;
}

static bool stream_empty(struct world *w, int i)
{
	return stream_receive(w, i) && stream_settle(w, EACH - 1 - i);
}

static bool stream_receive_nothing(struct world *w, int i)
{
	char byte;

	(void)i;
	MUST(rrecv(w->ends[1].fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
	return true;
}

static bool streams_poll(struct world *w, int i)
{
	(void)i;
	MUST(!rpoll(w->ends, (nfds_t)w->polled, 0));
	return true;
}

/* Polls the streams together with a descriptor of the program that is never ready. */
static bool streams_poll_pipe(struct world *w, int i)
{
	struct pollfd fds[] = { w->ends[0], { .fd = w->listener, .events = POLLIN }, { 0 } };
	static int ends[2];

	(void)i;
	if (!ends[0])
		MUST(!pipe(ends));
	fds[2] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	MUST(!rpoll(fds, ARRAY_SIZE(fds), 0));
	return true;
}

static void messages_measure(struct world *w)
{
	static const size_t sizes[] = { 1, 64, 256, 1024 };
	char name[2][64];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		w->bytes = sizes[i];
		snprintf(name[0], sizeof(name[0]), "rsend, %zu bytes", sizes[i]);
		snprintf(name[1], sizeof(name[1]), "rrecv, %zu bytes", sizes[i]);
		row_measure(w, &(struct row){ name[0], NULL, stream_send, stream_empty });
		row_measure(w,
			    &(struct row){ name[1], stream_fill, stream_receive, stream_settle });
	}
	row_measure(w, &(struct row){ "rrecv of nothing", NULL, stream_receive_nothing, NULL });
}

static void streams_measure(struct world *w)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	char name[64];

	MUST((w->listener = rsocket(AF_INET, SOCK_STREAM, 0)) >= 0);
	MUST(!rbind(w->listener, (struct sockaddr *)&any, sizeof(any)));
	MUST(!rlisten(w->listener, 8));
	streams_open(w, 1);
	messages_measure(w);
	for (w->polled = 1; w->polled <= 2 * STREAMS; w->polled *= 10) {
		streams_open(w, (w->polled + 1) / 2);
		snprintf(name, sizeof(name), "rpoll of %d, timeout 0", w->polled);
		row_measure(w, &(struct row){ name, NULL, streams_poll, NULL });
	}
	row_measure(w, &(struct row){ "rpoll of stream, listener, pipe", NULL, streams_poll_pipe,
				      NULL });
	fflush(stdout);
	_exit(0); /* closing a thousand streams would take long, and is not measured */
}

struct set {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

static void set_make(struct world *w, struct set *set)
{
	MUST(set->cq = ibv_create_cq(w->rig.ctx, 15, NULL, NULL, 0));
	MUST(set->qp = qp_of(w, IBV_QPT_RC, set->cq, 8));
}

static void set_end(const struct set *set)
{
	MUST(!ibv_destroy_qp(set->qp));
	MUST(!ibv_destroy_cq(set->cq));
}

static struct set sets[MOST_SETS + EACH];
static int set_count;

static bool set_make_one(struct world *w, int i)
{
	(void)i;
	set_make(w, &sets[set_count++]);
	return true;
}

static bool set_end_one(struct world *w, int i)
{
	(void)w, (void)i;
	set_end(&sets[--set_count]);
	return true;
}

static void scale_measure(struct world *w)
{
	char name[2][64];

	for (int there = 0; there <= MOST_SETS; there += THOUSAND) {
		while (set_count < there)
			set_make(w, &sets[set_count++]);
		snprintf(name[0], sizeof(name[0]), "create CQ and QP, %d there", there);
		snprintf(name[1], sizeof(name[1]), "destroy CQ and QP, %d there", there);
		row_measure(w, &(struct row){ name[0], NULL, set_make_one, set_end_one });
		row_measure(w, &(struct row){ name[1], set_make_one, set_end_one, NULL });
	}
	fflush(stdout);
	while (set_count)
		set_end(&sets[--set_count]);
}

static const struct part parts[] = {
	{ "calls", calls_measure },     { "others", others_measure }, { "ids", ids_measure },
	{ "streams", streams_measure }, { "scale", scale_measure },   { "flows", flows_measure },
};

int main(int argc, char **argv)
{
	static struct world w;
	int status;

	rig_open(&w.rig);
	MUST(w.pd = ibv_alloc_pd(w.rig.ctx));
	MUST(w.cq = ibv_create_cq(w.rig.ctx, 63, NULL, NULL, 0));
	status = part_measure(&w, parts, ARRAY_SIZE(parts), argc, argv);
	MUST(!ibv_destroy_cq(w.cq));
	MUST(!ibv_dealloc_pd(w.pd));
	rig_close(&w.rig);
	return status;
}
