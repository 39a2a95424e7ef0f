/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cwd.c - lets programs change their directory into the tree of sysfs.c.
 *
 * Only the kernel can change a working directory, which the program's children inherit. So the
 * program gets a descriptor of the directory, and while the kernel executes the call, the path in
 * the program's memory is replaced by /proc/self/fd/NUMBER.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/program/cwd.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/front/process/timer.h"
#include "softhca/log.h"
#include "util/bits.h"

static bool is_in_tree(const struct call *call, const char *path)
{
	const char *root = call->daemon->sysfs.root;

	return !strncmp(path, root, strlen(root));
}

/* Gives the caller a copy of FD at the last number that select() supports, replacing an earlier
 * directory of ours there. If that number is in use otherwise, or beyond the limit, uses another
 * free number. */
static int directory_place(struct call *call, int fd, int *number)
{
	char path[PATH_MAX];
	struct stat st;
	int ret = EBADF;

	*number = FD_SELECT_END - 1;
	if (client_fd_stat(call->tid, *number, &st) ||
	    (!client_dir_path(call->tid, *number, path, sizeof(path)) && is_in_tree(call, path)))
		ret = call_place_fd(call, fd, true, *number);
	if (!ret)
		return 0;
	ret = fd_number_pick(call->tid, number);
	return ret ? ret : fd_number_place(call, fd, true, number);
}

enum { LENT_MAX = 32 };

/* The path argument in the caller's memory, replaced by another path during the call. Accessed
 * through an open descriptor of the memory, as the caller's PID may be reused. */
struct loan {
	int memory;
	uint64_t addr;
	/* the other path is longer, so it also replaces bytes behind the caller's path */
	bool is_longer;
	char lent[LENT_MAX];  /* the other path */
	char bytes[LENT_MAX]; /* original bytes, to restore */
};

/* Opens the caller's memory for writing. Uses /proc/PID/mem, which also writes to read-only memory,
 * where constant strings are. */
static int loan_open(const struct call *call)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", call->tid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && !caller_is_alive(call)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Returns whether the thread is the only one of its process. Another thread could see replaced
 * bytes behind the path. */
static bool is_alone(pid_t tid)
{
	enum { DIRECTORY_ITSELF = 2 };
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", tid);
	return !stat(path, &st) && st.st_nlink == DIRECTORY_ITSELF + 1;
}

/* Returns how many bytes are replaced. Only these are saved and restored, as the program may change
 * the bytes behind them meanwhile. */
static ssize_t loan_len(const struct loan *loan)
{
	return (ssize_t)strlen(loan->lent) + 1;
}

static int loan_take(struct loan *loan)
{
	const ssize_t len = loan_len(loan);

	if (pread(loan->memory, loan->bytes, len, (off_t)loan->addr) != len)
		return EFAULT;
	return pwrite(loan->memory, loan->lent, len, (off_t)loan->addr) == len ? 0 : EFAULT;
}

/* Restores the original path. If the program has written there meanwhile, keeps what it wrote. */
static void loan_return(const struct loan *loan)
{
	const ssize_t len = loan_len(loan);
	char now[LENT_MAX];

	if (pread(loan->memory, now, len, (off_t)loan->addr) == len &&
	    !memcmp(now, loan->lent, len) &&
	    pwrite(loan->memory, loan->bytes, len, (off_t)loan->addr) != len)
		log_note("a path at 0x%" PRIx64 " cannot be restored", loan->addr);
}

static bool is_at(pid_t tid, const char *where)
{
	char dir[PATH_MAX];

	return !client_dir_path(tid, AT_FDCWD, dir, sizeof(dir)) && !strcmp(dir, where);
}

/* Makes the thread stop (ptrace) when its call ends, so that it cannot read the path before we
 * restore it. Returns false if the thread has a debugger. Before Linux 5.19 this interrupts the
 * call. */
static bool thread_hold(pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return false;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL); /* a dying thread reports its end instead */
	return true;
}

