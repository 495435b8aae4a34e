// The subscription on a whole panel: what a client gets, on its page and beside the settings.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import {
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
    port: 40_041,
    remark: 'home',
  });
  for (const email of ['ann', 'ben']) await world.api('clients/add', { client: { email }, inboundIds: [id] });
  await world.api('setting/update', { subJsonEnable: true, subAltEnable: true, subAltAutoDetect: true });
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});
interface Preview {
  readonly format: string;
  readonly body: string;
}
const preview = (query: string) => world.api<Preview>(`setting/subscriptionPreview?${query}`);

test.serial('a client page shows what each program gets', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, asked, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/client?name=ann');
  const open = page.getByRole('button', { name: 'What programs get' });
  await open.waitFor();
  t.false(asked.some((url) => url.includes('subscriptionPreview')));
  await open.click();
  const body = page.getByLabel('Content');
  await body.waitFor();
  const links = await preview('email=ann');
  t.is(await body.inputValue(), Buffer.from(links.body, 'base64').toString());
  t.regex(await body.inputValue(), /^vless:\/\//);
  await page.getByText('sent as base64').waitFor();

  await page.getByLabel('Format', { exact: true }).selectOption('json');
  await page.getByText('Format json').waitFor();
  const json = await preview('email=ann&path=json');
  t.deepEqual(JSON.parse(await body.inputValue()), JSON.parse(json.body));

  await page.getByLabel('Format', { exact: true }).selectOption({ label: 'Standard address' });
  await page.getByLabel('Program', { exact: true }).selectOption('mihomo');
  await page.getByText('Format alt').waitFor();
  t.regex(await body.inputValue(), /^proxies:/m);
  await page.locator('.fold summary', { hasText: 'headers' }).click();
  await page.getByText('subscription-userinfo', { exact: false }).first().waitFor();

  const pane = page.locator('.preview');
  await pane.locator('.fold summary', { hasText: 'Address of the subscription' }).click();
  const [first] = await world.api<{ url: string }[]>('x/subscription/urls/ann');
  t.is(await pane.locator('.link textarea').inputValue(), first?.url ?? '');
  await pane.locator('.qr').waitFor();
  t.deepEqual(complaints, []);
});

