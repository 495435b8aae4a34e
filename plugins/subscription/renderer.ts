// Renders one fetch: headers and body for one client, from the compiled parts. Both paths send exactly this.
import { hash } from 'node:crypto';
import type { Clock, LiveSettings } from '../../kernel/index.js';
import type { ClientRow, ClientsApi } from '../clients/contract.js';
import type { ProxyEntry } from '../inbounds/contract.js';
import { isRemote, type RemoteTextsApi, textOf } from '../remote-texts/contract.js';
import type { Compiled } from './compiled.js';
import type { Format, LeftOut, LinkHost, ListFormat, SubscriptionApi } from './contract.js';
import { expireOf } from './expiry.js';
import { isDocument } from './formats.js';
import { type FixedHeaders, type SettledHeaders, settleHeaders, userInfo } from './headers.js';
import type { PublicUrls } from './public-urls.js';
import { type NamedLine, NOTE_SOURCE, type RenderedEntries } from './rendered-entries.js';
import { routingOf } from './routing-text.js';
import { compileRemark, type RemarkTemplate } from './remark/template.js';
import type { subscriptionSettings } from './settings.js';
import { type State, stateOf, type Subscriber, subscriberOf } from './subscriber.js';

export interface Rendered {
  /** the same for every client */
  readonly fixed: FixedHeaders;
  /** name, value, name, value …, the fastest form for Node; a new list for each fetch */
  readonly own: string[];
  readonly body: string;
  /** Changes with the body. */
  readonly etag: string;
  /** its name */
  readonly format: string;
}
/** What a fetch asks for. */
export interface Wanted {
  /** The first with an entry for this client; the last one in any case. */
  readonly formats: readonly [Format, ...Format[]];
  readonly agent: string;
}
/** Of templates that were changed, too. */
const MOST_NOTES = 20;
/** What an entry tells beside the links or in place of them, with the setting that says it. */
export type NoteReason = State | 'devices';
const NOTES = {
  working: ['subStatusTemplate', ''],
  expired: ['subExpiredTemplate', 'Expired'],
  depleted: ['subTrafficDepletedTemplate', 'Traffic Depleted'],
  disabled: ['subDisabledTemplate', 'Disabled'],
  devices: ['subDeviceLimitTemplate', ''],
} as const;

export class Renderer implements SubscriptionApi {
  readonly #compiled: Compiled;
  readonly #clients: ClientsApi;
  readonly #rendered: RenderedEntries;
  readonly #settings: LiveSettings<typeof subscriptionSettings>;
  readonly #clock: Clock;
  readonly #urls: PublicUrls;
  readonly #settled = new WeakMap<Format, SettledHeaders>();
  readonly #remote: RemoteTextsApi | undefined;
  #lastRouting: { readonly text: string; readonly header: string } | undefined;
  /** by template of a note */
  readonly #notes = new Map<string, RemarkTemplate>();

  constructor(needs: {
    compiled: Compiled;
    clients: ClientsApi;
    rendered: RenderedEntries;
    settings: LiveSettings<typeof subscriptionSettings>;
    clock: Clock;
    publicUrls: PublicUrls;
    remote: RemoteTextsApi | undefined;
  }) {
    this.#compiled = needs.compiled;
    this.#clients = needs.clients;
    this.#rendered = needs.rendered;
    this.#settings = needs.settings;
    this.#clock = needs.clock;
    this.#urls = needs.publicUrls;
    this.#remote = needs.remote;
  }

