// Random requests for a subscription listener: hostile paths, queries, headers and agents, some of them for real clients.
import { type Random, random } from '../../../test/harness/random.js';

const SCRAPS = [
  '%', '%00', '%2e%2e%2f', '%ff%fe', '%C3%28', '%ED%A0%80', '%u0041', '..', '../..', '//', '/./', '\\', ';', '?', '#', '&', '=',
  '{{EMAIL}}', '<script>', "' OR 1=1 --", '__proto__', 'constructor', 'hwid-status', '/hwid-status', '.php', 'a'.repeat(300),
  '%41'.repeat(200), '\u00ff\u00fe', '$(id)', '*', '(', '((a+)+)+$', '0', '-1', '1e309', 'NaN', 'null', 'undefined', '[]', '~', '@', ':',
]; // biome-ignore format: a list
const QUERIES = [
  'format=', 'format=json', 'format=links', 'format=alt', 'format=sing-box', 'format=info', 'format=__proto__', 'format=constructor',
  'html=1', 'html=true', 'view=html', 'view=raw', 'lang=fa', 'lang=__proto__', 'lang=', 'x=1', '=', '&&&', 'format=json&format=links',
  'html[]=1', 'view[raw]=1', '%zz=%zz', 'a='.padEnd(3000, 'b'), 'a=1&'.repeat(700),
]; // biome-ignore format: a list
const AGENTS = [
  '', 'v2rayNG/1.9', 'Happ/3.1', 'sing-box 1.14', 'SFA/1.11.0 (sing-box 1.11.0)', 'sing-box '.padEnd(5000, '9'), 'clash.meta/v1.19',
  'Mozilla/5.0', `${'a'.repeat(4000)}!`, 'sing-box 99999999999999999999.0', 'sing-box 1.-5', '\u00e4\u00f6', '((((((((((', '${jndi:ldap://x}',
]; // biome-ignore format: a list
const HEADERS = [
  'Accept: text/html', 'Accept: */*', `Accept: ${'text/html,'.repeat(300)}`, 'Accept-Language: fa-IR,en;q=0.5',
  `Accept-Language: ${'a-b;q=0.1,'.repeat(500)}`, 'If-None-Match: *', 'If-None-Match: ""', `If-None-Match: ${'"x",'.repeat(800)}`,
  'X-Hwid: device', 'X-Hwid: ', `X-Hwid: ${'h'.repeat(4000)}`, 'X-Hwid: \u00ff\u0080', 'X-Device-Os: {{OS}}', 'X-Forwarded-For: 203.0.113.7',
  `X-Forwarded-For: ${'1.1.1.1,'.repeat(600)}`, 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https', 'Range: bytes=0-1,0-2,0-3',
  'Expect: 200-maybe', 'Upgrade: websocket', 'Cookie: a=%41;b', 'Authorization: Basic !!!', 'Origin: null', 'Connection: keep-alive, x',
  'Accept-Encoding: gzip;q=bad', '__proto__: x', 'constructor: y', `X-Long: ${'z'.repeat(6000)}`,
]; // biome-ignore format: a list
const HOSTS = [
  'weir',
  '127.0.0.1',
  '[::1]:80',
  'a"b<script>',
  'evil.example:80:80',
  '',
  'x'.repeat(500),
  '\u00ff.example',
];
const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND'];

export interface Request {
  /** Latin-1 */
  readonly text: string;
  /** its answer has no body */
  readonly isHead: boolean;
}
export interface Wanted {
  readonly prefixes: readonly string[];
  readonly ids: readonly string[];
}

export class HostileRequests {
  readonly #random: Random;
  readonly #wanted: Wanted;

  constructor(seed: number, wanted: Wanted) {
    this.#random = random(seed);
    this.#wanted = wanted;
  }

  #one(list: readonly string[]): string {
    return this.#random.pick(list) ?? '';
  }
  #noise(most: number): string {
    const codes = Array.from({ length: this.#random.below(most) }, () => 33 + this.#random.below(94));
    return String.fromCharCode(...codes);
  }

  #path(): string {
    const { below } = this.#random;
    const prefix = below(8) ? this.#one(this.#wanted.prefixes) : `/${this.#noise(12)}`;
    let path = prefix + (below(3) ? this.#one(this.#wanted.ids) : '');
    for (let i = below(6) - 2; i > 0; i--) path += below(4) ? this.#one(SCRAPS) : this.#noise(20);
    if (!below(3)) path += `?${this.#one(QUERIES)}`;
    // Blanks and line breaks end the path.
    return path.replaceAll(/[\s\0]/g, '') || '/';
  }

  /** A request on a connection that is kept. */
  next(): Request {
    const { below } = this.#random;
    const method = this.#one(METHODS);
    const headers = Array.from({ length: below(5) }, () => this.#one(HEADERS));
    const agent = below(3) ? `User-Agent: ${this.#one(AGENTS)}\r\n` : '';
    const more = [...new Set(headers)].map((header) => `${header}\r\n`).join('');
    const text = `${method} ${this.#path()} HTTP/1.1\r\nHost: ${this.#one(HOSTS)}\r\n${agent}${more}\r\n`;
    return { text, isHead: method === 'HEAD' };
  }
}
