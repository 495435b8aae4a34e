// What is done with many clients, and what two admins do at once, in a real browser on a whole panel.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { Refusal } from '../../../kernel/index.js';
import { Gate } from '../../bulk-jobs/test/world.js';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
const MANY = 5_000;
const shots = process.env['WEIR_TEST_SCREENSHOTS'];

const gate = new Gate();
let browser: Browser;
let world: World;
let inboundId: number;
test.before(async () => {
  browser = await launch();
  world = await bootPanel([gate.plugin]);
  const { api } = world;
  inboundId = (
    await api<{ id: number }>('inbounds/add', {
      protocol: 'vless',
      listen: '127.0.0.1',
      port: 40_021,
      remark: 'home',
    })
  ).id;
  await api(
    'clients/bulkCreate',
    Array.from({ length: MANY }, (_, i) => ({
      client: { email: `many-${String(i).padStart(5, '0')}` },
      inboundIds: [inboundId],
    })),
  );
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  gate.passes = Infinity;
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

const filtered = async (query: string): Promise<number> =>
  (await world.api<{ filtered: number }>(`clients/list/paged?pageSize=1&${query}`)).filtered;

test.serial(
  `${MANY} clients but one are switched off, and a reload in the middle loses nothing`,
  async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/clients?search=many-&sort=email');
    await page.getByText('many-00000', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'All 5,000' }).click();
    await page.getByText('5,000 clients chosen').waitFor();
    await page.getByRole('checkbox', { name: 'Choose many-00000' }).click();
    await page.getByText('4,999 clients chosen').waitFor();
    gate.arrived = 0;
    gate.passes = 4;
    await page
      .getByRole('region', { name: 'Chosen clients' })
      .getByRole('button', { name: 'Switch off' })
      .click();
    const job = page.locator('.job');
    await job.getByText('2,000 of 4,999 done').waitFor();
    if (shots) await page.screenshot({ path: join(shots, 'bulk-running.png') });
    await page.reload();
    await job.getByText('2,000 of 4,999 done').waitFor();
    t.is(await job.locator('progress').getAttribute('value'), '400');
    gate.passes = Infinity;
    await job.getByText('4,999 changed').waitFor();
    t.is(await filtered('search=many-&status=deactive'), MANY - 1);
    t.is(await filtered('search=many-00000&status=active'), 1);
    await job.getByRole('button', { name: 'Close' }).click();
    await job.waitFor({ state: 'detached' });
    t.deepEqual(complaints, []);
  },
);

test.serial('a job is stopped, and tried again for the rest; who was skipped is a file', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/clients?search=many-&status=deactive');
  await page.locator('.rows .client-name').first().waitFor();
  await page.getByRole('checkbox', { name: 'All 4,999' }).click();
  gate.arrived = 0;
  gate.passes = 1;
  await page.getByRole('button', { name: 'Group' }).click();
  await page.getByRole('dialog').getByLabel('Group').fill('night');
  await page.getByRole('dialog').getByRole('button', { name: 'Change 4,999 clients' }).click();
  const jobs = page.locator('.job');
  const running = jobs.filter({ hasText: '500 of 4,999 done' });
  await running.waitFor();
  await running.getByRole('button', { name: 'Stop' }).click();
  await jobs.filter({ hasText: 'Stopping' }).waitFor();
  gate.check = (emails) => {
    if (emails.includes('many-04998')) throw new Refusal('kept on purpose');
  };
  gate.passes = Infinity;
  const stopped = jobs.filter({ hasText: 'not begun' });
  await stopped.waitFor();
  const before = await filtered('search=many-&group=night');
  t.true(before >= 500 && before < 4_999);
  await stopped.getByRole('button', { name: /Try again/ }).click();
  const refused = jobs.filter({ hasText: '1 failed' });
  await refused.getByText('kept on purpose').waitFor();
  t.is(await filtered('search=many-&group=night'), 4_998);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    refused.getByRole('link', { name: 'List as CSV' }).click(),
  ]);
  t.regex(await readFile(await file.path(), 'utf8'), /many-04998/);
  gate.check = () => undefined;
  await refused.getByRole('button', { name: 'Try again for 1' }).click();
  await jobs.filter({ hasText: /^.*1 changed/ }).waitFor();
  t.is(await filtered('search=many-&group=night'), 4_999);
  t.deepEqual(complaints, []);
});