test.serial('a setting is changed beside what it changes', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/');
  await page.getByRole('link', { name: 'Subscription' }).click();
  const body = page.getByLabel('Content');
  await body.waitFor();
  const before = await body.inputValue();
  await page.getByLabel('Client', { exact: true }).selectOption('ben');
  await page.waitForFunction(() => location.search.includes('client=ben'));
  const setting = page.locator('[data-setting=remarkTemplate] .input');
  await setting.fill('{{EMAIL}} at home');
  await page.getByText('A save would change 1 line.').waitFor();
  t.regex(await body.inputValue(), /#ben%20at%20home$/m);
  // Not in force before it is saved, and not lost by a reload.
  t.false(
    Buffer.from((await preview('email=ben')).body, 'base64')
      .toString()
      .includes('at%20home'),
  );
  await page.reload();
  await setting.waitFor();
  t.is(await setting.inputValue(), '{{EMAIL}} at home');
  await page.getByText('A save would change 1 line.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The save changed 1 line.').waitFor();
  t.regex(await body.inputValue(), /#ben%20at%20home$/m);
  t.regex(await page.locator('.preview-changes ins').innerText(), /ben%20at%20home/);
  t.not(before, await body.inputValue());
  t.is((await world.api<{ remarkTemplate: string }>('setting/all', {})).remarkTemplate, '{{EMAIL}} at home');
  t.deepEqual(complaints, []);
});

test.serial('what is typed is previewed when typing rests, and only the last of it', async (t) => {
  t.timeout(MINUTES);
  const { page, asked, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/subscription?client=ann');
  const body = page.getByLabel('Content');
  await body.waitFor();
  const before = await body.inputValue();
  const calls = () => asked.filter((url) => url.endsWith('/x/subscription/preview')).length;
  t.is(calls(), 0, 'nothing is unsaved');
  const setting = page.locator('[data-setting=remarkTemplate] .input');
  await setting.fill('');
  await setting.pressSequentially('typed letter by letter', { delay: 20 });
  await page.getByText('A save would change 1 line.').waitFor();
  t.regex(await body.inputValue(), /#typed%20letter%20by%20letter$/m);
  t.true(calls() < 6, `${calls()} calls for 22 letters`);

  // A slow answer to what was typed before does not take the place of a newer one.
  let slow: (() => Promise<void>) | undefined;
  await page.route('**/x/subscription/preview', async (route) => {
    if (route.request().postData()?.includes('slow')) {
      slow = () => route.continue().catch(() => undefined);
      return;
    }
    await route.continue();
  });
  await setting.fill('slow');
  for (let i = 0; i < 100 && !slow; i++) await page.waitForTimeout(50);
  await setting.fill('quick');
  await page.waitForFunction(() =>
    /#quick$/m.test(document.querySelector<HTMLTextAreaElement>('.preview .copy textarea')?.value ?? ''),
  );
  await slow?.();
  await page.waitForTimeout(300);
  t.regex(await body.inputValue(), /#quick$/m);
  await page.unroute('**/x/subscription/preview');

  // A refused value is named, and the last good preview stays.
  await page.locator('[data-setting=subUpdates] .input').fill('-1');
  const refused = page.locator('.preview .field-problem');
  await refused.getByText('subUpdates').waitFor();
  t.regex(await body.inputValue(), /#quick$/m);
  await page.locator('[data-setting=subUpdates] .input').fill('3');
  await refused.waitFor({ state: 'detached' });

  // A format that only the change serves can be looked at.
  await page.locator('[data-setting=subSingBoxEnable] label').first().click();
  await page.getByLabel('Format', { exact: true }).selectOption('sing-box');
  await page.getByText('Format sing-box').waitFor();
  t.like(JSON.parse(await body.inputValue()), { outbounds: [{ type: 'selector' }] });
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.waitForFunction(
    (text) => document.querySelector<HTMLTextAreaElement>('.preview .copy textarea')?.value === text,
    before,
  );
  t.deepEqual(
    complaints.filter((line) => !line.includes('400')),
    [],
  );
});

test.serial('what the panel refuses stands at its setting, and nothing is stored', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/subscription');
  const title = page.locator('[data-setting=subTitle] .input');
  await title.fill('home');
  await page.locator('[data-setting=subUpdates] .input').fill('-1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-setting=subUpdates] .field-problem').waitFor();
  t.is(await title.inputValue(), 'home');
  t.is((await world.api<{ subTitle: string }>('setting/all', {})).subTitle, '');
  await page.getByRole('button', { name: 'Discard' }).click();
  t.is(await title.inputValue(), '');
});

for (const [language, theme] of LOOKS)
  test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world, {
      preferences: { language, theme },
    });
    await logIn();
    await show('/client?name=ann');
    await page.locator('[aria-labelledby=preview] [aria-expanded]').click();
    await page.locator('.preview .copy').first().waitFor();
    await page.evaluate(() => {
      for (const fold of document.querySelectorAll('details')) fold.open = true;
    });
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await page.locator('.preview').scrollIntoViewIfNeeded();
      t.deepEqual(await violations(page), [], `client ${width}`);
      t.deepEqual(await outside(page), [], `client ${width}`);
      t.is(await sideways(page), 0, `client ${width}`);
      if (shots) await page.screenshot({ path: join(shots, `preview-${width}-${language}-${theme}.png`) });
    }
    await show('/subscription');
    await page.locator('.preview .copy').first().waitFor();
    await page.locator('.setting').first().waitFor();
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      t.deepEqual(await violations(page), [], `settings ${width}`);
      t.deepEqual(await outside(page), [], `settings ${width}`);
      t.is(await sideways(page), 0, `settings ${width}`);
      if (shots)
        await page.screenshot({ path: join(shots, `subscription-${width}-${language}-${theme}.png`) });
    }
    t.deepEqual(complaints, []);
  });
