import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExecutionContext } from 'ava';
import { testUnless } from '../harness/left-out.js';
import type { Found } from './reachable.js';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('./reachable.js', import.meta.url));
const OWN_NETWORK = ['--user', '--map-root-user', '--net', '--mount'];
const LIMIT_MS = 120_000;

/** Why this machine allows no separate network namespace; empty where it does. */
const obstacle = await run('unshare', [...OWN_NETWORK, 'ip', 'link', 'set', 'lo', 'up']).then(
  () => '',
  (error: Error) => `it needs unshare and ip with user namespaces: ${error.message.trim()}`,
);
const declare = testUnless(obstacle);

/** One run of the program in a network namespace, for all tests here. */
let found: Promise<Found> | undefined;
const findings = (t: ExecutionContext): Promise<Found> => {
  t.timeout(LIMIT_MS + 10_000);
  return (found ??= run('unshare', [...OWN_NETWORK, '--kill-child', process.execPath, PROGRAM], {
    timeout: LIMIT_MS,
  }).then(({ stdout }) => JSON.parse(stdout) as Found));
};
const reached = (tried: Readonly<Record<string, string>>): string[][] =>
  Object.entries(tried).filter(([, where]) => where !== '');

declare(
  'no name, no address and no packet of a user comes out on this machine or in its network',
  async (t) => {
    const { standard } = await findings(t);
    for (const tried of ['tcp', 'mux', 'ss2022'] as const)
      t.deepEqual(
        reached(standard[tried]),
        [
          ['203.0.113.80', '203.0.113.80'],
          ['64:ff9b::cb00:7150', '64:ff9b::cb00:7150'],
          ['server.test', '203.0.113.80'],
          ['both.test', '203.0.113.80'],
          ['own.test', '203.0.113.1'],
          ['second.test', '203.0.113.80'],
          ['through.test', '203.0.113.1'],
        ],
        `${tried}: a public address by itself, by name, and beside private ones; nothing else`,
      );
    for (const [protocol, { loopback, back, begun }] of Object.entries(standard.udp)) {
      t.deepEqual(loopback, [], `${protocol}: whatever the first packet was sent to`);
      t.deepEqual(
        back,
        ['first', ...['second', 'third', 'fourth'].map((text) => `${protocol} ${text}`), 'last'],
        `${protocol}: all packets of a session go where the first one was let go`,
      );
      t.is(begun, 'by name', `${protocol}: a session may begin with a name of a public address`);
    }
    t.deepEqual(standard.panel, {
      address: '',
      name: '',
      'through loopback': '',
      subscription: '404',
      'subscription by name': '404',
      'loopback, with a sniffed name': '',
      'from loopback': '200',
    });
  },
);

declare(
  'WEIR_ENGINE_UDP=cone lets the packets of a session go anywhere after the first, and nothing else',
  async (t) => {
    const { cone } = await findings(t);
    for (const [protocol, { loopback, back }] of Object.entries(cone.udp)) {
      t.deepEqual(loopback, ['second', 'third', 'fourth'], `${protocol}: but no session begins there`);
      t.deepEqual(back, ['first', 'last'], protocol);
    }
    t.is(cone.tcp['127.0.0.1'], '');
    t.is(cone.tcp['cone.flip.test'], '');
  },
);
