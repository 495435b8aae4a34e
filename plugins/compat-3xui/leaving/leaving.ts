// The way back to 3x-ui: a folder of bodies that its own endpoints take.
import { messageOf, TimeSlice } from '../../../kernel/index.js';
import type { ArchiveRecord, ArchiveRecordsApi } from '../../archive/contract.js';
import type { ClientRow, ClientsApi, ProgramUsersApi } from '../../clients/contract.js';
import type { Inbound, InboundsApi, LocalInboundsApi } from '../../inbounds/contract.js';
import { LEAVING_PAGE } from './leaving-page.js';
import { NewFolder } from './new-folder.js';
import { hasLogins, OldForm } from './old-form.js';

/** Characters of an inbound with its clients: 3x-ui takes 10 MiB, and a form makes three characters of many. */
const MOST_TEXT = 3 * 1024 * 1024;
/** Clients of a file: about 3 MB. */
const CLIENTS_PER_FILE = 5000;

interface Needs {
  readonly inbounds: InboundsApi;
  readonly local: LocalInboundsApi;
  readonly clients: ClientsApi;
  readonly users: ProgramUsersApi;
  readonly archived: ArchiveRecordsApi | undefined;
}
/** What the folder has, and what has no place there. */
export interface Left {
  readonly inbounds: number;
  readonly clients: number;
  /** one sentence each */
  readonly notes: readonly string[];
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

export class Leaving {
  readonly #needs: Needs;
  readonly #form: OldForm;

  constructor({ inbounds, local, clients, users, archived }: Needs) {
    this.#needs = { inbounds, local, clients, users, archived };
    this.#form = new OldForm({ inbounds });
  }

  async write(path: string, signal: AbortSignal): Promise<Left> {
    let left: Left = { inbounds: 0, clients: 0, notes: [] };
    await NewFolder.write(path, signal, async (folder) => {
      left = await new OneFolder(this.#needs, this.#form, folder).write();
    });
    return left;
  }
}

class OneFolder {
  readonly #needs: Needs;
  readonly #form: OldForm;
  readonly #folder: NewFolder;
  readonly #notes: string[] = [];
  /** by the id here, the one in an empty 3x-ui */
  readonly #positions = new Map<number, number>();
  /** clients that come with an inbound, with their counters */
  readonly #placed = new Set<number>();
  readonly #slice = new TimeSlice();

  constructor(needs: Needs, form: OldForm, folder: NewFolder) {
    this.#needs = needs;
    this.#form = form;
    this.#folder = folder;
  }

  async write(): Promise<Left> {
    const { inbounds, local } = this.#needs;
    const going = local.list();
    for (const { id, tag, remark } of inbounds.list())
      if (!local.get(id))
        this.#notes.push(`inbound ${tag} (${remark}) runs on a node and stays out: add it there`);
    for (const [i, { id }] of going.entries()) this.#positions.set(id, i + 1);
    for (const inbound of going) await this.#inbound(inbound);
    const clients = await this.#clients();
    await this.#others();
    // Remarks of old panels may have line breaks, which would look like lines of this page.
    const notes = this.#notes.map((note) => note.replaceAll(/\p{Cc}/gu, '?'));
    await this.#folder.put('READ-ME.txt', LEAVING_PAGE + notes.map((note) => `- ${note}\n`).join(''));
    return { inbounds: going.length, clients, notes };
  }

  async *#attached({ id }: Inbound): AsyncGenerator<Readonly<ClientRow>> {
    for (const clientId of this.#needs.users.attached(id).toSorted((a, b) => a - b)) {
      if (this.#slice.isOver) await this.#slice.next();
      const row = this.#needs.clients.byId(clientId);
      if (row) yield row;
    }
  }

  async #inbound(inbound: Inbound): Promise<void> {
    const position = this.#positions.get(inbound.id) as number;
    const body = this.#form.inbound(inbound, position, inbound.tag);
    const file = `inbounds/${String(position).padStart(3, '0')}.json`;
    if (hasLogins(inbound)) return this.#withLogins(inbound, body, file);
    const clients: unknown[] = [];
    const clientStats: unknown[] = [];
    const rows: number[] = [];
    const emails: string[] = [];
    let length = 0;
    for await (const row of this.#attached(inbound)) {
      emails.push(row.email);
      if (length > MOST_TEXT) continue;
      const [client, stat] = [this.#form.client(row, inbound), this.#form.stat(row, position)];
      rows.push(row.id);
      clients.push(client);
      clientStats.push(stat);
      length += JSON.stringify(client).length + JSON.stringify(stat).length;
    }
    if (length > MOST_TEXT) return this.#tooLarge(inbound, body, file, emails);
    for (const id of rows) this.#placed.add(id);
    const takesClients = this.#needs.inbounds.clientless(inbound.id) === undefined;
    const settings = { ...inbound.settings, ...(takesClients && { clients }) };
    await this.#folder.put(file, JSON.stringify({ ...body, settings, clientStats }));
  }

