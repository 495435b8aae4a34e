// Documents over HTTP: settings take effect at once, the agent chooses the version, clients without access get nothing.
import test from 'ava';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';

interface Document {
  readonly dns: { readonly servers: readonly { readonly address?: string; readonly type?: string }[] };
  readonly outbounds: readonly { readonly tag: string; readonly type: string }[];
}

test('a subscription of sing-box, from the settings to the body', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const update = (body: object) => panel.call('/panel/api/setting/update', { body });
  const settings = await panel.get<{ subSingBoxEnable: boolean; subSingBoxPath: string }>(
    '/panel/api/setting/all',
    { body: {} },
  );
  t.false(settings.subSingBoxEnable);
  t.regex(settings.subSingBoxPath, /^\/[a-z0-9]{16}\/$/);
  const ids = [await panel.addInbound({ remark: 'one' }), await panel.addInbound({ remark: 'one' })];
  const { subId } = await panel.addClient('ada', ids);
  const ask = (agent = '') =>
    fetch(`${panel.subscriptionUrl}/box/${subId}`, { headers: { 'user-agent': agent } });
  const read = async (agent?: string) => (await (await ask(agent)).json()) as Document;

  await update({ subSingBoxPath: '/box/', remarkTemplate: '{{INBOUND}}' });
  t.is((await ask()).status, 404, 'off at first');
  await update({ subSingBoxEnable: true });
  const answer = await ask();
  t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  const document = (await answer.json()) as Document;
  t.deepEqual(
    document.outbounds.map(({ tag }) => tag),
    ['proxy', 'auto', 'direct', 'one', 'one-2'],
  );
  t.is(document.dns.servers[0]?.type, 'https');
  t.is((await read('SFA/1.11.0 (1; sing-box 1.11.0)')).dns.servers[0]?.address, 'https://1.1.1.1/dns-query');

  const template = { outbounds: [{ type: 'selector', tag: 'mine', outbounds: ['{all}'] }] };
  await update({ subSingBoxTemplate: JSON.stringify(template) });
  t.deepEqual(
    (await read()).outbounds.map(({ tag }) => tag),
    ['mine', 'one', 'one-2'],
  );
  const refused = await update({ subSingBoxTemplate: '{"outbounds":[{}]}' });
  t.is(refused.status, 400);
  t.regex(refused.text, /outbounds\[0\]\.tag must be a text/);
  await update({ subSingBoxTemplate: '' });

  await panel.get('/panel/api/clients/bulkDisable', { body: { emails: ['ada'] } });
  t.deepEqual(
    (await read()).outbounds.map(({ type }) => type),
    ['selector', 'urltest', 'direct', 'block'],
  );
});
