// The page by keys alone: the focus is always seen, and never lost.
import test, { type ExecutionContext } from 'ava';
import type { Browser, Page } from 'playwright-core';
import { ADMIN } from '../../../test/harness/index.js';
import { bootPanel, launch, openPage, type World } from './open-page.js';

const MINUTES = 600_000;
/** Most elements between two that are gone to. */
const FAR = 90;

let browser: Browser;
let world: World;
test.before(async () => {
  browser = await launch();
  world = await bootPanel();
  const inbound = { protocol: 'vless', listen: '127.0.0.1', port: 40_711, remark: 'home' };
  const { id } = await world.api<{ id: number }>('inbounds/add', inbound);
  await world.api('clients/add', { client: { email: 'ann' }, inboundIds: [id] });
});
test.after.always(async () => {
  await browser?.close();
  await world?.panel[Symbol.asyncDispose]();
});

interface Focused {
  readonly html: string;
  readonly name: string;
  readonly isLost: boolean;
  readonly isSeen: boolean;
}
const focused = (page: Page): Promise<Focused> =>
  page.evaluate(() => {
    const element = document.activeElement ?? document.body;
    const isOutlined = (one: Element | null | undefined): boolean => {
      if (!one) return false;
      const { outlineStyle, outlineWidth } = getComputedStyle(one);
      return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
    };
    const isFilled = element.matches('.segment, [role=menuitem]');
    // A region that a page begins with, and a dialog, are no controls.
    const isPlace = element.matches('#main, [role=dialog], [role=alertdialog]');
    const isShown = (one: Element): boolean => {
      const { top, bottom, left, right } = one.getBoundingClientRect();
      return bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
    };
    const drawn = element.closest('.switch')?.querySelector('.switch-track') ?? element;
    const labels = (element as HTMLInputElement).labels;
    const labelled = (element.getAttribute('aria-labelledby') ?? '')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent ?? '')
      .join(' ')
      .trim();
    return {
      html: element.outerHTML.slice(0, 200),
      name:
        labelled ||
        element.getAttribute('aria-label') ||
        labels?.[0]?.textContent ||
        (element.textContent ?? '').trim(),
      isLost: element === document.body,
      isSeen: isPlace || ((isOutlined(drawn) || isFilled) && isShown(drawn)),
    };
  });

