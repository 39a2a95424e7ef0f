/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hosts.c - the command `softhca hosts`. A host is there if its socket takes a connection; a file
 * of a killed host refuses it. A host is stuck if its process is stopped, or if so many connections
 * wait that it takes no more. Its ports are in its description, a line for each, which
 * station_describe() wrote. Another user can have written anything there, so a line is printed only
 * if it has the fields of a port.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "softhca/log.h"
#include "softhca/net/directory.h"
#include "softhca/net/hosts.h"
#include "softhca/net/network.h"

enum { DESCRIPTION_MAX = 64 * 1024 };

struct host_process {
	pid_t pid; /* 0: unknown */
	bool is_stuck;
};

struct hosts {
	const char *path;
	int dir;
	FILE *out;
	unsigned int printed;
	bool is_there[NETWORK_MAX_HOSTS], ethernet[NETWORK_MAX_HOSTS];
	char text[DESCRIPTION_MAX];
};

static int note_host(void *owner, const char *name, unsigned int host, bool ethernet)
{
	struct hosts *hosts = owner;

	(void)name;
	hosts->is_there[host] = true;
	hosts->ethernet[host] = ethernet;
	return 0;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static void print_row(struct hosts *hosts, const char *const column[9])
{
	fprintf(hosts->out, "%-4s %-7s %-7s %-4s %-4s %-5s %-5s %-11s %s\n", column[0], column[1],
		column[2], column[3], column[4], column[5], column[6], column[7], column[8]);
}

static void print_head(struct hosts *hosts)
{
	static const char *const head[9] = { "HOST",  "PROCESS", "ADAPTER", "PORT", "LINK",
					     "STATE", "LID",     "ADDRESS", "GID" };

	if (!hosts->printed++)
		print_row(hosts, head);
}

/* Prints a port: "ADAPTER PORT LINK STATE LID ADDRESSES GIDS". Returns whether the line is one. */
static bool print_port(struct hosts *hosts, unsigned int host, const struct host_process *process,
		       const char *line)
{
	char number[16], pid[16], adapter[16], port[8], link[8], state[8], lid[8];
	char addresses[800];
	int gids = 0;

	if (!is_printable(line) || sscanf(line, "%15s %7[0-9] %7s %7s %7[0-9] %799s %n", adapter,
					  port, link, state, lid, addresses, &gids) != 6)
		return false;
	if (!gids)
		return false;
	snprintf(number, sizeof(number), "%u", host);
	snprintf(pid, sizeof(pid), "%d", (int)process->pid);
	print_head(hosts);
	print_row(hosts,
		  (const char *const[]){ number, process->pid ? pid : "-", adapter, port, link,
					 process->is_stuck ? "stuck" : state,
					 strcmp(lid, "0") ? lid : "-", addresses, line + gids });
	return true;
}

static void print_ports(struct hosts *hosts, unsigned int host, const struct host_process *process)
{
	int ret = directory_read(hosts->dir, host, hosts->text, sizeof(hosts->text));
	char *rest, *line = NULL;

	if (ret == ENOENT || (!ret && !hosts->text[0]))
		log_error("host %u is starting: it has not described its adapters yet", host);
	else if (ret)
		log_error("%s/%u.host: %s", hosts->path, host, strerror(ret));
	else
		line = strtok_r(hosts->text, "\n", &rest);
	for (; line; line = strtok_r(NULL, "\n", &rest))
		if (!print_port(hosts, host, process, line)) {
			log_error("%s/%u.host: not the description of a host", hosts->path, host);
			return;
		}
}

/* Returns the process at the other end, or 0 if that is unknown, for instance outside our PID
 * namespace. */
static pid_t process_of(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) ? 0 : peer.pid;
}

/* Returns whether a signal has stopped the process: its state in /proc/PID/stat, behind its name in
 * parentheses, is T. A process that a debugger has stopped (t) does not count, as SIGCONT does not
 * continue it. */
static bool is_stopped(pid_t pid)
{
	char path[32], stat[256];
	FILE *file;
	const char *end = NULL;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file) {
		if (fgets(stat, sizeof(stat), file))
			end = strrchr(stat, ')');
		fclose(file);
	}
	return end && !strncmp(end, ") T", 3);
}

static void print_host(struct hosts *hosts, unsigned int host)
{
	struct host_process process = { 0 };
	char name[16];
	int fd, ret;

	snprintf(name, sizeof(name), "%u.%s", host, hosts->ethernet[host] ? "roce" : "ib");
	ret = directory_connect(hosts->dir, name, &fd);
	if (!ret) {
		process.pid = process_of(fd);
		process.is_stuck = process.pid && is_stopped(process.pid);
		print_ports(hosts, host, &process);
		close(fd);
	} else if (ret == EAGAIN) {
		process.is_stuck = true;
		print_ports(hosts, host, &process);
	} else if (ret == ECONNREFUSED) {
		log_error("host %u has been killed: it left %s/%s, which the next host to join "
			  "removes",
			  host, hosts->path, name);
	} else if (ret != ENOENT) {
		log_error("%s/%s: %s", hosts->path, name, strerror(ret));
	}
	if (process.is_stuck && process.pid)
		log_error("host %u is stopped: it goes on after kill -CONT %d", host,
			  (int)process.pid);
	else if (process.is_stuck)
		log_error("host %u accepts no connections: it is stopped, or it hangs", host);
}

int hosts_print(const char *path, FILE *out)
{
	static struct hosts hosts; /* static, as it is too large for a stack */
	int ret;

	memset(&hosts, 0, sizeof(hosts));
	hosts.path = path;
	hosts.out = out;
	hosts.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = hosts.dir < 0 ? errno : directory_sockets(hosts.dir, note_host, &hosts);
	if (ret)
		log_error("--network %s: %s", path, strerror(ret));
	for (unsigned int host = 0; !ret && host < NETWORK_MAX_HOSTS; host++)
		if (hosts.is_there[host])
			print_host(&hosts, host);
	if (!ret && !hosts.printed)
		log_error("no host is on the network %s", path);
	if (hosts.dir >= 0)
		close(hosts.dir);
	return ret;
}
