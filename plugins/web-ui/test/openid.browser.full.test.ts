// Login by OpenID Connect in a real browser, at a real provider: the button, the link of an account, its end.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { ADMIN } from '../../../test/harness/index.js';
import { RealProvider } from '../../openid/test/real-provider.js';
import { settingsFor } from '../../openid/test/world.js';
import { bootPanel, LOOKS, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
let world: World;
let provider: RealProvider;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  provider = await RealProvider.start(`${world.base}/panel/api/x/openid/callback`);
  await world.api('setting/update', settingsFor(provider.issuer, world.base, { openidName: 'Our ID' }));
  provider.claims.set('ada-at-work', { preferred_username: 'ada' });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

test.serial('an account is linked under Access and logs in at the button', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await show('/login');
  await page.getByRole('button', { name: /Log in with .*Our ID/ }).click();
  await page.getByText('No admin is linked to this account.').waitFor();
  await page.getByText('OPENID_UNLINKED').waitFor();

  await logIn();
  await show('/system/access');
  const card = page.getByRole('region', { name: 'Linked accounts' });
  await card.getByLabel('Password now').fill('wrong');
  await card.getByRole('button', { name: /Link an account of/ }).click();
  await card.getByText('the password is wrong').waitFor();
  await card.getByLabel('Password now').fill(ADMIN.password);
  await card.getByRole('button', { name: /Link an account of/ }).click();
  await card.getByText('Your account is linked.').waitFor();
  await card.locator('[data-link=admin]').getByText('ada').waitFor();
  t.is(await card.getByLabel('Password now').count(), 0);

  // Another window of the same person, without a session.
  const other = await openPage(t, browser, world);
  await other.show('/clients?status=active');
  await other.page.getByRole('button', { name: /Log in with .*Our ID/ }).click();
  await other.page.getByRole('heading', { name: 'Clients' }).waitFor();
  t.is(new URL(other.page.url()).pathname, new URL(`${world.base}/panel/clients`).pathname);
  t.is(new URL(other.page.url()).search, '?status=active');
  // The browser logs that there was no session, and the call with the wrong password.
  const serious = [...complaints, ...other.complaints].filter((text) => !/status of 40[13]/.test(text));
  t.deepEqual(serious, []);
});

test.serial('a provider that is away leaves the password', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await world.api('setting/update', { openidIssuer: 'http://127.0.0.1:9' });
  await show('/login');
  await page.getByRole('button', { name: /Log in with/ }).click();
  await page.getByText('the provider does not answer as it should').waitFor();
  await page.locator('input[name=username]').fill(ADMIN.username);
  await page.locator('input[name=password]').fill(ADMIN.password);
  await page.locator('form.login-form button[type=submit]').click();
  await page.locator('.tiles').waitFor();
  t.pass();
  await world.api('setting/update', { openidIssuer: provider.issuer });
});

test.serial('an address cannot make the login say something else', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  provider.account = 'somebody-else';
  await show('/login?trouble=%3Cb%3EYour%20panel%20is%20lost%3C%2Fb%3E&returnTo=%2F%2Fevil.example');
  await page.getByRole('button', { name: /Log in with/ }).waitFor();
  t.is(await page.locator('.problem').count(), 0);
  await page.getByRole('button', { name: /Log in with/ }).click();
  await page.getByText('OPENID_UNLINKED').waitFor();
  t.true(page.url().startsWith(`${world.base}/panel/login`));
  provider.account = 'ada-at-work';
});

for (const [language, theme] of LOOKS)
  test.serial(`looks right in ${language}, ${theme}`, async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, world, {
      preferences: { language, theme },
      viewport: { width: 360, height: 800 },
    });
    await show('/login?trouble=OPENID_STALE');
    await page.locator('.problem').waitFor();
    await page.getByRole('button', { name: /Our ID/ }).waitFor();
    t.deepEqual(await violations(page), []);
    t.deepEqual(await outside(page), []);
    await logIn();
    await show('/system/access?openid=OPENID_TAKEN');
    await page.locator('[aria-labelledby=linked-accounts] .problem').waitFor();
    await page.locator('[data-link=admin]').waitFor();
    t.deepEqual(await violations(page), []);
    t.deepEqual(await outside(page), []);
  });

test.serial('an account is unlinked', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/access');
  const card = page.getByRole('region', { name: 'Linked accounts' });
  await card.getByRole('button', { name: /Unlink the account of/ }).click();
  await card.getByLabel('Password now').waitFor();
  t.is(await page.locator('[data-link]').count(), 0);
  // The other sessions of the admin have ended.
  await t.throwsAsync(world.api('x/openid/links'), { message: /log in/ });
});
