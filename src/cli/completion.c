/* viv completion: a script for bash or zsh, made from the table of verbs. What cells, images,
 * volumes and snapshots there are, viv itself is asked when it is needed. */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"

/* What the words of a verb are, by what its synopsis calls them. */
static const char *words_kind(const struct verb *v)
{
	const char *a = v->args ? v->args : "";

	if (!strncmp(v->name, "volume ", 7))
		return strstr(a, "...") ? "volume" : "none";
	if (!strncmp(v->name, "image ", 6))
		return strstr(a, "IMAGE") ? "image" : strstr(a, "SRC") ? "file" : "none";
	if (!strcmp(a, "CELL SNAPSHOT"))
		return "snapshot";
	if (!strncmp(a, "CELL", 4) || !strncmp(a, "[CELL", 5))
		return strchr(a, '@') ? "named" : "cell";
	if (!strncmp(a, "SESSION", 7))
		return "session";
	if (!strncmp(a, "AGENT", 5) || !strncmp(a, "[AGENT", 6))
		return "agent";
	if (strstr(a, "COMMAND]") || strstr(a, "COMMAND ["))
		return "command";
	if (!strcmp(a, "bash|zsh"))
		return "bash zsh";
	return !strcmp(v->name, "help") ? "verb" : "none";
}

/* The words that a setting can be. */
static const char *setting_words(const struct opt *o)
{
	static char all[200];
	const char *const *words;

	if (o < run_opts || o >= run_opts + RUN_NOPTS)
		return "none";
	words = setting_choices((enum setting_id)(o - run_opts));
	if (!words[0])
		return "none";
	all[0] = '\0';
	for (unsigned i = 0; words[i]; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " " : "",
			 words[i]);
	return all;
}

/* What the value of an option is. */
static const char *value_kind(const struct opt *o)
{
	static const struct {
		const char *name, *kind;
	} kinds[] = {
		{ "image", "image" },
		{ "cell", "cell" },
		{ "agent", "agent" },
		{ "volume", "volume" },
		{ "mount", "file" },
		{ "kind", "cell exec file net policy agent operator" },
		{ "entrypoint", "file" },
		{ "output", "file" },
		{ "env-file", "file" },
		{ "file", "file" },
		{ "tls-cert", "file" },
		{ "tls-key", "file" },
		{ "restart", "no on-failure always" },
		{ "network", "none" },
		{ "scope", "admin cell read" },
		{ "sort", "cpu memory disk tasks calls name" },
		{ "signal", "HUP INT QUIT KILL USR1 USR2 TERM CONT STOP" },
		{ "filter", "state=running state=paused state=stopped state=failed name= label=" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].name, o->name))
			return kinds[i].kind;
	return setting_words(o);
}

static bool is_shown(const struct verb *v)
{
	return !strchr(v->name, ' ');
}

/* A function that prints, for each verb, its options; and one for the kinds of values and words.
 * bash and zsh both read it. */
static void tables_print(void)
{
	printf("_viv_verbs='");
	for (unsigned i = 0; i < nverbs; i++)
		if (is_shown(&verbs[i]))
			printf("%s ", verbs[i].name);
	printf("'\n_viv_options() {\n\tcase $1 in\n");
	for (unsigned i = 0; i < nverbs; i++) {
		const struct verb *v = &verbs[i];

		if (v->flags & VERB_GROUP)
			continue;
		printf("\t'%s') echo '", v->name);
		for (unsigned k = 0; k < v->nopts; k++)
			if (v->opts[k].help)
				printf("--%s ", v->opts[k].name);
		for (unsigned k = 0; k < ncommon_opts && !(v->flags & VERB_OWN); k++)
			printf("--%s ", common_opts[k].name);
		printf("' ;;\n");
	}
	printf("\tesac\n}\n_viv_seconds() {\n\tcase $1 in\n");
	for (unsigned i = 0; i < nverbs; i++) {
		size_t n = strlen(verbs[i].name);

		if (!(verbs[i].flags & VERB_GROUP))
			continue;
		printf("\t%s) echo '", verbs[i].name);
		for (unsigned k = 0; k < nverbs; k++)
			if (!strncmp(verbs[k].name, verbs[i].name, n) && verbs[k].name[n] == ' ')
				printf("%s ", verbs[k].name + n + 1);
		printf("' ;;\n");
	}
	printf("\tesac\n}\n_viv_words() {\n\tcase $1 in\n");
	for (unsigned i = 0; i < nverbs; i++)
		if (!(verbs[i].flags & VERB_GROUP))
			printf("\t'%s') echo '%s' ;;\n", verbs[i].name, words_kind(&verbs[i]));
	printf("\tesac\n}\n_viv_value() {\n\tcase \"$1 $2\" in\n");
	for (unsigned i = 0; i < nverbs; i++)
		for (unsigned k = 0; k < verbs[i].nopts; k++) {
			const struct opt *o = &verbs[i].opts[k];

			if (!o->value || !o->help)
				continue;
			printf("\t'%s --%s'", verbs[i].name, o->name);
			if (o->letter)
				printf(" | '%s -%c'", verbs[i].name, o->letter);
			printf(") echo '%s' ;;\n", value_kind(o));
		}
	printf("\tesac\n}\n");
}

