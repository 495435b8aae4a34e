// The first minute on a whole panel with the real core: from the login to a link with which bytes pass.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { download, startByteServer, startClientCore } from '../../engine/xray/test/traffic.js';
import { outboundOf } from '../../../test/demo/link-to-outbound.js';
import { engineBinary, openPanel } from '../../../test/engine/user.js';
import { bootPanel, fillLogin, launch, openPage, outside, violations } from './open-page.js';

const MINUTES = 600_000;
let browser: Browser;
test.before(async () => {
  browser = await launch();
});
test.after.always(async () => {
  await browser?.close();
});

test.serial('from the login to a link with which bytes pass', async (t) => {
  t.timeout(MINUTES);
  const panel = await openPanel(t);
  const server = await startByteServer();
  t.teardown(() => server.stop());
  const { page, complaints, show } = await openPage(t, browser, { base: panel.url });
  await show('/');
  await fillLogin(page);
  await page.getByRole('link', { name: 'Begin' }).click();
  await page.getByText('Shadowsocks 2022', { exact: true }).click();
  // Of a panel that was opened through a tunnel, nobody knows the address.
  const address = page.getByLabel('Address of this server');
  t.is(await address.inputValue(), '');
  await address.fill('127.0.0.1');
  await page.getByRole('button', { name: 'Make the inbound' }).click();
  await page.getByLabel('Name', { exact: true }).fill('a b');
  await page.getByRole('button', { name: 'Make the client' }).click();
  await page.locator('.field-problem').waitFor();
  // The second step is done again; the first is not.
  await page.reload();
  t.is(await page.getByLabel('Name', { exact: true }).inputValue(), 'a b');
  await page.getByLabel('Name', { exact: true }).fill('ann');
  await page.getByRole('button', { name: 'Make the client' }).click();
  await page.locator('button.qr').waitFor();
  await page.getByText(/Others cannot use it: .*127\.0\.0\.1/).waitFor();
  t.is((await panel.get<unknown[]>('/panel/api/inbounds/list')).length, 1);
  const which = page.locator('.links select');
  const link = (
    await which.locator('option').evaluateAll((all) => all.map((one) => one.getAttribute('value') ?? ''))
  ).find((value) => value.startsWith('ss://'));
  await which.selectOption(link ?? '');
  const shown = await page.locator('.links textarea').inputValue();
  t.is(shown, link ?? 'no link');
  const core = await startClientCore({ binary: engineBinary(), outbound: outboundOf(shown).outbound });
  t.teardown(core.stop);
  t.is(await download({ socksPort: core.socksPort, server, bytes: 100_000 }), 100_000);
  t.deepEqual(
    complaints.filter((text) => !/status of (400|401|422)/.test(text)),
    [],
  );
});

test.serial('REALITY gets keys of its own, and a taken port is said at its field', async (t) => {
  t.timeout(MINUTES);
  const world = await bootPanel();
  t.teardown(() => world.panel[Symbol.asyncDispose]());
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/start');
  const port = page.getByLabel('Port');
  await port.waitFor();
  const free = await port.inputValue();
  await page.getByLabel('Address of this server').fill('127.0.0.1');
  await world.api('inbounds/add', { protocol: 'vless', port: 40_021, listen: '' });
  await port.fill('40021');
  await page.getByRole('button', { name: 'Make the inbound' }).click();
  await page.getByText('Something else uses this port').waitFor();
  await port.fill(free);
  await page.getByRole('button', { name: 'Make the inbound' }).click();
  await page.getByLabel('Name', { exact: true }).fill('bob');
  await page.getByRole('button', { name: 'Make the client' }).click();
  await page.locator('button.qr').waitFor();
  const [link = ''] = await world.api<string[]>('clients/links/bob');
  const { hostname, searchParams } = new URL(link);
  t.is(hostname, '127.0.0.1');
  t.is(searchParams.get('security'), 'reality');
  t.is(searchParams.get('sni'), 'www.microsoft.com');
  t.is(searchParams.get('flow'), 'xtls-rprx-vision');
  t.is(searchParams.get('pbk')?.length, 43);
});

for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const world = await bootPanel();
      t.teardown(() => world.panel[Symbol.asyncDispose]());
      const { page, show, logIn } = await openPage(t, browser, world, { preferences: { language, theme } });
      await logIn();
      const shots = process.env['WEIR_TEST_SCREENSHOTS'];
      await show('/start');
      for (const [step, ready] of [
        [1, '.recipe'],
        [2, '.fold'],
        [3, 'button.qr'],
      ] as const) {
        await page.locator(ready).first().waitFor();
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 800 });
          t.deepEqual(await violations(page), [], `${step} ${width}`);
          t.deepEqual(await outside(page), [], `${step} ${width}`);
          if (shots)
            await page.screenshot({ path: `${shots}/start${step}-${width}-${language}-${theme}.png` });
        }
        // The end of a tunnel is no address of the server: it is typed.
        if (step === 1) await page.locator('.start input[required]').last().fill('127.0.0.1');
        if (step === 2) await page.locator('.start input').first().fill('cleo');
        if (step < 3) await page.locator('button[type=submit]').click();
      }
    });
