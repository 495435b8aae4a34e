// Inbounds on a whole panel: one is made by the form, and an edit sends what was changed.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  await world.api('inbounds/add', { protocol: 'vless', port: 40_011, remark: 'home', listen: '127.0.0.1' });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});
type Stored = { id: number; remark: string; protocol: string; port: number; settings: unknown };

test.serial('a form makes an inbound, and the JSON view edits it', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/inbound/new');
  const json = page.locator('#inbound-json');
  await json.waitFor();
  const document = JSON.parse(await json.inputValue()) as { port: number };
  await page.locator('button[type=submit]').click();
  await page.locator('.inbound').nth(1).waitFor();
  const made = (await world.api<Stored[]>('inbounds/list')).find(({ port }) => port === document.port);
  t.is(made?.protocol, 'vless');
  await show(`/inbound?id=${made?.id}`);
  await json.waitFor();
  await json.fill('{\n"port": x\n}');
  await page.getByText(/^Line 2 /).waitFor();
  t.true(await page.locator('button[type=submit]').isDisabled());
  await json.fill(JSON.stringify({ ...document, remark: 'renamed' }));
  await page.locator('button[type=submit]').click();
  await page.locator('.inbound').nth(1).waitFor();
  t.is((await world.api<Stored>(`inbounds/get/${made?.id}`)).remark, 'renamed');
  // Without a load of the page: what an earlier visit knew is not shown again.
  await page.getByRole('link', { name: 'renamed' }).click();
  await page.getByRole('heading', { name: 'renamed' }).waitFor();
  await json.waitFor();
  const { remark: _, ...rest } = JSON.parse(await json.inputValue()) as { remark: string };
  await json.fill(JSON.stringify(rest));
  await page.locator('button[type=submit]').click();
  await page.locator('.inbound').nth(1).waitFor();
  t.is((await world.api<Stored>(`inbounds/get/${made?.id}`)).remark, '');
});

test.serial('an edit leaves the clients attached, and what another admin saved meanwhile', async (t) => {
  t.timeout(MINUTES);
  const { id } = await world.api<Stored>('inbounds/add', {
    protocol: 'shadowsocks',
    listen: '127.0.0.1',
    port: 40_012,
    remark: 'both',
    settings: { method: 'aes-256-gcm', network: 'tcp,udp' },
  });
  await world.api('clients/add', { client: { email: 'ann' }, inboundIds: [id] });
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/inbound?id=${id}`);
  const json = page.locator('#inbound-json');
  await json.waitFor();
  const document = JSON.parse(await json.inputValue()) as { settings: object };
  await world.api(`inbounds/update/${id}`, {
    remark: 'theirs',
    settings: { ...document.settings, network: 'udp' },
  });
  const settings = { ...document.settings, network: 'tcp' };
  await json.fill(JSON.stringify({ ...document, settings }));
  await page.locator('button[type=submit]').click();
  const box = page.locator('.conflict');
  await box.getByText('Their changes of these fields are kept: remark, tag.').waitFor();
  t.is(await box.locator('legend').innerText(), 'settings.network');
  await box.getByRole('radio', { name: 'Theirs: udp' }).check();
  await box.getByRole('radio', { name: 'Mine: tcp' }).check();
  await box.getByRole('button', { name: 'Use these' }).click();
  await box.waitFor({ state: 'detached' });
  await page.locator('button[type=submit]').click();
  await page.locator('.inbound').first().waitFor();
  const stored = await world.api<Stored>(`inbounds/get/${id}`);
  t.is(stored.remark, 'theirs');
  const { clients, network } = stored.settings as { clients: { email: string }[]; network: string };
  t.deepEqual(
    clients.map(({ email }) => email),
    ['ann'],
  );
  t.is(network, 'tcp');
});

test.serial(
  'secrets are masked, clients in the JSON are refused, a problem of an item is at its list',
  async (t) => {
    t.timeout(MINUTES);
    const { id } = await world.api<Stored>('inbounds/add', {
      protocol: 'shadowsocks',
      listen: '127.0.0.1',
      port: 40_013,
      remark: 'masked',
      settings: { method: '2022-blake3-aes-128-gcm', network: 'tcp' },
    });
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show(`/inbound?id=${id}`);
    const json = page.locator('#inbound-json');
    await json.waitFor();
    const document = JSON.parse(await json.inputValue()) as { settings: { password: string } };
    const secret = page.locator('input[type=password]').first();
    t.is(await secret.inputValue(), document.settings.password);
    await page
      .getByRole('button', { name: /^Show: / })
      .first()
      .click();
    await secret.waitFor({ state: 'detached' });
    await json.fill(`{"settings": {\n"clients": []}}`);
    await page.getByText(/^Line 2: clients are managed/).waitFor();
    t.true(await page.locator('button[type=submit]').isDisabled());
    await json.fill(
      JSON.stringify({ ...document, sniffing: { enabled: true, domainsExcluded: ['shop.example', 5] } }),
    );
    await page.locator('button[type=submit]').click();
    // The folds around it open.
    await page.locator('.field-problem', { hasText: /domainsExcluded/ }).waitFor();
    const list = page.getByLabel('Domains excluded');
    await list.fill('\nshop.example\n\n\n');
    t.is(await list.inputValue(), '\nshop.example\n\n\n', 'blank lines stay while somebody types');
    t.deepEqual(
      (JSON.parse(await json.inputValue()) as { sniffing: { domainsExcluded: unknown } }).sniffing
        .domainsExcluded,
      ['shop.example'],
    );
  },
);

for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const { page, show, logIn } = await openPage(t, browser, world, { preferences: { language, theme } });
      await logIn();
      for (const [path, ready] of [
        ['/inbounds', '.inbound'],
        ['/inbound?id=1', '#inbound-json'],
      ] as const)
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 800 });
          await show(path);
          await page.locator(ready).first().waitFor();
          t.deepEqual(await violations(page), [], `${path} ${width}`);
          t.deepEqual(await outside(page), [], `${path} ${width}`);
          const shots = process.env['WEIR_TEST_SCREENSHOTS'];
          if (shots)
            await page.screenshot({ path: `${shots}/in${path.length}-${width}-${language}-${theme}.png` });
        }
    });
