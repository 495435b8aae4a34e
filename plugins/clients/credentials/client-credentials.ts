// Makes, changes and removes the credentials of clients, for ClientWriter: always in the transaction that attaches,
// edits or detaches the clients.
import { PanelError, TimeSlice, type Tx } from '../../../kernel/index.js';
import type { Credential, Inbound, InboundsApi } from '../../inbounds/contract.js';
import type { ClientEdit } from '../edits/edit.js';
import type { ClientStore } from '../model/client-store.js';
import type { ClientRow } from '../model/row.js';
import { type Draft, draftOf, type Place, refuseForeign, sentFor } from './draft.js';
import type { SentCredentials } from './sent.js';
import {
  attachedWithout,
  credentialsOf,
  deleteCredentialsOf,
  insertCredentials,
  keysOfClients,
  type NewCredential,
  replaceCredential,
} from './statements.js';
import { KeysByInbound } from './taken-keys.js';

/** Credentials that a write made or changed, by client and inbound. */
export type ChangedCredentials = Map<number, Map<number, Credential>>;

export class ClientCredentials {
  readonly #inbounds: InboundsApi;
  readonly #store: ClientStore;
  readonly #keys = new KeysByInbound();

  constructor({ inbounds, store }: { inbounds: InboundsApi; store: ClientStore }) {
    this.#inbounds = inbounds;
    this.#store = store;
  }

