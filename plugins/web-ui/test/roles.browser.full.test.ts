// Admins and roles on a whole panel: made, given, refused where they must be, and how it looks.
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
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

interface Role {
  readonly id: number;
  readonly name: string;
  readonly permissions: readonly string[];
}
interface Admin {
  readonly username: string;
  readonly role: number;
  readonly enabled: boolean;
}

test.serial('a role is made and given to an admin and a token; what is in use stays', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/system/roles');
  await page.getByText('There are no roles.').waitFor();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add a role' }).click();
  await dialog.getByLabel('Name of the role').fill('support');
  await dialog.getByLabel('clients', { exact: true }).selectOption('write');
  await dialog.getByLabel('inbounds', { exact: true }).selectOption('read');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-role=support]').waitFor();
  const [role] = await world.api<Role[]>('x/roles');
  t.deepEqual(role?.permissions, ['clients:write', 'inbounds:read']);

  await page.getByRole('button', { name: 'Add an admin' }).click();
  await dialog.getByLabel('User name').fill('admin');
  await dialog.getByLabel('Password').fill('correct horse battery');
  await dialog.getByLabel('Role', { exact: true }).selectOption({ label: '\u2068support\u2069' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  // What was typed stays, and the field says what is wrong.
  await dialog.getByText('another admin has this user name').waitFor();
  await dialog.getByLabel('User name').fill('grace');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.locator('[data-admin=grace]').getByText('support').waitFor();
  t.deepEqual(
    (await world.api<Admin[]>('x/admins')).map(({ username, role: one }) => [username, one]),
    [
      ['admin', 0],
      ['grace', role?.id],
    ],
  );

  await page.getByRole('button', { name: /^Remove.*support/ }).click();
  const question = page.getByRole('alertdialog');
  await question.getByRole('button', { name: 'Remove' }).click();
  await question.getByText('give them another one first').waitFor();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: /^Edit.*grace/ }).click();
  await dialog.getByLabel('Role', { exact: true }).selectOption('0');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-admin=grace]').getByText('Full admin').waitFor();
  await page.locator('[data-admin=grace] .switch').click();
  while (
    (await world.api<Admin[]>('x/admins')).some(({ username, enabled }) => username === 'grace' && enabled)
  );

  await show('/system/access');
  await page.getByRole('button', { name: 'New API token' }).click();
  await dialog.getByLabel('Name').fill('shop');
  await dialog.getByLabel('Scope').selectOption(String(role?.id));
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.locator('[data-token]').getByText('Limited by the role').waitFor();
  const [token] = await world.api<{ role: number }[]>('setting/apiTokens');
  t.is(token?.role, role?.id);
});

for (const [language, theme] of LOOKS)
  test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world, {
      preferences: { language, theme },
    });
    await logIn();
    await show('/system/roles');
    await page.locator('[data-admin=grace]').waitFor();
    await page.locator('[data-role=support]').waitFor();
    const look = async (name: string): Promise<void> => {
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        t.deepEqual(await violations(page), [], `${name} ${width}`);
        t.deepEqual(await outside(page), [], `${name} ${width}`);
        t.is(await sideways(page), 0, `${name} ${width}`);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${language}-${theme}.png`) });
      }
    };
    await look('roles');
    await page.locator('[data-role=support] .button').first().click();
    await page.locator('[role=dialog] select').first().waitFor();
    await look('role');
    t.deepEqual(complaints, []);
  });
