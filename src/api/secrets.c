/* /v1/secrets: values come in and never go out. */
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "daemon/secrets/secrets.h"
#include "daemon/state/events.h"
#include "gate/secret.h"

void secrets_list(struct request *r)
{
	json_t *names = secret_names(r->d->state), *list = json_array(), *name;
	size_t i;

	json_array_foreach(names, i, name) {
		struct err e = { 0 };
		json_t *s;

		/* One that cannot be read is there nevertheless. */
		if (secret_load(r->d->state, json_string_value(name), &s, &e) < 0) {
			json_array_append_new(list, json_pack("{s:O,s:o}", "name", name, "error",
							      json_err(&e)));
			continue;
		}
		json_array_append_new(list, secret_shown(s));
		json_decref(s);
	}
	json_decref(names);
	reply_json(r, 200, json_pack("{s:o}", "secrets", list));
}

void secret_get(struct request *r)
{
	struct err e = { 0 };
	json_t *s;

	if (secret_load(r->d->state, r->param[0], &s, &e) < 0) {
		reply_err(r, &e);
		return;
	}
	reply_json(r, 200, secret_shown(s));
	json_decref(s);
}

static const struct field fields[] = {
	{ "value", FIELD_TEXT, false },	 { "value_from", FIELD_TEXT, false },
	{ "file", FIELD_TEXT, false },	 { "command", FIELD_TEXT, false },
	{ "hosts", FIELD_TEXTS, false }, { "places", FIELD_TEXTS, false },
	{ "env", FIELD_TEXT, false },	 { "prefix", FIELD_TEXT, false },
};

static int lists_check(const json_t *s, struct err *e)
{
	const json_t *hosts = json_object_get(s, "hosts"), *places = json_object_get(s, "places");
	struct secret_place place;
	struct secret_host host;
	json_t *v;
	size_t i;

	json_array_foreach(hosts, i, v)
		if (secret_host_parse(json_string_value(v), &host, e) < 0)
			return -1;
	json_array_foreach(places, i, v)
		if (secret_place_parse(json_string_value(v), &place, e) < 0)
			return -1;
	if (!json_array_size(hosts) || json_array_size(hosts) > SECRET_HOSTS_MAX)
		return err_set(e, ERR_INVALID,
			       "secret '%s' needs 1 to %d hosts" REMEDY
			       "--host says where it may be sent, such as --host api.example.org",
			       json_text(s, "name"), SECRET_HOSTS_MAX);
	if (!json_array_size(places) || json_array_size(places) > SECRET_PLACES_MAX)
		return err_set(e, ERR_INVALID, "a secret has 1 to %d places", SECRET_PLACES_MAX);
	return 0;
}

static bool env_is_valid(const char *name)
{
	return *name && strlen(name) <= 128 && !(*name >= '0' && *name <= '9') &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
		       strlen(name);
}

/* Where the value comes from; nothing given: as before. */
static int source_take(json_t *s, const json_t *o, struct err *e)
{
	const char *value = json_text(o, "value"), *from = json_text(o, "value_from");
	const char *file = json_text(o, "file"), *command = json_text(o, "command");

	if (!!value + !!file + !!command > 1)
		return err_set(e, ERR_INVALID,
			       "only one of 'value', 'file' and 'command' can be given");
	if (!value && !file && !command)
		return json_object_get(s, "source")
			       ? 0
			       : err_set(e, ERR_MISSING_FIELD,
					 "a new secret needs a 'value', a 'file' or a 'command'");
	if (value && secret_value_check(value, strlen(value), e) < 0)
		return -1;
	if (file && *file != '/')
		return err_set(e, ERR_INVALID, "'file' must be an absolute path");
	json_object_del(s, "value");
	json_object_del(s, "from");
	json_object_set_new(s, "source",
			    json_string(file		? "file"
					: command	? "command"
					: from && *from ? "env"
							: "value"));
	if (value)
		json_object_set_new(s, "value", json_string(value));
	if (file || command || (from && *from))
		json_object_set_new(s, "from", json_string(file ? file : command ? command : from));
	return 0;
}

static int put(struct request *r, const json_t *o, bool *ret_new, json_t **ret, struct err *e)
{
	const char *name = r->param[0], *env = json_text(o, "env"),
		   *prefix = json_text(o, "prefix");
	json_t *list, *s = NULL;
	char *value = NULL;
	int err;

	if (!secret_name_is_valid(name))
		return err_set(e, ERR_INVALID,
			       "'%.80s' is not a name for a secret" REMEDY
			       "it has up to 64 letters, digits and '_', '-', '.'",
			       name);
	if (secret_load(r->d->state, name, &s, e) < 0 && e->kind == ERR_STORAGE)
		return -1;
	*ret_new = !s;
	if (prefix && (strlen(prefix) > 64 || strpbrk(prefix, " \"\\%&+/=?#")))
		return err_set(e, ERR_INVALID,
			       "'prefix' has up to 64 letters, digits, '-' and '_'");
	if (!s || prefix) {
		json_t *fresh = secret_new(name, prefix);

		if (s)
			json_object_set(s, "placeholder", json_object_get(fresh, "placeholder"));
		else
			s = json_incref(fresh);
		json_decref(fresh);
	}
	*ret = s;
	list = json_object_get(o, "hosts");
	if (list)
		json_object_set(s, "hosts", list);
	list = json_object_get(o, "places");
	if (list)
		json_object_set(s, "places", list);
	if (env && !env_is_valid(env))
		return err_set(e, ERR_INVALID, "'%.80s' is not a name for a variable", env);
	if (env)
		json_object_set_new(s, "env", json_string(env));
	json_object_set_new(s, "changed", json_string(time_text(time_now()).str));
	if (lists_check(s, e) < 0 || source_take(s, o, e) < 0)
		return -1;
	/* A file is tried now, so that a mistake shows here and not when a cell starts. Commands
	 * may take their time, and are not. */
	err = json_object_get(o, "file") ? secret_resolve(s, &value, e) : 0;
	if (value)
		explicit_bzero(value, strlen(value));
	free(value);
	return err ? -1 : secret_save(r->d->state, s, e);
}

void secret_put(struct request *r)
{
	json_t *o = request_json(r, fields, ARRAY_LEN(fields)), *s = NULL;
	struct err e = { 0 };
	bool is_new = false;

	if (r->body.p)
		explicit_bzero(r->body.p, r->body.len);
	if (!o)
		return;
	/* What reads files of the host and runs its programs is for who can do that anyway. */
	if ((json_object_get(o, "file") || json_object_get(o, "command")) && !request_is_owner(r)) {
		reply_error(r, ERR_FORBIDDEN,
			    "only vivd's own user, on its socket, can name a 'file' or a "
			    "'command'" REMEDY "send a 'value'");
	} else if (put(r, o, &is_new, &s, &e) < 0) {
		reply_err(r, &e);
	} else {
		event_add(r->d, is_new ? "secret.created" : "secret.changed", NULL,
			  json_pack("{s:s}", "name", r->param[0]));
		reply_json(r, is_new ? 201 : 200, secret_shown(s));
	}
	json_decref(s);
	json_decref(o);
}

void secret_delete(struct request *r)
{
	struct err e = { 0 };

	if (secret_remove(r->d->state, r->param[0], &e) < 0) {
		reply_err(r, &e);
		return;
	}
	event_add(r->d, "secret.removed", NULL, json_pack("{s:s}", "name", r->param[0]));
	reply_nothing(r);
}
