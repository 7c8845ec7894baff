/* What schedules can run: one row each. A spec names its action by having the action's field. */
#include "daemon/schedules/private.h"

const struct action *const actions[] = { &action_command, &action_prompt, &action_cell,
					 &action_workflow };
const unsigned nactions = ARRAY_LEN(actions);

const struct action *action_of(const json_t *spec)
{
	for (unsigned i = 0; i < nactions; i++)
		if (json_object_get(spec, actions[i]->field))
			return actions[i];
	return NULL;
}
