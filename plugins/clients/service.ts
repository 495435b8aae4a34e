// Adding, changing and removing clients. One way for one client and for thousands: checked, one transaction, then the core is told.
import { ForeignKeyConstraintError, UniqueConstraintError } from 'sequelize';
import {
  type Clock,
  type Database,
  type Hooks,
  PanelError,
  type Principal,
  refuseHidden,
  TimeSlice,
  type Tx,
} from '../../kernel/index.js';
import type { Applied, EngineApi } from '../engine/contract.js';
import { inboundErrors, type InboundsApi } from '../inbounds/contract.js';
import {
  afterClientSave,
  beforeClientSave,
  type ClientChange,
  clientChanged,
  duringClientSave,
  prepareClientSave,
} from './contract.js';
import { errors } from './errors.js';
import { refsOf, SEEN_BY_CORE } from './edits.js';
import type { GroupStore } from './group-store.js';
import { keptOf, restoreKept } from './kept.js';
import { changedFields, newClient, settle } from './new-client.js';
import { type ClientFields, type ClientRow, emailKey, vlessKey } from './row.js';
import type { AddClient, ClientPatch } from './schema.js';
import { insertClients, updateClient } from './sql.js';
import { afterClientPatch, type ClientStore } from './store.js';

export interface SkippedClient {
  readonly email: string;
  readonly reason: string;
  readonly code: string;
}

/** Of a list that was sent; `index` counts from 0. */
export interface SkippedItem extends SkippedClient {
  readonly index: number;
}

/** By the column whose constraint was broken. */
const TAKEN = {
  email_key: [errors.EMAIL_TAKEN, 'email'],
  sub_id: [errors.SUB_ID_TAKEN, 'subId'],
  vless_key: [errors.UUID_TAKEN, 'uuid'],
  password: [errors.PASSWORD_TAKEN, 'password'],
} as const;

/** Only of fields that change: what is there already goes on. */
function refuseHiddenIn({ email, subId, group }: Partial<ClientFields>, path: string): void {
  refuseHidden(`${path}email`, email ?? '', 'name');
  refuseHidden(`${path}subId`, subId ?? '', 'name');
  refuseHidden(`${path}group`, group ?? '', 'label');
}

/** Fields of `next` that are not what they were; an email written otherwise is the same one. */
const changedBy = (sent: ClientPatch, next: ClientPatch): ClientPatch =>
  Object.fromEntries(
    Object.entries(next).filter(([field, value]) => {
      const was = sent[field as keyof ClientPatch];
      return field === 'email' ? emailKey(String(value)) !== emailKey(String(was)) : value !== was;
    }),
  );

export class ClientService {
  readonly #db: Database;
  readonly #hooks: Hooks;
  readonly #clock: Clock;
  readonly #store: ClientStore;
  readonly #inbounds: InboundsApi;
  readonly #engine: EngineApi;
  readonly #groupStore: GroupStore;

  constructor(needs: {
    db: Database;
    hooks: Hooks;
    clock: Clock;
    store: ClientStore;
    groupStore: GroupStore;
    inbounds: InboundsApi;
    engine: EngineApi;
  }) {
    this.#db = needs.db;
    this.#hooks = needs.hooks;
    this.#clock = needs.clock;
    this.#store = needs.store;
    this.#inbounds = needs.inbounds;
    this.#engine = needs.engine;
    this.#groupStore = needs.groupStore;
  }

  find(email: string): ClientRow {
    const row = this.#store.byEmail(email);
    if (!row) throw errors.NOT_FOUND(`there is no client ${email}`, { path: 'email' });
    return row;
  }

  async add({ client, inboundIds }: AddClient, who: Principal): Promise<Applied> {
    this.#inbounds.require(inboundIds, 'inboundIds');
    const { refused, applied } = await this.#create([{ client, inboundIds }], who);
    if (refused[0]) throw refused[0].error;
    return applied;
  }

