// Entries of a client that lead to no inbound: plugins have them, every format writes them after the others.
import test from 'ava';
import { contribute, definePlugin, type Plugin } from '../../../kernel/index.js';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import type { ClientRow } from '../../clients/contract.js';
import type { EntryTemplate } from '../../inbounds/contract.js';
import { ClientEntries, type ClientEntry, Formats, type Format } from '../contract.js';

const template: EntryTemplate = {
  server: '2001:db8::7',
  port: 8443,
  account: { protocol: 'trojan', password: 'pw' },
  transport: { kind: 'tcp' },
  security: { kind: 'none' },
};
const plugin = (name: string, contributes: Parameters<typeof definePlugin>[0]['contributes']): Plugin =>
  definePlugin({ name, version: '1.0.0', api: 1, about: 'For a test.', contributes } as never);

let compiled = 0;
const list: Format = {
  name: 'formats.list',
  contentType: 'text/plain',
  prefix: () => '/list/',
  uniqueNames: true,
  cannot: ({ account }) => (account.protocol === 'pigeon' ? 'there are no pigeons' : undefined),
  compile: (entry) => {
    compiled += 1;
    return ({ authority, name }) => `${entry.account.protocol} ${authority} ${name}`;
  },
  body: (lines, { names, sources }) =>
    JSON.stringify({ lines, names, inbounds: sources.map(({ inboundId }) => inboundId) }),
};
const book: Format = {
  name: 'formats.book',
  contentType: 'text/plain',
  prefix: () => '/book/',
  cannot: () => undefined,
  document: (entries) => JSON.stringify(entries.map(({ entry }) => [entry.name, entry.server])),
};
const formats = plugin('formats', () => [contribute(Formats, list), contribute(Formats, book)]);

async function boot(t: { teardown(end: () => Promise<void>): void }, of: (client: ClientRow) => unknown) {
  const source = plugin('elsewhere', () => [contribute(ClientEntries, { of: of as never })]);
  const panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [formats, source] });
  t.teardown(() => panel[Symbol.asyncDispose]());
  await panel.get('/panel/api/setting/update', {
    body: { subPath: '/s/', subEncrypt: false, remarkTemplate: '{{INBOUND}}' },
  });
  const inbound = await panel.addInbound({
    remark: 'in',
    port: 4443,
    shareAddr: 'h.example',
    shareAddrStrategy: 'custom',
  });
  await panel.addClient('ann', [inbound], { subId: 'ann' });
  await panel.addClient('bob', [inbound], { subId: 'bob' });
  await panel.addClient('eve', [inbound], { subId: 'eve' });
  await panel.get('/panel/api/clients/eve/detach', { body: { inboundIds: [inbound] } });
  const read = async (path: string) => {
    const answer = await fetch(`${panel.subscriptionUrl}${path}`);
    return answer.ok ? answer.text() : answer.status;
  };
  const faults = () =>
    panel.log
      .map((line) => JSON.parse(line) as { msg: string; plugin?: string })
      .flatMap(({ msg, plugin: name }) => (msg === 'plugin fault' ? [name] : []));
  return { panel, inbound, read, faults };
}

test('they stand behind the inbounds: as their own text, as compiled, or in a document', async (t) => {
  compiled = 0;
  const entries: readonly ClientEntry[] = [
    { template, name: 'in', texts: { links: (name) => `own://text#${name}` } },
    { template: { ...template, account: { protocol: 'pigeon' } }, name: 'bird' },
    {
      template: undefined,
      name: ({ email }) => `of ${email}`,
      texts: { links: (name) => `bare://#${name}` },
    },
  ];
  const { panel, inbound, read, faults } = await boot(t, ({ email }) => (email === 'bob' ? [] : entries));
  const vless = /^vless:\/\/\S+#in$/;
  const links = String(await read('/s/ann')).split('\n');
  t.regex(links[0] ?? '', vless);
  t.deepEqual(links.slice(1), ['own://text#in', 'bare://#of ann', '']);
  t.deepEqual(JSON.parse(String(await read('/list/ann'))), {
    lines: ['vless h.example:4443 in', 'trojan [2001:db8::7]:8443 in-2'],
    names: ['in', 'in-2'],
    inbounds: [inbound, 0],
  });
  t.deepEqual(JSON.parse(String(await read('/book/ann'))), [
    ['in', 'h.example'],
    ['in', '2001:db8::7'],
    ['bird', '2001:db8::7'],
  ]);
  t.is(
    String(await read('/s/bob'))
      .trim()
      .split('\n').length,
    1,
  );
  t.is(await read('/s/eve'), 'own://text#in\nbare://#of eve\n', 'a client without inbounds');
  const before = compiled;
  await read('/list/ann');
  await read('/list/eve');
  t.is(compiled, before, 'compiled once, for all clients');
  await panel.get('/panel/api/setting/update', { body: { subUpdates: 5 } });
  await read('/list/ann');
  t.is(compiled, before + 1, 'and again after settings changed, which formats may read');
  t.is((await panel.get<string[]>('/panel/api/clients/subLinks/ann')).length, 3);
  t.is((await panel.get<string[]>('/panel/api/inbounds/allLinks')).length, 2, 'of inbounds only');
  await panel.get('/panel/api/clients/update/ann', { body: { enable: false } });
  t.is(await read('/s/ann'), '');
  t.is(JSON.parse(String(await read('/list/ann'))).lines.length, 0);
  t.deepEqual(faults(), []);
});

test('a failure is that of the plugin: programs keep what they have, and an invalid entry is left out', async (t) => {
  const invalid = { template: { ...template, port: 70_000 }, name: 'x' } as ClientEntry;
  const { read, faults } = await boot(t, ({ email }) => {
    if (email === 'ann') throw new Error('no memory');
    return email === 'bob' ? 'no list' : [invalid, { template, name: 'ok' }];
  });
  t.is(await read('/s/ann'), 503);
  t.is(await read('/s/bob'), 503);
  t.regex(String(await read('/s/eve')), /^trojan:\/\/pw@\[2001:db8::7\]:8443\?\S+#ok\n$/);
  t.deepEqual(faults(), ['elsewhere', 'elsewhere', 'elsewhere']);
});
