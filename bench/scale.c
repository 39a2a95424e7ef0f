/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scale.c - scale [--bytes] KIND MOST: the cost of one more object of a kind when 0, 10, 100 ...
 * MOST exist. Under callgrind it prints the instructions of creating one, of using an existing one,
 * and of destroying one. With --bytes it prints the memory of each.
 */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/row.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "util/bits.h"

enum {
	MOST = 100000,
	BUFFER_BYTES = 4096,
	REQUESTS = 8,
	STRIDE = 7919 /* a prime, so that all objects have their turn */
};
enum { NO_QP = 1 << 22, QKEY = 1, GRH_BYTES = 40, SWEPT_BYTES = 1 << 17 };

struct world {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_ah *ah;
	/* its CQ's count of CQEs shows how many messages the others have sent, so none of their CQs
	 * need be polled */
	struct ibv_qp *arrivals;
	struct ibv_mr *arrived;
	struct rdma_event_channel *channel;
	const struct kind *kind;
	void *object[MOST + EACH];
	int count;
	int next;
	int each;           /* steps in a round */
	void *chosen[EACH]; /* objects for the measured steps, chosen before */
};

struct kind {
	const char *name;
	void *(*make)(struct world *w);
	int (*end)(void *object);
	const struct row *uses; /* the last one has no name; NULL: none */
};

/* Chooses an object far from the one before. No object comes twice in a round: STRIDE and the
 * number of objects have no common factor, and a round has no more steps than objects. The
 * chosen pointers lie together, so that a measured step misses no line of w->object. */
static bool choose(struct world *w, int i)
{
	w->next = (w->next + STRIDE) % w->count;
	w->chosen[i] = w->object[w->next];
	return true;
}

static void *pd_make(struct world *w)
{
	return ibv_alloc_pd(w->rig.ctx);
}

static int pd_end(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static void *mr_make(struct world *w)
{
	static char buffer[BUFFER_BYTES];

	return ibv_reg_mr(w->pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE);
}

static int mr_end(void *mr)
{
	return ibv_dereg_mr(mr);
}

static void *mw_make(struct world *w)
{
	return ibv_alloc_mw(w->pd, IBV_MW_TYPE_2);
}

static int mw_end(void *mw)
{
	return ibv_dealloc_mw(mw);
}

static void *ah_make(struct world *w)
{
	struct ibv_ah_attr attr = { .dlid = w->rig.port.lid, .port_num = RIG_PORT };

	return ibv_create_ah(w->pd, &attr);
}

static int ah_end(void *ah)
{
	return ibv_destroy_ah(ah);
}

static void *cq_make(struct world *w)
{
	return ibv_create_cq(w->rig.ctx, 2 * REQUESTS - 1, NULL, NULL, 0);
}

static int cq_end(void *cq)
{
	return ibv_destroy_cq(cq);
}

static void *srq_make(struct world *w)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = REQUESTS, .max_sge = 1 } };

	return ibv_create_srq(w->pd, &attr);
}

static int srq_end(void *srq)
{
	return ibv_destroy_srq(srq);
}

static void *qp_of_type(struct world *w, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = w->cq,
		.recv_cq = w->cq,
		.qp_type = type,
		.cap = { REQUESTS, REQUESTS, 1, 1, 0 },
	};

	return ibv_create_qp(w->pd, &attr);
}

static void *qp_make(struct world *w)
{
	return qp_of_type(w, IBV_QPT_RC);
}

static int qp_end(void *qp)
{
	return ibv_destroy_qp(qp);
}

static bool qp_to_init(struct world *w, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT };

	MUST(!ibv_modify_qp(w->chosen[i], &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	return true;
}

static bool qp_to_reset(struct world *w, int i)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	MUST(!ibv_modify_qp(w->chosen[i], &attr, IBV_QP_STATE));
	return true;
}

static void ud_ready(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = QKEY };

	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

static void *ud_make(struct world *w)
{
	struct ibv_qp *qp = qp_of_type(w, IBV_QPT_UD);

	if (qp)
		ud_ready(qp);
	return qp;
}

