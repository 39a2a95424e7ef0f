/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio_faults.c - an adapter that the library drives by VFIO, with a fault at each step of its
 * life: each command of the queue, and each request to the kernel. After each one, the next program
 * finds an adapter that works.
 *
 * Covers: providers/mlx5/vfio/, softhca/front/process/vfio/
 */
#include <dirent.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <linux/vfio.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/control.h"
#include "tests/lib/topics.h"

enum {
	PAGE = 4096,
	MRS = 10, /* enough that firmware asks for pages */
	LEAST_STEPS = 20,
};

static void *memory;

/* Counters of the adapter: requests to the kernel, and commands of the queue. */
struct counts {
	unsigned long requests, queued;
};

static struct counts counts_now(void)
{
	struct counts counts;
	unsigned long executed, objects;
	char answer[64];

	adapter_ask("state", answer, sizeof(answer));
	MUST(sscanf(answer, "%lu %lu %lu %lu", &counts.requests, &executed, &objects,
		    &counts.queued) == 4);
	return counts;
}

static unsigned int descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	unsigned int count = 0;

	MUST(all);
	while (readdir(all))
		count++;
	closedir(all);
	return count;
}

static struct ibv_context *open_adapter(void)
{
	struct mlx5dv_vfio_context_attr attr = { .pci_name = "5fca:02:00.0" };
	struct ibv_device **list = mlx5dv_get_vfio_device_list(&attr);
	struct ibv_context *ctx;

	MUST(list && list[0]);
	errno = 0;
	ctx = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	return ctx;
}

/* Results of a life: errnos, or 0. */
struct life {
	int open, use, close;
	struct counts opened, used; /* when it was open, and when it was used */
};

static int first_of(int ret, int err)
{
	return ret ? ret : err;
}

static int use_vector(struct ibv_context *ctx)
{
	struct mlx5dv_devx_msi_vector *msi = mlx5dv_devx_alloc_msi_vector(ctx);

	return msi ? mlx5dv_devx_free_msi_vector(msi) : errno;
}

static int use_mrs(struct ibv_pd *pd)
{
	struct ibv_mr *mr[MRS];
	unsigned int count = 0;
	int ret = 0;

	while (count < MRS && (mr[count] = ibv_reg_mr(pd, memory, PAGE, IBV_ACCESS_LOCAL_WRITE)))
		count++;
	if (count < MRS)
		ret = errno;
	/* one that stays is destroyed the second time, unless the adapter is lost */
	while (count--) {
		int err = ibv_dereg_mr(mr[count]);

		if (err)
			ibv_dereg_mr(mr[count]);
		ret = first_of(ret, err);
	}
	return ret;
}

static int use_adapter(struct ibv_context *ctx)
{
	int ret = use_vector(ctx), err;
	struct ibv_pd *pd = ibv_alloc_pd(ctx);

	if (!pd)
		return first_of(ret, errno);
	ret = first_of(ret, use_mrs(pd));
	err = ibv_dealloc_pd(pd);
	if (err)
		ibv_dealloc_pd(pd);
	ret = first_of(ret, err);
	return first_of(ret, mlx5dv_vfio_process_events(ctx));
}

static void adapter_live(struct life *life)
{
	struct ibv_context *ctx = open_adapter();

	*life = (struct life){ .open = ctx ? 0 : errno };
	if (!ctx)
		return;
	life->opened = counts_now();
	life->use = use_adapter(ctx);
	life->used = counts_now();
	life->close = ibv_close_device(ctx);
}

static bool adapter_lives(void)
{
	struct life life;

	adapter_live(&life);
	return !life.open && !life.use && !life.close;
}

/* Numbers of the last step of the open, of the use and of the close. */
struct steps {
	unsigned long open, use, close;
};

static void count_steps(struct steps *requests, struct steps *queued)
{
	struct counts before = counts_now(), after;
	struct life life;

	adapter_live(&life);
	MUST(!life.open && !life.use && !life.close);
	after = counts_now();
	*requests = (struct steps){ life.opened.requests - before.requests,
				    life.used.requests - before.requests,
				    after.requests - before.requests };
	*queued = (struct steps){ life.opened.queued - before.queued,
				  life.used.queued - before.queued, after.queued - before.queued };
	MUST(queued->open >= 10 && queued->use > queued->open && queued->close > queued->use);
	MUST(queued->close >= LEAST_STEPS && requests->close >= LEAST_STEPS);
}

