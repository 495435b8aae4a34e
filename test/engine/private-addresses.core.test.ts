import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { Reach } from './reach.js';
import { connect, openPanel, openServer } from './user.js';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('./reach.js', import.meta.url));
const OWN_NETWORK = ['--user', '--map-root-user', '--net', '--mount'];
const LIMIT_MS = 120_000;

/** What users reach in a network of its own; undefined, with the reason printed, where this machine allows no such network. */
async function reach(t: ExecutionContext, env: Record<string, string>): Promise<Reach | undefined> {
  t.timeout(LIMIT_MS + 10_000);
  const impossible = await run('unshare', [...OWN_NETWORK, 'ip', 'link', 'set', 'lo', 'up']).then(
    () => undefined,
    (error: Error) => error.message.trim(),
  );
  if (impossible !== undefined) {
    t.log(`left out, for it needs \`unshare\` and \`ip\` with user namespaces: ${impossible}`);
    if (process.env['CI']) t.fail('with CI set, a test that is left out is a failure');
    else t.pass();
    return undefined;
  }
  const { stdout } = await run(
    'unshare',
    [...OWN_NETWORK, '--kill-child', process.execPath, PROGRAM, JSON.stringify(env)],
    { timeout: LIMIT_MS },
  );
  return JSON.parse(stdout) as Reach;
}
const reached = (tried: Readonly<Record<string, string>>): string[][] =>
  Object.entries(tried).filter(([, where]) => where !== '');

test('no name, no address and no packet of a user comes out on this machine or in its network', async (t) => {
  const found = await reach(t, { WEIR_ENGINE_PRIVATE: '' });
  if (!found) return;
  for (const tried of ['tcp', 'mux', 'ss2022'] as const)
    t.deepEqual(
      reached(found[tried]),
      [
        ['203.0.113.80', '203.0.113.80'],
        ['64:ff9b::cb00:7150', '64:ff9b::cb00:7150'],
        ['server.test', '203.0.113.80'],
        ['both.test', '203.0.113.80'],
        ['own.test', '203.0.113.1'],
        ['second.test', '203.0.113.80'],
      ],
      `${tried}: a public address by itself, by name, and beside private ones; nothing else`,
    );
  for (const [protocol, { loopback, back, begun }] of Object.entries(found.udp)) {
    t.deepEqual(loopback, [], `${protocol}: whatever the first packet was sent to`);
    t.deepEqual(
      back,
      ['first', ...['second', 'third', 'fourth'].map((text) => `${protocol} ${text}`), 'last'],
      `${protocol}: all packets of a session go where the first one was let go`,
    );
    t.is(begun, 'by name', `${protocol}: a session may begin with a name of a public address`);
  }
  t.deepEqual(found.panel, {
    address: '',
    name: '',
    subscription: '404',
    'subscription by name': '404',
    'loopback, with a sniffed name': '',
    'from loopback': '200',
  });
});

test('WEIR_ENGINE_UDP=cone lets the packets of a session go anywhere after the first, and nothing else', async (t) => {
  const found = await reach(t, { WEIR_ENGINE_PRIVATE: '', WEIR_ENGINE_UDP: 'cone' });
  if (!found) return;
  for (const [protocol, { loopback, back }] of Object.entries(found.udp)) {
    t.deepEqual(loopback, ['second', 'third', 'fourth'], `${protocol}: but no session begins there`);
    t.deepEqual(back, ['first', 'last'], protocol);
  }
  t.is(found.tcp['127.0.0.1'], '');
  t.is(found.tcp['flip1.test'], '');
});

test('users reach this machine itself only where WEIR_ENGINE_PRIVATE allows it', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const server = await openServer(t);
  const closed = await openPanel(t, { dataDirectory, env: { WEIR_ENGINE_PRIVATE: '' } });
  await closed.addClient('a', [await closed.addInbound()]);
  t.is(closed.ready.engine, 'running', closed.ready.engineProblem);
  t.false(
    await (await connect(t, closed, 'a', server)).served(),
    'by default the server on loopback is out of reach',
  );
  await closed.kill('SIGTERM');
  const open = await openPanel(t, { dataDirectory, env: { WEIR_ENGINE_PRIVATE: 'allow' } });
  t.true(await (await connect(t, open, 'a', server)).served(), 'the same user, the same inbound');
});
