// Renders one fetch: headers and body for one client, from the compiled parts. Both paths send exactly this.
import { validateHeaderValue } from 'node:http';
import type { Clock, ListenersApi, LiveSettings, SettingValues } from '../../kernel/index.js';
import { type ClientRow, depletionOf } from '../clients/contract.js';
import type { ProxyEntry } from '../inbounds/contract.js';
import { bracketed, hostFor } from './address.js';
import type { Compiled } from './compiled.js';
import type { Format, LeftOut, LinkHost, SubscriptionApi } from './contract.js';
import { isDocument } from './formats.js';
import type { RenderedEntries } from './rendered-entries.js';
import type { subscriptionSettings } from './settings.js';

export interface Rendered {
  /** the same for every client */
  readonly fixed: FixedHeaders;
  /** name, value, name, value …, the fastest form for Node; a new list for each fetch */
  readonly own: string[];
  readonly body: string;
}
export interface FixedHeaders {
  /** name, value, name, value … */
  readonly list: readonly string[];
  /** the same, encoded for the wire */
  readonly text: string;
}

/** Headers that depend on the settings, computed when these change. */
interface SettledHeaders {
  readonly settings: SettingValues<typeof subscriptionSettings>;
  readonly fixed: FixedHeaders;
  readonly personal: readonly (readonly [name: string, value: (client: ClientRow) => string])[];
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const identity: Readonly<Record<string, (client: ClientRow) => string>> = {
  EMAIL: (c) => c.email,
  ID: (c) => c.uuid,
  SHORT_ID: (c) => c.uuid.slice(0, 8),
  SUB_ID: (c) => c.subId,
  TELEGRAM_ID: (c) => (c.tgId === 0 ? '' : String(c.tgId)),
};
/** Headers know only these five tokens; in links their values are escaped as in forms. */
const expand = (template: string, client: ClientRow, escaped: (text: string) => string): string =>
  template.includes('{{')
    ? template
        .replaceAll(/\{\{(EMAIL|ID|SHORT_ID|SUB_ID|TELEGRAM_ID)\}\}/g, (_, name: string) =>
          escaped(identity[name]?.(client) ?? ''),
        )
        .trim()
    : template;
const asIs = (text: string): string => text;
/** Halves of surrogate pairs, which older databases may contain, cannot be escaped. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Cs}/gu, '\uFFFD');
const inUrl = (text: string): string => encodeURIComponent(wellFormed(text)).replaceAll('%20', '+');

export class Renderer implements SubscriptionApi {
  readonly #compiled: Compiled;
  readonly #rendered: RenderedEntries;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #clock: Clock;
  readonly #config: { readonly publicHost?: string | undefined; readonly port: number };
  readonly #listeners: ListenersApi;
  readonly #settled = new WeakMap<Format, SettledHeaders>();
  /** Nearly all fetches use the same host. */
  #lastHost: { readonly asked: string; readonly subDomain: string; readonly host: string } | undefined;

  constructor({
    compiled,
    rendered,
    settings,
    clock,
    config,
    listeners,
  }: {
    compiled: Compiled;
    rendered: RenderedEntries;
    settings: LiveSettings<typeof subscriptionSettings>;
    clock: Clock;
    config: { publicHost?: string | undefined; port: number };
    listeners: ListenersApi;
  }) {
    this.#compiled = compiled;
    this.#rendered = rendered;
    this.#settings = settings;
    this.#clock = clock;
    this.#config = config;
    this.#listeners = listeners;
  }

  /** A disabled, expired or depleted client gets its headers and no working link. */
  render(format: Format, client: ClientRow, requestHost: string): Rendered {
    const now = this.#clock.now();
    // Every change creates a new object.
    const settings = this.#settings.read();
    const works = client.enable && depletionOf(client, now) === undefined;
    const host = this.#host(requestHost, settings.subDomain);
    const known = this.#settled.get(format);
    const { fixed, personal } = known?.settings === settings ? known : this.#settle(format, settings);
    const own = ['Subscription-Userinfo', userInfo(client)];
    for (const [name, value] of personal) own.push(name, value(client));
    const body = works ? this.#body(format, client, host) : emptyBody(format, client);
    return { fixed, own, body };
  }

