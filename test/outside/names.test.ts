// What a third-party plugin may call its settings, its connections and the rest that only a whole panel checks.
import test from 'ava';
import {
  definePlugin,
  contribute,
  int,
  message,
  type Plugin,
  route,
  singleton,
  Upgrades,
  setting,
  type LiveSettings,
} from '../../kernel/index.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';

const boot = (plugin: Plugin) => TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [plugin] });
const part = { version: '1.0.0', api: 1, about: 'For a test.' } as const;
const group = { 'oven.heat': setting(int().min(1), 180, 'degrees') } as const;

class Oven {
  readonly heat: () => number;
  constructor({ settings }: { settings: LiveSettings<typeof group> }) {
    this.heat = () => settings.read()['oven.heat'];
  }
}

test('a setting bears the name of its plugin, and is served and changed with all others', async (t) => {
  await using panel = await boot(
    definePlugin({
      ...part,
      name: 'oven',
      settings: group,
      services: { oven: singleton(Oven) },
      routes: ({ oven }) => [
        route({
          method: 'GET',
          path: '/panel/api/x/oven/heat',
          doc: 'x',
          reply: message(),
          handle: () => String(oven.heat()),
        }),
      ],
    }),
  );
  t.is((await panel.call('/panel/api/x/oven/heat')).body.msg, '180');
  t.true((await panel.call('/panel/api/setting/update', { body: { 'oven.heat': 200 } })).body.success);
  t.is((await panel.call('/panel/api/x/oven/heat')).body.msg, '200');
  t.is((await panel.call('/panel/api/setting/update', { body: { 'oven.heat': 0 } })).status, 400);
});

test('a setting without its name, and a connection at a path of others, are refused', async (t) => {
  const foreign = definePlugin({
    ...part,
    name: 'oven',
    settings: { heat: setting(int(), 1, 'x'), 'ovens.heat': setting(int(), 1, 'x') },
  });
  await t.throwsAsync(boot(foreign), {
    message:
      'plugin oven could not be built: the setting heat, ovens.heat must be called oven.…, because a third-party plugin can only use names with its own prefix',
  });
  const grabbing = definePlugin({
    ...part,
    name: 'oven',
    contributes: () => [contribute(Upgrades, { path: '/ws', open: () => undefined })],
  });
  await t.throwsAsync(boot(grabbing), {
    message:
      'plugin oven cannot add to kernel/upgrades: /ws is not below /panel/api/x/oven/ or /panel/x/oven/, the paths of a third-party plugin; move it there',
  });
});

test('a route of a third-party plugin needs a login unless it says otherwise', async (t) => {
  await using panel = await boot(
    definePlugin({
      ...part,
      name: 'oven',
      routes: () => [
        route({
          method: 'GET',
          path: '/panel/api/x/oven/door',
          doc: 'x',
          reply: message(),
          handle: () => 'open',
        }),
      ],
    }),
  );
  t.is((await panel.call('/panel/api/x/oven/door', { anonymous: true })).status, 401);
});
