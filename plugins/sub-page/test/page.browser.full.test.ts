// The page in a real browser, with the headers of the plugin: how it looks, and whether everyone can use it.
import { mkdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { PageView } from '../../subscription/contract.js';
import { LANGUAGES } from '../languages.js';
import { writePage } from '../page.js';
import { FULL_PLACES, link, links, sampleView, SOME_PLACES, URL_OF_ADA } from './sample-view.js';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Screenshots are kept where this says, for people to look at. */
const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const WIDTHS = [320, 768, 1280] as const;
const ANDROID =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36';

const VIEWS: Readonly<Record<string, PageView>> = {
  working: sampleView(),
  devices: sampleView({ devices: SOME_PLACES, status: { datepicker: 'jalalian' } }),
  full: sampleView({ devices: FULL_PLACES }),
  expired: sampleView({ state: 'expired', links: [] }),
  unlimited: sampleView({
    links: links(30),
    status: { totalByte: 0, expire: 0, isOnline: true, subTitle: 'W'.repeat(64), emails: ['x'.repeat(64)] },
  }),
};

let server: Server;
let browser: Browser;
let base = '';
test.before(async () => {
  const { WEIR_TEST_CHROMIUM: executablePath, WEIR_TEST_CHROMIUM_MISSING: missing } = process.env;
  if (!executablePath)
    throw new Error(
      missing || 'WEIR_TEST_CHROMIUM names no browser; npm run test:full finds or installs one',
    );
  // A browser that is run by root needs to be told so.
  browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    const view = VIEWS[pathname.slice(1)];
    if (!view) return void response.writeHead(404).end();
    const languages = (request.headers['accept-language'] ?? '').split(',');
    const { html, headers } = writePage(view, {
      lang: searchParams.get('lang') ?? undefined,
      languages,
      agent: '',
    });
    for (const [name, value] of headers) response.setHeader(name, value);
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (shots) await mkdir(shots, { recursive: true });
});
test.after.always(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page; what the browser complains about, such as a breach of the policy, is in `complaints`. */
async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 768, height: 900 }, ...options });
  // Tests share the machine.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(request.url()));
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${base}/${path}`);
  return { page, complaints, asked, [Symbol.asyncDispose]: () => context.close() };
}
const openAll = (page: Page) =>
  page.evaluate(() => {
    for (const one of document.querySelectorAll('details')) one.open = true;
  });

/** The elements that are not wholly on the screen. */
const outside = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('body *:not(.told)')]
      .filter((element) => {
        const { left, right, width } = element.getBoundingClientRect();
        return width > 1 && (left < -0.5 || right > innerWidth + 0.5);
      })
      .map((element) => element.outerHTML.slice(0, 80)),
  );

/** The violations of WCAG AA, and of good practice, by rule with their elements. */
async function violations(page: Page): Promise<string[]> {
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
    `axe.run().then(({violations, incomplete}) => [...violations, ...incomplete].map(({id, impact, nodes}) => [id, impact, ...nodes.map(({html}) => html.slice(0, 120))].join(" ")))`,
  );
  return found as string[];
}

const EVERY_VIEW = Object.keys(VIEWS);
for (const { key: lang } of LANGUAGES)
  for (const colorScheme of ['light', 'dark'] as const)
    test.serial(`axe finds nothing against WCAG AA: ${lang}, ${colorScheme}`, async (t) => {
      t.timeout(600_000);
      for (const name of EVERY_VIEW) {
        await using opened = await open(`${name}?lang=${lang}`, { colorScheme });
        await openAll(opened.page);
        t.deepEqual(await violations(opened.page), [], name);
        t.deepEqual(opened.complaints, []);
        t.is(opened.asked.length, 1, opened.asked.join(' '));
      }
    });

for (const width of WIDTHS)
  test.serial(`nothing sticks out of a screen of ${width} px, in both directions`, async (t) => {
    t.timeout(600_000);
    for (const lang of ['en', 'fa'])
      for (const name of EVERY_VIEW) {
        await using opened = await open(`${name}?lang=${lang}`, { viewport: { width, height: 800 } });
        const { page } = opened;
        for (const isOpen of [false, true]) {
          if (isOpen) await openAll(page);
          t.deepEqual(await outside(page), [], `${name} ${lang}`);
          t.is(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
          if (shots)
            await page.screenshot({
              path: join(shots, `${name}-${lang}-${width}${isOpen ? '-open' : ''}.png`),
              fullPage: true,
            });
        }
      }
  });

test.serial('in a language from right to left, the page begins at the right', async (t) => {
  for (const [lang, isRight] of [
    ['en', false],
    ['fa', true],
  ] as const) {
    await using opened = await open(`working?lang=${lang}`);
    const term = await opened.page.locator('dt').first().boundingBox();
    const value = await opened.page.locator('dd').first().boundingBox();
    t.is((term?.x ?? 0) > (value?.x ?? 0), isRight);
    const address = opened.page.locator('#url0');
    t.is(await address.evaluate((element) => getComputedStyle(element).direction), 'ltr');
  }
});

test.serial('the language follows the browser, and a link changes it', async (t) => {
  await using opened = await open('working', { locale: 'fa-IR' });
  const { page } = opened;
  t.is(await page.locator('html').getAttribute('dir'), 'rtl');
  await page.getByRole('link', { name: 'Русский' }).click();
  await page.waitForURL(/lang=ru/);
  t.is(await page.locator('html').getAttribute('lang'), 'ru');
  t.is(await page.locator('nav [aria-current]').textContent(), 'Русский');
});

test.serial('reads without scripts, and offers nothing there that needs one', async (t) => {
  await using opened = await open('working?lang=en', { javaScriptEnabled: false });
  const { page } = opened;
  const seen = await page.locator('body').innerText();
  for (const expected of ['33.65 GB of 80 GB', 'December 4, 2026', URL_OF_ADA, 'Active', 'Android'])
    t.true(seen.includes(expected), expected);
  t.is(await page.locator('button:visible').count(), 0);
  t.is(await page.locator('.qr:visible').count(), 1);
  await page.locator('summary', { hasText: 'Germany 1-ada' }).click();
  t.true(await page.getByText(link(1)).isVisible());
  await page.getByText('Android', { exact: true }).click();
  t.true(await page.getByRole('link', { name: 'Add to v2rayNG' }).isVisible());
});

test.serial('copies with the clipboard of the browser, and says so', async (t) => {
  await using opened = await open('working?lang=en', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = opened;
  await page.getByRole('button', { name: 'Copy For all apps', exact: true }).click();
  t.is(await page.evaluate(() => navigator.clipboard.readText()), URL_OF_ADA);
  await page.getByText('Copied', { exact: true }).first().waitFor();
  await page.waitForFunction(() => document.getElementById('told')?.textContent === 'Copied');
  await page.locator('summary', { hasText: 'Germany 2-ada' }).click();
  await page.getByRole('button', { name: 'Copy Germany 2-ada', exact: true }).click();
  t.is(await page.evaluate(() => navigator.clipboard.readText()), link(2));
  await page.getByRole('button', { name: 'Copy For all apps', exact: true }).waitFor();
});

test.serial('copies over plain http, where a browser gives no clipboard', async (t) => {
  await using opened = await open('working?lang=en', { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = opened;
  // Loopback counts as secure; elsewhere the browser itself leaves it out.
  await page.evaluate(() => {
    const { clipboard } = navigator;
    Object.defineProperty(navigator, 'clipboard', { get: () => undefined, configurable: true });
    Object.assign(window, { kept: clipboard });
  });
  await page.getByRole('button', { name: 'Copy For all apps', exact: true }).click();
  t.is(await page.evaluate(() => (window as unknown as { kept: Clipboard }).kept.readText()), URL_OF_ADA);
  await page.waitForFunction(() => document.getElementById('told')?.textContent === 'Copied');
});

test.serial('opens the programs of the system in use', async (t) => {
  for (const [userAgent, name] of [
    [ANDROID, 'Android'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15', 'iOS'],
    ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36', 'Windows'],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15', 'macOS'],
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36', 'Linux'],
  ] as const) {
    await using opened = await open('working?lang=en', { userAgent });
    const systems = opened.page.locator('details[data-system]');
    t.is(await systems.first().getAttribute('data-system'), name);
    t.is(await opened.page.locator('details[data-system][open]').count(), 1);
  }
});

test.serial('works with the keyboard alone: everything is reached, seen and used', async (t) => {
  await using opened = await open('working?lang=en', {
    userAgent: ANDROID,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const { page } = opened;
  const reached: string[] = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return undefined;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const { width, height } = element.getBoundingClientRect();
      const name = element.getAttribute('aria-label') ?? element.textContent ?? '';
      return { name: name.trim(), isSeen: outlineStyle !== 'none' && outlineWidth !== '0px', width, height };
    });
    if (!at) break;
    t.true(at.isSeen && at.width > 0 && at.height >= 24, JSON.stringify(at));
    reached.push(at.name);
    if (at.name === 'Copy For all apps') {
      await page.keyboard.press('Enter');
      t.is(await page.evaluate(() => navigator.clipboard.readText()), URL_OF_ADA);
    }
    if (at.name === 'Germany 0-ada') await page.keyboard.press('Space');
  }
  for (const expected of [
    'English',
    '中文',
    'Android',
    'Add to Hiddify',
    'Add to v2rayNG',
    'For all apps',
    'Copy For all apps',
    'iOS',
  ])
    t.true(reached.includes(expected), `${expected} is not among ${reached.join(', ')}`);
  t.true(await page.getByText(link(0)).isVisible());
  t.true(reached.some((name) => name.includes('t.me/example_support')));
});

test.serial('what is pressed is large enough for a finger', async (t) => {
  await using opened = await open('working?lang=fa', { viewport: { width: 320, height: 800 } });
  await openAll(opened.page);
  for (const box of await opened.page.locator('button:visible, .button:visible, summary').all()) {
    const { height = 0, width = 0 } = (await box.boundingBox()) ?? {};
    t.true(height >= 44 && width >= 44, `${await box.textContent()}: ${width} x ${height}`);
  }
});

test.serial('a script that is not of the page does not run', async (t) => {
  await using opened = await open('working?lang=en');
  const refusals = await opened.page.evaluate(() => {
    interface Policy {
      createScript(text: string): string;
    }
    const { trustedTypes } = window as unknown as {
      trustedTypes: { createPolicy(name: string, rules: Policy): Policy };
    };
    const code = 'document.title = "run"';
    let refused = 0;
    const insert = (text: string): void => {
      const script = document.createElement('script');
      for (const step of [
        () => (script.textContent = text),
        () => document.body.setAttribute('onclick', text),
      ])
        try {
          step();
        } catch (error) {
          if (!(error instanceof TypeError)) throw error;
          refused++;
        }
      document.body.append(script);
      document.body.click();
    };
    insert(code);
    // A text that is trusted comes as far as the policy of scripts.
    insert(trustedTypes.createPolicy('test', { createScript: (text) => text }).createScript(code));
    return refused;
  });
  t.is(refusals, 2, 'trusted types refuse a text, as a script and as a handler');
  t.is(await opened.page.title(), 'Example VPN');
  const blocked = opened.complaints.filter((text) => text.includes('Content Security Policy'));
  t.is(blocked.length, 2, opened.complaints.join('\n'));
});

test.serial('text can be twice as large without a loss', async (t) => {
  await using opened = await open('working?lang=ru', { viewport: { width: 640, height: 800 } });
  await opened.page.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
  });
  t.is(await opened.page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
});
