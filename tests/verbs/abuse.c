/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * abuse.c - attacks of a client on a shared adapter, and on the memory that they share.
 *
 * abuse file: a program with an open device truncates the device file. The kernel's device file has
 * no size, so this must fail, and calls must still work.
 * abuse swap: a program replaces the descriptor of a completion channel by another socket and back,
 * while the adapter queries the channel's unread bytes. The adapter must not count the other
 * socket's.
 * abuse hoard: a program creates as many QPs as it may. Programs that come later must get some.
 * abuse traced: a traced program goes to a directory of the adapter, by a path that another program
 * changes meanwhile. The adapter must not wait until it arrives.
 * abuse memory SOCKET: a starter tries to write to, map or truncate the memory that the adapter
 * hands out and trusts.
 * abuse former SOCKET: a starter says hello in an old form, with memory of its own, which is empty.
 * abuse listener SOCKET: a starter sends a pipe in place of a seccomp listener: the adapter closes
 * the pipe and the connection.
 * abuse twice SOCKET: a starter says hello twice, to keep memory for an unlimited time.
 * abuse idle SOCKET: more starters connect than the adapter has descriptors, and are silent.
 * abuse many SOCKET: more starters say hello than the adapter has descriptors for.
 * abuse thief SOCKET: a starter receives its program's trapped calls itself, after the adapter has
 * seen them waiting. The adapter must not wait for the next one, which may never come.
 *
 * Status 0: the attack failed. run-abuse checks that the adapter is still there.
 *
 * Covers: softhca/front/process/link.c, softhca/front/process/client.c,
 * softhca/front/process/seccomp.c, softhca/front/process/holder/
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "softhca/front/process/link.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "tests/lib/kernel/uverbs_request.h"
#include "util/bits.h"

enum {
	WAIT_MS = 20000,
	PATIENCE_MS = 5000,
	PAGE = 4096,
	FORMER_VERSION = 2,
	MANY = 400,
	THIEVES = 4,
	HOARD_QPS = 64, /* of the adapter */
	THEFTS = 250,
};

static int abuse_file(const char *unused)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && *list ? ibv_open_device(*list) : NULL;
	struct ibv_cq *cq;
	struct ibv_pd *pd;

	(void)unused;
	if (list)
		ibv_free_device_list(list);
	MUST(ctx);
	/* The first queue creates the doorbell pages. */
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	say_check(pd && cq, "objects are made");
	say_check(ftruncate(ctx->cmd_fd, 0) && (errno == EPERM || errno == EINVAL),
		  "the device file cannot be made shorter");
	say_check(cq && !ibv_req_notify_cq(cq, 0), "a doorbell is rung");
	say_check(cq && !ibv_destroy_cq(cq) && pd && !ibv_dealloc_pd(pd),
		  "the objects can be destroyed");
	ibv_close_device(ctx);
	return 0;
}

enum { SWAPS = 300 };

static pthread_mutex_t swap_lock = PTHREAD_MUTEX_INITIALIZER; /* held: the file is the original */
static int decoy[2]; /* bytes written to the second, so the first must stay as it is */

struct swapped {
	int number, original;
};

static void *swap_descriptors(void *arg)
{
	const struct swapped *swapped = arg;

	for (;;) {
		pthread_mutex_lock(&swap_lock);
		dup2(decoy[0], swapped->number);
		dup2(swapped->original, swapped->number);
		pthread_mutex_unlock(&swap_lock);
		sched_yield();
	}
	return NULL;
}

static size_t decoy_bytes(void)
{
	int bytes = 0;

	MUST(!ioctl(decoy[0], FIONREAD, &bytes));
	return bytes;
}

/* Destroys the CQ by ioctl: the library would wait until events are acknowledged, and an abused
 * adapter may count them wrongly. */
static int cq_destroy_raw(struct ibv_cq *cq)
{
	struct ib_uverbs_destroy_cq_resp resp;
	struct {
		struct uverbs_request_header hdr;
		struct ib_uverbs_attr attr[2];
	} request = {
		.hdr = { .length = sizeof(request),
			 .object_id = UVERBS_OBJECT_CQ,
			 .method_id = UVERBS_METHOD_CQ_DESTROY,
			 .num_attrs = 2,
			 .driver_id = RDMA_DRIVER_MLX5 },
		.attr = { { .attr_id = UVERBS_ATTR_DESTROY_CQ_HANDLE,
			    .flags = UVERBS_ATTR_F_MANDATORY,
			    .data = cq->handle },
			  { .attr_id = UVERBS_ATTR_DESTROY_CQ_RESP,
			    .len = sizeof(resp),
			    .flags = UVERBS_ATTR_F_MANDATORY,
			    .data = (uintptr_t)&resp } },
	};

	return ioctl(cq->context->cmd_fd, RDMA_VERBS_IOCTL, &request) ? errno : 0;
}

