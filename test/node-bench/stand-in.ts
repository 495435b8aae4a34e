// A node as far as its central can tell: it speaks the wire of `node-agent` and `nodes`, and has no panel behind.
import { randomUUID } from 'node:crypto';
import { bucketOf, BUCKETS, digestOf, digestOfAll } from '../../plugins/node-agent/contract.js';
import type { RecordKind } from '../../plugins/node-sync/tables.js';

interface Stored {
  readonly kind: RecordKind;
  readonly id: number;
  readonly version: number;
  readonly isGone: boolean;
  readonly inboundIds: readonly number[];
}
interface Sent {
  readonly kind: RecordKind;
  readonly id: number;
  readonly version: number;
  readonly value: unknown;
  readonly inboundIds?: readonly number[];
}
/** What a stand-in answers; `undefined` in place of the object for a central that it does not know. */
export interface Answer {
  readonly status: number;
  readonly envelope: object;
}
const ok = (obj: unknown): Answer => ({ status: 200, envelope: { success: true, msg: '', obj } });
const UNKNOWN: Answer = {
  status: 404,
  envelope: { success: false, msg: 'unknown central', obj: null, code: 'NODE_AGENT_UNKNOWN_CENTRAL' },
};

export class StandIn {
  readonly guid = randomUUID();
  readonly #epoch = randomUUID();
  /** a status of a real panel, as it is sent */
  readonly #status: Record<string, unknown>;
  readonly #records = new Map<string, Stored>();
  #central = '';
  #seq = 0;
  /** by client and inbound, with the seq of their last bytes */
  readonly #usage = new Map<
    string,
    { clientId: number; inboundId: number; up: number; down: number; seq: number }
  >();

  constructor(status: Record<string, unknown>) {
    this.#status = { ...status, panelGuid: this.guid };
  }

  /** Records that are not deleted. */
  get live(): readonly Stored[] {
    return [...this.#records.values()].filter(({ isGone }) => !isGone);
  }
  /** Of all versions: it changes with each record. */
  get sum(): number {
    let sum = 0;
    for (const { version } of this.#records.values()) sum += version;
    return sum;
  }

  /** Some of the clients move bytes. */
  use(share: number): void {
    this.#seq += 1;
    for (const { kind, id, inboundIds } of this.live) {
      const [inboundId] = inboundIds;
      if (kind !== 'client' || inboundId === undefined || Math.random() >= share) continue;
      const key = `${id} ${inboundId}`;
      const { up = 0, down = 0 } = this.#usage.get(key) ?? {};
      this.#usage.set(key, { clientId: id, inboundId, up: up + 9_000, down: down + 90_000, seq: this.#seq });
    }
  }

  answer(path: string, query: URLSearchParams, body: unknown): Answer {
    if (path.endsWith('/panel/api/server/status')) return ok(this.#status);
    if (path.endsWith('/panel/api/server/descendants')) return ok([]);
    const [, wire = ''] = path.split('/panel/api/x/node/');
    if (wire === 'apply') return this.#apply(body as { central: string; changes: readonly Sent[] });
    const central = query.get('central') ?? (body as { central?: string } | undefined)?.central;
    if (this.#central === '' || central !== this.#central) return UNKNOWN;
    if (wire === 'state')
      return ok({ guid: this.guid, epoch: this.#epoch, digest: digestOfAll(this.#buckets()) });
    if (wire === 'state/buckets') return ok({ guid: this.guid, digests: this.#buckets() });
    if (wire === 'state/records') return this.#page(Number(query.get('bucket')));
    if (wire === 'usage') return this.#told(query);
    if (wire === 'usage/ack') return ok(null);
    if (wire === 'addresses' || wire === 'devices') return ok(null);
    if (wire === 'elsewhere') return ok({ taken: 0, skipped: [] });
    return { status: 404, envelope: { success: false, msg: 'not here', obj: null } };
  }

  #apply({ central, changes }: { central: string; changes: readonly Sent[] }): Answer {
    this.#central = central;
    const results = changes.map(({ kind, id, version, value, inboundIds = [] }) => {
      const key = `${kind}.${id}`;
      if (version > (this.#records.get(key)?.version ?? 0))
        this.#records.set(key, { kind, id, version, isGone: value === null, inboundIds });
      return { kind, id, version, ok: true };
    });
    return ok({ results });
  }

  #buckets(): string[] {
    const buckets = Array.from({ length: BUCKETS }, (): Stored[] => []);
    for (const record of this.live) buckets[bucketOf(record.id)]?.push(record);
    return buckets.map((some) => digestOf(some.map((one) => ({ ...one, refused: '', isDrifted: false }))));
  }

  #page(bucket: number): Answer {
    const records = this.live
      .filter(({ id }) => bucketOf(id) === bucket)
      .map(({ kind, id, version }) => ({ kind, id, version, state: 'ok' }));
    return ok({ guid: this.guid, records, next: '' });
  }

  #told(query: URLSearchParams): Answer {
    const after = query.get('epoch') === this.#epoch ? Number(query.get('after')) : 0;
    const users = [...this.#usage.values()].flatMap(({ seq, ...user }) => (seq > after ? [user] : []));
    return ok({
      guid: this.guid,
      epochs: [{ epoch: this.#epoch, seq: this.#seq, isCurrent: true, more: false, users }],
    });
  }
}
