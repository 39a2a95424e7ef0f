/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * front.c - guarantees of the kernel to programs with an adapter, for any libraries: descriptors
 * keep their meaning, and the adapter reaches memory as long as it is mapped.
 *
 * Covers: softhca/front/process/fd_number.c, softhca/front/process/client.c,
 * softhca/front/process/program/address_space.c, softhca/front/process/uverbs/file.c,
 * softhca/front/process/paths.c, softhca/front/process/program/cwd.c,
 * softhca/front/process/driver/adapter_port.c, softhca/front/process/uverbs/qp/modify.c,
 * softhca/front/process/holder/holder.c
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "tests/lib/rig.h"
#include "tests/lib/rights.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

static const char cm_file[] = "/dev/infiniband/rdma_cm";

enum {
	SELECT_NUMBERS = 1024,
	FILES = 30000, /* of the program's own, while others open an adapter's */
	LOOKS = 50,    /* at each */
	OPENERS = 2,
	LIMIT = 2500, /* limit of descriptors for a process that opens as many as it can */
	SPARE = 10,   /* for its other descriptors */
};

static atomic_bool enough;

static void *open_and_close(void *arg)
{
	atomic_long *opens = arg;

	while (!enough) {
		int fd = open(cm_file, O_RDWR | O_CLOEXEC);

		MUST(fd >= 0);
		(*opens)++;
		close(fd);
	}
	return NULL;
}

/* Returns how many files of the program have become pipes, by a call that softhca never answers. */
static int count_changed(void)
{
	int changed = 0;

	for (int i = 0; i < FILES; i++) {
		int fd = memfd_create("mine", MFD_CLOEXEC);

		MUST(fd >= 0);
		for (int look = 0; look < LOOKS; look++)
			changed += lseek(fd, 0, SEEK_CUR) < 0;
		close(fd);
	}
	return changed;
}

static void numbers_filled(int *filler, int count)
{
	pthread_t thread[OPENERS];
	atomic_long opens = 0;

	for (int i = 0; i < count; i++)
		MUST((filler[i] = dup(STDIN_FILENO)) >= 0);
	enough = false;
	for (int i = 0; i < OPENERS; i++)
		MUST(!pthread_create(&thread[i], NULL, open_and_close, &opens));
	say_check(!count_changed(), "with %d descriptors, files stay what they are", count);
	enough = true;
	for (int i = 0; i < OPENERS; i++)
		MUST(!pthread_join(thread[i], NULL));
	say_check(opens > 0, "while other threads open files of adapters");
	for (int i = 0; i < count; i++)
		close(filler[i]);
}

/* Few or no numbers are free below the ones that softhca gives. */
static void numbers(void)
{
	static int filler[SELECT_NUMBERS];

	numbers_filled(filler, 520);
	numbers_filled(filler, 507);
}

/* A process can open adapter files up to its limit of descriptors, and calls on each succeed. */
static void many(void)
{
	static int files[LIMIT];
	struct rlimit before, limit;
	int count = 0, devices = 0, most;
	struct stat st;

	MUST(!getrlimit(RLIMIT_NOFILE, &before));
	most = before.rlim_max < LIMIT ? (int)before.rlim_max : LIMIT;
	limit = (struct rlimit){ most, before.rlim_max };
	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
	for (; count < most && (files[count] = open(cm_file, O_RDWR | O_CLOEXEC)) >= 0; count++)
		devices += !fstat(files[count], &st) && S_ISCHR(st.st_mode);
	say_check(count == most || errno == EMFILE, "there are no more: EMFILE");
	/* Numbers too low to be watched are other files', so a few may be missing. */
	say_check(count >= most - 512 - SPARE, "a limit of descriptors is one of files");
	say_check(devices == count, "each is a device");
	for (int i = 0; i < count; i++)
		close(files[i]);
	MUST(!setrlimit(RLIMIT_NOFILE, &before));
}

