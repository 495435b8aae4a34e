import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface Linked {
  readonly encryptedLink: string;
}
let panel: TestPanel;
let id: number;

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  ({ id } = await panel.addClient('ann', [await panel.addInbound()], { subId: 'sub' }));
});
test.after.always(() => panel[Symbol.asyncDispose]());

const ask = (client: number | string = id) =>
  panel.call<Linked>(`/panel/api/clients/appLink/${client}`, { method: 'POST' });
const set = (values: object) => panel.get('/panel/api/setting/update', { body: values });

test.serial('it is off on a fresh panel, and the refusal says how to switch it on', async (t) => {
  const { status, body } = await ask();
  t.is(status, 409);
  t.like(body, { success: false, code: 'APP_LINK_OFF' });
  t.regex(body.msg, /set appLinkEnable/);
  t.like(await panel.get('/panel/api/setting/defaultSettings', { method: 'POST' }), { appLinkEnable: false });
});

test.serial('once it is on, each call gives another link to the same address', async (t) => {
  await set({ appLinkEnable: true, subURI: 'https://example.com/' });
  t.like(await panel.get('/panel/api/setting/defaultSettings', { method: 'POST' }), { appLinkEnable: true });
  const [one, two] = [await ask(), await ask()];
  t.is(one.headers.get('cache-control'), 'no-store');
  // The length for https://example.com/sub.
  t.deepEqual(
    [one, two].map(({ body }) => body.obj.encryptedLink.length),
    [795, 795],
  );
  t.not(one.body.obj.encryptedLink, two.body.obj.encryptedLink);
  await set({ subURI: 'https://example.com/123/' });
  t.is((await ask()).body.obj.encryptedLink.length, 803);
});

test.serial('without a public URL it is that of the host that was asked', async (t) => {
  await set({ subURI: '' });
  t.true((await ask()).body.obj.encryptedLink.length > 795);
});

test.serial('a client that is not there and switched-off subscriptions are refused', async (t) => {
  t.like((await ask(999_999)).body, { code: 'CLIENTS_NOT_FOUND', success: false });
  t.is((await ask(0)).status, 400);
  await set({ subEnable: false });
  const { status, body } = await ask();
  t.is(status, 409);
  t.regex(body.msg, /set subEnable/);
});
