/* See hooks.h. */
#include "kernel/task/hooks.h"

#include "base/siphash.h"
#include "host/host.h"

const struct hooks *hooks[HOOKS_MAX + 1] SEALED;
static uint64_t key[2] SEALED;
unsigned hooks_wants;
bool hooks_watch SEALED;

void hooks_add(const struct hooks *h)
{
	size_t n = 0;

	while (hooks[n])
		n++;
	if (n == HOOKS_MAX)
		memory_damaged("there are more tables of hooks than the kernel has subsystems");
	if (!n)
		host_random(key, sizeof(key));
	hooks[n] = h;
	hooks_watch |= h->leave != NULL;
}

void hooks_wanted(bool on)
{
	hooks_wants += on ? 1 : (unsigned)-1;
}

void hooks_leave(const struct task *t, int64_t ret)
{
	for (size_t i = 0; hooks[i]; i++)
		if (hooks[i]->leave)
			CHECKED(hooks[i])->leave(t, ret);
}

uint64_t hooks_print(uint64_t before, const void *piece, size_t n)
{
	const uint64_t k[2] = { key[0] ^ before, key[1] };

	return siphash(k, piece, n);
}

bool call_was_asked(struct task *t, uint64_t print)
{
	struct call_asked *k = &t->call.asked;

	if (k->at == k->count || k->prints[k->at] != print)
		return false;
	k->at++;
	return true;
}

void call_note_asked(struct task *t, uint64_t print)
{
	struct call_asked *k = &t->call.asked;

	if (k->at == ASKED_MAX)
		return; /* a later run asks again */
	k->prints[k->at++] = print;
	k->count = k->at;
}
