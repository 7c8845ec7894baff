'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const ROW = 20, TOP = 26, LABEL = 300;
const [PARENT, PID, START, END, PROGRAM, ARGS, CODE, SIGNAL, READS, IN, OUT, MORE, MARKS] = Array(13).keys();
const colour = k => k < 2 ? '--file' : k === 2 ? '--gone' : k < 5 ? '--file' : k < 7 ? '--net' : k === 7 ? '--bad' : '--note';

/* Rows: the tree in order of time, without recursion. */
const kids = data.p.map(() => []);
data.p.forEach((p, i) => { if (i) kids[p[PARENT]].push(i); });
const depth = new Array(data.p.length).fill(0);
let order = [];
for (let stack = [0]; stack.length;) {
  const i = stack.pop();
  order.push(i);
  for (let k = kids[i].length; k--;) {
    depth[kids[i][k]] = depth[i] + 1;
    stack.push(kids[i][k]);
  }
}
let rows = order, from = 0, to = Math.max(data.span, 1), picked = -1;

const end = p => p[END] < 0 ? data.span : p[END];
const label = i => {
  const p = data.p[i];
  if (!i) return 'the cell';
  const name = p[PROGRAM].slice(p[PROGRAM].lastIndexOf('/') + 1) || 'process ' + p[PID];
  return p[ARGS].length > 1 ? name + ' ' + p[ARGS].slice(1).join(' ') : name;
};
const time = ms => ms < 1 ? ms.toFixed(3) + ' ms' : ms < 1000 ? ms.toFixed(1) + ' ms' : ms < 60000 ? (ms / 1000).toFixed(2) + ' s' :
  Math.floor(ms / 60000) + ' min ' + (ms % 60000 / 1000).toFixed(1) + ' s';
const bytes = n => n < 1000 ? n + ' bytes' : n < 1e6 ? (n / 1e3).toFixed(1) + ' kB' : n < 1e9 ? (n / 1e6).toFixed(1) + ' MB' : (n / 1e9).toFixed(1) + ' GB';

/* ---- drawing ---- */

const canvas = $('c'), g = canvas.getContext('2d'), scroll = $('scroll');
let width = 0, height = 0, waiting = false;
const x = ms => LABEL + (ms - from) / (to - from) * (width - LABEL - 10);
const when = px => from + (px - LABEL) / (width - LABEL - 10) * (to - from);

function step(span) {
  const rough = span / 8, unit = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find(k => k * unit >= rough) * unit;
}

function draw() {
  waiting = false;
  const style = getComputedStyle(document.documentElement), v = n => style.getPropertyValue(n).trim();
  const scale = window.devicePixelRatio || 1;
  width = scroll.clientWidth;
  height = scroll.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.height = height + 'px';
  $('space').style.height = Math.max(rows.length * ROW + TOP + 8, height) + 'px';
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.fillStyle = v('--bg');
  g.fillRect(0, 0, width, height);
  const skip = scroll.scrollTop, first = Math.max(0, Math.floor(skip / ROW));
  g.textBaseline = 'middle';
  g.font = '12px ui-monospace, Menlo, monospace';
  for (let r = first; r < rows.length; r++) {
    const y = TOP + r * ROW - skip, i = rows[r], p = data.p[i];
    if (y > height) break;
    if (y < TOP - ROW) continue;
    if (i === picked) {
      g.fillStyle = v('--pick');
      g.fillRect(0, y, width, ROW);
    }
    g.save();
    g.beginPath();
    g.rect(0, y, LABEL - 8, ROW);
    g.clip();
    g.fillStyle = p[SIGNAL] || p[CODE] ? v('--bad') : v('--fg');
    g.fillText(label(i).slice(0, 120), 8 + Math.min(depth[i], 16) * 10, y + ROW / 2);
    g.restore();
    g.save();
    g.beginPath();
    g.rect(LABEL, y, width - LABEL, ROW);
    g.clip();
    if (i) {
      const a = x(p[START]), b = Math.max(x(end(p)), a + 2);
      g.fillStyle = p[END] < 0 ? v('--run') : v('--bar');
      g.fillRect(a, y + 4, b - a, ROW - 8);
    }
    for (const m of p[MARKS]) {
      const at = x(m[0]);
      if (at < LABEL - 4 || at > width + 4) continue;
      g.fillStyle = v(colour(m[1]));
      if (m[1] < 7) {
        g.fillRect(at - 1, y + 3, 2, ROW - 6);
      } else {
        g.beginPath();
        g.moveTo(at, y + 3);
        g.lineTo(at + 6, y + ROW / 2);
        g.lineTo(at, y + ROW - 3);
        g.lineTo(at - 6, y + ROW / 2);
        g.fill();
      }
    }
    g.restore();
  }
  g.fillStyle = v('--box');
  g.fillRect(0, 0, width, TOP - 2);
  g.strokeStyle = v('--line');
  g.fillStyle = v('--soft');
  const by = step(to - from);
  for (let t = Math.ceil(from / by) * by; t < to; t += by) {
    const at = Math.round(x(t)) + .5;
    g.beginPath();
    g.moveTo(at, TOP - 8);
    g.lineTo(at, height);
    g.globalAlpha = .35;
    g.stroke();
    g.globalAlpha = 1;
    g.fillText(time(t), at + 3, 11);
  }
}
function redraw() {
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(draw);
  }
}

