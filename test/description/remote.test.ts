// The tunnel service, the VPN provider and lists of outbounds, over stand-ins of their servers.
import test from 'ava';
import nock from 'nock';
import { newKeyPair } from '../../plugins/edgetunnel/keys.js';
import { BOUGHT, WarpApi } from '../../plugins/edgetunnel/test/warp-api.js';
import { openLists } from '../../plugins/outbound-subs/test/list-server.js';
import { COUNTRIES, newKey, NordApi, TOKEN } from '../../plugins/vpnprovider/test/nord-api.js';
import { FakeEngine } from '../harness/fake-engine.js';
import { TestPanel } from '../harness/panel.js';
import { Asking } from './asking.js';
import { REMOTE } from './engine.js';

interface Sub {
  readonly id: number;
  readonly remark: string;
  readonly tagPrefix: string;
}
test.before(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});
test.after.always(() => nock.restore());

test('remote services: the endpoints of the API description', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const asking = new Asking(panel, REMOTE);
  const at = '/panel/api/engine';
  const act = async (service: string, action: string, body?: object) => {
    const params = { at: [action], ...(body && { body }) };
    const text = await asking.ask<string>(t, `POST ${at}/${service}/{action}`, params);
    return text === '' ? '' : (JSON.parse(text) as Record<string, unknown>);
  };

  const provider = new NordApi();
  const tunnelService = new WarpApi();
  const keys = newKeyPair();
  t.is(await act('edgetunnel', 'data'), '');
  await act('edgetunnel', 'reg', keys);
  t.like(await act('edgetunnel', 'data'), { private_key: keys.privateKey });
  t.truthy(await act('edgetunnel', 'config'));
  await act('edgetunnel', 'license', { license: BOUGHT });
  t.is([...tunnelService.devices.values()].at(-1)?.license, BOUGHT);
  await act('edgetunnel', 'del');
  t.is(await act('edgetunnel', 'data'), '');

  t.deepEqual(await act('vpnprovider', 'countries'), COUNTRIES as never);
  t.truthy(await act('vpnprovider', 'servers', { countryId: 81 }));
  t.like(await act('vpnprovider', 'reg', { token: TOKEN }), { private_key: provider.key });
  const key = newKey();
  t.like(await act('vpnprovider', 'setKey', { key }), { private_key: key });
  t.like(await act('vpnprovider', 'data'), { private_key: key });
  await act('vpnprovider', 'del');
  t.is(await act('vpnprovider', 'data'), '');

  const lists = await openLists(t, 'trojan://secret@far.example:443?security=tls&sni=far.example#One\n');
  const subs = `${at}/outbound-subs`;
  const preview = { url: lists.url, allowPrivate: true };
  t.is((await asking.ask<object[]>(t, `POST ${subs}/parse`, { body: preview })).length, 1);
  const body = { ...preview, remark: 'one', enabled: true, tagPrefix: 'first-' };
  const made = await asking.ask<Sub>(t, `POST ${subs}`, { body });
  t.like(made, body);
  const other = await asking.ask<Sub>(t, `POST ${subs}`, {
    body: { ...body, remark: 'two', tagPrefix: 'b-' },
  });
  const list = () => asking.ask<Sub[]>(t, `GET ${subs}`);
  const change = { ...body, remark: 'changed', enabled: false, tagPrefix: 'c-' };
  await asking.ask(t, `POST ${subs}/{id}`, { at: [made.id], body: change });
  t.like((await list())[0], { id: made.id, remark: 'changed', enabled: false, tagPrefix: 'c-' });
  await asking.ask(t, `POST ${subs}/{id}/move`, { at: [made.id], body: { dir: 'down' } });
  t.deepEqual(
    (await list()).map(({ id }) => id),
    [other.id, made.id],
  );
  const fetched = await asking.ask<object[]>(t, `POST ${subs}/{id}/refresh`, { at: [other.id] });
  t.like(fetched, [{ protocol: 'trojan' }]);
  t.like((await list())[0], { outboundCount: 1, lastError: '' });
  await asking.ask(t, `POST ${subs}/{id}/del`, { at: [other.id] });
  t.deepEqual(
    (await list()).map(({ id }) => id),
    [made.id],
  );
  await asking.ask(t, `DELETE ${subs}/{id}`, { at: [made.id] });
  t.deepEqual(await panel.get(subs), []);
  asking.end(t);
});
