/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fork() on kernels that uname() (replaced by --wrap) makes up and that have no RDMA netlink: what
 * programs are told, and which pages are kept from children. The library asks once, so each kernel
 * gets a process.
 *
 * Covers: libibverbs/fork.c, libibverbs/verbs_buf.c, libibverbs/verbs_mr.c
 */
#include "unit.h"

#include "fake_device.h"

#include <errno.h>
#include <netlink/netlink.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE      4096ul
#define HUGE_PAGE (4 * PAGE)

int __wrap_nl_connect(struct nl_sock *sock, int protocol);
int __wrap_uname(struct utsname *system);

static const char *release;

static sem_t is_looking;
static bool looks_slowly;

int __wrap_nl_connect(struct nl_sock *sock, int protocol)
{
	(void)sock;
	(void)protocol;
	if (looks_slowly) {
		looks_slowly = false;
		sem_post(&is_looking);
		usleep(200000);
	}
	return -NLE_PROTO_MISMATCH;
}

int __wrap_uname(struct utsname *system)
{
	snprintf(system->release, sizeof(system->release), "%s", release);
	return 0;
}

/* start of the mapping that the faked smaps file reports with huge pages */
static void *huge_start;

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
	static char text[256];

	if (!huge_start || strcmp(path, "/proc/self/smaps") != 0)
		return __real_fopen(path, mode);
	snprintf(text, sizeof(text),
		 "%lx-%lx rw-p 00000000 00:00 0\nSize: 64 kB\nKernelPageSize: %lu kB\n",
		 (unsigned long)huge_start, (unsigned long)huge_start + 4 * HUGE_PAGE,
		 HUGE_PAGE / 1024);
	return fmemopen(text, strlen(text), "r");
}

/* The same call on 32-bit hosts with 64-bit file offsets */
FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return __wrap_fopen(path, mode);
}

/* A page of a mapping of device memory, as Linux refuses MADV_DOFORK there, and stops. */
static char *device_page;

int __wrap_madvise(void *addr, size_t length, int advice);
int __real_madvise(void *addr, size_t length, int advice);

int __wrap_madvise(void *addr, size_t length, int advice)
{
	char *start = addr;

	if (advice != MADV_DOFORK || device_page < start || device_page >= start + length)
		return __real_madvise(addr, length, advice);
	if (device_page > start)
		__real_madvise(start, (size_t)(device_page - start), advice);
	errno = EINVAL;
	return -1;
}

/* Runs ACT in a child, on a kernel of this release; its result is the exit status. */
static bool on_kernel(const char *name, int (*act)(void))
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		release = name;
		_exit(act());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status == 0;
}

