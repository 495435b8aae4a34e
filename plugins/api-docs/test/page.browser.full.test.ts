// The page in a real browser, on a whole panel under a base path of its own.
import test, { type ExecutionContext } from 'ava';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { ADMIN, FakeEngine, TestPanel } from '../../../test/harness/index.js';

let browser: Browser;
let panel: TestPanel;
let base = '';
test.before(async () => {
  const { WEIR_TEST_CHROMIUM: executablePath, WEIR_TEST_CHROMIUM_MISSING: missing } = process.env;
  if (!executablePath)
    throw new Error(
      missing || 'WEIR_TEST_CHROMIUM names no browser; npm run test:full finds or installs one',
    );
  // A browser that is run by root needs to be told so.
  browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  panel = await TestPanel.boot({
    plugins: [new FakeEngine().plugin],
    env: { WEIR_BASE_PATH: '/secret/' },
    anonymous: true,
  });
  base = `${panel.url}/secret`;
});
test.after.always(async () => {
  await browser?.close();
  await panel?.[Symbol.asyncDispose]();
});

/** Opens the page; everything that the browser complains about, and every address that it asks for. */
async function open(t: ExecutionContext, hash = '') {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
  t.teardown(() => context.close());
  // Tests share the machine.
  context.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  await context.exposeFunction('complain', (text: string) => void complaints.push(text));
  await context.addInitScript(`
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      complain('policy: ' + violatedDirective + ' ' + blockedURI));
    addEventListener('unhandledrejection', ({ reason }) => complain('rejection: ' + reason));`);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const show = () => page.goto(`${base}/panel/x/api-docs/${hash}`);
  return { context, page, complaints, asked, show };
}

const isShown = (page: Page) => page.locator('#api[data-state=complete] .opblock-tag').first().waitFor();
/** A session, as a page for admins would have opened it. */
const logIn = (context: BrowserContext) =>
  context.request.post(`${base}/login`, {
    data: { username: ADMIN.username, password: ADMIN.password },
  });
const foreign = (asked: readonly string[]) =>
  asked.filter((url) => !url.startsWith(`${base}/`) && !url.startsWith('data:'));

/** Opens one operation, as a person does; returns it. */
async function operation(page: Page, tag: string, path: string) {
  await page.locator(`[data-tag="${tag}"]`).click();
  const block = page.locator('.opblock', { has: page.locator(`[data-path="${path}"]`) }).first();
  await block.locator('.opblock-summary-control').click();
  return block;
}

test.serial(
  'with a session it shows every plugin and its operations, and nothing breaks its policy',
  async (t) => {
    t.timeout(600_000);
    const { context, page, complaints, asked, show } = await open(t);
    t.true((await logIn(context)).ok());
    await show();
    await isShown(page);
    const { obj } = (await (await context.request.get(`${base}/panel/api/openapi.json`)).json()) as {
      obj: { tags: { name: string }[]; paths: object };
    };
    t.deepEqual(
      await page
        .locator('.opblock-tag')
        .evaluateAll((tags) => tags.map((tag) => tag.getAttribute('data-tag'))),
      obj.tags.map(({ name }) => name),
    );
    const block = await operation(page, 'clients', '/panel/api/clients/add');
    t.regex(await block.innerText(), /Creates a client and attaches it to inbounds\./);
    await block.getByText('grace@example.org').first().waitFor();
    t.regex(await block.innerText(), /CLIENTS_EMAIL_TAKEN/);
    t.deepEqual(complaints, []);
    t.deepEqual(foreign(asked), []);
  },
);

test.serial('a call is tried with the session and its CSRF token', async (t) => {
  t.timeout(600_000);
  const { context, page, complaints, asked, show } = await open(t);
  await logIn(context);
  await show();
  await isShown(page);
  const block = await operation(page, 'clients', '/panel/api/clients/groups/create');
  await block.getByRole('button', { name: 'Try it out' }).click();
  await block.locator('textarea').fill('{"name":"from the page"}');
  await block.getByRole('button', { name: 'Execute' }).click();
  await block.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  const groups = (await (await context.request.get(`${base}/panel/api/clients/groups`)).json()) as {
    obj: { name: string }[];
  };
  t.deepEqual(
    groups.obj.map(({ name }) => name),
    ['from the page'],
  );
  t.deepEqual(complaints, []);
  t.deepEqual(foreign(asked), []);
});

test.serial(
  'without a session it asks for a login, says what is wrong with it, and ends it again',
  async (t) => {
    t.timeout(600_000);
    const { page, complaints, show } = await open(t);
    await show();
    const password = page.getByLabel('Password');
    await page.getByLabel('Name').fill(ADMIN.username);
    await password.fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').filter({ hasText: /wrong/i }).waitFor();
    await password.fill(ADMIN.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await isShown(page);
    t.false(await page.getByRole('alert').isVisible());
    t.is(await password.inputValue(), '');
    await page.getByRole('button', { name: 'Log out' }).click();
    await password.waitFor();
    t.is(await page.locator('.opblock-tag').count(), 0);
    // A browser logs each 401 by itself: of the document at first, of the wrong password, and of the document at the end.
    t.deepEqual(
      complaints.filter((text) => !/status of 401/.test(text)),
      [],
    );
    t.is(complaints.length, 3);
  },
);
