// examples/reconcile as it is: a file of wished clients, the plan, the calls, and a second run that does nothing.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FakeEngine } from '../harness/fake-engine.js';
import { freePort, TestPanel } from '../harness/panel.js';
import { accessTo, builtExample, runProgram } from './sdk-program.js';

let folder = '';
test.before(async () => {
  folder = await builtExample('reconcile');
});
test.after.always(() => rm(folder, { recursive: true, force: true }));

async function setUp(t: ExecutionContext) {
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  const env = await accessTo(panel);
  const inbound = async () =>
    panel.addInbound({ protocol: 'vless', listen: '127.0.0.1', port: await freePort() });
  const [first, second] = [await inbound(), await inbound()];
  const reconcile = async (file: unknown, ...args: string[]) => {
    const path = join(folder, 'clients.json');
    await writeFile(path, typeof file === 'string' ? file : JSON.stringify(file));
    return runProgram(folder, ['dist/reconcile.js', path, ...args], env);
  };
  const clients = async () =>
    (await panel.get<Record<string, unknown>[]>('/panel/api/clients/list')).map(
      ({ email, group, enable, totalGB, limitIp, inboundIds }) => ({
        email,
        group,
        enable,
        totalGB,
        limitIp,
        inboundIds,
      }),
    );
  return { panel, reconcile, clients, first, second, env };
}
const lines = ({ stdout }: { stdout: string }) => stdout.trim().split('\n');

test.serial(
  'plans first, then creates, changes, disables and deletes only what the group owns',
  async (t) => {
    t.timeout(300_000);
    const { panel, reconcile, clients, first, second } = await setUp(t);
    await panel.addClient('foreign', [first], { totalGB: 7, group: 'others' });
    await panel.addClient('alone', [first]);
    const file = {
      group: 'school',
      inboundIds: [first],
      clients: [{ email: 'ann', totalGB: 5 }, { email: 'bob', enable: false, limitIp: 2 }, { email: 'carl' }],
    };
    const before = await clients();
    const planned = await reconcile(file);
    t.deepEqual(lines(planned), [
      'create ann',
      'create bob',
      'create carl',
      '3 steps; --apply carries them out',
    ]);
    t.deepEqual(await clients(), before);
    t.is(lines(await reconcile(file, '--apply')).at(-1), '3 steps done');
    t.deepEqual(lines(await reconcile(file, '--apply')), ['nothing to do']);

    const changed = {
      group: 'school',
      inboundIds: [second],
      clients: [{ email: 'ANN', totalGB: 9, comment: 'moved' }, { email: 'bob' }, { email: 'dora' }],
    };
    const done = await reconcile(changed, '--apply');
    t.deepEqual(lines(done), [
      'create dora',
      'change ann: totalGB 5 -> 9, comment  -> moved',
      'change bob: limitIp 2 -> 0',
      `attach ann: inbound ${second}`,
      `attach bob: inbound ${second}`,
      `detach ann: inbound ${first}`,
      `detach bob: inbound ${first}`,
      'enable bob',
      'disable carl',
      '9 steps done',
    ]);
    t.is(done.code, 0, done.stderr);
    t.deepEqual(lines(await reconcile(changed, '--apply')), ['nothing to do']);
    const school = { group: 'school', enable: true, totalGB: 0, limitIp: 0, inboundIds: [second] };
    t.deepEqual(await clients(), [
      { ...school, email: 'foreign', group: 'others', totalGB: 7, inboundIds: [first] },
      { ...school, email: 'alone', group: '', inboundIds: [first] },
      { ...school, email: 'ann', totalGB: 9 },
      { ...school, email: 'bob' },
      { ...school, email: 'carl', enable: false, inboundIds: [first] },
      { ...school, email: 'dora' },
    ]);
    t.deepEqual(lines(await reconcile({ ...changed, others: 'delete' }, '--apply')), [
      'delete carl',
      '1 steps done',
    ]);
    t.deepEqual(
      (await clients()).map(({ email }) => email),
      ['foreign', 'alone', 'ann', 'bob', 'dora'],
    );
  },
);

