/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * one_line.c - each refused call on memory keys, and each queue whose requests fail, logs one line;
 * calls that succeed log none. The calls are those of other topics. The library reads the level
 * when it is loaded, so VERBS_LOG must be warn when the program starts.
 *
 * Covers: providers/mlx5/data/mkey/checks.c, providers/mlx5/dv/mkey.c, providers/common/report.c,
 * providers/common/syndrome.c
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/verbs/dv/dv.h"

static int captured;
static int calls, refusals, misfits;

static int count_lines(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void expect_line(bool refused)
{
	char text[4096];
	ssize_t len = pread(captured, text, sizeof(text) - 1, 0);

	MUST(len >= 0 && !ftruncate(captured, 0) && lseek(captured, 0, SEEK_SET) == 0);
	text[len] = 0;
	calls++;
	refusals += refused;
	if (count_lines(text) == refused)
		return;
	misfits++;
	say_check(false, "%d lines in the log", count_lines(text));
	say("%s", text);
}

static void watch_topics(struct rig *rig, void (*const *topics)(struct rig *rig))
{
	const char *level = getenv("VERBS_LOG");
	int err = dup(STDERR_FILENO);

	MUST(level && !strcmp(level, "warn"));
	captured = memfd_create("log", MFD_CLOEXEC);
	MUST(err >= 0 && captured >= 0 && dup2(captured, STDERR_FILENO) >= 0);
	calls = refusals = misfits = 0;
	say_watch(expect_line);
	while (*topics)
		(*topics++)(rig);
	say_watch(NULL);
	MUST(dup2(err, STDERR_FILENO) >= 0 && !close(err) && !close(captured));
	say_check(refusals > 0 && calls > refusals && !misfits,
		  "%d calls, of which %d are refused and explained", calls, refusals);
}

void dv_one_line(struct rig *rig)
{
	static void (*const topics[])(struct rig * rig) = {
		dv_mkeys,        dv_mkey_queues, dv_signatures,  dv_encryption,
		dv_cancelled,    dv_taken_back,  dv_failed_once, dv_raw_wqes,
		dv_raw_too_long, dv_pipelined,   dv_in_use,      NULL,
	};

	watch_topics(rig, topics);
}

void dv_one_line_crypto(struct rig *rig)
{
	static void (*const topics[])(struct rig * rig) = { dv_crypto, dv_logged_out, NULL };

	watch_topics(rig, topics);
}
