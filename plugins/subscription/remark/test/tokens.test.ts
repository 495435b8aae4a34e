import test from 'ava';
import { formatDate, formatJalaliDate, formatTimeLeft, formatTraffic } from '../format.js';
import { TOKENS, type RemarkInput } from '../tokens.js';
import { DAY, GB, NOW, remarkInput } from './sample.js';

const read = (name: string, input: RemarkInput): string | undefined => TOKENS.get(name)?.read(input);
const client = (name: string, changes: Partial<RemarkInput['client']>): string | undefined =>
  read(name, remarkInput({ client: changes }));

test('traffic: base 1024, two decimals', (t) => {
  t.is(formatTraffic(0), '0.00B');
  t.is(formatTraffic(1023), '1023.00B');
  t.is(formatTraffic(1024), '1.00KB');
  t.is(formatTraffic(42 * GB), '42.00GB');
  t.is(formatTraffic(1.5 * 1024 ** 2), '1.50MB');
  t.is(formatTraffic(2 * 1024 ** 4), '2.00TB');
  t.is(formatTraffic(8 * 1024 ** 5), '8.00PB');
  t.is(formatTraffic(2048 * 1024 ** 5), '2048.00PB');
});

test('traffic: exact halves round to the even digit', (t) => {
  t.deepEqual([1152, 1408, 1664, 1920].map(formatTraffic), ['1.12KB', '1.38KB', '1.62KB', '1.88KB']);
});

test('traffic tokens', (t) => {
  const limited = { totalGB: 4096, up: 1024, down: 512 };
  t.is(client('TRAFFIC_USED', limited), '1.50KB');
  t.is(client('TRAFFIC_LEFT', limited), '2.50KB');
  t.is(client('TRAFFIC_TOTAL', limited), '4.00KB');
  t.is(client('TRAFFIC_USED_BYTES', limited), '1536');
  t.is(client('TRAFFIC_LEFT_BYTES', limited), '2560');
  t.is(client('TRAFFIC_TOTAL_BYTES', limited), '4096');
  t.is(client('UP', limited), '1.00KB');
  t.is(client('DOWN', limited), '512.00B');
  t.is(client('USAGE_PERCENTAGE', limited), '37.5％');

  const over = { totalGB: 1024, up: 4096 };
  t.is(client('TRAFFIC_LEFT', over), '0.00B');
  t.is(client('TRAFFIC_LEFT_BYTES', over), '0');
  t.is(client('USAGE_PERCENTAGE', over), '100.0％');

  t.deepEqual(
    ['TRAFFIC_LEFT', 'TRAFFIC_TOTAL', 'TRAFFIC_LEFT_BYTES', 'TRAFFIC_TOTAL_BYTES', 'USAGE_PERCENTAGE'].map(
      (name) => client(name, { up: 1 }),
    ),
    ['∞', '∞', '0', '0', ''],
  );
});

test('status: disabled, expired, depleted, active, in this order', (t) => {
  const all = { enable: false, expiryTime: NOW - 1, totalGB: 1, up: 1 };
  t.deepEqual([client('STATUS', all), client('STATUS_EMOJI', all)], ['disabled', '🚫']);
  const expired = { ...all, enable: true };
  t.deepEqual([client('STATUS', expired), client('STATUS_EMOJI', expired)], ['expired', '⏳']);
  const depleted = { ...expired, expiryTime: NOW + 1 };
  t.deepEqual([client('STATUS', depleted), client('STATUS_EMOJI', depleted)], ['depleted', '🚫']);
  t.deepEqual([client('STATUS', {}), client('STATUS_EMOJI', {})], ['active', '✅']);
  t.is(client('STATUS', { up: 1e15 }), 'active');
  t.is(client('STATUS', { expiryTime: -DAY }), 'active');
});

