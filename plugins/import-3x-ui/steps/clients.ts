// Clients, with what they used, their attachments, links and devices; recognised by email.
import { messageOf, TimeSlice } from '../../../kernel/index.js';
import type { Arrival, ArrivingClient, ClientArrivalsApi, ClientsApi } from '../../clients/contract.js';
import type { InboundsApi } from '../../inbounds/contract.js';
import { type Context, isRefusal } from '../context.js';
import type { SourceClient } from '../source/known-tables.js';
import { textOf } from '../values.js';
import { type Body, bodyOf, devicesOf, linksOf } from './client-body.js';

interface Tokens {
  readonly arrivals: ClientArrivalsApi;
  readonly clients: ClientsApi;
  readonly inbounds: InboundsApi;
  /** why links and devices stay behind; undefined when they are taken */
  readonly withoutLinks: string | undefined;
  readonly withoutDevices: string | undefined;
}
interface Item {
  readonly source: SourceClient;
  readonly body: Body;
  readonly links: readonly unknown[];
  readonly devices: readonly unknown[];
}
const LINKS = 'client_external_links';
const DEVICES = 'client_hwids';
const TRAFFICS = 'client_traffics';
const ATTACHMENTS = 'client_inbounds';

export async function importClients(context: Context, tokens: Tokens): Promise<void> {
  const { source, report, progress, signal } = context;
  const work = new ClientsOfFile(context, tokens);
  for (const { table, why, count } of source.facts.foreign) {
    if (!(table in source.facts.rows)) report.found(table, count);
    report.left(table, why, '', count);
  }
  // A version without the table keeps its clients inside the inbounds.
  if (!('clients' in source.facts.rows)) report.found('clients', source.facts.clients);
  let done = 0;
  for await (const page of source.clients()) {
    signal.throwIfAborted();
    await work.take(page);
    done += page.length;
    if (done % 10_000 === 0) progress(`${done} of ${source.facts.clients} clients`);
  }
}

class ClientsOfFile {
  readonly #context: Context;
  readonly #tokens: Tokens;
  readonly #arrival: Arrival;
  /** Their usage, and the devices of their subId, were counted already. */
  readonly #people = new Set<string>();
  readonly #subIds = new Set<string>();
  readonly #hasTable: (table: string) => boolean;

  constructor(context: Context, tokens: Tokens) {
    this.#context = context;
    this.#tokens = tokens;
    this.#arrival = tokens.arrivals.begin(context.who);
    this.#hasTable = (table) => table in context.source.facts.rows;
  }

  async take(page: readonly SourceClient[]): Promise<void> {
    const { clients, inbounds } = this.#tokens;
    const fresh: Item[] = [];
    const known: Item[] = [];
    const slice = new TimeSlice();
    for (const source of page) {
      if (slice.isOver) await slice.next();
      const item = this.#itemOf(source, bodyOf(source, this.#context, inbounds));
      const row = clients.byEmail(item.body.client.email);
      if (!row) fresh.push(item);
      else if (
        row.uuid === textOf(source.row['uuid']).toLowerCase() ||
        row.subId === item.body.client['subId']
      )
        known.push(item);
      else this.#leave(item, 'another client has this email');
    }
    await this.#add(fresh);
    await this.#attach(known);
  }