/* Sends an empty datagram to a number that no QP has. */
static bool ud_post(struct world *w, int i)
{
	struct ibv_send_wr *bad, wr = { .opcode = IBV_WR_SEND,
					.send_flags = IBV_SEND_SIGNALED,
					.wr.ud = { w->ah, NO_QP, QKEY } };

	MUST(!ibv_post_send(w->chosen[i], &wr, &bad));
	return true;
}

static int ud_polled(struct world *w)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(w->cq, 1, &wc);

	MUST(!count || (count == 1 && wc.status == IBV_WC_SUCCESS));
	return count;
}

static bool ud_poll(struct world *w, int i)
{
	(void)i;
	MUST(ud_polled(w));
	return true;
}

static bool ud_await(struct world *w, int i)
{
	(void)i;
	while (!ud_polled(w))
		;
	return true;
}

/* Evicts everything else from the first-level cache, so that the next use of an object finds it
 * cold. */
static void cache_evict(void)
{
	static volatile char other[SWEPT_BYTES];

	for (size_t i = 0; i < sizeof(other); i++)
		other[i]++;
}

/* Opens the QP that receives one datagram after each that is measured. */
static void arrivals_open(struct world *w)
{
	static char grh[GRH_BYTES];
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_UD, .cap = { 1, EACH, 1, 1, 0 } };

	MUST(w->arrived = ibv_reg_mr(w->pd, grh, sizeof(grh), IBV_ACCESS_LOCAL_WRITE));
	MUST(attr.send_cq = ibv_create_cq(w->rig.ctx, EACH, NULL, NULL, 0));
	attr.recv_cq = attr.send_cq;
	MUST(w->arrivals = ibv_create_qp(w->pd, &attr));
	ud_ready(w->arrivals);
}

/* Sends a datagram. It arrives after the QP has completed the one before, so its arrival tells that
 * that one has completed. */
static void ud_post_arrival(struct world *w, struct ibv_qp *qp)
{
	struct ibv_sge sge = { (uintptr_t)w->arrived->addr, GRH_BYTES, w->arrived->lkey };
	struct ibv_recv_wr *bad_recv, recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr *bad,
		wr = { .opcode = IBV_WR_SEND, .wr.ud = { w->ah, w->arrivals->qp_num, QKEY } };

	MUST(!ibv_post_recv(w->arrivals, &recv, &bad_recv));
	MUST(!ibv_post_send(qp, &wr, &bad));
}

static void await_arrival(struct world *w)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(w->arrivals->recv_cq, 1, &wc))
		;
	MUST(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
}

/* Sends from a chosen QP and waits for the completion without polling its CQ, as that would warm
 * the cache. The last one evicts the QPs from the cache. */
static bool ud_send(struct world *w, int i)
{
	choose(w, i);
	ud_post(w, i);
	ud_post_arrival(w, w->chosen[i]);
	await_arrival(w);
	if (i + 1 == w->each)
		cache_evict();
	return true;
}

static const struct row qp_uses[] = {
	{ "modify to INIT", choose, qp_to_init, qp_to_reset },
	{ NULL, NULL, NULL, NULL },
};

static const struct row ud_uses[] = {
	{ "post", choose, ud_post, ud_await },
	{ "poll", ud_send, ud_poll, NULL },
	{ NULL, NULL, NULL, NULL },
};

static void *id_make(struct world *w)
{
	struct rdma_cm_id *id;

	return rdma_create_id(w->channel, &id, NULL, RDMA_PS_TCP) ? NULL : id;
}

static int id_end(void *id)
{
	return rdma_destroy_id(id);
}

static void *socket_make(struct world *w)
{
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	(void)w;
	return fd < 0 ? NULL : (void *)(intptr_t)fd;
}

static int socket_end(void *socket)
{
	return rclose((int)(intptr_t)socket);
}

static bool option_get(struct world *w, int i)
{
	int number, socket = (int)(intptr_t)w->chosen[i];
	socklen_t size = sizeof(number);

	MUST(!rgetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &number, &size));
	return true;
}

