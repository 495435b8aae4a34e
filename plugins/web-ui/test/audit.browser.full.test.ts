// The record of changes on a whole panel: filters in the address, pages, fields, undo, and how it looks.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;

let browser: Browser;
let world: World;
let inboundId: number;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  const { api } = world;
  const inbound = { protocol: 'vless', listen: '127.0.0.1', port: 40_721, remark: 'home' };
  inboundId = (await api<{ id: number }>('inbounds/add', inbound)).id;
  for (let i = 1; i <= 60; i++) await add(`many-${i}`);
  await add('ann');
  await api('clients/update/ann', { comment: 'pays monthly', limitIp: 3 });
  const remark = '<img src=x onerror=complain("script")>';
  await api('inbounds/add', { ...inbound, port: 40_722, remark });
  await api('clients/del/many-60', {});
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});
const add = (email: string) =>
  world.api('clients/add', { client: { email, totalGB: 0 }, inboundIds: [inboundId] });

test.serial('filters are in the address, and pages go on without a gap', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/audit');
  await page.locator('[data-change]').first().waitFor();
  t.is(await page.locator('[data-change]').count(), 50);
  const first = await page.locator('.audit-what').first().textContent();
  t.regex(first ?? '', /^Deleted Client .*many-60/);
  await page.getByRole('button', { name: 'Older changes' }).click();
  await page.locator('[data-change]').nth(50).waitFor();
  const ids = await page
    .locator('[data-change]')
    .evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-change'))));
  t.deepEqual(
    ids,
    ids.map((_, index) => (ids[0] ?? 0) - index),
  );

  await page.getByLabel('Record', { exact: true }).selectOption('client');
  await page.getByLabel('Kind of change').selectOption('updated');
  await page.getByText('1 change, the newest first').waitFor();
  await page.getByLabel('Name of the record').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No recorded change matches.').waitFor();
  t.is(new URL(page.url()).search, '?area=client&kind=updated&name=nobody');
  await page.goBack();
  await page.getByText('1 change, the newest first').waitFor();
  t.is(await page.getByLabel('Name of the record').inputValue(), '');
  await page.reload();
  await page.getByText('1 change, the newest first').waitFor();
  t.is(await page.getByLabel('Kind of change').inputValue(), 'updated');

  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByLabel('Time').selectOption('1');
  await page.locator('[data-change]').nth(49).waitFor();
  // From the day after tomorrow on, nothing can be recorded.
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  await show(`/system/audit?from=${later}`);
  await page.getByText('No recorded change matches.').waitFor();
  t.is(await page.getByLabel('Time').inputValue(), 'days');
  const year = page.getByRole('spinbutton', { name: /year/i }).first();
  await year.fill('2025');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.locator('[data-change]').first().waitFor();
  t.regex(page.url(), /from=2025-/);
  t.deepEqual(complaints, []);
});

test.serial('a change shows its fields, is undone, and says what was changed since', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/audit?area=client&name=ann&kind=updated');
  const change = page.locator('[data-change]');
  await change.locator('summary').click();
  const field = (name: string) => change.locator('.audit-fields > div', { hasText: name });
  await field('comment').getByText('before: blank').waitFor();
  await field('comment').getByText('after: pays monthly').waitFor();
  await field('limitIp').getByText('after: 3').waitFor();

  await world.api('clients/update/ann', { limitIp: 5 });
  await change.getByRole('button', { name: /^Undo/ }).click();
  await change.getByText('Nothing was undone').waitFor();
  await change.locator('.problem').getByText('as it was left: 3').waitFor();
  await change.locator('.problem').getByText('now: 5').waitFor();
  t.is((await world.api<{ comment: string }>('clients/get/ann')).comment, 'pays monthly');

  await world.api('clients/update/ann', { limitIp: 3 });
  await page.getByRole('button', { name: 'Look for new ones' }).click();
  await change.nth(2).waitFor();
  await change.last().getByRole('button', { name: /^Undo/ }).click();
  await page.getByText('Undone.').waitFor();
  await page.getByText(/^Undoes change/).waitFor();
  t.like(await world.api<object>('clients/get/ann'), { comment: '', limitIp: 0 });
  await change
    .last()
    .getByText(/cannot be undone/)
    .waitFor();
  // A browser logs each refused call by itself.
  t.deepEqual(
    complaints.filter((text) => !/status of 409/.test(text)),
    [],
  );
});

test.serial('nothing sticks out, and axe finds nothing, in each language', async (t) => {
  t.timeout(MINUTES);
  for (const language of ['en', 'fa', 'ru', 'zh', 'ar'])
    for (const width of [360, 1440]) {
      const theme = (width === 360) === (language === 'fa') ? 'dark' : 'light';
      const { page, complaints, show, logIn } = await openPage(t, browser, world, {
        preferences: { language, theme },
        viewport: { width, height: 800 },
      });
      await logIn();
      await show('/system/audit?from=2026-01-01');
      await page.locator('[data-change]').first().waitFor();
      if (width === 360) await page.locator('.audit-search > button').click();
      await page.locator('.audit-filters').waitFor();
      for (const fold of (await page.locator('[data-change] summary').all()).slice(0, 8)) await fold.click();
      await page.locator('.audit-fields').nth(5).waitFor();
      const place = `${language} ${theme} ${width}`;
      t.deepEqual(await outside(page), [], place);
      t.deepEqual(await violations(page), [], place);
      t.deepEqual(complaints, [], place);
      if (shots) await page.screenshot({ path: join(shots, `audit-${language}-${theme}-${width}.png`) });
    }
});
