// Two formats that want one path: it is refused where it can be, and else one of them is served.
import test from 'ava';
import { definePlugin, contribute, type Plugin, urlPath, setting } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { refused } from '../../../test/harness/refused.js';
import { Formats } from '../contract.js';

const group = { 'oven.path': setting(urlPath(), '/oven/', 'where it is served') } as const;
/** Comes before those of the tree, by its name; `pathSetting` or not is up to its author. */
const oven = (named: boolean): Plugin =>
  definePlugin({
    name: 'oven',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    settings: group,
    contributes: ({ settings }) => [
      contribute(Formats, {
        name: 'oven',
        contentType: 'text/plain',
        prefix: () => settings.read()['oven.path'],
        ...(named && { pathSetting: 'oven.path' }),
        cannot: () => undefined,
        compile: () => () => 'bread',
        body: (entries) => entries.join(),
      }),
    ],
  });
const boot = (named: boolean, dataDirectory?: string): Promise<TestPanel> =>
  TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [oven(named)],
    ...(dataDirectory && { dataDirectory }),
  });
const UPDATE = '/panel/api/setting/update';

test('a path that another format has is refused, for either of them', async (t) => {
  await using panel = await boot(true);
  await panel.get(UPDATE, { body: { subPath: '/links/' } });
  const taken = { status: 409, code: 'SUBSCRIPTION_PATH_TAKEN', says: 'would both be' } as const;
  await refused(t, panel, UPDATE, { body: { 'oven.path': '/links/' } }, { ...taken, field: 'oven.path' });
  await refused(t, panel, UPDATE, { body: { subPath: '/oven/' } }, { ...taken, field: 'subPath' });
  await refused(t, panel, UPDATE, { body: { subPath: '/one/', 'oven.path': '/one/' } }, taken);
  // To change places is no clash.
  await panel.get(UPDATE, { body: { subPath: '/oven/', 'oven.path': '/links/' } });
  const { subId } = await panel.addClient('ada', [await panel.addInbound()]);
  t.is(await (await fetch(`${panel.subscriptionUrl}/links/${subId}`)).text(), 'bread');
});

test('where nobody could refuse it, who had the path keeps it, and both are served as soon as they differ', async (t) => {
  await using panel = await boot(false);
  const { subId } = await panel.addClient('ada', [await panel.addInbound()]);
  const served = async (path: string): Promise<string> => {
    const answer = await fetch(`${panel.subscriptionUrl}${path}${subId}`);
    return answer.status !== 200 ? `${answer.status}` : (await answer.text()) === 'bread' ? 'oven' : 'links';
  };
  await panel.get(UPDATE, { body: { subPath: '/links/' } });
  await panel.get(UPDATE, { body: { 'oven.path': '/links/' } });
  t.deepEqual([await served('/links/'), await served('/oven/')], ['links', '404']);
  t.deepEqual(panel.faults, []);
  t.true(
    panel.log.some(
      (line) =>
        line.includes('"a subscription format is not served') &&
        line.includes('"format":"oven","servedThere":"links"'),
    ),
  );

  // A start with both is a start, and says so.
  await panel.stop();
  const again = await boot(false, panel.dataDirectory);
  t.teardown(() => again.stop());
  t.true(again.log.some((line) => line.includes('"a subscription format is not served')));
  await again.get(UPDATE, { body: { 'oven.path': '/oven/' } });
  const [links, bread] = await Promise.all(
    ['/links/', '/oven/'].map((path) =>
      fetch(`${again.subscriptionUrl}${path}${subId}`).then((answer) => answer.text()),
    ),
  );
  t.is(bread, 'bread');
  t.regex(Buffer.from(links ?? '', 'base64').toString(), /^vless:/);
});