/* Which results a fault may have. A fault of 0 may also have none. */
struct outcome {
	int errs[3];
	bool may_pass; /* the step may be optional, or be repeated */
};

static bool is_one_of(int err, const struct outcome *outcome)
{
	for (size_t i = 0; i < ARRAY_SIZE(outcome->errs); i++)
		if (err && err == outcome->errs[i])
			return true;
	return !err && outcome->may_pass;
}

static bool fits(const struct life *life, unsigned long step, const struct steps *steps,
		 const struct outcome *outcome)
{
	if (step <= steps->open && !is_one_of(life->open, outcome))
		return false;
	if (step > steps->open && life->open)
		return false;
	if (step > steps->open && step <= steps->use && !is_one_of(life->use, outcome))
		return false;
	return !life->close;
}

/* Runs a life with the fault at one step, and then two without. The second starts while a late
 * answer may still be on its way. */
static bool survives(const char *fault, unsigned long step, const struct steps *steps,
		     const struct outcome *outcome)
{
	const unsigned int open_files = descriptors();
	struct life life;

	adapter_tell(fault);
	adapter_live(&life);
	if (!fits(&life, step, steps, outcome)) {
		say("%s: open %s, use %s, close %s", fault, say_errno(life.open),
		    say_errno(life.use), say_errno(life.close));
		return false;
	}
	if (descriptors() != open_files) {
		say("%s: a descriptor stays open", fault);
		return false;
	}
	if (adapter_lives() && adapter_lives())
		return true;
	say("%s: the next program finds no adapter", fault);
	return false;
}

/* FORMAT has a place for the number of the step. */
static void fault_at_each(const char *format, const struct steps *steps,
			  const struct outcome *outcome)
{
	unsigned long survived = 0;
	char fault[64];

	for (unsigned long step = 1; step <= steps->close; step++) {
		snprintf(fault, sizeof(fault), format, step);
		survived += survives(fault, step, steps, outcome);
	}
	say_check(survived == steps->close && survived >= LEAST_STEPS, "all steps");
}

static void run_refused(void)
{
	static const struct outcome outcome = { { EIO }, true };
	struct steps requests, queued;

	count_steps(&requests, &queued);
	fault_at_each("cmd-refuse:%lu", &queued, &outcome);
}

static void run_silent(void)
{
	static const struct outcome outcome = { { ETIMEDOUT, EIO }, false };
	struct steps requests, queued;

	count_steps(&requests, &queued);
	fault_at_each("cmd-timeout:%lu", &queued, &outcome);
}

static unsigned int command_ms(void)
{
	const char *text = getenv("COMMAND_MS");

	MUST(text && atoi(text) > 0);
	return (unsigned int)atoi(text);
}

static void run_slow(void)
{
	static const struct outcome outcome = { { 0 }, true };
	struct steps requests, queued;
	char format[64];

	count_steps(&requests, &queued);
	snprintf(format, sizeof(format), "cmd-late:%%lu+%u", command_ms() / 10);
	fault_at_each(format, &queued, &outcome);
}

/* The answer would come when the library has waited its time, and has looked again as long. */
static void run_late(void)
{
	static const struct outcome outcome = { { ETIMEDOUT, EIO }, false };
	struct steps requests, queued;
	char format[64];

	count_steps(&requests, &queued);
	snprintf(format, sizeof(format), "cmd-late:%%lu+%u", command_ms() * 5 / 2);
	fault_at_each(format, &queued, &outcome);
}

static void run_unplugged(void)
{
	static const struct outcome outcome = { { EIO }, false };
	struct steps requests, queued;

	count_steps(&requests, &queued);
	fault_at_each("unplug:%lu", &queued, &outcome);
}

/* Memory for the device and for pages of firmware is refused, and all else that the kernel is asked
 * for. */
