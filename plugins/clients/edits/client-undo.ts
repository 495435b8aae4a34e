// How changes of clients are undone, by the same checks, guards and hooks as an edit.
import { type Clock, type Principal, validate } from '../../../kernel/index.js';
import { ADDED, type KeptChange, keptUpdate } from '../../audit/contract.js';
import { describeResult } from '../../engine/contract.js';
import type { Credential, InboundsApi } from '../../inbounds/contract.js';
import type { ClientChange } from '../contract.js';
import { credentialList } from '../credentials/views.js';
import { mapInSlices } from '../model/map-in-slices.js';
import type { PartsOfClients } from '../model/client-parts.js';
import type { ClientStore } from '../model/client-store.js';
import { chosenSwitch } from '../model/field-changes.js';
import { emailKey, sentFields } from '../model/fields.js';
import type { ClientRow } from '../model/row.js';
import { ImportedClient, type ClientPatch } from '../model/schema.js';
import { clientVersion } from '../model/version.js';
import { exportOf } from '../model/views.js';
import type { ClientService } from './client-service.js';
import type { ClientWriter } from './client-writer.js';
import type { ClientEdit } from './edit.js';

type Facts = Readonly<Record<string, unknown>>;
type Listed = readonly ({ readonly inboundId: number } & Credential)[];

const FACTS = [...sentFields, 'inboundIds', 'credentials'] as const;
type Fact = (typeof FACTS)[number];

/** What an admin can edit of a client, as JSON: all of it, or these fields. */
function factsOf(row: Readonly<ClientRow>, names: readonly Fact[] = FACTS): Facts {
  const facts: Record<string, unknown> = {};
  for (const name of names)
    facts[name] = name === 'credentials' ? credentialList(row.credentials ?? new Map()) : row[name];
  return facts;
}

/** What an export has no name for. */
const RETURNING = [
  ...['id', 'up', 'down', 'lastOnline', 'lastSubFetch', 'resetCount'],
  ...['countedSince', 'elsewhereUp', 'elsewhereDown'],
] as const;

function whyNot({ kind, before, after, setsUsage }: ClientChange): string | undefined {
  if (kind === 'added') return ADDED;
  if (setsUsage) return 'counters were set: what was counted since would be lost';
  if (kind !== 'updated' || !before || !after) return undefined;
  if (after.depletedCause !== null && after.depletedCause !== before.depletedCause)
    return 'a limit disabled the client; raise the limit';
  return undefined;
}

/** Of one call; each is about a kilobyte. */
const MOST_DELETED = 2_000;

interface Needs {
  readonly clock: Clock;
  readonly store: ClientStore;
  readonly service: ClientService;
  readonly writer: ClientWriter;
  readonly inbounds: InboundsApi;
  readonly parts: PartsOfClients;
}

export class ClientUndo {
  readonly #needs: Needs;

  constructor({ clock, store, service, writer, inbounds, parts }: Needs) {
    this.#needs = { clock, store, service, writer, inbounds, parts };
  }

