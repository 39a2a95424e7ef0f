/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * objects.c - several threads create and free device lists, contexts and objects at once.
 *
 * Covers: libibverbs/context.c, providers/common/id_lookup.c, providers/common/memory/dbrec.c
 */
#include <string.h>

#include "threads.h"

#define NUM_THREADS   4
#define LISTS_EACH    50
#define CONTEXTS_EACH 20
#define LIFES_EACH    60
#define REFUSALS_EACH 50
#define RESIZES       100
#define TOO_MANY_CQES (1 << 25)
#define MESSAGE_BYTES 3000

struct lists {
	struct ibv_device *device; /* NULL: whichever it is, all find one */
	int num;
	atomic_int found;
};

static void read_lists(void *arg, int id)
{
	struct lists *lists = arg;

	(void)id;
	for (int i = 0; i < LISTS_EACH; i++) {
		int num = -1;
		struct ibv_device **list = ibv_get_device_list(&num);

		MUST(list && !ibv_fork_init());
		CHECK(list[0] && !list[num], "the list has %d devices as it says", num);
		CHECK(!lists->device || (list[0] == lists->device && num == lists->num),
		      "a device that is in use is the same in all lists");
		atomic_fetch_add(&lists->found, list[0] && ibv_get_device_name(list[0])[0]);
		ibv_free_device_list(list);
	}
}

void threads_lists(void)
{
	struct lists lists = { 0 };
	struct ibv_device **held;

	crew_run(NUM_THREADS, read_lists, &lists);
	say_check(lists.found == NUM_THREADS * LISTS_EACH, "each thread finds the adapter");
	held = ibv_get_device_list(&lists.num);
	MUST(held);
	lists.device = held[0];
	crew_run(NUM_THREADS, read_lists, &lists);
	say_check(lists.found == 2 * NUM_THREADS * LISTS_EACH, "and finds it again");
	ibv_free_device_list(held);
}

struct resizing {
	struct ibv_cq *cq;
	int cqes;
	atomic_int failed;
};

static void resize_once(void *arg, int id)
{
	struct resizing *resizing = arg;

	(void)id;
	if (ibv_resize_cq(resizing->cq, resizing->cqes))
		atomic_fetch_add(&resizing->failed, 1);
}

/* Who comes second finds the CQ as large as it wants it. */
void threads_resized(struct rig *rig)
{
	struct resizing resizing = { .cq = ibv_create_cq(rig->ctx, 10, NULL, NULL, 0) };

	MUST(resizing.cq);
	for (int i = 0; i < RESIZES; i++) {
		resizing.cqes = i % 2 ? 10 : 300;
		crew_run(2, resize_once, &resizing);
	}
	say_check(!resizing.failed, "two threads resize one CQ to the same size");
	MUST(!ibv_destroy_cq(resizing.cq));
}

static void buffer_fill(uint8_t *buf, int id, int round)
{
	for (int i = 0; i < MESSAGE_BYTES; i++)
		buf[i] = (uint8_t)(i * 7 + id * 31 + round);
}

static void post_message(struct rig_pair *pair)
{
	struct ibv_sge from = { (uintptr_t)pair->end[0].buf, MESSAGE_BYTES, pair->end[0].mr->lkey };
	struct ibv_sge to = { (uintptr_t)pair->end[1].buf, MESSAGE_BYTES, pair->end[1].mr->lkey };
	struct ibv_recv_wr recv = { .wr_id = 2, .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .wr_id = 1,
				    .sg_list = &from,
				    .num_sge = 1,
				    .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad_send;

	MUST(!ibv_post_recv(pair->end[1].qp, &recv, &bad_recv));
	MUST(!ibv_post_send(pair->end[0].qp, &send, &bad_send));
}

/* Creates a PD, two MRs, two CQs and two QPs, sends a message, and destroys them. Returns true if
 * all steps succeeded. */
static bool objects_live(struct rig *rig, int id, int round)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;
	struct ibv_wc wc[2];
	bool good;

	conf.cq_ex = round & 1;
	conf.send_ops = round & 2 ? IBV_QP_EX_WITH_SEND : 0;
	rig_pair_open(rig, &conf, &pair);
	buffer_fill(pair.end[0].buf, id, round);
	post_message(&pair);
	good = rig_poll(pair.end[0].cq, 1, &wc[0]) == 1 && rig_poll(pair.end[1].cq, 1, &wc[1]) == 1;
	for (int i = 0; good && i < 2; i++)
		good = wc[i].status == IBV_WC_SUCCESS && wc[i].wr_id == (uint64_t)i + 1 &&
		       wc[i].qp_num == pair.end[i].qp->qp_num;
	good = good && !memcmp(pair.end[0].buf, pair.end[1].buf, MESSAGE_BYTES);
	rig_pair_close(&pair);
	return good;
}

struct lifes {
	struct rig *rig;
	atomic_int good;
};

static void open_and_close(void *arg, int id)
{
	struct lifes *lifes = arg;

	for (int i = 0; i < CONTEXTS_EACH; i++) {
		struct rig rig;

		rig_open(&rig);
		atomic_fetch_add(&lifes->good, objects_live(&rig, id, i));
		rig_close(&rig);
	}
}

void threads_contexts(void)
{
	struct lifes lifes = { 0 };

	crew_run(NUM_THREADS, open_and_close, &lifes);
	say_check(lifes.good == NUM_THREADS * CONTEXTS_EACH, "a message through each context");
}

static void come_and_go(void *arg, int id)
{
	struct lifes *lifes = arg;

	for (int i = 0; i < LIFES_EACH; i++)
		atomic_fetch_add(&lifes->good, objects_live(lifes->rig, id, i));
}

void threads_objects(struct rig *rig)
{
	struct lifes lifes = { .rig = rig };

	crew_run(NUM_THREADS, come_and_go, &lifes);
	say_check(lifes.good == NUM_THREADS * LIFES_EACH, "a message through each pair of QPs");
}

static void ask_too_much(void *arg, int id)
{
	struct lifes *lifes = arg;

	(void)id;
	for (int i = 0; i < REFUSALS_EACH; i++) {
		struct ibv_cq *cq;

		errno = 0;
		cq = ibv_create_cq(lifes->rig->ctx, TOO_MANY_CQES, NULL, NULL, 0);
		atomic_fetch_add(&lifes->good, !cq && errno == EINVAL);
	}
}

/* The log lines of all threads must be whole, so run-threads counts them. */
void threads_refused(struct rig *rig)
{
	struct lifes lifes = { .rig = rig };

	crew_run(NUM_THREADS, ask_too_much, &lifes);
	say_check(lifes.good == NUM_THREADS * REFUSALS_EACH, "each of %d large CQs is refused",
		  NUM_THREADS * REFUSALS_EACH);
}
