// Panels with records of all kinds, and archives of them.
import { createHash } from 'node:crypto';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../../../test/harness/index.js';
import { type inboundBodies, TAKES_NO_CLIENTS } from '../../../test/harness/inbound-bodies.js';
import type { Random } from '../../../test/harness/random.js';
import type { ImportReport } from '../archive-importer.js';

export interface Line {
  readonly kind: string;
  readonly record: Readonly<Record<string, unknown>>;
}
export const API = '/panel/api/x/archive';

export const boot = (options: Parameters<typeof TestPanel.boot>[0] = {}): Promise<TestPanel> =>
  TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock(), ...options });

/** The whole text of an archive of this panel. */
export async function archiveOf(panel: TestPanel, query = ''): Promise<string> {
  const response = await fetch(`${panel.url}${API}/export${query}`, { headers: { cookie: panel.cookie } });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return response.text();
}
/** Its records, without header and end. */
export const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as Line);

/** The lines with a last line that fits them. */
export function sealed(
  lines: readonly string[],
  change: (end: Record<string, never>) => object = (end) => end,
): string {
  const before = lines.map((line) => `${line}\n`).join('');
  const records: Record<string, number> = {};
  for (const line of lines.slice(1)) {
    const { kind = '' } = JSON.parse(line) as { kind?: string };
    records[kind] = (records[kind] ?? 0) + 1;
  }
  const sha256 = createHash('sha256').update(before).digest('hex');
  return `${before}${JSON.stringify({ end: change({ records, sums: {}, sha256 } as never) })}\n`;
}
export async function upload(
  panel: TestPanel,
  text: string | Uint8Array,
  fields: Readonly<Record<string, string>> = {},
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('archive', new Blob([text as never]), 'archive.jsonl');
  const response = await fetch(`${panel.url}${API}/import`, {
    method: 'POST',
    headers: { cookie: panel.cookie, 'x-csrf-token': panel.csrf },
    body: form,
  });
  const body = (await response.json()) as { success: boolean; msg: string; code?: string; obj: ImportReport };
  return { status: response.status, body };
}
/** An import that must succeed. */
export async function bring(
  panel: TestPanel,
  text: string,
  fields: Readonly<Record<string, string>> = { apply: 'true' },
): Promise<ImportReport> {
  const { status, body } = await upload(panel, text, fields);
  if (status !== 200) {
    const why = panel.log.filter((line) => line.includes('"error"')).at(-1);
    throw new Error(`${status} ${body.msg} ${why}`);
  }
  return body.obj;
}

