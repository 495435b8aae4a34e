// Clients in archives: as clients/export gives them, with all that they used.
import { isUsage, type UsageRecord, whyNotUsage } from './usage-record.js';
import { type ArchiveImport, type ArchivePart, type ArchiveRecord, WILL_BE } from '../../archive/contract.js';
import { addValid } from '../edits/add-valid.js';
import type { ClientService } from '../edits/client-service.js';
import type { PartsOfClients } from '../model/client-parts.js';
import type { ClientStore } from '../model/client-store.js';
import { emailKey } from '../model/fields.js';
import type { ClientRow } from '../model/row.js';
import { ImportedClient } from '../model/schema.js';
import { exportOf } from '../model/views.js';

const KIND = 'clients';
const INBOUNDS = 'inbounds';
const PORTION = 1000;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const emailOf = (record: ArchiveRecord): string => {
  const { email } = objectOf(record['client']);
  return typeof email === 'string' ? email.trim() : '';
};

function recordOf(row: ClientRow): object {
  const { traffic: _, ...record } = exportOf(row);
  const { up, down, lastOnline, lastSubFetch, resetCount } = row;
  const usage: UsageRecord = { up, down, lastOnline, lastSubFetch, resetCount };
  return { ...record, usage };
}

/** A record with more of them costs time before it is validated. */
const MOST_PLACES = 10_000;
const whyTooMany = (record: ArchiveRecord): string | undefined => {
  const places =
    listOf(record['inboundIds']).length + listOf(objectOf(record['client'])['credentials']).length;
  return places > MOST_PLACES ? `it has more than ${MOST_PLACES} inbounds` : undefined;
};

/** The item as clients/import takes it: its inbounds are those of this panel. */
function itemOf(record: ArchiveRecord, run: ArchiveImport): object {
  const missing: unknown[] = [];
  const here = (id: unknown): number[] => {
    const found = run.references.get(INBOUNDS, id);
    if (found === undefined) missing.push(id);
    // A dry run cannot attach to what is not there yet.
    return found === undefined || found === WILL_BE ? [] : [found];
  };
  const { usage: _, ...item } = record;
  const client = objectOf(record['client']);
  const inboundIds = [...new Set(listOf(record['inboundIds']))].flatMap(here);
  const credentials = listOf(client['credentials']).flatMap((entry) => {
    const { inboundId, ...values } = objectOf(entry);
    const found = run.references.get(INBOUNDS, inboundId);
    return found === undefined || found === WILL_BE ? [] : [{ ...values, inboundId: found }];
  });
  if (missing.length > 0)
    run.note(
      emailOf(record),
      `it is not attached to ${missing.length} inbounds of the archive that are not here`,
    );
  const { credentials: __, ...fields } = client;
  return { ...item, client: { ...fields, ...(credentials.length > 0 && { credentials }) }, inboundIds };
}

export const clientsPart = ({
  store,
  service,
  parts,
}: {
  store: ClientStore;
  service: ClientService;
  parts: PartsOfClients;
}): ArchivePart => {
  async function take(
    records: readonly ArchiveRecord[],
    run: ArchiveImport,
    sharable: Set<string>,
  ): Promise<void> {
    const fresh = records.filter((record) => {
      const email = emailOf(record);
      const reason =
        store.byEmail(email) !== undefined
          ? 'a client with this email is here already'
          : (whyNotUsage(record['usage']) ?? whyTooMany(record));
      if (reason !== undefined) run.left(email || 'a client', reason);
      return reason === undefined;
    });
    const usage = new Map(
      fresh.flatMap((record) => {
        const { usage: used } = record;
        return isUsage(used) ? [[emailKey(emailOf(record)), used] as const] : [];
      }),
    );
    const items = fresh.map((record) => itemOf(record, run));
    const { skipped } = await addValid(service, items, run.who, ImportedClient, {
      fromElsewhere: true,
      sharable,
      usage,
      rehearse: !run.apply,
    });
    const left = new Set<number>();
    for (const { index, email, reason } of skipped) {
      left.add(index);
      run.left(email || `client ${index + 1} of its portion`, reason);
    }
    for (const [index, record] of fresh.entries()) if (!left.has(index)) run.taken(record);
  }

  return {
    kind: KIND,
    version: 1,
    about:
      'clients with all their credentials, limits and what they used; totalGB is in bytes, times are in Unix ms; inboundIds are those of this archive',
    after: [INBOUNDS, 'groups'],
    sums: ({ usage, client }) => {
      const { up, down } = objectOf(usage);
      return { up, down, totalGB: objectOf(client)['totalGB'] };
    },
    async *export() {
      const rows = [...store.roster.ordered('id')];
      for (let from = 0; from < rows.length; from += PORTION) {
        const portion = rows.slice(from, from + PORTION);
        const records = portion.map(recordOf);
        await parts.addTo(
          records,
          portion.map(({ id }) => id),
        );
        yield records;
      }
    },
    async import(portions, run) {
      const sharable = new Set<string>();
      for await (const records of portions) await take(records, run, sharable);
    },
  };
};
