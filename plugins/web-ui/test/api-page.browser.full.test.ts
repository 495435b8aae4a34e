// The page of the API on a whole panel: tokens and their use, and a call that is tried.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import {
  BASE,
  bootPanel,
  LOOKS,
  launch,
  openPage,
  outside,
  sideways,
  violations,
  type World,
} from './open-page.js';

const MINUTES = 600_000;
const shots = process.env['WEIR_TEST_SCREENSHOTS'];
let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  const { id } = await world.api<{ id: number }>('inbounds/add', {
    protocol: 'vless',
    listen: '127.0.0.1',
    port: 40_051,
    remark: 'home',
  });
  await world.api('clients/add', { client: { email: 'ann?ben' }, inboundIds: [id] });
  for (const name of ['unused', 'bot']) {
    const { token } = await world.api<{ token: string }>('setting/apiTokens/create', { name });
    if (name === 'bot')
      await fetch(`${world.base}/panel/api/clients/groups`, {
        headers: { authorization: `Bearer ${token}` },
      });
  }
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

test.serial('a call is filled in, tried, and written as a command', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/api');
  await page.getByLabel('Search calls').fill('clients.get');
  const call = page.getByLabel('Call', { exact: true });
  await call.selectOption('clients.get');
  t.true(await page.getByRole('button', { name: 'Send' }).isDisabled());
  await page.getByLabel('email').fill('ann?ben');
  const command = await page.getByLabel('As a command').inputValue();
  t.true(command.includes(`${BASE}/panel/api/clients/get/ann%3Fben'`), command);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^200 after/).waitFor();
  const reply = JSON.parse(await page.getByLabel('Reply').inputValue()) as { obj: { email: string } };
  t.is(reply.obj.email, 'ann?ben');
  await page.getByLabel('email').fill('nobody');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText(/^404 after/).waitFor();
  t.regex(await page.getByLabel('Reply').inputValue(), /CLIENTS_NOT_FOUND/);
  t.deepEqual(
    complaints.filter((text) => !/status of 404/.test(text)),
    [],
  );
});

test.serial('tokens are listed with their use, the last used one first', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/api');
  const rows = page.locator('[aria-labelledby=api-tokens] .lines li');
  await rows.nth(1).waitFor();
  t.regex(await rows.nth(0).innerText(), /bot[\s\S]*Last used/);
  t.regex(await rows.nth(1).innerText(), /unused[\s\S]*Never used/);
  const links = page.locator('[aria-labelledby=api-address] a');
  for (const link of await links.all()) {
    const response = await page.request.get((await link.getAttribute('href')) ?? '');
    t.is(response.status(), 200);
  }
});

for (const [language, theme] of LOOKS)
  test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world, {
      preferences: { language, theme },
    });
    await logIn();
    await show('/system/api');
    await page.locator('form code').waitFor();
    await page.locator('[aria-labelledby=api-tokens] .lines li').first().waitFor();
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      t.deepEqual(await violations(page), [], `api ${width}`);
      t.deepEqual(await outside(page), [], `api ${width}`);
      t.is(await sideways(page), 0, `api ${width}`);
      if (shots) await page.screenshot({ path: join(shots, `api-${width}-${language}-${theme}.png`) });
    }
    t.deepEqual(complaints, []);
  });
