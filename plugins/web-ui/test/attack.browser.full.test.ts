// Somebody means harm: what is left behind in a window, what records and addresses bring, and the frame of a plugin that fights.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Browser, Page } from 'playwright-core';
import { contribute, definePlugin } from '../../../kernel/index.js';
import { ADMIN } from '../../../test/harness/index.js';
import { PluginPages } from '../contract.js';
import { bootPanel, fillLogin, launch, openPage, type World } from './open-page.js';

const MINUTES = 600_000;
const LATE = Number.MAX_SAFE_INTEGER;

/** Tries what a frame may not do, and says what came of it. */
const FIGHTER = `
const say = (name, text) => {
  const line = document.createElement('p');
  line.id = name;
  line.textContent = text;
  document.body.append(line);
};
addEventListener('DOMContentLoaded', async () => {
  // A body of a few bytes whose JSON has gigabytes.
  const { port1, port2 } = new MessageChannel();
  const answers = new Promise((resolve) => {
    port1.onmessage = ({ data }) => data.kind === 'answer' && resolve(data.status);
  });
  parent.postMessage({ kind: 'hello' }, '*', [port2]);
  port1.postMessage({ kind: 'call', id: 1, method: 'POST', path: 'x/preferences', body: new Array(4294967295) });
  say('sparse', 'refused ' + (await answers));
  port1.postMessage({ kind: 'title', text: 'safe\\u202etxt' });
  const field = document.createElement('input');
  field.id = 'trap';
  document.body.append(field);
  // Whoever types into the page types here.
  setInterval(() => { window.focus(); field.focus(); }, 20);
  say('done', 'done');
});
`;
const WANDERER = `
const to = new URLSearchParams(location.search).get('to') ?? '/secret/panel/';
addEventListener('DOMContentLoaded', () => document.body.addEventListener('click', () => { location = document.body.dataset.to; }));
`;

let browser: Browser;
let world: World;
let folder: string;
let inboundId: number;
test.before(async () => {
  browser = await launch();
  folder = await mkdtemp(join(tmpdir(), 'weir-attack-'));
  await writeFile(join(folder, 'fighter.js'), FIGHTER);
  await writeFile(join(folder, 'wanderer.js'), WANDERER);
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><title>x</title><script src="fighter.js"></script><body>',
  );
  const to = 'data-to="/secret/panel/"';
  await writeFile(
    join(folder, 'away.html'),
    `<!doctype html><title>x</title><script src="wanderer.js"></script><body ${to}><p id="go">go</p>`,
  );
  const page = { icon: 'chart', folder, api: ['POST x/preferences'] } as const;
  world = await bootPanel([
    definePlugin({
      name: 'acme',
      version: '1.0.0',
      api: 1,
      about: 'Pages that fight.',
      contributes: () => [
        contribute(PluginPages, { ...page, key: 'fighter', title: { en: 'Fighter' } }),
        contribute(PluginPages, { ...page, key: 'away', title: { en: 'Away' }, entry: 'away.html' }),
      ],
    }),
  ]);
  const { id } = await world.api<{ id: number }>('inbounds/add', {
    protocol: 'vless',
    listen: '127.0.0.1',
    port: 40_871,
    remark: 'home',
    expiryTime: LATE,
  });
  inboundId = id;
  const client = { email: 'late', expiryTime: LATE };
  await world.api('clients/add', { client, inboundIds: [inboundId] });
  await world.api('clients/add', { client: { email: 'ann' }, inboundIds: [inboundId] });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
  if (folder) await rm(folder, { recursive: true });
});

const logOut = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: /Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await page.locator('form.login-form').waitFor();
};
/** What the window has stored of somebody; the preferences are for the next paint. */
const stored = (page: Page): Promise<string[]> =>
  page.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('weir.')));

test.serial('a logout leaves nothing behind: no draft, no notice, no list, no stream', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  const streams: { isClosed(): boolean }[] = [];
  page.on('websocket', (socket) => streams.push(socket));
  await show('/client?name=ann&edit=1');
  await page.getByLabel('Comment').fill('owes us money');
  await page.locator('.stream[data-live]').waitFor();
  await page.getByRole('link', { name: 'Clients' }).first().click();
  const row = page.locator('.row').filter({ hasText: 'ann' });
  await row.locator('.switch').click();
  await page.locator('.notice').waitFor();
  t.true((await stored(page)).some((key) => key.startsWith('weir.draft.client')));
  await logOut(page);
  t.deepEqual(await stored(page), []);
  await page.goBack();
  await page.locator('form.login-form').waitFor();
  t.is(await page.getByText('ann', { exact: true }).count(), 0);
  while (!streams.every((stream) => stream.isClosed())) await page.waitForTimeout(50);
  t.true(streams.length > 0);
  // The next admin, who may be another one, gets neither the draft nor the undo.
  await fillLogin(page);
  await page.locator('.bar').waitFor();
  t.is(await page.locator('.notice').count(), 0);
  await show('/client?name=ann&edit=1');
  t.is(await page.getByLabel('Comment').inputValue(), '');
  await world.api('clients/update/ann', { enable: true });
});

