// Runs client programs.
// docs/formats.md, proved: every program reads every format, and bytes come through every entry that it says it carries.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { messageOf } from '../../kernel/index.js';
import { download, ownIPv4 } from '../../plugins/engine/xray/test/traffic.js';
import { openSite } from '../demo/streams.js';
import {
  engineBinary,
  MIB,
  openPanel,
  openServer,
  poll,
  teardownOfFile,
  usageOf,
  within,
} from '../engine/user.js';
import { freePort } from '../harness/api.js';
import { objection, whileRunning } from '../harness/client-program.js';
import { type Cell, type Column, COLUMNS } from './columns.js';
import { expectedRows } from './page.js';
import { READERS } from './readers.js';
import { everyWay, nameOf, type Way } from './ways.js';

const AT_ONCE = 3;
/** Far beyond what a slow machine takes; what hangs is reported by its name. */
const PATIENCE_MS = 20_000;
const COUNTED_LIMIT_MS = 30_000;

interface Client {
  readonly way: Way;
  readonly email: string;
  readonly subId: string;
}
const shared = teardownOfFile(test);
let panel: Awaited<ReturnType<typeof openPanel>>;
let server: Awaited<ReturnType<typeof openServer>>;
let trusted: string;
let clients: readonly Client[];
let expected: ReadonlyMap<string, ReadonlyMap<Column, Cell>>;

test.before(async () => {
  const site = await openSite(engineBinary());
  shared.teardown(() => site.stop());
  // WireGuard does not reach loopback.
  server = await openServer(shared, { host: ownIPv4() });
  panel = await openPanel(shared, { env: { ...site.env, WEIR_PUBLIC_HOST: '127.0.0.1' } });
  trusted = join(panel.dataDirectory, 'trusted.pem');
  await writeFile(trusted, `${site.parts.pem.certificate.join('\n')}\n`);
  for (const { settings } of COLUMNS) await panel.get('/panel/api/setting/update', { body: settings });
  const made: Client[] = [];
  for (const [i, way] of everyWay(site.parts).entries()) {
    const id = await panel.addInbound({ ...way.inbound, port: await freePort() });
    const { subId } = await panel.addClient(`c${i}`, [id], way.client);
    made.push({ way, email: `c${i}`, subId });
  }
  clients = made;
  expected = new Map((await expectedRows()).map(({ way, cells }) => [nameOf(way), cells]));
});

/** What becomes of one way in one column: a kind of cell, or what went wrong. */
async function outcome({ format, path }: Column, { subId }: Client, wanted: Cell['kind']): Promise<string> {
  const reader = READERS[format];
  if (!reader) return `there is no reader of ${format}`;
  const place = { socksPort: await freePort(), readyPort: await freePort(), trusted };
  const answer = await fetch(
    `http://127.0.0.1:${panel.kernel.listeners.port('subscription')}${path}${subId}`,
    { headers: { 'user-agent': reader.agent } },
  );
  if (answer.status !== 200) return `the fetch is answered with ${answer.status}`;
  const body = await answer.text();
  if (wanted === 'not applicable') return body === '' ? 'refused' : wanted;
  const count = reader.count(body);
  if (count !== 1) return count === 0 ? 'refused' : `${count} entries, not one`;
  if (wanted !== 'carried') {
    const against = await objection(reader.check(body, place));
    return against === '' ? 'accepted' : `it is refused: ${against}`;
  }
  const came = await whileRunning(reader.run(body, place), place.socksPort, () =>
    Promise.race([
      download({ socksPort: place.socksPort, server, bytes: MIB }),
      sleep(PATIENCE_MS, undefined, { ref: false }).then(() => {
        throw new Error('nothing comes');
      }),
    ]),
  ).catch(messageOf);
  return came === MIB ? 'carried' : String(came);
}

const downOf = async ({ email }: Client): Promise<number> => (await usageOf(panel, email)).down;

/** Clients whose counter does not show what they carried. */
async function miscounted(carried: readonly (readonly [Client, before: number])[]): Promise<string[]> {
  for (const deadline = Date.now() + COUNTED_LIMIT_MS; ; await sleep(200)) {
    await poll(panel);
    const wrong: string[] = [];
    for (const [client, before] of carried) {
      const counted = (await downOf(client)) - before;
      if (!within(counted, MIB))
        wrong.push(`${nameOf(client.way)}: ${counted} bytes are counted, not ${MIB}`);
    }
    if (wrong.length === 0 || Date.now() > deadline) return wrong;
  }
}

for (const column of COLUMNS)
  test.serial(`${column.title}: each entry as docs/formats.md says, and counted`, async (t) => {
    t.timeout(600_000);
    t.log(await READERS[column.format]?.build());
    const before = new Map<Client, number>();
    for (const client of clients) before.set(client, await downOf(client));
    const wrong: string[] = [];
    const carried: (readonly [Client, number])[] = [];
    const queue = [...clients];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let client = queue.shift(); client; client = queue.shift()) {
          const name = nameOf(client.way);
          const wanted = expected.get(name)?.get(column)?.kind ?? 'refused';
          const found = await outcome(column, client, wanted).catch(messageOf);
          if (found !== wanted) wrong.push(`${name}: ${found}, not ${wanted}`);
          else if (found === 'carried' && client.way.isCounted)
            carried.push([client, before.get(client) ?? 0]);
        }
      }),
    );
    t.deepEqual(wrong, []);
    t.true(carried.length > 20, `only ${carried.length} entries were carried`);
    t.deepEqual(await miscounted(carried), []);
  });
