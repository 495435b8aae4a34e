// What the page makes of backups: which settings are sent, and when a restore is over.
import test from 'ava';
import { PanelFailure, PanelUnreachable } from '../../../sdk/failure.js';
import type { BackupLastRestoreReply } from '../../../sdk/index.js';
import { apart, changedSettings } from '../page/backups/changed-settings.js';
import { restoreOver } from '../page/backups/restoring.js';

test('only what was changed is sent, and what was cleared as blank', (t) => {
  const schema = { properties: { when: {}, keys: {}, last: {}, same: {} } };
  const before = { when: '04:30', keys: ['age1'], last: 7, same: true, other: 1 };
  t.deepEqual(changedSettings(schema, before, before), {});
  t.deepEqual(changedSettings(schema, before, { last: 8, same: true, other: 2 }), {
    when: '',
    keys: [],
    last: 8,
  });
  // A number has no blank: clearing it leaves it.
  t.deepEqual(changedSettings(schema, before, { ...before, last: undefined }), {});
});

test('a secret is not among what the browser stores', (t) => {
  const schema = { properties: { when: {}, pass: { 'x-weir': { secret: true } } } };
  t.deepEqual(apart(schema, { when: '6h', pass: 'abc' }), { open: { when: '6h' }, secret: { pass: 'abc' } });
});

const refusal = (status: number, code: string) =>
  Object.assign(Object.create(PanelFailure.prototype), { status, code });
const silence = () => Object.create(PanelUnreachable.prototype) as PanelUnreachable;

/** Answers one after another; the last answer is never reached too early, because each is asked for once. */
function panel(answers: readonly (BackupLastRestoreReply | Error)[]) {
  const waits: number[] = [];
  let asked = 0;
  return {
    waits,
    asked: () => asked,
    watch: {
      since: 100,
      last: async () => {
        const answer = answers[asked++];
        if (answer === undefined) throw new RangeError('asked too often');
        if (answer instanceof Error) throw answer;
        return answer;
      },
      pause: async (ms: number) => void waits.push(ms),
    },
  };
}

test('a restore is followed over the restart, and an earlier one does not count', async (t) => {
  const done = { at: 101, state: 'done', problem: '', previous: '' } as const;
  const world = panel([
    null,
    { ...done, at: 100 },
    { ...done, state: 'under way' },
    silence(),
    refusal(502, ''),
    refusal(503, 'KERNEL_STOPPING'),
    done,
  ]);
  t.deepEqual(await restoreOver(world.watch), done);
  t.is(world.asked(), 7);
  t.is(world.waits.length, 6);
  t.true(world.waits.every((wait, index) => wait >= (world.waits[index - 1] ?? 0) && wait <= 15_000));
});

test('a refusal of the panel itself ends it', async (t) => {
  const refused = refusal(403, 'KERNEL_FORBIDDEN');
  const world = panel([refused]);
  t.is(await restoreOver(world.watch).catch((error: unknown) => error), refused);
});
