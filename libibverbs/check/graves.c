/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graves.c - queues that the program has destroyed, where it did so, and what still uses them.
 *
 * The memory of a destroyed object is free, but an inline function of the program has read it
 * before the checker is called. An object without a live record may also be one of direct verbs,
 * which got that memory. The C library tells them apart: it marks a mutex that was destroyed, and
 * the mutex of an object is destroyed with it. Once the memory has other contents, nothing is said.
 */
#include "check.h"

#include <pthread.h>
#include <string.h>

struct grave {
	struct check_record record;
	struct check_place place;
};

void verbs_check_bury(const void *object, const char *call)
{
	struct check_place place;
	struct grave *grave;

	verbs_check_place_take(&place, call);
	verbs_check_lock();
	grave = verbs_check_add(CHECK_GRAVE, NULL, check_id(object), sizeof(*grave));
	if (grave)
		grave->place = place;
	verbs_check_unlock();
}

static bool mutex_is_destroyed(pthread_mutex_t *mutex)
{
	const int err = pthread_mutex_trylock(mutex);

	if (!err)
		pthread_mutex_unlock(mutex);
	return err == EINVAL;
}

bool verbs_check_is_dead(const void *object, pthread_mutex_t *mutex, const char *call,
			 const char *owner, uint32_t number)
{
	const struct grave *grave = verbs_check_find(CHECK_GRAVE, NULL, check_id(object));
	char place[CHECK_PLACE_SIZE] = "";

	if (!grave || !mutex_is_destroyed(mutex))
		return false;
	verbs_check_place_write(&grave->place, place);
	verbs_check_say(CHECK_DEAD,
			"%s: %s 0x%x: it was destroyed by %s()%s%s: use no object after that, and "
			"destroy each once",
			call, owner, number, grave->place.call, *place ? " at " : "", place);
	return true;
}
