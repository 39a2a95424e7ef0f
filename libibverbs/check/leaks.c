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

struct made {
	struct check_record record;
	struct check_place place;
};

/* Takes no lock of the checker, because backtrace() may load a library and takes the dynamic
 * linker's locks. On 32-bit ARM, C code has no unwind tables by default, so no place is found and
 * no leak is logged. */
void verbs_check_place_take(struct check_place *place, const char *call)
{
	place->call = call;
	place->count = backtrace(place->frames, CHECK_FRAMES);
}

void verbs_check_made(const void *object, const char *call)
{
	struct check_place place;
	struct made *made;

	if (!verbs_check_settings.leaks)
		return;
	verbs_check_place_take(&place, call);
	verbs_check_lock();
	made = verbs_check_add(CHECK_MADE, NULL, check_id(object), sizeof(*made));
	if (made)
		made->place = place;
	verbs_check_unlock();
}

void verbs_check_unmade(const void *object)
{
	struct check_record *record = verbs_check_find(CHECK_MADE, NULL, check_id(object));

	if (record)
		check_live(record, false);
}

bool verbs_check_place_write(const struct check_place *place, char *to)
{
	Dl_info own, info;

	if (!dladdr(&verbs_check_settings, &own))
		return false;
	for (int i = 0; i < place->count; i++) {
		if (!dladdr(place->frames[i], &info) || info.dli_fbase == own.dli_fbase)
			continue;
		if (strstr(info.dli_fname, "librdmacm.so")) {
			if (!strcmp(place->call, "ibv_alloc_pd"))
				return false;
			continue;
		}
		snprintf(to, CHECK_PLACE_SIZE, "%s(%s+0x%zx)", info.dli_fname,
			 info.dli_sname ? info.dli_sname : "",
			 (size_t)((char *)place->frames[i] -
				  (char *)(info.dli_sname ? info.dli_saddr : info.dli_fbase)));
		return true;
	}
	return false;
}

static void leak_say(const struct check_record *record)
{
	const struct made *made = (const struct made *)record;
	char place[CHECK_PLACE_SIZE];

	if (verbs_check_place_write(&made->place, place))
		verbs_check_say(CHECK_LEAK,
				"at exit: the object of %s() at %s was never destroyed: destroy it "
				"before the program ends",
				made->place.call, place);
}

static void __attribute__((destructor)) leaks_say(void)
{
	if (verbs_check_settings.leaks)
		verbs_check_each(CHECK_MADE, leak_say);
}
