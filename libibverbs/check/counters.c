/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.c - the hardware's counters of a device and of its ports (sysfs: hw_counters), and which
 * of them have moved since the program opened the device.
 *
 * Counters belong to the adapter, so other programs move them, too.
 */
#include "check.h"

#include "util/bits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNTERS_MAX = 256, NAME_SIZE = 64, DEVICE = 0, PORTS_MAX = 255, MORE_SIZE = 32 };

struct counter {
	char name[NAME_SIZE];
	uint64_t start;
};

/* The counters of one directory. Never freed: a program opens few devices. */
struct counters {
	struct counters *next;
	char device[IBV_SYSFS_NAME_MAX];
	char path[IBV_SYSFS_PATH_MAX + NAME_SIZE];
	unsigned int process; /* from verbs_check_process(); a child counts from its own start */
	unsigned int port;    /* or DEVICE */
	unsigned int count;
	struct counter all[];
};

static struct counters *watched; /* guarded by the checker's lock; entries do not change */

static bool is_name(const char *name)
{
	return *name != '.' && strlen(name) < NAME_SIZE &&
	       !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
				  ".-")];
}

/* Reads a file, but nothing that may block, as a pipe. Returns false if there is none. */
static bool text_read(const char *path, const char *name, char *text, size_t size)
{
	char full[IBV_SYSFS_PATH_MAX + 2 * NAME_SIZE];
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (!verbs_text_join(full, sizeof(full), path, "/", name))
		return false;
	fd = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool counter_read(const char *path, const char *name, uint64_t *value)
{
	char text[32], *end;

	/* not a count of events, but how long the kernel keeps values */
	if (!is_name(name) || !strcmp(name, "lifespan") ||
	    !text_read(path, name, text, sizeof(text)) || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && (!*end || !strcmp(end, "\n"));
}

static void counters_fill(struct counters *counters, DIR *dir)
{
	struct dirent *entry;
	uint64_t value;

	while (counters->count < COUNTERS_MAX && (entry = readdir(dir))) {
		if (!counter_read(counters->path, entry->d_name, &value))
			continue;
		strcpy(counters->all[counters->count].name, entry->d_name);
		counters->all[counters->count++].start = value;
	}
}

/* Reads the counters of a port, or of the device. Returns NULL if there are none. */
static struct counters *counters_read(const struct ibv_device *device, unsigned int port)
{
	struct counters *counters =
		calloc(1, sizeof(*counters) + COUNTERS_MAX * sizeof(struct counter));
	DIR *dir;

	if (!counters)
		return NULL;
	counters->process = verbs_check_process();
	counters->port = port;
	verbs_text_join(counters->device, sizeof(counters->device), device->name, "", "");
	if (port == DEVICE)
		snprintf(counters->path, sizeof(counters->path), "%s/hw_counters",
			 device->ibdev_path);
	else
		snprintf(counters->path, sizeof(counters->path), "%s/ports/%u/hw_counters",
			 device->ibdev_path, port);
	dir = opendir(counters->path);
	if (!dir) {
		free(counters);
		return NULL;
	}
	counters_fill(counters, dir);
	closedir(dir);
	return counters;
}

static bool port_exists(const struct ibv_device *device, unsigned int port)
{
	char path[IBV_SYSFS_PATH_MAX + NAME_SIZE];

	snprintf(path, sizeof(path), "%s/ports/%u", device->ibdev_path, port);
	return !access(path, F_OK);
}

static bool is_ours(const struct counters *counters)
{
	return counters->process == verbs_check_process();
}

static bool device_is_watched(const char *name)
{
	const struct counters *at;

	verbs_check_lock();
	at = watched;
	while (at && (!is_ours(at) || strcmp(at->device, name) != 0))
		at = at->next;
	verbs_check_unlock();
	return at;
}

static void counters_watch(struct counters *counters)
{
	verbs_check_lock();
	counters->next = watched;
	watched = counters;
	verbs_check_unlock();
}

void verbs_check_counters_watch(const struct ibv_device *device)
{
	struct counters *counters;

	if (device_is_watched(device->name))
		return;
	counters = counters_read(device, DEVICE);
	if (counters)
		counters_watch(counters);
	for (unsigned int port = 1; port <= PORTS_MAX && port_exists(device, port); port++) {
		counters = counters_read(device, port);
		if (counters)
			counters_watch(counters);
	}
}

/* Sets *BY to how far a counter has moved. */
static bool has_moved(const struct counters *counters, unsigned int which, uint64_t *by)
{
	const struct counter *counter = &counters->all[which];
	uint64_t now;

	if (!counter_read(counters->path, counter->name, &now) || now <= counter->start)
		return false;
	*by = now - counter->start;
	return true;
}

/* Writes the counters that have moved to TEXT, as "NAME +N, NAME +N, and N more": each one whole,
 * or not at all. */
static void moves_write(const struct counters *counters, char *text, size_t size)
{
	char piece[NAME_SIZE + 32];
	unsigned int more = 0;
	size_t length = 0;
	uint64_t by;

	*text = '\0';
	for (unsigned int i = 0; i < counters->count; i++) {
		if (!has_moved(counters, i, &by))
			continue;
		snprintf(piece, sizeof(piece), "%s%s +%llu", length ? ", " : "",
			 counters->all[i].name, (unsigned long long)by);
		if (length + strlen(piece) + MORE_SIZE > size) {
			more++;
			continue;
		}
		strcpy(text + length, piece);
		length += strlen(piece);
	}
	if (more)
		snprintf(text + length, MORE_SIZE, ", and %u more", more);
}

static void counters_say(const struct counters *counters)
{
	char text[700], owner[16] = "the device";

	moves_write(counters, text, sizeof(text));
	if (counters->port != DEVICE)
		snprintf(owner, sizeof(owner), "port %u", counters->port);
	if (*text)
		verbs_log_write_each(VERBS_LOG_WARN,
				     "status: %s: counters of %s that have moved since the start, "
				     "by this program or another: %s",
				     counters->device, owner, text);
}

void verbs_check_counters_say(void)
{
	const struct counters *at;

	verbs_check_lock();
	at = watched;
	verbs_check_unlock();
	for (; at; at = at->next)
		if (is_ours(at))
			counters_say(at);
}