static void run_requests(void)
{
	static const struct outcome outcome = { { ENOMEM, EIO, EOPNOTSUPP }, true };
	struct steps requests, queued;

	count_steps(&requests, &queued);
	fault_at_each("cmd:%lu=ENOMEM", &requests, &outcome);
}

static int in_child(void (*run)(void))
{
	pid_t child = fork();
	int status;

	MUST(child >= 0);
	if (!child) {
		run();
		_exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	return status;
}

static void live_well(void)
{
	if (!adapter_lives())
		_exit(1);
}

static void run_killed(void)
{
	struct steps requests, queued;
	unsigned long survived = 0;
	char fault[64];

	count_steps(&requests, &queued);
	for (unsigned long step = 1; step <= queued.close; step++) {
		int status;

		snprintf(fault, sizeof(fault), "cmd-kill:%lu", step);
		adapter_tell(fault);
		status = in_child(live_well);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			say("%s: status %#x", fault, (unsigned int)status);
		else if (in_child(live_well) || in_child(live_well))
			say("%s: the next program finds no adapter", fault);
		else
			survived++;
	}
	say_check(survived == queued.close && survived >= LEAST_STEPS, "all steps");
}

/* Requests to the files of VFIO, and the one before which the program is killed; 0: none. */
static unsigned long vfio_requests, killed_at;

/* Stands before the C library's, also for libmlx5. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list list;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (++vfio_requests == killed_at)
		raise(SIGKILL);
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

static unsigned long requests_of_a_life(void)
{
	vfio_requests = 0;
	MUST(adapter_lives());
	return vfio_requests;
}

static void live_until_killed(void)
{
	vfio_requests = 0;
	adapter_lives();
	_exit(1);
}

/* Between two requests to the kernel the adapter has no memory, some, or no vectors: the next
 * program starts it from there. */
static void run_between(void)
{
	const unsigned long requests = requests_of_a_life();
	unsigned long survived = 0;

	MUST(requests >= LEAST_STEPS);
	for (unsigned long step = 1; step <= requests; step++) {
		int status;

		killed_at = step;
		status = in_child(live_until_killed);
		killed_at = 0;
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			say("request %lu: status %#x", step, (unsigned int)status);
		else if (in_child(live_well))
			say("request %lu: the next program finds no adapter", step);
		else
			survived++;
	}
	say_check(survived == requests, "all requests");
}

static struct {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	int is_done; /* atomic */
} delayed;

static void *delayed_alloc(void *arg)
{
	delayed.pd = ibv_alloc_pd(delayed.ctx);
	__atomic_store_n(&delayed.is_done, 1, __ATOMIC_RELEASE);
	return arg;
}

/* Returns whether a command was answered while an earlier one was still executed. A program that
 * gets no processor for long may come too late to see it. */
static bool overtakes(void)
{
	const unsigned long queued = counts_now().queued;
	pthread_t thread;
	struct ibv_pd *pd;
	char fault[64];
	bool has;

	snprintf(fault, sizeof(fault), "cmd-late:1+%u", command_ms() / 2);
	adapter_tell(fault);
	delayed.is_done = 0;
	MUST(!pthread_create(&thread, NULL, delayed_alloc, NULL));
	while (counts_now().queued == queued)
		usleep(100);
	pd = ibv_alloc_pd(delayed.ctx);
	has = pd && !__atomic_load_n(&delayed.is_done, __ATOMIC_ACQUIRE);
	MUST(!pthread_join(thread, NULL));
	MUST(pd && delayed.pd);
	MUST(!ibv_dealloc_pd(pd) && !ibv_dealloc_pd(delayed.pd));
	return has;
}

static void run_overtaken(void)
{
	enum { TRIES = 10 };
	unsigned int tries = 0;

	delayed.ctx = open_adapter();
	MUST(delayed.ctx);
	while (tries++ < TRIES && !overtakes())
		;
	say_check(tries <= TRIES, "a later command is answered first");
	MUST(!ibv_close_device(delayed.ctx));
}

static void want_the_group(void)
{
	struct ibv_context *ctx = open_adapter();

	_exit(ctx ? 1 : errno == EBUSY ? 0 : 2);
}

static void run_busy(void)
{
	struct ibv_context *ctx = open_adapter();

	MUST(ctx);
	say_check(!in_child(want_the_group), "another program gets EBUSY");
	say_check(!use_adapter(ctx), "the first one goes on");
	MUST(!ibv_close_device(ctx));
	say_check(!in_child(live_well), "the other one may have it then");
}

static bool is_readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

/* A device that is lost for REASON says so by both descriptors, and each call fails by EIO. */
static void check_lost(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_mr *mr)
{
	struct ibv_async_event event = { 0 };

	say_check(mlx5dv_vfio_process_events(ctx) == EIO, "events: EIO");
	say_check(is_readable(mlx5dv_vfio_get_events_fd(ctx)), "its descriptor is readable");
	say_check(is_readable(ctx->async_fd) && !ibv_get_async_event(ctx, &event) &&
			  event.event_type == IBV_EVENT_DEVICE_FATAL,
		  "an asynchronous event");
	ibv_ack_async_event(&event);
	say_check(!is_readable(ctx->async_fd), "a single one");
	say_check(mlx5dv_vfio_process_events(ctx) == EIO, "events again: EIO");
	say_check(is_readable(mlx5dv_vfio_get_events_fd(ctx)), "its descriptor stays readable");
	say_check(!ibv_alloc_pd(ctx) && errno == EIO, "alloc_pd: EIO");
	say_check(!ibv_reg_mr(pd, memory, PAGE, 0) && errno == EIO, "reg_mr: EIO");
	say_check(!mlx5dv_devx_umem_reg(ctx, memory, PAGE, 0) && errno == EIO, "umem_reg: EIO");
	say_check(!mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC) && errno == EIO,
		  "alloc_uar: EIO");
	/* the reset has destroyed them; the program has its memory back */
	say_check(!ibv_dereg_mr(mr), "dereg_mr");
	say_check(!ibv_dealloc_pd(pd), "dealloc_pd");
}

