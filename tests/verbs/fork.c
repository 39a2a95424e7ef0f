/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork.c - verbs-fork [TOPIC...]: rings and doorbell records of a program that asked for
 * ibv_fork_init(), on kernels whose release this program fakes. If the kernel does not copy pinned
 * pages for a child, the first write after fork() would move a ring away from the adapter. So its
 * pages must be excluded from children (flag dc in smaps) until they are freed. The library
 * initialises only once, so each topic is a process.
 *
 * Covers: libibverbs/fork.c, providers/common/memory/hwbuf.c, providers/common/memory/cells.c
 */
#include <infiniband/mlx4dv.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#define IN_FRONT __attribute__((visibility("default")))

struct nl_sock;
int nl_connect(struct nl_sock *sock, int protocol);

static const char *release = "5.4.0";

IN_FRONT int uname(struct utsname *system)
{
	snprintf(system->release, sizeof(system->release), "%s", release);
	return 0;
}

IN_FRONT int nl_connect(struct nl_sock *sock, int protocol)
{
	(void)sock;
	(void)protocol;
	return -1;
}

struct spot {
	const char *name;
	void *addr;
};

struct spots {
	struct spot spot[32];
	unsigned int count;
};

static void spot_add(struct spots *spots, const char *name, void *addr)
{
	MUST(spots->count < ARRAY_SIZE(spots->spot));
	if (addr)
		spots->spot[spots->count++] = (struct spot){ name, addr };
}

static void spot_add_ring(struct spots *spots, void *sends, size_t bytes)
{
	spot_add(spots, "send ring", sends);
	spot_add(spots, "end of the send ring", (uint8_t *)sends + bytes - 1);
}

static void spots_of_qp_mlx4(struct spots *spots, struct ibv_qp *qp)
{
	struct mlx4dv_qp dv = { 0 };
	struct mlx4dv_obj obj = { .qp = { qp, &dv } };

	MUST(!mlx4dv_init_obj(&obj, MLX4DV_OBJ_QP));
	spot_add_ring(spots, (uint8_t *)dv.buf.buf + dv.sq.offset,
		      (size_t)dv.sq.wqe_cnt << dv.sq.wqe_shift);
	spot_add(spots, "record of a QP", dv.rdb);
}

static void spots_of_qp_mlx5(struct spots *spots, struct ibv_qp *qp)
{
	struct mlx5dv_qp dv = { 0 };
	struct mlx5dv_obj obj = { .qp = { qp, &dv } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	spot_add_ring(spots, dv.sq.buf, (size_t)dv.sq.wqe_cnt * dv.sq.stride);
	spot_add(spots, "record of a QP", dv.dbrec);
}

static void spots_of_cq_mlx4(struct spots *spots, struct ibv_cq *cq)
{
	struct mlx4dv_cq dv = { 0 };
	struct mlx4dv_obj obj = { .cq = { cq, &dv } };

	MUST(!mlx4dv_init_obj(&obj, MLX4DV_OBJ_CQ));
	spot_add(spots, "CQ", dv.buf.buf);
	spot_add(spots, "record of a CQ", dv.set_ci_db);
}

static void spots_of_cq_mlx5(struct spots *spots, struct ibv_cq *cq)
{
	struct mlx5dv_cq dv = { 0 };
	struct mlx5dv_obj obj = { .cq = { cq, &dv } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ));
	spot_add(spots, "CQ", dv.buf);
	spot_add(spots, "record of a CQ", dv.dbrec);
}

static void spots_of_srq_mlx4(struct spots *spots, struct ibv_srq *srq)
{
	struct mlx4dv_srq dv = { 0 };
	struct mlx4dv_obj obj = { .srq = { srq, &dv } };

	MUST(!mlx4dv_init_obj(&obj, MLX4DV_OBJ_SRQ));
	spot_add(spots, "SRQ", dv.buf.buf);
	spot_add(spots, "record of an SRQ", dv.db);
}