test('time left', (t) => {
  const days = (expiryTime: number): string | undefined => client('DAYS_LEFT', { expiryTime });
  t.deepEqual([0, NOW - 1, NOW, NOW + DAY - 1, NOW + 10 * DAY + 5, -10 * DAY].map(days), [
    '∞',
    '0',
    '0',
    '0',
    '10',
    '10',
  ]);
  const time = (expiryTime: number): string => formatTimeLeft(expiryTime, NOW);
  t.is(time(0), '∞');
  t.is(time(NOW - 1), '0');
  t.is(time(NOW + 59_000), '0m');
  t.is(time(NOW + 5 * 60_000), '5m');
  t.is(time(NOW + 2 * 3_600_000), '2h 0m');
  t.is(time(NOW + 3 * DAY + 4 * 3_600_000 + 5 * 60_000), '3d 4h 5m');
  t.is(time(NOW + 3 * DAY), '3d 0h 0m');
  t.is(time(-DAY), '1d 0h 0m');
});

test('times in seconds', (t) => {
  t.deepEqual(
    [1999, 0, -DAY].map((expiryTime) => client('EXPIRE_UNIX', { expiryTime })),
    ['1', '0', '0'],
  );
  t.deepEqual(
    [1_704_067_200_000, 0].map((createdAt) => client('CREATED_UNIX', { createdAt })),
    ['1704067200', ''],
  );
});

test('dates: golden Jalali ones, and leap days', (t) => {
  t.is(formatJalaliDate(Date.UTC(2024, 0, 1), 'UTC'), '1402/10/11');
  t.is(formatJalaliDate(Date.UTC(2000, 2, 20), 'UTC'), '1379/01/01');
  t.is(formatJalaliDate(Date.UTC(2000, 2, 19), 'UTC'), '1378/12/29');
  t.is(formatJalaliDate(Date.UTC(2025, 2, 20), 'UTC'), '1403/12/30');
  t.is(formatJalaliDate(Date.UTC(2025, 2, 21), 'UTC'), '1404/01/01');
  t.is(formatDate(Date.UTC(2024, 1, 29), 'UTC'), '2024-02-29');
});

test('dates: in the zone', (t) => {
  const evening = Date.UTC(2023, 11, 31, 22);
  t.is(formatDate(evening, 'UTC'), '2023-12-31');
  t.is(formatDate(evening, 'Asia/Tehran'), '2024-01-01');
  t.is(formatJalaliDate(evening, 'Asia/Tehran'), '1402/10/11');
  t.is(formatDate(evening, 'America/New_York'), '2023-12-31');
  const own = new Date(evening);
  const ownDate = `${own.getFullYear()}-${String(own.getMonth() + 1).padStart(2, '0')}-${String(own.getDate()).padStart(2, '0')}`;
  for (const zone of [undefined, '', 'No/Such_Zone']) t.is(formatDate(evening, zone), ownDate);
});

test('dates: none where there is none', (t) => {
  for (const expiryTime of [0, -DAY, 9e15]) {
    t.is(client('EXPIRE_DATE', { expiryTime }), '');
    t.is(client('JALALI_EXPIRE_DATE', { expiryTime }), '');
  }
  t.is(
    read(
      'EXPIRE_DATE',
      remarkInput({ timeZone: 'Asia/Tehran', client: { expiryTime: Date.UTC(2023, 11, 31, 22) } }),
    ),
    '2024-01-01',
  );
});

test('identity and account tokens', (t) => {
  const known = {
    email: 'e',
    uuid: 'abcdef12-3456',
    subId: 's',
    tgId: 42,
    comment: 'c',
    reset: 30,
    resetDay: 1,
  };
  const names = [
    'EMAIL',
    'USERNAME',
    'ID',
    'SHORT_ID',
    'SUB_ID',
    'TELEGRAM_ID',
    'COMMENT',
    'RESET_DAYS',
    'RESET_DAY',
  ];
  t.deepEqual(
    names.map((name) => client(name, known)),
    ['e', 'e', 'abcdef12-3456', 'abcdef12', 's', '42', 'c', '30', '1'],
  );
  t.deepEqual(
    names.map((name) => client(name, {})),
    names.map(() => ''),
  );
});

test('route tokens', (t) => {
  const input = remarkInput({ protocol: 'vless', network: 'ws', security: 'reality' });
  t.deepEqual(
    ['PROTOCOL', 'TRANSPORT', 'SECURITY'].map((name) => read(name, input)),
    ['VLESS', 'ws', 'REALITY'],
  );
  t.is(read('TRANSPORT', remarkInput({ protocol: 'hysteria', network: 'hysteria' })), 'quic');
});
