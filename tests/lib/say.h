/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * say.h - prints results as lines of text that are the same in every run.
 *
 * Differential programs print the results of calls, and scripts compare two runs by diff. So a line
 * has nothing that differs from run to run: no pointer, no handle, no QP number, no time.
 */
#ifndef TESTS_LIB_SAY_H
#define TESTS_LIB_SAY_H

#include <errno.h>
#include <stdbool.h>
#include <infiniband/verbs.h>

#define SAY_FORMAT(fmt_arg) __attribute__((format(printf, fmt_arg, (fmt_arg) + 1)))

void say_topic(const char *topic);
void say(const char *fmt, ...) SAY_FORMAT(1);

const char *say_errno(int err);

/* Clears errno first, so that the value of an earlier call is not printed. */
#define SAY_RET(call, ...) (errno = 0, say_ret((call), __VA_ARGS__))
#define SAY_PTR(call, ...) (errno = 0, say_ptr((call), __VA_ARGS__))
/* Prints "...: 0", "...: EINVAL", or "...: -1 errno EINVAL". Returns RET. */
int say_ret(int ret, const char *fmt, ...) SAY_FORMAT(2);
/* Prints "...: object", or "...: NULL errno EINVAL". Returns OBJECT. */
void *say_ptr(void *object, const char *fmt, ...) SAY_FORMAT(2);

/* Makes say_ret(), say_ptr() and say_result() call WATCH for each result, with whether it is a
 * refusal. NULL ends that. */
void say_watch(void (*watch)(bool refused));
void say_result(bool refused);

/* Prints every valid field of a completion. src_qp is printed as the peer's or another, by
 * PEER_QPN. */
void say_wc(const char *who, const struct ibv_wc *wc, uint32_t peer_qpn);

/* Checks a condition that must hold on any library: prints "ok" or "WRONG", which makes the program
 * fail. */
bool say_check(bool condition, const char *fmt, ...) SAY_FORMAT(2);
int say_checks(void);
int say_failures(void);

/* Checks set-up that a test needs but does not examine; on failure ends the program with exit code
 * 1. */
#define MUST(condition) ((condition) ? (void)0 : say_must_failed(__FILE__, __LINE__, #condition))
void say_must_failed(const char *file, int line, const char *condition) __attribute__((noreturn));

#endif