static void spots_of_srq_mlx5(struct spots *spots, struct ibv_srq *srq)
{
	struct mlx5dv_srq dv = { 0 };
	struct mlx5dv_obj obj = { .srq = { srq, &dv } };

	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_SRQ));
	spot_add(spots, "SRQ", dv.buf);
	spot_add(spots, "record of an SRQ", dv.dbrec);
}

/* Direct verbs of each provider that return the addresses of queues */
static const struct kind {
	void (*qp)(struct spots *spots, struct ibv_qp *qp);
	void (*cq)(struct spots *spots, struct ibv_cq *cq);
	void (*srq)(struct spots *spots, struct ibv_srq *srq);
} of_mlx4 = { spots_of_qp_mlx4, spots_of_cq_mlx4, spots_of_srq_mlx4 },
  of_mlx5 = { spots_of_qp_mlx5, spots_of_cq_mlx5, spots_of_srq_mlx5 };

struct mapping {
	unsigned long start, end;
	bool is_kept;
};

/* Calls LOOK for each mapping of this process. */
static void mappings_walk(void (*look)(const struct mapping *mapping, void *arg), void *arg)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	struct mapping mapping = { 0 };
	unsigned long start, end;
	char line[512];

	MUST(smaps);
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			mapping = (struct mapping){ .start = start, .end = end };
		if (strncmp(line, "VmFlags:", 8))
			continue;
		mapping.is_kept = strstr(line, " dc");
		look(&mapping, arg);
	}
	fclose(smaps);
}

struct question {
	unsigned long addr;
	bool is_kept;
};

static void mapping_answer(const struct mapping *mapping, void *arg)
{
	struct question *question = arg;

	if (question->addr >= mapping->start && question->addr < mapping->end)
		question->is_kept = mapping->is_kept;
}

static bool is_kept(const void *addr)
{
	struct question question = { .addr = (unsigned long)addr };

	mappings_walk(mapping_answer, &question);
	return question.is_kept;
}

static void mapping_count(const struct mapping *mapping, void *arg)
{
	*(unsigned int *)arg += mapping->is_kept;
}

static unsigned int kept_count(void)
{
	unsigned int count = 0;

	mappings_walk(mapping_count, &count);
	return count;
}

struct queues {
	struct rig_pair small, large;
	struct ibv_srq *srq;
	struct spots spots;
};

static void queues_open(struct rig *rig, struct queues *queues)
{
	struct ibv_srq_init_attr attr = { .attr = { 31, 1, 0 } };
	struct rig_conf conf = rig_conf_default();
	const struct kind *kind = mlx5dv_is_supported(rig->ctx->device) ? &of_mlx5 : &of_mlx4;

	rig_pair_open(rig, &conf, &queues->small);
	conf.cap.max_send_wr = conf.cap.max_recv_wr = 1000;
	conf.cqe = 2000;
	rig_pair_open(rig, &conf, &queues->large);
	MUST(queues->srq = ibv_create_srq(queues->small.pd, &attr));
	for (int i = 0; i < 2; i++) {
		kind->qp(&queues->spots, queues->small.end[i].qp);
		kind->cq(&queues->spots, queues->small.end[i].cq);
	}
	kind->qp(&queues->spots, queues->large.end[0].qp);
	kind->cq(&queues->spots, queues->large.end[0].cq);
	kind->srq(&queues->spots, queues->srq);
}

static void queues_close(struct queues *queues)
{
	MUST(!ibv_destroy_srq(queues->srq));
	rig_pair_close(&queues->small);
	rig_pair_close(&queues->large);
}