/* Triggers the interrupt by which the host asks for the device back; its registers stay fine. */
static void ask_back(void)
{
	const struct vfio_irq_set set = {
		.argsz = sizeof(set),
		.flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER,
		.index = VFIO_PCI_REQ_IRQ_INDEX,
		.count = 1,
	};
	struct vfio_device_info info = { .argsz = sizeof(info) };
	int fd = 3;

	while (fd < 1024 && ioctl(fd, VFIO_DEVICE_GET_INFO, &info))
		fd++;
	MUST(!ioctl(fd, VFIO_DEVICE_SET_IRQS, &set));
}

/* An idle program waits for the descriptor of events, if the host tells the loss. A FAULT of NULL:
 * the host asks for the device back. */
static void lose_idle(const char *fault, bool is_told)
{
	struct ibv_context *ctx = open_adapter();
	struct ibv_pd *pd;
	struct ibv_mr *mr;

	MUST(ctx);
	MUST(!mlx5dv_vfio_process_events(ctx));
	pd = ibv_alloc_pd(ctx);
	MUST(pd);
	mr = ibv_reg_mr(pd, memory, PAGE, 0);
	MUST(mr);
	say_check(!is_readable(mlx5dv_vfio_get_events_fd(ctx)), "nothing to serve");
	if (fault)
		adapter_tell(fault);
	else
		ask_back();
	if (is_told)
		say_check(is_readable(mlx5dv_vfio_get_events_fd(ctx)), "the host tells it");
	check_lost(ctx, pd, mr);
	say_check(!ibv_close_device(ctx), "close");
	say_check(adapter_lives(), "the next program has an adapter");
}

static void run_idle(void)
{
	say("the adapter is unplugged");
	lose_idle("unplug@0", true);
	say("the adapter is ill");
	lose_idle("kill", false);
	say("the host wants the adapter back");
	lose_idle(NULL, true);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = {
		{ "idle", run_idle },           { "busy", run_busy },
		{ "refused", run_refused },     { "silent", run_silent },
		{ "slow", run_slow },           { "late", run_late },
		{ "unplugged", run_unplugged }, { "requests", run_requests },
		{ "killed", run_killed },       { "between", run_between },
		{ "overtaken", run_overtaken },
	};

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(memory != MAP_FAILED);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
