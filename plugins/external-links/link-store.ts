// The external links of clients: rows, and memory that follows them.
import type { Clock, Database, Principal, Projection, Tx } from '../../kernel/index.js';
import { clientErrors } from '../clients/contract.js';
import { duringLinksSave, type ExternalLink, type ExternalLinksApi } from './contract.js';
import type { NewLink } from './sent-links.js';

type ByClient = Map<number, readonly ExternalLink[]>;
/** Links of these clients now; none where a client has no entry in the map. */
interface Change {
  readonly clientIds: readonly number[];
  readonly links: ByClient;
}
type Stored = Omit<ExternalLink, 'enable'> & { readonly enable: boolean | number };
interface LinkOfClient extends NewLink {
  readonly clientId: number;
  readonly sortIndex: number;
  readonly kept?: Pick<ExternalLink, 'id' | 'lastFetchAt' | 'lastFetchError' | 'createdAt'> | undefined;
}

const NONE: readonly ExternalLink[] = [];
/** In one statement. */
const MOST_IDS = 1000;
const SELECT = `SELECT id, client_id AS "clientId", kind, value, remark, enable, expiry_time AS "expiryTime", name_prefix AS "namePrefix",
  last_fetch_at AS "lastFetchAt", last_fetch_error AS "lastFetchError", sort_index AS "sortIndex", created_at AS "createdAt"
  FROM client_external_links`;
const ORDER = 'ORDER BY client_id, sort_index, id';
const COLUMNS = {
  id: 'integer',
  client_id: 'integer',
  kind: 'text',
  value: 'text',
  remark: 'text',
  enable: 'integer',
  expiry_time: 'integer',
  name_prefix: 'text',
  last_fetch_at: 'integer',
  last_fetch_error: 'text',
  sort_index: 'integer',
  created_at: 'integer',
} as const;

function byClient(rows: readonly Stored[]): ByClient {
  const links = new Map<number, ExternalLink[]>();
  for (const row of rows) {
    const link = { ...row, enable: Boolean(row.enable) };
    const own = links.get(row.clientId);
    if (own) own.push(link);
    else links.set(row.clientId, [link]);
  }
  return links;
}
const keyOf = ({ kind, value }: Pick<NewLink, 'kind' | 'value'>): string => `${kind} ${value}`;

export class LinkStore implements ExternalLinksApi {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly projection: Projection<ByClient, Change>;

  constructor({ db, clock }: { db: Database; clock: Clock }) {
    this.#db = db;
    this.#clock = clock;
    this.projection = db.projection<ByClient, Change>({
      load: async () => byClient(await db.query<Stored>(`${SELECT} ${ORDER}`)),
      apply: (state, { clientIds, links }) => {
        for (const id of clientIds) {
          const own = links.get(id);
          if (own) state.set(id, own);
          else state.delete(id);
        }
      },
    });
  }

  of(clientId: number): readonly ExternalLink[] {
    return this.projection.state.get(clientId) ?? NONE;
  }

  /** The links of all clients that have some. */
  all(): Iterable<readonly ExternalLink[]> {
    return this.projection.state.values();
  }

  /** Records a fetch of these rows; those that were deleted meanwhile are skipped. */
  async fetched(tx: Tx, links: readonly ExternalLink[], at: number, error: string): Promise<void> {
    for (let i = 0; i < links.length; i += MOST_IDS) {
      const some = links.slice(i, i + MOST_IDS);
      await tx.run(
        'UPDATE client_external_links SET last_fetch_at = :at, last_fetch_error = :error WHERE id IN (:ids)',
        { at, error, ids: some.map(({ id }) => id) },
      );
      await this.#apply(tx, [...new Set(some.map(({ clientId }) => clientId))]);
    }
  }

  /** Replaces the links of a client. One that stays, with the same kind and value, keeps its id, its creation and its last fetch. */
  async replace(clientId: number, links: readonly NewLink[], who: Principal): Promise<void> {
    await this.#db.write(async (tx) => {
      const before = await tx.query<Stored>(`${SELECT} WHERE client_id = :clientId ${ORDER}`, { clientId });
      const left = new Map<string, Stored[]>();
      for (const row of before) left.set(keyOf(row), [...(left.get(keyOf(row)) ?? []), row]);
      const rows = links.map((link, sortIndex) => ({
        ...link,
        clientId,
        sortIndex,
        kept: left.get(keyOf(link))?.shift(),
      }));
      await tx.run('DELETE FROM client_external_links WHERE client_id = :clientId', { clientId });
      await this.#insert(tx, rows);
      const stored = await this.#apply(tx, [clientId]);
      if ((stored.get(clientId)?.length ?? 0) < links.length)
        throw clientErrors.NOT_FOUND('the client was deleted meanwhile', { path: 'email' });
      const change = { clientId, before: this.of(clientId), after: stored.get(clientId) ?? NONE };
      await tx.during(duringLinksSave, { changes: [change], who });
    });
  }

  /** Adds links that came with new clients, in the transaction that creates these. */
  async add(
    tx: Tx,
    sent: readonly { readonly clientId: number; readonly links: readonly NewLink[] }[],
  ): Promise<void> {
    await this.#insert(
      tx,
      sent.flatMap(({ clientId, links }) =>
        links.map((link, sortIndex) => ({ ...link, clientId, sortIndex })),
      ),
    );
    await this.#apply(
      tx,
      sent.map(({ clientId }) => clientId),
    );
  }

  /** Call it in the transaction that deletes clients: the database deletes their rows with them. */
  clientsDeleted(tx: Tx, clientIds: readonly number[]): void {
    tx.apply(this.projection, { clientIds, links: new Map() });
  }

  async #insert(tx: Tx, links: readonly LinkOfClient[]): Promise<void> {
    if (links.length === 0) return;
    const now = this.#clock.now();
    const names = Object.keys(COLUMNS);
    // Without an id, the database gives the next one.
    await tx.run(
      `INSERT INTO client_external_links (${names.join(', ')}) SELECT ${names.map((name) => `j.${name}`).join(', ')} FROM ${tx.sql.rows(COLUMNS)} AS j JOIN clients ON clients.id = j.client_id`,
      {
        rows: JSON.stringify(
          links.map(({ kept, ...link }) => [
            kept?.id ?? null,
            link.clientId,
            link.kind,
            link.value,
            link.remark,
            link.enable ? 1 : 0,
            link.expiryTime,
            link.namePrefix,
            kept?.lastFetchAt ?? 0,
            kept?.lastFetchError ?? '',
            link.sortIndex,
            kept?.createdAt ?? now,
          ]),
        ),
      },
    );
  }

  async #apply(tx: Tx, clientIds: readonly number[]): Promise<ByClient> {
    if (clientIds.length === 0) return new Map();
    const links = byClient(
      await tx.query<Stored>(`${SELECT} WHERE client_id IN (:clientIds) ${ORDER}`, { clientIds }),
    );
    tx.apply(this.projection, { clientIds, links });
    return links;
  }
}
