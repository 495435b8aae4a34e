// The page of a real panel in a real browser, with everything that the browser complains about.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ExecutionContext } from 'ava';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Plugin } from '../../../kernel/index.js';
import { ADMIN, FakeEngine, TestPanel } from '../../../test/harness/index.js';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
export const BASE = '/secret';

/** Both directions in both themes, and the other languages in one. */
export const LOOKS = [
  ['en', 'light'],
  ['en', 'dark'],
  ['fa', 'light'],
  ['fa', 'dark'],
  ['ru', 'light'],
  ['zh', 'dark'],
  ['ar', 'light'],
] as const;

export async function launch(): Promise<Browser> {
  const { WEIR_TEST_CHROMIUM: executablePath, WEIR_TEST_CHROMIUM_MISSING: missing } = process.env;
  if (!executablePath)
    throw new Error(
      missing || 'WEIR_TEST_CHROMIUM names no browser; npm run test:full finds or installs one',
    );
  // A browser that is run by root needs to be told so.
  return chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
}

export interface World {
  readonly engine: FakeEngine;
  readonly panel: TestPanel;
  /** address of the panel, base path included */
  readonly base: string;
  /** calls the API with the session of an admin */
  readonly api: <T>(path: string, body?: unknown) => Promise<T>;
}

/** A panel under a base path of its own. */
export async function bootPanel(plugins: readonly Plugin[] = []): Promise<World> {
  const engine = new FakeEngine();
  const panel = await TestPanel.boot({
    plugins: [engine.plugin, ...plugins],
    // Tests hold a hook as long as they like.
    limits: { tap: 120_000 },
    env: { WEIR_BASE_PATH: `${BASE}/` },
    anonymous: true,
  });
  const base = `${panel.url}${BASE}`;
  const json = { 'content-type': 'application/json' };
  const login = await fetch(`${base}/login`, { method: 'POST', headers: json, body: JSON.stringify(ADMIN) });
  const cookie = login.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const csrf = (
    (await (await fetch(`${base}/csrf-token`, { headers: { cookie } })).json()) as { obj: string }
  ).obj;
  const api = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${base}/panel/api/${path}`, {
      headers: { cookie, 'x-csrf-token': csrf, ...json },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { success: boolean; msg: string; obj: T };
    if (!answer.success) throw new Error(`${path}: ${answer.msg}`);
    return answer.obj;
  };
  return { engine, panel, base, api };
}

export interface Opened {
  readonly page: Page;
  /** of the console, of the policy, and failures of scripts */
  readonly complaints: string[];
  readonly asked: string[];
  readonly show: (path: string) => Promise<unknown>;
  readonly logIn: () => Promise<void>;
}

export async function openPage(
  t: ExecutionContext,
  browser: Browser,
  { base }: Pick<World, 'base'>,
  options: BrowserContextOptions & { readonly preferences?: object } = {},
): Promise<Opened> {
  const { preferences, ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...rest });
  t.teardown(() => context.close());
  // Tests share the machine.
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  await context.exposeFunction('complain', (text: string) => void complaints.push(text));
  // Claimed by the admin: what nobody has claimed goes to the panel, and to the tests that follow.
  const claimed = JSON.stringify({ ...preferences, owner: ADMIN.username });
  await context.addInitScript(`
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      complain('policy: ' + violatedDirective + ' ' + blockedURI));
    addEventListener('unhandledrejection', ({ reason }) => complain('rejection: ' + reason));
    ${preferences ? `if (self === top) localStorage.setItem('weir.preferences', ${JSON.stringify(claimed)});` : ''}`);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  return {
    page,
    complaints,
    asked,
    show: (path) => page.goto(`${base}/panel${path}`),
    async logIn() {
      await context.request.post(`${base}/login`, { data: ADMIN });
    },
  };
}

/** Fills in the form of the login and sends it. */
export async function fillLogin(page: Page, password: string = ADMIN.password, code?: string): Promise<void> {
  // First the password, because `fill` waits for the form and `count` does not.
  await page.locator('input[name=password]').fill(password);
  const name = page.locator('input[name=username]:not([type=hidden])');
  if ((await name.count()) > 0) await name.fill(ADMIN.username);
  if (code !== undefined) await page.locator('input[name=code]').fill(code);
  await page.locator('form.login-form button[type=submit]').click();
}

/** The violations of WCAG AA, and of good practice, by rule with their elements. What a library announces, and takes away after some seconds, is left out. */
export async function violations(page: Page): Promise<string[]> {
  // Through the protocol of the browser, because the policy of the page allows no other script.
  const source = await readFile(axe, 'utf8');
  const session = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await evaluate(`${source};0`);
  const found = await evaluate(
    `axe.run({ exclude: [['[data-live-announcer]']] }).then(({violations}) => violations.map(({id, impact, nodes}) => [id, impact, ...nodes.map(({html, failureSummary}) => html.slice(0, 160) + ' ' + failureSummary)].join(" ")))`,
  );
  await session.detach();
  return found as string[];
}

/** Elements that reach beyond the sides of the screen, but for what is clipped or hidden on purpose. */
export const outside = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const isOut = (element: Element): boolean => {
      const { left, right, width, height } = element.getBoundingClientRect();
      return width > 1 && height > 1 && (left < -0.5 || right > innerWidth + 0.5);
    };
    const isClipped = (element: Element | null): boolean =>
      element !== null &&
      ((getComputedStyle(element).overflowX !== 'visible' && !isOut(element)) ||
        isClipped(element.parentElement));
    return [...document.querySelectorAll('body *:not(.skip)')]
      .filter((element) => isOut(element) && !isClipped(element.parentElement))
      .map((element) => element.outerHTML.slice(0, 100));
  });

/** How far the page scrolls sideways, in px: `main` scrolls by itself, so `outside` takes what is in it for clipped. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const main = document.querySelector('main');
    return main ? main.scrollWidth - main.clientWidth : 0;
  });
