import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

const VISION = 'xtls-rprx-vision';

test('the core gets a changed flow, of one client or of many', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const inboundId = await panel.addInbound({
    streamSettings: {
      network: 'tcp',
      security: 'reality',
      realitySettings: {
        target: 'r.example.com:443',
        serverNames: ['r.example.com'],
        shortIds: ['ab12'],
        privateKey: 'aGVsbG8taGVsbG8taGVsbG8taGVsbG8taGVsbG8tMTI',
      },
    },
  });
  const { id } = await panel.addClient('ann', [inboundId]);
  const flow = () => engine.users.get(`i${inboundId}.c${id}`)?.['flow'];
  t.is(flow(), '');
  await panel.get('/panel/api/clients/update/ann', { body: { flow: VISION } });
  t.is(flow(), VISION);
  await panel.get('/panel/api/clients/bulkAdjust', { body: { emails: ['ann'], flow: 'none' } });
  t.is(flow(), '');
  await panel.get('/panel/api/clients/bulkAdjust', { body: { emails: ['ann'], flow: VISION } });
  t.is(flow(), VISION);

  const suffixed = `${VISION}-udp443`;
  await panel.get('/panel/api/clients/update/ann', { body: { flow: suffixed } });
  t.is(flow(), VISION, 'the core knows no suffix');
  const { subId } = await panel.get<{ subId: string }>('/panel/api/clients/get/ann');
  t.regex(
    (await panel.get<string[]>(`/panel/api/clients/subLinks/${subId}`))[0] ?? '',
    new RegExp(`flow=${suffixed}`),
    'client programs do',
  );
});
