// What an admin does with a real core.
import test from 'ava';
import { openPanel } from '../../../test/engine/user.js';

interface Change {
  readonly kind: string;
  readonly name: string;
  readonly who: string;
  readonly fields: Readonly<Record<string, readonly [unknown, unknown]>>;
}

test('a restart, a stop, a download of the config and an override are recorded', async (t) => {
  const panel = await openPanel(t);
  await panel.addInbound();
  const changes = (area: string) => panel.get<Change[]>(`/panel/api/x/audit/changes?limit=50&area=${area}`);
  await panel.get('/panel/api/server/restartEngineService', { method: 'POST' });
  await panel.get('/panel/api/server/getConfigJson');
  await panel.get('/panel/api/engine/update', {
    body: {
      engineSetting: {
        outbounds: ['direct', 'other'].map((tag) => ({ tag, protocol: 'freedom' })),
        routing: {
          balancers: [{ tag: 'pool', selector: ['direct', 'other'] }],
          rules: [{ type: 'field', domain: ['full:pooled.example'], balancerTag: 'pool' }],
        },
      },
    },
  });
  await panel.get('/panel/api/engine/balancerOverride', { body: { tag: 'pool', target: 'other' } });
  await panel.get('/panel/api/server/stopEngineService', { method: 'POST' });
  t.deepEqual(
    (await changes('core')).map(({ name, kind, who }) => [name, kind, who]),
    [
      ['stop', 'done', 'admin'],
      ['restart', 'done', 'admin'],
    ],
  );
  t.is((await changes('download'))[0]?.name, 'config of the core');
  t.deepEqual((await changes('balancerOverride'))[0]?.fields, { target: ['', 'other'] });
  const { problems } = await panel.get<{ problems: string[] }>('/panel/api/x/audit/verify', {
    method: 'POST',
  });
  t.deepEqual(problems, []);
});
