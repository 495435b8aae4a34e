import test from 'ava';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { FakeEngine } from '../../../test/harness/fake-engine.js';
import { TestPanel } from '../../../test/harness/panel.js';
import { until } from '../../../test/harness/until.js';
import { Channels, type Notification } from '../../notifications/contract.js';

test('a certificate that is not issued is reported, with the reason', async (t) => {
  const heard: Notification[] = [];
  const bell = definePlugin({
    name: 'bell',
    version: '1.0.0',
    api: 1,
    about: 'For a test.',
    contributes: () => [
      contribute(Channels, {
        name: 'bell',
        isOn: () => true,
        events: () => ['certificateFailed'],
        send: async (notification) => void heard.push(notification),
      }),
    ],
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin, bell] });
  const { id } = await panel.get<{ id: number }>('/panel/api/x/certificates', {
    body: {
      names: ['a.example.com'],
      directory: 'https://127.0.0.1:9/directory',
      agreeToTerms: true,
    },
  });
  const answer = await panel.call(`/panel/api/x/certificates/${id}/issue`, { method: 'POST' });
  t.not(answer.status, 200);
  await until(() => heard.length === 1, 'it is told');
  t.regex(heard[0]?.text ?? '', /^No certificate was issued for a\.example\.com: .*127\.0\.0\.1/);
  t.like(heard[0], { severity: 'critical', data: { id, names: ['a.example.com'] } });
});
