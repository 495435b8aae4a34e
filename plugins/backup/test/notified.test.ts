import test from 'ava';
import type { NotifiedEvent } from '../../notifications/contract.js';
import type { alarmChanged } from '../../alarms/contract.js';
import { failedBackup } from '../notified.js';

type Payload = typeof alarmChanged extends import('../../../kernel/index.js').Event<infer P> ? P : never;

test('the alarm of backups is an event of its own, others are not', (t) => {
  const { describe } = failedBackup as unknown as NotifiedEvent<Payload>;
  const alarm = (name: string, isActive: boolean) =>
    describe({
      at: 1,
      alarm: { name, isActive, since: 1, value: 1, limit: 1, text: 'the target is full' },
    });
  t.deepEqual(alarm('backup', true), [
    { args: { reason: 'the target is full' }, data: { reason: 'the target is full' } },
  ]);
  t.deepEqual([alarm('backup', false), alarm('disk', true)], [[], []]);
});
