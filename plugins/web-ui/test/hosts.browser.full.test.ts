// Hosts on a whole panel: what the form makes is what a client's links say, and nothing that was there is lost.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser } from 'playwright-core';
import {
  bootPanel,
  LOOKS,
  launch,
  openPage,
  outside,
  sideways,
  violations,
  type World,
} from './open-page.js';

const MINUTES = 600_000;
const shots = process.env['WEIR_TEST_SCREENSHOTS'];
let browser: Browser;
let world: World;
let home: number;
let away: number;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  const inbound = { protocol: 'vless', listen: '127.0.0.1' };
  const stream = { network: 'ws', security: 'none', wsSettings: { path: '/own' } };
  home = (
    await world.api<Inbound>('inbounds/add', {
      ...inbound,
      port: 40_061,
      remark: 'home',
      streamSettings: stream,
    })
  ).id;
  away = (await world.api<Inbound>('inbounds/add', { ...inbound, port: 40_062, remark: 'away' })).id;
  await world.api('clients/add', { client: { email: 'ann' }, inboundIds: [home] });
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});
interface Inbound {
  readonly id: number;
}
interface Stored {
  readonly groupId: string;
  readonly remark: string;
  readonly hosts: string[];
  readonly isDisabled: boolean;
  readonly tags: string[];
  readonly sni: string;
  readonly path: string;
}
const stored = () => world.api<Stored[]>('hosts/list');
const links = () => world.api<string[]>('clients/links/ann');

