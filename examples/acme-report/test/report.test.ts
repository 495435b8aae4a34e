import test from 'ava';
import { contribute, definePlugin } from '@weir-panel/weir/kernel';
import { type Channel, Channels, type Notification } from '@weir-panel/weir/plugins/notifications';
import { FakeEngine, TestPanel, until } from '@weir-panel/weir/testing';
import report from '../index.js';

test('a script notifies the admins, in the language of each channel', async (t) => {
  const heard: Notification[] = [];
  const channel = (name: string, language: string): Channel => ({
    name,
    isOn: () => true,
    language: () => language,
    send: async (notification) => void heard.push(notification),
  });
  const bell = definePlugin({
    name: 'bell',
    version: '1.0.0',
    api: 1,
    about: 'Two channels.',
    contributes: () => ['en', 'ru'].map((tag) => contribute(Channels, channel(`bell.${tag}`, tag))),
  });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [report, bell] });
  const body = { subject: 'nightly <copy>', state: 'failed' };
  t.is((await panel.call('/panel/api/x/acme-report/reports', { body })).status, 200);
  await until(() => heard.length === 2, 'both channels hear');
  t.deepEqual(heard.map(({ text }) => text).sort(), ['nightly <copy> failed.', 'nightly <copy>: ошибка.']);
  t.like(heard[0], { event: 'acme-report.reported', severity: 'critical', data: body });
  t.is((await panel.call('/panel/api/x/acme-report/reports', { body: { subject: '' } })).status, 400);
  t.deepEqual(panel.faults, []);
});
