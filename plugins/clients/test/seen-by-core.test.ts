// Which edits of a client the core must follow.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('sends an edit that the core needs for every inbound, with the new account, and no other edit', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const streamSettings = {
    network: 'tcp',
    security: 'reality',
    realitySettings: {
      target: 'example.com:443',
      serverNames: ['example.com'],
      privateKey: 'A'.repeat(43),
      shortIds: ['ab'],
      settings: { publicKey: 'A'.repeat(43), fingerprint: 'chrome' },
    },
  };
  const inboundIds = [await panel.addInbound({ streamSettings }), await panel.addInbound({ streamSettings })];
  const { id } = await panel.addClient('ann', inboundIds);
  const refs = inboundIds.map((inboundId) => ({ inboundId, clientId: id }));
  const names = refs.map(({ inboundId }) => `i${inboundId}.c${id}`);
  const edit = async (fields: Record<string, unknown>): Promise<unknown[]> => {
    engine.told.length = 0;
    await panel.get('/panel/api/clients/update/ann', { body: fields });
    return engine.told.flat();
  };
  const accounts = (): (object | undefined)[] => names.map((name) => engine.users.get(name));

  t.deepEqual(await edit({ flow: 'xtls-rprx-vision' }), refs);
  for (const account of accounts()) t.like(account, { flow: 'xtls-rprx-vision' });
  t.deepEqual(await edit({ flow: '' }), refs);
  for (const account of accounts()) t.like(account, { flow: '' });
  const uuid = '11111111-2222-4333-8444-555555555555';
  t.deepEqual(await edit({ uuid }), refs);
  for (const account of accounts()) t.like(account, { id: uuid });
  t.deepEqual(await edit({ password: 'another' }), refs);
  t.deepEqual(await edit({ enable: false }), refs);
  t.deepEqual(accounts(), [undefined, undefined]);
  t.deepEqual(await edit({ comment: 'a note' }), []);
});
