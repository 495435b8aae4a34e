// With a real core: what a removed client has open ends, and what others have open goes on.
import test, { type ExecutionContext } from 'ava';
import { MIB, connect, openPanel, openServer, type User } from '../../../test/engine/user.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Sockets } from '../sockets.js';

const RATE = MIB;
/** Far more than flows while a test runs. */
const ENDLESS = 600 * MIB;
/** with what a busy machine adds */
const TWO_POLLS_MS = 11_000;

const streams: Readonly<Record<string, object>> = {
  tcp: { network: 'tcp' },
  ws: { network: 'ws', wsSettings: { path: '/w' } },
};

/** A download without an end; its client program may not notice at once that it was cut off, so whether it was is asked of the server. */
interface Flow {
  soFar: number;
}
function flow(user: User): Flow {
  const state: Flow = { soFar: 0 };
  void user.download(ENDLESS, { rate: RATE, onBytes: (now) => (state.soFar = now) }).catch(() => undefined);
  return state;
}

async function mayCut(t: ExecutionContext): Promise<boolean> {
  const hindrance = await new Sockets().hindrance();
  if (hindrance) t.log(`left out: ${hindrance}`);
  return hindrance === '';
}

async function goesOn(panel: PanelProcess, state: Flow, what: string): Promise<void> {
  const before = state.soFar;
  await panel.until(() => state.soFar > before + MIB / 2, what);
}

const openConnections = async (panel: PanelProcess, id: number) =>
  (
    await panel.get<{ openConnections: { end: boolean; reason: string; ended: number; missed: number } }>(
      `/panel/api/inbounds/get/${id}`,
    )
  ).openConnections;

for (const [name, streamSettings] of Object.entries(streams)) {
  test(`over ${name}, a client that is switched off, deleted or depleted is cut within two polls, and nobody else`, async (t) => {
    if (!(await mayCut(t))) return t.pass();
    const server = await openServer(t);
    const panel = await openPanel(t);
    const id = await panel.addInbound({ streamSettings });
    const emails = ['stays', 'disabled', 'deleted', 'depleted'];
    for (const email of emails) await panel.addClient(email, [id]);
    const users = new Map<string, User>();
    for (const email of emails) users.set(email, await connect(t, panel, email, server));
    const flows = new Map([...users].map(([email, user]) => [email, flow(user)]));
    const soFar = (email: string): number => flows.get(email)?.soFar ?? 0;
    await panel.until(() => emails.every((email) => soFar(email) > 0), 'all of them transfer');
    t.is(server.giving, emails.length);

    const removals: Record<string, () => Promise<unknown>> = {
      disabled: () => panel.get('/panel/api/clients/update/disabled', { body: { enable: false } }),
      deleted: () => panel.get('/panel/api/clients/del/deleted', { method: 'POST' }),
      // Found by a poll; the next one is the second.
      depleted: () =>
        panel.get('/panel/api/clients/update/depleted', { body: { totalGB: soFar('depleted') + MIB } }),
    };
    for (const [removed, remove] of Object.entries(removals)) {
      await remove();
      flows.delete(removed);
      await panel.until(
        () => server.giving === flows.size,
        `the transfer of the one who is ${removed} ends`,
        TWO_POLLS_MS,
      );
      for (const [email, state] of flows)
        await goesOn(panel, state, `the transfer of the one who is not ${removed} but ${email} goes on`);
      t.is(server.giving, flows.size);
      t.false(await users.get(removed)?.served(), `${removed}: no new connection either`);
    }
    t.deepEqual(await openConnections(panel, id), { end: true, reason: '', ended: 3, missed: 0 });
  });
}

test('with the setting off what is open runs out, and it is said; what is opened after it was switched on ends', async (t) => {
  if (!(await mayCut(t))) return t.pass();
  const server = await openServer(t);
  const panel = await openPanel(t);
  await panel.get('/panel/api/setting/update', { body: { engineCutConnections: false } });
  const id = await panel.addInbound();
  for (const email of ['a', 'b']) await panel.addClient(email, [id]);
  const [a, b] = [await connect(t, panel, 'a', server), await connect(t, panel, 'b', server)];
  const first = flow(a);
  await panel.until(() => first.soFar > 0, 'it transfers');
  await panel.get('/panel/api/clients/update/a', { body: { enable: false } });
  t.like(await openConnections(panel, id), {
    end: false,
    reason: 'the setting engineCutConnections is off',
    ended: 0,
  });
  await panel.until(() => first.soFar > 8 * MIB, 'it goes on past a poll');

  await panel.get('/panel/api/setting/update', { body: { engineCutConnections: true } });
  const second = flow(b);
  await panel.until(() => second.soFar > 0, 'the other transfers');
  t.is(server.giving, 2);
  await panel.get('/panel/api/clients/update/b', { body: { enable: false } });
  await panel.until(() => server.giving === 1, 'it ends');
  await goesOn(panel, first, 'one that nobody knew of goes on');
});

test.serial('a panel that takes a running core over knows from its log who is connected', async (t) => {
  if (!(await mayCut(t))) return t.pass();
  const server = await openServer(t);
  const first = await openPanel(t);
  const id = await first.addInbound();
  for (const email of ['a', 'b']) await first.addClient(email, [id]);
  const a = flow(await connect(t, first, 'a', server));
  const b = flow(await connect(t, first, 'b', server));
  await first.until(() => a.soFar > 0 && b.soFar > 0, 'both transfer');
  await first.kill('SIGKILL');
  const second = await openPanel(t, { dataDirectory: first.dataDirectory });
  t.truthy(second.said('a running core was found and taken over'));
  t.is(server.giving, 2);
  await second.get('/panel/api/clients/update/a', { body: { enable: false } });
  await second.until(() => server.giving === 1, 'a connection from before ends');
  await goesOn(second, b, 'the other goes on');
});
