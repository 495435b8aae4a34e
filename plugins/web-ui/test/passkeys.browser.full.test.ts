// Passkeys in a real browser, with an authenticator that the browser itself emulates.
import test from 'ava';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { ADMIN } from '../../../test/harness/index.js';
import { bootPanel, launch, LOOKS, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
let world: World;
/** Passkeys need a name; a browser takes localhost for secure. */
let named: Pick<World, 'base'>;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  named = { base: world.base.replace('127.0.0.1', 'localhost') };
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

interface Device {
  readonly cdp: CDPSession;
  readonly authenticatorId: string;
}
/** An authenticator in the device, which says yes. */
async function deviceOf(page: Page): Promise<Device> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, authenticatorId };
}
/** Logs in at the host of the page: cookies belong to it. */
const logIn = (page: Page) => page.context().request.post(`${named.base}/login`, { data: ADMIN });
const button = (page: Page) => page.getByRole('button', { name: 'Log in with a passkey' });

async function add(page: Page, name: string, password: string = ADMIN.password): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Password').fill(password);
  await dialog.getByRole('button', { name: 'Add a passkey' }).click();
}

test.serial('a passkey is added, logs in, is renamed and removed', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, asked, show } = await openPage(t, browser, named);
  const { cdp, authenticatorId } = await deviceOf(page);
  await show('/');
  await page.locator('input[name=password]').waitFor();
  t.is(await button(page).count(), 0, 'nobody has one');

  await logIn(page);
  await show('/system/access');
  await page.getByText('You have no passkeys.').waitFor();
  await add(page, 'laptop');
  await page.locator('[data-passkey=laptop]').waitFor();
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  t.like(credentials[0], { isResidentCredential: true, rpId: 'localhost' });

  await add(page, 'again');
  await page.getByRole('dialog').getByText('This device has a passkey of this panel already.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: `Account of ${ADMIN.username}` }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await button(page).click();
  // Back to where the admin was.
  await page.locator('[data-passkey=laptop]').waitFor();
  t.true(
    asked.every((url) => url.startsWith(named.base) || url.startsWith('data:')),
    'no other host',
  );

  await show('/system/access');
  const key = page.locator('[data-passkey=laptop]');
  await key.getByText('Last used').waitFor();
  await key.getByRole('button', { name: /^Edit/ }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('old laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-passkey="old laptop"]').waitFor();
  await page.getByRole('button', { name: /^Remove.*old laptop/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('You have no passkeys.').waitFor();
  t.deepEqual(
    complaints.filter((line) => !line.includes('401')),
    [],
  );
});

/** Calls with a session of its own: tests before have ended others. */
async function asAdmin<T>(work: (call: (path: string, data?: object) => Promise<unknown>) => Promise<T>) {
  const context = await browser.newContext();
  try {
    const { request } = context;
    await request.post(`${named.base}/login`, { data: ADMIN });
    const csrf = (await (await request.get(`${named.base}/csrf-token`)).json()) as { obj: string };
    const headers = { 'x-csrf-token': csrf.obj };
    return await work(async (path, data) => {
      const url = `${named.base}/panel/api/${path}`;
      const reply = await (data ? request.post(url, { data, headers }) : request.get(url));
      return ((await reply.json()) as { obj: unknown }).obj;
    });
  } finally {
    await context.close();
  }
}
/** Of the first admin. */
const removeAll = () =>
  asAdmin(async (call) => {
    const [first] = (await call('x/admins')) as { id: number }[];
    await call(`x/passkeys/of/${first?.id}/del`, {});
  });

test.serial('what the device refuses, and a key that is gone, are said', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, named);
  const { cdp, authenticatorId } = await deviceOf(page);
  await logIn(page);
  await show('/system/access');
  await add(page, 'phone');
  await page.locator('[data-passkey=phone]').waitFor();
  await page.context().clearCookies();
  await show('/login');
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await button(page).click();
  await page.getByRole('alert').filter({ hasText: 'cancelled, or took too long' }).waitFor();
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await button(page).click();
  await page.locator('.tiles').waitFor();

  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  const [stored] = credentials;
  if (!stored) return t.fail('the device has no key');
  // A copy of the device that was used less often.
  await cdp.send('WebAuthn.clearCredentials', { authenticatorId });
  await cdp.send('WebAuthn.addCredential', { authenticatorId, credential: { ...stored, signCount: 0 } });
  await page.context().clearCookies();
  await show('/login');
  await button(page).click();
  await page.getByRole('alert').filter({ hasText: 'there may be a copy of it' }).waitFor();

  await removeAll();
  await button(page).click();
  await page.getByRole('alert').filter({ hasText: 'is not accepted' }).waitFor();
  t.pass();
});

test.serial('a full admin removes the passkeys of an admin who has lost the device', async (t) => {
  t.timeout(MINUTES);
  const ada = { username: 'ada', password: 'correct horse battery' };
  await asAdmin((call) => call('x/admins', { ...ada, role: 0 }));
  const hers = await openPage(t, browser, named);
  await deviceOf(hers.page);
  await hers.page.context().request.post(`${named.base}/login`, { data: ada });
  await hers.show('/system/access');
  await add(hers.page, 'lost phone', ada.password);
  await hers.page.locator('[data-passkey="lost phone"]').waitFor();

  const { page, show } = await openPage(t, browser, named);
  await logIn(page);
  await show('/system/roles');
  const others = page.getByRole('button', { name: /^Remove all passkeys of/ });
  await others.waitFor();
  t.is(await others.count(), 1, 'the own ones are at the account');
  await others.click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove passkeys' }).click();
  await page.getByText('1 passkey was removed.').waitFor();

  // Her session has ended, too.
  await hers.show('/login');
  await hers.page.locator('input[name=password]').waitFor();
  t.is(await button(hers.page).count(), 0, 'nobody has one any more');
});

test.serial('by an address there are no passkeys, and the page says why', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn: logInThere } = await openPage(t, browser, world);
  await logInThere();
  await show('/system/access');
  await page.getByText('Passkeys need a host name and https').waitFor();
  t.is(await page.getByRole('button', { name: 'Add a passkey' }).count(), 0);
});

for (const [language, colorScheme] of LOOKS)
  test.serial(`looks: ${language}, ${colorScheme}`, async (t) => {
    t.timeout(MINUTES);
    for (const width of [360, 1440]) {
      const { page, show } = await openPage(t, browser, named, {
        preferences: { language },
        viewport: { width, height: 800 },
        colorScheme,
      });
      await deviceOf(page);
      await logIn(page);
      await show('/system/access');
      await page.locator('#passkeys').waitFor();
      t.deepEqual(await violations(page), [], `account ${width}`);
      t.deepEqual(await outside(page), [], `account ${width}`);
    }
  });
