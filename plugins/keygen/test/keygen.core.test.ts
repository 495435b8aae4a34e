// Each generator, checked against the core's own command.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const SERVER = '/panel/api/server';
const core = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.env['WEIR_ENGINE_BIN'] ?? '', args)).stdout;

let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

/** Two results of a generator, which differ. */
async function two<T>(t: { notDeepEqual(a: T, b: T): boolean }, path: string, body?: object): Promise<T> {
  const make = () => panel.get<T>(path, body && { body });
  const first = await make();
  t.notDeepEqual(await make(), first);
  return first;
}

test('the core finds the same public key of X25519', async (t) => {
  const pair = await two<{ privateKey: string; publicKey: string }>(t, `${SERVER}/getNewX25519Cert`);
  const printed = await core('x25519', '-i', pair.privateKey);
  t.is(/^Password \(PublicKey\): (\S+)$/m.exec(printed)?.[1], pair.publicKey);
});

test('the core finds the same public key of ML-DSA-65 and ML-KEM-768', async (t) => {
  const signing = await two<{ seed: string; verify: string }>(t, `${SERVER}/getNewmldsa65`);
  t.is(/^Verify: (\S+)$/m.exec(await core('mldsa65', '-i', signing.seed))?.[1], signing.verify);
  const exchange = await two<{ seed: string; client: string }>(t, `${SERVER}/getNewmlkem768`);
  t.is(/^Client: (\S+)$/m.exec(await core('mlkem768', '-i', exchange.seed))?.[1], exchange.client);
});

test('the pairs of VLESS have the forms of the core, and both halves belong together', async (t) => {
  interface Auth {
    readonly id: number;
    readonly key: string;
    readonly label: string;
    readonly decryption: string;
    readonly encryption: string;
  }
  const { auths } = await two<{ auths: Auth[] }>(t, `${SERVER}/getNewVlessEnc`);
  t.deepEqual(
    auths.map(({ id, key }) => [id, key]),
    [
      [1, 'x25519'],
      [2, 'mlkem768'],
      [3, 'x25519_xorpub'],
      [4, 'x25519_random'],
      [5, 'mlkem768_xorpub'],
      [6, 'mlkem768_random'],
    ],
  );
  // The core prints one pair of each kind, in the mode native.
  const printed = [...(await core('vlessenc')).matchAll(/"(?:de|en)cryption": "(.+)\.([\w-]+)"/g)];
  const heads = printed.map(([, head = '', key = '']) => [head, key.length]);
  const split = (text: string) => [text.slice(0, text.lastIndexOf('.')), text.split('.').at(-1)?.length];
  t.deepEqual(
    auths.slice(0, 2).flatMap(({ decryption, encryption }) => [split(decryption), split(encryption)]),
    heads as unknown[][],
  );
  for (const { key, decryption, encryption } of auths) {
    const [server = '', client = ''] = [decryption, encryption].map((text) => text.split('.').at(-1));
    const command = key.startsWith('x25519') ? 'x25519' : 'mlkem768';
    t.true((await core(command, '-i', server)).includes(client), key);
    const mode = key.split('_')[1] ?? 'native';
    t.deepEqual([decryption.split('.')[1], encryption.split('.')[1]], [mode, mode]);
  }
});

test('the core restores the list of configs from the keys of ECH, and the name is checked', async (t) => {
  const sni = 'www.example.com';
  const made = await two<{ echServerKeys: string; echConfigList: string }>(t, `${SERVER}/getNewEchCert`, {
    sni,
  });
  const printed = await core('tls', 'ech', '-i', made.echServerKeys);
  t.is(/ECH config list:\s*\n(\S+)/.exec(printed)?.[1], made.echConfigList);
  t.true(Buffer.from(made.echConfigList, 'base64').includes(sni));
  const international = await panel.get<typeof made>(`${SERVER}/getNewEchCert`, {
    body: { sni: 'Bücher.example.' },
  });
  t.true(Buffer.from(international.echConfigList, 'base64').includes('xn--bcher-kva.example\0'));
  for (const wrong of [
    '',
    'a b',
    'x'.repeat(255),
    `${'ü.'.repeat(60)}example.com`,
    '1.2.3.4',
    '::1',
    'a..b',
  ]) {
    const { status, body } = await panel.call(`${SERVER}/getNewEchCert`, { body: { sni: wrong } });
    t.is(status, 400, wrong);
    t.regex(body.msg, /sni/);
  }
});

test('the core takes the pair of WireGuard', async (t) => {
  const keys = await two<Record<'privateKey' | 'publicKey' | 'presharedKey', string>>(
    t,
    '/panel/api/x/keygen/wireguard',
  );
  t.is(/PublicKey\): (\S+)$/m.exec(await core('wg', '-i', keys.privateKey))?.[1], keys.publicKey);
  t.is(Buffer.from(keys.presharedKey, 'base64').length, 32);
});

test('short ids differ, and REALITY takes them', async (t) => {
  const { shortIds, spiderX } = await two<{ shortIds: string[]; spiderX: string }>(
    t,
    '/panel/api/x/keygen/reality?count=100',
  );
  t.is(new Set(shortIds).size, 100);
  t.true(shortIds.every((id) => /^(?:[0-9a-f]{2}){1,8}$/.test(id)));
  t.regex(spiderX, /^\/[\w-]{5,}$/);
  t.is((await panel.get<{ shortIds: string[] }>('/panel/api/x/keygen/reality')).shortIds.length, 8);
  t.is((await panel.call('/panel/api/x/keygen/reality?count=101')).status, 400);
});

test('a UUID is a random one', async (t) => {
  const { uuid } = await two<{ uuid: string }>(t, `${SERVER}/getNewUUID`);
  t.regex(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
