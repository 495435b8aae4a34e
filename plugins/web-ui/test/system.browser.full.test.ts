// The pages of the system on a whole panel: what they do, and how they look.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;
interface Looked {
  readonly path: string;
  /** an element that is there once the page is */
  readonly ready: string;
  /** what to look for, where that shows more */
  readonly search?: string;
}
const PAGES = {
  plugins: { path: '/system/plugins', ready: '[data-plugin]' },
  access: { path: '/system/access', ready: '[data-session=current]' },
  settings: { path: '/system/settings', ready: '[data-section]', search: 'e' },
} as const satisfies Record<string, Looked>;

let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

test.serial('plugins are found, and a refused switch says why', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system');
  await page.locator('[data-plugin=clients]').waitFor();
  t.is(page.url(), `${world.base}/panel/system/plugins`);
  await page.getByLabel('Search plugins').fill('audit');
  await page.locator('[data-plugin=clients]').waitFor({ state: 'detached' });
  await page
    .locator('[data-plugin=audit]')
    .getByRole('button', { name: /^Switch off/ })
    .click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('The core and its connections keep running').waitFor();
  await dialog.getByRole('button', { name: 'Switch off' }).click();
  // This panel is embedded in a test, so nothing can restart it.
  await dialog.getByText('SYSTEM_NO_PROGRAM').waitFor();
  t.pass();
});

test.serial('a token is shown once; sessions of others end', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/access');
  await page.getByRole('button', { name: 'New API token' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('shop');
  await dialog.getByLabel('End').selectOption('30');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const token = await dialog.locator('.copy textarea').inputValue();
  const list = `${world.base}/panel/api/setting/apiTokens`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(list, { headers });
  t.is(answer.status, 200);
  const { obj } = (await answer.json()) as { obj: { name: string; expiresAt: number }[] };
  t.is(obj[0]?.name, 'shop');
  t.true(Math.abs((obj[0]?.expiresAt ?? 0) - Date.now() - 30 * 86_400_000) < MINUTES);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.locator('[data-token]').waitFor();
  t.false((await page.content()).includes(token));
  await page.getByRole('button', { name: /^Remove.*shop/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('There are no API tokens.').waitFor();
  t.is((await fetch(list, { headers })).status, 401);
  await page.getByRole('button', { name: 'End all others' }).click();
  await page.locator('[data-session=other]').first().waitFor({ state: 'detached' });
  t.is(await page.locator('[data-session]').count(), 1);
  t.deepEqual(complaints, []);
});

test.serial('the second factor is enrolled with a code, and switched off with a recovery code', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/access');
  await page.getByRole('button', { name: 'Set up' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('.qr svg').waitFor();
  const key = await dialog.locator('.copy textarea').inputValue();
  t.regex(key, /^[A-Z2-7]{32}$/);
  await dialog.getByLabel('Code of the second factor').fill('000000');
  await dialog.getByRole('button', { name: 'Check the code' }).click();
  await dialog.locator('.field-problem, .problem').first().waitFor();
  const code = new TOTP({ secret: Secret.fromBase32(key) }).generate();
  await dialog.getByLabel('Code of the second factor').fill(code);
  await dialog.getByRole('button', { name: 'Check the code' }).click();
  await dialog.getByText('Each of these codes').waitFor();
  const codes = (await dialog.locator('.copy textarea').inputValue()).split('\n');
  t.is(codes.length, 10);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    dialog.getByRole('link', { name: 'Download' }).click(),
  ]);
  t.is(download.suggestedFilename(), 'weir-recovery-codes.txt');
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('10 recovery codes left').waitFor();
  await page.getByRole('button', { name: 'Switch off', exact: true }).click();
  await dialog.getByLabel('Code of the second factor').fill(codes[0] ?? '');
  await dialog.getByRole('button', { name: 'Switch off', exact: true }).click();
  await page.getByText('Off: the password alone').waitFor();
  t.pass();
});

/** Settings in force, with the session of the page: other tests end all others. */
async function exported(page: Page): Promise<Readonly<Record<string, unknown>>> {
  const answer = await page.request.get(`${world.base}/panel/api/x/settings/export`);
  return ((await answer.json()) as { obj: { settings: Record<string, unknown> } }).obj.settings;
}

test.serial('a setting is found, refused at its field, kept over a reload, and stored', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  const bodies: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/setting/update')) bodies.push(request.postDataJSON());
  });
  await logIn();
  await show('/system/settings');
  const search = page.getByLabel('Search settings');
  await search.fill('subJsonEnable');
  await page.locator('[data-setting=subJsonEnable] .hint').first().waitFor();
  t.is(await page.locator('[data-setting=subJsonEnable] .hint').count(), 1, 'described once');
  await search.fill('login lasts after the last');
  const age = page.locator('[data-setting=sessionMaxAge]');
  await age.getByText(/^Default: .?360 minutes.?$/).waitFor();
  t.is(await page.locator('[data-setting]').count(), 1);
  await age.locator('input').fill('0');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  await save.click();
  await age.locator('.field-problem').getByText('must be').waitFor();
  await page.getByText('One setting was refused').waitFor();
  t.is((await exported(page))['sessionMaxAge'], 360);

  await age.locator('input').fill('720');
  await age.locator('.field-problem').waitFor({ state: 'detached' });
  await search.fill('smtpPassword');
  await page.locator('[data-setting=smtpPassword] input').fill('a-secret-of-mail');
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
  t.true(stored.includes('sessionMaxAge'));
  t.false(stored.includes('a-secret-of-mail'));
  await page.reload();
  await page.getByText('These changes are from your last visit').waitFor();
  await search.fill('smtpPassword');
  const password = page.locator('[data-setting=smtpPassword]');
  t.is(await password.locator('input').getAttribute('type'), 'password');
  t.is(await password.locator('input').inputValue(), '');
  await password.locator('input').fill('a-secret-of-mail');
  await save.click();
  // The hint about the draft says "not saved.", too.
  await page.locator('.notice').getByText('Saved.').waitFor();
  t.deepEqual(bodies, [{ sessionMaxAge: 0 }, { sessionMaxAge: 720, smtpPassword: 'a-secret-of-mail' }]);
  t.is((await exported(page))['sessionMaxAge'], 720);
  await password.getByLabel('Delete what is stored').waitFor();
  t.is(await password.locator('input[type=password]').inputValue(), '');
  await search.fill('');
  await page.getByLabel('Show', { exact: true }).selectOption('differing');
  await age.getByRole('button', { name: /^Use the default/ }).click();
  await save.click();
  await age.getByText('Differs from the default').waitFor({ state: 'detached' });
  t.deepEqual(bodies[2], { sessionMaxAge: 360 });
});

