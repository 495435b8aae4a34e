// Bodies as existing programs send them, replayed one file after another against one panel. A file is a list of calls
// with what each must answer. `$port` is a free port, `$base` an inbound that is there, `$last` the one added last.
import { readdir, readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { FakeClock, FakeEngine, freePort, TestPanel } from '../harness/index.js';
import { sourceRoot } from '../harness/source-root.js';

interface Step {
  readonly call: string;
  readonly body?: unknown;
  /** sent as a form */
  readonly form?: Readonly<Record<string, string>>;
  /** 200 without it */
  readonly status?: number;
  readonly code?: string;
  /** the whole message, or a part of it */
  readonly msg?: string;
  readonly says?: string;
  /** the keys that the message names as ignored, at its end */
  readonly ignored?: string;
  /** what `obj` has at least */
  readonly like?: Readonly<Record<string, unknown>>;
}

const folder = new URL('test/wire/bodies/', await sourceRoot());
const names = (await readdir(folder)).sort();
let panel: TestPanel;
let base = 0;

test.before(async () => {
  panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], clock: new FakeClock() });
  base = await panel.addInbound({ tag: 'base' });
});
test.after.always(() => panel?.[Symbol.asyncDispose]());

async function play(t: ExecutionContext, step: Step, label: string): Promise<number | undefined> {
  const { form, body, status = 200, code, msg, says, ignored, like } = step;
  const answer = await panel.call<{ id?: number } | null>(
    step.call,
    form
      ? {
          rawBody: new URLSearchParams(form).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }
      : { body },
  );
  const said = answer.body.msg;
  t.is(answer.status, status, `${label}: ${answer.text.slice(0, 400)}`);
  t.is(answer.body.success, status === 200, label);
  if (code !== undefined) t.is(answer.body.code, code, label);
  if (msg !== undefined) t.is(said, msg, label);
  if (says !== undefined) t.true(said.includes(says), `${label}: ${said}`);
  if (ignored !== undefined) t.is(said.split('; ignored: ')[1], ignored, `${label}: ${said}`);
  if (like !== undefined) t.like(answer.body.obj, like, label);
  return answer.body.obj?.id;
}

for (const name of names) {
  test.serial(name, async (t) => {
    const text = await readFile(new URL(name, folder), 'utf8');
    const { steps } = JSON.parse(text) as { readonly steps: readonly Step[] };
    let last = 0;
    for (const [i, written] of steps.entries()) {
      const values = { port: await freePort(), base, last };
      const step = JSON.parse(
        JSON.stringify(written).replaceAll(
          /"\$(port|base|last)"|\$(port|base|last)/g,
          (found, whole?: keyof typeof values, part?: keyof typeof values) =>
            // The fields of a form are texts.
            whole && !(written.form && found.startsWith('"'))
              ? String(values[whole])
              : found.replace(/\$\w+/, String(values[(whole ?? part) as keyof typeof values])),
        ),
      ) as Step;
      const id = await play(t, step, `${name}, call ${i + 1}, ${step.call}`);
      if (step.call === '/panel/api/inbounds/add' && id !== undefined) last = id;
    }
  });
}

test.serial('what get returns can be sent back, and changes nothing', async (t) => {
  const seen = async () => ({
    inbounds: await panel.get('/panel/api/inbounds/list'),
    clients: await panel.get('/panel/api/clients/list'),
  });
  const before = await seen();
  for (const { id } of before.inbounds as { id: number }[]) {
    const shown = await panel.get(`/panel/api/inbounds/get/${id}`);
    t.is((await panel.call(`/panel/api/inbounds/update/${id}`, { body: shown })).body.msg, 'inbound saved');
  }
  for (const { email } of before.clients as { email: string }[]) {
    const path = `/panel/api/clients/update/${encodeURIComponent(email)}`;
    const shown = await panel.get(`/panel/api/clients/get/${encodeURIComponent(email)}`);
    t.is((await panel.call(path, { body: shown })).body.msg, 'client saved');
  }
  t.deepEqual(await seen(), before);
  t.deepEqual(panel.faults, []);
});

test.serial('logs out without a session, and with one only by its CSRF token', async (t) => {
  for (const options of [
    { method: 'POST', anonymous: true },
    { body: {}, anonymous: true },
    { method: 'POST', anonymous: true, headers: { cookie: 'weir_session=gone' } },
  ])
    t.is((await panel.call('/logout', options)).status, 200);
  const forged = { method: 'POST', headers: { 'x-csrf-token': 'x' } };
  t.is((await panel.call('/logout', forged)).body.code, 'KERNEL_CSRF');
  t.is((await panel.call('/panel/api/inbounds/list')).status, 200);
  const headers = { authorization: 'Basic YTpi' };
  t.is((await panel.call('/logout', { method: 'POST', headers })).status, 200);
  t.is((await panel.call('/panel/api/inbounds/list')).status, 401);
  t.is((await panel.call('/logout', { method: 'POST' })).status, 200);
});