test.serial(
  'another admin in another window: nothing is sent in that name, and the page begins again',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/client?name=ann&edit=1');
    await page.getByLabel('Comment').fill('of ada');
    // The token of the page is asked for.
    await page.getByRole('link', { name: 'Clients' }).first().click();
    const row = page.locator('.row').filter({ hasText: 'ann' });
    await row.locator('.switch').click();
    await page.locator('.notice').waitFor();
    t.not((await stored(page)).length, 1);
    // The cookie is that of another login; there is one admin only, so the name is ours to say.
    await page.context().request.post(`${world.base}/login`, { data: ADMIN });
    await page.route('**/panel/api/access/sessions', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { obj: { current: boolean; username: string }[] };
      for (const session of body.obj) if (session.current) session.username = 'eve';
      await route.fulfill({ response, json: body });
    });
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && /clients\/update/.test(request.url()))
        changes.push(request.headers()['x-csrf-token'] ?? '');
    });
    await Promise.all([page.waitForEvent('load'), row.locator('.switch').click()]);
    await page.getByRole('button', { name: /Account of .*eve/ }).waitFor();
    t.is(changes.length, 1, 'sent once, with the token that the panel refused');
    t.deepEqual(await stored(page), ['weir.owner']);
    t.is(await page.locator('.notice').count(), 0);
    await world.api('clients/update/ann', { enable: true });
  },
);

test.serial('a time that no calendar has takes no page with it', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  for (const [path, ready] of [
    ['/clients', '.rows .client-name'],
    ['/client?name=late', '.client .facts'],
    ['/client?name=late&edit=1', 'form.edit .date'],
    [`/inbound?id=${inboundId}`, '.inbound-form .date'],
  ] as const) {
    await show(path);
    await page.locator(ready).first().waitFor();
    t.is(await page.locator('.problem').count(), 0, path);
  }
  t.deepEqual(complaints, []);
});

test.serial('ten thousand records of a kind are shown in portions', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn, complaints } = await openPage(t, browser, world);
  await logIn();
  const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 10_000 }, (_, at) => make(at));
  const reply = async (path: string, change: (obj: never) => unknown) =>
    page.route(
      (url) => url.pathname.endsWith(`/panel/api/${path}`),
      async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { obj: never };
        await route.fulfill({ response, json: { ...body, obj: change(body.obj) } });
      },
    );
  await world.api('hosts/add', { remark: 'first', inboundIds: [inboundId], address: 'example.com' });
  await reply('hosts/list', ([host]: [object]) =>
    many((at) => ({ ...host, groupId: `group${at}`, remark: `host ${at}` })),
  );
  await reply('inbounds/list', ([inbound]: [object]) =>
    many((at) => ({ ...inbound, id: at + 1, remark: `inbound ${at}` })),
  );
  await reply('access/sessions', ([session]: [object]) =>
    many((at) => ({ ...session, id: `session${at}`, current: at === 0 })),
  );
  for (const [path, row] of [
    ['/hosts', '.host'],
    ['/inbounds', '.inbound'],
    ['/system/access', '[data-session]'],
  ] as const) {
    await show(path);
    await page.locator(row).first().waitFor();
    const count = await page.locator(row).count();
    t.true(count <= 100, `${path} has ${count} rows`);
    await page
      .getByRole('button', { name: /^Show more/ })
      .first()
      .click();
    await page.locator(row).nth(count).waitFor();
  }
  t.deepEqual(complaints, []);
});

test.serial(
  'the frame of a plugin stalls nothing, catches no key of a dialog, and hides nothing in its title',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/plugin-page?plugin=acme&page=fighter');
    const frame = page.frameLocator('iframe');
    await frame.locator('#done').waitFor();
    t.is(await frame.locator('#sparse').innerText(), 'refused 400');
    await page.getByText('safe⟨202E⟩txt').waitFor();
    // The session ends, and a login opens: the frame would get the password.
    await page.locator('.stream[data-live]').waitFor();
    await world.api('access/sessions/revokeOthers', {});
    const password = page.locator('.login-form input[name=password]');
    await password.waitFor();
    t.is(await page.locator('iframe').count(), 0);
    await password.click();
    for (const key of ADMIN.password) await page.keyboard.type(key, { delay: 40 });
    t.is(await password.inputValue(), ADMIN.password);
    await page.keyboard.press('Enter');
    // It begins again, and goes when it takes the focus from another dialog.
    await frame.locator('#done').waitFor();
    await page.evaluate(() => dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true })));
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await page.locator('iframe').waitFor({ state: 'detached' });
    await page.getByRole('dialog').getByRole('combobox').pressSequentially('clients', { delay: 40 });
    t.is(await page.getByRole('dialog').getByRole('combobox').inputValue(), 'clients');
  },
);

