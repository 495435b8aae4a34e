import test from 'ava';
import { definePlugin, maybe, type Plugin, token } from '../../kernel/index.js';
import { PluginError } from '../../kernel/plugin/error.js';
import { orderPlugins } from '../order.js';
import { findPlugins } from '../find-plugins.js';

const plugin = (name: string, uses: readonly string[] = [], wishes: readonly string[] = []): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'x',
    uses: Object.fromEntries([
      ...uses.map((owner) => [`use_${owner}`, token<object>(owner, 'Api')]),
      ...wishes.map((owner) => [`wish_${owner}`, maybe(token<object>(owner, 'Api'))]),
    ]) as Record<string, ReturnType<typeof token<object>>>,
  });
const order = (...plugins: Plugin[]) => orderPlugins(plugins).map(({ name }) => name);

test('orders a plugin after what it uses, else by name', (t) => {
  const all = [plugin('d', ['b', 'c']), plugin('b', ['a']), plugin('e'), plugin('c', ['a']), plugin('a')];
  t.deepEqual(order(...all), ['a', 'b', 'c', 'd', 'e']);
  t.deepEqual(order(...[...all].reverse()), ['a', 'b', 'c', 'd', 'e']);
  t.deepEqual(order(plugin('a', ['z']), plugin('z')), ['z', 'a']);
});

test('orders a plugin after optional dependencies that are present', (t) => {
  t.deepEqual(order(plugin('a', [], ['z']), plugin('z')), ['z', 'a']);
  t.deepEqual(order(plugin('a', [], ['z'])), ['a']);
});

test('prints a cycle as a path, without plugins that only lead to it', (t) => {
  t.throws(() => order(plugin('lead', ['a']), plugin('a', ['b']), plugin('b', ['c']), plugin('c', ['a'])), {
    instanceOf: PluginError,
    message: /in a circle: a → b → c → a;/,
  });
  t.throws(() => order(plugin('x', ['x'])), { message: /x → x/ });
  t.throws(() => order(plugin('x', [], ['y']), plugin('y', ['x'])), { message: /x → y → x/ });
});

test('names a missing plugin, which plugins need which token of it, and the fix', (t) => {
  t.throws(() => order(plugin('shop', ['bank'])), {
    instanceOf: PluginError,
    message: 'plugin shop needs bank/Api, but the plugin bank is not enabled; enable it or disable shop',
  });
});

test('names all missing plugins at once', (t) => {
  t.throws(() => order(plugin('shop', ['bank', 'till']), plugin('mill', ['river']), plugin('inn')), {
    instanceOf: PluginError,
    message: [
      'plugin shop needs bank/Api, but the plugin bank is not enabled; enable it; and till/Api, but the plugin till is not enabled; enable it or disable shop',
      'plugin mill needs river/Api, but the plugin river is not enabled; enable it or disable mill',
    ].join('\n'),
  });
});

test('leaves out the first third-party plugin whose dependency is missing', (t) => {
  const shop = { ...plugin('shop', ['bank']), outside: true };
  const error = t.throws(() => order(plugin('inn'), shop, { ...plugin('mill', ['river']), outside: true }), {
    instanceOf: PluginError,
    message: /^plugin shop needs bank\/Api[^\n]*$/,
  });
  t.is(error?.culprit, shop);
});

test('rejects a plugin for another kernel, and two with one name', (t) => {
  t.throws(() => order({ ...plugin('old'), api: 0 }), {
    instanceOf: PluginError,
    message: 'plugin old was written for kernel contract 0; this kernel has 1',
  });
  t.throws(() => order(plugin('twin'), plugin('twin')), {
    instanceOf: PluginError,
    message: 'two plugins are called twin',
  });
});

test('tokens of the kernel need no plugin', (t) => {
  t.deepEqual(order(plugin('a', ['kernel'])), ['a']);
});

test('never passes an invalid plugin name to the file system; names an unknown one', async (t) => {
  for (const name of ['../secrets', 'A', '', '1st', 'a/b', 'a.b'])
    await t.throwsAsync(
      findPlugins([name]),
      { instanceOf: PluginError, message: /is not a valid plugin name/ },
      name,
    );
  await t.throwsAsync(findPlugins(['access', 'no-such-plugin']), {
    instanceOf: PluginError,
    message: 'there is no plugin no-such-plugin: plugins/no-such-plugin/index is missing',
  });
});

test('built-in plugins are found by name, in the order asked for', async (t) => {
  t.deepEqual(
    (await findPlugins(['traffic', 'access'])).map(({ name }) => name),
    ['traffic', 'access'],
  );
});
