// The log of a real core, as an admin sees it.
import test from 'ava';
import { connect, openPanel, openServer } from '../../../test/engine/user.js';

interface Entry {
  readonly DateTime: string;
  readonly FromAddress: string;
  readonly ToAddress: string;
  readonly Inbound: string;
  readonly Outbound: string;
  readonly Email: string;
  readonly Event: number;
}

test('connections have the emails of clients, and are filtered', async (t) => {
  // The server of the test is on loopback.
  const [panel, server] = [await openPanel(t), await openServer(t)];
  const inboundId = await panel.addInbound();
  const log = (count: number, body: object = {}) =>
    panel.get<Entry[]>(`/panel/api/server/enginelogs/${count}`, { body });
  t.deepEqual(await log(10), []);
  await panel.addClient('Ann@example.com', [inboundId]);
  await panel.addClient('ben', [inboundId]);
  const begun = Date.now();
  for (const email of ['Ann@example.com', 'ben', 'ben'])
    await (await connect(t, panel, email, server)).download(1000);
  await panel.until(async () => (await log(10)).length === 3, 'three connections are in the log');

  const entries = await log(10);
  t.deepEqual(
    entries.map(({ Email, Event, Outbound }) => [Email, Event, Outbound]),
    [
      ['Ann@example.com', 0, 'direct'],
      ['ben', 0, 'direct'],
      ['ben', 0, 'direct'],
    ],
  );
  const [first] = entries;
  t.is(first?.ToAddress, `tcp:${server.host}:${server.port}`);
  t.regex(first?.FromAddress ?? '', /^127\.0\.0\.1:\d+$/);
  const [{ tag = '' } = {}] = await panel.get<{ tag?: string }[]>('/panel/api/inbounds/list');
  t.is(first?.Inbound, tag);
  const at = Date.parse(first?.DateTime ?? '');
  t.true(at >= begun - 1000 && at <= Date.now(), first?.DateTime);

  t.deepEqual(await log(2), entries.slice(1), 'the last ones, oldest first');
  t.deepEqual(await log(10, { filter: 'ANN@' }), entries.slice(0, 1));
  t.deepEqual(await log(10, { filter: 'nobody' }), []);
  t.deepEqual(await log(10, { showDirect: false }), []);
  t.is((await log(10, { showBlocked: false, showProxy: false })).length, 3);
  const form = await panel.call('/panel/api/server/enginelogs/10', {
    rawBody: 'filter=ben&showBlocked=false&showDirect=true',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.deepEqual(form.body.obj, entries.slice(1));

  await panel.get('/panel/api/clients/del/ben', { method: 'POST' });
  const [, deleted] = await log(10);
  t.regex(deleted?.Email ?? '', /^i\d+\.c\d+$/, 'a deleted client has the name that the core knows');
  for (const count of ['0', '-1', '10001', 'x'])
    t.is((await panel.call(`/panel/api/server/enginelogs/${count}`, { body: {} })).status, 400, count);
  t.is((await panel.call('/panel/api/server/enginelogs/10', { body: { showDirect: 'maybe' } })).status, 400);
  t.is(
    (await panel.call('/panel/api/server/enginelogs/10', { method: 'POST' })).status,
    200,
    'without a body',
  );
});
