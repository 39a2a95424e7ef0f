/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - runs a fuzzer from seeds: [--seed N] [--runs N] [--seconds N] [--verbose].
 *
 * Run R of seed S does what seed S+R does alone, so that a failure is repeated by its own number,
 * which is printed. The fuzzer itself is libFuzzer's entry point; built with clang and
 * -fsanitize=fuzzer this file is left out.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MAX_BYTES = 8192 };

static char now_running[64];

/* Prints the seed, by which the run can be repeated; also called when a sanitizer ends the
 * process. */
static void tell_seed(void)
{
	(void)!write(STDERR_FILENO, now_running, strlen(now_running));
}

static void on_abort(int signal)
{
	(void)signal;
	tell_seed();
	_exit(1);
}

/* The generator is splitmix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void run_one(uint64_t seed)
{
	static uint8_t bytes[MAX_BYTES];
	uint64_t state = seed;
	size_t len = MAX_BYTES / 8 + next_random(&state) % (MAX_BYTES * 7 / 8);

	for (size_t i = 0; i < len; i++)
		bytes[i] = next_random(&state) >> 56;
	snprintf(now_running, sizeof(now_running), "failed with --seed %llu --runs 1\n",
		 (unsigned long long)seed);
	LLVMFuzzerTestOneInput(bytes, len);
}

static uint64_t option(int argc, char **argv, const char *name, uint64_t otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], name))
			return strtoull(argv[i + 1], NULL, 0);
	return otherwise;
}

/* Refuses unknown options. Ignoring one would run another test than was asked for. */
static void options_check(int argc, char **argv)
{
	static const char *const names[] = { "--seed", "--runs", "--seconds" };

	for (int i = 1; i < argc; i += 2) {
		bool known = false;

		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			known = known || !strcmp(argv[i], names[n]);
		if (known && i + 1 < argc)
			continue;
		fprintf(stderr, "usage: %s [--seed N] [--runs N] [--seconds N]\n", argv[0]);
		exit(2);
	}
}

/* Defined by the sanitizers. They call CALLBACK before they end the process. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* Defined by fuzzers with strict adapters: see reports.h. */
unsigned int fuzz_count_reports(void) __attribute__((weak));

/* Returns whether random work caused no report: no adapter can have been strict then, as such work
 * breaks rules all the time. */
static bool reports_are_missing(uint64_t runs)
{
	enum { A_REPORT_IS_SURE = 100 };

	if (!fuzz_count_reports)
		return false;
	printf("%u reports of strict adapters\n", fuzz_count_reports());
	return runs >= A_REPORT_IS_SURE && !fuzz_count_reports();
}

int main(int argc, char **argv)
{
	uint64_t seed = option(argc, argv, "--seed", 1);
	uint64_t runs = option(argc, argv, "--runs", UINT64_MAX);
	uint64_t seconds = option(argc, argv, "--seconds", runs == UINT64_MAX ? 10 : UINT32_MAX);
	time_t end = time(NULL) + (time_t)seconds;
	uint64_t i;

	options_check(argc, argv);
	signal(SIGABRT, on_abort);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(tell_seed);
	for (i = 0; i < runs && time(NULL) < end; i++)
		run_one(seed + i);
	printf("%llu runs from seed %llu\n", (unsigned long long)i, (unsigned long long)seed);
	return i && !reports_are_missing(i) ? EXIT_SUCCESS : EXIT_FAILURE;
}
