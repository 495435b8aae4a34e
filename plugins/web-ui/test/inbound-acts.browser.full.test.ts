// What is done with an inbound besides editing: copy, import, delete and undo, links, plan, scan, fallbacks.
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

interface Stored {
  readonly id: number;
  readonly tag: string;
  readonly remark: string;
  readonly port: number;
  readonly settings: { readonly clients: readonly { readonly email: string; readonly id: string }[] };
  readonly streamSettings: Record<string, unknown>;
}
const list = () => world.api<Stored[]>('inbounds/list');
async function makeInbound(port: number, remark: string, more: object = {}): Promise<Stored> {
  const { id } = await world.api<Stored>('inbounds/add', {
    protocol: 'vless',
    listen: '127.0.0.1',
    port,
    remark,
    ...more,
  });
  return world.api(`inbounds/get/${id}`);
}
const openMore = async (page: Page, item: string): Promise<void> => {
  await page.getByRole('button', { name: 'More', exact: true }).first().click();
  await page.getByRole('menuitem', { name: item }).click();
};

test.serial('a deleted inbound is undone, with its clients', async (t) => {
  t.timeout(MINUTES);
  const { id } = await makeInbound(41_001, 'gone');
  await world.api('clients/add', { client: { email: 'ann' }, inboundIds: [id] });
  const before = await world.api<Stored>(`inbounds/get/${id}`);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${id}`);
  await page.locator('#inbound-json').waitFor();
  await openMore(page, 'Delete');
  const sheet = page.getByRole('alertdialog');
  await sheet.getByText('The core drops it while it runs').waitFor();
  await sheet.getByText('Nobody is online now.').waitFor();
  await sheet.getByText('You can undo it right afterwards.').waitFor();
  await sheet.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(/gone.* is deleted\./).waitFor();
  t.false((await list()).some(({ port }) => port === 41_001));
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  const back = (await list()).find(({ port }) => port === 41_001);
  const after = await world.api<Stored>(`inbounds/get/${back?.id}`);
  t.is(after.tag, before.tag);
  t.deepEqual(after.settings.clients, before.settings.clients);
  t.deepEqual(after.streamSettings, before.streamSettings);
  t.deepEqual(complaints, []);
});

test.serial('where a fallback would be lost, the page says it and offers no undo', async (t) => {
  t.timeout(MINUTES);
  const { id } = await makeInbound(41_002, 'parent');
  const child = await makeInbound(41_003, 'child');
  await world.api(`inbounds/${id}/fallbacks`, { fallbacks: [{ childId: child.id, path: '/x' }] });
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${child.id}`);
  await page.locator('#inbound-json').waitFor();
  await openMore(page, 'Delete');
  const sheet = page.getByRole('alertdialog');
  await sheet.getByText('This cannot be undone.').waitFor();
  await sheet.getByText(/Its fallbacks, and those that lead to it/).waitFor();
  await sheet.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(/child.* is deleted\./).waitFor();
  t.is(await page.getByRole('button', { name: 'Undo' }).count(), 0);
});

