/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cancelled.c - configurations of memory keys that are aborted, refused, or never finished: the
 * next one finds the key unchanged, and setters do not affect the next batch. Cases use the words
 * of mkeys.c; "X" aborts a batch and "C" completes it, then another begins. With a wire signature
 * 512 bytes become 520, which shows whether the key has one.
 *
 * Covers: providers/mlx5/data/mkey/, providers/mlx5/dv/mkey.c
 */
#include "tests/verbs/dv/dv.h"
#include "tests/verbs/dv/keys.h"
#include "util/bits.h"

enum {
	SIGNATURE = MLX5DV_MKEY_INIT_ATTR_FLAGS_BLOCK_SIGNATURE,
	CRYPTO = MLX5DV_MKEY_INIT_ATTR_FLAGS_CRYPTO,
	BOTH = SIGNATURE | CRYPTO,
};

struct taken_back {
	const char *words;
	uint32_t flags;
	uint32_t bytes; /* that arrive */
};

static void run_taken_back(struct rig *rig, const struct taken_back *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bytes = keys_case(rig, cases[i].words, 512, 4, cases[i].flags).bytes;

		say_check(bytes == cases[i].bytes, "%s: %u bytes came, of %u", cases[i].words,
			  bytes, cases[i].bytes);
	}
}

void dv_cancelled(struct rig *rig)
{
	static const struct taken_back cases[] = {
		{ "c3 a w512 g010 f0 L1 C f10 c2 a w512 s512", SIGNATURE, 512 },
		{ "c3 a w512 g010 C c3 a w512 g030 X c2 a w512 s520", SIGNATURE, 520 },
		{ "c3 a w512 g010 X c3 a w512 g010 s520", SIGNATURE, 520 },
		{ "c3 a w512 e100 X c3 a w512 e100 s512", CRYPTO, 512 },
		{ "c3 a w512 e100 C c3 a w512 e105 X c2 a w512 s512", CRYPTO, 512 },
		{ "c4 a w512 g010 e310 C c3 a w512 e0 X c2 a w512 s520", BOTH, 520 },
		{ "c3 a w512 g010 X c2 a w512 s520", SIGNATURE, 0 },
		{ "c3 a g010 l5 C c2 a w512 s520", SIGNATURE, 0 },
		{ "c3 a g018 C c2 a w512 s520", SIGNATURE, 0 },
	};

	run_taken_back(rig, cases, ARRAY_SIZE(cases));
}

/* Not compared, as the distribution's library assumes that the device has these configurations:
 * there a key lacks its earlier signature, keeps an aborted encryption, or is configured by setters
 * of another batch. */
void dv_taken_back(struct rig *rig)
{
	static const struct taken_back cases[] = {
		{ "c3 a w512 g010 C r2 a w512 X c2 a w512 s520", SIGNATURE, 520 },
		{ "c4 a w512 g010 e310 X c3 a w512 g010 s520", BOTH, 0 },
		{ "c3 a w512 e100 X c2 a w512 s512", CRYPTO, 0 },
		/* the second signature of a batch is not written over the one before it */
		{ "c3 a w512 g010 C c3 a w512 g030 f10 c3 a w512 g100 X c3 a w512 e310 s520", BOTH,
		  520 },
		{ "c3 a g010 C c2 a w512 s520", SIGNATURE, 0 },
		/* the device has 2 GiB for the length of a piece */
		{ "c2 a b2147483649", 0, 0 },
		{ "c2 a b4294967295 C L1 s8", 0, 8 },
		{ "c2 a b2147483648 s16", 0, 16 },
		{ "c2 a X l2 s16", 0, 0 },
		{ "c2 a C l2 s16", 0, 0 },
		{ "c2 a C l2 C L2 s16", 0, 16 },
		{ "c2 X a l2 C L2 s16", 0, 16 },
	};

	run_taken_back(rig, cases, ARRAY_SIZE(cases));
}

/* A configuration is up to three requests of the device. If they fail, the program gets one
 * completion. Not compared, as it gets one for each with the distribution's library. */
void dv_failed_once(struct rig *rig)
{
	static const struct {
		const char *words;
		int completions;
	} cases[] = {
		{ "s8 f10 c3 a w512 g010", 2 },
		{ "s8 f10 c3 a w512 g110 L1", 3 },
		{ "f10 c3 a w512 g010 s530 f10 c3 a w512 g110", 3 },
		{ "f10 c3 a w512 g110 s530 f8 c3 a w512 g010 f10 c3 a w512 g110 s8", 5 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int completions = keys_case(rig, cases[i].words, 512, 4, SIGNATURE).completions;

		say_check(completions == cases[i].completions, "%s: %d completions, of %d",
			  cases[i].words, completions, cases[i].completions);
	}
}
