/* Secrets whose names say what they are for: the variables that SDKs and tools read. prefix: what
 * such programs expect a value to begin with. */
#include <string.h>

#include "daemon/secrets/secrets.h"

static const struct known_secret known[] = {
	{ "ANTHROPIC_API_KEY",
	  "sk-ant-api03-",
	  { "api.anthropic.com" },
	  { "header x-api-key", "bearer" } },
	{ "CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-", { "api.anthropic.com" }, { "bearer" } },
	{ "OPENAI_API_KEY", "sk-", { "api.openai.com" }, { "bearer" } },
	{ "GEMINI_API_KEY",
	  "AIza",
	  { "generativelanguage.googleapis.com" },
	  { "header x-goog-api-key", "query key" } },
	{ "GOOGLE_API_KEY",
	  "AIza",
	  { "generativelanguage.googleapis.com" },
	  { "header x-goog-api-key", "query key" } },
	{ "MISTRAL_API_KEY", "", { "api.mistral.ai", "codestral.mistral.ai" }, { "bearer" } },
	{ "OPENROUTER_API_KEY", "sk-or-v1-", { "openrouter.ai" }, { "bearer" } },
	{ "GROQ_API_KEY", "gsk_", { "api.groq.com" }, { "bearer" } },
	{ "DEEPSEEK_API_KEY", "sk-", { "api.deepseek.com" }, { "bearer", "header x-api-key" } },
	{ "XAI_API_KEY", "xai-", { "api.x.ai" }, { "bearer" } },
	{ "HF_TOKEN", "hf_", { "huggingface.co" }, { "bearer", "basic" } },
	{ "GITHUB_TOKEN",
	  "ghp_",
	  { "api.github.com", "github.com", "uploads.github.com", "raw.githubusercontent.com" },
	  { "bearer", "basic" } },
	{ "GH_TOKEN",
	  "ghp_",
	  { "api.github.com", "github.com", "uploads.github.com", "raw.githubusercontent.com" },
	  { "bearer", "basic" } },
	{ "GITLAB_TOKEN",
	  "glpat-",
	  { "gitlab.com" },
	  { "bearer", "basic", "header private-token" } },
	{ "NPM_TOKEN", "npm_", { "registry.npmjs.org" }, { "bearer" } },
	{ "NODE_AUTH_TOKEN", "npm_", { "registry.npmjs.org" }, { "bearer" } },
	{ "CARGO_REGISTRY_TOKEN", "cio", { "crates.io" }, { "header authorization" } },
	{ "TWINE_PASSWORD", "pypi-", { "upload.pypi.org" }, { "basic" } },
};

const struct known_secret *known_secret(const char *name)
{
	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}