/** A panel with an inbound of each protocol, clients with random fields, and all else that archives contain. */
export async function fill(
  panel: TestPanel,
  { below, pick }: Random,
  bodies: Awaited<ReturnType<typeof inboundBodies>>,
  clients: number,
): Promise<number[]> {
  const ids: number[] = [];
  // A deleted inbound moves the ids apart from those of a fresh panel.
  await panel.get(`/panel/api/inbounds/del/${await panel.addInbound()}`, { method: 'POST' });
  for (const [i, body] of bodies.entries()) {
    const id = await panel.addInbound({
      remark: `${body.protocol} ${i}`,
      ...body,
      port: await freePort(),
      enable: i % 5 !== 4,
      expiryTime: i % 4 === 3 ? 4_000_000_000_000 : 0,
    });
    if (!TAKES_NO_CLIENTS.includes(body.protocol)) ids.push(id);
  }
  await panel.get('/panel/api/clients/groups/create', { body: { name: 'empty' } });
  for (let i = 0; i < clients; i++) {
    const email = `client${i}@${pick(['a', 'B', 'ü']) as string}.example`;
    const inboundIds = ids.filter(() => below(3) === 0);
    const isOn = (): boolean => below(2) === 0;
    await panel.get('/panel/api/clients/add', {
      body: {
        client: {
          email,
          totalGB: pick([0, 1000, 50_000_000_000]),
          expiryTime: pick([0, 4_000_000_000_000, -86_400_000, 1000]),
          enable: below(4) > 0,
          limitIp: below(3),
          limitHwid: below(3),
          tgId: below(5),
          group: pick(['', 'gold', 'name "with" quotes']),
          comment: pick(['', 'two\nlines', '{"json": true}', 'ünï 😀']),
          reset: pick([0, 30]),
          resetDay: pick([0, 31]),
          resetMax: below(3),
          trafficReset: pick(['never', 'monthly']),
          trafficResetDay: 1 + below(31),
          flow: pick(['', 'xtls-rprx-vision']),
          security: pick(['auto', 'aes-128-gcm']),
          ...(isOn() && { reverse: { tag: `reverse-${i}` } }),
        },
        inboundIds: inboundIds.length > 0 ? inboundIds : [ids[0]],
        ...(below(3) === 0 && {
          externalLinks: [
            {
              kind: 'link',
              value: `vless://${'0'.repeat(8)}-0000-4000-8000-${String(i).padStart(12, '0')}@b.example:443#x`,
              remark: 'elsewhere',
            },
          ],
        }),
      },
    });
    if (isOn())
      await panel.get(`/panel/api/clients/updateTraffic/${encodeURIComponent(email)}`, {
        body: { upload: below(3000), download: below(2_000_000) },
      });
    if (below(7) === 0)
      await panel.get(`/panel/api/clients/${encodeURIComponent(email)}/detach`, {
        body: { inboundIds: ids },
      });
  }
  await panel
    .get('/panel/api/clients/groups/resetTraffic', { body: { name: 'gold' } })
    .catch(() => undefined);
  await panel.get('/panel/api/hosts/add', {
    body: {
      inboundIds: [ids[0], ids[1]],
      remark: 'CDN',
      hosts: ['cdn.example.com', '[2001:db8::1]:8443'],
      port: 443,
      tags: ['EU'],
    },
  });
  await panel.get(`/panel/api/inbounds/${ids[3]}/fallbacks`, {
    body: {
      fallbacks: [
        { childId: ids[2], path: '/p' },
        { dest: 'example.com:80', xver: 1 },
      ],
    },
  });
  await panel.get('/panel/api/sub-balancers', {
    body: {
      remark: 'Fastest',
      strategy: 'leastLoad',
      inboundIds: [ids[0], ids[1]],
      memberWeights: { [String(ids[1])]: 3 },
    },
  });
  await panel.get('/panel/api/setting/update', { body: { pageSize: 33 } });
  return ids;
}

const REFERRING = ['inboundIds', 'inboundId', 'childId', 'id', 'memberWeights'];
/** Records with the ids of inbounds replaced by their tags, without what another panel has of its own. */
export function comparable(lines: readonly Line[]): Line[] {
  const tags = new Map(
    lines.flatMap(({ kind, record }) =>
      kind === 'inbounds' ? [[record['id'] as number, record['tag'] as string]] : [],
    ),
  );
  const tagOf = (id: unknown): unknown => tags.get(Number(id)) ?? id;
  const replaced = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value))
      return value.map((item) => (key === 'inboundIds' ? tagOf(item) : replaced(item)));
    if (typeof value !== 'object' || value === null)
      return (key === 'inboundId' || key === 'childId') && typeof value === 'number' ? tagOf(value) : value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        key === 'memberWeights' ? (tagOf(name) as string) : name,
        REFERRING.includes(name) || typeof inner === 'object' ? replaced(inner, name) : inner,
      ]),
    );
  };
  return lines.map(({ kind, record }) => {
    const { id, createdAt, updatedAt, ...rest } = replaced(record) as Record<string, unknown>;
    return {
      kind,
      record:
        kind === 'inbounds' || kind === 'sub-balancers'
          ? rest
          : {
              ...rest,
              ...(id !== undefined && { id }),
              ...(createdAt !== undefined && { createdAt, updatedAt }),
            },
    };
  });
}
