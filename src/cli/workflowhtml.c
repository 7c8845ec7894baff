/* A run of a workflow as one page of HTML that needs nothing else: a graph of its steps with states
 * and times.
 *
 * What comes from the run (names, errors, outputs) is only in a block of JSON, as it would be shown
 * on a terminal and with <, > and & escaped; the script puts it into the page as text, never as
 * HTML. The policy (CSP) lets only the one script run that has this page's random number, and lets
 * nothing be loaded or sent. Steps that run at the same time stand side by side; others one below
 * the other. */
#include "cli/workflow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/safetext.h"
#include "cli/vivd.h"

static const char style[] =
	"<style>\n"
	":root{color-scheme:light "
	"dark;--fg:#1c1e21;--bg:#fff;--soft:#5f6670;--line:#d0d5dc;--box:#f5f6f8;"
	"--done:#1a7f37;--failed:#b42318;--running:#2457c5;--retry:#b26b00;--idle:#8a919c}\n"
	"@media(prefers-color-scheme:dark){:root{--fg:#e4e6ea;--bg:#16181c;--soft:#9aa1ab;--line:#"
	"3a4048;"
	"--box:#1f2227;--done:#56d364;--failed:#ff7b72;--running:#84a9ff;--retry:#e3a64a;--idle:#"
	"7d848e}}\n"
	"*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);font:14px/1.45 "
	"system-ui,sans-serif;padding:1rem 1.2rem 3rem}\n"
	"h1{font-size:1.2rem;margin:0 0 .3rem;overflow-wrap:anywhere}\n"
	"dl{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem;margin:0 0 "
	"1rem;color:var(--soft);font-size:.85rem}\n"
	"dl div{display:flex;gap:.35rem}dd{margin:0;color:var(--fg);overflow-wrap:anywhere}\n"
	"#graph{overflow-x:auto;padding-bottom:1rem}\n"
	".seq{display:flex;flex-direction:column;align-items:center}\n"
	".par{display:flex;flex-direction:row;align-items:flex-start;justify-content:center;gap:."
	"8rem;"
	"flex-wrap:wrap}\n"
	".link{width:0;height:1.1rem;border-left:2px solid var(--line)}\n"
	".group{border:1px solid var(--line);border-radius:10px;padding:.5rem .8rem "
	".8rem;min-width:14rem}\n"
	".group>.head{margin-bottom:.6rem}\n"
	".step{border:1px solid var(--line);border-left:4px solid "
	"var(--c);border-radius:8px;background:"
	"var(--box);padding:.35rem "
	".7rem;width:17rem;text-align:left;font:inherit;color:inherit;cursor:pointer}\n"
	".step:focus-visible{outline:2px solid var(--running)}\n"
	".head{display:flex;gap:.5rem;align-items:baseline}.head b{overflow-wrap:anywhere}\n"
	".kind,.time{color:var(--soft);font-size:.8rem}.state{margin-left:auto;color:var(--c);font-"
	"size:.8rem;"
	"font-weight:600}\n"
	".bar{height:3px;border-radius:2px;background:var(--line);margin-top:.35rem;position:"
	"relative}"
	".bar "
	"i{position:absolute;top:0;bottom:0;min-width:2px;background:var(--c);border-radius:2px}\n"
	"pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:16rem;overflow:auto;background:"
	"var(--box);"
	"border:1px solid var(--line);border-radius:6px;padding:.5rem;font:12px/1.5 "
	"ui-monospace,monospace}\n"
	".error{color:var(--failed);overflow-wrap:anywhere;font-size:.85rem}\n"
	"#side{position:sticky;bottom:0;background:var(--bg);border-top:1px solid "
	"var(--line);padding:.6rem 0;"
	"max-height:45vh;overflow:auto}#side:empty{display:none}\n"
	"</style>\n";

