/* Between the resolver and the streams that questions come in (resolve.c, dnstcp.c). */
#ifndef VIV_GATE_RESOLVE_H
#define VIV_GATE_RESOLVE_H

#include "base/list.h"
#include "gate/dns.h"

struct stream;

/* A question of n bytes that came in s (with questions, its list of those that are not answered
 * yet), or as the datagram id (both NULL). The answer may come before the return. False: it is not
 * a question. pid: of the process that asks. */
bool resolve_ask(const uint8_t *p, size_t n, struct stream *s, struct list *questions, uint32_t id,
		 int32_t pid);
/* The stream is going: its questions are answered to nobody. */
void questions_forget(struct list *questions);

/* The answer to a question of s, which may end it. */
void stream_answer(struct stream *s, const uint8_t *p, size_t n);

#endif
