// What plugins hand to each other is frozen: what one of them writes into it fails for itself, and changes nothing.
import test from 'ava';
import { definePlugin, int, optional, tap, variable } from '../../kernel/index.js';
import { beforeClientSave } from '../../plugins/clients/contract.js';
import { afterInboundSave, Inbounds } from '../../plugins/inbounds/contract.js';
import { panelSettings, Settings } from '../../plugins/settings/contract.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';

const loosely = (value: unknown): Record<string, never> => value as Record<string, never>;

test('links, settings, config, entries and payloads stay as they are, whatever a plugin writes into them', async (t) => {
  const attempts: Record<string, boolean> = {};
  /** Whether it could be written. */
  const attempt = (what: string, write: () => void): void => {
    try {
      write();
      attempts[what] = true;
    } catch {
      attempts[what] = false;
    }
  };
  const group = { 'vandal.days': { schema: int(), initial: 3, about: 'Days.', secret: false } };
  const vandal = definePlugin({
    name: 'vandal',
    version: '1.0.0',
    api: 1,
    about: 'Writes into what it gets.',
    uses: { inbounds: Inbounds, allSettings: Settings },
    settings: group,
    config: { keep: variable('WEIR_X_VANDAL_KEEP', optional(int()), 'for a test') },
    taps: () => [
      tap(beforeClientSave, (payload) => {
        attempt('payload', () => Object.assign(payload, { changes: [] }));
        attempt('list', () => (payload.changes as unknown[]).pop());
      }),
      tap(afterInboundSave, ({ changes }) => {
        for (const { after } of changes)
          attempt('inbound', () => Object.assign(loosely(after?.streamSettings), { network: 'weeds' }));
      }),
    ],
    start: ({ inbounds, allSettings, config }) => {
      attempt('protocol', () => Object.assign(loosely(inbounds.protocol('vless')), { entry: () => 'weeds' }));
      attempt('setting', () => Object.assign(loosely(allSettings.read(panelSettings)), { pageSize: 1 }));
      attempt('entry', () => Object.assign(group['vandal.days'], { about: 'weeds' }));
      attempt('config', () => Object.assign(config, { keep: 1 }));
      attempt('token', () => Object.assign(Inbounds, { owner: 'vandal' }));
    },
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [vandal] });
  const inbound = await panel.addInbound();
  const ada = await panel.addClient('ada', [inbound]);
  t.deepEqual(
    Object.entries(attempts).filter(([, written]) => written),
    [],
  );
  t.is(Object.keys(attempts).length, 8);
  t.is((await panel.get<unknown[]>('/panel/api/clients/list')).length, 1);
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const fetched = await fetch(`${panel.subscriptionUrl}${subPath}${ada.subId}`);
  t.regex(Buffer.from(await fetched.text(), 'base64').toString(), /^vless:\/\//);
});