enum { BYTES = 4096 };

static uint8_t *map_pages(int how)
{
	uint8_t *at = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS, -1, 0);

	MUST(at != MAP_FAILED);
	return at;
}

static void write_post(struct ibv_qp *qp, const struct ibv_sge *from, uint64_t to, uint32_t rkey)
{
	struct ibv_sge sge = *from;
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { to, rkey } };
	struct ibv_send_wr *bad;

	MUST(!ibv_post_send(qp, &wr, &bad));
}

static struct ibv_qp *qp_make(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct rig_conf conf = rig_conf_default();
	struct ibv_qp *qp = rig_qp_create(pd, &conf, cq);

	MUST(qp);
	return qp;
}

static void qp_connect(const struct rig *rig, struct ibv_qp *qp, uint32_t peer)
{
	struct rig_conf conf = rig_conf_default();

	rig_qp_to(rig, &conf, qp, peer, IBV_QPS_RTS);
}

/* A QP of an imported device, and a region of its or of the first process, in this one. */
static void importer_write(int fd, uint32_t pd_handle, uint32_t mr_handle, bool own,
			   uint8_t *shared)
{
	struct rig rig = { .ctx = ibv_import_device(fd) };
	struct ibv_sge from = { (uintptr_t)shared, BYTES, 0 };
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_wc wc;

	MUST(rig.ctx && !ibv_query_port(rig.ctx, RIG_PORT, &rig.port));
	MUST(!ibv_query_gid(rig.ctx, RIG_PORT, 0, &rig.gid));
	MUST(pd = ibv_import_pd(rig.ctx, pd_handle));
	mr = own ? ibv_reg_mr(pd, shared, 2 * BYTES, IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE)
		 : ibv_import_mr(pd, mr_handle);
	MUST(mr && (cq = ibv_create_cq(rig.ctx, 16, NULL, NULL, 0)));
	qp = qp_make(pd, cq);
	qp_connect(&rig, qp, qp->qp_num);
	from.lkey = mr->lkey;
	write_post(qp, &from, (uintptr_t)shared + BYTES, mr->rkey);
	MUST(rig_poll(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && (!own || !ibv_dereg_mr(mr)));
}

static int child_status(pid_t child)
{
	int status = -1;

	MUST(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

static void import_in_child(struct rig *rig, bool own)
{
	uint8_t *shared = map_pages(MAP_SHARED);
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_mr *mr;
	pid_t child;

	MUST(pd);
	MUST(mr = ibv_reg_mr(pd, shared, 2 * BYTES, IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
	memset(shared, 0x5a, BYTES);
	fflush(stdout);
	child = fork();
	if (!child) {
		importer_write(dup(rig->ctx->cmd_fd), pd->handle, mr->handle, own, shared);
		_exit(0);
	}
	say_check(!child_status(child), "a QP of an imported device, a region of %s process",
		  own ? "its" : "the first");
	say_check(!memcmp(shared, shared + BYTES, BYTES), "the data are there");
	MUST(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !munmap(shared, 2 * BYTES));
}

static void imports(void)
{
	struct rig rig;

	rig_open(&rig);
	import_in_child(&rig, false);
	import_in_child(&rig, true);
	rig_close(&rig);
}

enum { PASSERS = 4200 }; /* more than there are slots for processes */

static void short_children(void)
{
	struct rig rig;
	int served = 0;

	rig_open(&rig);
	fflush(stdout);
	for (int i = 0; i < PASSERS; i++) {
		pid_t child = fork();

		if (!child) {
			struct ibv_pd *pd = ibv_alloc_pd(rig.ctx);

			_exit(!pd || ibv_dealloc_pd(pd));
		}
		served += !child_status(child);
	}
	say_check(served == PASSERS, "%d of %d children one after the other are served", served,
		  PASSERS);
	rig_close(&rig);
	rig_open(&rig);
	rig_close(&rig);
}

/* The status of a WRITE to memory that can only be read meanwhile; ON_DEMAND: of such a region. */
static enum ibv_wc_status write_to_readable(struct rig *rig, unsigned int on_demand)
{
	uint8_t *at = map_pages(MAP_PRIVATE);
	struct ibv_sge from = { (uintptr_t)at, BYTES, 0 };
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	MUST(pd && cq);
	MUST(mr = ibv_reg_mr(pd, at, 2 * BYTES,
			     IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE | on_demand));
	qp = qp_make(pd, cq);
	qp_connect(rig, qp, qp->qp_num);
	from.lkey = mr->lkey;
	write_post(qp, &from, (uintptr_t)at + BYTES, mr->rkey);
	MUST(rig_poll(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	MUST(!mprotect(at + BYTES, BYTES, PROT_READ));
	write_post(qp, &from, (uintptr_t)at + BYTES, mr->rkey);
	MUST(rig_poll(cq, 1, &wc) == 1);
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dereg_mr(mr));
	MUST(!ibv_dealloc_pd(pd) && !munmap(at, 2 * BYTES));
	return wc.status;
}

static void rights(void)
{
	struct rig rig;

	rig_open(&rig);
	say_check(write_to_readable(&rig, IBV_ACCESS_ON_DEMAND) != IBV_WC_SUCCESS,
		  "memory on demand is what the program can write when it is written");
	rig_close(&rig);
}

static int set_qkey(const struct rig *rig, uint32_t qkey)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct ibv_cq *cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_UD
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RIG_PORT, .qkey = qkey };
	struct ibv_qp *qp;

	MUST(pd && cq && (qp = ibv_create_qp(pd, &init)));
	return ibv_modify_qp(qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

/* Runs in a child, as it drops all privileges. */
static void privileges(void)
{
	struct rig rig;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		rig_open(&rig);
		MUST(!rights_drop());
		MUST(!set_qkey(&rig, 0x7fffffff));
		_exit(set_qkey(&rig, 0x80000001) != EPERM);
	}
	say_check(!child_status(child), "a Q_Key of the administration's: EPERM");
}

static int open_again(int fd, const char *form)
{
	char path[64];

	snprintf(path, sizeof(path), form, fd);
	return open(path, O_RDWR | O_CLOEXEC);
}

static bool is_same_device(int fd, int other)
{
	struct stat one, two;

	return !fstat(fd, &one) && !fstat(other, &two) && S_ISCHR(one.st_mode) &&
	       one.st_rdev == two.st_rdev;
}

/* What was there before is not the new file's, so it does not go with it. */
static void device_file_is_opened_again(void)
{
	int cm = open(cm_file, O_RDWR | O_CLOEXEC), other;
	struct ibv_pd *pd;
	struct rig rig;

	rig_open(&rig);
	other = open_again(rig.ctx->cmd_fd, "/proc/self/fd/%d");
	say_check(other >= 0 && is_same_device(rig.ctx->cmd_fd, other), "a file of verbs again");
	say_check(!close(other), "which is closed");
	usleep(100000); /* so that the first would go */
	pd = ibv_alloc_pd(rig.ctx);
	say_check(pd, "the first one has its context");
	MUST(!pd || !ibv_dealloc_pd(pd));
	other = open_again(cm, "/dev/fd/%d");
	say_check(other >= 0 && is_same_device(cm, other), "a file of rdma_cm again");
	MUST(!close(other) && !close(cm));
	rig_close(&rig);
}

/* Where the memory is, before and after. */
#define HEIR_ADDRESS ((void *)(uintptr_t)0x200000000000)

static uint8_t *heir_map(void)
{
	uint8_t *at = mmap(HEIR_ADDRESS, BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	MUST(at == HEIR_ADDRESS);
	memset(at, 0, BYTES);
	return at;
}

enum { HEIR_HEARS = 700, HEIR_SAYS }; /* descriptors of pipes */

/* The new program: reports its start, waits, and checks its memory. */
static int heir_main(void)
{
	const uint8_t *at = heir_map();
	char byte = 0;

	MUST(write(HEIR_SAYS, &byte, 1) == 1 && read(HEIR_HEARS, &byte, 1) == 1);
	for (int i = 0; i < BYTES; i++)
		if (at[i])
			return 1;
	return 0;
}

struct key {
	uint32_t qpn, rkey;
};

/* The program before it: registers its memory, connects, and leaves the device file open. */
static void heir_begin(void)
{
	uint8_t *at = heir_map();
	struct key key = { 0 };
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t peer;
	struct rig rig;

	rig_open(&rig);
	MUST((pd = ibv_alloc_pd(rig.ctx)) && (cq = ibv_create_cq(rig.ctx, 16, NULL, NULL, 0)));
	MUST(mr = ibv_reg_mr(pd, at, BYTES, IBV_ACCESS_LOCAL_WRITE | RIG_ALL_REMOTE));
	qp = qp_make(pd, cq);
	key = (struct key){ qp->qp_num, mr->rkey };
	MUST(write(HEIR_SAYS, &key, sizeof(key)) == sizeof(key));
	MUST(read(HEIR_HEARS, &peer, sizeof(peer)) == sizeof(peer));
	qp_connect(&rig, qp, peer);
	MUST(!fcntl(rig.ctx->cmd_fd, F_SETFD, 0));
	execl("/proc/self/exe", "verbs-front", "--heir", NULL);
	_exit(2);
}

static pid_t heir_start(int *hears, int *says)
{
	int to[2], from[2];
	pid_t child;

	MUST(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
	fflush(stdout);
	child = fork();
	if (!child) {
		MUST(dup2(to[0], HEIR_HEARS) >= 0 && dup2(from[1], HEIR_SAYS) >= 0);
		heir_begin();
	}
	close(to[0]);
	close(from[1]);
	*says = to[1];
	*hears = from[0];
	return child;
}

/* Incoming data, if any, goes to memory that no process has mapped any more. */
static void after_exec(void)
{
	static uint8_t bytes[BYTES];
	struct ibv_sge from = { (uintptr_t)bytes, BYTES, 0 };
	int hears, says;
	pid_t child = heir_start(&hears, &says);
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_wc wc;
	struct key key;
	struct rig rig;
	char byte = 0;

	rig_open(&rig);
	memset(bytes, 0x77, BYTES);
	MUST((pd = ibv_alloc_pd(rig.ctx)) && (cq = ibv_create_cq(rig.ctx, 16, NULL, NULL, 0)));
	MUST(mr = ibv_reg_mr(pd, bytes, BYTES, IBV_ACCESS_LOCAL_WRITE));
	qp = qp_make(pd, cq);
	MUST(read(hears, &key, sizeof(key)) == sizeof(key));
	MUST(write(says, &qp->qp_num, sizeof(qp->qp_num)) == sizeof(qp->qp_num));
	qp_connect(&rig, qp, key.qpn);
	MUST(read(hears, &byte, 1) == 1);
	from.lkey = mr->lkey;
	write_post(qp, &from, (uintptr_t)HEIR_ADDRESS, key.rkey);
	say_check(rig_poll(cq, 1, &wc) == 1, "a WRITE to a region of before completes");
	MUST(write(says, &byte, 1) == 1);
	say_check(!child_status(child), "the program that was executed does not see it");
	close(says);
	close(hears);
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dereg_mr(mr));
	MUST(!ibv_dealloc_pd(pd));
	rig_close(&rig);
}

/* ---- getcwd(), and partitions, as on Linux ---- */

/* The kernel's getcwd() needs room for the NUL, and returns the length with it, so softhca must do
 * the same. */
static void directory(void)
{
	static const char place[] = "/sys/class/infiniband";
	char path[sizeof(place) + 1];

	MUST(!chdir(place));
	memset(path, 'x', sizeof(path));
	errno = 0;
	say_check(syscall(SYS_getcwd, path, sizeof(place) - 1) == -1 && errno == ERANGE,
		  "no room for the NUL");
	say_check(path[0] == 'x', "nothing is written");
	say_check(syscall(SYS_getcwd, path, sizeof(place)) == sizeof(place), "room for it");
	say_check(!strcmp(path, place) && path[sizeof(place)] == 'x', "and that is all");
	MUST(!chdir("/"));
}

/* Every port is a full member of the default partition, which is the first of its table. */
static void partitions(void)
{
	unsigned int others = 0;
	__be16 pkey = 0;
	struct rig rig;

	rig_open(&rig);
	say_check(!ibv_query_pkey(rig.ctx, RIG_PORT, 0, &pkey) && pkey == htobe16(0xffff),
		  "the first is the default");
	for (int i = 1; i < rig.port.pkey_tbl_len; i++)
		others += ibv_query_pkey(rig.ctx, RIG_PORT, i, &pkey) || pkey;
	say_check(!others, "and there are no others");
	rig_close(&rig);
}

static int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

static void process_read(pid_t pid, const char *what, char *text, size_t size)
{
	char path[64];
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	MUST(file = fopen(path, "r"));
	len = fread(text, 1, size - 1, file);
	text[len] = 0;
	fclose(file);
}

static pid_t process_parent(pid_t pid)
{
	char text[512];
	int parent;

	process_read(pid, "stat", text, sizeof(text));
	MUST(strrchr(text, ')') && sscanf(strrchr(text, ')') + 1, " %*c %d", &parent) == 1);
	return parent;
}

/* Returns the nearest ancestor of that name: the one that has started this program. */
static pid_t softhca_find(void)
{
	char name[32] = "";
	pid_t pid = getpid();

	while (strcmp(name, "softhca\n")) {
		pid = process_parent(pid);
		MUST(pid > 1);
		process_read(pid, "comm", name, sizeof(name));
	}
	return pid;
}

/* Returns the number of descriptors in softhca's processes, which are children of RUNNER. */
static int count_softhca_files(pid_t runner)
{
	char children[512], what[64], name[32], path[64];
	int count = 0;

	snprintf(what, sizeof(what), "task/%d/children", (int)runner);
	process_read(runner, what, children, sizeof(children));
	for (char *at = strtok(children, " "); at; at = strtok(NULL, " ")) {
		process_read(atoi(at), "comm", name, sizeof(name));
		snprintf(path, sizeof(path), "/proc/%d/fd", atoi(at));
		if (!strcmp(name, "softhca\n"))
			count += count_entries(path);
	}
	return count;
}

static void contexts_come_and_go(int times)
{
	struct rig rig;

	while (times--) {
		rig_open(&rig);
		rig_close(&rig);
	}
}

/* A process keeps the other end of each event file for the program, so it must drop it with the
 * program's. */
static void leftovers(void)
{
	enum { TIMES = 30, AS_MANY = 4 };
	pid_t runner = softhca_find();
	int before, after;

	contexts_come_and_go(2);
	before = count_softhca_files(runner);
	MUST(before > 0);
	contexts_come_and_go(TIMES);
	after = count_softhca_files(runner);
	say_check(after < before + AS_MANY, "contexts that are closed leave no descriptors");
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = {
		{ "numbers", numbers },       { "many", many },
		{ "imports", imports },       { "rights", rights },
		{ "privileges", privileges }, { "again", device_file_is_opened_again },
		{ "exec", after_exec },       { "passers", short_children },
		{ "directory", directory },   { "partitions", partitions },
		{ "leftovers", leftovers },
	};

	if (argc == 2 && !strcmp(argv[1], "--heir"))
		return heir_main();
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
