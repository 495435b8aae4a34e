// What other plugins are asked and told of a single client that is added, changed and deleted.
import test from 'ava';
import { definePlugin, tap } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import {
  afterClientSave,
  beforeClientDelete,
  beforeClientSave,
  type ClientChange,
  clientChanged,
  duringClientSave,
  duringGroupSave,
} from '../contract.js';

const API = '/panel/api/clients';

test('guards are asked before one client is written, and all others are told once', async (t) => {
  let heard: string[] = [];
  const hear =
    (moment: string) =>
    ({ changes }: { readonly changes: readonly ClientChange[] }): void => {
      for (const { kind, before, after } of changes)
        heard.push(`${moment} ${kind} ${before?.comment ?? '-'}>${after?.comment ?? '-'}`);
    };
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: 1,
    about: 'Receives clients.',
    taps: () => [
      tap(beforeClientSave, hear('before')),
      tap(beforeClientDelete, ({ clients, keepTraffic }) => {
        for (const { email } of clients) heard.push(`before delete ${email} ${keepTraffic}`);
      }),
      tap(duringClientSave, hear('during')),
      tap(duringGroupSave, ({ changes }) => {
        for (const { kind, before, after } of changes)
          heard.push(`group ${kind} ${before?.name ?? '-'}>${after?.name ?? '-'}`);
      }),
      tap(afterClientSave, hear('after')),
      tap(clientChanged, hear('changed')),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [listener, new FakeEngine().plugin] });
  const inboundId = await panel.addInbound();
  const since = async (work: Promise<unknown>): Promise<string[]> => {
    await work;
    await panel.kernel.settled();
    const all = heard;
    heard = [];
    return all;
  };
  const moments = ['before', 'during', 'after', 'changed'];

  t.deepEqual(
    await since(panel.addClient('ann', [inboundId], { comment: 'a' })),
    moments.map((moment) => `${moment} added ->a`),
  );
  t.deepEqual(
    await since(panel.get(`${API}/update/ann`, { body: { comment: 'b' } })),
    moments.map((moment) => `${moment} updated a>b`),
  );
  t.deepEqual(await since(panel.get(`${API}/del/ann?keepTraffic=1`, { method: 'POST' })), [
    'before delete ann true',
    ...moments.slice(1).map((moment) => `${moment} deleted b>-`),
  ]);
  await since(panel.addClient('bob', [inboundId]));
  t.is((await since(panel.get(`${API}/del/bob`, { method: 'POST' })))[0], 'before delete bob false');

  const group = (path: string, body: object) => since(panel.get(`${API}/groups/${path}`, { body }));
  t.deepEqual(await group('create', { name: 'x' }), ['group added ->x']);
  t.deepEqual(await group('rename', { oldName: 'x', newName: 'y' }), ['group updated x>y']);
  t.deepEqual(await group('delete', { name: 'y' }), ['group deleted y>-']);
  t.deepEqual(await group('delete', { name: 'y' }), [], 'there is none');
});