/* A call under way whose path is replaced. */
struct move {
	struct timer timer;
	LIST_ENTRY(move) in_all; /* moves that a timer watches */
	pid_t tid;
	unsigned int uid;
	bool is_held;     /* the thread stops when its call ends */
	bool interrupted; /* thread_hold() has interrupted the call */
	bool is_ending;   /* the thread is killed */
	uint64_t give_up; /* time at which to stop waiting */
	struct loan loan;
	char where[PATH_MAX]; /* the program's new directory */
};

enum {
	STEP_US = 20,
	AT_ONCE_US = 1000,
	STEP_MS = 1,
	ARRIVAL_MS = 200,
	STOP_MS = 2000,
	END_MS = 1000,
	MOVES_MAX = 256,
	MOVES_OF_USER = 16
};

static bool holding_interrupts; /* see thread_hold() */
static LIST_HEAD(, move) moves = LIST_HEAD_INITIALIZER(moves);
static unsigned int num_moves;

/* Waits from now on for the end of the thread, which has been killed. Returns false, as the move is
 * not done. */
static bool move_expect_end(struct move *move)
{
	move->is_ending = true;
	move->give_up = timer_now() + END_MS * NS_PER_MS;
	return false;
}

/* Handles the status of a held thread that has stopped or ended: restores the path and releases the
 * thread with the signal that stopped it, if any. Releasing fails if the thread is killed now: then
 * waits for its end, as its parent sees that only after our wait. Returns whether the move is
 * done. */
static bool move_take_status(struct move *move, int status)
{
	const long signal = status >> 16 ? 0 : WSTOPSIG(status);

	if (!WIFSTOPPED(status))
		return true;
	holding_interrupts |= move->interrupted;
	if (!move->is_ending)
		loan_return(&move->loan);
	return !ptrace(PTRACE_DETACH, move->tid, NULL, signal) || move_expect_end(move);
}

/* Checks a held thread. Kills a thread that does not stop in time, such as a frozen one, as it must
 * not see the other path in its memory. Returns whether the move is done. */
static bool move_look_held(struct move *move)
{
	int status = 0;
	pid_t got = waitpid(move->tid, &status, __WALL | WNOHANG);

	if (got)
		return got < 0 || move_take_status(move, status);
	if (timer_now() < move->give_up)
		return false;
	if (move->is_ending)
		return true;
	log_error("%d does not stop, and is killed", move->tid);
	kill(move->tid, SIGKILL);
	return move_expect_end(move);
}

/* Returns whether the move is done. A thread that is not held is done when the program is in its
 * new directory: the kernel has then read the path, so this function restores the program's own
 * path in its memory. */
static bool move_look(struct move *move)
{
	if (move->is_held)
		return move_look_held(move);
	if (!is_at(move->tid, move->where) && timer_now() < move->give_up)
		return false;
	loan_return(&move->loan);
	return true;
}

static void move_end(struct move *move)
{
	if (move->loan.memory >= 0)
		close(move->loan.memory);
	free(move);
}

static void move_drop(struct move *move)
{
	timer_stop(&move->timer);
	LIST_REMOVE(move, in_all);
	num_moves--;
	move_end(move);
}

void cwd_finish_moves(pid_t tid)
{
	struct move *move, *next;

	for (move = LIST_FIRST(&moves); move; move = next) {
		next = LIST_NEXT(move, in_all);
		if (move->tid != tid || move->is_held)
			continue;
		loan_return(&move->loan);
		move_drop(move);
	}
}

static void move_expired(struct timer *timer)
{
	struct move *move = container_of(timer, struct move, timer);

	if (move_look(move)) {
		move_drop(move);
		return;
	}
	timer_start(&move->timer, timer_now() + STEP_MS * NS_PER_MS);
}

/* Waits for the end of the move as long as a call usually takes; calls of other programs wait
 * meanwhile. If the move takes longer, for example because a debugger holds the thread, starts a
 * timer that checks it. */