/* Makes the end complete a request, with an event in its channel. */
static void end_complete(struct rig *rig, const struct rig_conf *conf, struct rig_end *end)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 8, .lkey = end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	struct ibv_wc wc;

	MUST(!ibv_req_notify_cq(end->cq, 0));
	rig_qp_to(rig, conf, end->qp, 0, IBV_QPS_ERR);
	MUST(!ibv_post_recv(end->qp, &wr, &bad));
	MUST(rig_poll(end->cq, 1, &wc) == 1);
}

static void swap_rounds(struct rig *rig, struct ibv_comp_channel *channel)
{
	struct ibv_pd *pd = ibv_alloc_pd(rig->ctx);
	struct rig_conf conf = rig_conf_default();
	unsigned int destroyed = 0;

	conf.channel = channel;
	conf.buf_size = PAGE;
	for (unsigned int i = 0; i < SWAPS; i++) {
		struct rig_end end;

		pthread_mutex_lock(&swap_lock);
		rig_end_open(pd, &conf, &end);
		pthread_mutex_unlock(&swap_lock);
		end_complete(rig, &conf, &end);
		MUST(!ibv_destroy_qp(end.qp));
		destroyed += !cq_destroy_raw(end.cq);
	}
	say_check(destroyed == SWAPS, "CQs are destroyed whose event file changes");
}

static int abuse_swap(const char *unused)
{
	struct swapped swapped;
	struct ibv_comp_channel *channel;
	static const char zeroes[1 << 14];
	pthread_t thread;
	struct rig rig;

	(void)unused;
	rig_open(&rig);
	channel = ibv_create_comp_channel(rig.ctx);
	MUST(channel && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, decoy));
	swapped.number = channel->fd;
	swapped.original = dup(channel->fd);
	MUST(swapped.original >= 0);
	MUST(write(decoy[1], zeroes, sizeof(zeroes)) == (ssize_t)sizeof(zeroes));
	MUST(!pthread_create(&thread, NULL, swap_descriptors, &swapped));
	swap_rounds(&rig, channel);
	say_check(decoy_bytes() == sizeof(zeroes), "nothing of the other socket was read");
	fflush(stdout);
	_exit(topics_end()); /* _exit(), as the adapter cleans up the rest */
}

/* Creates QPs until the adapter refuses. Returns their number. */
static unsigned int qps_take(void)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	unsigned int taken = 0;
	struct ibv_pd *pd;
	struct rig rig;

	rig_open(&rig);
	attr.send_cq = attr.recv_cq = ibv_create_cq(rig.ctx, 1, NULL, NULL, 0);
	attr.cap = (struct ibv_qp_cap){ .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1 };
	pd = ibv_alloc_pd(rig.ctx);
	MUST(attr.send_cq && pd);
	while (taken < MANY && ibv_create_qp(pd, &attr))
		taken++;
	say_check(errno == ENOMEM, "more are refused");
	return taken;
}

/* Has a child take QPs while those before it keep theirs. Returns how many it got. */
static unsigned int qps_of_child(unsigned int generation)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		unsigned int taken = qps_take();

		if (generation)
			say_check(qps_of_child(generation - 1) > 0, "the next gets some, too");
		fflush(stdout);
		_exit(taken);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int abuse_hoard(const char *unused)
{
	(void)unused;
	say_check(qps_take() <= HOARD_QPS / 2, "one program gets half of the QPs at most");
	say_check(qps_of_child(2) >= HOARD_QPS / 8, "another gets some of the rest");
	fflush(stdout);
	_exit(topics_end()); /* _exit(), as the adapter cleans up */
}

enum { TRACED_MS = 4000, WAIT_FOR_TRACED_MS = 200 };