test.serial('a frame that goes to the panel itself is not let in', async (t) => {
  t.timeout(MINUTES);
  const { page, show, logIn } = await openPage(t, browser, world);
  await logIn();
  for (const to of [
    '/secret/panel/',
    '/secret/panel/api/server/status',
    'https://example.org/',
    'javascript:1',
  ]) {
    await show('/plugin-page?plugin=acme&page=away');
    const frame = page.frameLocator('iframe');
    await frame.locator('#go').waitFor();
    await frame.locator('body').evaluate((body, wanted) => (body.dataset['to'] = wanted), to);
    await frame.locator('#go').click();
    await page.waitForTimeout(1_500);
    const texts = await Promise.all(
      page
        .frames()
        .slice(1)
        .map((one) =>
          one
            .locator('body')
            .innerText()
            .catch(() => ''),
        ),
    );
    t.false(
      texts.some((text) => /cpu|netIO|Dashboard|Log in/.test(text)),
      `${to}: ${texts.join().slice(0, 200)}`,
    );
    t.true(page.url().includes('/plugin-page'), to);
    await page.getByRole('heading', { name: 'Away' }).waitFor();
  }
});

test.serial(
  'an address that somebody sends an admin shows a page, and the palette opens on it',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn, complaints } = await openPage(t, browser, world);
    await logIn();
    const long = 'W'.repeat(4_000);
    for (const path of [
      `/client?name=${long}`,
      `/clients?search=${long}`,
      '/client?name=..',
      '/client?name=',
      '/client?name=%00%ff%F0%9F',
      '/clients?__proto__=1&constructor=2&hasOwnProperty=3&toString=4',
      '/client?name=ann&name=ben#<img src=x onerror=complain(1)>',
      '/client?name=ann#javascript:complain(1)',
      '/inbound?id=-1e999',
      '/inbound/new?from=99999999999999',
      '/node?id=__proto__',
      '/host?id=..%2f..%2fx',
      '/routing/outbound?at=constructor',
      '/routing/list?id=__proto__',
      '/system/settings?search=(((((((((((a%2b)%2b)%2b',
      '/system/audit?from=2026-99-99&area=__proto__',
      '/system/logs?log=__proto__&lines=1e9',
      '/plugin-page?plugin=..&page=..',
      '/subscription?client=__proto__',
      '/login?returnTo=//example.org/',
      '/login?returnTo=/%5cexample.org/',
      '/login?returnTo=javascript:complain(1)',
      '/%E0%A4%A',
      '/no/such/page',
    ]) {
      const status = ((await show(path)) as { status(): number } | null)?.status() ?? 200;
      // The panel knows no such address.
      if (status >= 400) continue;
      const isShown = await page
        .locator('main')
        .first()
        .waitFor({ timeout: 15_000 })
        .then(
          () => true,
          () => false,
        );
      t.true(isShown, `nothing is shown on ${path.slice(0, 60)}`);
      if (!isShown) continue;
      t.is(new URL(page.url()).host, new URL(world.base).host, path);
      if ((await page.locator('.bar').count()) === 0) continue;
      await page.keyboard.press('Control+k');
      await page
        .getByRole('dialog')
        .getByRole('combobox')
        .waitFor({ timeout: 15_000 })
        .catch(() => t.fail(`the palette does not open on ${path.slice(0, 60)}`));
    }
    t.deepEqual(
      complaints.filter((text) => !/status of 4\d\d/.test(text)),
      [],
    );
  },
);

test.serial(
  'a palette that cannot be loaded leaves the page as it is, and opens the next time',
  async (t) => {
    t.timeout(MINUTES);
    const { page, show, logIn } = await openPage(t, browser, world);
    await logIn();
    await show('/client?name=ann&edit=1');
    await page.getByLabel('Comment').fill('half a sent');
    await page.route('**/assets/palette-*.js', (route) => route.abort());
    await page.getByRole('heading', { name: 'ann' }).click();
    await page.keyboard.press('Control+k');
    await page.locator('.notice[data-bad]').waitFor();
    t.is(await page.getByLabel('Comment').inputValue(), 'half a sent');
    await page.unrouteAll();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
  },
);
