// Logs on a whole panel: what is new comes by itself, pause, search, copy, download, and very many lines.
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { definePlugin, type Log } from '../../../kernel/index.js';
import type { CoreLogEntry } from '../../engine/contract.js';
import { bootPanel, launch, openPage, outside, violations, type World } from './open-page.js';

const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;
const MARKUP = '<img src=x onerror=complain("script")>';

let log: Log;
/** Its lines are in the log of the panel. */
const writer = definePlugin({
  name: 'test-writer',
  version: '0.1.0',
  api: 1,
  about: 'Writes lines into the log.',
  start: (parts) => void (log = parts.log),
});
const connect = (name: string, to: string, way: CoreLogEntry['way'] = 'direct'): void => {
  const outbound = way === 'blocked' ? 'blocked' : 'direct';
  const from = '192.0.2.1:5000';
  const entry = { at: Date.now(), from, to, inbound: 'in-1', outbound, way, user: undefined, name };
  world.engine.connections.push(entry);
};

let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel([writer]);
  await world.api('setting/update', { logLevel: 'debug' });
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

const line = (page: Page, text: string) => page.locator('.log-line', { hasText: text });
const tails = (asked: readonly string[]): string[] => asked.filter((url) => url.includes('-logs/tail'));
/** px between what is seen and the end of the log */
const toEnd = (page: Page): Promise<number> =>
  page
    .locator('.log')
    .evaluate(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight);

test.serial('lines come by themselves, wait while the log is paused, and are found', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, asked, show, logIn } = await openPage(t, browser, world, {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await logIn();
  log.info('first of the test');
  log.warn(`of others: ${MARKUP} \u202e`, { name: '\u0000' });
  log.error('x'.repeat(64 * 1024));
  log.debug('only for debugging');
  await show('/system/logs');
  await line(page, 'first of the test').waitFor();
  await line(page, MARKUP).getByText('⟨202E⟩').waitFor();
  t.is(await line(page, 'only for debugging').count(), 0);
  await page.getByText('As it is written').waitFor();
  log.info('second of the test');
  await line(page, 'second of the test').waitFor();
  const before = tails(asked).length;
  t.true(before <= 2, `${before} calls: at the begin, and when the stream was there`);
  await page.waitForTimeout(4_500);
  t.is(tails(asked).length, before, 'lines come by the live stream alone');

  await page.getByRole('button', { name: 'Pause' }).click();
  log.info('third of the test');
  // The panel neither tells nor is asked: two rounds would have come.
  await page.waitForTimeout(4_500);
  t.is(tails(asked).length, before);
  t.is(await line(page, 'third of the test').count(), 0);
  await page.getByRole('button', { name: 'Go on' }).click();
  await line(page, 'third of the test').waitFor();

  await page.getByLabel('Search in the log').fill('SECOND of');
  await page.getByText(/^1 of \d+ lines$/).waitFor();
  await line(page, 'second of the test').waitFor();
  t.is(await page.locator('.log-line').count(), 1);
  t.regex(page.url(), /\?search=SECOND/);
  await page.getByRole('button', { name: 'Copy' }).click();
  await page.getByText('1 line copied.').waitFor();
  t.regex(
    await page.evaluate(() => navigator.clipboard.readText()),
    /^\d{4}\/.* INFO - second of the test.*\n$/,
  );

  await page.getByLabel('Search in the log').fill('');
  await page.getByLabel('Least severe level').selectOption('error');
  await line(page, 'xxxx').waitFor();
  await line(page, 'second').waitFor({ state: 'detached' });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  t.regex(download.suggestedFilename(), /^weir-panel-\d{4}-.*\.log$/);
  const stored = await readFile(await download.path(), 'utf8');
  t.true(stored.includes('x'.repeat(64 * 1024)), 'the file has the whole line');
  t.true(((await line(page, 'xxxx').textContent()) ?? '').length < 3_000);
  t.deepEqual(complaints, []);
});

test.serial(
  'ten thousand lines are a few elements; the end is followed until one scrolls back',
  async (t) => {
    t.timeout(MINUTES);
    const { page, complaints, show, logIn } = await openPage(t, browser, world);
    await logIn();
    for (let i = 1; i <= 9_000; i++) log.info(`number ${i} ${'word '.repeat(i % 60)}`);
    await show('/system/logs?lines=10000');
    await line(page, 'number 9000 ').waitFor();
    t.true((await page.locator('.log-line').count()) < 150);
    await page.waitForFunction(() => {
      const log = document.querySelector('.log');
      return log && log.scrollHeight - log.scrollTop - log.clientHeight < 8;
    });
    log.info('followed');
    await line(page, 'followed').waitFor();
    await page.waitForFunction(() => {
      const log = document.querySelector('.log');
      return log && log.scrollHeight - log.scrollTop - log.clientHeight < 8;
    });

    await page.locator('.log').focus();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('PageUp');
    await page.getByRole('button', { name: 'To the newest line' }).waitFor();
    log.info('not followed');
    await page.getByText(/ of 9,\d{3} lines/).waitFor();
    // Several rounds of the live stream.
    await page.waitForTimeout(1_500);
    t.true((await toEnd(page)) > 100);
    t.is(await line(page, 'not followed').count(), 0);
    await page.getByRole('button', { name: 'To the newest line' }).click();
    await line(page, 'not followed').waitFor();

    // The whole list stays quick: a search through all lines, without a long task.
    await page.evaluate(() => {
      const longest = { ms: 0 };
      Object.assign(globalThis, { longest });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration);
      }).observe({ type: 'longtask' });
    });
    await page.getByLabel('Search in the log').fill('number 8');
    await page.getByText(/^1,1\d\d of 9,\d{3} lines$/).waitFor();
    t.log(
      `longest task: ${await page.evaluate(() => (globalThis as { longest?: { ms: number } }).longest?.ms)} ms`,
    );
    t.true((await page.locator('.log-line').count()) < 150);
    t.deepEqual(complaints, []);
  },
);

