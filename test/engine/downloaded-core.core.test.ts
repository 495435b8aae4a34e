// A panel on a machine without a core downloads the release, here from a server of the test with the real program.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { assetOf, CORE_VERSION, keptCore, thisMachine } from '../../plugins/engine/install/release.js';
import { zipOf } from '../../plugins/engine/install/test/archive.js';
import { PanelProcess } from '../harness/panel-process.js';

test('a panel without a core downloads the release and runs it', async (t) => {
  const zip = zipOf([
    { name: 'xray', content: await readFile(process.env['WEIR_ENGINE_BIN'] ?? ''), method: 'stored' },
  ]);
  const path = `/v${CORE_VERSION}/${assetOf(thisMachine())}`;
  const served = new Map<string, Buffer | string>([
    [path, zip],
    [`${path}.dgst`, `SHA2-256= ${createHash('sha256').update(zip).digest('hex')}\n`],
  ]);
  const server = createServer((request, response) => void response.end(served.get(request.url ?? '')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'weir-home-'));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });
  const env = {
    PATH: folder,
    XDG_CACHE_HOME: folder,
    WEIR_ENGINE_BIN: '',
    WEIR_ENGINE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  const panel = await PanelProcess.start({ env });
  t.teardown(() => panel.dispose());
  t.is(panel.ready.engine, 'running', panel.ready.engineProblem);
  t.like(panel.said('core found'), { source: 'downloaded', binary: keptCore(env) });
  t.regex(panel.words, /^downloading the core /m);
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
});
