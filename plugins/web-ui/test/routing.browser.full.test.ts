// Routing on a whole panel: changes are a draft that is planned and applied, also between two admins.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
type Template = {
  outbounds: { tag: string; protocol: string; settings?: unknown }[];
  routing: { rules: Record<string, unknown>[] };
};
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
const template = async (): Promise<Template> =>
  JSON.parse((await world.api<{ engineSetting: string }>('engine/', {})).engineSetting) as Template;
const save = (engineSetting: unknown) => world.api('engine/update', { engineSetting });
const SOCKS = { address: '127.0.0.1', port: 9 };
const START = {
  log: { loglevel: 'warning' },
  outbounds: [
    { tag: 'direct', protocol: 'freedom', settings: {} },
    { tag: 'blocked', protocol: 'blackhole', settings: {} },
    { tag: 'far', protocol: 'socks', settings: { servers: [SOCKS] } },
  ],
  routing: {
    domainStrategy: 'AsIs',
    rules: [
      { type: 'field', domain: ['domain:ads.example', 'geosite:category-ads'], outboundTag: 'blocked' },
      { type: 'field', ip: ['192.0.2.0/24'], port: '80,443', network: 'tcp', outboundTag: 'far' },
    ],
    balancers: [{ tag: 'pool', selector: ['far'] }],
  },
};
test.beforeEach(() => save(START));

test.serial(
  'outbounds are added, moved and deleted in a draft, and applied once they are planned',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn, complaints } = await openPage(t, browser, world);
    await logIn();
    await show('/routing');
    const rows = page.locator('.routing-row');
    await rows.nth(2).waitFor();
    await page.locator('.routing-new select').selectOption('socks');
    await page.getByRole('button', { name: 'Add outbound' }).click();
    await page.getByLabel('Address').fill('proxy.example');
    await page.getByLabel('Port').fill('1090');
    const json = page.locator('textarea.routing-json');
    await json.fill(`${await json.inputValue()}\n]`);
    await page.getByText(/^Line \d+ is not/).waitFor();
    const plan = page.getByRole('button', { name: 'What it will do' });
    t.true(await plan.isDisabled());
    await page.getByRole('link', { name: 'All outbounds' }).click();
    await page.getByText('not valid JSON yet').waitFor();
    await rows.nth(3).getByRole('link').click();
    t.regex(await json.inputValue(), /\]$/, 'what was typed is still there');
    await json.fill((await json.inputValue()).replace(/\n\]$/, ''));
    await page.getByRole('link', { name: 'All outbounds' }).click();
    await page.getByRole('button', { name: 'Delete blocked' }).click();
    await page.getByRole('button', { name: 'Make default: far' }).click();
    t.is((await template()).outbounds.length, 3, 'nothing is saved yet');
    await plan.click();
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('button', { name: 'Apply' }).waitFor();
    await sheet.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('The changes are applied.').waitFor();
    const { outbounds } = await template();
    t.deepEqual(
      outbounds.map(({ tag }) => tag),
      ['far', 'direct', 'socks'],
    );
    t.deepEqual(outbounds[2]?.settings, { servers: [{ address: 'proxy.example', port: 1090 }] });
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('Undone.').waitFor();
    t.deepEqual(await template(), START);
    t.deepEqual(complaints, []);
  },
);

test.serial('a problem names its line, and nothing is saved', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/routing/outbound?at=1');
  const tag = page.getByLabel('Tag', { exact: true });
  await tag.fill('direct');
  await page.getByRole('button', { name: 'What it will do' }).click();
  await page.getByText('The core cannot run this:').waitFor();
  t.true(await page.getByRole('button', { name: 'Apply' }).isDisabled());
  await page.getByRole('button', { name: 'Go on editing' }).click();
  const line = page.getByRole('button', { name: 'Line 2' });
  await line.click();
  const chosen = await page
    .locator('textarea.routing-json')
    .evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd));
  t.is(chosen.trim(), '"tag": "direct",');
  t.deepEqual(await template(), START);
});

