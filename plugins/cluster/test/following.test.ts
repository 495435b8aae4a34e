// Runs on every database in test:full.
// What one panel changes is seen by the other one within a second, and nothing that was acknowledged is missed.
import anyTest, { type TestFn } from 'ava';
import { onSqlite } from '../../../test/harness/database.js';
import type { PanelProcess } from '../../../test/harness/panel-process.js';
import { Panels } from './two-panels.js';

/** Two panels for the tests that kill none. */
const test = anyTest as TestFn<{ panels: Panels; a: PanelProcess; b: PanelProcess }>;
const onServer = onSqlite ? test.skip : test.serial;
test.before(async (t) => {
  if (onSqlite) return;
  const panels = await Panels.open();
  t.context = { panels, a: await panels.start('a'), b: await panels.start('b') };
});
test.after.always(async (t) => t.context.panels?.[Symbol.asyncDispose]());

/** Fewer plugins start faster. */
const SMALL = { WEIR_PRESET: 'minimal' };
/** Refused, because the other panel changed the same at the same moment. */
const isBusy = (error: unknown): boolean => /DATABASE_BUSY|same moment/.test(String(error));
const remarks = async (panel: PanelProcess): Promise<string[]> =>
  (await panel.get<{ remark: string }[]>('/panel/api/inbounds/list')).map(({ remark }) => remark);
const subscription = async (panel: PanelProcess, subId: string): Promise<string> => {
  const answer = await fetch(`${panel.ready.subUrl}${subId}`);
  return answer.ok ? Buffer.from(await answer.text(), 'base64').toString() : '';
};

onServer('an edit in one panel is seen in the other one: list, subscription, settings', async (t) => {
  const { a, b } = t.context;
  const inbound = await a.addInbound({ remark: 'shared' });
  await b.until(async () => (await remarks(b)).includes('shared'), 'the other panel has the inbound');
  const ada = await b.addClient('ada', [inbound]);
  await a.until(
    async () => (await subscription(a, ada.subId)).includes(ada.uuid),
    'the first panel serves the subscription',
  );
  t.true((await subscription(b, ada.subId)).includes(ada.uuid));
  await a.get('/panel/api/clients/update/ada', { body: { ...ada, comment: 'changed in a' } });
  await b.until(
    async () => (await b.get<{ comment: string }>('/panel/api/clients/get/ada')).comment === 'changed in a',
    'the change of the client is in the other panel',
  );
  await a.get('/panel/api/clients/del/ada', { body: {} });
  await b.until(async () => (await subscription(b, ada.subId)) === '', 'its subscription ends there');
});

onServer('sessions and API tokens of one panel are those of the other one', async (t) => {
  const { a, b } = t.context;
  const { token } = await a.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
    body: { name: 'robot' },
  });
  const asks = (panel: PanelProcess, headers: Record<string, string>) =>
    panel.call('/panel/api/inbounds/list', { anonymous: true, headers }).then(({ status }) => status);
  await b.until(
    async () => (await asks(b, { authorization: `Bearer ${token}` })) === 200,
    'the token is known to the other panel',
  );
  t.is(await asks(b, { cookie: a.cookie }), 200);
  const { cookie } = a;
  await a.call('/logout', { method: 'POST' });
  await b.until(async () => (await asks(b, { cookie })) === 401, 'the session has ended in the other panel');
  await a.login();
});

onServer('nothing that a killed panel has acknowledged is lost or missed', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', SMALL), await panels.start('b', SMALL)];
  const acknowledged: string[] = [];
  let isKilled = false;
  const edits = (async () => {
    for (let i = 0; !isKilled; i++) {
      await a.addInbound({ remark: `i${i}` }).then(
        () => acknowledged.push(`i${i}`),
        (error: unknown) => {
          if (!isBusy(error)) throw error;
        },
      );
      // The other one writes in between, so both wait for each other's turns.
      if (i === 5) void a.kill('SIGKILL').then(() => (isKilled = true));
    }
  })().catch(() => undefined);
  const own: string[] = [];
  for (let i = 0; i < 8; i++) {
    await b.addInbound({ remark: `b${i}` }).then(
      () => own.push(`b${i}`),
      (error: unknown) => t.true(isBusy(error), String(error)),
    );
  }
  await edits;
  t.true(acknowledged.length > 0 && own.length > 0);
  await b.until(async () => {
    const seen = new Set(await remarks(b));
    return [...acknowledged, ...own].every((remark) => seen.has(remark));
  }, 'all that was acknowledged is in the other panel');
  const stored = await panels.query<{ remark: string }>('SELECT remark FROM inbounds ORDER BY id');
  t.deepEqual(
    await remarks(b),
    stored.map(({ remark }) => remark),
  );
});

onServer('a panel that cannot follow starts again and has everything', async (t) => {
  await using panels = await Panels.open();
  const [a, b] = [await panels.start('a', SMALL), await panels.start('b', SMALL)];
  await a.addInbound({ remark: 'first' });
  await b.until(async () => (await remarks(b)).includes('first'), 'the other panel has the inbound');
  b.signal('SIGSTOP');
  await a.addInbound({ remark: 'second' });
  await panels.query('DELETE FROM cluster_changes');
  b.signal('SIGCONT');
  await b.until(() => b.starts === 2, 'it starts again', 60_000);
  await b.login();
  t.deepEqual(await remarks(b), ['first', 'second']);
});

onServer('late commits are not missed: a write that waits long with its number', async (t) => {
  const { panels, a, b } = t.context;
  const id = await a.addInbound({ remark: 'held' });
  const { createConnection } = await import('mysql2/promise');
  const other = await createConnection(panels.url);
  t.teardown(() => other.end());
  // Another program holds a row that the next write of a needs after it has its number.
  await other.query('START TRANSACTION');
  await other.query("SELECT * FROM inbounds WHERE remark = 'held' FOR UPDATE");
  const late = a.get(`/panel/api/inbounds/setEnable/${id}`, { body: { enable: false } });
  const next = b.addInbound({ remark: 'second' });
  await other.query('COMMIT');
  await other.end();
  await late;
  await next.catch((error: unknown) => t.true(isBusy(error), String(error)));
  await b.until(
    async () =>
      (await b.get<{ id: number; enable: boolean }[]>('/panel/api/inbounds/list')).some(
        (inbound) => inbound.id === id && !inbound.enable,
      ),
    'the late change is in the other panel',
  );
  t.pass();
});

onServer('a block after failed logins counts in the other panel', async (t) => {
  const { a, b } = t.context;
  const guess = (panel: PanelProcess) =>
    panel
      .call('/login', { body: { username: 'nobody', password: 'wrong wrong' }, anonymous: true })
      .then(({ status }) => status);
  await a.until(async () => (await guess(a)) === 429, 'the first panel blocks');
  await b.until(async () => (await guess(b)) === 429, 'the other panel blocks as well');
  t.pass();
});