  /** Its clients are attached by calls of their own. */
  async #tooLarge(
    { id, tag, settings }: Inbound,
    body: Readonly<Record<string, unknown>>,
    file: string,
    emails: readonly string[],
  ): Promise<void> {
    const position = this.#positions.get(id) as number;
    this.#notes.push(
      `inbound ${tag} has ${emails.length} clients, more than one call takes: attach/ has them, and they get the credentials of their clients`,
    );
    await this.#folder.put(
      file,
      JSON.stringify({ ...body, settings: { ...settings, clients: [] }, clientStats: [] }),
    );
    for (let from = 0; from < emails.length; from += CLIENTS_PER_FILE)
      await this.#folder.put(
        `attach/${String(position).padStart(3, '0')}-${1 + from / CLIENTS_PER_FILE}.json`,
        json({ emails: emails.slice(from, from + CLIENTS_PER_FILE), inboundIds: [position] }),
      );
  }

  async #withLogins(inbound: Inbound, body: Readonly<Record<string, unknown>>, file: string): Promise<void> {
    const logins: unknown[] = [];
    for await (const row of this.#attached(inbound)) {
      const login = this.#form.login(row, inbound);
      if (login && row.enable) logins.push(login);
    }
    const { accounts } = inbound.settings;
    const own = Array.isArray(accounts) ? (accounts as unknown[]) : [];
    if (logins.length > 0)
      this.#notes.push(
        `${logins.length} clients of the ${inbound.protocol} inbound ${inbound.tag} are logins of the inbound there: their programs go on, without limits and counters`,
      );
    await this.#folder.put(
      file,
      json({ ...body, settings: { ...inbound.settings, accounts: [...own, ...logins] }, clientStats: [] }),
    );
  }

  async #clients(): Promise<number> {
    const traffic: unknown[] = [];
    const disabled: string[] = [];
    let portion: unknown[] = [];
    let count = 0;
    let files = 0;
    const save = async (): Promise<void> => {
      files++;
      await this.#folder.put(`clients/${String(files).padStart(3, '0')}.json`, json(portion));
      portion = [];
    };
    for (const row of [...this.#needs.clients.all()]) {
      if (this.#slice.isOver) await this.#slice.next();
      count++;
      portion.push(this.#form.item(row, this.#positions));
      if (!this.#placed.has(row.id)) {
        if (row.up + row.down > 0) traffic.push({ email: row.email, upload: row.up, download: row.down });
        if (!row.enable) disabled.push(row.email);
      }
      if (portion.length === CLIENTS_PER_FILE) await save();
    }
    if (portion.length > 0 || files === 0) await save();
    if (traffic.length > 0) await this.#lines('traffic.jsonl', traffic);
    if (disabled.length > 0) await this.#folder.put('disabled.json', json({ emails: disabled }));
    return count;
  }

  #lines(name: string, records: readonly unknown[]): Promise<void> {
    return this.#folder.put(name, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  }

  /** What 3x-ui takes by calls of their own, as archives have it. */
  async #others(): Promise<void> {
    await this.#kind('hosts', ({ groupId: _, ...host }) => {
      const inboundIds = this.#placesOf(host['inboundIds']);
      return inboundIds.length === 0 ? [] : [{ ...host, inboundIds }];
    });
    await this.#kind('fallbacks', ({ inboundId, fallbacks }) => {
      const [position] = this.#placesOf([inboundId]);
      const own = (fallbacks as readonly ArchiveRecord[]).map((fallback) => ({
        ...fallback,
        childId: this.#placesOf([fallback['childId']])[0] ?? 0,
      }));
      return position === undefined ? [] : [{ inboundId: position, fallbacks: own }];
    });
    await this.#kind('groups', ({ name, created }) => (created === true ? [{ name }] : []));
    const links: unknown[] = [];
    for await (const records of this.#needs.archived?.of('clients') ?? [])
      for (const { client, externalLinks } of records)
        if (Array.isArray(externalLinks) && externalLinks.length > 0)
          links.push({ email: (client as ArchiveRecord)['email'], externalLinks });
    if (links.length > 0) await this.#lines('external-links.jsonl', links);
  }

  async #kind(kind: string, bodies: (record: ArchiveRecord) => readonly unknown[]): Promise<void> {
    const found: unknown[] = [];
    try {
      for await (const records of this.#needs.archived?.of(kind) ?? [])
        for (const record of records) found.push(...bodies(record));
    } catch (error) {
      this.#notes.push(`${kind} could not be read: ${messageOf(error)}`);
    }
    if (found.length > 0) await this.#lines(`${kind}.jsonl`, found);
  }

  #placesOf(ids: unknown): number[] {
    return (Array.isArray(ids) ? ids : []).flatMap((id) => this.#positions.get(Number(id)) ?? []);
  }
}