test.serial('connections of the core are shown by outbound, and searched by the panel', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show, logIn } = await openPage(t, browser, world);
  await logIn();
  for (let i = 1; i <= 600; i++) connect('old', `tcp:example.com:${i}`);
  connect('سارا', 'tcp:example.org:443');
  connect(MARKUP, 'tcp:blocked.example:80', 'blocked');
  await show('/system/logs');
  await page.getByLabel('Log', { exact: true }).selectOption('core');
  await line(page, 'example.org:443').getByText('سارا').waitFor();
  await line(page, 'blocked.example').waitFor();
  t.is(await line(page, 'blocked.example').getAttribute('data-level'), 'warn');
  connect('new', 'udp:example.net:53');
  await line(page, 'example.net:53').waitFor();
  await page.getByLabel('Connections', { exact: true }).selectOption('blocked');
  await page.getByText('1 of 1 line').waitFor();
  await page.getByLabel('Connections', { exact: true }).selectOption('');
  // It is not among the last 500.
  await page.getByLabel('Search in the log').fill('example.com:7');
  await line(page, 'example.com:7 ').first().waitFor();
  t.regex(page.url(), /log=core&search=/);
  t.deepEqual(complaints, []);
});

test.serial('a journal that is not there, and a panel that does not answer', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  // Without the live stream the panel is asked.
  await page.routeWebSocket(/\/ws$/, (socket) => void socket.close());
  await show('/system/logs');
  await line(page, 'number').first().waitFor();
  await page.getByText('Asked every 2 s').waitFor();
  log.info('without the stream');
  await line(page, 'without the stream').waitFor();
  await page.route('**/panel-logs/tail**', (route) => route.abort());
  await page.locator('.problem').waitFor();
  t.true((await page.locator('.log-line').count()) > 0, 'what is there stays');
  await page.unroute('**/panel-logs/tail**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.problem').waitFor({ state: 'detached' });
  await page.route('**/server/logs/**', (route) =>
    route.fulfill({
      status: 503,
      json: { success: false, msg: 'no journal', code: 'PANEL_LOGS_NO_JOURNAL' },
    }),
  );
  await page.getByLabel('Log', { exact: true }).selectOption('journal');
  await page.locator('.problem').getByText('no journal').waitFor();
  t.pass();
});

test.serial('a reconnection goes on without a gap and without a line twice', async (t) => {
  t.timeout(MINUTES);
  const { page, asked, show, logIn } = await openPage(t, browser, world);
  await logIn();
  let cut: (() => Promise<void>) | undefined;
  await page.routeWebSocket(/\/ws$/, (socket) => {
    const server = socket.connectToServer();
    cut = async () => {
      await server.close();
      await socket.close({ code: 3001 });
    };
  });
  await show('/system/logs?search=counted');
  await page.getByText('As it is written').waitFor();
  let count = 0;
  const write = (): void => log.info(`counted ${++count}.`);
  const timer = setInterval(write, 20);
  for (let round = 0; round < 3; round++) {
    await page.getByText('As it is written').waitFor();
    await page.waitForTimeout(1_500);
    await cut?.();
    await page.getByText('As it is written').waitFor({ state: 'detached' });
  }
  await page.getByText('As it is written').waitFor();
  await page.waitForTimeout(1_000);
  clearInterval(timer);
  const before = tails(asked).length;
  await page.waitForFunction(
    (last) => [...document.querySelectorAll('.log-line')].at(-1)?.textContent?.includes(`counted ${last}.`),
    count,
  );
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  const numbers = [...(await readFile(await download.path(), 'utf8')).matchAll(/counted (\d+)\./g)].map(
    ([, number]) => Number(number),
  );
  t.deepEqual(
    numbers,
    Array.from({ length: count }, (_, i) => i + 1),
  );
  t.true(before <= 12, `${before} calls for 3 reconnections`);
});

test.serial('nothing sticks out, and axe finds nothing, in each language', async (t) => {
  t.timeout(MINUTES);
  for (const language of ['en', 'fa', 'ru', 'zh', 'ar'])
    for (const width of [360, 1440]) {
      const theme = (width === 360) === (language === 'fa') ? 'dark' : 'light';
      const { page, complaints, show, logIn } = await openPage(t, browser, world, {
        preferences: { language, theme },
        viewport: { width, height: 800 },
      });
      await logIn();
      for (const name of ['panel', 'core']) {
        await show(`/system/logs?log=${name}&level=debug`);
        await page.locator('.log-line').first().waitFor();
        const place = `${name} ${language} ${theme} ${width}`;
        t.deepEqual(await outside(page), [], place);
        t.deepEqual(await violations(page), [], place);
        t.deepEqual(complaints, [], place);
        if (shots)
          await page.screenshot({ path: join(shots, `logs-${name}-${language}-${theme}-${width}.png`) });
      }
    }
});
