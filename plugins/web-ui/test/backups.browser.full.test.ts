// Backups in a real browser, on a panel that restarts as in production.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { folderFor } from '../../../test/harness/folder-for.js';
import { freePort } from '../../../test/harness/free-port.js';
import { ProgramPanel } from '../../../test/harness/program-panel.js';
import { fillLogin, launch, openPage, outside, violations } from './open-page.js';

const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;

let browser: Browser;
test.before(async () => {
  browser = await launch();
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(() => browser?.close());

test.serial(
  'a backup is made, verified, downloaded, and restored over the restart of the panel',
  async (t) => {
    t.timeout(MINUTES);
    const panel = await ProgramPanel.start({
      dataDirectory: await folderFor(t),
      env: {
        WEIR_ENGINE_BIN: '/nowhere/core',
        WEIR_ENGINE_INSTALL: 'off',
        // The address stays over the restart.
        WEIR_PANEL_PORT: String(await freePort()),
      },
    });
    t.teardown(() => panel.stop());
    const id = await panel.addInbound();
    await panel.addClient('ann', [id]);
    const world = { base: panel.url };
    const { page, complaints, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/backups');
    await page.getByText('There is no backup yet.').waitFor();
    await page.getByRole('button', { name: 'Make a backup' }).click();
    await page.getByText('Can be restored').waitFor();
    await page.getByText('1 client, 1 inbound').waitFor();
    await page.getByRole('button', { name: /^Verify the backup/ }).click();
    await page.getByText('restored into a scratch database, without a mistake').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: /^Download the backup/ }).click(),
    ]);
    t.is((await readFile(await download.path())).subarray(0, 13).toString(), 'SQLite format');
    const name = download.suggestedFilename();

    // The schedule is set in the form of its schema; a wrong one is refused at its field.
    const schedule = page.getByRole('region', { name: 'Schedule and copies' });
    const when = schedule.getByRole('textbox').first();
    await when.fill('sometimes');
    await schedule.getByRole('button', { name: 'Save' }).click();
    await schedule.locator('.field-problem').first().waitFor();
    await when.fill('6h');
    // What was typed outlives a reload.
    await page.reload();
    await when.waitFor();
    t.is(await when.inputValue(), '6h');
    await schedule.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/The next backup is made at/).waitFor();

    for (const language of ['en', 'fa'])
      for (const theme of ['light', 'dark']) {
        const width = theme === 'light' ? 360 : 1440;
        const look = await openPage(t, browser, world, {
          preferences: { language, theme },
          viewport: { width, height: 800 },
        });
        await look.logIn();
        await look.show('/backups');
        await look.page.locator('.backups .card').waitFor();
        await look.page.locator('.schema-form').waitFor();
        t.deepEqual(await outside(look.page), [], `backups ${language} ${width}`);
        t.deepEqual(await violations(look.page), [], `backups ${language} ${theme}`);
        if (shots)
          await look.page.screenshot({
            path: join(shots, `backups-${language}-${width}.png`),
            fullPage: true,
          });
        await look.page.locator('.backups .risky').click();
        await look.page.locator('.backup-compare').waitFor();
        t.deepEqual(await outside(look.page), [], `restore ${language} ${width}`);
        t.deepEqual(await violations(look.page), [], `restore ${language} ${theme}`);
        if (shots) await look.page.screenshot({ path: join(shots, `restore-${language}-${width}.png`) });
        t.deepEqual(look.complaints, []);
      }

    await panel.addClient('bob', [id]);
    await page.getByRole('button', { name: /^Restore the backup/ }).click();
    const dialog = page.getByRole('alertdialog');
    const restore = dialog.getByRole('button', { name: 'Restore' });
    await dialog.getByLabel('type the name of the backup').fill(name.slice(0, -1));
    t.true(await restore.isDisabled());
    await dialog.getByLabel('type the name of the backup').fill(name);
    const starts = panel.starts;
    await restore.click();
    // Sessions are not part of a backup: the login opens above the page, and the page goes on.
    await fillLogin(page);
    await page.getByText(/The panel runs with the backup of/).waitFor();
    t.is(panel.starts, starts + 1);
    await panel.login();
    const clients = await panel.get<{ email: string }[]>('/panel/api/clients/list');
    t.deepEqual(
      clients.map(({ email }) => email),
      ['ann'],
    );
    // A browser logs each refused and each unanswered call by itself, and the stream that is cut.
    const known = /status of (?:400|401|403|5\d\d)|ERR_|WebSocket/;
    t.deepEqual(
      complaints.filter((text) => !known.test(text)),
      [],
    );
  },
);
