// Every endpoint of the section about inbounds, with every field of its table, sent and read back.
import test from 'ava';
import { FakeEngine } from '../harness/fake-engine.js';
import { freePort, TestPanel } from '../harness/panel.js';
import { Asking } from './asking.js';
import { INBOUNDS } from './inbounds.js';

const UUID = '5783a3e7-e373-51cd-8642-c83782b807c5';
const EXPIRY = 2_000_000_000_000;
interface Inbound {
  readonly id: number;
  readonly settings: { readonly clients: { readonly id: string; readonly email: string }[] };
  readonly streamSettings: { readonly realitySettings: Record<string, unknown> };
  readonly clientStats: { readonly email: string; readonly up: number; readonly down: number }[];
}

/** As the description shows the body, and what the core needs of REALITY beside `show` and `dest`. */
const bodyOf = (port: number) => ({
  enable: true,
  remark: 'home',
  listen: '127.0.0.1',
  port,
  protocol: 'vless',
  expiryTime: EXPIRY,
  total: 5_000_000,
  settings: { clients: [{ id: UUID, email: 'ann' }], decryption: 'none', fallbacks: [] },
  streamSettings: {
    network: 'tcp',
    security: 'reality',
    realitySettings: {
      show: false,
      dest: 'site.example:443',
      serverNames: ['site.example'],
      privateKey: 'uJ7Ln9XKzwXRuLPnlVQzZ2eYpXM3gB8yXgk0N2kXs2Q',
      shortIds: ['0123abcd'],
    },
  },
  sniffing: { enabled: true, destOverride: ['http', 'tls'] },
});

test('inbounds: the section of the API description', async (t) => {
  const engine = new FakeEngine();
  await using panel = await TestPanel.boot({ plugins: [engine.plugin] });
  const asking = new Asking(panel, INBOUNDS);
  const at = '/panel/api/inbounds';

  const body = bodyOf(await freePort());
  const { id } = await asking.ask<Inbound>(t, `POST ${at}/add`, { body });
  const get = () => asking.ask<Inbound>(t, `GET ${at}/get/{id}`, { at: [id] });
  const { settings, streamSettings, sniffing, ...flat } = body;
  const added = await get();
  t.like(added, { id, ...flat, sniffing });
  t.like(added.settings.clients, settings.clients);
  t.like(added.streamSettings, streamSettings);
  const empty = { settings: null, streamSettings: null, sniffing: null };
  t.deepEqual(await asking.ask(t, `GET ${at}/list`), [{ ...added, ...empty }]);
  t.like(await asking.ask(t, `GET ${at}/list/slim`), [
    { id, remark: 'home', settings: { clients: [{ email: 'ann', enable: true }] } },
  ]);
  t.like(await asking.ask(t, `GET ${at}/options`), [
    { id, security: 'reality', network: 'tcp', tlsFlowCapable: true },
  ]);
  const links = await asking.ask<string[]>(t, `GET ${at}/allLinks`);
  t.true(links.every((link) => link.startsWith(`vless://${UUID}@`)));

  const change = {
    ...body,
    remark: 'away',
    total: 7_000_000,
    sniffing: { enabled: false, destOverride: ['quic'] },
  };
  await asking.ask(t, `POST ${at}/update/{id}`, { at: [id], body: change });
  const { settings: _, streamSettings: __, ...wanted } = change;
  t.like(await get(), wanted as object);
  t.is((await get()).settings.clients.length, 1);

  await asking.ask(t, `POST ${at}/setEnable/{id}`, { at: [id], body: { enable: false } });
  t.like(await get(), { enable: false });
  await asking.ask(t, `POST ${at}/setEnable/{id}`, { at: [id], body: { enable: true } });
  await asking.ask(t, `POST ${at}/{id}/subSortIndex`, { at: [id], body: { subSortIndex: 4 } });
  t.like(await get(), { enable: true, subSortIndex: 4 });

  // Traffic of the same client on another panel counts as its traffic here, not as traffic of the inbound.
  await asking.ask(t, `POST ${at}/pushClientTraffics`, {
    body: {
      masterGuid: '11111111-2222-4333-8444-555555555555',
      traffics: [{ email: 'ann', up: 300, down: 4000 }],
    },
  });
  t.like(await panel.get('/panel/api/clients/traffic/ann'), { up: 300, down: 4000 });

  const { id: clientId } = await panel.get<{ id: number }>('/panel/api/clients/get/ann');
  for (const path of ['{id}/resetTraffic', 'resetAllTraffics']) {
    engine.restart(path);
    engine.move(id, clientId, 10, 20);
    await panel.get('/panel/api/clients/updateTraffic/ann', { body: { upload: 11, download: 22 } });
    await asking.ask(t, `POST ${at}/${path}`, { at: [id] });
    t.like(await get(), { up: 0, down: 0 }, path);
  }

  const child = await panel.addInbound({ remark: 'child', settings: { clients: [] } });
  const entry = { childId: child, path: '/child', alpn: 'h2', dest: '', xver: 1 };
  await asking.ask(t, `POST ${at}/{id}/fallbacks`, { at: [id], body: { fallbacks: [entry] } });
  const fallbacks = await asking.ask<object[]>(t, `GET ${at}/{id}/fallbacks`, { at: [id] });
  const { dest: _dest, ...kept } = entry;
  t.like(fallbacks, [{ masterId: id, ...kept }]);

  const copy = {
    ...body,
    remark: 'imported',
    port: await freePort(),
    settings: { clients: [], decryption: 'none' },
  };
  await asking.ask(t, `POST ${at}/import`, { form: [['data', JSON.stringify(copy)]] });
  const all = await asking.ask<Inbound[]>(t, `GET ${at}/list`);
  const imported = all.find((one) => (one as { remark?: string }).remark === 'imported')?.id ?? 0;
  t.true(imported > child);

  t.like(await asking.ask(t, `POST ${at}/{id}/delAllClients`, { at: [id] }), { deleted: 1 });
  t.deepEqual((await get()).settings.clients, []);
  t.like(await asking.ask(t, `POST ${at}/bulkDel`, { body: { ids: [imported, 4711] } }), {
    deleted: 1,
    skipped: [{ id: 4711 }],
  });
  await asking.ask(t, `POST ${at}/del/{id}`, { at: [id] });
  t.is((await panel.call(`${at}/get/${id}`)).status, 404);
  asking.end(t);
});