#define CHECK(condition)                                          \
	do {                                                      \
		if (!(condition)) {                               \
			fprintf(stderr, "not: %s\n", #condition); \
			return 1;                                 \
		}                                                 \
	} while (0)

/* Returns whether children do not get the page of ADDR: smaps has the flag dc, "do not copy". */
static bool is_kept(const void *addr)
{
	unsigned long start, end;
	bool is_it = false, found = false;
	char line[512];
	FILE *smaps = fopen("/proc/self/smaps", "re");

	while (smaps && fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_it = (unsigned long)addr >= start && (unsigned long)addr < end;
		else if (is_it && !strncmp(line, "VmFlags:", 8))
			found = strstr(line, " dc");
	}
	if (smaps)
		fclose(smaps);
	return found;
}

static char *pages(unsigned int count)
{
	void *addr = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return addr == MAP_FAILED ? NULL : addr;
}

static int do_nothing(void)
{
	char *at = pages(1);

	CHECK(at && ibv_is_fork_initialized() == IBV_FORK_UNNEEDED);
	CHECK(ibv_fork_init() == 0 && ibv_is_fork_initialized() == IBV_FORK_UNNEEDED);
	CHECK(ibv_dontfork_range(at, PAGE) == 0 && !is_kept(at));
	return 0;
}

static void nothing_is_needed_where_the_kernel_copies(void **state)
{
	(void)state;
	assert_true(on_kernel("5.12.0", do_nothing));
	assert_true(on_kernel("6.1.0-30-amd64", do_nothing));
}

static int keep_pages(void)
{
	char *at = pages(4);

	CHECK(at && ibv_is_fork_initialized() == IBV_FORK_DISABLED);
	CHECK(ibv_fork_init() == 0 && ibv_is_fork_initialized() == IBV_FORK_ENABLED);
	CHECK(verbs_fork_keep(at + PAGE + 100, PAGE) == 0); /* parts of two pages */
	CHECK(!is_kept(at) && is_kept(at + PAGE) && is_kept(at + 2 * PAGE) &&
	      !is_kept(at + 3 * PAGE));
	CHECK(verbs_fork_release(at + PAGE + 100, PAGE) == 0);
	CHECK(!is_kept(at + PAGE) && !is_kept(at + 2 * PAGE));
	CHECK(munmap(at + 3 * PAGE, PAGE) == 0);
	CHECK(ibv_dontfork_range(at + 3 * PAGE, PAGE) == -1 && errno == ENOMEM);
	CHECK(ibv_dontfork_range(at + 2 * PAGE, PAGE) == 0 && munmap(at + 2 * PAGE, PAGE) == 0);
	CHECK(ibv_dofork_range(at + 2 * PAGE, PAGE) == 0); /* there is nothing to end */
	CHECK(ibv_dontfork_range(at, 2 * PAGE) == 0 && munmap(at, PAGE) == 0);
	CHECK(ibv_dofork_range(at, 2 * PAGE) == 0 && !is_kept(at + PAGE));
	return 0;
}

/* The program has put device memory in the place of page 2 of 8, and unmapped pages 1 and 4, so the
 * kernel stops at each.  */
static int release_around_device_memory(void)
{
	char *at = pages(8);

	CHECK(at && ibv_fork_init() == 0 && ibv_dontfork_range(at, 8 * PAGE) == 0);
	CHECK(munmap(at + PAGE, PAGE) == 0 && munmap(at + 4 * PAGE, PAGE) == 0);
	device_page = at + 2 * PAGE;
	CHECK(ibv_dofork_range(at, 8 * PAGE) == 0);
	CHECK(!is_kept(at) && is_kept(device_page) && !is_kept(at + 3 * PAGE));
	CHECK(!is_kept(at + 5 * PAGE) && !is_kept(at + 6 * PAGE) && !is_kept(at + 7 * PAGE));
	return 0;
}

/* Page 6 of 8 is not mapped, so the range is refused, and no page stays kept. */
static int refuse_around_device_memory(void)
{
	char *at = pages(8);

	CHECK(at && ibv_fork_init() == 0 && munmap(at + 6 * PAGE, PAGE) == 0);
	device_page = at + 2 * PAGE;
	CHECK(ibv_dontfork_range(at, 8 * PAGE) == -1 && errno == ENOMEM);
	CHECK(!is_kept(at + PAGE) && !is_kept(at + 3 * PAGE) && !is_kept(at + 7 * PAGE));
	return 0;
}

static void device_memory_keeps_no_other_pages(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", release_around_device_memory));
	assert_true(on_kernel("5.4.0", refuse_around_device_memory));
}

static void elsewhere_pages_are_kept_from_children_on_request(void **state)
{
	(void)state;
	assert_true(on_kernel("5.11.22", keep_pages));
	assert_true(on_kernel("4.18.0-553.el8", keep_pages));
	assert_true(on_kernel("unreadable", keep_pages));
}

static struct verbs_mr region;

static int region_change(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr,
			 size_t length, unsigned int access)
{
	(void)pd, (void)addr, (void)length;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		vmr->access = access;
	return 0;
}

static int region_forget(struct verbs_mr *vmr)
{
	(void)vmr;
	return 0;
}

/* On-demand regions pin nothing, so their pages stay shared, before a rereg and after it. */
static int keep_what_is_pinned(void)
{
	const struct verbs_ops ops = { .rereg_mr = region_change, .dereg_mr = region_forget };
	const int both = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS;
	struct fake_context *fake = fake_open();
	char *at = pages(2);

	CHECK(at && ibv_fork_init() == 0);
	verbs_set_ops(&fake->vctx, &ops);
	region = (struct verbs_mr){
		.mr = { .context = &fake->vctx.context, .addr = at, .length = PAGE },
		.kind = VERBS_MR_USER,
		.access = IBV_ACCESS_ON_DEMAND
	};
	CHECK(!ibv_rereg_mr(&region.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at + PAGE, PAGE, 0));
	CHECK(!is_kept(at) && !is_kept(at + PAGE));
	CHECK(!ibv_rereg_mr(&region.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	CHECK(!is_kept(at) && is_kept(at + PAGE));
	CHECK(!ibv_rereg_mr(&region.mr, both, NULL, at, PAGE, IBV_ACCESS_ON_DEMAND));
	CHECK(!is_kept(at) && !is_kept(at + PAGE));
	CHECK(!ibv_rereg_mr(&region.mr, both, NULL, at + PAGE, PAGE, 0));
	CHECK(!is_kept(at) && is_kept(at + PAGE));
	CHECK(!ibv_dereg_mr(&region.mr) && !is_kept(at + PAGE));
	fake_close(fake);
	return 0;
}

static void regions_that_change_keep_what_they_pin(void **state)
{
	(void)state;
	assert_true(on_kernel("5.10.0", keep_what_is_pinned));
}

/* Excludes [0, 3), [1, 4) and [2, 3) of six pages, and releases them in another order, as a page is
 * copied again only when the last range that has it is gone. */
static int keep_shared(void)
{
	char *at = pages(6);

	CHECK(at && ibv_fork_init() == 0);
	CHECK(!verbs_fork_keep(at, 3 * PAGE) && !verbs_fork_keep(at + PAGE, 3 * PAGE));
	CHECK(!verbs_fork_keep(at + 2 * PAGE, PAGE));
	CHECK(is_kept(at) && is_kept(at + 3 * PAGE) && !is_kept(at + 4 * PAGE));
	CHECK(!verbs_fork_release(at, 3 * PAGE));
	CHECK(!is_kept(at) && is_kept(at + PAGE) && is_kept(at + 3 * PAGE));
	CHECK(!verbs_fork_release(at + PAGE, 3 * PAGE));
	CHECK(!is_kept(at + PAGE) && is_kept(at + 2 * PAGE) && !is_kept(at + 3 * PAGE));
	CHECK(!verbs_fork_release(at + 2 * PAGE, PAGE) && !is_kept(at + 2 * PAGE));
	return 0;
}

static void a_shared_page_is_kept_until_its_last_region_is_gone(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", keep_shared));
}

/* Page 2 of 4 is not mapped. */
static int keep_a_hole(void)
{
	char *at = pages(4);

	CHECK(at && ibv_fork_init() == 0 && munmap(at + 2 * PAGE, PAGE) == 0);
	CHECK(!verbs_fork_keep(at + 3 * PAGE, PAGE));
	CHECK(verbs_fork_keep(at, 4 * PAGE) == ENOMEM);
	CHECK(!is_kept(at) && !is_kept(at + PAGE) && is_kept(at + 3 * PAGE));
	CHECK(!verbs_fork_keep(at + PAGE, PAGE));
	CHECK(verbs_fork_keep(at, 4 * PAGE) == ENOMEM);
	CHECK(!is_kept(at) && is_kept(at + PAGE) && is_kept(at + 3 * PAGE));
	CHECK(!verbs_fork_release(at + PAGE, PAGE) && !is_kept(at + PAGE));
	CHECK(!verbs_fork_release(at + 3 * PAGE, PAGE) && !is_kept(at + 3 * PAGE));
	return 0;
}

static void a_range_that_cannot_be_kept_changes_no_count(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", keep_a_hole));
}

/* Registers 2n pages, of which every other one is already excluded. */
static int keep_over_gaps(void)
{
	char *at = pages(160);

	CHECK(at && ibv_fork_init() == 0);
	for (unsigned int n = 1; n <= 80; n++) {
		CHECK(!verbs_fork_keep(at + 2 * (n - 1) * PAGE, PAGE));
		CHECK(!verbs_fork_keep(at, 2 * n * PAGE) && is_kept(at + (2 * n - 1) * PAGE));
		CHECK(!verbs_fork_release(at, 2 * n * PAGE) && !is_kept(at + PAGE));
	}
	for (unsigned int n = 0; n < 80; n++)
		CHECK(is_kept(at + 2 * n * PAGE) && !verbs_fork_release(at + 2 * n * PAGE, PAGE));
	return 0;
}

static void a_region_fills_all_gaps(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", keep_over_gaps));
}

/* ---- regions ---- */

static int answer;

static int mr_reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access,
		  struct verbs_mr **vmr)
{
	(void)iova;
	if (answer)
		return answer;
	*vmr = calloc(1, sizeof(**vmr));
	(*vmr)->mr =
		(struct ibv_mr){ .context = pd->context, .pd = pd, .addr = addr, .length = length };
	(*vmr)->kind = VERBS_MR_USER;
	(*vmr)->access = access;
	return 0;
}

static int mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    unsigned int access)
{
	(void)vmr;
	(void)flags;
	(void)pd;
	(void)addr;
	(void)length;
	(void)access;
	return answer;
}

static int mr_dereg(struct verbs_mr *vmr)
{
	if (!answer)
		free(vmr);
	return answer;
}

/* Pages are excluded from fork from a successful registration until deregistration, and in no other
 * case. */
static int keep_regions(void)
{
	const struct verbs_ops ops = { .reg_mr = mr_reg,
				       .rereg_mr = mr_rereg,
				       .dereg_mr = mr_dereg };
	struct fake_context *fake = fake_open();
	struct ibv_pd pd = { .context = &fake->vctx.context };
	char *at = pages(2);
	struct ibv_mr *mr;

	verbs_set_ops(&fake->vctx, &ops);
	CHECK(at && ibv_fork_init() == 0);
	mr = ibv_reg_mr(&pd, at, PAGE, IBV_ACCESS_ON_DEMAND);
	CHECK(mr && !is_kept(at) && !ibv_dereg_mr(mr));
	answer = EPERM;
	CHECK(!ibv_reg_mr(&pd, at, PAGE, 0) && !is_kept(at));
	answer = 0;
	mr = ibv_reg_mr(&pd, at, PAGE, 0);
	CHECK(mr && is_kept(at));
	answer = EBUSY;
	CHECK(ibv_dereg_mr(mr) == EBUSY && is_kept(at));
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at + PAGE, PAGE, 0) ==
		      IBV_REREG_MR_ERR_CMD &&
	      is_kept(at) && !is_kept(at + PAGE));
	answer = 0;
	CHECK(!ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, at + PAGE, PAGE, 0));
	CHECK(!is_kept(at) && is_kept(at + PAGE));
	CHECK(!ibv_dereg_mr(mr) && !is_kept(at + PAGE));
	fake_close(fake);
	return 0;
}