  /** A disabled, expired or depleted client gets its headers and no working link. */
  render(wanted: Wanted, subscriber: Subscriber, requestHost: string): Rendered {
    const { client } = subscriber;
    const host = this.#urls.host(requestHost);
    const state = stateOf(subscriber, this.#clock.now());
    let body: string | undefined;
    let [format] = wanted.formats;
    if (state !== 'working') body = this.#noteBody(format, client, state, wanted.agent);
    for (let i = 0; body === undefined && i < wanted.formats.length; i++) {
      format = wanted.formats[i] as Format;
      body = this.#body(format, subscriber, host, wanted.agent, i === wanted.formats.length - 1);
    }
    return this.#complete(format, client, host, body ?? '');
  }

  /** The reply to a device beyond the limit: one entry that says so. Undefined where the settings or the format have none. */
  overLimit(wanted: Wanted, { client }: Subscriber, requestHost: string): Rendered | undefined {
    const [format] = wanted.formats;
    if (isDocument(format) || this.#note(format, client, 'devices') === undefined) return undefined;
    const body = this.#noteBody(format, client, 'devices', wanted.agent);
    return this.#complete(format, client, this.#urls.host(requestHost), body);
  }

  #complete(format: Format, client: ClientRow, host: string, body: string): Rendered {
    // Every change creates a new object.
    const settings = this.#settings.read();
    const known = this.#settled.get(format);
    const routing = this.#routing(settings.subRoutingRules);
    const isCurrent = known?.settings === settings && known.routing === routing;
    const { fixed, personal } = isCurrent ? known : this.#settle(format, settings, routing);
    const etag = `"${hash('sha1', body, 'base64url')}"`;
    const own = [...this.usage(client), 'ETag', etag];
    for (const [name, value] of personal) own.push(name, value(client, host));
    return { fixed, own, body, etag, format: format.name };
  }

  /** Name and value of the header with which client programs show traffic and expiry. */
  usage(client: ClientRow): readonly [name: string, value: string] {
    return ['Subscription-Userinfo', userInfo(client, this.#expireOf(client))];
  }

  #expireOf(client: ClientRow): number {
    const { subCalendarExpireInclusive: inclusive } = this.#settings.read();
    return expireOf(client, { inclusive, timeZone: this.#compiled.timeZone });
  }

  /** Undefined for an empty one, unless it is the last choice. */
  #body(format: Format, subscriber: Subscriber, host: string, agent: string, isLast: boolean) {
    const { client } = subscriber;
    if (isDocument(format)) {
      const parts = this.#rendered.parts(format, subscriber, host);
      return parts.length > 0 || isLast ? format.document(parts, { client }) : undefined;
    }
    const lead = this.#note(format, client, 'working');
    const { lines, written } = this.#rendered.list(format, subscriber, host, { display: false, agent, lead });
    return lines.length > (lead ? 1 : 0) || isLast ? format.body(lines, written) : undefined;
  }

  #noteBody(format: Format, client: ClientRow, reason: NoteReason, agent: string): string {
    if (isDocument(format)) return format.document([], { client });
    const note = this.#note(format, client, reason);
    if (!note) return format.body([], { client, names: [], sources: [], agent });
    return format.body([note.line], { client, names: [note.name], sources: [NOTE_SOURCE], agent });
  }

  #note(format: ListFormat, client: ClientRow, reason: NoteReason): NamedLine | undefined {
    const settings = this.#settings.read();
    if (!settings.subInfoNodeEnable || !format.note) return undefined;
    const [setting, otherwise] = NOTES[reason];
    const template = settings[setting];
    let remark = this.#notes.get(template);
    if (!remark) {
      if (this.#notes.size >= MOST_NOTES) this.#notes.clear();
      remark = compileRemark(template, { identityOnAllLinks: false }, () => otherwise);
      this.#notes.set(template, remark);
    }
    const name = template.trim() === '' ? otherwise : this.#rendered.noteName(remark, client);
    return name === '' ? undefined : { name, line: format.note(name) };
  }

  entries(format: string, client: ClientRow, host: LinkHost, only?: 'inbounds'): string[] {
    return this.#lines(format, { client }, host, only);
  }
  entriesOfSubId(format: string, subId: string, host: LinkHost): string[] {
    const client = this.#clients.bySubId(subId);
    if (!client) return [];
    return this.#lines(format, subscriberOf(this.#clients, client, this.#clock.now()), host);
  }
  #lines(format: string, subscriber: Subscriber, host: LinkHost, only?: 'inbounds'): string[] {
    const found = this.formatOf(format);
    if (!found || isDocument(found)) return [];
    const options = { display: true, agent: '', only } as const;
    return this.#rendered.list(found, subscriber, this.#urls.host(host), options).lines;
  }
  /** The same with the names, of all clients of a subscription whose links work. */
  namedEntries(format: string, subscriber: Subscriber, host: LinkHost): { name: string; link: string }[] {
    const found = this.formatOf(format);
    if (!found || isDocument(found) || stateOf(subscriber, this.#clock.now()) !== 'working') return [];
    const options = { display: true, agent: '', working: true } as const;
    const { lines, written } = this.#rendered.list(found, subscriber, this.#urls.host(host), options);
    return lines.map((link, i) => ({ name: written.names[i] as string, link }));
  }
  proxies(client: ClientRow, host: LinkHost): ProxyEntry[] {
    return this.#rendered.proxies(client, this.#urls.host(host));
  }
  leftOut(): LeftOut[] {
    return this.#compiled.leftOut();
  }

  formatOf(name: string): Format | undefined {
    return this.#compiled.formats.find((format) => format.name === name);
  }
  pathOf(name: string): string | undefined {
    const found = this.formatOf(name);
    return found && this.#compiled.pathOf(found);
  }
  url(name: string, { subId }: ClientRow, host: LinkHost): string | undefined {
    const found = this.formatOf(name);
    return found && this.#urls.of(found, subId, this.#urls.host(host));
  }

  /** The header; what was fetched has been checked. */
  #routing(value: string): string {
    if (value === '' || !isRemote(value)) return value;
    const text = textOf(this.#remote, 'subRoutingRules', value);
    if (this.#lastRouting?.text !== text) this.#lastRouting = { text, header: routingOf(text) };
    return this.#lastRouting.header;
  }

  #settle(format: Format, settings: SettledHeaders['settings'], routing: string): SettledHeaders {
    const settled = settleHeaders(format, settings, routing, ({ subId }, host) => {
      const standard = this.#compiled.standard ?? format;
      return `${this.#urls.of(standard, subId, host) ?? this.#urls.of(format, subId, host) ?? ''}?html=1`;
    });
    this.#settled.set(format, settled);
    return settled;
  }
}
