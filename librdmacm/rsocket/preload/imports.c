/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * imports.c - whether this program waits by calls that are not taken over.
 *
 * What librspreload takes over is what the release does. To epoll_pwait() a set has none of the
 * rsockets that the program has put into it, so it would sleep for ever. A program that is linked
 * with it, or whose libraries are, as those of libuv are, had better keep the system's sockets.
 *
 * libsystemd waits so on behalf of programs that run its event loop, and only of them. Many servers
 * are linked with it that merely report to it that they have started (redis).
 */
#include "preload.h"

#include <link.h>
#include <string.h>

static const char *const strangers[] = { "epoll_pwait", "epoll_pwait2", NULL };
static const char *const event_loops[] = { "sd_event_loop", "sd_event_run", "sd_event_wait", NULL };

/* What an object has not itself stands before what can be looked up in it. */
struct object {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash; /* of GNU's kind: the second word is where the others begin */
};

/* Where the section is for reading only, the linker has left its addresses as they were. */
static const void *address_in(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	return (const void *)(address < info->dlpi_addr ? address + info->dlpi_addr : address);
}

static void object_read(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
			struct object *object)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			object->symbols = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			object->strings = address_in(info, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			object->hash = address_in(info, entry->d_un.d_ptr);
	}
}

static bool is_one_of(const char *const *names, const char *name)
{
	for (; *names; names++) {
		if (!strcmp(*names, name))
			return true;
	}
	return false;
}

static bool object_imports(const struct object *object, const char *const *names)
{
	const ElfW(Sym) *symbol = object->symbols;

	if (!symbol || !object->strings || !object->hash)
		return false;
	for (uint32_t i = 0; i < object->hash[1]; i++, symbol++) {
		if (symbol->st_shndx == SHN_UNDEF &&
		    is_one_of(names, object->strings + symbol->st_name))
			return true;
	}
	return false;
}

static bool imports(const struct dl_phdr_info *info, const char *const *names)
{
	struct object object = { NULL, NULL, NULL };

	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			object_read(info, address_in(info, info->dlpi_phdr[i].p_vaddr), &object);
	}
	return object_imports(&object, names);
}

/* What the objects of a program wait by */
struct waits {
	bool stranger, libsystemd, event_loop;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *of_program)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;
	struct waits *waits = of_program;

	(void)size;
	if (!strncmp(name, "libsystemd.so.", strlen("libsystemd.so.")))
		waits->libsystemd = imports(info, strangers);
	else if (imports(info, strangers))
		waits->stranger = true;
	else if (imports(info, event_loops))
		waits->event_loop = true;
	return 0;
}

bool preload_waits_elsewhere(void)
{
	struct waits waits = { false, false, false };

	dl_iterate_phdr(look_at_object, &waits);
	return waits.stranger || (waits.libsystemd && waits.event_loop);
}
