// Tunnels on a whole panel, beside the services that nock plays, and an inbound whose program is missing.
import test from 'ava';
import nock from 'nock';
import type { Browser } from 'playwright-core';
import { WarpApi } from '../../edgetunnel/test/warp-api.js';
import { NordApi, TOKEN } from '../../vpnprovider/test/nord-api.js';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
let world: World;
let warp: WarpApi;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  new NordApi();
  warp = new WarpApi();
});
test.after.always(async () => {
  nock.cleanAll();
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});
const tags = async (): Promise<string[]> => {
  const { engineSetting } = await world.api<{ engineSetting: string }>('engine/', {});
  return (JSON.parse(engineSetting) as { outbounds: { tag: string }[] }).outbounds.map(({ tag }) => tag);
};
const addProgram = (port: number) =>
  world.api<{ id: number }>('inbounds/add', {
    remark: 'Telegram',
    protocol: 'mtproto',
    port,
    settings: {},
  });

test.serial('a device is registered, replaced, rotated and deleted beside a draft', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  await show('/routing/outbound?at=0');
  await page.getByLabel('Leave by this address').fill('192.0.2.7');
  await page.getByRole('link', { name: 'Tunnels' }).click();
  warp.instead.set('POST /reg', () => [500, 'no']);
  await page.getByRole('button', { name: 'Set it up' }).click();
  await page.getByRole('region', { name: 'Cloudflare WARP' }).getByRole('alert').waitFor();
  t.false((await tags()).includes('warp'));
  warp.instead.clear();
  await page.getByRole('button', { name: 'Set it up' }).click();
  await page.getByText('The outbound warp is in force.').waitFor();
  t.is((await tags()).at(-1), 'warp');
  // The draft meets what the panel has put into the template, and nothing of it is lost.
  await page.getByText('Somebody else has saved this meanwhile').waitFor();
  await page.getByRole('button', { name: 'Use these' }).click();
  await page.getByText('1 change is not applied yet.').waitFor();
  await page.getByRole('button', { name: 'Discard' }).click();
  const [device = ''] = [...warp.devices.keys()];
  await page.getByText(device).waitFor();
  await page.getByRole('button', { name: 'Another address' }).click();
  await page.getByText('It has another device now.').waitFor();
  await page.getByText(device).waitFor({ state: 'detached' });
  const days = page.getByLabel('Another address every');
  await days.fill('400');
  await page.getByText('From 0 to 365 days.').waitFor();
  await days.fill('7');
  await page.locator('form', { has: days }).getByRole('button', { name: 'Save' }).click();
  await page.getByText('The interval is saved.').waitFor();
  t.is(
    (await world.api<{ edgetunnelUpdateInterval: number }>('setting/all', {})).edgetunnelUpdateInterval,
    7,
  );
  await page.getByRole('button', { name: 'Delete the device' }).click();
  const sheet = page.getByRole('alertdialog');
  await sheet.getByText(/goes on with it/).waitFor();
  await sheet.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByText('The device is deleted.').waitFor();
  await page.getByRole('button', { name: 'Set it up' }).waitFor();
  t.deepEqual(
    complaints.filter((text) => !/status of 50\d/.test(text)),
    [],
  );
});

test.serial('an account is stored, and its servers become outbounds', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/routing/tunnels');
  const card = page.getByRole('region', { name: 'NordVPN' });
  const token = card.getByLabel('Access token', { exact: true });
  await token.fill('wrong');
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByRole('alert').waitFor();
  t.is(await token.inputValue(), 'wrong');
  await token.fill(TOKEN);
  await card.getByRole('button', { name: 'Save' }).click();
  await card.getByLabel('Country').selectOption({ label: 'Germany' });
  // Servers with hardly any load are left out by the panel.
  await card.getByLabel('Server').selectOption('de1.nordvpn.com');
  await card.getByRole('button', { name: 'Put it into the outbounds' }).click();
  await card.getByRole('link', { name: 'nord-de1.nordvpn.com' }).waitFor();
  t.is((await tags()).at(-1), 'nord-de1.nordvpn.com');
  await card.getByRole('button', { name: 'Forget the account' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await token.waitFor();
  t.is((await tags()).at(-1), 'nord-de1.nordvpn.com', 'the outbound goes on');
});

test.serial('an inbound says why its program does not run, is switched off and deleted', async (t) => {
  t.timeout(MINUTES);
  const { id } = await addProgram(20_443);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  await show('/routing/tunnels');
  const card = page.getByRole('region', { name: 'Programs beside the core' });
  await card.getByText('It does not run:').waitFor();
  await card
    .getByText(/mtg-multi/)
    .first()
    .waitFor();
  t.is(
    await card.getByRole('link', { name: 'Telegram' }).getAttribute('href'),
    `/secret/panel/inbound?id=${id}`,
  );
  await card.locator('.switch').click();
  await card.getByText('Off.').waitFor();
  await card.getByRole('button', { name: 'Delete Telegram' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete', exact: true }).click();
  await card.getByText('There is no such inbound.').waitFor();
  t.deepEqual(
    (await world.api<{ id: number }[]>('inbounds/options')).map((inbound) => inbound.id),
    [],
  );
  t.deepEqual(complaints, []);
});

for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const isFull = theme === 'dark';
      if (isFull) {
        await world.api('engine/edgetunnel/reg', {});
        await world.api('x/edgetunnel/apply', {});
        await world.api('engine/vpnprovider/reg', { token: TOKEN });
        await addProgram(language === 'en' ? 20_444 : 20_445);
      }
      const { page, show, logIn } = await openPage(t, browser, world, { preferences: { language, theme } });
      await logIn();
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        await show('/routing/tunnels');
        await page.locator('section.card').nth(2).waitFor();
        await page
          .locator(isFull ? '.routing-program .said' : 'form')
          .first()
          .waitFor();
        for (const fold of await page.locator('.fold > summary').all()) await fold.click();
        t.deepEqual(await violations(page), [], `${width}`);
        t.deepEqual(await outside(page), [], `${width}`);
        const shots = process.env['WEIR_TEST_SCREENSHOTS'];
        if (shots)
          await page.screenshot({ path: `${shots}/tun-${width}-${language}-${theme}.png`, fullPage: true });
      }
      if (isFull) {
        await world.api('engine/edgetunnel/del', {});
        await world.api('engine/vpnprovider/del', {});
      }
    });