static void move_await(struct move *move)
{
	const struct timespec step = { .tv_nsec = STEP_US * 1000 };
	uint64_t soon = timer_now() + AT_ONCE_US * 1000ull;

	do {
		if (move_look(move)) {
			move_end(move);
			return;
		}
		nanosleep(&step, NULL);
	} while (timer_now() < soon);
	LIST_INSERT_HEAD(&moves, move, in_all);
	num_moves++;
	move->timer.expired = move_expired;
	timer_start(&move->timer, timer_now() + STEP_MS * NS_PER_MS);
}

/* Lets the kernel execute the call with the path that is in memory now. Frees MOVE. */
static int let_go(struct call *call, struct move *move)
{
	move->is_held = !holding_interrupts && thread_hold(call->tid);
	if (move->loan.is_longer && !move->is_held) {
		loan_return(&move->loan);
		move_end(move);
		return ENAMETOOLONG;
	}
	move->interrupted = call_continue(call) == ENOENT && move->is_held;
	move->give_up = timer_now() + (move->is_held ? STOP_MS : ARRIVAL_MS) * NS_PER_MS;
	move_await(move);
	return 0;
}

static int path_replace(const struct call *call, struct loan *loan, const char *named, int number)
{
	snprintf(loan->lent, sizeof(loan->lent), "/proc/self/fd/%d", number);
	if (strlen(loan->lent) > strlen(named))
		snprintf(loan->lent, sizeof(loan->lent), "/dev/fd/%d", number);
	loan->is_longer = strlen(loan->lent) > strlen(named);
	if (loan->is_longer && !is_alone(call->tid))
		return ENAMETOOLONG;
	loan->memory = loan_open(call);
	return loan->memory < 0 ? EFAULT : loan_take(loan);
}

static bool may_move(unsigned int uid)
{
	unsigned int own = 0;
	struct move *move;

	LIST_FOREACH(move, &moves, in_all)
		own += move->uid == uid;
	return num_moves < MOVES_MAX && own < MOVES_OF_USER;
}

static int move_by_number(struct call *call, uint64_t addr, const char *where, int number)
{
	const unsigned int uid = client_thread_uid(call->tid);
	char named[PATH_MAX];
	struct move *move;
	int ret = caller_read_string(call, addr, named, sizeof(named));

	if (ret)
		return ret;
	move = may_move(uid) ? calloc(1, sizeof(*move)) : NULL;
	if (!move)
		return ENOMEM;
	move->tid = call->tid;
	move->uid = uid;
	move->loan = (struct loan){ .memory = -1, .addr = addr };
	snprintf(move->where, sizeof(move->where), "%s", where);
	ret = path_replace(call, &move->loan, named, number);
	if (!ret)
		return let_go(call, move);
	move_end(move);
	return ret;
}

void cwd_enter(struct call *call, uint64_t addr, int fd)
{
	char self[32], where[PATH_MAX];
	int number, ret;
	ssize_t len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = readlink(self, where, sizeof(where) - 1);
	if (len < 0) {
		call_fail(call, errno);
		return;
	}
	where[len] = 0;
	if (is_at(call->tid, where)) {
		call_return(call, 0);
		return;
	}
	ret = directory_place(call, fd, &number);
	if (!ret)
		ret = move_by_number(call, addr, where, number);
	if (ret)
		log_note("%d: cannot go to %s: %s", call->tid, where, strerror(ret));
	if (ret && !call->answered)
		call_fail(call, EACCES);
}

void cwd_get(struct call *call)
{
	char dir[PATH_MAX];
	const char *seen = dir + strlen(call->daemon->sysfs.root);
	size_t size;

	if (client_dir_path(call->tid, AT_FDCWD, dir, sizeof(dir)) || !is_in_tree(call, dir))
		return;
	if (!*seen)
		seen = "/";
	size = strlen(seen) + 1;
	if (size > call_arg(call, 1))
		call_fail(call, ERANGE);
	else if (caller_write(call, call_arg(call, 0), seen, size))
		call_fail(call, EFAULT);
	else
		call_return(call, (int64_t)size);
}
