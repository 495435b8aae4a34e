// The page in a real browser: login, session, the life of a client, and a list of many.
import { createRequire } from 'node:module';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { Secret, TOTP } from 'otpauth';
import { ADMIN } from '../../../test/harness/index.js';
import { bootPanel, fillLogin, launch, openPage, type World } from './open-page.js';

const require = createRequire(import.meta.url);
const jsqr = require('jsqr') as (
  data: Uint8ClampedArray,
  width: number,
  height: number,
) => { data: string } | null;
const MINUTES = 600_000;
const MANY = 20_000;

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

/** A browser logs each refused call by itself. */
const without401 = (complaints: readonly string[]) =>
  complaints.filter((text) => !/status of 401/.test(text));
const foreign = (asked: readonly string[]) =>
  asked.filter((url) => !url.startsWith(`${world.base}/`) && !/^(?:data|blob):/.test(url));

/** What a camera sees. */
async function decoded(page: Page, selector: string): Promise<string | undefined> {
  const code = page.locator(selector);
  const { size, runs } = await code.evaluate((svg) => ({
    size: Number(svg.getAttribute('viewBox')?.split(' ')[2]),
    runs: svg.querySelector('path')?.getAttribute('d') ?? '',
  }));
  const scale = 4;
  const width = size * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x = '', y = '', length = ''] of runs.matchAll(/M(\d+) (\d+)h(\d+)v/g))
    for (let py = Number(y) * scale; py < (Number(y) + 1) * scale; py++)
      for (let px = Number(x) * scale; px < (Number(x) + Number(length)) * scale; px++)
        pixels.fill(0, (py * width + px) * 4, (py * width + px) * 4 + 3);
  return jsqr(pixels, width, width)?.data;
}

test.serial('a login says what is wrong, and leads back to the address that was asked for', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, asked, show } = await openPage(t, browser, world);
  await show('/clients?search=ann&status=active');
  await fillLogin(page, 'not the password');
  await page.getByRole('alert').filter({ hasText: 'The user name or the password is wrong' }).waitFor();
  t.is(await page.locator('input[name=username]').inputValue(), ADMIN.username);
  await fillLogin(page);
  await page.getByRole('heading', { name: 'Clients' }).waitFor();
  t.is(page.url(), `${world.base}/panel/clients?search=ann&status=active`);
  t.is(await page.getByRole('searchbox').inputValue(), 'ann');
  await page.getByRole('button', { name: /Account of admin/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.locator('form.login-form').waitFor();
  await page.reload();
  await page.locator('form.login-form').waitFor();
  t.deepEqual(without401(complaints), []);
  t.deepEqual(foreign(asked), []);
});

