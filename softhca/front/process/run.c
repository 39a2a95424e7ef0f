/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run.c - `softhca run`: starts a program with adapters.
 *
 * There are four processes. The runner (this one) waits for PROGRAM and returns its status. PROGRAM
 * installs the filter in itself before exec. The daemon has the adapters, unless a server does. The
 * holder outlives the daemon. Decision: docs/adr/0043.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softhca/front/process/daemon.h"
#include "softhca/front/process/fd_number.h"
#include "softhca/front/process/holder/holder.h"
#include "softhca/front/process/host.h"
#include "softhca/front/process/link.h"
#include "softhca/front/process/run.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/front/reach.h"
#include "softhca/log.h"
#include "softhca/options.h"

struct run {
	const struct options *options;
	int daemon;       /* connection to the daemon */
	pid_t daemon_pid; /* 0: it is a server */
	int program_link; /* to the process that becomes PROGRAM */
	int listener;
	int memory; /* the daemon's memory with the mailbox */
	const struct mailbox *mailbox;
};

static volatile pid_t program; /* read by the signal handler */

static void program_exec(const struct options *options)
{
	/* the default here, as people try programs out with it */
	setenv("VERBS_LOG_DEFAULT", "warn", 0);
	execvp(options->program[0], options->program);
	log_error("%s: %s", options->program[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void program_main(const struct run *run, int link)
{
	int listener, ret;

	/* Die with the runner, as nothing else waits for the program. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Yama may restrict ptrace to descendants, so let daemon and holder, which are not
	 * ancestors, access this process's memory. */
	prctl(PR_SET_PTRACER, run->daemon_pid ? (unsigned long)getppid() : PR_SET_PTRACER_ANY);
	/* Before exec, as the daemon may lack the right for another user's program. */
	fd_number_raise_limit(0);
	/* Whether a server has --vfio is not known yet. */
	ret = seccomp_install(run->options->vfio || !run->daemon_pid, &listener);
	if (ret) {
		host_explain_filter(ret);
		_exit(EXIT_FAILURE);
	}
	if (link_send_fd(link, listener))
		_exit(EXIT_FAILURE);
	close(listener);
	/* The runner answers when the daemon listens: a call before that would find no listener. */
	if (link_receive_answer(link))
		_exit(EXIT_FAILURE);
	close(link);
	program_exec(run->options);
}

static int program_fork(struct run *run)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return errno;
	program = fork();
	if (program < 0)
		return errno;
	if (!program) {
		close(pair[0]);
		program_main(run, pair[1]);
	}
	close(pair[1]);
	run->program_link = pair[0];
	/* The child has logged the reason, so no message is needed. */
	return link_receive_fd(pair[0], &run->listener) ? ECHILD : 0;
}

/* Closes the terminal or pipe, so that it does not stay open because of us. Messages still go to
 * standard error. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(null);
	}
}

static int daemon_fork(struct run *run)
{
	int pair[2], ready[2];
	char byte;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) || pipe2(ready, O_CLOEXEC))
		return errno;
	run->daemon_pid = fork();
	if (run->daemon_pid < 0)
		return errno;
	if (!run->daemon_pid) {
		close(pair[0]);
		close(ready[0]);
		leave_terminal();
		_exit(daemon_run_private(run->options, pair[1], ready[1]));
	}
	close(pair[1]);
	close(ready[1]);
	n = read(ready[0], &byte, 1);
	close(ready[0]);
	run->daemon = pair[0];
	return n == 1 ? 0 : ECHILD; /* ECHILD logs nothing, as the daemon has logged the reason */
}

static int daemon_connect(struct run *run)
{
	const char *path = run->options->socket_path;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(addr.sun_path))
		return ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	run->daemon = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (run->daemon < 0)
		return errno;
	return reach_server(run->daemon, &addr, path);
}

static int daemon_greet(struct run *run)
{
	int ret = link_send_hello(run->daemon, run->listener);

	return ret ? ret : link_receive_welcome(run->daemon, &run->memory);
}

static bool was_hung_up(int error)
{
	return error == EPIPE || error == ECONNRESET;
}

static int server_greet(struct run *run)
{
	enum { TRIES = 5 };
	int ret = ECONNRESET;

	for (int i = 0; i < TRIES && was_hung_up(ret); i++) {
		if (i)
			close(run->daemon);
		ret = daemon_connect(run);
		if (!ret)
			ret = daemon_greet(run);
	}
	return ret;
}

static int mailbox_map(struct run *run)
{
	void *at = mmap(NULL, sizeof(*run->mailbox), PROT_READ, MAP_SHARED, run->memory, 0);

	run->mailbox = at;
	return at == MAP_FAILED ? errno : 0;
}

static int holder_fork(const struct run *run)
{
	pid_t pid = fork();

	if (pid)
		return pid < 0 ? errno : 0;
	leave_terminal();
	close(run->program_link);
	holder_run(run->listener, run->daemon, run->mailbox, run->memory);
	_exit(EXIT_SUCCESS);
}

static void forward_signal(int signal)
{
	if (program > 0)
		kill(program, signal);
}

/* Passes signals to PROGRAM, except those that the terminal sends to the whole process group
 * anyway, as it would get them twice. */
static void set_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, forward_signal);
	signal(SIGHUP, forward_signal);
	signal(SIGUSR1, forward_signal);
	signal(SIGUSR2, forward_signal);
}

/* Waits for the end of the program, and gives its number back only when no signal is passed on any
 * more: another process may have it then. */
static int wait_for_program(void)
{
	const pid_t pid = program;
	siginfo_t info;
	int status;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT))
		if (errno != EINTR)
			return EXIT_FAILURE;
	program = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int start_private(struct run *run)
{
	int ret = daemon_fork(run);

	if (!ret)
		ret = program_fork(run);
	if (!ret)
		ret = host_check_memory(program);
	return ret ? ret : daemon_greet(run);
}

/* Starts the program on a server, which checks itself that it can access the program's memory. */
static int start_on_server(struct run *run)
{
	int ret = program_fork(run);

	return ret ? ret : server_greet(run);
}

static int start_program(struct run *run)
{
	int ret = run->options->socket_path ? start_on_server(run) : start_private(run);

	if (!ret)
		ret = mailbox_map(run);
	if (!ret)
		ret = holder_fork(run);
	if (!ret)
		ret = link_send_answer(run->program_link, 0);
	return ret;
}

/* Logs the error, unless a child has done so. */
static void explain_failure(int ret)
{
	if (!log_has_error() && ret != ECHILD)
		log_error("cannot start: %s", strerror(ret));
}

int run_program(const struct options *options)
{
	struct run run = { .options = options, .program_link = -1 };
	int ret = host_check();

	if (!ret)
		ret = start_program(&run);
	if (ret) {
		explain_failure(ret);
		if (program > 0) {
			close(run.program_link);
			wait_for_program();
		}
		return EXIT_FAILURE;
	}
	set_signals();
	close(run.listener);
	close(run.program_link);
	close(run.daemon);
	return wait_for_program();
}
