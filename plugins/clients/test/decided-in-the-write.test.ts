// Runs on every database.
// Edits are planned before their transaction. What a poll or another call writes until then is not undone.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { beforeClientSave } from '../contract.js';

const engine = new FakeEngine();
const clock = new FakeClock();
/** what happens between the plan of the next edit and its transaction */
let meanwhile: (() => Promise<unknown>) | undefined;
const gate = definePlugin({
  name: 'gate',
  version: '0.0.1',
  api: 1,
  about: 'Does something else before a write.',
  taps: () => [
    tap(beforeClientSave, async () => {
      const work = meanwhile;
      meanwhile = undefined;
      await work?.();
    }),
  ],
});
let panel: TestPanel;
let inboundId = 0;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [engine.plugin, gate], clock });
  inboundId = await panel.addInbound();
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

interface Shown {
  readonly enable: boolean;
  readonly traffic: { readonly up: number; readonly enable: boolean };
}
const post = (path: string, body: object = {}) =>
  panel.get(`/panel/api/clients/${path}`, { method: 'POST', body });
const get = (email: string): Promise<Shown> => panel.get(`/panel/api/clients/get/${email}`);
const disable = (email: string) => post('bulkDisable', { emails: [email] });
const poll = async (): Promise<void> => {
  clock.tick(5000);
  await panel.kernel.settled();
};
/** A client that its quota of 100 bytes disabled. */
async function depleted(email: string): Promise<string> {
  const { id } = await panel.addClient(email, [inboundId], { totalGB: 100 });
  engine.move(inboundId, id, 100, 100);
  await poll();
  return `i${inboundId}.c${id}`;
}

test.serial('an admin disables a client while it renews: it stays disabled', async (t) => {
  const { id } = await panel.addClient('renews', [inboundId], { expiryTime: clock.now() + 1000 });
  await poll();
  await post('update/renews', { reset: 30 });
  meanwhile = poll;
  await disable('renews');
  t.false((await get('renews')).enable);
  t.false(engine.users.has(`i${inboundId}.c${id}`));
});

test.serial('an admin disables a client while another raises its quota: it stays disabled', async (t) => {
  const user = await depleted('raised');
  meanwhile = () => disable('raised');
  await post('update/raised', { totalGB: 1000 });
  t.false((await get('raised')).enable);
  t.false(engine.users.has(user));
});

test.serial(
  'an admin disables clients while the counters of all are reset: they stay disabled',
  async (t) => {
    await depleted('reset');
    meanwhile = () => disable('reset');
    await post('resetAllTraffics');
    t.like(await get('reset'), { enable: false, traffic: { up: 0 } });
    // A reset by name enables it, whoever disabled it.
    await post('resetTraffic/reset');
    t.true((await get('reset')).enable);
  },
);

test.serial(
  'a client reaches its quota while it gets a larger one, or is reset: it is enabled',
  async (t) => {
    const { id } = await panel.addClient('late', [inboundId], { totalGB: 100 });
    const use = async (): Promise<void> => {
      engine.move(inboundId, id, 1000, 0);
      await poll();
    };
    meanwhile = use;
    await post('update/late', { totalGB: 1500 });
    t.like(await get('late'), { enable: true, traffic: { up: 1000 } });
    meanwhile = use;
    await post('resetAllTraffics');
    t.like(await get('late'), { enable: true, traffic: { up: 0 } });
    t.true(engine.users.has(`i${inboundId}.c${id}`));
  },
);