test.serial('what the form makes is what links say, as its sketch has said', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/hosts');
  await page.getByText('There is no host yet').waitFor();
  await page.getByRole('link', { name: 'New host' }).click();
  await page.getByRole('checkbox', { name: /home/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('CDN');
  await page.getByLabel('Addresses').fill('cdn.example.com\n[2001:db8::1]:8443');
  await page.getByLabel('Port', { exact: true }).fill('443');
  await page.getByRole('combobox', { name: 'Security' }).selectOption({ label: 'TLS' });
  await page.getByLabel('Server name (SNI)').fill('front.example.com');
  await page.getByRole('checkbox', { name: 'h2' }).click();
  await page.getByLabel('Path').fill('/front');
  const sketch = await page.locator('.sketch code').allInnerTexts();
  t.deepEqual(sketch, [
    '…://…@cdn.example.com:443?…&security=tls&sni=front.example.com&alpn=h2&path=/front#CDN',
    '…://…@[2001:db8::1]:8443?…&security=tls&sni=front.example.com&alpn=h2&path=/front#CDN',
  ]);
  // What was typed outlasts a reload.
  await page.reload();
  await page.getByText('These are your changes from before').waitFor();
  t.is(await page.getByLabel('Path').inputValue(), '/front');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.host').waitFor();
  const made = (await links()).map((link) => new URL(link));
  t.deepEqual(
    made.map(({ host }) => host),
    ['cdn.example.com:443', '[2001:db8::1]:8443'],
  );
  for (const { searchParams } of made) {
    t.is(searchParams.get('security'), 'tls');
    t.is(searchParams.get('sni'), 'front.example.com');
    t.is(searchParams.get('alpn'), 'h2');
    t.is(searchParams.get('path'), '/front');
  }
  t.deepEqual(complaints, []);
});

test.serial('what the panel refuses stands at its field, and nothing typed is lost', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/host/new?inbound=${home}`);
  t.true(await page.getByRole('checkbox', { name: /home/ }).isChecked());
  await page.getByLabel('Name', { exact: true }).fill('bad');
  await page.getByLabel('Addresses').fill('ok.example.com\nnot an address');
  await page.locator('.fold summary').last().click();
  await page.getByLabel('Multiplexing').fill('{');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.field-problem', { hasText: 'not valid JSON' }).waitFor();
  await page.getByLabel('Multiplexing').fill('{"nonsense": 1}');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .locator('.field-problem', { hasText: /hosts\[1\]|nonsense/ })
    .first()
    .waitFor();
  t.deepEqual(await violations(page), []);
  t.is((await stored()).length, 1);
  t.is(await page.getByLabel('Addresses').inputValue(), 'ok.example.com\nnot an address');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.locator('.host').waitFor();
});

test.serial('two admins: what both have changed is chosen', async (t) => {
  t.timeout(MINUTES);
  const [{ groupId } = { groupId: '' }] = await stored();
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show(`/host?id=${groupId}`);
  await page.getByLabel('Path').fill('/mine');
  await page.getByLabel('Server name (SNI)').fill('mine.example.com');
  await world.api(`hosts/update/${groupId}`, { path: '/theirs', tags: ['EU'] });
  await page.getByRole('button', { name: 'Save' }).click();
  const box = page.locator('.conflict');
  await box.waitFor();
  t.is((await stored())[0]?.path, '/theirs');
  t.regex(await box.innerText(), /Tags/);
  await box.getByRole('radio', { name: 'Theirs: /theirs' }).click();
  await box.getByRole('button', { name: 'Use these' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.host').waitFor();
  const [saved] = await stored();
  t.is(saved?.path, '/theirs');
  t.is(saved?.sni, 'mine.example.com');
  t.deepEqual(saved?.tags, ['EU']);
  // The form begins with what was saved, not with what the page knew before.
  await world.api(`hosts/update/${groupId}`, { path: '/later' });
  await page.locator('.host-name').first().click();
  const path = page.getByLabel('Path');
  await path.waitFor();
  t.is(await path.inputValue(), '/later');
  t.is(await page.getByLabel('Server name (SNI)').inputValue(), 'mine.example.com');
  await page.locator('.notices').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone.').waitFor();
  const [undone] = await stored();
  t.deepEqual([undone?.sni, undone?.path], ['front.example.com', '/later']);
});

test.serial('hosts are moved, switched, deleted and brought back', async (t) => {
  t.timeout(MINUTES);
  for (const [remark, inboundIds] of [
    ['elsewhere', [away]],
    ['relay', [home, away]],
  ] as const)
    await world.api('hosts/add', { remark, inboundIds, hosts: [`${remark}.example.com`], sortOrder: 5 });
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/hosts');
  const here = page.locator(`[data-inbound="${home}"]`);
  const names = () => here.locator('.host-name').allInnerTexts();
  await here.locator('.host').nth(1).waitFor();
  t.deepEqual(await names(), ['CDN', 'relay']);
  await here.getByRole('button', { name: 'Move ⁨relay⁩ up' }).click();
  await here.locator('.host-name').first().filter({ hasText: 'relay' }).waitFor();
  t.deepEqual(await names(), ['relay', 'CDN']);
  t.is(new URL((await links())[0] ?? '').hostname, 'relay.example.com');
  t.true(await here.getByRole('button', { name: 'Move ⁨relay⁩ up' }).isDisabled());

  const relay = here.locator('.host').filter({ hasText: 'relay.example.com' });
  await relay.locator('.switch').click();
  await page.waitForFunction(() => document.querySelectorAll('.host .switch[data-selected]').length === 2);
  t.true((await stored()).find(({ remark }) => remark === 'relay')?.isDisabled);
  t.false((await links()).some((link) => link.includes('relay.example.com')));

  const before = await stored();
  await relay.getByRole('button', { name: 'Delete ⁨relay⁩' }).click();
  const undo = page.locator('.notices').getByRole('button', { name: 'Undo' });
  await undo.waitFor();
  t.is((await stored()).length, 2);
  await undo.click();
  await page.getByText('Undone.').waitFor();
  const withoutVersions = (groups: readonly Stored[]) =>
    groups.map(({ version: _, ...group }: Stored & { version?: string }) => group);
  t.deepEqual(withoutVersions(await stored()), withoutVersions(before));
  t.deepEqual(complaints, []);
});

test.serial('without the plugin, the page says so', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await page.route('**/panel/api/hosts/list', (route) =>
    route.fulfill({
      status: 404,
      json: { success: false, msg: 'no such path', code: 'KERNEL_NOT_FOUND', obj: null },
    }),
  );
  await show('/hosts');
  await page.locator('.problem, .empty').first().waitFor();
  t.deepEqual(await violations(page), []);
});

for (const [language, theme] of LOOKS)
  test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
    t.timeout(MINUTES);
    const [{ groupId } = { groupId: '' }] = await stored();
    const { page, complaints, show, logIn } = await openPage(t, browser, world, {
      preferences: { language, theme },
    });
    await logIn();
    for (const [name, path, ready] of [
      ['hosts', '/hosts', '.host'],
      ['host', `/host?id=${groupId}`, '.checks label'],
    ] as const) {
      await show(path);
      await page.locator(ready).first().waitFor();
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll('details')) fold.open = true;
      });
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        t.deepEqual(await violations(page), [], `${name} ${width}`);
        t.deepEqual(await outside(page), [], `${name} ${width}`);
        t.is(await sideways(page), 0, `${name} ${width}`);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${language}-${theme}.png`) });
      }
    }
    t.deepEqual(complaints, []);
  });
