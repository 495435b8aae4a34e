// `npm run bench -- page`: how soon the page of a browser shows clients, and how long it is blocked meanwhile. Only the text
// of rows and the roles of elements are known here, so the page may be built otherwise.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';
import { cpus, loadavg } from 'node:os';
import { ADMIN, freePort } from '../harness/api.js';
import { PanelProcess } from '../harness/panel-process.js';
import { atMost, type Figure, Report } from './report.js';
import { seed } from './seed.js';

const LIST = /\/panel\/api\/clients\/list\/paged/;
const BLOCKED_MS = 50;
const FIRST_ROWS_MS = 300;
const EDITS_A_SECOND = 5;
const MIB = 2 ** 20;

/** In the page, before its scripts: tasks that block for 50 ms or more, and when the first row was drawn. */
const WATCH = `
  window.weirBlocked = [];
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) weirBlocked.push(duration);
  }).observe({ type: 'longtask', buffered: true });
  new MutationObserver((_, observer) => {
    if (!document.querySelector('[role=row] a')) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => (window.weirShown = performance.now())));
  }).observe(document, { childList: true, subtree: true });`;

/** The longest task since the last call, in ms; 0: none took 50 ms. */
const blocked = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, ...weirBlocked.splice(0))') as Promise<number>;

/** From the last byte of the list to the first rows on the screen. */
async function firstRows(page: Page, url: string): Promise<number> {
  await page.goto(url);
  await page.waitForFunction('window.weirShown !== undefined');
  return page.evaluate(
    `weirShown - performance.getEntriesByType('resource').find(({ name }) => ${LIST}.test(name)).responseEnd`,
  ) as Promise<number>;
}

async function typed(page: Page): Promise<number> {
  await blocked(page);
  await page.getByRole('searchbox').first().pressSequentially('user99@bench', { delay: 90 });
  await sleep(1000);
  await page.getByRole('searchbox').first().fill('');
  await sleep(1000);
  return blocked(page);
}

/** The wheel for ten seconds, then jumps over all of the list, to its end. */
async function scrolled(page: Page, clients: number): Promise<number> {
  await page.locator('[role=row] a').first().hover();
  await blocked(page);
  for (let n = 0; n < 200; n++) {
    await page.mouse.wheel(0, 600);
    await sleep(50);
  }
  await page.locator(`[role=row][aria-rowindex]`).nth(1).focus();
  for (const part of [0.1, 0.3, 0.5, 0.7, 0.9, 1]) {
    await page.evaluate(
      `(() => { const top = document.querySelector('[role=grid] [role=presentation]'); top.scrollTop = top.scrollHeight * ${part}; })()`,
    );
    await sleep(700);
  }
  await page
    .locator(`[role=row][aria-rowindex="${clients + 1}"] a`)
    .first()
    .waitFor();
  return blocked(page);
}

async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / MIB;
}

/** Clients are edited while the list is shown. */
async function lived(panel: PanelProcess, minutes: number, clients: number): Promise<void> {
  const end = Date.now() + minutes * 60_000;
  for (let n = 0; Date.now() < end; n++) {
    await panel.get(`/panel/api/clients/update/user${n % clients}@bench`, { body: { comment: `edit ${n}` } });
    await sleep(1000 / EDITS_A_SECOND);
  }
}

async function logIn(browser: Browser, panel: PanelProcess): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, bypassCSP: true });
  await context.request.post(`${panel.url}/login`, { data: ADMIN });
  await context.addInitScript(WATCH);
  return context.newPage();
}

/** Resolves with the number of goals that were missed. */
export async function benchPage(clients: number, minutes: number): Promise<number> {
  const report = new Report();
  const panel = await PanelProcess.start();
  const browser = await chromium.launch({
    executablePath: process.env['WEIR_TEST_CHROMIUM'] ?? '',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    process.stdout.write(
      `Node ${process.versions.node}, Chromium ${browser.version()}, ${cpus().length} cores (load ${loadavg()[0]?.toFixed(1)} at the start)\n`,
    );
    await seed(panel, clients, [await panel.addInbound({ port: await freePort() })]);
    const page = await logIn(browser, panel);
    const session = await page.context().newCDPSession(page);
    const tries: number[] = [];
    for (let n = 0; n < 5; n++) tries.push(await firstRows(page, `${panel.url}/panel/clients`));
    const shown = tries.sort((a, b) => a - b)[2] ?? Number.NaN;
    const loading = await blocked(page);
    const typing = await typed(page);
    const scrolling = await scrolled(page, clients);
    await page.goto(`${panel.url}/panel/clients`);
    await lived(panel, Math.min(1, minutes / 2), clients);
    const before = await heap(session);
    await blocked(page);
    await lived(panel, minutes, clients);
    const figures: Figure[] = [
      { what: 'first rows, after the answer', value: shown, unit: 'ms', goal: atMost(FIRST_ROWS_MS, 'ms') },
      { what: 'longest task: loading', value: loading, unit: 'ms' },
      { what: 'longest task: typing a search', value: typing, unit: 'ms', goal: atMost(BLOCKED_MS, 'ms') },
      { what: 'longest task: scrolling', value: scrolling, unit: 'ms', goal: atMost(BLOCKED_MS, 'ms') },
      { what: 'longest task: live updates', value: await blocked(page), unit: 'ms' },
      { what: 'heap before the live updates', value: before, unit: 'MiB' },
      { what: `heap after ${minutes} min of them`, value: await heap(session), unit: 'MiB' },
    ];
    report.add('a page with clients', clients, figures);
    return report.print();
  } finally {
    await browser.close();
    await panel.dispose();
  }
}
