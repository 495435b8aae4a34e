// The parts of the page with which a user connects.
import type { PageView } from '../subscription/contract.js';
import { type Html, html } from './html.js';
import type { Language } from './languages.js';
import { importsOn, SYSTEMS, systemOf } from './programs.js';
import { qrCode } from './qr.js';
import type { Texts } from './texts/texts.js';
import type { Values } from './values.js';

const STANDARD = 'links';
const NAMES: Readonly<Record<string, string>> = {
  json: 'Xray JSON',
  alt: 'Clash, mihomo',
  'sing-box': 'sing-box',
};
const MOST_ADDRESSES = 8;
/** For the time that they take. */
const MOST_CODES = 12;

/** The links that import the subscription, by system; that of the user is open and first. The script knows it better. */
export function imports({ status, urls }: PageView, { texts }: Language, agent: string): Html | undefined {
  const own = systemOf(agent);
  const sorted = SYSTEMS.toSorted((a, b) => Number(b === own) - Number(a === own));
  const systems = sorted
    .map((system) => ({
      system,
      found: importsOn(system, urls, status.subTitle || texts.title),
    }))
    .filter(({ found }) => found.length > 0);
  if (systems.length === 0) return undefined;
  return html`<section aria-labelledby="add">
<h2 id="add">${texts.add}</h2>
<p class="soft">${texts.addHow}</p>
${systems.map(
  ({ system, found }) =>
    html`<details data-system="${system}"${system === own && html` open`}><summary lang="en">${system}</summary><div><ul class="programs">${found.map(
      ({ name, link }) =>
        html`<li><a class="button" dir="ltr" href="${link}" aria-label="${texts.addTo(name)}">${name}</a></li>`,
    )}</ul></div></details>`,
)}
</section>`;
}

/** The URLs of the subscription, the standard one first and open. */
export function addresses({ urls }: PageView, { texts }: Language): Html | undefined {
  if (urls.length === 0) return undefined;
  const sorted = [...urls]
    .sort((a, b) => Number(b.format === STANDARD) - Number(a.format === STANDARD))
    .slice(0, MOST_ADDRESSES);
  return html`<section aria-labelledby="addresses">
<h2 id="addresses">${texts.addresses}</h2>
<p class="soft">${texts.addressesHow}</p>
${sorted.map(({ format, url }, i) => {
  const name = format === STANDARD ? texts.standard : (NAMES[format] ?? format);
  return html`<details${i === 0 && html` open`}><summary><bdi>${name}</bdi></summary><div>${copied(`url${i}`, url, name, texts)}${qrCode(url, texts.qrOf(name))}</div></details>`;
})}
</section>`;
}

/** Share links, in at most so many bytes: first all texts that fit, then a code for each of the first. */
export function servers(view: PageView, { texts }: Language, values: Values, room: number): string {
  // The server gives no others; this page would be the place where a mistake there gets out.
  const links = view.state === 'working' && view.devices === undefined ? view.links : [];
  const [first] = links;
  if (!first) return '';
  const frame = (items: readonly string[], more: number): string =>
    `${html`<section aria-labelledby="servers">\n<h2 id="servers">${texts.servers}</h2>\n<p class="soft">${texts.serversHow}</p>\n`}${items.join('\n')}${
      more > 0 ? html`\n<p class="soft">${texts.moreServers(values.count(more))}</p>` : ''
    }\n</section>\n`;
  let left = room - Buffer.byteLength(frame([], links.length));
  const items: string[] = [];
  for (const [i, { name, link }] of links.entries()) {
    const item = server(`link${i}`, name || '—', link, undefined, texts);
    const size = Buffer.byteLength(item) + 1;
    if (size > left) break;
    left -= size;
    items.push(item);
  }
  for (const [i, { name, link }] of links.slice(0, Math.min(items.length, MOST_CODES)).entries()) {
    const code = qrCode(link, texts.qrOf(name || '—'));
    const size = code ? Buffer.byteLength(code.toString()) : 0;
    if (size > left) break;
    left -= size;
    items[i] = server(`link${i}`, name || '—', link, code, texts);
  }
  return items.length === 0 ? '' : frame(items, links.length - items.length);
}
const server = (id: string, name: string, link: string, code: Html | undefined, texts: Texts): string =>
  html`<details><summary><bdi>${name}</bdi></summary><div>${copied(id, link, name, texts)}${code}</div></details>`.toString();

/** A text that can be selected as a whole; the button is shown by the script that makes it work. */
const copied = (id: string, text: string, name: string, texts: Texts): Html =>
  html`<code id="${id}" dir="ltr" tabindex="0" role="group" aria-label="${name}">${text}</code><button type="button" hidden data-copy="${id}" data-name="${texts.copy}" data-done="${texts.copied}" data-failed="${texts.notCopied}"><span>${texts.copy}</span> <span class="told">${name}</span></button>`;
