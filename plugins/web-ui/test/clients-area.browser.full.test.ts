// What is done with many clients, and what two admins do at once, in a real browser on a whole panel.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { Gate } from '../../bulk-jobs/test/world.js';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
const MANY = 5_000;
const shots = process.env['WEIR_TEST_SCREENSHOTS'];

const gate = new Gate();
let browser: Browser;
let world: World;
let inboundId: number;
test.before(async () => {
  browser = await launch();
  world = await bootPanel([gate.plugin]);
  const { api } = world;
  inboundId = (
    await api<{ id: number }>('inbounds/add', {
      protocol: 'vless',
      listen: '127.0.0.1',
      port: 40_021,
      remark: 'home',
    })
  ).id;
  await api(
    'clients/bulkCreate',
    Array.from({ length: MANY }, (_, i) => ({
      client: { email: `many-${String(i).padStart(5, '0')}` },
      inboundIds: [inboundId],
    })),
  );
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  gate.passes = Infinity;
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

const filtered = async (query: string): Promise<number> =>
  (await world.api<{ filtered: number }>(`clients/list/paged?pageSize=1&${query}`)).filtered;

test.serial(
  `${MANY} clients but one are switched off, and a reload in the middle loses nothing`,
  async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/clients?search=many-&sort=email');
    await page.getByText('many-00000', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'All 5,000' }).click();
    await page.getByText('5,000 clients chosen').waitFor();
    await page.getByRole('checkbox', { name: 'Choose many-00000' }).click();
    await page.getByText('4,999 clients chosen').waitFor();
    gate.arrived = 0;
    gate.passes = 4;
    await page
      .getByRole('region', { name: 'Chosen clients' })
      .getByRole('button', { name: 'Switch off' })
      .click();
    const job = page.locator('.job');
    await job.getByText('2,000 of 4,999 done').waitFor();
    if (shots) await page.screenshot({ path: join(shots, 'bulk-running.png') });
    await page.reload();
    await job.getByText('2,000 of 4,999 done').waitFor();
    t.is(await job.locator('progress').getAttribute('value'), '400');
    gate.passes = Infinity;
    await job.getByText('4,999 changed').waitFor();
    t.is(await filtered('search=many-&status=deactive'), MANY - 1);
    t.is(await filtered('search=many-00000&status=active'), 1);
    await job.getByRole('button', { name: 'Close' }).click();
    await job.waitFor({ state: 'detached' });
    t.deepEqual(complaints, []);
  },
);

test.serial('a job is stopped, and tried again for the rest; who was skipped is a file', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/clients?search=many-&status=deactive');
  await page.locator('.rows .client-name').first().waitFor();
  await page.getByRole('checkbox', { name: 'All 4,999' }).click();
  gate.arrived = 0;
  gate.passes = 1;
  await page.getByRole('button', { name: 'Group' }).click();
  await page.getByRole('dialog').getByLabel('Group').fill('night');
  await page.getByRole('dialog').getByRole('button', { name: 'Change 4,999 clients' }).click();
  const jobs = page.locator('.job');
  const running = jobs.filter({ hasText: '500 of 4,999 done' });
  await running.waitFor();
  await running.getByRole('button', { name: 'Stop' }).click();
  await jobs.filter({ hasText: 'Stopping' }).waitFor();
  // Those of the portion under way: one is changed by somebody else meanwhile.
  gate.passes = Infinity;
  const stopped = jobs.filter({ hasText: 'not begun' });
  await stopped.waitFor();
  const before = await filtered('search=many-&group=night');
  t.true(before >= 500 && before < 4_999);
  gate.check = (emails) => {
    if (emails.includes('many-04998')) throw Object.assign(new Error('kept on purpose'), { status: 409 });
  };
  await stopped.getByRole('button', { name: /Try again/ }).click();
  await jobs.filter({ hasText: `${(4_999 - before).toLocaleString('en')} changed` }).waitFor();
  gate.check = () => undefined;
  t.is(await filtered('search=many-&group=night'), 4_999);
  t.deepEqual(complaints, []);
});

for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`everyone can use the screens: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      for (const width of [360, 1440]) {
        const { page, complaints, show, logIn } = await openPage(t, browser, world, {
          preferences: { language, theme },
          viewport: { width, height: 800 },
        });
        await logIn();
        await show('/clients?search=many-');
        await page.locator('.rows .client-name').first().waitFor();
        await page.locator('.list-head .choose-box input').click();
        await page.locator('.bulk').waitFor();
        t.deepEqual(await violations(page), [], `clients ${width}`);
        t.deepEqual(await outside(page), [], `clients ${width}`);
        if (shots) await page.screenshot({ path: join(shots, `bulk-${language}-${theme}-${width}.png`) });
        t.deepEqual(complaints, []);
      }
    });