  /** Creates what can be created and says of the rest why not. */
  async addMany(
    items: readonly AddClient[],
    who: Principal,
  ): Promise<{ created: number; skipped: SkippedItem[]; applied: Applied }> {
    const { refused, created, applied } = await this.#create(items, who);
    return {
      created,
      applied,
      skipped: refused.map(({ index, email, error: { message, code } }) => ({
        index,
        email,
        reason: message,
        code,
      })),
    };
  }

  async #create(sent: readonly AddClient[], who: Principal) {
    const items = await this.#prepared(sent, who);
    const now = this.#clock.now();
    const refused: { index: number; email: string; error: PanelError }[] = [];
    const accepted: { fields: ClientFields; inboundIds: readonly number[] }[] = [];
    const taken = {
      email: new Set<string>(),
      subId: new Set<string>(),
      uuid: new Set<string>(),
      password: new Set<string>(),
    };
    const slice = new TimeSlice();
    for (const [index, { client, inboundIds }] of items.entries()) {
      if (slice.isOver) await slice.next();
      const fields = newClient(client, now);
      try {
        this.#inbounds.require(inboundIds, 'inboundIds');
        refuseHiddenIn(fields, 'client.');
        this.#refuseTaken(fields, undefined, 'client.', taken);
        accepted.push({ fields, inboundIds: this.#store.roster.attachments(inboundIds) });
      } catch (error) {
        refused.push({ index, email: client.email, error: error as PanelError });
      }
    }
    if (accepted.length === 0) return { refused, created: 0, applied: { pending: false, reason: '' } };
    // An email whose traffic was kept goes on where it stood, and may be at its quota already.
    const kept = await keptOf(
      this.#db,
      accepted.map(({ fields }) => emailKey(fields.email)),
    );
    const rows: ClientRow[] = [];
    for (const { fields, inboundIds } of accepted) {
      if (slice.isOver) await slice.next();
      const used = { up: 0, down: 0, lastOnline: 0, ...kept.get(emailKey(fields.email)) };
      rows.push({
        ...fields,
        ...settle({ ...fields, ...used }, now),
        id: 0,
        inboundIds,
        ...used,
        lastSubFetch: 0,
      });
    }
    const added = (after: ClientRow): ClientChange => ({ kind: 'added', before: undefined, after });
    if (slice.isOver) await slice.next();
    await this.#hooks.check(beforeClientSave, { changes: rows.map(added), who });
    const saved = await this.#write('client.', async (tx) => {
      const ids = await insertClients(
        tx,
        rows.map((row) => ({ fields: row, inboundIds: row.inboundIds })),
      );
      if (kept.size > 0) {
        await restoreKept(tx, ids);
        await this.#groupStore.shift(tx, ids, 1);
      }
      const whole: ClientRow[] = [];
      for (const [i, row] of rows.entries()) {
        if (slice.isOver) await slice.next();
        whole.push({ ...row, id: ids[i] as number });
      }
      await this.#announce(tx, whole.map(added), who);
      return whole;
    });
    return {
      refused,
      created: saved.length,
      applied: await this.#engine.reconcileUsers(saved.flatMap(refsOf)),
    };
  }

  async update(email: string, sent: ClientPatch, who: Principal): Promise<Applied> {
    const row = this.find(email);
    const { id, inboundIds } = row;
    const [patch = sent] = await this.prepare([sent], [{ before: { ...row }, inboundIds }], who);
    // Programs send back all that they were shown: of a client that a limit switched off, its switch as it stands is no word of a person.
    const { enable, ...rest } = patch;
    const echoed = row.depletedCause !== null && enable === row.enable;
    const fields = changedFields(row, echoed ? rest : patch, this.#clock.now());
    if (Object.keys(fields).length === 0) return { pending: false, reason: '' };
    refuseHiddenIn(fields, '');
    this.#refuseTaken(fields, id, '');
    const change: ClientChange = { kind: 'updated', before: { ...row }, after: { ...row, ...fields } };
    await this.#hooks.check(beforeClientSave, { changes: [change], who });
    await this.#write('', async (tx) => {
      if (!(await updateClient(tx, id, fields)))
        throw errors.NOT_FOUND(`the client ${email} was deleted meanwhile`, { path: 'email' });
      tx.after(afterClientPatch, [{ id, fields }]);
      await this.#announce(tx, [change], who);
    });
    return this.#engine.reconcileUsers(
      SEEN_BY_CORE.some((field) => field in fields) ? refsOf({ id, inboundIds }) : [],
    );
  }

  async #announce(tx: Tx, changes: readonly ClientChange[], who: Principal): Promise<void> {
    await tx.during(duringClientSave, { changes, who });
    tx.after(afterClientSave, { changes, who });
    tx.emit(clientChanged, { changes, who });
  }

  /** What plugins make of fields that were sent. What breaks a rule is ignored here, so that the plugin is named and not the caller. */
  prepare(
    sent: readonly ClientPatch[],
    targets: readonly { readonly before: ClientRow | undefined; readonly inboundIds: readonly number[] }[],
    who: Principal,
  ): Promise<readonly ClientPatch[]> {
    return this.#hooks.prepare(prepareClientSave, sent, { targets, who }, (patch, i) => {
      const before = targets[i]?.before;
      if (!before && patch.email === undefined) return 'a new client needs an email';
      // What the caller sent is the caller's, and is checked later.
      const own = changedBy(sent[i] ?? {}, patch) as Partial<ClientFields>;
      try {
        refuseHiddenIn(own, '');
        this.#refuseTaken(own, before?.id, '');
      } catch (error) {
        if (error instanceof PanelError) return error.message;
        throw error;
      }
      return undefined;
    });
  }

  async #prepared(items: readonly AddClient[], who: Principal): Promise<readonly AddClient[]> {
    if (!this.#hooks.isUsed(prepareClientSave)) return items;
    const clients = await this.prepare(
      items.map(({ client }) => client),
      items.map(({ inboundIds }) => ({ before: undefined, inboundIds })),
      who,
    );
    return items.map(({ inboundIds }, i) => ({ client: clients[i] as AddClient['client'], inboundIds }));
  }

  /** Two clients with one credential would be one user to the core: the last one added would own the other's bytes. */
  #refuseTaken(
    fields: Partial<ClientFields>,
    self: number | undefined,
    path: string,
    batch?: Record<'email' | 'subId' | 'uuid' | 'password', Set<string>>,
  ): void {
    const { roster } = this.#store;
    const checks = [
      [
        'email',
        fields.email && emailKey(fields.email),
        () => roster.byEmail(fields.email ?? ''),
        errors.EMAIL_TAKEN,
      ],
      ['subId', fields.subId, () => roster.bySubId(fields.subId ?? ''), errors.SUB_ID_TAKEN],
      [
        'uuid',
        fields.uuid && vlessKey(fields.uuid),
        () => roster.byVlessKey(fields.uuid ?? ''),
        errors.UUID_TAKEN,
      ],
      ['password', fields.password, () => roster.byPassword(fields.password ?? ''), errors.PASSWORD_TAKEN],
    ] as const;
    for (const [field, key, find, error] of checks) {
      if (!key) continue;
      const other = find();
      if ((other && other.id !== self) || batch?.[field].has(key))
        throw error(undefined, { path: `${path}${field}` });
    }
    for (const [field, key] of checks) if (key) batch?.[field].add(key);
  }

  /** The constraints of the database have the last word: two requests may have passed the checks together. */
  async #write<T>(path: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#db.write(work);
    } catch (error) {
      if (error instanceof ForeignKeyConstraintError)
        throw inboundErrors.NOT_FOUND('an inbound was deleted meanwhile', {
          path: 'inboundIds',
          cause: error,
        });
      if (!(error instanceof UniqueConstraintError)) throw error;
      // On SQLite `fields` is a list of columns, whatever its type says; on MySQL an object with them as keys.
      const column = String((Array.isArray(error.fields) ? error.fields : Object.keys(error.fields))[0]);
      const [make, field] = TAKEN[(column in TAKEN ? column : 'email_key') as keyof typeof TAKEN];
      throw make(undefined, { path: `${path}${field}`, cause: error });
    }
  }
}