test.serial('a setting of the environment is shown, and cannot be changed', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/settings');
  await page.getByLabel('Search settings').fill('webBasePath');
  const path = page.locator('[data-setting=webBasePath]');
  await path.getByText('WEIR_BASE_PATH').waitFor();
  await path.getByText('/secret/', { exact: true }).waitFor();
  t.is(await path.locator('input, button, select, textarea').count(), 0);
  await page.getByLabel('Search settings').fill('webListen');
  await page
    .locator('[data-setting=webListen]')
    .getByText('In force from the next start of the panel on.')
    .waitFor();
  t.deepEqual(complaints, []);
});

for (const [language, colorScheme] of [
  ['en', 'light'],
  ['en', 'dark'],
  ['fa', 'light'],
  ['fa', 'dark'],
] as const)
  test.serial(`looks: ${language}, ${colorScheme}`, async (t) => {
    t.timeout(MINUTES);
    for (const width of [360, 1440]) {
      const { page, complaints, show, logIn } = await openPage(t, browser, world, {
        preferences: { language },
        viewport: { width, height: 800 },
        colorScheme,
      });
      await logIn();
      for (const [name, { path, ready, search }] of Object.entries<Looked>(PAGES)) {
        await show(path);
        await page.locator(ready).first().waitFor();
        if (search !== undefined) await page.locator('input[type=search]').fill(search);
        t.deepEqual(await violations(page), [], `${name} ${width}`);
        t.deepEqual(await outside(page), [], `${name} ${width}`);
        if (shots)
          await page.screenshot({ path: join(shots, `${name}-${language}-${colorScheme}-${width}.png`) });
      }
      t.deepEqual(complaints, []);
    }
  });