static const char place[] = "/sys/class/infiniband";

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Goes to the path again and again. Its tracer keeps the adapter from holding it. */
static void traced_go(const char *path)
{
	MUST(!ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	raise(SIGSTOP);
	for (;;)
		if (!chdir(path))
			MUST(!chdir("/tmp"));
}

static void traced_steer(char *path, pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	MUST(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	for (;;) {
		memcpy(path, place, sizeof(place));
		usleep(50);
		memcpy(path, "/", 2);
	}
}

static uint64_t longest_wait(void)
{
	uint64_t start = now_ms(), end = start + TRACED_MS, longest = 0;
	struct stat st;

	while (start < end) {
		uint64_t then;

		MUST(!stat(place, &st));
		then = now_ms();
		longest = then - start > longest ? then - start : longest;
		start = then;
	}
	return longest;
}

static int abuse_traced(const char *unused)
{
	char *path = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t longest;
	pid_t attacker;

	(void)unused;
	MUST(path != MAP_FAILED);
	memcpy(path, place, sizeof(place));
	fflush(stdout);
	attacker = fork();
	MUST(attacker >= 0);
	if (!attacker) {
		pid_t pid = fork();

		MUST(pid >= 0 && !prctl(PR_SET_PDEATHSIG, SIGKILL));
		if (!pid)
			traced_go(path);
		traced_steer(path, pid);
	}
	usleep(200000);
	longest = longest_wait();
	printf("others wait %" PRIu64 " ms at most\n", longest);
	say_check(longest < WAIT_FOR_TRACED_MS, "others are answered");
	kill(attacker, SIGKILL);
	waitpid(attacker, NULL, 0);
	return 0;
}

static int server_connect(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		perror(path);
		return -1;
	}
	return fd;
}

/* Returns the seccomp listener of a filter that traps no call, or -1. */
static int quiet_listener(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &program);
}

/* Returns the seccomp listener of a filter that traps getppid(), or -1. */
static int getppid_listener(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &program);
}

/* Opens a pipe to send in place of a seccomp listener. */
static int quiet_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC) ? errno : 0;
}

static int abuse_memory(const char *path)
{
	int link = server_connect(path), memory = -1, listener = quiet_listener();

	if (link < 0 || listener < 0 || link_send_hello(link, listener))
		return 1;
	say_check(!link_receive_welcome(link, &memory), "the adapter hands out memory");
	if (memory < 0)
		return 1;
	say_check(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, memory, 0) != MAP_FAILED,
		  "it can be read");
	say_check(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) == MAP_FAILED,
		  "it cannot be mapped for writing");
	say_check(pwrite(memory, "\377", 1, 0) < 0, "it cannot be written");
	say_check(ftruncate(memory, 0) < 0, "it cannot be made shorter");
	say_check(fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE) < 0,
		  "no hole can be made in it");
	return 0;
}

/* Says hello in the old form, in which starters brought the memory. */
static int hello_with_memory(int link, int listener, int memory)
{
	struct link_hello hello = { LINK_MAGIC, FORMER_VERSION };
	struct iovec iov = { &hello, sizeof(hello) };
	int fds[] = { listener, memory };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(cmsg), fds, sizeof(fds));
	return sendmsg(link, &msg, MSG_NOSIGNAL) < 0 ? errno : 0;
}

static bool is_refused(int link)
{
	struct pollfd pfd = { .fd = link, .events = POLLIN };
	uint32_t value = 0;

	if (poll(&pfd, 1, WAIT_MS) != 1)
		return false;
	return recv(link, &value, sizeof(value), 0) <= 0 || value;
}

static bool is_closed(int link)
{
	struct pollfd pfd = { .fd = link, .events = POLLIN };
	char byte;

	return poll(&pfd, 1, WAIT_MS) == 1 && recv(link, &byte, 1, 0) <= 0;
}

static int abuse_former(const char *path)
{
	int link = server_connect(path), memory = memfd_create("empty", MFD_CLOEXEC), ends[2];

	if (link < 0 || memory < 0 || quiet_pipe(ends) || hello_with_memory(link, ends[0], memory))
		return 1;
	say_check(is_refused(link), "memory of the client's own is refused");
	return 0;
}

/* Sends a pipe that is always readable but never has a trapped call. */
static int abuse_listener(const char *path)
{
	int link = server_connect(path), memory = -1, ends[2];
	struct pollfd pfd;

	if (link < 0 || quiet_pipe(ends) || write(ends[1], "", 1) != 1 ||
	    link_send_hello(link, ends[0]))
		return 1;
	say_check(link_receive_welcome(link, &memory) == EPROTO, "it is refused");
	say_check(is_closed(link), "the connection ends with that");
	close(ends[0]);
	pfd = (struct pollfd){ .fd = ends[1] }; /* POLLERR: all readers have closed */
	say_check(poll(&pfd, 1, WAIT_MS) == 1, "the adapter has let go of what is no listener");
	return 0;
}

static int abuse_twice(const char *path)
{
	int link = server_connect(path), memory = -1, listener = quiet_listener();

	if (link < 0 || listener < 0 || link_send_hello(link, listener))
		return 1;
	say_check(!link_receive_welcome(link, &memory), "the first hello is answered");
	say_check(link_send_hello(link, listener) == EPIPE, "nobody hears the second");
	return 0;
}

