/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * run.c - makes each call of a family in a process of its own, and prints its result. The parent
 * opens nothing, so no process sees leftovers of an earlier one. A call that has not returned after
 * PATIENCE seconds counts as hanging.
 *
 * Covers: libibverbs/ops.c
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "odd.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

enum { PATIENCE = 60, WITHOUT = 3, SAID_WRONG = 4, AREA = 4096, UNTOUCHED = 0x5a };

bool odd_errno_is_set;
static unsigned int lines, wrong;
static bool process_said_wrong;

/* What a call may write to, and the arguments that are such areas. */
static uint8_t areas[MAX_ARGS][AREA] __attribute__((aligned(64)));

void odd_without(const char *what)
{
	printf("without %s\n", what);
	fflush(stdout);
	_exit(WITHOUT);
}

static const char *text_of(enum odd_returns returns, long ret, char *text, size_t size)
{
	switch (returns) {
	case ERRNO:
	case POLLED:
		if ((int)ret < 0)
			snprintf(text, size, "-%s", say_errno(-(int)ret));
		else
			snprintf(text, size, "%s", say_errno((int)ret));
		return text;
	case DESCRIPTOR:
		return (int)ret < 0 ? "-1" : "some";
	case OBJECT:
		return ret ? "object" : "NULL";
	case NOTHING:
		return "returns";
	case YES_NO:
		return ret & 0xff ? "yes" : "no";
	default:
		snprintf(text, size, "%d", (int)ret);
		return text;
	}
}

static bool has_failed(enum odd_returns returns, long ret)
{
	switch (returns) {
	case OBJECT:
		return !ret;
	case ERRNO:
	case POLLED:
		return (int)ret != 0;
	case MINUS_ONE:
	case DESCRIPTOR:
		return (int)ret < 0;
	default:
		return false;
	}
}

void odd_say(const char *call, enum odd_returns returns, long ret)
{
	const int err = errno;
	char text[32];

	printf("%s%s", call, text_of(returns, ret, text, sizeof(text)));
	if (returns != ERRNO && returns != POLLED && has_failed(returns, ret))
		printf(" errno %s", say_errno(err));
	if (odd_errno_is_set && returns == ERRNO && (int)ret > 0 && err != (int)ret) {
		printf(" but errno is %s: WRONG", say_errno(err));
		process_said_wrong = true;
	}
}

/* One odd value at most is among the arguments. */
struct odd_case {
	const struct odd_call *call;
	int arg; /* -1: all are good */
	const struct odd_value *value;
	const struct odd_field *field;
	bool ones;
};

static long good_value(const struct odd_arg *arg, int i)
{
	if (arg->is_out)
		return (long)(uintptr_t)areas[i];
	return arg->make ? (long)(uintptr_t)arg->make() : arg->good;
}

static long case_value(const struct odd_case *odd, int i)
{
	const struct odd_arg *arg = odd->call->args[i];
	uint8_t *at;

	if (i == odd->arg && odd->value)
		return odd->value->make ? (long)(uintptr_t)odd->value->make() : odd->value->value;
	at = (uint8_t *)good_value(arg, i);
	if (i == odd->arg)
		memset(at + odd->field->offset, odd->ones ? 0xff : 0, odd->field->size);
	return (long)(uintptr_t)at;
}

static bool area_is_untouched(const uint8_t *area)
{
	return *area == UNTOUCHED && !memcmp(area, area + 1, AREA - 1);
}

/* What a failed call leaves in the areas is as before. */
static void say_areas(const struct odd_case *odd)
{
	for (int i = 0; i < MAX_ARGS && odd->call->args[i]; i++)
		if (odd->call->args[i]->is_out && !area_is_untouched(areas[i]))
			printf(", %s written", odd->call->args[i]->name);
}

static odd_function function_of(const struct odd_call *call)
{
	void *symbol = dlsym(RTLD_DEFAULT, call->name);

	if (!call->function && !symbol)
		odd_without(call->name);
	return call->function ? call->function : (odd_function)symbol;
}

static void make_call(const struct odd_case *odd)
{
	const odd_function function = function_of(odd->call);
	long at[MAX_ARGS] = { 0 }, ret;

	memset(areas, UNTOUCHED, sizeof(areas));
	for (int i = 0; i < MAX_ARGS && odd->call->args[i]; i++)
		at[i] = case_value(odd, i);
	errno = 0;
	ret = function(at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]);
	odd_say("", odd->call->returns, ret);
	if (has_failed(odd->call->returns, ret))
		say_areas(odd);
}

static void say_end(int status)
{
	if (WIFSIGNALED(status))
		printf("%s%s\n", WTERMSIG(status) == SIGALRM ? "hangs" : "signal ",
		       WTERMSIG(status) == SIGALRM ? "" : sigabbrev_np(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == WITHOUT)
		return;
	else
		printf("%s\n",
		       WEXITSTATUS(status) && WEXITSTATUS(status) != SAID_WRONG ? "exits" : "");
	lines++;
	wrong += WIFEXITED(status) && WEXITSTATUS(status) == SAID_WRONG;
}

/* Runs a test in a process, as it may crash. One that ends by a signal leaves only the output that
 * it has flushed. */
static void in_process(void (*run)(const void *), const void *what)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		const struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		alarm(PATIENCE);
		run(what);
		fflush(stdout);
		_exit(process_said_wrong ? SAID_WRONG : 0);
	}
	MUST(waitpid(child, &status, 0) == child);
	say_end(status);
}

static void run_case(const void *odd)
{
	make_call(odd);
}

static void run_order(const void *order)
{
	((const struct odd_order *)order)->run();
}

static void say_case(const struct odd_case *odd)
{
	const struct odd_arg *arg = odd->arg < 0 ? NULL : odd->call->args[odd->arg];

	if (!arg)
		printf("%s(): ", odd->call->name);
	else if (odd->value)
		printf("%s(%s %s): ", odd->call->name, arg->name, odd->value->name);
	else
		printf("%s(%s.%s %s): ", odd->call->name, arg->name, odd->field->name,
		       odd->ones ? "all ones" : "0");
	in_process(run_case, odd);
}

static void run_values(struct odd_case odd, const struct odd_arg *arg)
{
	for (int i = 0; i < MAX_VALUES && arg->values[i].name; i++) {
		odd.value = &arg->values[i];
		say_case(&odd);
	}
}

static void run_fields(struct odd_case odd, const struct odd_arg *arg)
{
	for (odd.field = arg->fields; odd.field && odd.field->name; odd.field++)
		for (odd.ones = false;; odd.ones = true) {
			say_case(&odd);
			if (odd.ones || odd.field->is_pointer)
				break;
		}
}

static void run_call(const struct odd_call *call)
{
	struct odd_case odd = { .call = call, .arg = -1 };

	say_case(&odd);
	for (odd.arg = 0; odd.arg < MAX_ARGS && call->args[odd.arg]; odd.arg++) {
		run_values(odd, call->args[odd.arg]);
		run_fields(odd, call->args[odd.arg]);
	}
}

void odd_run(const struct odd_family *family)
{
	const unsigned int before = lines, wrong_before = wrong;

	for (size_t i = 0; i < family->count; i++)
		run_call(&family->calls[i]);
	for (size_t i = 0; i < family->orders_count; i++) {
		printf("%s: ", family->orders[i].name);
		in_process(run_order, &family->orders[i]);
	}
	say_check(lines > before && wrong == wrong_before, "calls with an errno set it");
}
