// A list whose names are keys: each name occurs once, none is empty, and each entry has its source.
import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { compileJson, Formats, type ListFormat } from '../contract.js';

const catalogue: ListFormat = {
  name: 'catalogue',
  contentType: 'application/json',
  uniqueNames: true,
  prefix: () => '/catalogue/',
  cannot: () => undefined,
  compile: ({ account: { protocol } }) => compileJson({ protocol, name: ({ name }) => name }),
  body: (entries, { client, names, sources }) =>
    `{"of":${JSON.stringify(client.email)},"entries":[${entries.join()}],"names":${JSON.stringify(names)},"sources":${JSON.stringify(sources.map(({ inboundId, template }) => [inboundId, template?.port]))}}`,
};

test('equal names get numbers, and no name is empty', async (t) => {
  await using panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    outside: [
      definePlugin({
        name: 'catalogue',
        version: '1.0.0',
        api: 1,
        about: 'For a test.',
        contributes: () => [contribute(Formats, catalogue)],
      }),
    ],
  });
  await panel.get('/panel/api/setting/update', { body: { remarkTemplate: '{{INBOUND}}' } });
  const ids: number[] = [];
  for (const remark of ['node', 'node-2', 'node', 'node', '', ''])
    ids.push(await panel.addInbound({ remark }));
  const ada = await panel.addClient('ada', ids);
  const ports = new Map(
    (await panel.get<{ id: number; port: number }[]>('/panel/api/inbounds/list')).map(({ id, port }) => [
      id,
      port,
    ]),
  );
  const fetched = await fetch(`${panel.subscriptionUrl}/catalogue/${ada.subId}`);
  const names = [
    'node',
    'node-2',
    'node-3',
    'node-4',
    ...ids.slice(4).map((id) => `vless-127.0.0.1:${ports.get(id)}`),
  ];
  t.deepEqual(await fetched.json(), {
    of: 'ada',
    entries: names.map((name) => ({ protocol: 'vless', name })),
    names,
    sources: ids.map((id) => [id, ports.get(id)]),
  });
});