  #body(format: Format, client: ClientRow, host: string): string {
    return isDocument(format)
      ? format.document(this.#rendered.parts(format.name, client, host), { client })
      : format.body(this.#rendered.lines(format.name, client, host, false));
  }

  entries(format: string, client: ClientRow, host: LinkHost): string[] {
    return this.#rendered.lines(format, client, this.#hostOfLinks(host), true);
  }
  proxies(client: ClientRow, host: LinkHost): ProxyEntry[] {
    return this.#rendered.proxies(client, this.#hostOfLinks(host));
  }
  leftOut(): LeftOut[] {
    return this.#compiled.leftOut();
  }

  pathOf(format: string): string | undefined {
    const found = this.#compiled.formats.find(({ name }) => name === format);
    return found && this.#compiled.pathOf(found);
  }

  url(format: string, { subId }: ClientRow, host: LinkHost): string | undefined {
    const found = this.#compiled.formats.find(({ name }) => name === format);
    const prefix = found && this.#compiled.pathOf(found);
    if (!found || prefix === undefined) return undefined;
    const { subURI } = this.#settings.read();
    if (subURI !== '') return `${publicPrefix(subURI, found, prefix)}${encodeURIComponent(subId)}`;
    return `http://${this.#hostOfLinks(host)}:${this.#listeners.port('subscription') || this.#config.port}${prefix}${encodeURIComponent(subId)}`;
  }

  #hostOfLinks(host: LinkHost): string {
    if (typeof host !== 'string') return bracketed(host.named);
    return this.#host(host, this.#settings.read().subDomain);
  }

  #host(asked: string, subDomain: string): string {
    const last = this.#lastHost;
    if (last?.asked === asked && last.subDomain === subDomain) return last.host;
    const host = hostFor(asked, { publicHost: this.#config.publicHost, subDomain });
    this.#lastHost = { asked, subDomain, host };
    return host;
  }

  #settle(format: Format, settings: SettledHeaders['settings']): SettledHeaders {
    const settled = settle(format, settings);
    this.#settled.set(format, settled);
    return settled;
  }
}

/** The setting with the path of the format that `subURI` is for. */
const STANDARD_PATH = 'subPath';
/** Where users reach this format: `subURI` is the place of the standard one, the others have their paths on the same host. */
function publicPrefix(subURI: string, format: Format, prefix: string): string {
  if (format.pathSetting === STANDARD_PATH) return subURI.endsWith('/') ? subURI : `${subURI}/`;
  return new URL(prefix, subURI).href;
}

const emptyBody = (format: Format, client: ClientRow): string =>
  isDocument(format) ? format.document([], { client }) : format.body([]);

function userInfo({ up, down, totalGB, expiryTime }: ClientRow): string {
  return `upload=${up}; download=${down}; total=${totalGB}; expire=${expiryTime > 0 ? Math.floor(expiryTime / 1000) : 0}`;
}

function settle({ contentType }: Format, settings: SettledHeaders['settings']): SettledHeaders {
  const { subUpdates, subTitle, subSupportUrl, subProfileUrl, subAnnounce } = settings;
  const text = (template: string) => (client: ClientRow) =>
    `base64:${base64(expand(template, client, asIs))}`;
  const url = (template: string) => (client: ClientRow) => headerSafe(expand(template, client, inUrl));
  const templates = [
    ['Profile-Title', subTitle, text],
    ['Support-Url', subSupportUrl, url],
    ['Profile-Web-Page-Url', subProfileUrl, url],
    ['Announce', subAnnounce, text],
  ] as const;
  // The path is a secret and the body contains credentials: no cache may store them.
  const fixed = [
    ['Content-Type', contentType],
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Profile-Update-Interval', String(subUpdates)],
  ] as const;
  for (const [name, value] of fixed) validateHeaderValue(name, value);
  return {
    settings,
    fixed: { list: fixed.flat(), text: fixed.map(([name, value]) => `${name}: ${value}\r\n`).join('') },
    personal: templates.flatMap(([name, template, make]) =>
      template === '' ? [] : [[name, make(template)] as const],
    ),
  };
}

/** Header values are Latin-1 on the wire; other characters are escaped as in a URL. */
const headerSafe = (url: string): string => wellFormed(url).replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