static void a_region_keeps_its_pages_while_it_is_registered(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", keep_regions));
}

static int come_too_late(void)
{
	char *at = pages(1);

	CHECK(at && !verbs_fork_keep(at, PAGE) && !is_kept(at));
	CHECK(ibv_fork_init() == EINVAL && ibv_is_fork_initialized() == IBV_FORK_DISABLED);
	return 0;
}

static void after_the_first_region_it_is_too_late(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", come_too_late));
}

/* Compares random regions of 24 pages with a count per page. */
static int keep_at_random(void)
{
	struct {
		unsigned int first, count;
	} regions[40] = {};
	unsigned int counts[24] = {}, seed = 7;
	char *at = pages(24);

	CHECK(at && ibv_fork_init() == 0);
	for (int step = 0; step < 2000; step++) {
		unsigned int r = (unsigned int)rand_r(&seed) % 40, *n = &regions[r].count;

		if (*n) {
			CHECK(!verbs_fork_release(at + regions[r].first * PAGE, *n * PAGE));
			for (unsigned int i = 0; i < *n; i++)
				counts[regions[r].first + i]--;
			*n = 0;
		} else {
			regions[r].first = (unsigned int)rand_r(&seed) % 24;
			*n = 1 + (unsigned int)rand_r(&seed) % (24 - regions[r].first);
			CHECK(!verbs_fork_keep(at + regions[r].first * PAGE, *n * PAGE));
			for (unsigned int i = 0; i < *n; i++)
				counts[regions[r].first + i]++;
		}
		for (unsigned int i = step % 24; i < 24 && step % 7 == 0; i += 5)
			CHECK(is_kept(at + i * PAGE) == (counts[i] > 0));
	}
	return 0;
}