/** One person at the keyboard. */
class Keys {
  readonly #t: ExecutionContext;
  readonly #page: Page;
  constructor(t: ExecutionContext, page: Page) {
    this.#t = t;
    this.#page = page;
  }
  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }
  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }
  /** Goes on until this is reached; each element on the way must be seen. */
  async to(name: RegExp, key = 'Tab'): Promise<void> {
    const passed: string[] = [];
    for (let i = 0; i < FAR; i++) {
      await this.press(key);
      const now = await focused(this.#page);
      // At the end of the page, the focus goes to the browser and comes back.
      if (now.isLost) continue;
      passed.push(now.name.slice(0, 40));
      if (!now.isSeen) this.#t.fail(`the focus is not seen: ${now.html}`);
      if (name.test(now.name)) return;
    }
    throw new Error(`${name} is not reached; passed: ${passed.join(' | ')}`);
  }
  /** Something has changed: the focus must be somewhere, and seen. */
  async settled(what: string): Promise<Focused> {
    await this.#page
      .waitForFunction(() => document.activeElement !== document.body, undefined, { timeout: 5_000 })
      .catch(() => this.#t.fail(`${what}: the focus is lost`));
    const now = await focused(this.#page);
    this.#t.true(now.isSeen, `${what}: the focus is not seen: ${now.html}`);
    return now;
  }
}

test.serial('login, a new client, its edit, inbounds and settings by keys alone', async (t) => {
  t.timeout(MINUTES);
  const { page, complaints, show } = await openPage(t, browser, world);
  const keys = new Keys(t, page);
  await show('/');
  await page.locator('form.login-form').waitFor();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await keys.to(/name/i);
  await keys.type(ADMIN.username);
  await keys.to(/^password/i);
  await keys.type(ADMIN.password);
  await keys.press('Enter');
  await page.locator('.tiles').waitFor();

  // The dashboard, and the way past the bar.
  await keys.to(/^Skip/);
  await keys.press('Enter');
  t.regex((await keys.settled('skip')).html, /id="main"/);
  await keys.press('Tab');
  await keys.settled('the first element of the dashboard');

  // The palette gives the focus back.
  const before = await focused(page);
  await keys.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await keys.settled('palette');
  await keys.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.is((await keys.settled('palette closed')).html, before.html);

  // A new client by the palette.
  await keys.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await keys.type('new client');
  await page.getByRole('option', { name: /New client/ }).waitFor();
  await keys.press('Enter');
  await page.getByRole('dialog').getByLabel('Name').waitFor();
  t.regex((await keys.settled('new client')).name, /Name/);
  await keys.type('keyboard');
  await keys.to(/Quota|Data limit|limit/i);
  await keys.type('5');
  await keys.press('Enter');
  await page.waitForURL(/\/client\?name=keyboard/);
  await page.locator('.qr').waitFor();
  await keys.settled('the page of the new client');

  // A dialog that is given up gives the focus back to its button.
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await keys.type('clients');
  await page.getByRole('option', { name: /^Clients/ }).waitFor();
  await keys.press('Enter');
  await page.locator('.rows .client-name').first().waitFor();
  await keys.settled('the list of clients');
  await keys.to(/^New client/);
  await keys.press('Enter');
  await page.getByRole('dialog').waitFor();
  await keys.settled('new client of the list');
  await keys.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  t.regex((await keys.settled('new client given up')).name, /^New client/);

  // Along the rows, and into one.
  await keys.press('j');
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'row');
  await keys.settled('a row');
  await keys.press('ArrowUp');
  await keys.settled('the row above');
  await keys.press('Enter');
  await page.locator('.qr').waitFor();
  await keys.settled('the page of a client');

  // Its edit.
  await keys.to(/^Edit/);
  await keys.press('Enter');
  await page.locator('form.edit').waitFor();
  await keys.settled('edit');
  await keys.to(/Comment/);
  await keys.type('by keys');
  await keys.to(/^Save/);
  await keys.press('Enter');
  await page.locator('form.edit').waitFor({ state: 'detached' });
  await keys.settled('saved');
  const emails = ['ann', 'keyboard'];
  const clients = await Promise.all(
    emails.map((email) => world.api<{ comment: string }>(`clients/get/${email}`)),
  );
  t.true(clients.some(({ comment }) => comment === 'by keys'));

  // Inbounds: a switch keeps the focus while it is busy.
  await keys.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await keys.type('inbounds');
  await page.getByRole('option', { name: /^Inbounds/ }).waitFor();
  await keys.press('Enter');
  await page.locator('.inbound').waitFor();
  await keys.settled('inbounds');
  await keys.to(/home/);
  await keys.press(' ');
  await page.locator('.inbound .switch:not([data-selected]):not([data-pending])').waitFor();
  t.regex((await keys.settled('the switch')).name, /home/);
  await keys.press(' ');
  await page.locator('.inbound .switch[data-selected]:not([data-pending])').waitFor();
  await keys.to(/^home/);
  await keys.press('Enter');
  await page.locator('.save-bar').waitFor();
  await keys.settled('an inbound');

  // Settings: searched, changed and saved.
  await keys.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await keys.type('system');
  await page.getByRole('option', { name: /^System/ }).waitFor();
  await keys.press('Enter');
  await page.locator('[data-plugin]').first().waitFor();
  await keys.settled('system');
  await keys.to(/^Settings/);
  await keys.press('Enter');
  await page.getByLabel('Search settings').waitFor();
  await keys.settled('settings');
  await keys.press('/');
  t.regex((await keys.settled('search')).name, /Search settings/);
  await keys.type('sessionMaxAge');
  const age = page.locator('[data-setting=sessionMaxAge]');
  await age.waitFor();
  await page.waitForFunction(() => document.querySelectorAll('[data-setting]').length === 1);
  while (!(await age.locator('input').evaluate((input) => input === document.activeElement))) {
    await keys.press('Tab');
    t.true((await keys.settled('on the way to the setting')).isSeen);
  }
  await keys.press('Control+a');
  await keys.type('721');
  await keys.to(/^Save/);
  await keys.press('Enter');
  await page.getByText('Saved.').waitFor();
  await page.locator('.setting-bar').waitFor({ state: 'detached' });
  await keys.settled('a setting is saved');
  t.deepEqual(
    complaints.filter((text) => !/status of 401/.test(text)),
    [],
  );
});
