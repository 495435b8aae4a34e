// The addresses of a client's subscription: each of them is served.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

interface Address {
  readonly format: string;
  readonly url: string;
}

test('the URLs of a subscription lead to it, the standard format first', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const { subId } = await panel.addClient('ann', [await panel.addInbound()]);
  const found = await panel.get<Address[]>('/panel/api/x/subscription/urls/ann');
  t.is(found[0]?.format, 'links');
  t.true(found.every(({ url }) => url.startsWith(`${panel.subscriptionUrl}/`) && url.endsWith(`/${subId}`)));
  const [links] = await panel.get<string[]>('/panel/api/clients/links/ann');
  const body = await (await fetch(found[0]?.url ?? '')).text();
  t.true(
    Buffer.from(body, 'base64')
      .toString()
      .startsWith(links?.split('#')[0] ?? 'none'),
  );
  t.is((await panel.call('/panel/api/x/subscription/urls/nobody')).body.code, 'CLIENTS_NOT_FOUND');
  await panel.get('/panel/api/setting/update', { body: { subURI: 'https://sub.example.org/s/' } });
  const [public_] = await panel.get<Address[]>('/panel/api/x/subscription/urls/ann');
  t.is(public_?.url, `https://sub.example.org/s/${subId}`);
});
