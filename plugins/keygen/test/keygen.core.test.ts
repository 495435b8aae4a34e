import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('a pair is new each time, and the core finds the same public key for its private one', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const make = () =>
    panel.get<{ privateKey: string; publicKey: string }>('/panel/api/server/getNewX25519Cert');
  const pair = await make();
  const { stdout } = await promisify(execFile)(process.env['WEIR_ENGINE_BIN'] ?? '', [
    'x25519',
    '-i',
    pair.privateKey,
  ]);
  t.is(/^Password \(PublicKey\): (\S+)$/m.exec(stdout)?.[1], pair.publicKey);
  t.not((await make()).privateKey, pair.privateKey);
});

test('a UUID is a random one', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const make = async () => (await panel.get<{ uuid: string }>('/panel/api/server/getNewUUID')).uuid;
  t.regex(await make(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.not(await make(), await make());
});