test.serial(
  'the life of a client: made, shown with its code, extended, edited, switched off, deleted',
  async (t) => {
    t.timeout(MINUTES);
    const inboundId = (
      await world.api<{ id: number }>('inbounds/add', {
        protocol: 'vless',
        listen: '127.0.0.1',
        port: 40_001,
        remark: 'home',
      })
    ).id;
    const { page, complaints, asked, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/clients');
    await page.getByRole('button', { name: 'New client' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('two words');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog
      .getByText(/text without spaces/)
      .first()
      .waitFor();
    // What was typed outlives a reload, until it is created or given up.
    await page.reload();
    await page.getByRole('button', { name: 'New client' }).first().click();
    t.is(await dialog.getByLabel('Name').inputValue(), 'two words');
    await dialog.getByLabel('Name').fill('ann@example.org');
    await dialog.getByLabel('Quota').fill('1.5');
    await dialog.getByLabel('Ends after').fill('30');
    await dialog.getByRole('button', { name: 'Create' }).click();

    await page.getByRole('heading', { name: 'ann@example.org' }).waitFor();
    const email = encodeURIComponent('ann@example.org');
    type Client = { id: number; totalGB: number; expiryTime: number; comment: string; enable: boolean };
    const stored = () => world.api<Client>(`clients/get/${email}`);
    const made = await stored();
    t.is(made.totalGB, 1536 * 1024 ** 2);
    t.true(Math.abs(made.expiryTime - Date.now() - 30 * 86_400_000) < 600_000);

    const [address] = await world.api<{ url: string }[]>(`x/subscription/urls/${email}`);
    await page.locator('.qr svg').waitFor();
    t.is(await decoded(page, '.qr svg'), address?.url);
    const [link = ''] = await world.api<string[]>(`clients/links/${email}`);
    await page.getByLabel('Link', { exact: true }).selectOption(link);
    t.is(await decoded(page, '.qr svg'), link);
    t.is(await page.locator('.copy textarea').inputValue(), link);
    await page.locator('.qr').click();
    t.is(await decoded(page, '.qr-large svg'), link);
    await page.keyboard.press('Escape');

    world.engine.move(inboundId, made.id, 1024 ** 3, 1024 ** 3);
    await page.locator('.verdict[data-state=quota]').waitFor();
    await page.getByRole('button', { name: 'Extend' }).click();
    await page.getByRole('menuitem', { name: '10 GiB more' }).click();
    await page.locator('.verdict[data-state=on]').waitFor();
    t.is((await stored()).totalGB, (1536 + 10 * 1024) * 1024 ** 2);

    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Comment').fill('pays on Friday');
    await page.reload();
    await page.getByText('These are your changes from before').waitFor();
    t.is(await page.getByLabel('Comment').inputValue(), 'pays on Friday');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    t.is((await stored()).comment, 'pays on Friday');

    await page.locator('.page-head .switch').click();
    await page.locator('.verdict[data-state=off]').waitFor();
    // The switch moves before the panel has answered; the notice comes after it.
    await page.locator('.notice').filter({ hasText: 'is off.' }).waitFor();
    t.false((await stored()).enable);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByText('was deleted').waitFor();
    await t.throwsAsync(stored());
    // The browser logs the refused name by itself.
    t.deepEqual(
      complaints.filter((text) => !/status of 400/.test(text)),
      [],
    );
    t.deepEqual(foreign(asked), []);
  },
);

test.serial('a session that ends opens a login above the page, and what was typed stays', async (t) => {
  t.timeout(MINUTES);
  await world.api('clients/add', { client: { email: 'ben' }, inboundIds: [await firstInbound()] });
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/client?name=ben&edit=1');
  await page.locator('.stream[data-live]').waitFor();
  await page.getByLabel('Comment').fill('typed before the session ended');
  // The live stream says that it is over.
  await world.api('access/sessions/revokeOthers', {});
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  await fillLogin(page);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  t.is((await world.api<Commented>('clients/get/ben')).comment, 'typed before the session ended');
  t.deepEqual(without401(complaints), []);
});
interface Commented {
  readonly comment: string;
}

test.serial('a call that meets the end of the session is sent again after the login', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await page.routeWebSocket('**/ws', (socket) => socket.close());
  await logIn();
  await show('/client?name=ben&edit=1');
  await page.getByLabel('Comment').fill('saved by the second session');
  await world.api('access/sessions/revokeOthers', {});
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  t.not((await world.api<Commented>('clients/get/ben')).comment, 'saved by the second session');
  await fillLogin(page);
  await page.getByText('Saved.').waitFor();
  t.is((await world.api<Commented>('clients/get/ben')).comment, 'saved by the second session');
  t.deepEqual(without401(complaints), []);
});

const firstInbound = async (): Promise<number> =>
  (await world.api<{ id: number }[]>('inbounds/options'))[0]?.id ?? 0;

test.serial('names of others do no harm', async (t) => {
  t.timeout(MINUTES);
  const inboundIds = [await firstInbound()];
  const names = [
    'سارا',
    '"><img/src=x>'.replaceAll('/', '\u2215'),
    'x'.repeat(250),
    '%2e%2e',
    '123',
    'a&b=c#d?e',
  ];
  for (const email of names) await world.api('clients/add', { client: { email }, inboundIds });
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/clients');
  for (const email of names) {
    await page.getByRole('searchbox').fill(email);
    const link = page.locator('.rows .client-name').first();
    await page.waitForFunction(
      (wanted) => document.querySelector('.rows .client-name')?.textContent?.startsWith(wanted) === true,
      email.slice(0, 100),
    );
    await link.click();
    await page.locator('.verdict').waitFor();
    t.is((await page.getByRole('heading', { level: 1 }).innerText()).slice(0, 100), email.slice(0, 100));
    await page.goBack();
    await page.locator('.rows').waitFor();
  }
  t.is(await page.locator('img').count(), 0);
  t.deepEqual(complaints, []);
});

test.serial(`a list of ${MANY} clients is scrolled to its end, and follows what they use`, async (t) => {
  t.timeout(MINUTES);
  const inboundId = await firstInbound();
  for (let from = 0; from < MANY; from += 5_000)
    await world.api(
      'clients/bulkCreate',
      Array.from({ length: 5_000 }, (_, i) => ({
        client: { email: `many-${String(from + i).padStart(6, '0')}` },
        inboundIds: [inboundId],
      })),
    );
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/clients?search=many-&sort=email');
  await page.getByText('many-000000', { exact: true }).waitFor();
  const grid = page.getByRole('grid');
  t.is(await grid.getAttribute('aria-rowcount'), String(MANY + 1));
  t.true((await page.getByRole('row').count()) < 80);
  await page.locator('.scroller').evaluate((element) => {
    element.scrollTop = element.scrollHeight;
  });
  const last = page.getByText(`many-${String(MANY - 1).padStart(6, '0')}`, { exact: true });
  await last.waitFor();
  t.true((await page.getByRole('row').count()) < 80);
  const { id } = await world.api<{ id: number }>(`clients/get/many-${String(MANY - 1).padStart(6, '0')}`);
  world.engine.move(inboundId, id, 3 * 1024 ** 3, 0);
  const row = page.getByRole('row').filter({ has: last });
  await row.getByText('3 GiB').waitFor();
  await row.focus();
  await page.keyboard.press('Home');
  await page.getByText('many-000000', { exact: true }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'many-000001' }).waitFor();
  t.deepEqual(complaints, []);
});

test.serial('the core is stopped and started, after the page has said what it costs', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  // The engine of this panel has no core, and no calls of its own.
  for (const [call, to] of [
    ['stopEngineService', 'stop'],
    ['restartEngineService', 'running'],
  ] as const)
    await page.route(`**/server/${call}`, async (route) => {
      world.engine.enter(to);
      await route.fulfill({ json: { success: true, msg: 'done', obj: null } });
    });
  await page.route('**/engine/plan', (route) => route.abort());
  await show('/');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Nobody can connect until you start it').waitFor();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  t.true(world.engine.running);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('The core is stopped: no client can connect.').waitFor();
  t.false(world.engine.running);
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Start' }).click();
  await page.locator('.state[data-state=running]').waitFor();
  t.deepEqual(
    complaints.filter((text) => !/ERR_FAILED/.test(text)),
    [],
  );
});

