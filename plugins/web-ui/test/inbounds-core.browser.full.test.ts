// The form makes an inbound of each protocol, a real core listens on it, and a client program connects by its link.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as open } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { Browser, Page } from 'playwright-core';
import { NAME, openSite } from '../../../test/demo/streams.js';
import {
  connect,
  engineBinary,
  engineOf,
  openPanel,
  openServer,
  teardownOfFile,
} from '../../../test/engine/user.js';
import { freePort } from '../../../test/harness/api.js';
import { launch, openPage } from './open-page.js';

const MINUTES = 600_000;
const shared = teardownOfFile(test);
let browser: Browser;
let panel: Awaited<ReturnType<typeof openPanel>>;
let server: Awaited<ReturnType<typeof openServer>>;
let site: Awaited<ReturnType<typeof openSite>>;
test.before(async (t) => {
  t.timeout(MINUTES);
  site = await openSite(engineBinary());
  shared.teardown(() => site.stop());
  server = await openServer(shared);
  panel = await openPanel(shared, { env: site.env });
  browser = await launch();
  shared.teardown(() => browser.close());
});

async function listensTcp(port: number): Promise<boolean> {
  const socket = open(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
async function listensUdp(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  try {
    socket.bind(port, '127.0.0.1');
    await once(socket, 'listening');
    return false;
  } catch {
    return true;
  } finally {
    socket.close();
  }
}

const openFolds = (page: Page) =>
  page.locator('details.fold').evaluateAll((folds) => {
    for (const fold of folds) (fold as HTMLDetailsElement).open = true;
  });

/** Makes an inbound by the form only, and returns its id. */
async function make(
  t: ExecutionContext,
  protocol: string,
  fill: (page: Page) => Promise<void> = async () => undefined,
): Promise<{ id: number; port: number }> {
  const { page, show, logIn } = await openPage(t, browser, { base: panel.url });
  await logIn();
  await show('/inbound/new');
  await page.getByLabel('Protocol', { exact: true }).selectOption(protocol);
  const port = await freePort();
  await page.getByLabel('Port', { exact: true }).first().fill(String(port));
  await page.getByLabel('Listen', { exact: true }).fill('127.0.0.1');
  await fill(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await Promise.race([
    page.getByText('The inbound is saved.').waitFor(),
    page
      .locator('.problem')
      .waitFor()
      .then(async () => {
        throw new Error(await page.locator('.problem').innerText());
      }),
  ]);
  const inbounds = await panel.get<{ id: number; port: number }[]>('/panel/api/inbounds/list');
  return { id: inbounds.find((one) => one.port === port)?.id ?? 0, port };
}

/** A certificate of the site, and its pin for clients. */
async function fillTls(page: Page, alpn: string): Promise<void> {
  const { pem, pins } = site.parts;
  await page.getByRole('button', { name: 'Add: Certificates' }).click();
  const item = page.getByRole('group', { name: 'Certificates 1' });
  await item.getByLabel('Certificate', { exact: true }).fill(pem.certificate.join('\n'));
  await item.getByLabel('Key', { exact: true }).fill(pem.key.join('\n'));
  await page.getByLabel('Server name', { exact: true }).fill(NAME);
  await page.getByLabel('ALPN').fill(alpn);
  await openFolds(page);
  await page.getByLabel(/^Pinned peer/).fill(pins?.[0] ?? '');
}

async function fillReality(page: Page): Promise<void> {
  await page.getByLabel('Security', { exact: true }).selectOption('reality');
  await page.getByLabel('Target').fill(`127.0.0.1:${site.parts.port}`);
  await page.getByLabel('Server names').fill(NAME);
  await page.getByRole('button', { name: 'Generate: Private key' }).click();
  await page.getByRole('button', { name: 'Generate: Short IDs' }).click();
  const json = page.locator('#inbound-json');
  await page.waitForFunction(
    (area) => /"shortIds": \[\s*"/.test((area as HTMLTextAreaElement).value),
    await json.elementHandle(),
  );
}

const CASES: readonly (readonly [
  protocol: string,
  l4: 'tcp' | 'udp',
  fill?: (page: Page) => Promise<void>,
])[] = [
  ['vless', 'tcp', fillReality],
  ['vmess', 'tcp'],
  [
    'trojan',
    'tcp',
    async (page) => {
      await page.getByLabel('Security', { exact: true }).selectOption('tls');
      await fillTls(page, 'http/1.1');
    },
  ],
  ['shadowsocks', 'tcp'],
  ['hysteria', 'udp', (page) => fillTls(page, 'h3')],
  ['http', 'tcp'],
  ['mixed', 'tcp'],
];
for (const [protocol, l4, fill] of CASES)
  test.serial(`${protocol}: made by the form, a client connects by its link`, async (t) => {
    t.timeout(MINUTES);
    const { id, port } = await make(t, protocol, fill);
    t.true(await (l4 === 'tcp' ? listensTcp(port) : listensUdp(port)), 'the core listens');
    await panel.addClient(`user-${protocol}`, [id]);
    const user = await connect(t, panel, `user-${protocol}`, server);
    t.is(await user.download(10_000), 10_000);
    await user.end();
  });

for (const network of ['ws', 'grpc', 'httpupgrade', 'xhttp', 'kcp'])
  test.serial(`vless over ${network}: made by the form, a client connects by its link`, async (t) => {
    t.timeout(MINUTES);
    const { id } = await make(t, 'vless', async (page) => {
      await page.getByLabel('Transport', { exact: true }).selectOption(network);
    });
    await panel.addClient(`user-${network}`, [id]);
    const user = await connect(t, panel, `user-${network}`, server);
    t.is(await user.download(10_000), 10_000);
    await user.end();
  });

test.serial('wireguard and tunnel: made by the form, the core listens', async (t) => {
  t.timeout(MINUTES);
  const wireguard = await make(t, 'wireguard', (page) =>
    page.getByRole('button', { name: 'Generate: Secret key' }).click(),
  );
  t.true(await listensUdp(wireguard.port));
  const tunnel = await make(t, 'tunnel', async (page) => {
    await page.getByLabel('Rewrite address').fill('127.0.0.1');
    await page.getByLabel('Rewrite port').fill(String(server.port));
  });
  t.true(await listensTcp(tunnel.port));
});

test.serial(
  'tun, and protocols that a program of its own runs: made by the form, and the core goes on',
  async (t) => {
    t.timeout(MINUTES);
    const { pem } = site.parts;
    const made = [
      await make(t, 'mtproto'),
      await make(t, 'tuic', async (page) => {
        await page.getByLabel('Certificate', { exact: true }).fill(pem.certificate.join('\n'));
        await page.getByLabel('Private key', { exact: true }).fill(pem.key.join('\n'));
      }),
      await make(t, 'amneziawg'),
      await make(t, 'tun'),
    ];
    for (const { id } of made) t.true(id > 0);
    t.like(await engineOf(panel), { state: 'running', errorMsg: '' });
  },
);
