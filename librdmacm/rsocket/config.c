/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * config.c - the clock, and the defaults of sockets, from the files below /etc/rdma/rsocket that
 * rsocket(7) describes. Each file has one number, and is read once.
 */
#include "librdmacm/rsocket/rs.h"
#include "librdmacm/rsocket/wire.h"

#include <stdio.h>
#include <time.h>

#define CONFIG_DIR "/etc/rdma/rsocket/"

/* Reads a number from file NAME. Leaves *VALUE unchanged if the file is missing, or if the number
 * is not between MIN and MAX, so that a mistake in the file keeps the default. */
static void read_number(const char *name, int min, int max, int *value)
{
	char path[sizeof(CONFIG_DIR) + 32];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), CONFIG_DIR "%s", name);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fscanf(file, "%d", &found) == 1 && found >= min && found <= max)
		*value = found;
	else
		verbs_warn("rsocket: %s: wanted a number from %d to %d", path, min, max);
	fclose(file);
}

static void read_count(const char *name, int min, int max, unsigned int *value)
{
	int number = (int)*value;

	read_number(name, min, max, &number);
	*value = number;
}

static struct rs_defaults defaults = {
	.options = { .sq_size = 384,
		     .rq_size = 384,
		     .inline_size = 64,
		     .linger = { .l_onoff = 1 },
		     .ip_tos = -1 },
	.flags = { .rx_size = 1 << 17, .tx_size = 1 << 17 },
	.polling_us = 10,
	.wake_ms = 5000,
};

static void read_all(void)
{
	struct rs_options *options = &defaults.options;

	read_number("mem_default", 1, 1 << 30, &defaults.flags.rx_size);
	read_number("wmem_default", 1, 1 << 30, &defaults.flags.tx_size);
	read_count("sqsize_default", 1, 0xfffe, &options->sq_size);
	read_count("rqsize_default", 1, 0xfffe, &options->rq_size);
	read_count("inline_default", 0, 1024, &options->inline_size);
	read_count("iomap_size", 0, WIRE_MAX_MAPPINGS, &options->mappings);
	read_number("polling_time", 0, 1000000, &defaults.polling_us);
	read_number("wake_up_interval", 1, 1 << 30, &defaults.wake_ms);
	options->mappings = rdmacm_wire_count_unscale(rdmacm_wire_count_scale(options->mappings));
}

const struct rs_defaults *rdmacm_rs_defaults(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_all);
	return &defaults;
}

static int64_t clock_us(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

int64_t rdmacm_rs_now_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

int64_t rdmacm_rs_coarse_now_us(void)
{
	return clock_us(CLOCK_MONOTONIC_COARSE);
}

int64_t rdmacm_rs_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? -1 : rdmacm_rs_now_us() + timeout_ms * 1000LL;
}

int64_t rdmacm_rs_limit_over(int64_t limit_us)
{
	if (!limit_us)
		return -1;
	return limit_us < 0 ? 0 : rdmacm_rs_now_us() + limit_us;
}

int rdmacm_rs_sleep_limit(int64_t deadline_us)
{
	int limit = rdmacm_rs_defaults()->wake_ms;
	int64_t left;

	if (deadline_us < 0)
		return limit;
	left = (deadline_us - rdmacm_rs_now_us() + 999) / 1000;
	return left < 0 ? 0 : left < limit ? (int)left : limit;
}