/* What a kind of word can be now; nothing that would start vivd is asked. */
static void lists_print(void)
{
	printf("_viv_list() {\n"
	       "\tcase $1 in\n"
	       "\tcell) viv daemon status >/dev/null 2>&1 && viv ls -q 2>/dev/null ;;\n"
	       "\tnamed) viv daemon status >/dev/null 2>&1 && viv ls --json 2>/dev/null | sed -n "
	       "'s/.*\"name\":\"\\([^\"]*\\)\".*/\\1/p' ;;\n"
	       "\tsnapshot) _viv_list named ;;\n"
	       "\tsnapshots) viv daemon status >/dev/null 2>&1 && viv snapshot --ls \"$2\" "
	       "2>/dev/null ;;\n"
	       "\timage) echo host; viv image ls 2>/dev/null | sed '1d; s/ .*//' ;;\n"
	       "\tvolume) viv volume ls -q 2>/dev/null ;;\n"
	       "\tsession) viv daemon status >/dev/null 2>&1 && viv session ls -q 2>/dev/null ;;\n"
	       "\tagent) viv daemon status >/dev/null 2>&1 && viv agent ls -q 2>/dev/null ;;\n"
	       "\tverb) echo \"$_viv_verbs\" ;;\n"
	       "\tnone | file | command) ;;\n"
	       "\t*) echo \"$1\" ;;\n"
	       "\tesac\n"
	       "}\n");
}

static const char bash_tail[] =
	"_viv() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} "
	"verb=${COMP_WORDS[1]} "
	"first=2 kind i\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $COMP_CWORD -eq 1 ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$_viv_verbs\" -- \"$cur\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [[ -n $(_viv_seconds \"$verb\") ]]; then\n"
	"\t\tif [[ $COMP_CWORD -eq 2 ]]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_viv_seconds \"$verb\")\" -- \"$cur\")\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tverb=\"$verb ${COMP_WORDS[2]}\" first=3\n"
	"\tfi\n"
	"\tkind=$(_viv_value \"$verb\" \"$prev\")\n"
	"\tif [[ -z $kind && $cur == -* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_viv_options \"$verb\")\" -- \"$cur\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [[ -z $kind ]]; then\n"
	"\t\tkind=$(_viv_words \"$verb\")\n"
	"\t\t# Of rollback, the second word is a snapshot of the first.\n"
	"\t\tif [[ $kind == snapshot && $COMP_CWORD -gt $first ]]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$(_viv_list snapshots \"$prev\")\" -- "
	"\"$cur\")\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\t# Of exec, only the first word is a cell.\n"
	"\t\tif [[ $verb == exec ]]; then\n"
	"\t\t\tfor ((i = first; i < COMP_CWORD; i++)); do\n"
	"\t\t\t\t[[ ${COMP_WORDS[i]} == -* || -n $(_viv_value exec \"${COMP_WORDS[i - 1]}\") ]] || "
	"kind=file\n"
	"\t\t\tdone\n"
	"\t\tfi\n"
	"\tfi\n"
	"\tcase $kind in\n"
	"\tfile) mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
	"\tcommand) mapfile -t COMPREPLY < <(compgen -c -f -- \"$cur\") ;;\n"
	"\t*) mapfile -t COMPREPLY < <(compgen -W \"$(_viv_list \"$kind\")\" -- \"$cur\") ;;\n"
	"\tesac\n"
	"}\n"
	"complete -F _viv viv\n";

static const char zsh_tail[] =
	"_viv() {\n"
	"\tlocal cur=${words[CURRENT]} prev=${words[CURRENT-1]} verb=${words[2]} kind first=3 i\n"
	"\tif (( CURRENT == 2 )); then\n"
	"\t\tcompadd -- ${=_viv_verbs}\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [[ -n $(_viv_seconds $verb) ]]; then\n"
	"\t\tif (( CURRENT == 3 )); then\n"
	"\t\t\tcompadd -- ${=$(_viv_seconds $verb)}\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tverb=\"$verb ${words[3]}\" first=4\n"
	"\tfi\n"
	"\tkind=$(_viv_value \"$verb\" \"$prev\")\n"
	"\tif [[ -z $kind && $cur == -* ]]; then\n"
	"\t\tcompadd -- ${=$(_viv_options \"$verb\")}\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [[ -z $kind ]]; then\n"
	"\t\tkind=$(_viv_words \"$verb\")\n"
	"\t\tif [[ $kind == snapshot ]] && (( CURRENT > first )); then\n"
	"\t\t\tcompadd -- ${=$(_viv_list snapshots \"$prev\")}\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\tif [[ $verb == exec ]]; then\n"
	"\t\t\tfor (( i = first; i < CURRENT; i++ )); do\n"
	"\t\t\t\t[[ ${words[i]} == -* || -n $(_viv_value exec \"${words[i-1]}\") ]] || kind=file\n"
	"\t\t\tdone\n"
	"\t\tfi\n"
	"\tfi\n"
	"\tcase $kind in\n"
	"\tfile) _files ;;\n"
	"\tcommand) _command_names ;;\n"
	"\t*) compadd -- ${=$(_viv_list \"$kind\")} ;;\n"
	"\tesac\n"
	"}\n"
	"# Read as a file, or loaded by its name when it is needed for the first time.\n"
	"if [[ ${funcstack[1]} == _viv ]]; then\n"
	"\t_viv \"$@\"\n"
	"else\n"
	"\tcompdef _viv viv\n"
	"fi\n";

int completion_main(struct args *a, struct err *e)
{
	bool zsh = !strcmp(a->words[0], "zsh");

	if (!zsh && strcmp(a->words[0], "bash"))
		return args_wrong(a, e, "there is no completion for the shell '%s'", a->words[0]);
	if (zsh)
		printf("#compdef viv\n");
	printf("# Made by 'viv completion %s' of viv %s.\n", a->words[0], VIV_VERSION);
	tables_print();
	lists_print();
	fputs(zsh ? zsh_tail : bash_tail, stdout);
	return 0;
}
