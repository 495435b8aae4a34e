// The paged list after edits: its order by email and what a search finds follow at once, and a restart shows the same.
import test from 'ava';
import { FakeClock, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const API = '/panel/api/clients';

async function boot(dataDirectory?: string) {
  const panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    clock: new FakeClock(),
    ...(dataDirectory !== undefined && { dataDirectory }),
  });
  const emails = async (query: string): Promise<string> => {
    const { items } = await panel.get<{ items: { email: string }[] }>(`${API}/list/paged?${query}`);
    return items.map(({ email }) => email).join();
  };
  const edit = (email: string, body: object) => panel.get(`${API}/update/${email}`, { body });
  return { panel, emails, edit };
}

test('the order by email and the search follow each edit, also after a restart', async (t) => {
  const { panel, emails, edit } = await boot();
  t.teardown(() => panel[Symbol.asyncDispose]());
  const inboundId = await panel.addInbound();
  // All credentials are given: random ones sometimes contain what a search looks for.
  for (const email of ['mona', 'ben', 'Zoe', 'dan'])
    await panel.addClient(email, [inboundId], {
      subId: `#${email}#`,
      password: `$${email}$`,
      auth: `+${email}+`,
    });
  const ascending = () => emails('sort=email&order=ascend');
  const descending = () => emails('sort=email&order=descend');
  t.is(await ascending(), 'ben,dan,mona,Zoe');
  t.is(await emails('search=ben'), 'ben');
  t.is(await emails('search=tea'), '');

  await edit('ben', { email: 'Yan', subId: '#y#', password: '$y$', auth: '+y+' });
  t.is(await ascending(), 'dan,mona,Yan,Zoe', 'towards the end');
  t.is(await descending(), 'Zoe,Yan,mona,dan');
  t.is(await emails('search=ben'), '', 'nobody has the old name');
  t.is(await emails('search=yan'), 'Yan');
  await edit('Zoe', { email: 'adam' });
  t.is(await ascending(), 'adam,dan,mona,Yan', 'towards the beginning');
  await edit('dan', { email: 'DAN' });
  t.is(await ascending(), 'adam,DAN,mona,Yan', 'case alone moves nobody');
  await edit('mona', { comment: 'likes Tea' });
  t.is(await emails('search=tea'), 'mona');
  t.is(await emails('search=4711'), '');
  await edit('adam', { comment: 'tea, too', tgId: 4711 });
  t.is(await emails('search=4711'), 'adam');
  t.is(await emails('search=tea&sort=email'), 'adam,mona');
  await edit('mona', { comment: '' });
  t.is(await emails('search=tea'), 'adam');
  await panel.get(`${API}/del/DAN`, { method: 'POST' });
  t.is(await ascending(), 'adam,mona,Yan');
  t.is(await emails('sort=id'), 'mona,Yan,adam', 'by id nothing moved');

  await panel.stop();
  const next = await boot(panel.dataDirectory);
  t.teardown(() => next.panel.stop());
  t.is(await next.emails('sort=email'), 'adam,mona,Yan');
  t.is(await next.emails('search=tea'), 'adam');
  // What was renamed is found and taken by its new name alone.
  await next.edit('yan', { email: 'ben' });
  t.is(await next.emails('sort=email'), 'adam,ben,mona');
});

test('a list sorted by traffic or last edit follows polls and edits', async (t) => {
  const engine = new FakeEngine();
  const clock = new FakeClock();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin], clock });
  const inboundId = await panel.addInbound();
  const ids: number[] = [];
  for (const email of ['a', 'b', 'c'])
    ids.push((await panel.addClient(email, [inboundId], { totalGB: 10_000 })).id);
  const order = async (sort: string): Promise<string> => {
    const page = await panel.get<{ items: { email: string }[] }>(`${API}/list/paged?sort=${sort}`);
    return page.items.map(({ email }) => email).join('');
  };
  const move = async (client: number, up: number, down: number): Promise<void> => {
    engine.move(inboundId, ids[client] as number, up, down);
    clock.tick(5000);
    await panel.kernel.settled();
  };
  t.is(await order('traffic'), 'abc');
  t.is(await order('remaining'), 'abc');
  await move(0, 10, 500);
  t.is(await order('traffic'), 'bca');
  t.is(await order('remaining'), 'abc');
  await move(1, 600, 20);
  t.is(await order('traffic'), 'cab');
  t.is(await order('remaining'), 'bac');
  t.is(await order('lastOnline'), 'cab');
  await panel.get(`${API}/resetTraffic/a`, { method: 'POST' });
  t.is(await order('traffic'), 'acb');
  await panel.get(`${API}/update/b`, { body: { totalGB: 0 } });
  t.is(await order('remaining'), 'acb', 'no limit is more than any');
});
