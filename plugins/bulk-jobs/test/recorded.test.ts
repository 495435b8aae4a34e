// A job is one thing in the record of changes, not thousands; the hooks of clients see each of them.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { duringClientSave } from '../../clients/contract.js';
import { until } from '../../../test/harness/index.js';
import { addClients, boot, ended, Gate, JOBS, run, start, type Started } from './world.js';

interface Change {
  readonly area: string;
  readonly kind: string;
  readonly who: string;
  readonly whoKind: string;
  readonly ip: string;
  readonly name: string;
  readonly subject: string;
  readonly fields: Record<string, unknown>;
}

test('one beginning and one end, by whom it was; none for each client', async (t) => {
  let seen = 0;
  const hooked = definePlugin({
    name: 'hooked',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    taps: () => [
      tap(duringClientSave, ({ changes, who }) => {
        seen += changes.filter(({ kind }) => kind === 'updated' && who.name === 'admin').length;
      }),
    ],
  });
  const { panel, inbound } = await boot(t, [hooked]);
  await addClients(panel, inbound, 700);
  const audit = () => panel.get<Change[]>('/panel/api/x/audit/changes?limit=10');
  const job = await run(panel, { action: 'disable', filter: { search: 'c0' } });
  t.is(seen, 700);
  const [end, begin, before] = await audit();
  t.is(before?.area, 'client', 'the last client that was created');
  t.like(begin, { area: 'clientJob', kind: 'added', who: 'admin', whoKind: 'session', subject: `${job.id}` });
  t.is(begin?.name, 'disable: 700 clients');
  t.like(begin?.fields, { action: [null, 'disable'], total: [null, 700], 'filter.search': [null, 'c0'] });
  t.like(end, { area: 'clientJob', kind: 'updated', who: 'admin', whoKind: 'session', ip: begin?.ip });
  t.like(end?.fields, { state: ['running', 'done'], changed: [null, 700] });

  // A single edit after it is recorded as before.
  await panel.get('/panel/api/clients/bulkEnable', { body: { emails: ['c000000'] } });
  t.like((await audit())[0], { area: 'client', kind: 'updated', name: 'c000000' });
});

test('a stop and a retry are recorded', async (t) => {
  const gate = new Gate();
  const { panel, inbound } = await boot(t, [gate.plugin]);
  await addClients(panel, inbound, 600);
  gate.arrived = 0;
  gate.passes = 0;
  const { id } = await start(panel, { action: 'disable', filter: {} });
  await until(() => gate.arrived === 1, 'the first portion');
  await panel.get(`${JOBS}/${id}/stop`, { method: 'POST' });
  gate.passes = Infinity;
  await ended(panel, id);
  const retry = await panel.get<Started>(`${JOBS}/${id}/retry`, { method: 'POST' });
  await ended(panel, retry.id);
  const changes = await panel.get<Change[]>('/panel/api/x/audit/changes?limit=10&area=clientJob');
  t.deepEqual(
    changes
      .reverse()
      .map(({ kind, subject, fields }) => [kind, Number(subject), fields['state'], fields['retryOf']]),
    [
      ['added', id, undefined, undefined],
      ['updated', id, ['running', 'stopping'], undefined],
      ['updated', id, ['stopping', 'stopped'], undefined],
      ['added', retry.id, undefined, [null, id]],
      ['updated', retry.id, ['running', 'done'], undefined],
    ],
  );
});
