/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* say.c - see say.h. Lines are flushed one by one, so that a crash leaves its place in
 * the output. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "say.h"
#include "util/bits.h"

static const char *current_topic = "";
static int checks, failures;
static void (*watcher)(bool refused);

void say_topic(const char *topic)
{
	current_topic = topic;
}

static void line_begin(const char *fmt, va_list args)
{
	printf("%s: ", current_topic);
	vprintf(fmt, args);
}

static void line_end(const char *tail)
{
	printf("%s\n", tail);
	fflush(stdout);
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line_begin(fmt, args);
	va_end(args);
	line_end("");
}

const char *say_errno(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "no errno value";
}

void say_watch(void (*watch)(bool refused))
{
	watcher = watch;
}

void say_result(bool refused)
{
	if (watcher)
		watcher(refused);
}

int say_ret(int ret, const char *fmt, ...)
{
	int err = errno;
	char tail[64];
	va_list args;

	if (ret < 0)
		snprintf(tail, sizeof(tail), ": %d errno %s", ret, say_errno(err));
	else
		snprintf(tail, sizeof(tail), ": %s", say_errno(ret));
	va_start(args, fmt);
	line_begin(fmt, args);
	va_end(args);
	line_end(tail);
	say_result(ret != 0);
	return ret;
}

void *say_ptr(void *object, const char *fmt, ...)
{
	int err = errno;
	char tail[64];
	va_list args;

	snprintf(tail, sizeof(tail), ": NULL errno %s", say_errno(err));
	va_start(args, fmt);
	line_begin(fmt, args);
	va_end(args);
	line_end(object ? ": object" : tail);
	say_result(!object);
	return object;
}

static const char *opcode_name(enum ibv_wc_opcode opcode)
{
	static const struct {
		enum ibv_wc_opcode opcode;
		const char *name;
	} names[] = {
		{ IBV_WC_SEND, "SEND" },
		{ IBV_WC_RDMA_WRITE, "RDMA_WRITE" },
		{ IBV_WC_RDMA_READ, "RDMA_READ" },
		{ IBV_WC_COMP_SWAP, "COMP_SWAP" },
		{ IBV_WC_FETCH_ADD, "FETCH_ADD" },
		{ IBV_WC_BIND_MW, "BIND_MW" },
		{ IBV_WC_LOCAL_INV, "LOCAL_INV" },
		{ IBV_WC_RECV, "RECV" },
		{ IBV_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].opcode == opcode)
			return names[i].name;
	return "unknown opcode";
}

/* An error completion has four valid fields: wr_id, status, vendor_err and qp_num. */
static void say_wc_error(const char *who, const struct ibv_wc *wc)
{
	say("%s wc %llu %s vendor_err 0x%x", who, (unsigned long long)wc->wr_id,
	    ibv_wc_status_str(wc->status), wc->vendor_err);
}

static const char *qpn_relation(uint32_t qpn, uint32_t peer_qpn)
{
	if (qpn == 0)
		return "0";
	return qpn == peer_qpn ? "peer" : "other";
}

void say_wc(const char *who, const struct ibv_wc *wc, uint32_t peer_qpn)
{
	char extra[64] = "";

	if (wc->status != IBV_WC_SUCCESS) {
		say_wc_error(who, wc);
		return;
	}
	if ((wc->opcode & IBV_WC_RECV) && (wc->wc_flags & IBV_WC_WITH_IMM))
		snprintf(extra, sizeof(extra), " imm 0x%x", ntohl(wc->imm_data));
	else if (wc->wc_flags & IBV_WC_WITH_INV)
		snprintf(extra, sizeof(extra), " invalidated a key");
	if (wc->opcode & IBV_WC_RECV)
		say("%s wc %llu success %s %u bytes flags 0x%x%s src_qp %s sl %u slid %u path %u",
		    who, (unsigned long long)wc->wr_id, opcode_name(wc->opcode), wc->byte_len,
		    wc->wc_flags, extra, qpn_relation(wc->src_qp, peer_qpn), wc->sl, wc->slid,
		    wc->dlid_path_bits);
	else
		say("%s wc %llu success %s flags 0x%x%s", who, (unsigned long long)wc->wr_id,
		    opcode_name(wc->opcode), wc->wc_flags, extra);
}

bool say_check(bool condition, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line_begin(fmt, args);
	va_end(args);
	line_end(condition ? ": ok" : ": WRONG");
	__atomic_fetch_add(&checks, 1, __ATOMIC_RELAXED); /* atomically, as threads check, too */
	if (!condition)
		__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
	return condition;
}

int say_checks(void)
{
	return __atomic_load_n(&checks, __ATOMIC_RELAXED);
}

int say_failures(void)
{
	return __atomic_load_n(&failures, __ATOMIC_RELAXED);
}

void say_must_failed(const char *file, int line, const char *condition)
{
	int err = errno;
	const char *base = strrchr(file, '/');

	printf("%s: %s: line %d needs: %s (errno %s)\n", current_topic, base ? base + 1 : file,
	       line, condition, say_errno(err));
	fflush(stdout);
	exit(1);
}