test.serial('a copy is a new inbound on another port, and a file of an inbound is imported', async (t) => {
  t.timeout(MINUTES);
  const original = await makeInbound(41_004, 'first', {
    streamSettings: { network: 'ws', security: 'none', wsSettings: { path: '/w' } },
  });
  await world.api('clients/add', { client: { email: 'bob' }, inboundIds: [original.id] });
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${original.id}`);
  await page.locator('#inbound-json').waitFor();
  await openMore(page, 'Copy as a new inbound');
  await page.getByRole('heading', { name: 'New inbound' }).waitFor();
  t.is(await page.getByLabel('Remark').inputValue(), 'first copy');
  await page.getByText('The core adds it while it runs.').waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The inbound is saved.').waitFor();
  const made = (await list()).find(({ remark }) => remark === 'first copy');
  const copy = await world.api<Stored>(`inbounds/get/${made?.id}`);
  t.not(copy.port, original.port);
  t.not(copy.tag, original.tag);
  t.deepEqual(copy.settings.clients, []);
  t.like(copy.streamSettings, { network: 'ws', wsSettings: { path: '/w' } });

  await show(`/inbound?id=${original.id}`);
  await page.locator('#inbound-json').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), openMore(page, 'Save as a file')]);
  t.is(download.suggestedFilename(), `${original.tag}.json`);
  const file = await download.path();
  await world.api(`inbounds/del/${original.id}`, {});
  await show('/inbounds');
  await page.getByRole('button', { name: 'Import' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel('JSON document').fill('{\n"port": x}');
  await sheet.getByText('Line 2 is not valid JSON.').waitFor();
  t.true(await sheet.getByRole('button', { name: 'Import', exact: true }).isDisabled());
  await sheet.locator('input[type=file]').setInputFiles(file);
  await sheet.getByText('vless, port 41004, 1 client').waitFor();
  await sheet.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('The inbound is imported.').waitFor();
  await sheet.waitFor({ state: 'detached' });
  const back = (await list()).find(({ port }) => port === 41_004);
  const { settings } = await world.api<Stored>(`inbounds/get/${back?.id}`);
  t.deepEqual(
    settings.clients.map(({ email }) => email),
    ['bob'],
  );
  // Once more: the port is taken, and what was pasted stays.
  await page.getByRole('button', { name: 'Import' }).click();
  await sheet.locator('input[type=file]').setInputFiles(file);
  await sheet.getByRole('button', { name: 'Import', exact: true }).click();
  await sheet.getByText('Nothing was imported.').waitFor();
  t.regex(await sheet.getByLabel('JSON document').inputValue(), /41004/);
});

test.serial('the links of its first clients are shown with a QR code', async (t) => {
  t.timeout(MINUTES);
  const other = await makeInbound(41_005, 'other');
  const { id } = await makeInbound(41_006, 'shown');
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${id}`);
  await page.getByRole('button', { name: 'Links' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('The inbound has no clients yet, so it has no links.').waitFor();
  await sheet.getByRole('button', { name: 'Close' }).click();
  await world.api('clients/add', { client: { email: 'cat' }, inboundIds: [other.id, id] });
  await show(`/inbound?id=${id}`);
  await page.getByRole('button', { name: 'Links' }).click();
  await sheet.locator('.qr svg').waitFor();
  const text = await sheet.locator('textarea').inputValue();
  t.regex(text, /^vless:\/\/.*:41006\?/, 'that of this inbound, of two');
  await page.setViewportSize({ width: 360, height: 800 });
  t.deepEqual(await violations(page), []);
  t.deepEqual(await outside(page), []);
});

test.serial('what saving ends is said before', async (t) => {
  t.timeout(MINUTES);
  const { id } = await makeInbound(41_007, 'planned');
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${id}`);
  await page.getByLabel('Remark').fill('another name');
  await page.getByText('Nothing changes in the core. No connection ends.').waitFor();
  await page.getByLabel('Port', { exact: true }).fill('41008');
  await page.getByText('The core replaces it while it runs: connections through it end.').waitFor();
  await page.getByText('Nobody is online now.').waitFor();
  await page.getByText('Enable', { exact: true }).click();
  await page.getByText('The core drops it while it runs').waitFor();
  t.is((await world.api<Stored>(`inbounds/get/${id}`)).port, 41_007);
});

test.serial('a quota, an end and a certificate are typed as people say them', async (t) => {
  t.timeout(MINUTES);
  const { id } = await makeInbound(41_009, 'limited', { total: 3 * 1024 ** 3 });
  const { page, show, logIn } = await openPage(t, browser, world);
  await page.route('**/x/certificates', (route) =>
    route.fulfill({
      json: {
        success: true,
        msg: '',
        obj: [
          { state: 'valid', names: ['a.example'], certificateFile: '/certs/a.pem', keyFile: '/certs/a.key' },
        ],
      },
    }),
  );
  await logIn();
  await show(`/inbound?id=${id}`);
  const quota = page.getByLabel('Quota');
  t.is(await quota.inputValue(), '3');
  await quota.fill('1.5 x');
  await page.getByText('This is not an amount.').waitFor();
  await quota.fill('');
  await page.getByLabel('Ends').selectOption('date');
  await page.getByText(/^Date and time/).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The inbound is saved.').waitFor();
  const stored = await world.api<{ total: number; expiryTime: number }>(`inbounds/get/${id}`);
  t.is(stored.total, 0);
  t.true(stored.expiryTime > Date.now());
  // The file is not here, so this is not saved.
  await show(`/inbound?id=${id}`);
  await page.getByLabel('Security', { exact: true }).selectOption('tls');
  await page.getByLabel('Certificate of this machine').selectOption({ label: 'a.example' });
  const shown = JSON.parse(await page.locator('#inbound-json').inputValue()) as Record<string, object>;
  t.like(shown, {
    total: 0,
    streamSettings: {
      tlsSettings: {
        serverName: 'a.example',
        certificates: [{ certificateFile: '/certs/a.pem', keyFile: '/certs/a.key' }],
      },
    },
  });
});

test.serial('the target of REALITY is scanned, and a found one fills the form', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/inbound/new');
  await page.getByLabel('Security').selectOption('reality');
  await page.getByLabel('Target', { exact: true }).fill('41099');
  await page.getByRole('button', { name: 'Scan this target' }).click();
  // Nothing listens there.
  await page.getByText('REALITY cannot use it:').waitFor();
  // The list of the settings is of servers that this machine cannot reach.
  await page.route('**/scanRealityTargets', (route) =>
    route.fulfill({
      json: {
        success: true,
        msg: '',
        obj: [
          { target: 'a.example:443', host: 'a.example', ip: '', serverNames: ['b.example'], feasible: true },
          {
            target: 'c.example:443',
            host: 'c.example',
            ip: '',
            serverNames: [],
            feasible: false,
            reason: 'no h2',
          },
        ].map((found) => ({
          latencyMs: 12,
          tlsVersion: '1.3',
          alpn: 'h2',
          curveID: 'X25519',
          reason: '',
          ...found,
        })),
      },
    }),
  );
  await page.getByRole('button', { name: 'Find targets' }).click();
  await page.getByText('no h2').waitFor();
  await page.setViewportSize({ width: 360, height: 800 });
  t.deepEqual(await violations(page), []);
  t.deepEqual(await outside(page), []);
  await page.getByRole('button', { name: 'Use: a.example:443' }).click();
  t.is(await page.getByLabel('Target', { exact: true }).inputValue(), 'a.example:443');
  t.is(await page.getByLabel('Server names').inputValue(), 'a.example\nb.example');
});

test.serial('fallbacks are rows, saved by themselves; a fault is at its field', async (t) => {
  t.timeout(MINUTES);
  const { id } = await makeInbound(41_010, 'master');
  const child = await makeInbound(41_011, 'taker');
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${id}`);
  const add = page.getByRole('button', { name: 'Add a fallback' });
  const save = page.getByRole('button', { name: 'Save the fallbacks' });
  const row = (number: number) => page.getByRole('group', { name: `Fallback ${number}`, exact: true });
  await add.click();
  await row(1).getByLabel('Destination').fill('shop.example:80');
  await row(1).getByLabel('Only for this path').fill('no-slash');
  await add.click();
  await row(2).getByLabel('To', { exact: true }).selectOption({ label: 'taker' });
  await row(2).getByLabel('Only for this ALPN').selectOption('h2');
  await save.click();
  await row(1).locator('.field-problem', { hasText: 'path' }).waitFor();
  await row(1).getByLabel('Only for this path').fill('/shop');
  await page.getByRole('button', { name: 'Move fallback 2 up' }).click();
  await save.click();
  await page.getByText(/^fallbacks saved/).waitFor();
  type Kept = { childId: number; dest: string; path: string; alpn: string };
  const kept = await world.api<Kept[]>(`inbounds/${id}/fallbacks`);
  t.deepEqual(
    kept.map(({ childId, path, alpn }) => [childId, path, alpn]),
    [
      [child.id, '', 'h2'],
      [0, '/shop', ''],
    ],
  );
  t.is(kept[1]?.dest, 'shop.example:80');
  // Somebody else saves meanwhile.
  await world.api(`inbounds/${id}/fallbacks`, { fallbacks: [{ dest: 'other.example:80' }] });
  await page.getByRole('button', { name: 'Remove fallback 1' }).click();
  await save.click();
  await page.getByRole('button', { name: 'Take theirs' }).click();
  await row(1).locator('input[value="other.example:80"]').waitFor();
  t.deepEqual(
    (await world.api<Kept[]>(`inbounds/${id}/fallbacks`)).map(({ dest }) => dest),
    ['other.example:80'],
  );
});

