// Nodes in a real browser, on a whole panel whose nodes are panels too.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;

let browser: Browser;
let world: World;
let paris: TestPanel;
let cellar: TestPanel;
const tokenOf = async (panel: TestPanel) =>
  (
    await panel.get<{ token: string }>('/panel/api/setting/apiTokens/create', {
      body: { name: 'central', kind: 'node' },
    })
  ).token;
const bootNode = () => TestPanel.boot({ plugins: [new FakeEngine().plugin] });

test.before(async () => {
  browser = await launch();
  [world, paris, cellar] = await Promise.all([bootPanel(), bootNode(), bootNode()]);
  await paris.get('/panel/api/nodes/add', {
    body: {
      name: 'cellar',
      scheme: 'http',
      address: '127.0.0.1',
      port: Number(new URL(cellar.url).port),
      apiToken: await tokenOf(cellar),
      allowPrivateAddress: true,
    },
  });
  await paris.get('/panel/api/inbounds/add', {
    body: { protocol: 'vless', listen: '127.0.0.1', port: 40_101, remark: 'of paris' },
  });
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  for (const panel of [world?.panel, paris, cellar]) await panel?.[Symbol.asyncDispose]();
});

test.serial('a node is tested, added, carries an inbound, and is shown as a tree', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/nodes');
  await page.getByText('This panel has no nodes.').waitFor();
  await page.getByRole('link', { name: 'Add node' }).click();
  await page.getByLabel('Name').fill('Paris');
  await page.getByLabel('Address').fill('two words');
  await page.getByText('Write a whole address').waitFor();
  await page.getByLabel('Address').fill(`${paris.url}/panel/clients`);
  await page.getByLabel('API token').fill('wrong');
  await page.getByLabel('It is in a private network').check();
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText(/It does not answer:.*token/i).waitFor();
  t.is((await world.api<unknown[]>('nodes/list')).length, 0);

  // What was typed is there after a reload, but for the token.
  await page.reload();
  t.is(await page.getByLabel('Name').inputValue(), 'Paris');
  t.is(await page.getByLabel('API token').inputValue(), '');
  await page.getByLabel('API token').fill(await tokenOf(paris));
  await page.getByRole('button', { name: 'Test the connection' }).click();
  await page.getByText(/It answers: panel/).waitFor();
  await page.getByLabel('Take over from the node').selectOption('selected');
  await page.getByLabel('of paris').check();
  if (shots) await page.screenshot({ path: join(shots, 'new-node.png'), fullPage: true });
  await page.locator('button[type=submit]', { hasText: 'Add node' }).click();
  const row = page.locator('.node', { hasText: 'Paris' });
  await row.getByText('Online').waitFor();
  await page.locator('.node[data-depth="1"]', { hasText: 'cellar' }).waitFor();
  await page.getByRole('link', { name: 'Paris' }).click();
  await page.locator('.lines', { hasText: 'of paris' }).waitFor();
  t.deepEqual(complaints, []);
});

test.serial('what somebody else has saved meanwhile is shown field by field', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  const [node] = await world.api<{ id: number }[]>('nodes/list');
  const update = (body: object) => world.api(`nodes/update/${node?.id}`, body);
  await logIn();
  await show(`/node?id=${node?.id}&edit=1`);
  await page.getByText('More settings').click();
  await page.getByLabel('Remark').fill('mine');
  await page.getByLabel('Name').fill('Paris, mine');
  await update({ remark: 'theirs', outboundTag: 'direct' });
  // A draft remembers what it began with: after a reload, too, their changes are theirs.
  await page.reload();
  await page.getByRole('button', { name: 'Save without a test' }).click();
  const box = page.locator('.conflict');
  await box.getByText('Their changes of these fields are kept: Outbound to call it by.').waitFor();
  t.is(await box.locator('fieldset').count(), 1);
  await box.getByLabel('Mine: mine').waitFor();
  t.deepEqual(await violations(page), []);
  if (shots) await page.screenshot({ path: join(shots, 'node-conflict.png'), fullPage: true });
  await box.getByLabel('Theirs: theirs').check();
  await box.getByRole('button', { name: 'Use these' }).click();
  await box.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save without a test' }).click();
  await page.locator('.machine-facts').waitFor();
  t.like((await world.api<object[]>('nodes/list'))[0], {
    name: 'Paris, mine',
    remark: 'theirs',
    outboundTag: 'direct',
  });
  await update({ name: 'Paris', remark: '', outboundTag: '' });
  t.deepEqual(
    complaints.filter((text) => !/status of 409/.test(text)),
    [],
  );
});

test.serial('nothing sticks out, and axe finds nothing', async (t) => {
  t.timeout(MINUTES);
  const [node] = await world.api<{ id: number }[]>('nodes/list');
  const screens = {
    nodes: { path: '/nodes', ready: '.node[data-depth="1"]' },
    node: { path: `/node?id=${node?.id}`, ready: '.machine-facts' },
    'edit-node': { path: `/node?id=${node?.id}&edit=1`, ready: 'form.node-form' },
    'new-node': { path: '/node/new', ready: 'form.node-form' },
  };
  for (const language of ['en', 'fa'])
    for (const theme of ['light', 'dark']) {
      const width = theme === 'light' ? 360 : 1440;
      const { page, complaints, show, logIn } = await openPage(t, browser, world, {
        preferences: { language, theme },
        viewport: { width, height: 800 },
      });
      await logIn();
      for (const [name, { path, ready }] of Object.entries(screens)) {
        await show(path);
        await page.locator(ready).first().waitFor();
        for (const fold of await page.locator('details.fold > summary').all()) await fold.click();
        t.deepEqual(await outside(page), [], `${name} ${language} ${width}`);
        t.deepEqual(await violations(page), [], `${name} ${language} ${theme}`);
        if (shots)
          await page.screenshot({ path: join(shots, `${name}-${language}-${width}.png`), fullPage: true });
      }
      t.deepEqual(complaints, []);
    }
});

test.serial('a node that is lost says why, is edited, switched off and removed', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/nodes');
  const row = page.locator('.node', { hasText: 'Paris' });
  await row.getByText('Online').waitFor();
  await paris[Symbol.asyncDispose]();
  await row.getByText('Lost').waitFor();
  await row.getByText(/last seen/).waitFor();
  t.regex((await row.locator('.said').first().textContent()) ?? '', /\S{3}/);

  await page.getByRole('link', { name: 'Paris' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  // An inbound runs on it: nothing is removed.
  await page
    .getByRole('alertdialog')
    .getByText(/1 inbound runs on/)
    .waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('alertdialog').getByRole('alert').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  const [carried] = await world.api<{ id: number; nodeId: number | null }[]>('inbounds/list');
  await world.api(`inbounds/del/${carried?.id}`, {});

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Name').fill('Paris, old');
  await page.getByRole('switch').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.page-head .switch').click();
  await page.locator('.node-level', { hasText: 'Off' }).waitFor();
  t.like((await world.api<{ enable: boolean; name: string }[]>('nodes/list'))[0], {
    enable: false,
    name: 'Paris',
  });
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('This panel has no nodes.').waitFor();
  t.deepEqual(await world.api('nodes/list'), []);
  // A browser logs each refused call by itself.
  t.deepEqual(
    complaints.filter((text) => !/status of 4\d\d/.test(text)),
    [],
  );
});
