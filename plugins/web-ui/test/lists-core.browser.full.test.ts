// Lists of outbounds on a panel with a real core: fetched from a real server, and what of them the core does not take.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { openPanel, teardownOfFile } from '../../../test/engine/user.js';
import type { CorePanel } from '../../../test/engine/core-panel.js';
import { openLists } from '../../outbound-subs/test/list-server.js';
import { launch, openPage, outside, violations } from './open-page.js';

const MINUTES = 600_000;
const API = '/panel/api/engine/outbound-subs';
const BROKEN = 'vless://nobody@exit.example:99999?type=tcp#Broken';
/** Shadowsocks, aes-128-gcm:pass */
const ONE = 'ss://YWVzLTEyOC1nY206cGFzcw@127.0.0.1:9#One';
const LIST = Buffer.from(`${ONE}\n${BROKEN}\n`).toString('base64');
const shared = teardownOfFile(test);
interface Shown {
  readonly id: number;
  readonly remark: string;
  readonly enabled: boolean;
  readonly outboundTags: readonly string[];
}
let browser: Browser;
let panel: CorePanel;
test.before(async () => {
  browser = await launch();
  shared.teardown(() => browser.close());
  panel = await openPanel(shared);
});
const lists = () => panel.get<Shown[]>(API);

test.serial('a list is added, fetched, edited, fails, is switched off and deleted', async (t) => {
  t.timeout(MINUTES);
  const server = await openLists(t, LIST);
  const { page, show, logIn, complaints } = await openPage(t, browser, { base: panel.url });
  await logIn();
  await show('/routing');
  await page.getByRole('link', { name: 'Lists' }).click();
  await page.getByText('There are no lists.').waitFor();
  await page.getByRole('link', { name: 'New list' }).click();
  const add = page.getByRole('button', { name: 'Add and fetch' });
  await page.getByLabel('Address of the list').fill('ftp://lists.example/');
  await add.click();
  // The refusal is at the field, and what was typed stays, also when the reader looks elsewhere.
  await page.locator('.field-problem').first().waitFor();
  await page.getByLabel('Address of the list').fill(server.url);
  await page.getByLabel('Remark').fill('Exits');
  await page.getByRole('link', { name: 'Rules' }).click();
  await page.getByRole('heading', { name: 'Rules', exact: true }).waitFor();
  await page.goBack();
  t.is(await page.getByLabel('Address of the list').inputValue(), server.url);
  await page.getByLabel(/may have private addresses/).check();
  await add.click();
  await page.getByText('1 outbound came in').click();
  await page.getByText('sub1-One').waitFor();
  await page.getByText('1 entry is not used').click();
  await page.getByText(/port/).first().waitFor();
  t.deepEqual((await lists())[0]?.outboundTags, ['sub1-One']);
  t.regex((await page.locator('main, body').first().textContent()) ?? '', /127\.0\.0\.1:\d+\/list\?…/);
  // A rule can lead to what came in.
  await page.getByRole('link', { name: 'Rules' }).click();
  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.getByLabel('Leaves by').selectOption('osub1-One');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('link', { name: 'Lists' }).click();
  // Another beginning of its tags.
  await page.getByRole('link', { name: 'Exits' }).click();
  await page.getByLabel('Tags begin with').fill('far-');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('1 outbound came in').click();
  await page.getByText('far-One').waitFor();
  // A fetch that fails leaves what was there, and says why.
  server.answer = (_, response) => response.writeHead(503).end();
  await page.getByRole('button', { name: 'Fetch now' }).click();
  await page.getByText('The panel says of the last fetch:').waitFor();
  await page.getByText(/503/).first().waitFor();
  t.deepEqual((await lists())[0]?.outboundTags, ['far-One']);
  await page.locator('.switch').click();
  await page.getByText('Off: its outbounds are not in the core.').waitFor();
  t.is((await lists())[0]?.enabled, false);
  await page.getByRole('button', { name: 'Delete Exits' }).click();
  const sheet = page.getByRole('alertdialog');
  await sheet.getByRole('button', { name: 'Cancel' }).click();
  t.is((await lists()).length, 1);
  await page.getByRole('button', { name: 'Delete Exits' }).click();
  await sheet.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('There are no lists.').waitFor();
  t.deepEqual(await lists(), []);
  const refused = complaints.filter((text) => !/status of (400|422)/.test(text));
  t.deepEqual(refused, []);
});

test.serial(
  'links become outbounds of the draft, and one that cannot be read stays with the reason',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, { base: panel.url });
    await logIn();
    await show('/routing/outbounds');
    const open = page.getByRole('button', { name: 'From a link' });
    await open.click();
    const sheet = page.getByRole('dialog');
    const links = sheet.getByLabel('Share links');
    await links.fill(`${ONE}\n${BROKEN}\n`);
    await sheet.getByRole('button', { name: 'Add to the draft' }).click();
    await sheet.getByText(/its port/).waitFor();
    t.is(await links.inputValue(), BROKEN, 'what is done is not asked for again');
    t.deepEqual(await violations(page), []);
    await sheet.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'One', exact: true }).waitFor();
    await open.click();
    t.is(await links.inputValue(), BROKEN, 'nor lost');
    await links.fill(ONE);
    await sheet.getByRole('button', { name: 'Add to the draft' }).click();
    // A single one is shown at once.
    await page.getByRole('heading', { name: 'One-2' }).waitFor();
    t.is(await page.getByLabel('Address').inputValue(), '127.0.0.1');
    await page.getByRole('button', { name: 'What it will do' }).click();
    await sheet.getByText(/One.*One-2/).waitFor();
    await sheet.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The changes are applied.').waitFor();
    const { engineSetting } = await panel.get<{ engineSetting: string }>('/panel/api/engine/', {
      method: 'POST',
    });
    const { outbounds } = JSON.parse(engineSetting) as { outbounds: { tag: string }[] };
    t.deepEqual(
      outbounds.slice(-2).map(({ tag }) => tag),
      ['One', 'One-2'],
    );
  },
);

const SCREENS = ['/routing/lists', '/routing/list/new', '/routing/list'] as const;
for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const server = await openLists(t, LIST);
      const { id } = await panel.get<Shown>(API, {
        body: { url: server.url, remark: `Exits ${'long '.repeat(20)}`, allowPrivate: true },
      });
      await panel.call(`${API}/${id}/refresh`, { method: 'POST' });
      const { page, show, logIn } = await openPage(
        t,
        browser,
        { base: panel.url },
        { preferences: { language, theme } },
      );
      await logIn();
      for (const [at, path] of SCREENS.entries())
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 800 });
          await show(path === '/routing/list' ? `${path}?id=${id}` : path);
          await page
            .locator(path === '/routing/lists' ? '.fold' : 'form')
            .first()
            .waitFor();
          for (const fold of await page.locator('.fold > summary').all()) await fold.click();
          t.deepEqual(await violations(page), [], `${path} ${width}`);
          t.deepEqual(await outside(page), [], `${path} ${width}`);
          const shots = process.env['WEIR_TEST_SCREENSHOTS'];
          if (shots)
            await page.screenshot({
              path: `${shots}/list${at}-${width}-${language}-${theme}.png`,
              fullPage: true,
            });
        }
      await panel.call(`${API}/${id}/del`, { method: 'POST' });
    });
