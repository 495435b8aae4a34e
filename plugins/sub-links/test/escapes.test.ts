// Links as a client program reads them: whatever stands in names, paths and passwords, it gets back the same.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

/** encodeURIComponent leaves the first five alone; many parsers of links do not. */
const ODD = `!'()*`;
const ESCAPED = '%21%27%28%29%2A';

test('marks that encodeURIComponent leaves alone are escaped in every part of a link, and read back as they were', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const path = `/a${ODD}/b`;
  const stream = { network: 'ws', wsSettings: { path, host: 'cdn.example' } };
  const remark = `It's ${ODD}`;
  const trojan = await panel.addInbound({ protocol: 'trojan', remark, streamSettings: stream });
  const vless = await panel.addInbound({ remark: `(${ODD})`, streamSettings: stream });
  const password = `p${ODD} /?#@:%w`;
  const subId = `ann-${ODD}`;
  await panel.addClient('ann', [trojan, vless], { password, subId });
  await panel.get('/panel/api/setting/update', {
    body: {
      subPath: '/s/',
      subEncrypt: false,
      remarkTemplate: '{{INBOUND}}',
      subShowIdentityOnAllLinks: true,
    },
  });
  const answer = await fetch(`${panel.subscriptionUrl}/s/${encodeURIComponent(subId)}`);
  const links = (await answer.text()).trim().split('\n');
  t.is(links.length, 2);
  for (const link of links) {
    t.notRegex(link, /[!'()*]/, 'none of them stands in a link');
    t.true(link.includes(`path=%2Fa${ESCAPED}%2Fb&`), link);
    const url = new URL(link);
    t.is(url.searchParams.get('path'), path);
  }
  const [first = '', second = ''] = links;
  t.true(first.endsWith(`#It%27s%20${ESCAPED}`), first);
  t.true(second.endsWith(`#%28${ESCAPED}%29`), second);
  t.is(decodeURIComponent(new URL(first).username), password);
  t.true(first.startsWith(`trojan://p${ESCAPED}%20%2F%3F%23%40%3A%25w@`), first);
  t.deepEqual(await panel.get<string[]>('/panel/api/clients/links/ann'), links, 'a panel shows the same');
});

test('a link follows the name of its own client and entry, fetch by fetch', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const inbounds = [await panel.addInbound({ remark: 'one' }), await panel.addInbound({ remark: 'two' })];
  for (const email of ['ann', 'bob', 'eve']) await panel.addClient(email, inbounds, { subId: email });
  await panel.get('/panel/api/clients/update/eve', { body: { enable: false } });
  await panel.get('/panel/api/setting/update', {
    body: {
      subPath: '/s/',
      subEncrypt: false,
      remarkTemplate: '{{INBOUND}} {{EMAIL}}',
      subShowIdentityOnAllLinks: true,
    },
  });
  const names = (links: readonly string[]): string =>
    links.map((link) => decodeURIComponent(link.slice(link.indexOf('#') + 1))).join();
  const fetched = async (subId: string): Promise<string> =>
    names((await (await fetch(`${panel.subscriptionUrl}/s/${subId}`)).text()).trim().split('\n'));
  t.is(await fetched('ann'), 'one ann,two ann');
  t.is(await fetched('bob'), 'one bob,two bob');
  t.is(await fetched('ann'), 'one ann,two ann');
  t.is(
    names(await panel.get('/panel/api/inbounds/allLinks')),
    'one ann,two ann,one bob,two bob,one eve,two eve',
    'all of all, those that are off included',
  );
  t.is(names(await panel.get('/panel/api/clients/subLinks/eve')), 'one eve,two eve');
  t.deepEqual(await panel.get('/panel/api/clients/subLinks/nobody'), []);
  await panel.get('/panel/api/clients/update/ann', { body: { email: 'anna' } });
  t.is(await fetched('ann'), 'one anna,two anna');
});