test.serial('a client that is off at its limit is no difference', async (t) => {
  const { panel, reconcile, first } = await setUp(t);
  await panel.addClient('ann', [first], { totalGB: 5, group: 'school' });
  await panel.get('/panel/api/clients/updateTraffic/ann', { body: { upload: 3, download: 3 } });
  t.false((await panel.get<{ enable: boolean }>('/panel/api/clients/get/ann')).enable);
  const file = { group: 'school', inboundIds: [first], clients: [{ email: 'ann', totalGB: 5 }] };
  t.deepEqual(lines(await reconcile(file)), ['nothing to do']);
});

test.serial(
  'a file with mistakes, or with clients of others, is refused by name and changes nothing',
  async (t) => {
    t.timeout(300_000);
    const { panel, reconcile, clients, first, env } = await setUp(t);
    await panel.addClient('foreign', [first], { group: 'others' });
    const before = await clients();
    const file = { group: 'school', inboundIds: [first], clients: [{ email: 'ann' }] };
    for (const [wrong, message] of [
      ['{"group":', /^the file is not valid JSON/],
      ['[]', /^the file must be an object/],
      [{ ...file, group: '' }, /^group must be the name of a group$/m],
      [{ ...file, inboundIds: [] }, /^inboundIds must be a list of ids/m],
      [{ ...file, inboundIds: ['1'] }, /^inboundIds must be a list of ids/m],
      [{ ...file, others: 'remove' }, /^others must be "disable" or "delete"$/m],
      [{ ...file, clients: { email: 'ann' } }, /^clients must be a list$/m],
      [{ ...file, client: [] }, /^client is not known; known are group, inboundIds, others, clients$/m],
      [
        { ...file, clients: [{ email: 'ann' }, { email: 'bob' }, { email: 'Ann' }] },
        /^clients\[2\]\.email is that of clients\[0\]: Ann$/m,
      ],
      [{ ...file, clients: [{ email: 'a b' }] }, /^clients\[0\]\.email must be text without spaces/m],
      [{ ...file, clients: [{}] }, /^clients\[0\]\.email must be text/m],
      [{ ...file, clients: ['ann'] }, /^clients\[0\] must be an object$/m],
      [{ ...file, clients: [{ email: 'ann', totalGb: 5 }] }, /^clients\[0\]\.totalGb is not known/m],
      [{ ...file, clients: [{ email: 'ann', totalGB: '5' }] }, /^clients\[0\]\.totalGB must be a number/m],
      [{ ...file, clients: [{ email: 'ann', expiryTime: -5 }] }, /^clients\[0\]\.expiryTime must be a time/m],
      [{ ...file, clients: Array(30).fill(5) }, /^clients\[19\] must be an object\nand 10 more$/m],
      [
        { ...file, clients: Array(10_001).fill(5) },
        /^clients has 10001 entries; at most 10000 are allowed$/m,
      ],
      ['x'.repeat(10 * 1024 * 1024 + 1), /has 10485761 bytes; at most 10485760 are allowed$/m],
      [
        { ...file, clients: [{ email: 'ann' }, { email: 'foreign' }] },
        /^not clients of "school", so nothing is changed:\nforeign is in the group "others"$/m,
      ],
      [{ ...file, inboundIds: [first, 999] }, /inbound/],
    ] as const) {
      const { code, stdout, stderr } = await reconcile(wrong, '--apply');
      t.is(code, 1, stdout);
      t.regex(stderr, message);
    }
    t.deepEqual(await clients(), before);
    t.regex((await runProgram(folder, ['dist/reconcile.js'], env)).stderr, /^name one file/);
    t.regex(
      (await runProgram(folder, ['dist/reconcile.js', 'gone.json'], env)).stderr,
      /^gone\.json cannot be read/,
    );
    const other = { ...env, WEIR_TOKEN: 'wrong' };
    await writeFile(join(folder, 'ok.json'), JSON.stringify(file));
    t.regex(
      (await runProgram(folder, ['dist/reconcile.js', 'ok.json'], other)).stderr,
      /^the panel refuses: .*\(ACCESS_WRONG_TOKEN, request [0-9a-f-]{36}\)$/m,
    );
  },
);