test.serial(
  'a panel that does not answer, or a proxy in its place, is said with a way to try again',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    let isBroken = true;
    await page.route('**/clients/list/paged*', (route) =>
      isBroken ? route.fulfill({ status: 502, body: '<html>Bad gateway</html>' }) : route.continue(),
    );
    await show('/clients');
    const problem = page.getByRole('alert').filter({ hasText: 'Something else than the panel answered' });
    await problem.waitFor();
    t.regex(await problem.innerText(), /502/);
    isBroken = false;
    await problem.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.rows .client-name').first().waitFor();
    t.is(await page.getByRole('alert').count(), 0);
  },
);

test.serial('a connection that breaks is said, and comes back by itself', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  let isBroken = false;
  const open: { close: () => Promise<void> }[] = [];
  await page.routeWebSocket('**/ws', (socket) => {
    if (isBroken) return void socket.close();
    socket.connectToServer();
    open.push(socket);
  });
  await logIn();
  await show('/');
  await page.locator('.stream[data-live]').waitFor();
  isBroken = true;
  for (const socket of open) await socket.close();
  await page.getByText('The connection to the panel is lost').waitFor();
  isBroken = false;
  await page.locator('.stream[data-live]').waitFor();
  t.is(await page.getByText('The connection to the panel is lost').count(), 0);
});

test.serial('with a second factor a login needs a code, and a recovery code works once', async (t) => {
  t.timeout(MINUTES);
  const secret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  const { recoveryCodes } = await world.api<{ recoveryCodes: string[] }>('setting/update', {
    twoFactorEnable: true,
    twoFactorToken: secret,
    twoFactorCode: new TOTP({ secret: Secret.fromBase32(secret) }).generate(),
  });
  const [recovery = '', other = ''] = recoveryCodes;
  const { page, complaints, show } = await openPage(t, browser, world);
  await show('/');
  await page.getByLabel('Code of the second factor').waitFor();
  await fillLogin(page, ADMIN.password, '000000');
  await page.getByRole('alert').filter({ hasText: 'or the code is wrong' }).waitFor();
  await fillLogin(page, ADMIN.password, recovery);
  await page.locator('.tiles').waitFor();
  await page.getByRole('button', { name: /Account of admin/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.getByLabel('Code of the second factor').waitFor();
  await fillLogin(page, ADMIN.password, recovery);
  await page.getByRole('alert').filter({ hasText: 'or the code is wrong' }).waitFor();
  await fillLogin(page, ADMIN.password, other);
  await page.locator('.tiles').waitFor();
  t.deepEqual(without401(complaints), []);
});