for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const inbound = (await list()).find(({ remark }) => remark === 'master');
      const { page, show, logIn } = await openPage(t, browser, world, { preferences: { language, theme } });
      await logIn();
      const shoot = async (name: string): Promise<void> => {
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          t.deepEqual(await violations(page), [], `${name} ${width}`);
          t.deepEqual(await outside(page), [], `${name} ${width}`);
          const shots = process.env['WEIR_TEST_SCREENSHOTS'];
          if (shots)
            await page.screenshot({
              path: `${shots}/${name}-${width}-${language}-${theme}.png`,
              fullPage: true,
            });
        }
      };
      await show(`/inbound?id=${inbound?.id}`);
      await page.locator('.fallback-rows li').first().waitFor();
      await page.locator('input[inputmode=decimal]').first().fill('41012');
      await page.locator('.plan-line').waitFor();
      await shoot('inbound-master');
      await show('/inbound/new');
      await page.locator('select').first().selectOption('http');
      await page.locator('details.fold').evaluateAll((folds) => {
        for (const fold of folds) (fold as HTMLDetailsElement).open = true;
      });
      await page.locator('fieldset.schema-object > .button').first().click();
      await page.locator('.schema-object .schema-object').first().waitFor();
      await shoot('inbound-logins');
      await show('/inbounds');
      await page.locator('.inbound').first().waitFor();
      await page.locator('.page-head button').click();
      await page.getByRole('dialog').waitFor();
      await shoot('inbound-import');
    });
