// A format is the work of others: whatever it does, the other formats are served.
import test from 'ava';
import { definePlugin, contribute, type Plugin } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import type { EntryTemplate } from '../../inbounds/contract.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { Formats, type ListFormat } from '../contract.js';

const never = new Promise<never>(() => undefined);
const crash = (): never => {
  throw new Error('weeds');
};
const sound = {
  contentType: 'text/plain',
  cannot: () => undefined,
  compile: () => () => 'entry',
  body: (entries: readonly string[]) => entries.join(),
};
/** A plugin with one format, both of this name, served at `/<name>/`. */
const withFormat = (format: Partial<Record<keyof ListFormat, unknown>>, name = 'oven'): Plugin =>
  definePlugin({
    name,
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(Formats, { ...sound, name, prefix: () => `/${name}/`, ...format } as ListFormat),
    ],
  });

const broken: readonly (readonly [
  what: string,
  format: Partial<Record<keyof ListFormat, unknown>>,
  status: number,
  part: string,
])[] = [
  ['throws in prefix', { prefix: crash }, 404, 'prefix'],
  ['has a prefix that is no path', { prefix: () => 'oven' }, 404, 'prefix'],
  ['throws in cannot', { cannot: crash }, 503, 'reason'],
  ['hangs in cannot', { cannot: () => never }, 503, 'reason'],
  ['gives an empty reason', { cannot: () => '' }, 503, 'reason'],
  ['gives an endless reason', { cannot: () => 'x'.repeat(1001) }, 503, 'reason'],
  ['throws in compile', { compile: crash }, 503, 'template'],
  ['hangs in compile', { compile: () => never }, 503, 'template'],
  ['throws in an entry', { compile: () => crash }, 503, 'entry'],
  ['hangs in an entry', { compile: () => () => never }, 503, 'entry'],
  ['throws in body', { body: crash }, 503, 'body'],
  ['hangs in body', { body: () => never }, 503, 'body'],
  ['does nothing wrong', {}, 200, ''],
];

test('whatever a format breaks costs its own subscriptions, and it is named', async (t) => {
  const nameOf = (i: number): string => `oven${i}`;
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: broken.map(([, format], i) => withFormat(format, nameOf(i))),
  });
  const ada = await panel.addClient('ada', [await panel.addInbound()]);
  const statuses = await Promise.all(
    broken.map(async ([what], i) => {
      const { status } = await fetch(`${panel.subscriptionUrl}/${nameOf(i)}/${ada.subId}`);
      return `${what}: ${status}`;
    }),
  );
  t.deepEqual(
    statuses,
    broken.map(([what, , status]) => `${what}: ${status}`),
  );
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const links = await fetch(`${panel.subscriptionUrl}${subPath}${ada.subId}`);
  t.is(links.status, 200);
  t.regex(Buffer.from(await links.text(), 'base64').toString(), /^vless:/);
  const faults = panel.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'plugin fault');
  const named = new Set(faults.map(({ plugin, where }) => `${String(plugin)}: ${String(where)}`));
  t.deepEqual(
    [...named].sort(),
    broken
      .flatMap(([, , , part], i) => (part ? [`${nameOf(i)}: ${part} of the format ${nameOf(i)}`] : []))
      .sort(),
  );
});

test('one without words for an entry leaves it out', async (t) => {
  const plugin = withFormat({
    cannot: ({ account: { protocol } }: EntryTemplate) =>
      protocol === 'trojan' ? undefined : `the oven bakes no ${protocol}`,
    compile: () => () => 'trojan',
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [plugin] });
  const ada = await panel.addClient('ada', [
    await panel.addInbound(),
    await panel.addInbound({ protocol: 'trojan' }),
  ]);
  const answer = await fetch(`${panel.subscriptionUrl}/oven/${ada.subId}`);
  t.is(await answer.text(), 'trojan');
});

test('a third-party format cannot take a built-in path', async (t) => {
  let prefix = '/oven/';
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [withFormat({ prefix: () => prefix })],
  });
  const { subPath } = await panel.get<{ subPath: string }>('/panel/api/setting/all', { method: 'POST' });
  const ready = panel.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find(({ msg }) => msg === 'ready');
  t.true(String(ready?.['subUrl']).endsWith(subPath));
  const ada = await panel.addClient('ada', [await panel.addInbound()]);
  prefix = subPath;
  t.true((await panel.call('/panel/api/setting/update', { body: { subTitle: 'x' } })).body.success);
  t.not(await (await fetch(`${panel.subscriptionUrl}${subPath}${ada.subId}`)).text(), 'entry');
  t.is((await fetch(`${panel.subscriptionUrl}/oven/${ada.subId}`)).status, 404);
  t.false(panel.log.some((line) => line.includes('plugin fault')));
});

test('a third-party format has the name of its plugin', async (t) => {
  await t.throwsAsync(
    TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [withFormat({ name: 'links' })] }),
    {
      message:
        /^plugin oven cannot add to subscription\/Formats: the format links must be called oven or oven\.…/,
    },
  );
});
