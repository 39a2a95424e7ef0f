/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forks.c - processes that share a listener; see forks.h.
 */
#include "forks.h"
#include "tests/lib/say.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int forks_port = 19000;

struct sockaddr_in forks_here(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(forks_port) };
	const char *address = getenv("FORKS_ADDRESS");

	addr.sin_addr.s_addr = inet_addr(address ? address : "127.0.0.1");
	return addr;
}

int listen_here(void)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in addr;

	forks_port++;
	addr = forks_here();
	MUST(socket >= 0 && !rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	MUST(!rlisten(socket, 4));
	return socket;
}

int connect_here(void)
{
	int socket = rsocket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in addr = forks_here();
	int error;

	MUST(socket >= 0);
	if (!rconnect(socket, (struct sockaddr *)&addr, sizeof(addr)))
		return socket;
	error = errno;
	rclose(socket);
	errno = error;
	return -1;
}

enum { CONNECT_S = 10 };

int connect_patiently(void)
{
	const time_t until = time(NULL) + CONNECT_S;
	int socket = connect_here();

	while (socket < 0 && time(NULL) < until) {
		usleep(5000);
		socket = connect_here();
	}
	return socket;
}

int echo(int socket, size_t *echoed)
{
	char bytes[64];
	ssize_t got;

	*echoed = 0;
	while ((got = rrecv(socket, bytes, sizeof(bytes), 0)) > 0) {
		if (rsend(socket, bytes, got, 0) != got)
			return 1;
		*echoed += got;
	}
	return got || rclose(socket);
}

int child_echo(int listener)
{
	int socket = raccept(listener, NULL, NULL);
	size_t echoed;

	return socket < 0 || echo(socket, &echoed);
}

bool comes_back(int socket, const char *text)
{
	size_t size = strlen(text);
	char bytes[64];

	return rsend(socket, text, size, 0) == (ssize_t)size &&
	       rrecv(socket, bytes, size, MSG_WAITALL) == (ssize_t)size &&
	       !memcmp(bytes, text, size);
}

/* gcc 12's AddressSanitizer does not take its allocator's locks for fork(). A lock that another
 * thread of the parent holds at that moment stays locked in the child for ever, so all threads must
 * sleep then, as those hold none. */
#ifdef __SANITIZE_ADDRESS__
enum { REST_LOOKS = 5, REST_US = 1000 };

static bool is_asleep(const char *thread)
{
	char path[64], state = 'S';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", thread);
	stat = fopen(path, "r");
	if (!stat)
		return true;
	MUST(fscanf(stat, "%*d (%*[^)]) %c", &state) == 1);
	fclose(stat);
	return state == 'S';
}

static bool are_others_asleep(void)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *thread;
	bool asleep = true;

	MUST(threads);
	while ((thread = readdir(threads)))
		asleep = asleep && (thread->d_name[0] == '.' || atoi(thread->d_name) == gettid() ||
				    is_asleep(thread->d_name));
	closedir(threads);
	return asleep;
}

static void await_rest(void)
{
	for (int looks = 0; looks < REST_LOOKS; looks = are_others_asleep() ? looks + 1 : 0)
		usleep(REST_US);
}
#else
static void await_rest(void)
{
}
#endif

static pid_t fork_at_rest(void)
{
	await_rest();
	return fork();
}

pid_t child_that(int (*serve)(int), int argument)
{
	pid_t child = fork_at_rest();

	MUST(child >= 0);
	if (!child)
		_exit(serve(argument));
	return child;
}

bool ends_well(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && !status;
}

static pid_t leaver;

void await_leaver(void)
{
	while (getppid() == leaver)
		usleep(1000);
}

static int result_pipe[2];

/* The grandchild's parent has ended and cannot collect its status, so the grandchild writes it to a
 * pipe. */
void child_that_reports(int (*serve)(int), int listener)
{
	char result;

	leaver = getpid();
	if (fork_at_rest())
		return;
	result = (char)serve(listener);
	_exit(write(result_pipe[1], &result, 1) != 1);
}

bool reports_well(void)
{
	char result = 1;

	return read(result_pipe[0], &result, 1) == 1 && !result;
}

int listen_in_child(int (*act)(int listener))
{
	pid_t child;

	forks_port++;
	MUST(!pipe(result_pipe));
	child = fork_at_rest();
	if (!child) {
		forks_port--;
		_exit(act(listen_here()));
	}
	close(result_pipe[1]);
	return ends_well(child);
}

void results_close(void)
{
	close(result_pipe[0]);
}

int results_sum(void)
{
	char result;
	int sum = 0;

	while (read(result_pipe[0], &result, 1) == 1)
		sum += result;
	results_close();
	return sum;
}
