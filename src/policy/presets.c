/* Lists of rules that have a name. Ordinary text: 'viv policy show NAME' prints it. */
#include <string.h>

#include "policy/policy.h"

static const struct {
	const char *name, *rules;
} presets[] = {
	{ "none", "# No network.\n" },
	{ "open",
	  "# Every public host and port. Private networks and this machine stay out of reach.\n"
	  "allow net *:* any\n" },
	{ "audit",
	  "# Every public host and port, and what is used is recorded for 'viv policy learn'.\n"
	  "audit net *:* any\n" },
	{ "parent", "# What the parent of a sub-cell may. In other cells: no rules.\n" },
	{ "packages", "# Registries of packages.\n"
		      "allow net deb.debian.org\n"
		      "allow net security.debian.org\n"
		      "allow net *.archive.ubuntu.com\n"
		      "allow net archive.ubuntu.com\n"
		      "allow net security.ubuntu.com\n"
		      "allow net dl-cdn.alpinelinux.org\n"
		      "allow net registry.npmjs.org\n"
		      "allow net registry.yarnpkg.com\n"
		      "allow net pypi.org\n"
		      "allow net files.pythonhosted.org\n"
		      "allow net crates.io\n"
		      "allow net index.crates.io\n"
		      "allow net static.crates.io\n"
		      "allow net proxy.golang.org\n"
		      "allow net sum.golang.org\n"
		      "allow net repo.maven.apache.org\n"
		      "allow net repo1.maven.org\n"
		      "allow net rubygems.org\n"
		      "allow net index.rubygems.org\n" },
	{ "git", "# Hosts of repositories, over HTTPS and SSH.\n"
		 "allow net github.com\n"
		 "allow net codeload.github.com\n"
		 "allow net *.githubusercontent.com\n"
		 "allow net github.com:22 tcp\n"
		 "allow net gitlab.com\n"
		 "allow net gitlab.com:22 tcp\n"
		 "allow net bitbucket.org\n"
		 "allow net bitbucket.org:22 tcp\n"
		 "allow net codeberg.org\n"
		 "allow net codeberg.org:22 tcp\n" },
	{ "claude", "# Claude Code.\nallow net api.anthropic.com\n" },
	{ "codex", "# OpenAI Codex.\nallow net api.openai.com\nallow net chatgpt.com\n" },
	{ "opencode", "# opencode, with the usual models.\n"
		      "allow net models.dev\n"
		      "allow net opencode.ai\n"
		      "allow net api.anthropic.com\n"
		      "allow net api.openai.com\n" },
	{ "pi", "# pi, with the usual models.\n"
		"allow net api.anthropic.com\n"
		"allow net api.openai.com\n"
		"allow net generativelanguage.googleapis.com\n" },
	{ "gemini", "# Gemini CLI.\n"
		    "allow net generativelanguage.googleapis.com\n"
		    "allow net cloudcode-pa.googleapis.com\n"
		    "allow net oauth2.googleapis.com\n"
		    "allow net www.googleapis.com\n" },
};

const char *preset_find(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(presets); i++)
		if (!strcmp(presets[i].name, name))
			return presets[i].rules;
	return NULL;
}

const char *preset_name(unsigned i)
{
	return i < ARRAY_LEN(presets) ? presets[i].name : NULL;
}
