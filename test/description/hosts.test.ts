// Every endpoint of the section about hosts, with every field of its table, sent and read back.
import test from 'ava';
import { TestPanel } from '../harness/panel.js';
import { Asking } from './asking.js';
import { HOSTS } from './hosts.js';

/** A value for each field of a group, none of which is a default. */
const FIELDS = {
  remark: 'Edge {{EMAIL}}',
  hosts: ['a.example', 'b.example'],
  port: 8443,
  security: 'tls',
  tags: ['EU', 'FAST'],
  allowInsecure: true,
  alpn: ['h2', 'http/1.1'],
  cipherSuites: 'TLS_AES_128_GCM_SHA256',
  echConfigList: 'AEj+DQBEAQAgACAdd+scUi0IYFsXnUIU7ko2Nd9+F8M26pAGZVpz/KrWPgAEAAEAAQ==',
  excludeFromSubTypes: ['json'],
  finalMask: '{"tcp":[{"type":"fragment","settings":{"length":"1-2","delay":"1","packets":"tlshello"}}]}',
  fingerprint: 'firefox',
  hostHeader: 'front.example',
  isDisabled: true,
  isHidden: true,
  keepSniBlank: true,
  altIpVersion: 'dual',
  altX25519: true,
  muxParams: '{"enabled":true}',
  nodeGuids: ['11111111-2222-4333-8444-555555555555'],
  overrideSniFromAddress: true,
  path: '/edge',
  pinnedPeerCertSha256: ['e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  serverDescription: 'in Frankfurt',
  shuffleHost: true,
  sni: 'sni.example',
  sockoptParams: '{"tcpFastOpen":true}',
  sortOrder: 7,
  verifyPeerCertByName: 'name.example',
  vlessRoute: '443',
};
type Group = typeof FIELDS & { readonly groupId: string; readonly inboundIds: readonly number[] };
interface Row {
  readonly groupId: string;
  readonly address: string;
  readonly inboundId: number;
  readonly port: number;
}

test('hosts: the section of the API description', async (t) => {
  await using panel = await TestPanel.boot();
  const inboundIds = [await panel.addInbound(), await panel.addInbound()];
  const asking = new Asking(panel, HOSTS);
  const at = '/panel/api/hosts';

  const rows = await asking.ask<Row[]>(t, `POST ${at}/add`, { body: { inboundIds, ...FIELDS } });
  t.is(rows.length, 4, 'one row for each address and inbound');
  const groupId = rows[0]?.groupId ?? '';
  const group = await asking.ask<Group>(t, `GET ${at}/get/{groupId}`, { at: [groupId] });
  t.like(group, { groupId, inboundIds, ...FIELDS });
  t.deepEqual(await asking.ask(t, `GET ${at}/list`), [group]);
  t.deepEqual(await asking.ask(t, `GET ${at}/byInbound/{inboundId}`, { at: [inboundIds[1] ?? 0] }), [group]);
  t.deepEqual(await asking.ask(t, `GET ${at}/tags`), ['EU', 'FAST']);

  const changed = {
    ...FIELDS,
    ...{ inboundIds: inboundIds.slice(0, 1), hosts: ['c.example'], remark: 'Other', port: 443 },
    ...{ security: 'same', tags: ['US'], muxParams: null, sockoptParams: null, alpn: [], isDisabled: false },
  };
  const updated = await asking.ask<Row[]>(t, `POST ${at}/update/{groupId}`, { at: [groupId], body: changed });
  t.like(updated, [{ groupId, address: 'c.example', inboundId: inboundIds[0] ?? 0, port: 443 }]);
  const read = () => asking.ask<Group>(t, `GET ${at}/get/{groupId}`, { at: [groupId] });
  t.like(await read(), changed as object);

  await asking.ask(t, `POST ${at}/setEnable/{groupId}`, { at: [groupId], body: { enable: false } });
  t.true((await read()).isDisabled);
  const bulk = await asking.ask<Row[]>(t, `POST ${at}/bulk/add`, {
    body: {
      inboundIds: inboundIds.slice(0, 1),
      hosts: ['d.example:2053', 'e.example'],
      remark: 'Many',
      port: 8080,
      security: 'none',
      isDisabled: true,
    },
  });
  t.like(bulk, [
    { address: 'd.example', port: 2053 },
    { address: 'e.example', port: 8080 },
  ]);
  const other = bulk[0]?.groupId ?? '';
  await asking.ask(t, `POST ${at}/bulk/setEnable`, { body: { ids: [groupId, other], enable: true } });
  const list = () => asking.ask<Group[]>(t, `GET ${at}/list`);
  t.deepEqual(
    (await list()).map(({ isDisabled }) => isDisabled),
    [false, false],
  );
  for (const ids of [
    [groupId, other],
    [other, groupId],
  ]) {
    await asking.ask(t, `POST ${at}/reorder`, { body: { ids } });
    t.deepEqual(
      (await list()).map((one) => one.groupId),
      ids,
    );
  }
  await asking.ask(t, `POST ${at}/bulk/del`, { body: { ids: [other] } });
  t.deepEqual(
    (await list()).map((one) => one.groupId),
    [groupId],
  );
  await asking.ask(t, `POST ${at}/del/{groupId}`, { at: [groupId] });
  t.deepEqual(await panel.get(`${at}/list`), []);
  asking.end(t);
});
