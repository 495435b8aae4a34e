// Names that mean harm are text, wherever they are shown; and a panel that answers slowly, wrongly or not at all.
import { mkdtemp, mkdir, writeFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Browser, Page, Route } from 'playwright-core';
import { contribute, definePlugin, type Log } from '../../../kernel/index.js';
import { PluginPages } from '../contract.js';
import { bootPanel, launch, openPage, outside, type World } from './open-page.js';

const shots = process.env['WEIR_TEST_SCREENSHOTS'];
const MINUTES = 600_000;
/** As names may be: without spaces and slashes, and with all three. */
const TAG =
  '<svg onload=complain("script")><img src=x onerror=complain("script")></title><script>complain("script")</script>';
const SHORT_TAG = '<img src=x onerror=complain(1)>';
const SOLID_TAG = '<b>"\'&lt;{{7*7}}${7*7}`<img>';
const RTL = '\u05d0\u05d1\u05d2\u202e\u2067evil\u200f\u0301';
const PLAIN_RTL = '\u05d0\u05d1\u05d2 123 \u0633\u0627\u0631\u0627';
const WIDE = 'W'.repeat(64 * 1024);

let browser: Browser;
let world: World;
let folder: string;
let log: Log;
/** What the panel refuses, by what it was sent. */
const refused = new Map<string, string>();

/** Sends a body; what the panel refuses is noted, and sent with a name of its own. */
async function send<T>(path: string, body: object, what: string): Promise<T | undefined> {
  try {
    return await world.api<T>(path, body);
  } catch (error) {
    refused.set(what, String(error));
    return undefined;
  }
}

test.before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'hostile-page-'));
  await mkdir(join(folder, 'page'));
  await writeFile(join(folder, 'page', 'index.html'), '<!doctype html><title>x</title>');
  const hostile = definePlugin({
    name: 'hostile',
    version: '1.0.0',
    api: 1,
    about: `${TAG} ${PLAIN_RTL}`,
    start: (parts) => void (log = parts.log),
    contributes: () => [
      contribute(PluginPages, {
        key: 'one',
        title: { en: SHORT_TAG, fa: PLAIN_RTL },
        icon: 'chart',
        folder: join(folder, 'page'),
      }),
    ],
  });
  world = await bootPanel([hostile]);
  let port = 40_730;
  const inbound = async (remark: string, what: string) =>
    (
      await send<{ id: number }>(
        'inbounds/add',
        { protocol: 'vless', listen: '127.0.0.1', port: ++port, remark },
        what,
      )
    )?.id;
  const id = (await inbound('home', 'inbound')) ?? 0;
  for (const [what, remark] of Object.entries({
    TAG,
    RTL,
    PLAIN_RTL,
    WIDE,
    long: 'W'.repeat(255),
    nul: 'a\0b',
  }))
    await inbound(remark, `inbound ${what}`);
  const names = {
    SOLID_TAG,
    TAG,
    RTL,
    WIDE,
    long: 'W'.repeat(255),
    hebrew: '\u05d0\u05d1\u05d2123',
    nul: 'a\0b',
  };
  for (const [what, email] of Object.entries(names))
    await send('clients/add', { client: { email }, inboundIds: [id] }, `client ${what}`);
  const texts = [TAG, RTL, PLAIN_RTL, WIDE, 'W'.repeat(4_096), `${'W'.repeat(59)}\u05d0`, 'a\0b'];
  for (const [index, text] of texts.entries()) {
    const client = { email: `told-${index}`, comment: text, group: text };
    await send('clients/add', { client, inboundIds: [id] }, `comment ${index}`);
    await send(
      'clients/add',
      { client: { email: `comment-${index}`, comment: text }, inboundIds: [id] },
      `comment alone ${index}`,
    );
    await send(
      'clients/add',
      { client: { email: `group-${index}`, group: text.slice(0, 60) }, inboundIds: [id] },
      `group ${index}`,
    );
    const node = {
      scheme: 'http',
      address: '127.0.0.1',
      port: 9,
      enable: false,
      allowPrivateAddress: true,
      apiToken: 'x',
    };
    await send(
      'nodes/add',
      { ...node, name: text.slice(0, 64), remark: text.slice(0, 256) },
      `node ${index}`,
    );
    await send(
      'hosts/add',
      { remark: text.slice(0, 200), inboundIds: [id], address: 'example.com' },
      `host ${index}`,
    );
    await send('setting/apiTokens/create', { name: text.slice(0, 60) }, `token ${index}`);
    log.warn(text.slice(0, 40_000), { name: text.slice(0, 1_000) });
  }
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true });
});

/** Elements that only a name could have made. */
const made = (page: Page): Promise<number> =>
  page.evaluate(() => document.querySelectorAll('img[src="x"], svg[onload], body script:not([src])').length);

