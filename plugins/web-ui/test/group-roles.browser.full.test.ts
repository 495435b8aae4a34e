// Admins of groups on a whole panel: a full admin makes their role in the form; one who may write works with the clients of
// the group and is shown nothing else; one who reads is offered no change.
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { bootPanel, launch, openPage, violations, type World } from './open-page.js';

const MINUTES = 600_000;
const PASSWORD = 'a password of nobody else';
let browser: Browser;
let world: World;
const admin = async (username: string, role: number) =>
  world.api('x/admins', { username, password: PASSWORD, role });
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  const inbound = { protocol: 'vless', listen: '127.0.0.1', port: 20_444, remark: 'shared' };
  await world.api('inbounds/add', inbound);
  const add = (email: string, group: string) =>
    world.api('clients/add', { client: { email, group }, inboundIds: [1] });
  await add('ada', 'north');
  await add('of-the-south', 'south');
  const reads = { name: 'reads', kind: 'groups', groups: ['north'], level: 'read' };
  await admin('reader', (await world.api<{ id: number }>('x/roles', reads)).id);
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

const enter = (page: Page, username: string) =>
  page.context().request.post(`${world.base}/login`, { data: { username, password: PASSWORD } });

test.serial('a full admin makes a role for a group', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/roles');
  await page.getByRole('button', { name: 'Add a role' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the role').fill('staff of the north');
  await dialog.getByLabel('Kind', { exact: true }).selectOption('groups');
  await dialog.getByLabel('What its admins may do').selectOption('write');
  await dialog.getByLabel('north', { exact: true }).check();
  t.deepEqual(await violations(page), []);
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-role="staff of the north"]').getByText('Sees and changes').waitFor();
  const roles = await world.api<{ id: number; name: string }[]>('x/roles');
  const made = roles.find(({ name }) => name === 'staff of the north');
  t.like(made, { kind: 'groups', groups: ['north'], level: 'write', permissions: [] });
  await admin('staff', made?.id ?? 0);
});

test.serial('an admin of the group works with its clients, and sees no other page', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await enter(page, 'staff');
  await show('/');
  await page.waitForURL(/\/own-clients/);
  await page.locator('[data-client=ada]').waitFor();
  t.is(await page.getByText('of-the-south').count(), 0);
  const links = await page.locator('header nav a').allInnerTexts();
  t.deepEqual(
    links.map((text) => text.trim()),
    ['Clients', 'Access', 'Preferences'],
  );
  await page.getByRole('button', { name: 'New client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('grace');
  await dialog.getByLabel('Quota').fill('10');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'grace' }).waitFor();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  t.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: 'Switch off' }).click();
  await page.getByRole('button', { name: 'Switch on' }).waitFor();
  t.like(await world.api('clients/get/grace'), { group: 'north', enable: false, totalGB: 10 * 2 ** 30 });
  for (const path of ['/', '/clients', '/groups', '/system/roles']) {
    await show(path);
    await page.waitForURL(/\/own-clients/);
  }
});

test.serial('an admin who only reads is offered no change', async (t) => {
  t.timeout(MINUTES);
  const { page, show } = await openPage(t, browser, world);
  await enter(page, 'reader');
  await show('/own-clients');
  await page.getByText('cannot change them').waitFor();
  t.is(await page.getByRole('button', { name: 'New client' }).count(), 0);
  await page.locator('[data-client=ada]').getByRole('link').click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  for (const name of ['Edit', 'Delete', 'Switch off'])
    t.is(await page.getByRole('button', { name, exact: true }).count(), 0, name);
});
