// Pages of plugins in a browser: the page of examples/acme-plot, and one that tries to get out of its frame.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { Browser, FrameLocator } from 'playwright-core';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { sourceRoot } from '../../../test/harness/source-root.js';
import { type PluginPage, PluginPages } from '../contract.js';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const MINUTES = 600_000;
/** Tries each way out, and writes what came of it. */
const HOSTILE = `
const say = (name, text) => {
  const line = document.createElement('p');
  line.id = name;
  line.textContent = text;
  document.body.append(line);
};
const tryOut = (name, run) => {
  try { say(name, 'reached ' + run()); } catch (error) { say(name, 'refused'); }
};
addEventListener('DOMContentLoaded', async () => {
  tryOut('parent', () => parent.document.title);
  tryOut('cookie', () => document.cookie);
  tryOut('storage', () => localStorage.length);
  tryOut('top', () => { top.location = 'about:blank'; return 'the address'; });
  say('window', open('about:blank') === null ? 'refused' : 'reached');
  await fetch('/secret/panel/api/server/status').then(() => say('fetch', 'reached'), () => say('fetch', 'refused'));
  for (const [name, method, path] of [
    ['declared', 'GET', 'x/usage-by-day/top'],
    ['undeclared', 'GET', 'clients/list'],
    ['climb', 'GET', 'x/usage-by-day/%2e%2e/%2e%2e/clients/list'],
    ['write', 'POST', 'x/usage-by-day/top'],
  ])
    await weirPage.call(method, path).then(
      () => say(name, 'reached'),
      (error) => say(name, 'refused ' + error.status),
    );
  say('done', 'done');
  document.body.addEventListener('click', () => {
    for (let at = 0; at < 1000; at++) weirPage.title('x'.repeat(100_000));
  });
});
`;

let browser: Browser;
let world: World;
let folder: string;
test.before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'weir-hostile-'));
  await writeFile(join(folder, 'hostile.js'), HOSTILE);
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><title>x</title><script src="../../weir-page.js"></script><script src="hostile.js"></script><body>',
  );
  const api = ['GET x/usage-by-day/top'];
  const plot = fileURLToPath(new URL('examples/acme-plot/page', await sourceRoot()));
  const pages: readonly PluginPage[] = [
    { key: 'plot', title: { en: 'Plot', fa: 'نمودار' }, icon: 'chart', folder: plot, api },
    { key: 'hostile', title: { en: '<b>Hostile</b>' }, icon: 'chart', folder, api },
  ];
  world = await bootPanel([
    definePlugin({
      name: 'acme',
      version: '1.0.0',
      api: 1,
      about: 'Two pages.',
      contributes: () => pages.map((page) => contribute(PluginPages, page)),
    }),
  ]);
  const { id: inbound } = await world.api<{ id: number }>('inbounds/add', {
    protocol: 'vless',
    port: 40_041,
  });
  for (const email of ['ann', 'ben']) {
    await world.api('clients/add', { client: { email }, inboundIds: [inbound] });
    const { id } = await world.api<{ id: number }>(`clients/get/${email}`);
    world.engine.move(inbound, id, 10, 1000);
  }
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const text = (frame: FrameLocator, id: string): Promise<string> => frame.locator(`#${id}`).innerText();

test.serial('the page of a plugin draws what the API says, in the looks of the page', async (t) => {
  t.timeout(MINUTES);
  // What was counted is moved to its day once a minute.
  while ((await world.api<{ clients: number }>('x/usage-by-day/top')).clients < 2) await sleep(500);
  for (const [language, title, dir, theme] of [
    ['en', 'Plot', 'ltr', 'light'],
    ['fa', 'نمودار', 'rtl', 'dark'],
  ] as const)
    for (const width of [360, 1440]) {
      const { page, complaints, asked, show, logIn } = await openPage(t, browser, world, {
        viewport: { width, height: 800 },
        preferences: { language, theme },
      });
      await logIn();
      await show('/');
      if (width === 360)
        await page.getByRole('button', { name: language === 'en' ? 'More' : 'بیشتر' }).click();
      await page.getByText(title, { exact: true }).click();
      const frame = page.frameLocator('iframe');
      await frame.locator('rect').nth(1).waitFor({ state: 'attached' });
      t.regex(await text(frame, 'about'), /2 clients, at most 1010 bytes/);
      const root = frame.locator('html');
      t.is(await root.getAttribute('dir'), dir);
      t.is(await root.getAttribute('data-theme'), theme);
      t.deepEqual(await violations(page), []);
      t.deepEqual(await outside(page), []);
      t.deepEqual(complaints, []);
      t.deepEqual(
        asked.filter((url) => !url.startsWith(world.base)),
        [],
      );
    }
});

test.serial(
  'a page of a plugin gets nothing but the calls it has declared, and one that floods is taken out',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/plugin-page?plugin=acme&page=hostile');
    const frame = page.frameLocator('iframe');
    await frame.locator('#done').waitFor();
    for (const way of ['parent', 'cookie', 'storage', 'top', 'window', 'fetch'])
      t.is(await text(frame, way), 'refused', way);
    t.is(await text(frame, 'declared'), 'reached');
    for (const way of ['undeclared', 'climb', 'write']) t.is(await text(frame, way), 'refused 403', way);
    t.is(await page.locator('h1 b').count(), 0);
    // The frame goes before the click has ended.
    void frame
      .locator('#done')
      .click()
      .catch(() => undefined);
    await page.getByRole('alert').waitFor();
    t.is(await page.locator('iframe').count(), 0);
    // The rest of the page goes on.
    await page.getByRole('link', { name: 'Clients' }).click();
    await page.locator('.clients').waitFor();
  },
);
