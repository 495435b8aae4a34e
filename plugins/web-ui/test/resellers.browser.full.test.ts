// Resellers on a whole panel: made by a full admin, at work within the quotas, and shown nothing else; and an admin of a
// small role, who is offered what the role allows.
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { bootPanel, launch, openPage, violations, type World } from './open-page.js';

const MINUTES = 600_000;
const PASSWORD = 'a password of nobody else';
let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  await world.api('inbounds/add', {
    protocol: 'vless',
    listen: '127.0.0.1',
    port: 20_443,
    remark: 'allowed',
  });
  await world.api('clients/add', { client: { email: 'of-somebody-else' }, inboundIds: [1] });
  const seller = await world.api<{ id: number }>('x/roles', { name: 'sells', kind: 'reseller' });
  await world.api('x/admins', { username: 'north', password: PASSWORD, role: seller.id });
  const reads = await world.api<{ id: number }>('x/roles', { name: 'reads', permissions: ['clients:read'] });
  await world.api('x/admins', { username: 'grace', password: PASSWORD, role: reads.id });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

const enter = (page: Page, username: string) =>
  page.context().request.post(`${world.base}/login`, { data: { username, password: PASSWORD } });

test.serial('a full admin makes a reseller', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/resellers');
  await page.getByRole('button', { name: 'Add a reseller' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Admin', { exact: true }).selectOption({ label: '\u2068north\u2069' });
  await dialog.getByLabel('Names begin with').fill('n-');
  await dialog.getByLabel('Clients at most').fill('2');
  await dialog.getByLabel('Traffic to give in all').fill('100');
  await dialog.getByLabel('allowed').check();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-reseller=north]').waitFor();
  const [reseller] = await world.api<object[]>('x/resellers');
  t.like(reseller, { prefix: 'n-', maxClients: 2, maxBytes: 100 * 2 ** 30, inboundIds: [1] });
  t.deepEqual(await violations(page), []);
});

test.serial('a reseller sees and makes his own clients, and no other page', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await enter(page, 'north');
  await show('/');
  await page.waitForURL(/\/own-clients/);
  await page.getByText('of 2', { exact: false }).first().waitFor();
  const links = await page.locator('header nav a').allInnerTexts();
  t.deepEqual(
    links.map((text) => text.trim()),
    ['Clients', 'Access', 'Preferences'],
  );
  await page.getByRole('button', { name: 'New client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('ada');
  await dialog.getByLabel('Quota').fill('10');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('must begin with', { exact: false }).last().waitFor();
  await dialog.getByLabel('Name', { exact: true }).fill('n-ada');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'n-ada' }).waitFor();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  t.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'Clients' }).first().click();
  await page.locator('[data-client=n-ada]').waitFor();
  t.is(await page.getByText('of-somebody-else').count(), 0);
  for (const path of ['/', '/clients', '/inbounds', '/system/settings', '/system/roles']) {
    await show(path);
    await page.waitForURL(/\/own-clients/);
  }
  await show('/system/access');
  await page.getByRole('heading', { name: 'Access' }).or(page.getByText('Sessions')).first().waitFor();
});

test.serial('an admin who reads clients is offered nothing else', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await enter(page, 'grace');
  await show('/clients');
  await page.getByText('of-somebody-else').first().waitFor();
  const links = await page.locator('header nav a').allInnerTexts();
  t.deepEqual(
    links.map((text) => text.trim()),
    ['Dashboard', 'Clients', 'System', 'Preferences'],
  );
  t.is(await page.getByRole('button', { name: 'New client' }).count(), 0);
  t.true(await page.getByRole('switch').first().isDisabled());
});