  /** Of several clients with one subId, the first has the devices. */
  #itemOf(source: SourceClient, body: Body): Item {
    const { withoutLinks, withoutDevices } = this.#tokens;
    const { report } = this.#context;
    const subId = String(body.client['subId'] ?? '');
    const isFirst = !this.#subIds.has(subId);
    this.#subIds.add(subId);
    const devices = isFirst ? devicesOf(source) : [];
    const links = linksOf(source);
    if (withoutLinks !== undefined) report.left(LINKS, withoutLinks, '', links.length);
    if (withoutDevices !== undefined) report.left(DEVICES, withoutDevices, '', devices.length);
    return {
      source,
      body,
      links: withoutLinks === undefined ? links : [],
      devices: withoutDevices === undefined ? devices : [],
    };
  }

  /** Adds them in one transaction. Where the whole is refused, it is halved until the culprit is alone. */
  async #add(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return;
    const { dryRun } = this.#context;
    const sent = items.map(
      ({ body, links, devices }): ArrivingClient => ({
        client: body.client,
        inboundIds: body.inboundIds,
        ...(links.length > 0 && { externalLinks: links }),
        ...(devices.length > 0 && { devices }),
        used: body.used,
      }),
    );
    let skipped: Awaited<ReturnType<Arrival['check']>>['skipped'];
    try {
      ({ skipped } = await (dryRun ? this.#arrival.check(sent) : this.#arrival.add(sent)));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const [only] = items;
      if (items.length === 1 && only) return this.#leave(only, messageOf(error));
      const half = Math.ceil(items.length / 2);
      await this.#add(items.slice(0, half));
      return this.#add(items.slice(half));
    }
    const refused = new Map(skipped.map(({ index, reason }) => [index, reason]));
    for (const [i, item] of items.entries()) {
      const reason = refused.get(i);
      if (reason === undefined) this.#taken(item);
      else if (item.links.length + item.devices.length === 0) this.#leave(item, reason);
      else await this.#addBare(item, reason);
    }
  }

  /** A client does not stay behind because of one of its links or devices. */
  async #addBare(item: Item, reason: string): Promise<void> {
    const { report } = this.#context;
    if (!/^(?:externalLinks|devices)/.test(reason)) return this.#leave(item, reason);
    const { email } = item.body.client;
    const isLinks = reason.startsWith('externalLinks');
    if (isLinks) report.left(LINKS, reason, email, item.links.length);
    else report.left(DEVICES, reason, email, item.devices.length);
    await this.#add([{ ...item, ...(isLinks ? { links: [] } : { devices: [] }) }]);
  }

  /** Clients that are here already get the attachments that they lack. */
  async #attach(items: readonly Item[]): Promise<void> {
    const { clients } = this.#tokens;
    const { dryRun, report } = this.#context;
    const lacking = items.flatMap(({ body }) => {
      const row = clients.byEmail(body.client.email);
      const inboundIds = body.inboundIds.filter((id) => !row?.inboundIds.includes(id));
      const credentials = body.credentials.filter(({ inboundId }) => inboundIds.includes(inboundId));
      return inboundIds.length > 0 ? [{ email: body.client.email, inboundIds, credentials }] : [];
    });
    if (lacking.length > 0 && !dryRun) await this.#arrival.attach(lacking);
    const added = new Map(lacking.map(({ email, inboundIds }) => [email, inboundIds.length]));
    for (const item of items) {
      const { body, links, devices, source } = item;
      report.present('clients');
      report.present(LINKS, links.length);
      report.present(DEVICES, devices.length);
      this.#traffic(item, () => report.present(TRAFFICS));
      const attached = added.get(body.client.email) ?? 0;
      report.taken(ATTACHMENTS, attached);
      report.present(ATTACHMENTS, source.attachments.length - body.detached.length - attached);
      this.#detached(item);
    }
  }

  #taken(item: Item): void {
    const { report, dryRun } = this.#context;
    const { body, links, devices, source } = item;
    const { email } = body.client;
    report.taken('clients');
    for (const how of body.changes) report.changed('clients', how, email);
    report.taken(LINKS, links.length);
    report.taken(DEVICES, devices.length);
    report.taken(ATTACHMENTS, source.attachments.length - body.detached.length);
    this.#traffic(item, () => report.taken(TRAFFICS));
    this.#detached(item);
    if (!dryRun) this.#compare(item);
  }

  /** What is stored, beside what the file has. */
  #compare({ body: { client, used, inboundIds } }: Item): void {
    const { report } = this.#context;
    const row = this.#tokens.clients.byEmail(client.email);
    report.sum('clients', 1, row ? 1 : 0);
    report.sum('attachments', inboundIds.length, row?.inboundIds.length ?? 0);
    report.sum('bytes up', used.up, row?.up ?? 0);
    report.sum('bytes down', used.down, row?.down ?? 0);
    report.sum('quota in bytes', Number(client['totalGB']), row?.totalGB ?? 0);
    report.sum('expiry in seconds', seconds(client['expiryTime']), seconds(row?.expiryTime));
    report.sum('renewals', used.resetCount, row?.resetCount ?? 0);
  }

  #leave(item: Item, why: string): void {
    const { report } = this.#context;
    const { body, links, devices, source } = item;
    const { email } = body.client;
    const itsClient = 'its client is left';
    report.left('clients', why, email);
    report.left(LINKS, itsClient, email, links.length);
    report.left(DEVICES, itsClient, email, devices.length);
    report.left(ATTACHMENTS, itsClient, '', source.attachments.length);
    this.#traffic(item, () => report.left(TRAFFICS, itsClient, email));
  }

  #detached({ body: { detached, client } }: Item): void {
    for (const why of detached) this.#context.report.left(ATTACHMENTS, why, client.email);
  }

  /** Two clients whose emails differ by case share one row of counters. */
  #traffic({ source, body }: Item, count: () => void): void {
    const person = body.client.email.toLowerCase();
    if (!this.#hasTable(ATTACHMENTS)) this.#context.report.found(ATTACHMENTS, source.attachments.length);
    if (source.traffic && !this.#people.has(person)) count();
    this.#people.add(person);
  }
}

const seconds = (time: unknown): number => (typeof time === 'number' ? Math.trunc(time / 1000) : 0);
