// Balancers on a whole panel: made in the draft with the probes that they need, planned and applied.
import test from 'ava';
import type { Browser } from 'playwright-core';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
interface Template {
  readonly routing: { readonly rules: unknown[]; readonly balancers: Record<string, unknown>[] };
  readonly observatory?: Record<string, unknown>;
}
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
const exit = (tag: string, port: number) => ({
  tag,
  protocol: 'socks',
  settings: { servers: [{ address: '127.0.0.1', port }] },
});
const START = {
  outbounds: [
    { tag: 'direct', protocol: 'freedom', settings: {} },
    exit('exit-1', 9),
    exit('exit-2', 10),
    exit('far', 11),
  ],
  routing: {
    rules: [{ type: 'field', domain: ['full:shop.example'], outboundTag: 'direct' }],
    balancers: [{ tag: 'pool', selector: ['exit-'] }],
  },
};
const template = async (): Promise<Template> =>
  JSON.parse((await world.api<{ engineSetting: string }>('engine/', {})).engineSetting) as Template;
test.beforeEach(() => world.api('engine/update', { engineSetting: START }));

test.serial('a balancer is made, a rule leads to it, and its probes are set up', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  await show('/routing');
  await page.getByRole('link', { name: 'Balancers' }).click();
  await page.getByText('No rule leads to it.').waitFor();
  await page.getByRole('button', { name: 'Add balancer' }).click();
  await page.getByText('No outbound fits.').waitFor();
  await page.getByLabel('Tag', { exact: true }).fill('best');
  const selector = page.getByLabel('Chooses among outbounds whose tag begins with');
  await selector.and(page.locator('input')).fill('exit-');
  await page.keyboard.press('Enter');
  await page.getByText(/^2 outbounds fit now: .exit-1., .exit-2.\.$/).waitFor();
  // What is typed and not added counts when the reader goes on.
  await selector.and(page.locator('input')).fill('nobody');
  await page.keyboard.press('Tab');
  await page.getByLabel('How it chooses').selectOption('leastPing');
  await page.getByRole('button', { name: 'Remove nobody' }).click();
  await page.getByLabel('Fallback').selectOption('direct');
  const plan = page.getByRole('button', { name: 'What it will do' });
  const sheet = page.getByRole('dialog');
  await plan.click();
  await sheet.getByText('The core cannot run this:').waitFor();
  // The refusal leads to the balancer that it is about.
  await sheet.getByRole('link', { name: /^Balancer .?best/ }).click();
  await sheet.waitFor({ state: 'detached' });
  await page
    .getByText(/needs an observatory/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Set up probes' }).click();
  await page.getByLabel('How often').fill('5m');
  await page.getByRole('link', { name: 'Rules' }).click();
  await page.locator('.routing-sentence').click();
  await page.getByLabel('Leaves by').selectOption('bbest');
  await plan.click();
  await sheet.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('The changes are applied.').waitFor();
  const stored = await template();
  t.deepEqual(stored.routing.balancers, [
    ...START.routing.balancers,
    { tag: 'best', selector: ['exit-'], strategy: { type: 'leastPing' }, fallbackTag: 'direct' },
  ]);
  t.deepEqual(stored.routing.rules, [{ type: 'field', domain: ['full:shop.example'], balancerTag: 'best' }]);
  t.like(stored.observatory, { subjectSelector: ['exit-'], probeInterval: '5m' });
  await page.getByRole('link', { name: 'Balancers' }).click();
  await page.getByText('1 rule leads to it.').waitFor();
  t.deepEqual(complaints, []);
});

test.serial('what is deleted or discarded comes back, and a draft is not lost with the page', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  await show('/routing/balancers');
  await page.getByRole('button', { name: 'Delete pool' }).click();
  await page.getByText('There are no balancers.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  const link = page.getByRole('link', { name: 'pool' });
  await link.click();
  const json = page.locator('textarea.routing-json');
  await json.fill('{');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('The changes are discarded.').waitFor();
  t.regex(await json.inputValue(), /"pool"/, 'the field shows what is in force');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('One text is not valid JSON').waitFor();
  t.is(await json.inputValue(), '{');
  await page.getByRole('link', { name: 'Clients' }).first().click();
  await page.getByRole('heading', { name: 'Clients' }).waitFor();
  const asked = page.waitForEvent('dialog');
  void page.reload().catch(() => undefined);
  const dialog = await asked;
  t.is(dialog.type(), 'beforeunload');
  await dialog.dismiss();
  await page.getByRole('link', { name: 'Routing' }).first().click();
  await page.getByRole('link', { name: /^Balancer .?pool/ }).click();
  t.is(await json.inputValue(), '{');
  t.deepEqual((await template()).routing.balancers, START.routing.balancers);
});

const SCREENS = [
  ['/routing/balancers', 'section.card'],
  ['/routing/balancer?at=0', 'textarea.routing-json'],
] as const;
for (const language of ['en', 'fa'])
  for (const theme of ['light', 'dark'])
    test.serial(`axe finds nothing, nothing sticks out: ${language}, ${theme}`, async (t) => {
      t.timeout(MINUTES);
      await world.api('engine/update', {
        engineSetting: {
          ...START,
          observatory: {
            subjectSelector: ['exit-1'],
            probeURL: 'https://probe.example/',
            probeInterval: '1m',
          },
          routing: {
            rules: [],
            balancers: [{ tag: 'pool', selector: ['exit-', 'far'], strategy: { type: 'leastPing' } }],
          },
        },
      });
      const { page, show, logIn } = await openPage(t, browser, world, { preferences: { language, theme } });
      await logIn();
      for (const [at, [path, ready]] of SCREENS.entries())
        for (const width of [360, 1440]) {
          await page.setViewportSize({ width, height: 800 });
          await show(path);
          await page.locator(ready).first().waitFor();
          t.deepEqual(await violations(page), [], `${path} ${width}`);
          t.deepEqual(await outside(page), [], `${path} ${width}`);
          const shots = process.env['WEIR_TEST_SCREENSHOTS'];
          if (shots)
            await page.screenshot({
              path: `${shots}/bal${at}-${width}-${language}-${theme}.png`,
              fullPage: true,
            });
        }
    });
