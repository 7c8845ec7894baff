/* Tokens in a database of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state/events.h"
#include "daemon/state/tokens.h"
#include "tap.h"

static struct daemon d;
static struct err f;

static void tokens(void)
{
	char a[TOKEN_TEXT], b[TOKEN_TEXT], bad[TOKEN_TEXT];
	struct rights r;
	size_t refused = 0;
	json_t *list;

	eq(token_create(&d, "a", SCOPE_ADMIN, NULL, 0, a, &f), 0, "made");
	eq(token_create(&d, "b", SCOPE_CELL, "c1", 0, b, &f), 0, "made for a cell");
	ok(token_check(&d, a, &r) && r.scope == SCOPE_ADMIN && !r.cell[0], "good for all");
	ok(token_check(&d, b, &r) && r.scope == SCOPE_CELL && !strcmp(r.cell, "c1"),
	   "good for one");
	for (size_t i = 0; i < strlen(a); i++) {
		strcpy(bad, a);
		bad[i] = bad[i] == 'x' ? 'y' : 'x';
		refused += !token_check(&d, bad, &r);
	}
	eq((long long)refused, TOKEN_TEXT - 1, "none that differs in one character is good");
	memcpy(bad, b, sizeof(bad));
	memcpy(bad + 4, a + 4, TOKEN_ID_LEN);
	ok(!token_check(&d, bad, &r), "not with another one's id");
	ok(!token_check(&d, "", &r) && !token_check(&d, "viv_", &r), "nor a short one");
	list = token_list(&d, NULL);
	eq((long long)json_array_size(list), 2, "both are listed");
	char *text = json_dumps(list, 0);
	ok(!strstr(text, a + 4 + TOKEN_ID_LEN + 1), "without secrets");
	free(text);
	json_decref(list);
	memcpy(bad, a + 4, TOKEN_ID_LEN);
	bad[TOKEN_ID_LEN] = '\0';
	eq(token_revoke(&d, bad, &f), 0, "revoked");
	ok(!token_check(&d, a, &r), "not good any more");
	eq(token_revoke(&d, bad, &f), -1, "once only");
	eq(f.kind, ERR_NOT_FOUND, "then there is none");
	eq(token_create(&d, "", SCOPE_READ, NULL, time_now() - 1, a, &f), 0,
	   "one whose time is over");
	ok(!token_check(&d, a, &r), "is not good");
	token_revoke_cell(&d, "c1");
	ok(!token_check(&d, b, &r), "a cell's go with it");
}

int main(void)
{
	char dir[] = "/tmp/viv-test.XXXXXX", command[64];
	struct err e;

	if (!mkdtemp(dir))
		return 1;
	eq(db_open(&d.db, dir, -1, &e), 0, "a new database");
	events_open(&d);
	tokens();
	db_close(&d.db);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) ? 1 : tap_end();
}
