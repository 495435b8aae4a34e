// The palette by the keyboard alone, and names that try to be something else than text.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { bootPanel, fillLogin, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
const HOSTILE = `<img/src=x>&lt;abc${'W'.repeat(120)}`;
let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  await world.api('inbounds/add', {
    protocol: 'vless',
    port: 40_031,
    remark: `<b onclick="x">home${'W'.repeat(120)}`,
    listen: '127.0.0.1',
  });
  await world.api('clients/add', { client: { email: 'ann' }, inboundIds: [1] });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

test.serial('keys alone find a client, a setting and actions', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/');
  await page.locator('.dashboard').waitFor();
  const field = page.locator('.palette [role=combobox]:focus');
  const choose = async (typed: string, option: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await field.waitFor();
    await page.keyboard.type(typed);
    await page.locator(`[role=option][aria-selected=true]`, { hasText: option }).waitFor();
    t.is(await field.count(), 1);
    await page.keyboard.press('Enter');
    await field.waitFor({ state: 'detached' });
  };
  await choose('ann', 'ann');
  await page.waitForURL(/client\?name=ann/);
  await choose('scan candidates', 'Setting');
  await page.waitForURL(/system\/settings\?search=/);
  await choose('restart the', 'Restart the core');
  await page.getByRole('alertdialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  await choose('فارسی', 'فارسی');
  await page.locator('html[dir=rtl]').waitFor();
  await page.keyboard.press('Control+k');
  await field.waitFor();
  t.deepEqual(await violations(page), []);
  t.deepEqual(await outside(page), []);
  // The panel of this test has no core, so the restart has no plan.
  t.deepEqual(
    complaints.filter((text) => !/status of 404/.test(text)),
    [],
  );
});

test.serial('a client is made without a mouse', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await show('/clients');
  await fillLogin(page);
  await page.locator('.clients').waitFor();
  await page.keyboard.press('n');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('keys');
  await page.keyboard.press('Enter');
  await page.waitForURL(/client\?name=keys/);
  await page.locator('.links').waitFor();
  t.is(
    (await world.api<{ email: string }[]>('clients/list')).filter(({ email }) => email === 'keys').length,
    1,
  );
});

test.serial('hostile names are text, and the layout holds', async (t) => {
  t.timeout(MINUTES);
  await world.api('clients/add', { client: { email: HOSTILE.replace('/', '') }, inboundIds: [1] });
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  for (const [path, ready] of [
    ['/clients', '.clients'],
    ['/inbounds', '.inbound'],
    ['/', '.dashboard'],
  ] as const)
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      await show(path);
      await page.locator(ready).first().waitFor();
      if (path !== '/')
        await page.locator('main bdi:visible, main a:visible', { hasText: /W{20}/ }).first().waitFor();
      t.is(await page.locator('main img, main b').count(), 0, path);
      t.deepEqual(await outside(page), [], `${path} ${width}`);
    }
  t.deepEqual(complaints, []);
});