static void counts_survive_any_order(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", keep_at_random));
}

static int obey_the_environment(void)
{
	setenv("RDMAV_FORK_SAFE", "1", 1);
	verbs_fork_init_from_environment();
	CHECK(ibv_is_fork_initialized() == IBV_FORK_ENABLED);
	return 0;
}

static int heed_a_0(void)
{
	setenv("RDMAV_FORK_SAFE", "0", 1);
	setenv("IBV_FORK_SAFE", "0", 1);
	verbs_fork_init_from_environment();
	CHECK(ibv_is_fork_initialized() == IBV_FORK_DISABLED);
	return 0;
}

static void the_environment_can_ask_for_it(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", heed_a_0));
	assert_true(on_kernel("5.4.0", obey_the_environment));
}

/* Registers one page in the middle of the second of four huge pages. */
static char *keep_in_a_huge_page(void)
{
	char *at = mmap(NULL, 5 * HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	char *aligned = (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));

	if (at == MAP_FAILED || ibv_fork_init())
		return NULL;
	huge_start = aligned;
	if (verbs_fork_keep(aligned + HUGE_PAGE + PAGE, PAGE))
		return NULL;
	huge_start = NULL; /* NULL, so that is_kept() reads the real file */
	return aligned;
}

static int keep_whole_huge_pages(void)
{
	char *at;

	setenv("RDMAV_HUGEPAGES_SAFE", "0", 1); /* the value does not matter */
	at = keep_in_a_huge_page();
	CHECK(at && !is_kept(at + HUGE_PAGE - PAGE) && is_kept(at + HUGE_PAGE));
	CHECK(is_kept(at + HUGE_PAGE + 3 * PAGE) && !is_kept(at + 2 * HUGE_PAGE));
	huge_start = at;
	CHECK(!verbs_fork_release(at + HUGE_PAGE + PAGE, PAGE));
	huge_start = NULL;
	CHECK(!is_kept(at + HUGE_PAGE) && !is_kept(at + HUGE_PAGE + 3 * PAGE));
	return 0;
}