test.serial('what another admin saved between plan and apply is not lost, nor what was typed', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/routing/outbound?at=0');
  await page.getByLabel('Leave by this address').fill('192.0.2.7');
  await page.getByRole('button', { name: 'What it will do' }).click();
  const apply = page.getByRole('dialog').getByRole('button', { name: 'Apply' });
  await apply.waitFor();
  const [direct, ...rest] = START.outbounds;
  await save({ ...START, outbounds: [{ ...direct, sendThrough: '192.0.2.8' }, ...rest], dns: { tag: 'x' } });
  await apply.click();
  await page.getByText('Somebody else has saved this meanwhile').waitFor();
  await page.getByRole('radio', { name: /^Mine/ }).check();
  await page.getByRole('button', { name: 'Use these' }).click();
  await page.getByRole('button', { name: 'What it will do' }).click();
  await apply.click();
  await page.getByText('The changes are applied.').waitFor();
  const stored = (await template()) as Template & { dns?: unknown };
  t.like(stored.outbounds[0], { sendThrough: '192.0.2.7' });
  t.deepEqual(stored.dns, { tag: 'x' });
});

test.serial('rules are moved by keys, switched and edited, and nothing of them is lost', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  await show('/routing');
  await page.getByRole('link', { name: 'Rules' }).click();
  const sentences = page.locator('.routing-row .routing-sentence');
  await page.getByText('to domains').waitFor();
  const second = (await sentences.nth(1).textContent()) ?? '';
  t.is(
    second.replaceAll(/[\u2068\u2069]/g, ''),
    'to addresses 192.0.2.0/24; to port 80,443; over tcp → outbound far',
  );
  await page.getByRole('button', { name: 'Move rule 2 up' }).focus();
  await page.keyboard.press('ArrowUp');
  await page.locator('.routing-row').first().getByText('to addresses').waitFor();
  const focused = page.locator('button:focus');
  t.is(await focused.getAttribute('aria-label'), 'Move rule 1 down');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  t.is(await focused.getAttribute('aria-label'), 'Move rule 1 down');
  await page.locator('.routing-row').nth(1).locator('.switch').click();
  await sentences.first().click();
  await page.getByLabel('Domains').fill('domain:shop.example\n\n');
  await page.getByLabel('Leaves by').selectOption('bpool');
  await page.getByRole('button', { name: 'What it will do' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
  await page.getByText('The changes are applied.').waitFor();
  const [ads, far] = START.routing.rules;
  t.deepEqual((await template()).routing.rules, [
    {
      type: 'field',
      ip: far?.ip,
      port: '80,443',
      network: 'tcp',
      domain: ['domain:shop.example'],
      balancerTag: 'pool',
    },
    { ...ads, enabled: false },
  ]);
  t.deepEqual(complaints, []);
});

const SCREENS = [
  ['/routing/outbounds', '.routing-row'],
  ['/routing/outbound?at=2', 'textarea.routing-json'],
  ['/routing/rules', '.routing-row'],
  ['/routing/rule?at=0', 'textarea.routing-json'],
] as const;
for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      const { page, show, logIn } = await openPage(t, browser, world, { preferences: { language, theme } });
      await logIn();
      for (const [at, [path, ready]] of SCREENS.entries())
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 800 });
          await show(path);
          await page.locator(ready).first().waitFor();
          const here = page.locator('.tab[data-status=active], .tab[data-here]');
          t.is(await here.count(), 1, 'also a record belongs to a tab');
          t.deepEqual(await violations(page), [], `${path} ${width}`);
          t.deepEqual(await outside(page), [], `${path} ${width}`);
          const shots = process.env['WEIR_TEST_SCREENSHOTS'];
          if (shots) await page.screenshot({ path: `${shots}/rt${at}-${width}-${language}-${theme}.png` });
        }
    });