/* ---- details ---- */

function put(parent, tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  parent.append(e);
  return e;
}

function show(i) {
  const side = $('side'), p = data.p[i];
  picked = i;
  side.replaceChildren();
  put(side, 'h2', i ? (p[ARGS].length ? p[ARGS].join(' ') : label(i)) : 'The cell');
  if (i) {
    put(side, 'p', p[PROGRAM] || 'its program is not known', 'soft');
    put(side, 'p', 'process ' + p[PID] + ', from ' + time(p[START]) + (p[END] < 0 ? ', still running' : ' to ' + time(p[END]) + ' (' + time(p[END] - p[START]) + ')'));
    put(side, 'p', new Date(data.begin + p[START]).toISOString(), 'soft');
    if (p[SIGNAL]) put(side, 'p', 'ended by signal ' + p[SIGNAL], 'bad');
    else if (p[CODE]) put(side, 'p', 'exit status ' + p[CODE], 'bad');
    put(side, 'h3', 'started by');
    const list = put(side, 'ul');
    for (let k = p[PARENT], n = 0; n < 64; k = data.p[k][PARENT], n++) {
      const line = put(list, 'li'), a = put(line, 'a', label(k));
      a.onclick = () => { show(k); reveal(k); };
      if (!k) break;
    }
  }
  const found = new Map();
  for (const m of p[MARKS]) {
    if (!found.has(m[1])) found.set(m[1], []);
    found.get(m[1]).push(m);
  }
  for (const [kind, list] of [...found].sort((a, b) => b[0] - a[0])) {
    put(side, 'h3', data.kinds[kind] + ' (' + list.length + ')', kind === 7 ? 'bad' : '');
    const ul = put(side, 'ul');
    for (const m of list.slice(0, 500)) put(ul, 'li', time(m[0]) + '  ' + m[2]);
  }
  const counts = [];
  if (p[READS]) counts.push('read ' + p[READS] + ' files');
  if (p[IN] || p[OUT]) counts.push(bytes(p[IN]) + ' in, ' + bytes(p[OUT]) + ' out');
  if (p[MORE]) counts.push(p[MORE] + ' further events or processes are only counted');
  if (kids[i].length) counts.push(kids[i].length + ' child processes');
  for (const c of counts) put(side, 'p', c);
  redraw();
}

function reveal(i) {
  const r = rows.indexOf(i);
  if (r >= 0) scroll.scrollTop = Math.max(0, r * ROW - height / 2);
  redraw();
}

/* ---- moving about ---- */

function zoom(factor, around) {
  const min = .001, span = Math.min(Math.max((to - from) * factor, min), data.span * 1.2 + 1);
  const share = (around - from) / (to - from);
  from = around - share * span;
  to = from + span;
  redraw();
}
canvas.addEventListener('wheel', e => {
  if (!e.ctrlKey && !e.shiftKey && !e.metaKey) return;
  e.preventDefault();
  zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : .8, when(e.offsetX));
}, { passive: false });
let drag = null;
canvas.addEventListener('pointerdown', e => { drag = { at: e.offsetX, moved: false }; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener('pointermove', e => {
  if (!drag) return;
  const d = when(drag.at) - when(e.offsetX);
  if (Math.abs(e.offsetX - drag.at) > 3) drag.moved = true;
  if (!drag.moved) return;
  from += d;
  to += d;
  drag.at = e.offsetX;
  redraw();
});
const at = e => rows[Math.floor((e.offsetY - TOP + scroll.scrollTop) / ROW)];
canvas.addEventListener('pointerup', e => {
  if (drag && !drag.moved && e.offsetY > TOP && at(e) !== undefined) show(at(e));
  drag = null;
});
canvas.addEventListener('dblclick', e => {
  const i = at(e);
  if (i === undefined) return;
  const p = data.p[i], a = i ? p[START] : 0, b = i ? end(p) : data.span, pad = Math.max((b - a) * .05, .01);
  from = a - pad;
  to = b + pad;
  redraw();
});
$('in').onclick = () => zoom(.5, (from + to) / 2);
$('out').onclick = () => zoom(2, (from + to) / 2);
$('all').onclick = () => { from = 0; to = Math.max(data.span, 1); redraw(); };
$('find').oninput = () => {
  const want = $('find').value.toLowerCase();
  const fits = i => !want || data.p[i][PROGRAM].toLowerCase().includes(want) || data.p[i][ARGS].some(a => a.toLowerCase().includes(want)) ||
    data.p[i][MARKS].some(m => m[2].toLowerCase().includes(want));
  rows = order.filter(fits);
  scroll.scrollTop = 0;
  redraw();
};
scroll.addEventListener('scroll', redraw);
addEventListener('resize', redraw);

$('title').textContent = data.title;
for (const [name, text] of data.facts) {
  const d = put($('facts'), 'div');
  put(d, 'dt', name);
  put(d, 'dd', text);
}
for (const [text, name] of [['files', '--file'], ['removed', '--gone'], ['network', '--net'], ['denied', '--bad'], ['approvals, prompts, limits', '--note']]) {
  const k = put($('keys'), 'span', undefined, 'key'), i = put(k, 'i');
  i.style.background = 'var(' + name + ')';
  k.append(text + '\u00a0 ');
}
show(0);
draw();
