// What the queue of notifications sees of the chat.
import test from 'ava';
import type { LiveSettings } from '../../../kernel/index.js';
import type { Notification } from '../../notifications/contract.js';
import type { OutgoingApi } from '../../outgoing/contract.js';
import { ChatChannel } from '../channel.js';
import { ChatCall, type ChatError } from '../chat-call.js';
import type { WebhookSettings } from '../settings.js';

const signal = new AbortController().signal;

function channelOf(reply: () => Response, values: object = {}) {
  const settings = {
    read: () => ({
      webhookEnable: true,
      webhookToken: 'x'.repeat(60),
      webhookChannelId: '12345678',
      webhookCpu: 80,
      webhookMemory: 0,
      webhookLang: 'fa',
      webhookEnabledEvents: ' login.attempt, cpu.high,,',
      ...values,
    }),
  } as unknown as LiveSettings<WebhookSettings>;
  const calls: string[] = [];
  const outgoing = {
    for: () => async (url: string) => {
      calls.push(url);
      return reply();
    },
  } as unknown as OutgoingApi;
  const chat = new ChatCall({ outgoing, settings });
  return { channel: new ChatChannel({ settings, chat }), calls };
}
const alarm = (name: string, value: number, event = 'alarmRaised'): Notification =>
  ({
    ...{ id: '1', event, at: 0, text: 'it is high', severity: 'warning', title: 'Alarm' },
    data: { alarm: name, value, limit: 60 },
  }) as Notification;

test('the queue learns when to try again, and when not', async (t) => {
  const send = (status: number, body = '', headers: Record<string, string> = {}) =>
    t.throwsAsync<ChatError>(() =>
      channelOf(() => new Response(body, { status, headers })).channel.send(alarm('disk', 99), signal),
    );
  t.like(await send(429, '{"retry_after": 0.25}'), { retryAfterMs: 250, isPermanent: undefined });
  t.like(await send(429, 'slow down', { 'retry-after': '7' }), { retryAfterMs: 7_000 });
  t.like(await send(429, '{"retry_after": 1e12}'), { retryAfterMs: 3_600_000 });
  t.like(await send(429, '{"retry_after": -5}'), { retryAfterMs: 5_000 });
  for (const status of [400, 401, 403, 404, 413]) t.like(await send(status), { isPermanent: true });
  t.is((await send(500, '{"message":"a\\u001b[2J\\nb"}'))?.message, 'the chat answered (500): a[2J b');
  t.like(await send(500), { isPermanent: undefined, retryAfterMs: undefined });
});

test('alarms below the percentage of this channel are not sent', async (t) => {
  const { channel, calls } = channelOf(() => new Response('{}'));
  await channel.send(alarm('cpu', 70), signal);
  await channel.send(alarm('memory', 99), signal);
  await channel.send(alarm('cpu', 70, 'cpuHigh'), signal);
  await channel.send(alarm('memory', 99, 'memoryHigh'), signal);
  t.is(calls.length, 0);
  await channel.send(alarm('cpu', 80), signal);
  await channel.send(alarm('disk', 10), signal);
  t.is(calls.length, 2);
});

test('it is on when token and channel are set, and says what it wants', (t) => {
  const isOn = (values: object) => channelOf(() => new Response(), values).channel.isOn();
  t.deepEqual([{}, { webhookEnable: false }, { webhookToken: '' }, { webhookChannelId: '' }].map(isOn), [
    true,
    false,
    false,
    false,
  ]);
  const { channel } = channelOf(() => new Response());
  t.deepEqual(channel.events(), ['login.attempt', 'cpu.high']);
  t.is(channel.language(), 'fa');
});
