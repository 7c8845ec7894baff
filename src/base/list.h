/* Intrusive doubly linked lists. A link that is in no list points at itself, so removing it twice
 * is harmless and list_is_empty(link) tells whether an object is queued. */
#ifndef VIV_BASE_LIST_H
#define VIV_BASE_LIST_H

#include "base/base.h"

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name)          \
	{                        \
		&(name), &(name) \
	}

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_insert(struct list *prev, struct list *next, struct list *l)
{
	l->prev = prev;
	l->next = next;
	prev->next = l;
	next->prev = l;
}

/* At the front of head. */
static inline void list_push(struct list *head, struct list *l)
{
	list_insert(head, head->next, l);
}

/* At the end of head. */
static inline void list_append(struct list *head, struct list *l)
{
	list_insert(head->prev, head, l);
}

static inline void list_remove(struct list *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	list_init(l);
}

#define list_entry(l, type, member) container_of(l, type, member)
#define list_first(head, type, member) list_entry((head)->next, type, member)
#define list_last(head, type, member) list_entry((head)->prev, type, member)

#define list_for_each(pos, head, member)                                                       \
	for (pos = list_entry((head)->next, __typeof__(*pos), member); &pos->member != (head); \
	     pos = list_entry(pos->member.next, __typeof__(*pos), member))

/* The current entry may be removed (no other may). */
#define list_for_each_safe(pos, tmp, head, member)                        \
	for (pos = list_entry((head)->next, __typeof__(*pos), member),    \
	    tmp = list_entry(pos->member.next, __typeof__(*pos), member); \
	     &pos->member != (head);                                      \
	     pos = tmp, tmp = list_entry(tmp->member.next, __typeof__(*tmp), member))

#endif
