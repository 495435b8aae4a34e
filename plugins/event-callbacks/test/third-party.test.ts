// Runs on every database in test:full.
// Events of other plugins, and a receiver as the README shows it.
import { readFile } from 'node:fs/promises';
import test from 'ava';
import acmeRenewals from '../../../examples/acme-renewals/index.js';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeClock } from '../../../test/harness/fake-clock.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { until } from '../../../test/harness/until.js';
import { duringClientSave } from '../../clients/contract.js';
import { callbackSource, CallbackSources } from '../contract.js';
import { clientOf, Receiver } from './receiver.js';

const PATH = '/panel/api/x/event-callbacks';

test('the example adds an event, and the receiver of the README takes it', async (t) => {
  const clock = new FakeClock(Date.now());
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], outside: [acmeRenewals], clock });
  await using receiver = await Receiver.start();
  const types = await panel.get<{ type: string }[]>(`${PATH}/events`);
  t.true(types.some(({ type }) => type === 'acme-renewals.renewed'));
  const { secret } = await panel.get<{ secret: string }>(`${PATH}/endpoints`, {
    body: { url: receiver.url, events: ['acme-renewals.*'], allowPrivate: true },
  });
  const inbound = await panel.addInbound();
  await panel.addClient('ann', [inbound], { expiryTime: clock.now() + 2_000, reset: 30 });
  clock.tick(10_000);
  await until(() => receiver.received.length === 1, 'the renewal arrives');
  const [received] = receiver.received;
  t.is(received?.json.type, 'acme-renewals.renewed');
  t.is(clientOf(received?.json)['email'], 'ann');

  const root = await sourceRoot();
  const file = new URL('examples/callback-receiver/verify.mjs', root);
  const readme = await readFile(new URL('plugins/event-callbacks/README.md', root), 'utf8');
  t.true(readme.includes((await readFile(file, 'utf8')).trim()), 'the README shows the file');
  const { verify } = (await import(file.href)) as {
    verify: (secret: string, headers: object, body: string, now?: number) => boolean;
  };
  if (!received) return t.fail();
  const { id, seconds, signature, body } = received;
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signature };
  const now = clock.now();
  t.true(verify(secret, headers, body, now));
  t.false(verify(secret, headers, `${body} `, now));
  t.false(verify(secret, { ...headers, 'webhook-id': 'msg_other' }, body, now));
  t.false(verify(`whsec_${Buffer.from('other').toString('base64')}`, headers, body, now));
  t.false(verify(secret, headers, body, now + 301_000), 'it is too old');
  t.false(verify(secret, {}, body, now));
  t.true(verify(secret, { ...headers, 'webhook-signature': `v1,AAAA ${signature}` }, body, now));
});

const source = (describe: () => Iterable<{ type: string; data: object }>) =>
  definePlugin({
    name: 'acme-odd',
    version: '1.0.0',
    api: 1,
    about: 'Describes badly.',
    contributes: () => [
      contribute(
        CallbackSources,
        callbackSource({ types: { 'acme-odd.saved': 'Saved.' }, hook: duringClientSave, describe }),
      ),
    ],
  });
const ODD: readonly [string, () => Iterable<{ type: string; data: object }>][] = [
  [
    'throws',
    () => {
      throw new Error('odd');
    },
  ],
  ['has a type of another', () => [{ type: 'client.created', data: {} }]],
  ['cannot be JSON', () => [{ type: 'acme-odd.saved', data: { n: 1n } }]],
  ['is no list', () => 7 as never],
];
for (const [what, describe] of ODD)
  test(`an event that ${what} is a fault of its plugin, and the change is saved`, async (t) => {
    await using panel = await TestPanel.boot({
      plugins: [new FakeEngine().plugin],
      outside: [source(describe)],
    });
    await using receiver = await Receiver.start();
    await panel.get(`${PATH}/endpoints`, {
      body: { url: receiver.url, events: ['*'], allowPrivate: true },
    });
    const inbound = await panel.addInbound();
    await panel.addClient('ann', [inbound]);
    await until(() => receiver.types().includes('client.created'), 'the event of the panel arrives');
    t.true(
      panel.faults.some((fault) => fault.includes('acme-odd')),
      panel.faults.join(),
    );
  });

test('an event that is too large arrives without its data', async (t) => {
  const large = source(() => [{ type: 'acme-odd.saved', name: 'big', data: { text: 'x'.repeat(70_000) } }]);
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [large] });
  await using receiver = await Receiver.start();
  await panel.get(`${PATH}/endpoints`, {
    body: { url: receiver.url, events: ['acme-odd.*'], allowPrivate: true },
  });
  await panel.addClient('ann', [await panel.addInbound()]);
  await until(() => receiver.received.length === 1, 'it arrives');
  t.like(receiver.received[0]?.json.data, { name: 'big' });
  t.true(Number(receiver.received[0]?.json.data['tooLarge']) > 70_000);
});

test('types of a third-party plugin begin with its name', async (t) => {
  const taken = definePlugin({
    name: 'acme-odd',
    version: '1.0.0',
    api: 1,
    about: 'Takes a name.',
    contributes: () => [
      contribute(
        CallbackSources,
        callbackSource({ types: { 'client.created': 'x' }, hook: duringClientSave, describe: () => [] }),
      ),
    ],
  });
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [taken],
    partial: true,
  });
  t.regex(
    panel.kernel.plugins().find(({ name }) => name === 'acme-odd')?.reason ?? '',
    /must begin with acme-odd\./,
  );
});
