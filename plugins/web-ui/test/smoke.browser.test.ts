// The shortest way through the page in a real browser: login, dashboard, list.
import test from 'ava';
import { bootPanel, fillLogin, launch, openPage } from './open-page.js';

test('after a login, the dashboard and the list are there, and the browser complains of nothing', async (t) => {
  t.timeout(300_000);
  const browser = await launch();
  t.teardown(() => browser.close());
  const world = await bootPanel();
  t.teardown(() => world.panel[Symbol.asyncDispose]());
  const { page, complaints, asked, show } = await openPage(t, browser, world);
  await show('/');
  await fillLogin(page);
  await page.locator('.tiles').waitFor();
  await page.locator('.stream[data-live]').waitFor();
  await page.getByRole('link', { name: 'Clients' }).click();
  await page.getByText('There are no clients yet.').waitFor();
  // The first question of all, whether there is a session.
  t.deepEqual(
    complaints.filter((text) => !/status of 401/.test(text)),
    [],
  );
  t.deepEqual(
    asked.filter((url) => !url.startsWith(`${world.base}/`) && !url.startsWith('data:')),
    [],
  );
});