static void message(struct rig_pair *pair)
{
	struct ibv_sge from = { (uintptr_t)pair->end[0].buf, 100, pair->end[0].mr->lkey };
	struct ibv_sge to = { (uintptr_t)pair->end[1].buf, 100, pair->end[1].mr->lkey };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = { .sg_list = &from,
				    .num_sge = 1,
				    .opcode = IBV_WR_SEND,
				    .send_flags = IBV_SEND_SIGNALED },
			   *bad_send;
	struct ibv_wc wc[2];

	MUST(!ibv_post_recv(pair->end[1].qp, &recv, &bad_recv));
	MUST(!ibv_post_send(pair->end[0].qp, &send, &bad_send));
	say_check(rig_poll(pair->end[0].cq, 1, &wc[0]) == 1 &&
			  rig_poll(pair->end[1].cq, 1, &wc[1]) == 1 &&
			  wc[0].status == IBV_WC_SUCCESS && wc[1].status == IBV_WC_SUCCESS,
		  "a message arrives");
}

/* Keeps a child while the parent goes on. The child's exit code is the number of spots that it does
 * not have. */
static void parent_goes_on(struct queues *queues)
{
	const long page = sysconf(_SC_PAGESIZE);
	unsigned char resident;
	int gate[2], status, missing = 0;
	pid_t child;
	char byte;

	MUST(!pipe(gate));
	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		close(gate[1]);
		if (read(gate[0], &byte, 1))
			_exit(255);
		for (unsigned int i = 0; i < queues->spots.count; i++)
			missing += mincore((void *)((uintptr_t)queues->spots.spot[i].addr &
						    ~(uintptr_t)(page - 1)),
					   1, &resident) != 0;
		_exit(missing);
	}
	close(gate[0]);
	for (int i = 0; i < 40; i++) {
		message(&queues->small);
		message(&queues->large);
	}
	close(gate[1]);
	MUST(waitpid(child, &status, 0) == child && WIFEXITED(status));
	say("the child has %s of the spots", WEXITSTATUS(status) == 0 ? "all"
					     : WEXITSTATUS(status) == (int)queues->spots.count
						     ? "none"
						     : "some");
}

static void queues_live(bool kept)
{
	const unsigned int before = kept_count();
	struct queues queues = { 0 };
	struct rig rig;

	rig_open(&rig);
	queues_open(&rig, &queues);
	for (unsigned int i = 0; i < queues.spots.count; i++)
		say_check(is_kept(queues.spots.spot[i].addr) == kept, "%s is %s",
			  queues.spots.spot[i].name, kept ? "kept" : "as any memory");
	parent_goes_on(&queues);
	queues_close(&queues);
	rig_close(&rig);
	say_check(kept_count() == before, "nothing is kept any more");
}

static void on_old_kernel(void)
{
	release = "5.4.0";
	SAY_RET(ibv_fork_init(), "fork_init");
	queues_live(true);
}

