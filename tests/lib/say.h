/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * say.h - results as lines of text that are equal in every run.
 *
 * Differential programs print what a call gave, and two runs are compared by diff. So nothing that
 * a run may choose is printed: no pointer, no handle, no queue pair number, no time.
 */
#ifndef TESTS_LIB_SAY_H
#define TESTS_LIB_SAY_H

#include <errno.h>
#include <stdbool.h>
#include <infiniband/verbs.h>

#define SAY_FORMAT(fmt_arg) __attribute__((format(printf, fmt_arg, (fmt_arg) + 1)))

/* Begins every following line, until the next call. */
void say_topic(const char *topic);
void say(const char *fmt, ...) SAY_FORMAT(1);

/* Returns the name of an error, such as "EINVAL", or "0". */
const char *say_errno(int err);

/* Without an access to errno before the call, what an earlier call left there would be printed. */
#define SAY_RET(call, ...) (errno = 0, say_ret((call), __VA_ARGS__))
#define SAY_PTR(call, ...) (errno = 0, say_ptr((call), __VA_ARGS__))
/* "...: 0", "...: EINVAL", or "...: -1 errno EINVAL"; returns RET. */
int say_ret(int ret, const char *fmt, ...) SAY_FORMAT(2);
/* "...: object", or "...: NULL errno EINVAL"; returns OBJECT. */
void *say_ptr(void *object, const char *fmt, ...) SAY_FORMAT(2);

/* Calls WATCH for each result of the two above and of say_result(), with whether it was a refusal;
 * NULL ends that. */
void say_watch(void (*watch)(bool refused));
void say_result(bool refused);

/* Every valid field of a completion; PEER_QPN decides how src_qp reads. */
void say_wc(const char *who, const struct ibv_wc *wc, uint32_t peer_qpn);

/* A condition that the contract promises on any library: prints "ok" or "WRONG", and makes the
 * program fail. */
bool say_check(bool condition, const char *fmt, ...) SAY_FORMAT(2);
/* How many conditions were checked, and how many of them did not hold. */
int say_checks(void);
int say_failures(void);

/* Set-up that a test needs but does not examine: ends the program with exit code 1. */
#define MUST(condition) ((condition) ? (void)0 : say_must_failed(__FILE__, __LINE__, #condition))
void say_must_failed(const char *file, int line, const char *condition) __attribute__((noreturn));

#endif
