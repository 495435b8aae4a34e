// One share link as an outbound, by the endpoint of a whole panel.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const PATH = '/panel/api/x/outbound-subs/link';
const UUID = '6b1d1a2e-0b0f-4a53-9c53-0f3a9f6f8d11';
interface Read {
  readonly name: string;
  readonly outbound: Record<string, unknown>;
}
let panel: TestPanel;
test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

test('a link becomes the outbound that it says, with its name beside it', async (t) => {
  const vless = `vless://${UUID}@exit.example:443?type=ws&path=%2Fway&security=tls&sni=a.example#Far%20away`;
  const { name, outbound } = await panel.get<Read>(PATH, { body: { link: ` ${vless}\n` } });
  t.is(name, 'Far away');
  t.like(outbound, {
    protocol: 'vless',
    streamSettings: { network: 'ws', security: 'tls', wsSettings: { path: '/way' } },
  });
  t.false('tag' in outbound);
  const text = JSON.stringify(outbound);
  for (const part of [UUID, 'exit.example', '443', 'a.example']) t.true(text.includes(part), part);
});

test('a server of an admin may have a private address; nothing is stored', async (t) => {
  const before = await panel.get<{ version: string }>('/panel/api/engine/', { method: 'POST' });
  const link = 'ss://YWVzLTEyOC1nY206cGFzcw@127.0.0.1:8388';
  t.like(await panel.get<Read>(PATH, { body: { link } }), {
    name: '',
    outbound: { protocol: 'shadowsocks' },
  });
  t.is(
    (await panel.get<{ version: string }>('/panel/api/engine/', { method: 'POST' })).version,
    before.version,
  );
  t.deepEqual(await panel.get('/panel/api/engine/outbound-subs'), []);
});

test('what is no link, or cannot be an outbound, is refused at its field and never repeated', async (t) => {
  for (const link of [
    ...['', ' ', 'nonsense', 'https://exit.example/', `vless://${UUID}@exit.example:99999`],
    ...[`vless://${UUID}@exit.example:443?type=unknown`, 'gopher://secret@exit.example:1'],
    ...[
      'tg://proxy?server=exit.example&port=443&secret=00',
      `ss://${'A'.repeat(16_384)}`,
      5,
      null,
      ['ss://'],
    ],
  ]) {
    const { status, body, text } = await panel.call(PATH, { body: { link } });
    t.is(status, 400, String(link).slice(0, 50));
    t.deepEqual(
      (body.obj as unknown as { issues: { path: string }[] }).issues.map(({ path }) => path),
      ['link'],
      String(link).slice(0, 50),
    );
    t.false(text.includes(UUID) || text.includes('secret@'), 'no secret in a refusal');
  }
});
