/* What vivd says of itself: /v1/version, /v1/openapi.json. */
#include <unistd.h>

#include "api/openapi.h"
#include "api/routes.h"

void version_get(struct request *r)
{
	struct daemon *d = r->d;

	if (r->rights.family) { /* a cell is told nothing of the host */
		reply_json(r, 200, json_pack("{s:s,s:s}", "version", VIV_VERSION, "api", "v1"));
		return;
	}
	reply_json(r, 200,
		   json_pack("{s:s,s:s,s:i,s:s,s:s,s:f,s:b}", "version", VIV_VERSION, "api", "v1",
			     "pid", (int)getpid(), "socket", d->socket, "started",
			     time_text(d->started).str, "uptime",
			     (double)(uv_hrtime() - d->began) / NSEC_PER_SEC, "activated",
			     (int)d->activated));
}

void openapi_get(struct request *r)
{
	reply_text(r, 200, "application/json", openapi_json, (size_t)(openapi_end - openapi_json));
}
