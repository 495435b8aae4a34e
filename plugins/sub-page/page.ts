// The whole page, from what may be shown: one function, without state.
import { createHash } from 'node:crypto';
import type { PageReply, PageRequest, PageView } from '../subscription/contract.js';
import { type Html, html, raw } from './html.js';
import { chooseLanguage, type Language, LANGUAGES } from './languages.js';
import { addresses, imports, servers } from './links.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';
import { type Values, valuesOf } from './values.js';

/** The page with its QR codes, in bytes; single servers that do not fit are counted, and come with the subscription. */
const MOST_BYTES = 60_000;
const MOST_NAMES = 5;
/** The icon is in the page: a browser would ask for /favicon.ico, which is a miss that counts against its address. */
const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#0a58a6"/><path d="M2 4l1.5 1.5L6 3" fill="none" stroke="#fff"/></svg>')}`;

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const HEADERS: PageReply['headers'] = Object.freeze([
  [
    'Content-Security-Policy',
    `default-src 'none'; script-src ${digest(SCRIPT)}; style-src ${digest(STYLE)}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`,
  ],
  ['X-Robots-Tag', 'noindex, nofollow, noarchive'],
  ['Content-Language', ''],
] as const);

export function writePage(view: PageView, request: PageRequest): PageReply {
  const language = chooseLanguage([request.lang, ...request.languages]);
  const values = valuesOf(language, view.status.datepicker, view.timeZone);
  const begin = opening(view, request.agent, language, values).toString();
  const end = closing(view, language, values).toString();
  const room = MOST_BYTES - Buffer.byteLength(begin) - Buffer.byteLength(end);
  return {
    html: begin + servers(view, language, values, room) + end,
    headers: HEADERS.map(([name, value]) => [name, name === 'Content-Language' ? language.tag : value]),
  };
}

function opening(view: PageView, agent: string, language: Language, values: Values): Html {
  const { texts, tag, direction } = language;
  const { subTitle, emails } = view.status;
  const title = subTitle || texts.title;
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<meta name="format-detection" content="telephone=no">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
${languages(language)}
<h1><bdi>${title}</bdi></h1>
<p class="who">${names(emails)}</p>
</header>
<main>
${advice(view, language)}
${announcement(view, language)}
<div class="column">
${traffic(view, language, values)}
${time(view, language, values)}
${devices(view, language, values)}
</div>
<div class="column">
${view.state === 'working' && html`${imports(view, language, agent)}\n${addresses(view, language)}`}
`;
}
const closing = (view: PageView, language: Language, values: Values): Html => html`</div>
</main>
<footer>
${support(view.status.subSupportUrl, language)}
<p class="soft">${view.status.subUpdates > 0 && language.texts.updates(view.status.subUpdates, values.count(view.status.subUpdates))}</p>
</footer>
<div class="told" id="told" role="status"></div>
<script>${raw(SCRIPT)}</script>
</body>
</html>
`;

const names = (emails: readonly string[]): Html[] =>
  emails
    .slice(0, MOST_NAMES)
    .map(
      (email, i) =>
        html`${i > 0 && ', '}<bdi>${email}</bdi>${i === MOST_NAMES - 1 && i + 1 < emails.length && ' …'}`,
    );

const languages = ({ key, texts }: Language): Html =>
  html`<nav aria-label="${texts.language}"><ul>${LANGUAGES.map(
    (one) =>
      html`<li><a href="?html=1&amp;lang=${one.key}" lang="${one.tag}" hreflang="${one.tag}" dir="${one.direction}"${one.key === key && html` aria-current="true"`}>${one.name}</a></li>`,
  )}</ul></nav>`;

function advice({ state }: PageView, { texts }: Language): Html | undefined {
  if (state === 'working') return undefined;
  return html`<section class="wide alert" aria-labelledby="state"><h2 id="state" class="bad">${texts.states[state]}</h2><p>${texts.advice[state]}</p></section>`;
}
const announcement = ({ status }: PageView, { texts }: Language): Html | false =>
  status.announce !== '' &&
  html`<section class="wide" aria-labelledby="announced"><h2 id="announced">${texts.announcement}</h2><p class="words" dir="auto">${status.announce}</p></section>`;

function traffic({ status, state }: PageView, { texts }: Language, values: Values): Html {
  const used = status.downloadByte + status.uploadByte;
  const { totalByte } = status;
  const share = totalByte > 0 ? Math.min(1, used / totalByte) : 0;
  return html`<section aria-labelledby="traffic">
<p class="state ${state === 'working' ? 'good' : 'bad'}">${texts.states[state]}</p>
<h2 id="traffic">${texts.traffic}</h2>
<p class="total">${totalByte > 0 ? texts.usedOf(values.bytes(used), values.bytes(totalByte)) : values.bytes(used)}</p>
${totalByte > 0 && html`<progress max="100" value="${Math.round(share * 100)}" aria-label="${texts.used}">${values.percent(share)}</progress>`}
<dl>
<dt>${texts.left}</dt><dd>${totalByte > 0 ? values.bytes(Math.max(0, totalByte - used)) : texts.unlimited}</dd>
<dt>${texts.download}</dt><dd>${values.bytes(status.downloadByte)}</dd>
<dt>${texts.upload}</dt><dd>${values.bytes(status.uploadByte)}</dd>
</dl>
</section>`;
}

function time({ status, now, timeFromFirstUse: waits }: PageView, { texts }: Language, values: Values): Html {
  const end = status.expire * 1000;
  const moment = (ms: number): Html =>
    html`<time datetime="${new Date(ms).toISOString()}">${values.moment(ms)}</time> <span>${values.distance(ms, now)}</span>`;
  const never = waits === undefined ? texts.never : texts.fromFirstUse(values.duration(waits));
  const ends = end > 0 ? moment(end) : never;
  return html`<section aria-labelledby="time">
<h2 id="time">${texts.time}</h2>
<dl>
<dt>${end > 0 && end <= now ? texts.expired : texts.expires}</dt><dd>${ends}</dd>
<dt>${texts.lastOnline}</dt><dd>${status.isOnline ? texts.onlineNow : status.lastOnline > 0 ? moment(status.lastOnline) : texts.notYet}</dd>
</dl>
</section>`;
}

function devices({ devices: places }: PageView, { texts }: Language, values: Values): Html | undefined {
  if (!places) return undefined;
  const { registered, limit, remaining, full } = places;
  return html`<section aria-labelledby="devices">
<h2 id="devices">${texts.devices}</h2>
<p class="total">${texts.devicesOf(values.count(registered), values.count(limit))}</p>
<progress max="${limit}" value="${Math.min(registered, limit)}" aria-label="${texts.devices}"></progress>
${full ? html`<p class="bad">${texts.devicesFull}</p>` : html`<dl><dt>${texts.devicesLeft}</dt><dd>${values.count(remaining)}</dd></dl>`}
</section>`;
}

/** A setting, so another scheme than these is text and no link. */
const CALLABLE = /^(?:https?|mailto|tel|tg):/i;
const support = (url: string, { texts }: Language): Html | false =>
  url !== '' &&
  html`<p>${texts.support}: ${CALLABLE.test(url) ? html`<a href="${url}" rel="noopener noreferrer" dir="ltr">${url}</a>` : html`<bdi>${url}</bdi>`}</p>`;
