// Inbounds in archives: as they are stored, with their counters, and without their clients.
import { inspectInSlices, PanelError } from '../../kernel/index.js';
import { type ArchiveImport, type ArchivePart, type ArchiveRecord, WILL_BE } from '../archive/contract.js';
import { type Inbound, without } from './fields.js';
import { AddInbound } from './schema.js';
import type { InboundService } from './service.js';
import type { InboundStore } from './store.js';

const KIND = 'inbounds';
const NODES = 'nodes';
/** The calendar of this panel decides when the next period begins. */
const NOT_ARCHIVED = ['countedSince'] as const;

const bytes = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The record as `inbounds/add` takes it. */
function bodyOf(record: ArchiveRecord, nodeId: number | null): Record<string, unknown> {
  const { settings, depletedCause, enable } = record;
  const { clients: _, ...own } = (settings ?? {}) as Record<string, unknown>;
  // A limit that it had reached is found again: as a plain `enable: false` it would be an admin's choice.
  return { ...record, nodeId, settings: own, enable: depletedCause ? true : enable };
}

export const inboundsPart = ({
  store,
  service,
}: {
  store: InboundStore;
  service: InboundService;
}): ArchivePart => {
  const isSame = (here: Inbound, record: ArchiveRecord, nodeId: number | null): boolean =>
    here.protocol === record['protocol'] && here.port === record['port'] && here.nodeId === nodeId;

  /** The id of its node here; undefined if it stays out. */
  function placeOf(record: ArchiveRecord, run: ArchiveImport): number | null | typeof WILL_BE | undefined {
    const { nodeId } = record;
    return typeof nodeId === 'number' && nodeId > 0 ? run.references.get(NODES, nodeId) : null;
  }

  async function take(record: ArchiveRecord, run: ArchiveImport): Promise<void> {
    const id = Number(record['id']);
    const name = textOf(record['tag']) || textOf(record['remark']) || `inbound ${id}`;
    const nodeId = placeOf(record, run);
    if (nodeId === undefined) return run.left(name, `its node ${Number(record['nodeId'])} is not here`);
    const here = store.get(store.idOfTag(textOf(record['tag'])) ?? 0);
    if (here && nodeId !== WILL_BE && isSame(here, record, nodeId)) {
      run.references.set(KIND, id, here.id);
      return run.left(name, 'it is here already');
    }
    if (here) return run.left(name, 'another inbound has its tag');
    const result = await inspectInSlices(AddInbound, bodyOf(record, nodeId === WILL_BE ? null : nodeId));
    if (!('value' in result))
      return run.left(name, result.issues.map(({ message }) => message).join('; ') + result.more);
    const options = {
      // Programs with a token may not set local destinations.
      keepDestinations: run.who.kind !== 'token',
      originGuid: textOf(record['originGuid']),
      counted: {
        up: bytes(record['up']),
        down: bytes(record['down']),
        lastTrafficResetTime: bytes(record['lastTrafficResetTime']),
      },
    };
    try {
      if (run.apply) {
        const { id: added, applied } = await service.add(result.value, run.who, options);
        run.references.set(KIND, id, added);
        if (applied.pending) run.note(name, applied.reason);
      } else {
        if (nodeId !== WILL_BE) await service.check(result.value, run.who, options);
        run.references.set(KIND, id, WILL_BE);
      }
      run.taken(record);
    } catch (error) {
      if (!(error instanceof PanelError) || error.status >= 500) throw error;
      run.left(name, error.message);
    }
  }

  return {
    kind: KIND,
    version: 1,
    about: 'inbounds with their settings and private keys, counters in bytes and times in Unix ms',
    sums: ({ up, down, total }) => ({ up, down, total }),
    async *export() {
      yield store
        .list()
        .map((inbound) => ({ ...without(inbound, NOT_ARCHIVED), ...store.usage(inbound.id) }));
    },
    async import(portions, run) {
      for await (const records of portions) for (const record of records) await take(record, run);
    },
  };
};