  async keep(changes: readonly ClientChange[]): Promise<readonly KeptChange[] | string> {
    for (const change of changes) {
      const reason = whyNot(change);
      if (reason !== undefined) return reason;
    }
    const deleted = changes.flatMap(({ kind, before }) => (kind === 'deleted' && before ? [before] : []));
    if (deleted.length > MOST_DELETED) return `more than ${MOST_DELETED} clients were deleted at once`;
    const records = await mapInSlices(deleted, (row) => ({
      ...exportOf(row),
      row: Object.fromEntries(RETURNING.map((name) => [name, row[name as keyof ClientRow]])),
    }));
    // Read outside of the write, which has deleted the rows of others as well.
    await this.#needs.parts.addTo(
      records,
      deleted.map(({ id }) => id),
      true,
    );
    const recordOf = new Map(deleted.map(({ id }, i) => [id, records[i]]));
    const known = changes.flatMap(({ before, after }) => (before ? [{ before, after }] : []));
    return mapInSlices(known, ({ before, after }): KeptChange => {
      const { id, email: name } = before;
      if (after) {
        const moved = FACTS.filter((fact) => before[fact] !== after[fact]);
        return keptUpdate({ id, name: after.email }, factsOf(before, moved), factsOf(after, moved));
      }
      return { kind: 'deleted', id, name, before: recordOf.get(id) as unknown as Facts, after: {} };
    });
  }

  now({ id }: KeptChange): Facts | undefined {
    const row = this.#needs.store.byId(Number(id));
    return row && factsOf(row);
  }

  async undo(changes: readonly KeptChange[], who: Principal): Promise<string> {
    const { writer, store } = this.#needs;
    const gone = changes.filter(({ kind }) => kind === 'deleted');
    const edits = await this.#edits(
      changes.filter(({ kind }) => kind === 'updated'),
      who,
    );
    const { request, notes } = await this.#returning(gone, who);
    const [only] = edits;
    const write = () => writer.write({ ...request, edits }, who);
    // Of one client, the database is asked again inside the write; of many, what the write has planned is compared.
    const row = edits.length === 1 && only ? store.byId(only.row.id) : undefined;
    const { applied } = row ? await clientVersion.ifUnchanged({ ...row }, write) : await write();
    const many = changes.length === 1 ? 'client' : `${changes.length} clients`;
    return describeResult([`${many} set back`, ...notes].join('; '), applied);
  }

  async #edits(changes: readonly KeptChange[], who: Principal): Promise<ClientEdit[]> {
    const { store, service, inbounds, clock } = this.#needs;
    const rows = changes.flatMap(({ id, before }) => {
      const row = store.byId(Number(id));
      return row ? [{ row, before }] : [];
    });
    const sent = rows.map(({ before }): ClientPatch => {
      const { inboundIds: _, credentials: _credentials, ...fields } = before;
      return fields as ClientPatch;
    });
    const patches = await service.prepare(
      sent,
      rows.map(({ row }) => ({ before: { ...row }, inboundIds: row.inboundIds })),
      who,
    );
    return mapInSlices(rows, ({ row, before }, i): ClientEdit => {
      const patch = patches[i] ?? {};
      const wanted = (before['inboundIds'] as readonly number[] | undefined) ?? row.inboundIds;
      const attach = wanted.filter((id) => !row.inboundIds.includes(id));
      inbounds.requireForClients(attach, 'inboundIds');
      const own = before['credentials'] as Listed | undefined;
      const byInbound = new Map((own ?? []).map(({ inboundId, ...values }) => [inboundId, values as Facts]));
      return {
        row,
        fields: { updatedAt: clock.now(), ...service.fieldsOf(row, patch, '') },
        chosen: chosenSwitch(row, patch),
        attach,
        detach: row.inboundIds.filter((id) => !wanted.includes(id)),
        credentials: byInbound.size > 0 ? { flat: {}, byInbound } : undefined,
      };
    });
  }

  /** The clients with their ids, counters and secrets; of their inbounds those that are still here. */
  async #returning(changes: readonly KeptChange[], who: Principal) {
    if (changes.length === 0) return { request: {}, notes: [] };
    const { service, inbounds } = this.#needs;
    const missing = new Set<number>();
    const isHere = (id: number): boolean => {
      const here = inbounds.get(id) !== undefined && inbounds.clientless(id) === undefined;
      if (!here) missing.add(id);
      return here;
    };
    const records = changes.map(({ before: { row, ...record } }) => {
      const { client, inboundIds } = record as unknown as ReturnType<typeof exportOf>;
      const { credentials = [], ...fields } = client as unknown as Facts & { readonly credentials?: Listed };
      const some = credentials.filter(({ inboundId }) => isHere(inboundId));
      const item = {
        ...record,
        client: { ...fields, ...(some.length > 0 && { credentials: some }) },
        inboundIds: inboundIds.filter(isHere),
      };
      return { item: validate(ImportedClient, item), row: row as Partial<ClientRow> };
    });
    const usage = new Map(records.map(({ item, row }) => [emailKey(item.client.email), row]));
    const { request, refused } = await service.planNew(
      records.map(({ item }) => item),
      who,
      { usage },
    );
    if (refused[0]) throw refused[0].error;
    const notes = missing.size > 0 ? [`without the inbounds ${[...missing].join(', ')}, which are gone`] : [];
    return { request: { ...request, returning: true, fieldPrefix: '' }, notes };
  }
}
