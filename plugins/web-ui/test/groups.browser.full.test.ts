// Groups on a whole panel: made, filled, changed by jobs, renamed, deleted and brought back.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
    port: 40_031,
    remark: 'home',
  });
  for (const [email, group] of [
    ['ann', 'family'],
    ['ben', 'family'],
    ['cat', 'Family'],
    ['dan', 'a,b'],
    ['eve', 'a'],
    ['fay', ''],
    ['gus', ''],
  ])
    await world.api('clients/add', { client: { email, group }, inboundIds: [id] });
  world.engine.move(id, (await client('eve')).id, 1024, 1024 ** 3);
  // The page does not follow traffic, so a poll must have counted it before.
  const isCounted = async () =>
    (await world.api<{ trafficUsed: number }[]>('clients/groups')).some(({ trafficUsed }) => trafficUsed > 0);
  while (!(await isCounted())) await sleep(200);
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});
interface Client {
  readonly id: number;
  readonly group: string;
  readonly enable: boolean;
}
const client = (email: string) => world.api<Client>(`clients/get/${email}`);
const groupsOf = async (...emails: string[]) =>
  Promise.all(emails.map(async (email) => (await client(email)).group));
const isOn = async (email: string) => (await client(email)).enable;

test.serial('a group is made, and clients move into it', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/clients');
  await page.getByRole('link', { name: 'Groups' }).click();
  await page.locator('.group').first().waitFor();
  await page.getByRole('button', { name: 'New group' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the group').fill('night');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const night = page.locator('[data-group="night"]');
  await night.getByText('No clients').waitFor();
  await night.getByRole('button', { name: /^Add clients/ }).click();
  await dialog.getByRole('checkbox', { name: /fay/ }).click();
  await dialog.getByLabel('Search clients').fill('eve');
  await dialog.getByText('leaves ⁨a⁩').waitFor();
  t.is(await dialog.locator('.checks input:checked').count(), 1);
  await dialog.getByRole('checkbox', { name: /eve/ }).click();
  await dialog.getByRole('button', { name: 'Add clients' }).click();
  await night.getByText('2 clients').waitFor();
  t.deepEqual(await groupsOf('fay', 'eve', 'gus'), ['night', 'night', '']);
  await night.getByText('1 GiB used').waitFor();
  t.deepEqual(complaints, []);
});

test.serial('a job changes the clients of one group only, whatever the others are called', async (t) => {
  t.timeout(MINUTES);
  await world.api('clients/groups/bulkAdd', { emails: ['eve'], group: 'a' });
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/groups');
  const off = async (name: string, count: number) => {
    const card = page.locator(`[data-group="${name}"]`);
    await card.getByRole('button', { name: /^Change clients/ }).click();
    await card.getByText(count === 1 ? '1 client chosen' : `${count} clients chosen`).waitFor();
    await card.getByRole('button', { name: 'Switch off' }).click();
    await page
      .locator('.job')
      .filter({ hasText: `${count} changed` })
      .first()
      .waitFor();
    await page.locator('.job').getByRole('button', { name: 'Close' }).first().click();
    await page.locator('.job').waitFor({ state: 'detached' });
  };
  await off('family', 2);
  t.deepEqual([await isOn('ann'), await isOn('ben'), await isOn('cat')], [false, false, true]);
  await off('a,b', 1);
  t.deepEqual([await isOn('dan'), await isOn('eve')], [false, true]);
  await off('night', 1);
  t.deepEqual([await isOn('fay'), await isOn('eve'), await isOn('gus')], [false, true, true]);
  t.deepEqual(complaints, []);
});

test.serial('a group is renamed, deleted and brought back with its clients and its traffic', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/groups');
  const menu = async (name: string, item: string) => {
    await page.locator(`[data-group="${name}"]`).getByRole('button', { name: /^More/ }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const undone = async () => {
    await page.locator('.notices').getByRole('button', { name: 'Undo' }).click();
    const notice = page.locator('.notice').filter({ hasText: 'Undone.' });
    await notice.waitFor();
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
  };
  await page.locator('.group').first().waitFor();
  await menu('night', 'Rename');
  const name = page.getByRole('dialog').getByLabel('Name of the group');
  await name.fill('family');
  await page.getByText('both become one group').waitFor();
  await name.fill('late');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-group="late"]').waitFor();
  t.deepEqual(await groupsOf('fay'), ['late']);
  await undone();
  await page.locator('[data-group="night"]').waitFor();
  t.deepEqual(await groupsOf('fay'), ['night']);

  await world.api('clients/groups/bulkAdd', { emails: ['eve'], group: 'counted' });
  await page.locator('[data-group="counted"]').waitFor();
  await menu('counted', 'Count its traffic from zero');
  await page.locator('[data-group="counted"]').getByText('0 B used').waitFor();
  await menu('counted', 'Delete the group');
  await page.locator('[data-group="counted"]').waitFor({ state: 'detached' });
  t.deepEqual(await groupsOf('eve'), ['']);
  await page
    .locator('.notice')
    .filter({ hasText: 'counts from zero' })
    .getByRole('button', { name: 'Close' })
    .click();
  await undone();
  await page.locator('[data-group="counted"]').getByText('1 client').waitFor();
  t.deepEqual(await groupsOf('eve'), ['counted']);
  const [counted] = (await world.api<{ name: string; trafficUsed: number }[]>('clients/groups')).filter(
    (group) => group.name === 'counted',
  );
  t.is(counted?.trafficUsed, 0);
  t.deepEqual(complaints, []);
});

for (const [language, theme] of LOOKS)
  test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world, {
      preferences: { language, theme },
    });
    await logIn();
    await show('/groups');
    const family = page.locator('[data-group="family"] .button');
    await family.nth(1).click();
    await page.locator('.bulk').waitFor();
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      t.deepEqual(await violations(page), [], `groups ${width}`);
      t.deepEqual(await outside(page), [], `groups ${width}`);
      t.is(await sideways(page), 0, `groups ${width}`);
      if (shots) await page.screenshot({ path: join(shots, `groups-${width}-${language}-${theme}.png`) });
    }
    await family.first().click();
    await page.locator('[role=dialog] .checks label').first().waitFor();
    for (const width of [360, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      t.deepEqual(await violations(page), [], `add clients ${width}`);
      t.deepEqual(await outside(page), [], `add clients ${width}`);
      t.is(await sideways(page), 0, `add clients ${width}`);
      if (shots) await page.screenshot({ path: join(shots, `add-${width}-${language}-${theme}.png`) });
    }
    t.deepEqual(complaints, []);
  });