static int keep_small_pages(void)
{
	char *at;

	unsetenv("RDMAV_HUGEPAGES_SAFE");
	at = keep_in_a_huge_page();
	CHECK(at && !is_kept(at + HUGE_PAGE) && is_kept(at + HUGE_PAGE + PAGE));
	CHECK(!is_kept(at + HUGE_PAGE + 2 * PAGE));
	return 0;
}

/* The program maps pages of another size at the address of a region before the region's end. */
static int release_by_the_size_of_then(void)
{
	char *at;

	setenv("RDMAV_HUGEPAGES_SAFE", "1", 1);
	CHECK(!ibv_fork_init());
	at = keep_in_a_huge_page();
	CHECK(at);
	CHECK(!verbs_fork_release(at + HUGE_PAGE + PAGE, PAGE)); /* small pages now */
	CHECK(!is_kept(at + HUGE_PAGE) && !is_kept(at + HUGE_PAGE + 3 * PAGE));
	CHECK(!verbs_fork_keep(at, PAGE) && !verbs_fork_keep(at + PAGE, PAGE));
	huge_start = at; /* huge pages now */
	CHECK(!verbs_fork_release(at, PAGE));
	huge_start = NULL;
	CHECK(!is_kept(at) && is_kept(at + PAGE));
	return 0;
}

/* A part of what was kept is released by the size that its pages have. */
static int release_of_a_part(void)
{
	char *at;

	setenv("RDMAV_HUGEPAGES_SAFE", "1", 1);
	CHECK(!ibv_fork_init());
	at = keep_in_a_huge_page();
	CHECK(at);
	huge_start = at;
	CHECK(!verbs_fork_release(at + HUGE_PAGE, 2 * PAGE));
	huge_start = NULL;
	CHECK(!is_kept(at + HUGE_PAGE + 3 * PAGE));
	return 0;
}

/* Small and huge pages are kept at one address in turn: the last size counts first. */
static int release_in_turn(void)
{
	char *at = NULL;

	setenv("RDMAV_HUGEPAGES_SAFE", "1", 1);
	CHECK(!ibv_fork_init());
	at = pages(3 * 4 * HUGE_PAGE / PAGE);
	CHECK(at);
	at = (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	CHECK(!verbs_fork_keep(at + HUGE_PAGE, PAGE));
	CHECK(!verbs_fork_keep(at, PAGE)); /* small */
	CHECK(!verbs_fork_keep(at + PAGE, PAGE));
	huge_start = at;
	CHECK(!verbs_fork_keep(at, PAGE)); /* huge */
	huge_start = NULL;
	CHECK(!verbs_fork_release(at + HUGE_PAGE, PAGE)); /* closes a gap before both */
	CHECK(!verbs_fork_release(at, PAGE));
	CHECK(is_kept(at) && is_kept(at + PAGE) && !is_kept(at + 2 * PAGE));
	return 0;
}

static void pages_are_released_by_the_size_they_were_kept_by(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", release_in_turn));
	assert_true(on_kernel("5.4.0", release_by_the_size_of_then));
	assert_true(on_kernel("5.4.0", release_of_a_part));
}

static void huge_pages_are_kept_whole_on_request(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", keep_whole_huge_pages));
	assert_true(on_kernel("5.4.0", keep_small_pages));
}

static void *devices_look(void *unused)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list)
		ibv_free_device_list(list);
	return unused;
}

