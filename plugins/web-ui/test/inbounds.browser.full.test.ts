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
  await world.api(`inbounds/update/${id}`, { remark: 'theirs' });
  const settings = { ...document.settings, network: 'tcp' };
  await json.fill(JSON.stringify({ ...document, settings }));
  await page.locator('button[type=submit]').click();
  await page.getByRole('button', { name: 'Mine' }).click();
  t.is(await page.getByRole('alert').count(), 0);
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