/* Connects, and sends hello with LISTENER. Returns the connection, or -1 if it is refused. */
static int greeted_link(const char *path, int listener)
{
	int link = server_connect(path), memory;

	if (link < 0 || link_send_hello(link, listener) || link_receive_welcome(link, &memory))
		return -1;
	close(memory);
	return link;
}

static int abuse_idle(const char *path)
{
	int links[MANY], listener = quiet_listener();

	if (listener < 0)
		return 1;
	for (unsigned int i = 0; i < MANY; i++) {
		links[i] = server_connect(path);
		if (links[i] < 0)
			return 1;
	}
	say_check(greeted_link(path, listener) >= 0, "another starter is served at once");
	say_check(is_closed(links[0]), "the first is closed");
	say_check(is_closed(links[MANY - 1]), "so is the last, which was silent for a second");
	return 0;
}

/* Connects until the adapter refuses. It must not leave the last one waiting, as a starter would
 * hang. */
static int abuse_many(const char *path)
{
	int link, listener = quiet_listener();
	unsigned int served = 0;

	if (listener < 0)
		return 1;
	while (served < MANY && greeted_link(path, listener) >= 0)
		served++;
	say_check(served && served < MANY, "starters beyond the descriptors are refused");
	for (unsigned int i = 0; i < MANY; i++) {
		link = server_connect(path);
		if (link < 0)
			return 1;
	}
	say_check(is_closed(link), "who finds no descriptor left is turned away");
	return 0;
}

static void *steal_calls(void *arg)
{
	const int *listener = arg;

	for (;;) {
		struct seccomp_notif call = { 0 };
		struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

		if (ioctl(*listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue;
		answer.id = call.id;
		ioctl(*listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return NULL;
}

static bool answers_others(const char *path)
{
	int link = server_connect(path), ends[2];
	struct pollfd pfd = { .fd = link, .events = POLLIN };
	bool answered;

	if (link < 0 || quiet_pipe(ends) || link_send_hello(link, ends[0]))
		return false;
	answered = poll(&pfd, 1, PATIENCE_MS) == 1;
	close(ends[0]);
	close(ends[1]);
	close(link);
	return answered;
}

static void *make_calls(void *arg)
{
	const atomic_bool *lasts = arg;

	while (atomic_load(lasts))
		getppid();
	return NULL;
}

static void call_for_a_while(void)
{
	pthread_t callers[THIEVES];
	atomic_bool lasts = true;

	for (unsigned int i = 0; i < THIEVES; i++)
		MUST(!pthread_create(&callers[i], NULL, make_calls, &lasts));
	usleep(10000);
	atomic_store(&lasts, false);
	for (unsigned int i = 0; i < THIEVES; i++)
		MUST(!pthread_join(callers[i], NULL));
}

/* Thieves and the adapter compete for each call, so the loser of one waits for the next. */
static int abuse_thief(const char *path)
{
	static int listener;
	bool answered = true;
	pthread_t thread;
	int link;

	listener = getppid_listener();
	link = listener < 0 ? -1 : greeted_link(path, listener);
	if (link < 0)
		return 1;
	for (unsigned int i = 0; i < THIEVES; i++)
		MUST(!pthread_create(&thread, NULL, steal_calls, &listener));
	for (unsigned int i = 0; i < THEFTS && answered; i++) {
		call_for_a_while();
		answered = answers_others(path);
	}
	say_check(answered, "the adapter answers others");
	fflush(stdout);
	_exit(topics_end()); /* _exit(), as the thieves still wait */
}

static const struct {
	const char *name;
	int (*run)(const char *path);
} abuses[] = {
	{ "file", abuse_file },     { "swap", abuse_swap },         { "memory", abuse_memory },
	{ "former", abuse_former }, { "listener", abuse_listener }, { "twice", abuse_twice },
	{ "idle", abuse_idle },     { "many", abuse_many },         { "thief", abuse_thief },
	{ "hoard", abuse_hoard },   { "traced", abuse_traced },
};

int main(int argc, char **argv)
{
	const char *path = argc > 2 ? argv[2] : "";

	TOPICS_CHOOSE(abuses, argc > 1 ? 2 : 1, argv);
	MUST(argc == 2 || argc == 3); /* one at a time */
	for (size_t i = 0; i < ARRAY_SIZE(abuses); i++)
		if (topic_begin(abuses[i].name))
			MUST(!abuses[i].run(path));
	return topics_end();
}