test.serial('names are shown as text, and nothing sticks out', async (t) => {
  t.timeout(MINUTES);
  t.log([...refused].map(([what, why]) => `${what}: ${why.slice(0, 140)}`).join('\n'));
  for (const what of ['inbound nul', 'client nul']) t.true(refused.has(what), `${what} is refused`);
  const nodes = await world.api<{ id: number }[]>('nodes/list');
  const inbounds = await world.api<{ id: number }[]>('inbounds/list');
  const name = encodeURIComponent(SOLID_TAG);
  const screens: Readonly<Record<string, string>> = {
    '/': '.tiles',
    '/clients': '.rows .client-name',
    [`/client?name=${name}`]: '.page h1',
    '/client?name=told-0': '.page h1',
    '/client?name=comment-0&edit=1': 'form.edit',
    '/inbounds': '.inbound',
    ...Object.fromEntries(inbounds.slice(0, 4).map(({ id }) => [`/inbound?id=${id}`, '.save-bar'])),
    '/nodes': '.node',
    ...Object.fromEntries(nodes.slice(0, 2).map(({ id }) => [`/node?id=${id}`, '.page h1'])),
    '/system/plugins': '[data-plugin=hostile]',
    '/system/access': '[data-session]',
    '/system/audit': '[data-change]',
    '/system/logs': '.log-line',
    '/plugin-page?plugin=hostile&page=one': 'iframe',
    [`/plugin-page?plugin=${encodeURIComponent(TAG)}&page=one`]: '.page, .problem, main',
    [`/inbound?id=${encodeURIComponent(TAG)}`]: '.problem',
    [`/client?name=${encodeURIComponent(WIDE.slice(0, 4_000))}`]: '.page h1',
  };
  for (const [width, language] of [
    [360, 'en'],
    [1440, 'fa'],
  ] as const) {
    const { page, complaints, show, logIn } = await openPage(t, browser, world, {
      preferences: { language },
      viewport: { width, height: 800 },
      userAgent: `${SHORT_TAG} ${'W'.repeat(2_000)}`,
    });
    await logIn();
    for (const [path, ready] of Object.entries(screens)) {
      await show(path);
      await page.locator(ready).first().waitFor();
      for (const fold of (await page.locator('details > summary').all()).slice(0, 4)) await fold.click();
      const place = `${path.slice(0, 60)} ${width}`;
      t.deepEqual(await outside(page), [], place);
      t.is(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, place);
      t.is(await made(page), 0, place);
      // The browser logs refused calls, and what the script of the test may not do in the frame of a plugin.
      const serious = complaints.filter((text) => !/status of 4\d\d|is sandboxed|origin-keyed/.test(text));
      t.deepEqual(serious, [], place);
      if (shots)
        await page.screenshot({
          path: join(shots, `hostile-${path.replace(/\W+/g, '-').slice(0, 40)}-${width}.png`),
        });
    }
    // Names in the palette.
    await show('/clients');
    await page.locator('.rows .client-name').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').locator('input').fill('<');
    await page.locator('.palette-entry').first().waitFor();
    t.is(await made(page), 0);
    t.deepEqual(await outside(page), [], `palette ${width}`);
  }
});

const BROKEN: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  'HTML in place of JSON': (route) =>
    route.fulfill({ status: 200, contentType: 'text/html', body: `<html>${SHORT_TAG}</html>` }),
  'a failure with nothing': (route) => route.fulfill({ status: 500, body: '' }),
  'a proxy that has no panel': (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }),
  'no answer': (route) => route.abort(),
  'JSON of something else': (route) => route.fulfill({ status: 200, json: { hello: 'world' } }),
};
/** Calls that a page begins with on its own; the session and the list of plugins answer. */
const SCREENS: Readonly<Record<string, RegExp>> = {
  '/clients': /api\/clients\//,
  '/client?name=told-1': /api\/clients\/get/,
  '/inbounds': /api\/inbounds\//,
  '/nodes': /api\/nodes\//,
  '/backups': /api\/(?:x\/)?backup/,
  '/routing/outbounds': /api\/(?:engine|xray|x\/)/,
  '/system/access': /api\/(?:setting|getTwo|x\/access|x\/sessions)/,
  '/system/settings': /api\/(?:setting|x\/schemas)/,
  '/system/plugins': /api\/(?:x\/)?(?:system\/)?plugins/,
  '/system/audit': /x\/audit/,
  '/system/logs': /server\/logs/,
};

for (const [kind, answer] of Object.entries(BROKEN))
  test.serial(`the page says it and offers another try: ${kind}`, async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn, complaints } = await openPage(t, browser, world);
    await logIn();
    for (const [path, calls] of Object.entries(SCREENS)) {
      let isBroken = true;
      await page.unrouteAll();
      await page.route(
        (url) => calls.test(url.pathname),
        (route) => (isBroken ? answer(route) : route.continue()),
      );
      await show(path);
      const again = page.locator('.problem button');
      const isSaid = await again
        .first()
        .waitFor({ timeout: 20_000 })
        .then(
          () => true,
          () => false,
        );
      t.true(isSaid, `${path}: nothing is said, or no other try is offered`);
      t.is(await made(page), 0, path);
      if (!isSaid) {
        if (shots)
          await page.screenshot({ path: join(shots, `broken-${kind}-${path.replace(/\W+/g, '-')}.png`) });
        continue;
      }
      isBroken = false;
      // Each part that failed has its own.
      for (let tries = 0; tries < 10 && (await again.count()) > 0; tries++) {
        await again
          .first()
          .click({ timeout: 2_000 })
          .catch(() => undefined);
        await page.waitForTimeout(500);
      }
      t.is(await page.locator('.problem').count(), 0, `${path}: it works again`);
    }
    t.deepEqual(
      complaints.filter((text) => /policy|script/.test(text) && !/Failed to load/.test(text)),
      [],
    );
  });

test.serial('a slow panel: the page says that it loads, and shows what comes', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  for (const [path, calls] of Object.entries(SCREENS)) {
    await page.unrouteAll();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    await page.route(
      (url) => calls.test(url.pathname),
      async (route) => {
        await gate;
        await route.continue();
      },
    );
    await show(path);
    await page
      .locator('main')
      .getByText('Loading')
      .first()
      .waitFor({ timeout: 20_000 })
      .catch(() => t.fail(`${path}: it does not say that it loads`));
    open();
    await page.locator('main').getByText('Loading …').first().waitFor({ state: 'detached' });
    t.is(await page.locator('.problem').count(), 0, path);
  }
});
