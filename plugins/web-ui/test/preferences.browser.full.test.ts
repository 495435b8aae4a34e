// Preferences of an admin on a whole panel: two browsers agree, and a failing call loses nothing.
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { ADMIN } from '../../../test/harness/index.js';
import { bootPanel, launch, openPage, violations, type World } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

/** What the panel has, as the session of the test sees it. */
const stored = (): Promise<object> => world.api('x/preferences');
const themeOf = (page: Page) => page.evaluate(() => document.documentElement.dataset['theme'] ?? 'system');
/** As if the reader came back to the window. */
const comeBack = (page: Page) => page.evaluate(() => dispatchEvent(new Event('visibilitychange')));

test.serial('two browsers of one admin agree', async (t) => {
  t.timeout(MINUTES);
  const [one, two] = [await openPage(t, browser, world), await openPage(t, browser, world)];
  for (const { logIn, show } of [one, two]) {
    await logIn();
    await show('/preferences');
  }
  await two.page.getByLabel('Colours').waitFor();
  await one.page.getByLabel('Colours').selectOption('dark');
  await one.page.getByLabel('Language').selectOption('fa');
  await one.page.locator('html[dir=rtl]').waitFor();
  await one.page.locator('.switch').click();
  const chosen = { language: 'fa', singleKeys: false, theme: 'dark' };
  while (!isDeepStrictEqual(await stored(), chosen)) await one.page.waitForTimeout(100);
  while ((await themeOf(two.page)) !== 'dark') {
    await comeBack(two.page);
    await two.page.waitForTimeout(200);
  }
  await two.page.locator('html[dir=rtl][data-theme=dark]').waitFor();
  await two.page.locator('.switch:not([data-selected])').waitFor();
  // The first paint knows it, before the panel has answered.
  await two.page.route('**/x/preferences', (route) => route.abort());
  await two.show('/');
  await two.page.locator('html[data-theme=dark]').waitFor();
  t.deepEqual(one.complaints, []);
});

test.serial('a failing call loses nothing', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/preferences');
  await page.locator('html[dir=rtl]').waitFor();
  let isDown = true;
  await page.route('**/x/preferences', (route) => (isDown ? route.abort() : route.continue()));
  await page.locator('select').nth(0).selectOption('en');
  await page.getByText('What you chose is in this browser only.').waitFor();
  t.deepEqual(await violations(page), []);
  await page.reload();
  await page.locator('html[lang=en]').waitFor();
  await page.getByText('What you chose is in this browser only.').waitFor();
  isDown = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.problem').waitFor({ state: 'detached' });
  while (!isDeepStrictEqual(await stored(), { language: 'en', singleKeys: false, theme: 'dark' }))
    await page.waitForTimeout(100);
  t.is(await page.locator('.problem').count(), 0);
});

test.serial('a language that is chosen at the login is that of the admin', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await show('/');
  await page.locator('select').first().selectOption('ru');
  await page.locator('html[lang=ru]').waitFor();
  await page.locator('input[name=password]').fill(ADMIN.password);
  await page.locator('input[name=username]').fill(ADMIN.username);
  await Promise.all([
    page.waitForResponse(
      (response) => /preferences$/.test(response.url()) && response.request().method() === 'POST',
    ),
    page.locator('form.login-form button[type=submit]').click(),
  ]);
  t.like(await stored(), { language: 'ru', theme: 'dark' });
  await page.locator('html[lang=ru][data-theme=dark]').waitFor();
});