static bool option_set(struct world *w, int i)
{
	int number = 1 << 16, socket = (int)(intptr_t)w->chosen[i];

	MUST(!rsetsockopt(socket, SOL_SOCKET, SO_SNDBUF, &number, sizeof(number)));
	return true;
}

static const struct row socket_uses[] = {
	{ "rgetsockopt", choose, option_get, NULL },
	{ "rsetsockopt", choose, option_set, NULL },
	{ NULL, NULL, NULL, NULL },
};

static const struct kind kinds[] = {
	{ "PD", pd_make, pd_end, NULL },    { "MR", mr_make, mr_end, NULL },
	{ "MW", mw_make, mw_end, NULL },    { "AH", ah_make, ah_end, NULL },
	{ "CQ", cq_make, cq_end, NULL },    { "SRQ", srq_make, srq_end, NULL },
	{ "QP", qp_make, qp_end, qp_uses }, { "UD", ud_make, qp_end, ud_uses },
	{ "id", id_make, id_end, NULL },    { "rsocket", socket_make, socket_end, socket_uses },
};

static bool add_one(struct world *w, int i)
{
	void *object = w->kind->make(w);

	(void)i;
	if (object)
		w->object[w->count++] = object;
	return object;
}

/* Creates objects until there are THERE. Returns false if that fails, as a library that maps memory
 * for each object reaches the limit of mappings. */
static bool fill_up(struct world *w, int there)
{
	while (w->count < there) {
		if (!add_one(w, 0)) {
			fprintf(stderr, "%s %d: %s\n", w->kind->name, w->count, strerror(errno));
			return false;
		}
	}
	return true;
}

static bool end_one(struct world *w, int i)
{
	(void)i;
	MUST(!w->kind->end(w->object[--w->count]));
	return true;
}

static void row_of_kind(struct world *w, const struct row *of, int there)
{
	struct row row = *of;
	char name[64];

	snprintf(name, sizeof(name), "%s: %s, %d there", w->kind->name, of->name, there);
	row.name = name;
	if (w->count == there)
		row_measure_each(w, &row, w->each);
	else
		count_absent(name);
}

static void curve(struct world *w, int most)
{
	static const struct row create = { "create", NULL, add_one, end_one };
	static const struct row destroy = { "destroy", add_one, end_one, NULL };

	for (int there = 0; there <= most; there = there ? 10 * there : 10) {
		fill_up(w, there);
		w->each = EACH;
		row_of_kind(w, &create, there);
		row_of_kind(w, &destroy, there);
		w->each = there < EACH ? there : EACH;
		for (const struct row *use = w->kind->uses; there && use && use->name; use++)
			row_of_kind(w, use, there);
	}
	fflush(stdout);
}

static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages;

	MUST(file && fscanf(file, "%*d %ld", &pages) == 1);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE);
}

static void memory(struct world *w, int most)
{
	long before, used = 0;

	/* touches this program's own pages, so that only the library's are counted */
	memset(w->object, 1, sizeof(w->object));
	for (int there = 10; there <= most; there *= 10) {
		before = resident();
		fill_up(w, there);
		used += resident() - before;
		printf("%s: bytes of each, %d there\t", w->kind->name, there);
		printf(w->count == there ? "%ld\n" : "absent\n", used / there);
	}
	fflush(stdout);
}

static const struct kind *kind_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct world w;
	bool bytes = argc == 4 && !strcmp(argv[1], "--bytes");
	int most = argc > 2 ? atoi(argv[argc - 1]) : 0;

	if (argc != 3 + bytes || most < 0 || most > MOST)
		return 2;
	w.kind = kind_by_name(argv[argc - 2]);
	if (!w.kind)
		return 2;
	rig_open(&w.rig);
	MUST(w.pd = ibv_alloc_pd(w.rig.ctx));
	MUST(w.cq = ibv_create_cq(w.rig.ctx, 63, NULL, NULL, 0));
	MUST(w.ah = ah_make(&w));
	arrivals_open(&w);
	MUST(w.channel = rdma_create_event_channel());
	if (bytes)
		memory(&w, most);
	else
		curve(&w, most);
	_exit(0); /* _exit(), as the kernel destroys the objects, which is not measured */
}