test.serial(
  'two admins: what both have changed is chosen by field, and nothing is overwritten unseen',
  async (t) => {
    t.timeout(MINUTES);
    await world.api('clients/add', {
      client: { email: 'ann', comment: 'old', limitIp: 1 },
      inboundIds: [inboundId],
    });
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/client?name=ann&edit=1');
    await page.getByLabel('Comment').fill('mine');
    await page.getByLabel('Quota').fill('5');
    await world.api('clients/update/ann', { comment: 'theirs', limitIp: 7 });
    // A draft from before is no less careful.
    await page.reload();
    await page.getByText('These are your changes from before').waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    const box = page.locator('.conflict');
    await box.waitFor();
    t.is((await stored('ann')).comment, 'theirs');
    t.deepEqual(await violations(page), []);
    t.regex(await box.innerText(), /Addresses at most/);
    await box.getByRole('radio', { name: 'Theirs: theirs' }).click();
    if (shots) await page.screenshot({ path: join(shots, 'conflict.png') });
    await page.setViewportSize({ width: 360, height: 800 });
    t.deepEqual(await outside(page), []);
    await box.getByRole('button', { name: 'Use these' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const saved = await stored('ann');
    t.is(saved.comment, 'theirs');
    t.is(saved.limitIp, 7);
    t.is(saved.totalGB, 5 * 1024 ** 3);
  },
);

test.serial(
  'edits, a switch, an extension and a deletion are undone from the notice or the history',
  async (t) => {
    t.timeout(MINUTES);
    const expiryTime = Date.now() + 86_400_000;
    await world.api('clients/add', {
      client: { email: 'ben', expiryTime, comment: 'old' },
      inboundIds: [inboundId],
    });
    const { page, complaints, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/client?name=ben&edit=1');
    await page.getByLabel('Comment').fill('new');
    await page.getByRole('button', { name: 'Save' }).click();
    const undo = page.locator('.notices').getByRole('button', { name: 'Undo' });
    const undone = async () => {
      await undo.click();
      const notice = page.locator('.notice').filter({ hasText: 'Undone.' });
      await notice.waitFor();
      await notice.getByRole('button', { name: 'Close' }).click();
      await notice.waitFor({ state: 'detached' });
    };
    await undo.waitFor();
    t.is((await stored('ben')).comment, 'new');
    await undone();
    t.is((await stored('ben')).comment, 'old');

    await page.locator('.page-head .switch').click();
    await undo.waitFor();
    t.false((await stored('ben')).enable);
    await undone();
    t.true((await stored('ben')).enable);

    await page.getByRole('button', { name: 'Extend' }).click();
    await page.getByRole('menuitem', { name: '30 days' }).click();
    await undo.waitFor();
    t.is((await stored('ben')).expiryTime, expiryTime + 30 * 86_400_000);
    await undone();
    t.is((await stored('ben')).expiryTime, expiryTime);

    const { id } = await stored('ben');
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await undo.waitFor();
    await t.throwsAsync(stored('ben'));
    await undone();
    t.is((await stored('ben')).id, id);

    await world.api('clients/update/ben', { comment: 'by another' });
    await show('/client?name=ben');
    await page
      .getByRole('button', { name: /Undo the change of/ })
      .first()
      .click();
    await page.getByText('Undone.').waitFor();
    t.is((await stored('ben')).comment, 'old');
    t.deepEqual(
      complaints.filter((text) => !/status of 404/.test(text)),
      [],
    );
  },
);

interface Stored {
  readonly id: number;
  readonly comment: string;
  readonly limitIp: number;
  readonly totalGB: number;
  readonly enable: boolean;
  readonly expiryTime: number;
}
const stored = (email: string): Promise<Stored> => world.api<Stored>(`clients/get/${email}`);

for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`everyone can use the screens: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      for (const width of [360, 1440]) {
        const { page, complaints, show, logIn } = await openPage(t, browser, world, {
          preferences: { language, theme },
          viewport: { width, height: 800 },
        });
        await logIn();
        await show('/clients?search=many-');
        await page.locator('.rows .client-name').first().waitFor();
        await page.locator('.list-head .choose-box input').click();
        await page.locator('.bulk').waitFor();
        t.deepEqual(await violations(page), [], `clients ${width}`);
        t.deepEqual(await outside(page), [], `clients ${width}`);
        if (shots) await page.screenshot({ path: join(shots, `bulk-${language}-${theme}-${width}.png`) });
        t.deepEqual(complaints, []);
      }
    });

test.serial(
  'a switch goes back if the panel refuses, and not because nobody answers afterwards',
  async (t) => {
    t.timeout(MINUTES);
    await world.api('clients/add', { client: { email: 'cat' }, inboundIds: [inboundId] });
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/client?name=cat');
    const control = page.locator('.page-head').getByRole('switch');
    await control.and(page.locator(':checked')).waitFor();
    await page.route('**/panel/api/clients/update/cat', (route) =>
      route.fulfill({ status: 400, json: { success: false, code: 'X', msg: 'not today' } }),
    );
    await page.locator('.page-head .switch').click();
    await page.locator('.notices').getByText('not today').waitFor();
    t.true(await control.isChecked());
    await page.unrouteAll();

    await page.route('**/panel/api/clients/get/cat', (route) =>
      route.fulfill({ status: 400, json: { success: false, code: 'X', msg: 'no answer' } }),
    );
    await page.locator('.page-head .switch').click();
    await page.locator('.notices').getByRole('button', { name: 'Undo' }).waitFor();
    await control.and(page.locator(':enabled')).waitFor();
    t.false((await stored('cat')).enable);
    t.false(await control.isChecked());
  },
);

test.serial('a reader chooses the columns, here and in his other browsers', async (t) => {
  t.timeout(MINUTES);
  await world.api('clients/add', {
    client: { email: 'told', comment: 'pays in cash' },
    inboundIds: [inboundId],
  });
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await page.setViewportSize({ width: 1440, height: 900 });
  await logIn();
  await show('/clients?search=told');
  const heads = page.getByRole('columnheader');
  await heads.first().waitFor();
  t.deepEqual(await heads.allInnerTexts(), ['Name', 'State', 'Usage', 'Ends', 'Last seen', 'Actions']);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Comment' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Ends' }).click();
  t.deepEqual(await violations(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('gridcell', { name: 'pays in cash' }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, 'columns.png') });
  const chosen = ['Name', 'State', 'Usage', 'Last seen', 'Comment', 'Actions'];
  t.deepEqual(await heads.allInnerTexts(), chosen);
  const other = await openPage(t, browser, world);
  await other.page.setViewportSize({ width: 1440, height: 900 });
  await other.logIn();
  await other.show('/clients?search=told');
  const otherHeads = other.page.getByRole('columnheader');
  await otherHeads.first().waitFor();
  // The choice is on its way to the panel.
  while ((await otherHeads.allInnerTexts()).join() !== chosen.join()) {
    await other.page.reload();
    await otherHeads.first().waitFor();
  }
  // On a narrow page the row is the same whatever was chosen.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('gridcell', { name: 'pays in cash' }).waitFor({ state: 'detached' });
  t.deepEqual(await outside(page), []);
  t.deepEqual(complaints, []);
});
