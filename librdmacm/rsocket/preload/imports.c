/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * imports.c - whether this program waits by calls that are not taken over.
 *
 * What librspreload takes over is what the release does. To epoll_pwait() a set has none of the
 * rsockets that the program has put into it, so it would sleep for ever. A program that is linked
 * with it, or whose libraries are, as those of libuv are, had better keep the system's sockets.
 */
#include "preload.h"

#include <link.h>
#include <string.h>

static const char *const strangers[] = { "epoll_pwait", "epoll_pwait2" };

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

static bool is_stranger(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++) {
		if (!strcmp(name, strangers[i]))
			return true;
	}
	return false;
}

static bool object_imports(const struct object *object)
{
	const ElfW(Sym) *symbol = object->symbols;

	if (!symbol || !object->strings || !object->hash)
		return false;
	for (uint32_t i = 0; i < object->hash[1]; i++, symbol++) {
		if (symbol->st_shndx == SHN_UNDEF && is_stranger(object->strings + symbol->st_name))
			return true;
	}
	return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object object = { NULL, NULL, NULL };

	(void)size, (void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			object_read(info, address_in(info, info->dlpi_phdr[i].p_vaddr), &object);
	}
	return object_imports(&object);
}

bool preload_waits_elsewhere(void)
{
	return dl_iterate_phdr(look_at_object, NULL);
}
