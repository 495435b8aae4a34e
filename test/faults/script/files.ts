// What writes files, or takes them in: backups, archives, the database of 3x-ui, jobs.
import { createHash, randomUUID } from 'node:crypto';
import type { Act, Part, World } from '../act.js';

/** `backupKeepLast` */
export const KEPT = 3;
/** The one inbound of the database of 3x-ui. */
export const OLD_INBOUND = 'moved';
const CLIENTS = 8;

const backups = ({ stored }: World): number =>
  (stored.get('one/backups') as { readonly count: number }).count;

/** An archive with clients alone, whose inbound is here already. */
function archive(text: string, emails: readonly string[]): string {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const isBase = (line: string) => line.startsWith('{"kind":"inbounds"') && line.includes('"base-1"');
  const inbound = lines.find(isBase) ?? '';
  const { id } = (JSON.parse(inbound) as { record: { id: number } }).record;
  const client = lines.find((line) => line.startsWith('{"kind":"clients"')) ?? '';
  const { record } = JSON.parse(client) as { record: { client: object; usage: object } };
  const clients = emails.map((email) => {
    const uuid = randomUUID();
    const own = {
      email,
      id: uuid,
      uuid,
      subId: uuid,
      password: uuid,
      auth: uuid,
      comment: '',
      group: '',
      totalGB: 0,
    };
    return JSON.stringify({
      kind: 'clients',
      record: {
        ...record,
        client: { ...record.client, ...own, limitHwid: 0, enable: true, externalLinks: [] },
        inboundIds: [id],
        usage: { ...record.usage, up: 5, down: 7 },
      },
    });
  });
  const whole = [first, inbound, ...clients].map((line) => `${line}\n`).join('');
  const { up = 0, down = 0 } = (JSON.parse(inbound) as { record: { up?: number; down?: number } }).record;
  const end = {
    records: { inbounds: 1, clients: emails.length },
    sums: {
      inbounds: { up: String(up), down: String(down) },
      clients: { up: String(5 * emails.length), down: String(7 * emails.length) },
    },
    sha256: createHash('sha256').update(whole).digest('hex'),
  };
  return `${whole}${JSON.stringify({ end })}\n`;
}

export interface Sources {
  /** an archive of this panel */
  archive(): Promise<string>;
  readonly oldPort: number;
  /** a database of 3x-ui with one inbound, at this port, and clients of these emails */
  oldPanel(emails: readonly string[]): Promise<Uint8Array>;
}

export const imports = (sources: Sources): readonly Part[] => [
  {
    route: 'POST x/archive/import',
    make: async (world): Promise<Act> => {
      const emails = Array.from({ length: CLIENTS }, () => world.fresh('archived-'));
      const form = new FormData();
      form.set('apply', 'true');
      form.set('archive', new Blob([archive(await sources.archive(), emails)]), 'archive.jsonl');
      return {
        path: 'x/archive/import',
        form,
        change: Object.fromEntries(
          emails.map((email) => [`client/${email}`, { inbounds: ['base-1'], up: 5, down: 7 }]),
        ),
        separately: true,
      };
    },
  },
  {
    route: 'POST x/import/3x-ui',
    make: async (world): Promise<Act> => {
      const emails = Array.from({ length: CLIENTS }, () => world.fresh('moved-'));
      const form = new FormData();
      form.set('db', new Blob([(await sources.oldPanel(emails)) as BlobPart]), 'x-ui.db');
      return {
        path: 'x/import/3x-ui',
        form,
        change: {
          [`inbound/${OLD_INBOUND}`]: { port: sources.oldPort },
          ...Object.fromEntries(
            emails.map((email) => [`client/${email}`, { inbounds: [OLD_INBOUND], up: 5, down: 7 }]),
          ),
        },
        separately: true,
      };
    },
  },
];

/** Jobs that call no other machine. */
const JOBS = [
  ...['traffic/poll', 'audit/head', 'audit/remove', 'addresses/write', 'addresses/tidy', 'addresses/prune'],
  ...[
    'time-series/flush',
    'usage-by-day/move',
    'usage-by-day/prune',
    'devices/write',
    'core-template/settle',
  ],
  ...['node-agent/move', 'node-agent/retry', 'outbound-traffic/poll', 'notifications/prune', 'engine/drift'],
  ...['idempotency/expired', 'secrets/retire', 'event-callbacks/remove', 'global-traffic/prune'],
];

/** They run beside all others. */
export const chores: readonly Part[] = [
  {
    route: 'POST x/backup/run',
    make: (world) => ({
      path: 'x/backup/run',
      method: 'POST',
      change: { 'one/backups': { count: Math.min(KEPT, backups(world) + 1), problems: '' } },
    }),
  },
  {
    route: 'POST system/jobs/{plugin}/{job}',
    make: ({ random }) => ({ path: `system/jobs/${random.pick(JOBS)}`, method: 'POST' }),
  },
  {
    route: 'POST x/outbound-traffic/prune',
    make: () => ({ path: 'x/outbound-traffic/prune', method: 'POST' }),
  },
  {
    route: 'POST engine/resetOutboundsTraffic',
    make: () => ({ path: 'engine/resetOutboundsTraffic', body: { tag: '-alltags-' } }),
  },
  { route: 'POST x/audit/verify', make: () => ({ path: 'x/audit/verify', body: {} }) },
];
