/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaks.c - objects that the program has not destroyed when it ends, and the calls that made them
 * (VERBS_CHECK=leaks).
 */
#include "check.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES = 12, PLACE_SIZE = 200 };

struct made {
	struct check_record record;
	const char *call;
	void *frames[FRAMES];
	int count;
};

void verbs_check_made(const void *object, const char *call)
{
	void *frames[FRAMES];
	struct made *made;
	int count;

	if (!verbs_check_settings.leaks)
		return;
	/* Without the lock: it may load a library, and takes that loader's locks. */
	count = backtrace(frames, FRAMES);
	verbs_check_lock();
	made = verbs_check_add(CHECK_MADE, NULL, check_id(object), sizeof(*made));
	if (made) {
		made->call = call;
		memcpy(made->frames, frames, sizeof(frames));
		made->count = count;
	}
	verbs_check_unlock();
}

void verbs_check_unmade(const void *object)
{
	struct check_record *record = verbs_check_find(CHECK_MADE, NULL, check_id(object));

	if (record)
		check_live(record, false);
}

/* Writes the first frame outside of this library and of librdmacm: "prog(main+0x1b)". Returns
 * false if there is none, as in a static program, or if librdmacm made the object for itself: it
 * keeps a PD for each device. */
static bool place_write(const struct made *made, char *to)
{
	Dl_info own, info;

	if (!dladdr(&verbs_check_settings, &own))
		return false;
	for (int i = 0; i < made->count; i++) {
		if (!dladdr(made->frames[i], &info) || info.dli_fbase == own.dli_fbase)
			continue;
		if (strstr(info.dli_fname, "librdmacm.so")) {
			if (!strcmp(made->call, "ibv_alloc_pd"))
				return false;
			continue;
		}
		snprintf(to, PLACE_SIZE, "%s(%s+0x%zx)", info.dli_fname,
			 info.dli_sname ? info.dli_sname : "",
			 (size_t)((char *)made->frames[i] -
				  (char *)(info.dli_sname ? info.dli_saddr : info.dli_fbase)));
		return true;
	}
	return false;
}

static void leak_say(const struct check_record *record)
{
	const struct made *made = (const struct made *)record;
	char place[PLACE_SIZE];

	if (place_write(made, place))
		verbs_check_say(CHECK_LEAK,
				"at exit: the object of %s() at %s was never destroyed: destroy it "
				"before the program ends",
				made->call, place);
}

static void __attribute__((destructor)) leaks_say(void)
{
	if (verbs_check_settings.leaks)
		verbs_check_each(CHECK_MADE, leak_say);
}
