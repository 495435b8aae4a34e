// How the page looks, in both directions and both themes: whether everyone can use it, and that nothing sticks out.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

/** Screenshots are kept where this says, for people to look at. */
const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;
const RTL = new Set(['fa', 'ar']);
const PAGES = {
  dashboard: { path: '/', ready: '.tiles' },
  clients: { path: '/clients', ready: '.rows .client-name' },
  client: { path: '/client?name=ann', ready: '.qr' },
  edit: { path: '/client?name=ann&edit=1', ready: 'form.edit .segment' },
  preferences: { path: '/preferences', ready: 'select' },
  missing: { path: '/nothing', ready: 'h1' },
} as const;

let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  const { api, engine } = world;
  const inbound = { protocol: 'vless', listen: '127.0.0.1' };
  const { id } = await api<{ id: number }>('inbounds/add', { ...inbound, port: 40_011, remark: 'home' });
  const soon = Date.now() + 86_400_000;
  for (const client of [
    { email: 'ann', totalGB: 50 * 1024 ** 3, expiryTime: soon, group: 'family', comment: 'pays monthly' },
    { email: 'سارا', expiryTime: -30 * 86_400_000 },
    { email: 'x'.repeat(200), enable: false },
    { email: 'gone', expiryTime: 1 },
  ])
    await api('clients/add', { client, inboundIds: [id] });
  engine.move(id, (await api<{ id: number }>('clients/get/ann')).id, 1024 ** 3, 40 * 1024 ** 3);
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

for (const language of ['en', 'fa', 'ru', 'zh', 'ar'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const { page, complaints, show, logIn } = await openPage(t, browser, world, {
        preferences: { language, theme },
      });
      await show('/');
      await page.locator('form.login-form').waitFor();
      t.deepEqual(await violations(page), [], 'login');
      complaints.splice(0);
      await logIn();
      for (const [name, { path, ready }] of Object.entries(PAGES)) {
        await show(path);
        await page.locator(ready).first().waitFor();
        t.is(await page.evaluate(() => document.documentElement.dir), RTL.has(language) ? 'rtl' : 'ltr');
        t.deepEqual(await violations(page), [], name);
      }
      await show('/clients');
      await page.locator('.page-head .button.main').click();
      await page.locator('[role=dialog] .checks').waitFor({ state: 'attached' });
      t.deepEqual(await violations(page), [], 'new client');
      t.deepEqual(complaints, []);
    });

for (const width of [360, 768, 1440])
  test.serial(`nothing sticks out of a screen of ${width} px, in each language`, async (t) => {
    t.timeout(MINUTES);
    for (const language of ['en', 'fa', 'ru', 'zh', 'ar']) {
      const { page, show, logIn } = await openPage(t, browser, world, {
        preferences: { language },
        viewport: { width, height: 800 },
        colorScheme: RTL.has(language) ? 'dark' : 'light',
      });
      await logIn();
      for (const [name, { path, ready }] of Object.entries(PAGES)) {
        await show(path);
        await page.locator(ready).first().waitFor();
        t.deepEqual(await outside(page), [], `${name} ${language}`);
        t.is(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${language}-${width}.png`) });
      }
    }
  });