  /** `saving` was written by the same transaction, so memory has an older one or none. */
  #inbound(id: number, saving: Inbound | undefined): Inbound | undefined {
    return saving?.id === id ? saving : this.#inbounds.get(id);
  }

  async #place(tx: Tx, inbound: Inbound | undefined): Promise<Place | undefined> {
    const rules = inbound && this.#inbounds.protocol(inbound.protocol)?.credential;
    return rules && { inbound, rules, keys: await this.#keys.load(tx, inbound.id) };
  }

  /** Runs the work of a write. If it fails, the keys that it took are forgotten. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#keys.forgetAll();
      throw error;
    }
  }

  /** The credentials of new clients, in their order; for one that cannot have them, the refusal. */
  async draft(
    tx: Tx,
    rows: readonly ClientRow[],
    sentOf: ReadonlyMap<ClientRow, SentCredentials>,
    { fieldPrefix, saving }: { readonly fieldPrefix: string; readonly saving: Inbound | undefined },
  ): Promise<(readonly Draft[] | PanelError)[]> {
    const places = new Map<number, Place>();
    for (const id of new Set(rows.flatMap(({ inboundIds }) => inboundIds))) {
      const place = await this.#place(tx, this.#inbound(id, saving));
      if (place) places.set(id, place);
    }
    if (places.size === 0 && sentOf.size === 0) return rows.map(() => []);
    const slice = new TimeSlice();
    const drafts: (readonly Draft[] | PanelError)[] = [];
    for (const row of rows) {
      if (slice.isOver) await slice.next();
      drafts.push(this.#draftsOf(row, places, sentOf.get(row), fieldPrefix));
    }
    return drafts;
  }

  #draftsOf(
    row: ClientRow,
    places: ReadonlyMap<number, Place>,
    sent: SentCredentials | undefined,
    fieldPrefix: string,
  ): readonly Draft[] | PanelError {
    const drafts: Draft[] = [];
    try {
      refuseForeign(sent, row.inboundIds, fieldPrefix);
      for (const inboundId of row.inboundIds) {
        const place = places.get(inboundId);
        const draft =
          place && draftOf(this.#store.roster, place, row, sentFor(sent, place), undefined, fieldPrefix);
        if (!place || !draft) continue;
        place.keys.take(draft.keys, 0);
        drafts.push(draft);
      }
      return drafts;
    } catch (error) {
      for (const { place, keys } of drafts) place.keys.free(keys);
      if (error instanceof PanelError) return error;
      throw error;
    }
  }

  /** Writes the credentials of clients that have been inserted. */
  async insert(
    tx: Tx,
    created: readonly { readonly clientId: number; readonly drafts: readonly Draft[] }[],
  ): Promise<void> {
    const rows = created.flatMap(({ clientId, drafts }) => drafts.map((draft) => ({ ...draft, clientId })));
    for (const { place, keys, clientId } of rows) place.keys.take(keys, clientId);
    await insertCredentials(tx, rows);
  }

  /** Makes credentials for clients that were attached; those that have one keep it. */
  async attach(
    tx: Tx,
    inboundId: number,
    edits: readonly Pick<ClientEdit, 'row' | 'credentials'>[],
    changed: ChangedCredentials,
    saving: Inbound | undefined,
  ): Promise<void> {
    await this.#fill(tx, this.#inbound(inboundId, saving), edits, changed);
  }

  async #fill(
    tx: Tx,
    inbound: Inbound | undefined,
    edits: readonly Pick<ClientEdit, 'row' | 'credentials'>[],
    changed: ChangedCredentials,
  ): Promise<void> {
    const place = await this.#place(tx, inbound);
    if (!place) return;
    const ids = edits.map(({ row: { id } }) => id);
    const lacking = new Set(await attachedWithout(tx, place.inbound.id, ids));
    const slice = new TimeSlice();
    const created: NewCredential[] = [];
    for (const { row, credentials } of edits) {
      if (slice.isOver) await slice.next();
      if (!lacking.has(row.id)) continue;
      const draft = draftOf(this.#store.roster, place, row, sentFor(credentials, place), undefined, '');
      if (!draft) continue;
      place.keys.take(draft.keys, row.id);
      created.push({ ...draft, clientId: row.id });
      note(changed, row.id, place.inbound.id, draft.value);
    }
    await insertCredentials(tx, created);
  }

  /** Changes credentials of one client as they were sent. Fields without an inbound go to the first inbound that has them, where `get` shows them. */
  async update(
    tx: Tx,
    {
      row,
      inboundIds,
      sent,
      fieldPrefix,
      saving,
    }: {
      readonly row: ClientRow;
      readonly inboundIds: readonly number[];
      readonly sent: SentCredentials;
      readonly fieldPrefix: string;
      readonly saving: Inbound | undefined;
    },
    changed: ChangedCredentials,
  ): Promise<void> {
    refuseForeign(sent, inboundIds, fieldPrefix);
    // Read here: memory may lack the write before this one.
    const stored = await credentialsOf(tx, row.id, inboundIds);
    let { flat } = sent;
    for (const inboundId of inboundIds) {
      const place = await this.#place(tx, this.#inbound(inboundId, saving));
      if (!place) continue;
      const own = sentFor({ ...sent, flat }, place);
      flat = without(flat, place.rules.flat);
      if (Object.keys(own).length === 0) continue;
      const before = stored.get(inboundId);
      const draft = draftOf(this.#store.roster, place, row, own, before, fieldPrefix);
      if (!draft || JSON.stringify(draft.value) === JSON.stringify(before)) continue;
      if (before) {
        const kept = new Set(draft.keys);
        place.keys.free(place.rules.keys(before).filter((key) => !kept.has(key)));
      }
      place.keys.take(draft.keys, row.id);
      const credential = { ...draft, clientId: row.id };
      await (before ? replaceCredential(tx, credential) : insertCredentials(tx, [credential]));
      note(changed, row.id, inboundId, draft.value);
    }
  }

  /** Frees the keys of clients that leave an inbound, or all inbounds. Call it before the database deletes them. */
  async release(tx: Tx, clientIds: readonly number[], inboundId?: number): Promise<void> {
    if (this.#keys.isEmpty || clientIds.length === 0) return;
    for (const owned of await keysOfClients(tx, clientIds, inboundId))
      this.#keys.loaded(owned.inboundId)?.free([owned.key]);
  }

  forget(inboundIds: readonly number[]): void {
    for (const id of inboundIds) this.#keys.forget(id);
  }

  /** The inbound speaks another protocol now: its clients get credentials of that one. */
  async renew(tx: Tx, inbound: Inbound): Promise<void> {
    const changed: ChangedCredentials = new Map();
    await deleteCredentialsOf(tx, inbound.id);
    this.#keys.forget(inbound.id);
    const edits = (await attachedWithout(tx, inbound.id)).flatMap((id) => {
      const row = this.#store.byId(id);
      return row ? [{ row }] : [];
    });
    await this.during(() => this.#fill(tx, inbound, edits, changed));
    const made = [...changed].flatMap(([id, own]) => {
      const value = own.get(inbound.id);
      return value ? [[id, value] as const] : [];
    });
    this.#store.change(tx, { renewed: { inboundId: inbound.id, credentials: new Map(made) } });
  }
}

function note(changed: ChangedCredentials, clientId: number, inboundId: number, value: Credential): void {
  const known = changed.get(clientId);
  if (known) known.set(inboundId, value);
  else changed.set(clientId, new Map([[inboundId, value]]));
}

const without = (values: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
