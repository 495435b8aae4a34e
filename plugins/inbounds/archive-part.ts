// Inbounds in archives: as they are stored, with their counters, and without their clients.
import { inspectInSlices, kernelErrors, sentenceOf } from '../../kernel/index.js';
import {
  type ArchiveImport,
  type ArchivePart,
  type ArchiveRecord,
  IS_HERE,
  takeEach,
  textIn,
  WILL_BE,
} from '../archive/contract.js';
import { type Inbound, without } from './fields.js';
import { mayKeepDestinations } from './inbound-edits.js';
import { AddInbound } from './schema.js';
import type { InboundService } from './service.js';
import type { InboundStore } from './store.js';

const KIND = 'inbounds';
const NODES = 'nodes';
/** The calendar of this panel decides when the next period begins. */
const NOT_ARCHIVED = ['countedSince'] as const;

const COUNTERS = ['up', 'down', 'lastTrafficResetTime'] as const;
const MOST_GUID = 64;
/** A node of this panel; null is this machine. */
type Place = number | null | typeof WILL_BE;

const nameOf = ({ tag, remark, id }: ArchiveRecord): string =>
  textIn(tag) || textIn(remark) || `inbound ${textIn(id)}`;

/** What another panel has counted; throws one clause that names the field. What is left out is zero. */
function countedIn(record: ArchiveRecord): Record<(typeof COUNTERS)[number], number> {
  const counted = { up: 0, down: 0, lastTrafficResetTime: 0 };
  for (const name of COUNTERS) {
    const value = record[name] ?? 0;
    if (!Number.isSafeInteger(value) || (value as number) < 0)
      throw kernelErrors.INVALID(`${name}: it must be a whole number from 0 on`);
    counted[name] = value as number;
  }
  return counted;
}

function guidIn({ originGuid = '' }: ArchiveRecord): string {
  if (typeof originGuid !== 'string' || originGuid.length > MOST_GUID)
    throw kernelErrors.INVALID(`originGuid: it must be text of at most ${MOST_GUID} characters`);
  return originGuid;
}

function ownSettings({ settings = {} }: ArchiveRecord): Record<string, unknown> {
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw kernelErrors.INVALID('settings: it must be an object');
  const { clients: _, ...own } = settings as Record<string, unknown>;
  return own;
}

/** The record as `inbounds/add` takes it. */
function bodyOf(record: ArchiveRecord, nodeId: number | null): Record<string, unknown> {
  const { depletedCause, enable } = record;
  // A limit that it had reached is found again: as a plain `enable: false` it would be an admin's choice.
  return { ...record, nodeId, settings: ownSettings(record), enable: depletedCause ? true : enable };
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
  function placeOf({ nodeId = null }: ArchiveRecord, run: ArchiveImport): Place | undefined {
    return nodeId === null || nodeId === 0 ? null : run.references.get(NODES, nodeId);
  }

  async function take(record: ArchiveRecord, run: ArchiveImport): Promise<string | undefined> {
    const { id } = record;
    const nodeId = placeOf(record, run);
    if (nodeId === undefined) return `its node ${textIn(record['nodeId'])} is not here`;
    const here = store.get(store.idOfTag(textIn(record['tag'])) ?? 0);
    if (here && nodeId !== WILL_BE && isSame(here, record, nodeId)) {
      run.references.set(KIND, id, here.id);
      return IS_HERE;
    }
    if (here) return 'another inbound has its tag';
    const result = await inspectInSlices(AddInbound, bodyOf(record, nodeId === WILL_BE ? null : nodeId));
    if (!('value' in result)) return sentenceOf(result.issues) + result.more;
    const options = {
      keepDestinations: mayKeepDestinations(run.who),
      originGuid: guidIn(record),
      counted: countedIn(record),
    };
    if (run.apply) {
      const { id: added, applied, kept } = await service.add(result.value, run.who, options);
      run.references.set(KIND, id, added);
      if (kept.length > 0) run.note(nameOf(record), `it keeps local destinations: ${kept.join(', ')}`);
      if (applied.pending) run.note(nameOf(record), applied.reason);
    } else {
      if (nodeId !== WILL_BE) await service.check(result.value, run.who, options);
      run.references.set(KIND, id, WILL_BE);
    }
    return undefined;
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
    import: (portions, run) => takeEach(portions, run, { nameOf, take: (record) => take(record, run) }),
  };
};
