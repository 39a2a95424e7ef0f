/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-faults [NAME...]: all lives, or those named; see faults.h. Exit code 1 if an
 * object was lost, if an errno is not the fault's, or if a call failed without a log line.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "faults.h"
#include "tests/lib/topics.h"

static struct rig witness; /* a context of its own, which must work on whatever happened */

static void connect_and_send(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_send_wr send = { .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED,
				    .num_sge = 1 },
			   *bad_send;
	struct ibv_recv_wr recv = { .num_sge = 1 }, *bad_recv;
	struct rig_pair pair;
	struct ibv_sge sge[2];
	struct ibv_wc wc;

	conf.buf_size = 4096;
	rig_pair_open(rig, &conf, &pair);
	for (int i = 0; i < 2; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)pair.end[i].buf, 64, pair.end[i].mr->lkey };
	send.sg_list = &sge[0];
	recv.sg_list = &sge[1];
	MUST(!ibv_post_recv(pair.end[1].qp, &recv, &bad_recv));
	MUST(!ibv_post_send(pair.end[0].qp, &send, &bad_send));
	MUST(rig_poll(pair.end[0].cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	MUST(rig_poll(pair.end[1].cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	rig_pair_close(&pair);
}

struct watch {
	uint64_t objects;
	long blocks;
	int fds;
};

static void watch_begin(struct watch *w)
{
	w->objects = fault_objects();
	w->fds = rig_count_fds();
	w->blocks = fault_blocks();
}

/* Waits for the adapter, as the system reports a close to it a little later. */
static uint64_t objects_settled(uint64_t expected)
{
	uint64_t objects = fault_objects();

	for (int i = 0; i < 100 && objects != expected; i++) {
		rig_settle();
		objects = fault_objects();
	}
	return objects;
}

static bool watch_differs(const struct watch *w)
{
	return objects_settled(w->objects) != w->objects || fault_blocks() != w->blocks ||
	       rig_count_fds() != w->fds;
}

static bool watch_end(const struct watch *w, const char *what)
{
	return !watch_differs(w) ||
	       say_check(false, "%s leaves %ld objects, %ld blocks, %d descriptors", what,
			 (long)(fault_objects() - w->objects), fault_blocks() - w->blocks,
			 rig_count_fds() - w->fds);
}

/* Returns whether the fault explains the errno of the first failure. The kernel has its own errnos
 * for failures of the adapter or of a mapping, so these count as well. */
static bool errno_is_right(enum fault_kind kind, int err)
{
	switch (kind) {
	case FAULT_KERNEL:
		return err == FAULT_ERRNO;
	case FAULT_ADAPTER:
		/* An unanswered query for a GID looks like an empty slot of the table. Without
		 * device memory the kernel returns ENOMEM, and EREMOTEIO for commands that it
		 * passes on, so all of these are right. */
		return err == EAGAIN || err == ENODATA || err == ENOMEM || err == EREMOTEIO;
	case FAULT_MAP:
		/* A clock that could not be mapped when it was wanted is one that is not there. */
		return err == EAGAIN || err == ENOMEM || err == EOPNOTSUPP;
	default:
		return err == ENOMEM;
	}
}

/* Runs one life. With NTH 0 it has no fault, and COUNT becomes the number of operations that could
 * fail. */
static void life_run_once(const struct life_kind *kind, struct life *l, enum fault_kind fault,
			  uint64_t nth, uint64_t *count)
{
	*l = (struct life){ 0 };
	if (!kind->opens)
		rig_open(&l->rig);
	if (nth)
		fault_arm(fault, nth);
	else
		*count = fault_count(fault);
	kind->live(l);
	life_undo(l, 0);
	if (!nth)
		*count = fault_count(fault) - *count;
	if (kind->opens)
		return;
	connect_and_send(&l->rig);
	rig_close(&l->rig);
}

/* Bytes that the libraries have written to their log; VERBS_LOG is warn. */
static off_t log_size(void)
{
	const char *path = getenv("VERBS_LOG_FILE");
	struct stat st;

	return path && !stat(path, &st) ? st.st_size : 0;
}

/* Runs the life with one fault, and checks the state after it. Returns false if a check failed. */
static bool live_with_fault(const struct life_kind *kind, enum fault_kind fault, uint64_t nth,
			    struct life *l)
{
	char what[96];
	off_t said = log_size();
	struct watch watch;

	snprintf(what, sizeof(what), "%s: %s %d", kind->name, fault_name(fault), (int)nth);
	watch_begin(&watch);
	life_run_once(kind, l, fault, nth, NULL);
	connect_and_send(&witness);
	if (getenv("FAULTS_SHOW"))
		printf("%s: %s: %s\n", what, l->calls_failed ? l->first_call : "nobody noticed",
		       say_errno(l->first_errno));
	/* A first failure may load and keep memory, so only growth at each failure is a leak. */
	if (watch_differs(&watch)) {
		watch_begin(&watch);
		life_run_once(kind, l, fault, nth, NULL);
		if (!watch_end(&watch, what))
			return false;
	}
	if (!l->calls_failed)
		return true;
	/* An empty slot of a GID table is an answer, so it needs no words. */
	return (errno_is_right(fault, l->first_errno) ||
		say_check(false, "%s: %s has errno %s", what, l->first_call,
			  say_errno(l->first_errno))) &&
	       (l->first_errno == ENODATA || log_size() != said || !getenv("VERBS_LOG_FILE") ||
		say_check(false, "%s: %s explains itself", what, l->first_call));
}

/* Returns the number of faults that no call reported, or -1 if a check failed. */
static int live_with_faults(const struct life_kind *kind, enum fault_kind fault, uint64_t count)
{
	int unnoticed = 0;

	for (uint64_t nth = 1; nth <= count; nth++) {
		struct life l;

		if (!live_with_fault(kind, fault, nth, &l))
			return -1;
		unnoticed += !l.calls_failed;
	}
	return unnoticed;
}

static void try_kind(const struct life_kind *kind)
{
	for (enum fault_kind fault = 0; fault < FAULT_KINDS; fault++) {
		uint64_t count = 0;
		int unnoticed;
		struct life l;

		if (!fault_is_offered(fault))
			continue;
		life_run_once(kind, &l, fault, 0, &count);
		if (!say_check(!l.calls_failed, "it lives undisturbed")) {
			say("%s: %s", l.first_call, say_errno(l.first_errno));
			return;
		}
		unnoticed = live_with_faults(kind, fault, count);
		say_check(unnoticed >= 0 && unnoticed <= unnoticed_most(kind->name, fault),
			  "%d faults of kind %s, %d without effect", (int)count, fault_name(fault),
			  unnoticed);
	}
}

static bool device_lacks(const struct life_kind *kind)
{
	struct ibv_device_attr_ex attr;

	MUST(!ibv_query_device_ex(witness.ctx, NULL, &attr));
	return kind->lacks(witness.ctx, &attr);
}

static const struct life_kind *const lists[] = { life_objects, life_queues, life_raw, life_devx,
						 life_small };

static void lives_add(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (const struct life_kind *kind = lists[i]; kind->name; kind++)
			topics_add(&kind->name, sizeof(*kind), 1);
}

static void life_run(const struct life_kind *kind)
{
	if (kind->eth_only && witness.port.link_layer != IBV_LINK_LAYER_ETHERNET)
		topic_leave_out(kind->name, "there is none on InfiniBand");
	else if (kind->lacks && device_lacks(kind))
		topic_leave_out(kind->name, "this device has none");
	else if (topic_begin(kind->name))
		try_kind(kind);
}

int main(int argc, char **argv)
{
	static const struct topic memlock[] = { { "memlock", check_memlock } };
	static char out[4096];

	setvbuf(stdout, out, _IOLBF, sizeof(out)); /* or the first line would allocate it */
	lives_add();
	TOPICS_CHOOSE(memlock, argc, argv);
	say_topic("faults");
	fault_open();
	rig_open(&witness);
	/* Once before, as what the first use loads, opens and keeps is no leak: the log is opened
	 * by its first line. */
	connect_and_send(&witness);
	MUST(!ibv_create_cq(witness.ctx, INT_MAX, NULL, NULL, 0));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (const struct life_kind *kind = lists[i]; kind->name; kind++)
			life_run(kind);
	if (topic_begin("memlock"))
		check_memlock();
	rig_close(&witness);
	return topics_end();
}
