// What the core makes slow: shadowsocks of 2022 builds its table of users again with each, and wireguard knows none that
// come later, so that its inbound is put again. Few clients are enough to see it.
import { randomBytes } from 'node:crypto';
import { freePort } from '../harness/api.js';
import type { BenchPanel } from './bench-panel.js';
import type { Report } from './report.js';
import { seed } from './seed.js';
import { singleEdits } from './single-edits.js';

const SIZES = [100, 1000];
const EXCEPTIONS: readonly (readonly [kind: string, inbound: Record<string, unknown>])[] = [
  [
    'shadowsocks-2022: ',
    {
      protocol: 'shadowsocks',
      settings: { method: '2022-blake3-aes-128-gcm', password: randomBytes(16).toString('base64') },
    },
  ],
  ['wireguard: ', { protocol: 'wireguard' }],
];

/** On inbounds of their own; deletes them and their clients. */
export async function coreExceptions(bench: BenchPanel, report: Report): Promise<void> {
  let from = 10_000_000;
  for (const [kind, inbound] of EXCEPTIONS) {
    const id = await bench.api.addInbound({ ...inbound, port: await freePort() });
    const first = from;
    for (const size of SIZES) {
      await seed(bench.api, size - (from - first), [id], from);
      from = first + size;
      report.add(
        'one call, by what the core can do',
        size,
        await singleEdits(bench, { inboundIds: [id], goals: false, kind }),
      );
    }
    const emails = Array.from({ length: from - first }, (_, n) => `user${first + n}@bench`);
    await bench.api.get(`/panel/api/inbounds/del/${id}`, { method: 'POST' });
    await bench.api.get('/panel/api/clients/bulkDel', { body: { emails } });
  }
}