static const char script[] =
	"'use strict';\n"
	"const run=JSON.parse(document.getElementById('data').textContent);\n"
	"const el=(t,c,x)=>{const e=document.createElement(t);if(c)e.className=c;if(x!==undefined)"
	"e.textContent=x;return e};\n"
	"const ms=t=>t?Date.parse(t):0;\n"
	"const span=m=>m<1000?m+' ms':m<60000?(m/1000).toFixed(1)+' "
	"s':m<3600000?Math.floor(m/60000)+' min '+"
	"Math.floor(m/1000%60)+' s':Math.floor(m/3600000)+' h '+Math.floor(m/60000%60)+' min';\n"
	"const color={done:'--done',failed:'--failed',running:'--running',retry:'--retry'};\n"
	"const begin=ms(run.created);let end=ms(run.ended);\n"
	"for(const s of run.steps)end=Math.max(end,ms(s.started),ms(s.ended));\n"
	"const total=Math.max(end-begin,1);\n"
	"document.getElementById('title').textContent=run.name;\n"
	"const facts=document.getElementById('facts');\n"
	"for(const [k,v] of "
	"[['run',run.id],['state',run.state],['began',run.created],['took',run.ended?"
	"span(ms(run.ended)-begin):'not over'],['steps',String(run.steps.length)]]){const "
	"d=el('div');"
	"d.append(el('dt','',k),el('dd','',v));facts.append(d)}\n"
	"if(run.error)facts.after(el('p','error',run.error.message+(run.error.cause?': "
	"'+run.error.cause:'')));\n"
	"const nodes=new Map();const roots=[];\n"
	"for(const s of run.steps)nodes.set(s.step,{s,kids:[]});\n"
	"for(const n of nodes.values()){const i=n.s.step.lastIndexOf('/');const up=i<0?null:"
	"nodes.get(n.s.step.slice(0,i));(up?up.kids:roots).push(n)}\n"
	"const side=document.getElementById('side');\n"
	"function details(s){side.replaceChildren();const "
	"h=el('div','head');h.append(el('b','',s.step),"
	"el('span','kind',s.kind),el('span','time',s.state+(s.attempt>1?', attempt "
	"'+s.attempt:'')));side.append(h);\n"
	"const d=el('dl');for(const [k,v] of [['started',s.started],['ended',s.ended],['exit "
	"code',s.exit_code],"
	"['cell',s.cell],['session',s.session],['approval',s.approval]])if(v!==undefined&&v!==null)"
	"{const x=el('div');"
	"x.append(el('dt','',k),el('dd','',String(v)));d.append(x)}side.append(d);\n"
	"if(s.error)side.append(el('p','error',s.error.message+(s.error.cause?': "
	"'+s.error.cause:'')));\n"
	"if(s.output!==undefined&&s.output!==null)side.append(el('pre','',typeof "
	"s.output==='string'?s.output:"
	"JSON.stringify(s.output,null,1)));if(s.stderr)side.append(el('pre','',s.stderr))}\n"
	"function headOf(n,name){const "
	"s=n.s,h=el('div','head');h.append(el('b','',name),el('span','kind',s.kind),"
	"el('span','state',s.state+(s.attempt>1?' ('+s.attempt+')':'')));return h}\n"
	"function timeOf(s){const a=ms(s.started),b=ms(s.ended)||(a?end:0);const "
	"t=el('div','bar');if(a){const i=el('i');"
	"i.style.left=(100*(a-begin)/total)+'%';i.style.width=(100*Math.max(b-a,0)/"
	"total)+'%';t.append(i)}return t}\n"
	"function draw(n){const s=n.s,name=s.step.slice(s.step.lastIndexOf('/')+1)||s.step;let e;\n"
	"if(!n.kids.length){e=el('button','step');e.type='button';e.append(headOf(n,name));const "
	"a=ms(s.started),b="
	"ms(s.ended);e.append(el('div','time',a?(b?span(b-a):'since '+s.started):''),timeOf(s));"
	"if(s.error)e.append(el('div','error',s.error.message));e.addEventListener('click',()=>"
	"details(s))}\n"
	"else{e=el('div','group');e.append(headOf(n,name));e.append(list(n.kids,s.kind==='parallel'"
	"||s.kind==="
	"'foreach'))}\n"
	"e.style.setProperty('--c','var('+(color[s.state]||'--idle')+')');return e}\n"
	"function list(kids,par){const "
	"e=el('div',par?'par':'seq');kids.forEach((k,i)=>{if(i&&!par)e.append("
	"el('div','link'));e.append(draw(k))});return e}\n"
	"document.getElementById('graph').append(list(roots,false));\n";

/* A value, with all texts made safe. Values have the depth of a document that was read. */
static void value_put(FILE *to, const struct json *v, unsigned depth)
{
	bool list = v->type == JSON_LIST;

	if (v->type == JSON_TEXT) {
		safe_json_text(to, v->text, strlen(v->text), 0);
	} else if ((list || v->type == JSON_OBJECT) && depth < 64) {
		fputc(list ? '[' : '{', to);
		for (const struct json *m = v->first; m; m = m->next) {
			if (m != v->first)
				fputc(',', to);
			if (!list) {
				safe_json_text(to, m->key, strlen(m->key), SAFE_LINE);
				fputc(':', to);
			}
			value_put(to, m, depth + 1);
		}
		fputc(list ? ']' : '}', to);
	} else {
		fputs(v->type == JSON_NULL || !v->text ? "null" : v->text, to);
	}
}

static void page_put(FILE *to, const struct json *run, const char *nonce)
{
	const char *name = json_show(run, "name");

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", to);
	fprintf(to,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src 'nonce-%s'; base-uri 'none'; "
		"form-action 'none'\">\n",
		nonce);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
	      to);
	safe_html(to, name, strlen(name), SAFE_LINE | SAFE_SEEN);
	fputs(" - workflow</title>\n", to);
	fputs(style, to);
	fputs("</head>\n<body>\n<h1 id=\"title\"></h1><dl id=\"facts\"></dl>\n<div "
	      "id=\"graph\"></div>"
	      "<div id=\"side\"></div>\n"
	      "<noscript><p>This page draws its graph with a script. 'viv workflow show' prints "
	      "the "
	      "same as text.</p></noscript>\n"
	      "<script type=\"application/json\" id=\"data\">",
	      to);
	value_put(to, run, 0);
	fprintf(to, "</script>\n<script nonce=\"%s\">\n", nonce);
	fputs(script, to);
	fputs("</script>\n</body>\n</html>\n", to);
}

int workflow_html(const struct json *run, const char *file, struct err *e)
{
	FILE *to = strcmp(file, "-") ? fopen(file, "we") : stdout;
	uint64_t random[2] = { 0 };
	char nonce[40];
	bool bad;

	if (!to)
		return err_set(e, ERR_FAILED, "cannot write '%s': %s", file, strerror(errno));
	/* Whoever made the run cannot have known it. */
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_set(e, ERR_FAILED, "no random numbers");
	snprintf(nonce, sizeof(nonce), "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	page_put(to, run, nonce);
	bad = ferror(to);
	if (to != stdout)
		bad |= fclose(to) != 0;
	else
		bad |= fflush(to) != 0;
	return bad ? err_set(e, ERR_FAILED, "cannot write '%s'", file) : 0;
}