/* Runs in a process of its own, as a forked child must not wait for a thread that it does not
 * have. */
static int fork_while_a_thread_looks(void)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	CHECK(!sem_init(&is_looking, 0, 0));
	devices_look(NULL);
	looks_slowly = true;
	CHECK(!pthread_create(&thread, NULL, devices_look, NULL) && !sem_wait(&is_looking));
	child = fork();
	if (!child) {
		alarm(5);
		devices_look(NULL);
		/* _exit() of ThreadSanitizer would report the missing thread */
		syscall(SYS_exit_group, 0);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!pthread_join(thread, NULL));
	devices_look(NULL);
	return 0;
}

static void a_child_looks_for_devices_itself(void **state)
{
	(void)state;
	assert_true(on_kernel("6.1.0", fork_while_a_thread_looks));
}

static struct verbs_pci_id *ids_out_of_reach;
static pid_t handlers_child;

static void fork_in_handler(int signal)
{
	(void)signal;
	handlers_child = fork();
	if (!handlers_child)
		_exit(0);
	mprotect(ids_out_of_reach, PAGE, PROT_READ | PROT_WRITE);
}

/* The loader compares a driver's table with the device under its lock, so the signal interrupts it
 * there. */
static int fork_within_the_loader(void)
{
	static struct verbs_driver driver = { .name = "late", .magic = VERBS_DRIVER_MAGIC };
	const struct verbs_device_info info = { .pci = { .vendor = 1, .device = 1 } };
	struct sigaction action = { .sa_handler = fork_in_handler };
	int status = -1;

	devices_look(NULL); /* watches forks from now on, so later ones are seen */
	ids_out_of_reach = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(ids_out_of_reach != MAP_FAILED);
	driver.pci_ids = ids_out_of_reach;
	verbs_register_driver(&driver);
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	alarm(30);
	CHECK(!verbs_loader_match(&info));
	CHECK(waitpid(handlers_child, &status, 0) == handlers_child && !status);
	return 0;
}

static void a_handler_that_interrupts_the_loader_may_fork(void **state)
{
	(void)state;
	assert_true(on_kernel("6.1.0", fork_within_the_loader));
}

static enum ibv_fork_status status_at_fork;

static void status_ask(void)
{
	status_at_fork = ibv_is_fork_initialized();
}

/* The C library runs the handler that was added last first, so that of ibv_fork_init() before this
 * one. The alarm ends a wait for its lock. */
static int a_fork_with_an_older_handler(void)
{
	pid_t child;

	alarm(60);
	CHECK(!pthread_atfork(status_ask, NULL, NULL) && !ibv_fork_init());
	child = fork();
	if (!child)
		_exit(0);
	CHECK(child > 0 && waitpid(child, NULL, 0) == child);
	CHECK(status_at_fork == IBV_FORK_ENABLED);
	return 0;
}

static void an_older_handler_of_fork_may_ask(void **state)
{
	(void)state;
	assert_true(on_kernel("5.4.0", a_fork_with_an_older_handler));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_looks_for_devices_itself),
		cmocka_unit_test(nothing_is_needed_where_the_kernel_copies),
		cmocka_unit_test(an_older_handler_of_fork_may_ask),
		cmocka_unit_test(elsewhere_pages_are_kept_from_children_on_request),
		cmocka_unit_test(device_memory_keeps_no_other_pages),
		cmocka_unit_test(regions_that_change_keep_what_they_pin),
		cmocka_unit_test(a_shared_page_is_kept_until_its_last_region_is_gone),
		cmocka_unit_test(a_range_that_cannot_be_kept_changes_no_count),
		cmocka_unit_test(a_region_fills_all_gaps),
		cmocka_unit_test(a_region_keeps_its_pages_while_it_is_registered),
		cmocka_unit_test(after_the_first_region_it_is_too_late),
		cmocka_unit_test(counts_survive_any_order),
		cmocka_unit_test(the_environment_can_ask_for_it),
		cmocka_unit_test(huge_pages_are_kept_whole_on_request),
		cmocka_unit_test(pages_are_released_by_the_size_they_were_kept_by),
		cmocka_unit_test(a_handler_that_interrupts_the_loader_may_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
