// Runs a certificate authority. `kill -9` at every step of an order: the next start goes on with it or says that it is lost,
// and no key ever lies beside the chain of another one.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { testUnless } from '../../../test/harness/left-out.js';
import { PanelProcess } from '../../../test/harness/panel-process.js';
import type { CertificateReply } from '../fields.js';
import { LyingAuthority, type Step } from './lying-authority.js';
import { PATH } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());
const ENV = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
/** The panel is killed before the reply of this step arrives, or so many ms after it left. */
const MOMENTS: readonly (readonly [Step, before: boolean, ms: number])[] = [
  ...(
    [
      'directory',
      'nonce',
      'account',
      'order',
      'authorization',
      'challenge',
      'my-order',
      'finalize',
      'certificate',
    ] as const
  ).map((step) => [step, true, 0] as const),
  ...(['account', 'order', 'challenge', 'finalize'] as const).map((step) => [step, false, 0] as const),
  ...[0, 1, 2, 4, 6, 8, 12, 16, 24, 40, 80].map((ms) => ['certificate', false, ms] as const),
];

/** Whether chain and key of the folder that is in use belong together; undefined when none is. */
async function fits(folder: string): Promise<boolean | undefined> {
  const [cert, key] = await Promise.all(
    ['fullchain.pem', 'privkey.pem'].map((name) =>
      readFile(join(folder, 'current', name), 'utf8').catch(() => undefined),
    ),
  );
  if (cert === undefined && key === undefined) return undefined;
  return new X509Certificate(cert ?? '').checkPrivateKey(createPrivateKey(key ?? ''));
}

issuing('kill -9 at every step of an order loses no order without trace, and no key', async (t) => {
  t.timeout(15 * 60_000);
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  let panel = await PanelProcess.start({ env: ENV });
  const { dataDirectory } = panel;
  t.teardown(() => panel.dispose());
  await panel.get('/panel/api/setting/update', { body: authority.settings });
  const outcomes: string[] = [];
  for (const [i, [step, before, ms]] of MOMENTS.entries()) {
    const what = `${before ? 'before' : `${ms} ms after`} ${step}`;
    const { id } = await panel.get<CertificateReply>(PATH, {
      body: { names: [`n${i}.example.com`], agreeToTerms: true },
    });
    // With another address the account is another one.
    await panel.get('/panel/api/setting/update', { body: { acmeEmail: `n${i}@example.com` } });
    const running = panel;
    let killed: Promise<unknown> | undefined;
    authority.lie = (now) => {
      if (now !== step || killed) return undefined;
      killed = before ? running.kill('SIGKILL') : sleep(ms).then(() => running.kill('SIGKILL'));
      return before ? 'hang' : undefined;
    };
    const ordered = await running.call(`${PATH}/${id}/issue`, { body: {} }).catch(() => undefined);
    await killed;
    authority.lie = () => undefined;
    t.truthy(killed, `${what} was not reached: ${ordered?.text}`);
    const root = join(dataDirectory, 'certificates');
    const folder = join(root, (await readdir(root)).find((name) => name.startsWith(`n${i}.`)) ?? 'none');
    t.not(await fits(folder), false, `${what}: at the kill`);
    panel = await PanelProcess.start({ dataDirectory, env: ENV });
    const asked = authority.steps.length;
    await panel.get('/panel/api/system/jobs/certificates/orders', { body: {} });
    let found = (await panel.get<CertificateReply[]>(PATH)).find((one) => one.id === id);
    // The authority asked for the proof while nobody was there to answer.
    if (found?.failures === 1) {
      t.regex(found.lastError, /could not connect to the name/, what);
      t.true(['challenge', 'authorization', 'my-order'].includes(step), what);
      found = await panel.get<CertificateReply>(`${PATH}/${id}/issue`, { body: {} });
    }
    const orders = await panel.get<{ state: string }[]>(`${PATH}/${id}/orders`);
    const states = orders.map(({ state }) => state).join();
    const placed = authority.steps.slice(asked).filter((one) => one === 'order').length;
    outcomes.push(`${what}: ${found?.state}, ${states}, ${placed} more orders`);
    t.is(found?.state, 'valid', what);
    t.true(['issued', 'issued,lost', 'issued,failed'].includes(states), `${what}: ${states}`);
    // Whatever the authority has confirmed is not ordered again.
    if (
      orders.length === 1 &&
      (before ? !['directory', 'nonce', 'account', 'order'].includes(step) : step !== 'account')
    )
      t.true(placed <= (step === 'order' ? 1 : 0), `${what}: ${placed} more orders`);
    t.true(await fits(folder), what);
    t.is(
      (await readdir(dirname(dirname(found?.keyFile ?? '')))).length,
      2,
      `${what}: no order is left behind`,
    );
  }
  t.log(outcomes.join('\n'));
  t.true(outcomes.filter((outcome) => outcome.includes('valid')).length > 18);
});

issuing('while an authority hangs, the panel goes on, and says so in the end', async (t) => {
  await using pebble = await Pebble.start();
  await using authority = await LyingAuthority.start(pebble);
  const panel = await PanelProcess.start({ env: ENV });
  t.teardown(() => panel.dispose());
  await panel.get('/panel/api/setting/update', { body: authority.settings });
  const { id } = await panel.get<CertificateReply>(PATH, {
    body: { names: ['a.example.com'], agreeToTerms: true },
  });
  authority.lie = (step) => (step === 'finalize' ? 'hang' : undefined);
  const ordered = panel.call(`${PATH}/${id}/issue`, { body: {} });
  await panel.until(() => authority.steps.includes('finalize'), 'it hangs');
  t.true((await panel.get<CertificateReply[]>(PATH))[0]?.ordering);
  const { status, body } = await ordered;
  t.is(status, 422);
  t.regex(body.msg, /the authority cannot be asked: 127\.0\.0\.1:\d+ did not answer within 20 s/);
  // A panel that is stopped does not wait for it.
  await panel.get('/panel/api/system/jobs/certificates/orders', { body: {} });
  const { id: other } = await panel.get<CertificateReply>(PATH, {
    body: { names: ['b.example.com'], agreeToTerms: true },
  });
  const steps = authority.steps.filter((step) => step === 'finalize').length;
  void panel.call(`${PATH}/${other}/issue`, { body: {} }).catch(() => undefined);
  await panel.until(
    () => authority.steps.filter((step) => step === 'finalize').length > steps,
    'it hangs again',
  );
  const began = Date.now();
  t.deepEqual(await panel.kill('SIGTERM'), { code: 0, signal: null });
  t.true(Date.now() - began < 8000, `stopped after ${Date.now() - began} ms`);
});