/* Returns the exit code of a process that runs RUN. */
static int child_run(void (*run)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		run();
		exit(say_failures() ? 1 : 0);
	}
	MUST(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Ends the process without exit(): a leak checker would read the parent's rings, which this process
 * does not have. */
static void queues_live_again(void)
{
	queues_live(true);
	fflush(stdout);
	_exit(say_failures() ? 1 : 0);
}

/* What a child maps comes to lie where its parent's rings are, as the child does not have those. */
static void child_opens_again(void)
{
	struct queues queues = { 0 };
	struct rig rig;

	release = "5.4.0";
	SAY_RET(ibv_fork_init(), "fork_init");
	rig_open(&rig);
	queues_open(&rig, &queues);
	say_check(!child_run(queues_live_again), "the queues of a child are as its parent's");
	queues_close(&queues);
	rig_close(&rig);
}

static void not_asked_for(void)
{
	release = "5.4.0";
	queues_live(false);
}

static void kernel_copies(void)
{
	release = "5.12.0";
	SAY_RET(ibv_fork_init(), "fork_init");
	queues_live(false);
}

/* As for regions, it is too late when there are queues that are not kept. */
static void asked_late(void)
{
	struct queues queues = { 0 };
	struct rig rig;

	release = "5.4.0";
	rig_open(&rig);
	queues_open(&rig, &queues);
	SAY_RET(ibv_fork_init(), "fork_init");
	queues_close(&queues);
	rig_close(&rig);
}

/* Declared here, as they are in the library's driver interface, not in verbs.h. */
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

enum { PAGE = 4096, PAGES = 4 };

static char *pages_map(void *at)
{
	char *pages = mmap(at, PAGES * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	MUST(pages != MAP_FAILED);
	return pages;
}

static void pages_say(const char *pages, const char *when)
{
	char kept[PAGES + 1] = "";

	for (int i = 0; i < PAGES; i++)
		kept[i] = is_kept(pages + i * PAGE) ? 'k' : '-';
	say("%s: %s", when, kept);
}

/* Keeps pages, unmaps GONE of them from FIRST on, ends the keeping, and does the same with new
 * memory at their addresses. */
static void range_goes(int first, int gone)
{
	char *pages = pages_map(NULL);

	say("%d pages from %d on go", gone, first);
	SAY_RET(ibv_dontfork_range(pages, PAGES * PAGE), "dontfork");
	pages_say(pages, "kept");
	MUST(!munmap(pages + first * PAGE, gone * PAGE));
	SAY_RET(ibv_dofork_range(pages, PAGES * PAGE), "dofork");
	pages_say(pages, "ended");
	MUST(pages_map(pages) == pages);
	SAY_RET(ibv_dontfork_range(pages, PAGES * PAGE), "dontfork of new memory there");
	pages_say(pages, "kept again");
	SAY_RET(ibv_dofork_range(pages, PAGES * PAGE), "dofork of it");
	pages_say(pages, "ended again");
	MUST(!munmap(pages, PAGES * PAGE));
}

static void ranges_that_go(void)
{
	char *pages;

	release = "5.4.0";
	SAY_RET(ibv_fork_init(), "fork_init");
	range_goes(0, PAGES);
	range_goes(0, 1);
	range_goes(1, 2);
	range_goes(3, 1);
	pages = pages_map(NULL);
	MUST(!munmap(pages + PAGE, PAGE));
	SAY_RET(ibv_dontfork_range(pages, PAGES * PAGE), "dontfork of a hole");
	pages_say(pages, "refused");
}

static const char *variable, *value;

static void environment_asks(void)
{
	struct ibv_device **list;

	release = "5.4.0";
	MUST(!setenv(variable, value, 1));
	MUST(list = ibv_get_device_list(NULL));
	ibv_free_device_list(list);
	say("%s=%s: %s", variable, value,
	    ibv_is_fork_initialized() == IBV_FORK_ENABLED ? "safe" : "not safe");
}

static void by_environment(void)
{
	static const char *const variables[] = { "RDMAV_FORK_SAFE", "IBV_FORK_SAFE" };
	static const char *const values[] = { "0", "1", "", "00", "no" };

	for (size_t i = 0; i < ARRAY_SIZE(variables) * ARRAY_SIZE(values); i++) {
		variable = variables[i / ARRAY_SIZE(values)];
		value = values[i % ARRAY_SIZE(values)];
		MUST(!child_run(environment_asks));
	}
}

static const struct topic topics[] = {
	{ "old-kernel", on_old_kernel },      { "child-opens-again", child_opens_again },
	{ "not-asked-for", not_asked_for },   { "kernel-copies", kernel_copies },
	{ "asked-late", asked_late },         { "environment", by_environment },
	{ "ranges-that-go", ranges_that_go },
};

int main(int argc, char **argv)
{
	TOPICS_CHOOSE(topics, argc, argv);
	for (size_t topic = 0; topic < ARRAY_SIZE(topics); topic++)
		if (topic_begin(topics[topic].name))
			say_check(!child_run(topics[topic].run), "its process ends well");
	return topics_end();
}
