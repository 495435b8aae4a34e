// A device of the tunnel service: every action, the outbound, and the change to another device.
import { cp, mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { until } from '../../../test/harness/until.js';
import { templateErrors } from '../../core-template/contract.js';
import type { Account } from '../account.js';
import { newKeyPair, publicKeyOf } from '../keys.js';
import { openService, openTunnelPanel } from './tunnel-panel.js';
import { BOUGHT, refused } from './warp-api.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const unix = (ms: number): number => Math.floor(ms / 1000);

test.serial('a device is registered, shown, licensed, applied and removed', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  t.is((await tunnel.act('data')).body.obj, '');

  const keys = newKeyPair();
  const made = await tunnel.act('reg', keys);
  t.is(made.status, 200, made.text);
  const [asked] = api.asked;
  t.is(asked?.call, 'POST /reg');
  t.like(asked?.headers, { 'cf-client-version': 'a-6.30-3596', 'content-type': 'application/json' });
  t.like(asked?.body, {
    key: keys.publicKey,
    type: 'PC',
    tos: new Date(tunnel.clock.now()).toISOString(),
  });
  const { data, config } = JSON.parse(made.body.obj) as { data: Account; config: { id: string } };
  t.deepEqual(data, {
    access_token: 'token-1',
    device_id: 'device-1',
    license_key: 'q1w2e3r4',
    private_key: keys.privateKey,
    client_id: 'AQID',
  });
  t.is(config.id, 'device-1');
  t.deepEqual(await tunnel.stored(), data);
  t.is(await tunnel.setting('edgetunnelLastUpdate'), unix(tunnel.clock.now()));
  t.deepEqual(
    [await tunnel.setting('edgetunnelSecret'), await tunnel.setting('hasEdgetunnelSecret')],
    ['', true],
  );

  const shown = await tunnel.act('config');
  t.like(JSON.parse(shown.body.obj), { id: 'device-1', account: { license: 'q1w2e3r4', quota: 0 } });
  t.is(api.asked.at(-1)?.headers['authorization'], 'Bearer token-1');

  const licensed = await tunnel.act('license', { license: BOUGHT });
  t.like(JSON.parse(licensed.body.obj), { license_key: BOUGHT, device_id: 'device-1' });
  t.deepEqual(api.asked.at(-1)?.body, { license: BOUGHT });
  t.is((await tunnel.stored())?.license_key, BOUGHT);

  const applied = await tunnel.apply();
  t.deepEqual(applied.body.obj, {
    tag: 'warp',
    replaced: false,
    endpoint: '162.159.192.1:2408',
  });
  t.deepEqual(await tunnel.outbound(), {
    tag: 'warp',
    protocol: 'wireguard',
    settings: {
      mtu: 1420,
      domainStrategy: 'ForceIPv4v6',
      noKernelTun: true,
      secretKey: keys.privateKey,
      address: ['172.16.0.2/32', '2606:4700:110:8a36::2/128'],
      reserved: [1, 2, 3],
      peers: [{ publicKey: api.farEnd.publicKey, endpoint: '162.159.192.1:2408' }],
    },
  });
  t.is((await tunnel.currentTemplate()).outbounds.at(-1)?.tag, 'warp', 'the default outbound is another one');

  await tunnel.act('interval', { interval: 7 });
  const gone = await tunnel.act('del');
  t.is(await tunnel.setting('edgetunnelUpdateInterval'), 0, 'the next device is not replaced because of it');
  t.regex(gone.body.msg, /warp in the template still uses it/);
  t.is(gone.body.obj, '');
  t.is(await tunnel.stored(), undefined);
  await tunnel.run('forget');
  t.true(api.devices.has('device-1'), 'what is in use stays at the service');
  await tunnel.save((template) => ({
    ...template,
    outbounds: template.outbounds.filter(({ tag }) => tag !== 'warp'),
  }));
  await tunnel.run('forget');
  t.is(api.devices.size, 0);
  t.like((await tunnel.act('del')).body, { success: true, msg: 'there is no device' });
});

test.serial(
  'what an admin added to the outbound stays, and another protocol under its tag is not touched',
  async (t) => {
    const api = openService();
    const tunnel = await openTunnelPanel(t);
    await tunnel.act('reg');
    const own = {
      tag: 'warp',
      protocol: 'wireguard',
      settings: {
        mtu: 1280,
        domainStrategy: 'ForceIPv4',
        secretKey: newKeyPair().privateKey,
        address: ['10.0.0.1/32'],
        reserved: [9, 9, 9],
        workers: 2,
        peers: [
          { publicKey: newKeyPair().publicKey, endpoint: '1.2.3.4:5', keepAlive: 25, preSharedKey: 'x' },
        ],
      },
      streamSettings: { sockopt: { mark: 7 } },
    };
    await tunnel.save((template) => ({ ...template, outbounds: [own, ...template.outbounds] }));
    t.like((await tunnel.apply()).body.obj, { replaced: true });
    const { outbounds } = await tunnel.currentTemplate();
    t.is(outbounds[0]?.tag, 'warp', 'it keeps its place');
    t.deepEqual(outbounds[0], {
      ...own,
      settings: {
        ...own.settings,
        noKernelTun: true,
        secretKey: (await tunnel.stored())?.private_key ?? '',
        address: ['172.16.0.2/32', '2606:4700:110:8a36::2/128'],
        reserved: [1, 2, 3],
        peers: [{ publicKey: api.farEnd.publicKey, endpoint: '162.159.192.1:2408', keepAlive: 25 }],
      },
    } as never);

    await tunnel.save((template) => ({
      ...template,
      outbounds: [
        { tag: 'direct', protocol: 'freedom' },
        { tag: 'warp', protocol: 'blackhole' },
      ],
    }));
    const taken = await tunnel.apply();
    t.deepEqual([taken.status, taken.body.code], [409, 'CORE_TEMPLATE_TAG_TAKEN']);
    t.is((await tunnel.outbound())?.protocol, 'blackhole');
  },
);

test.serial('changeIp puts the new device in before the previous one is deleted', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.act('license', { license: BOUGHT });
  await tunnel.apply();
  await tunnel.save((template) => ({
    ...template,
    outbounds: [
      ...template.outbounds,
      { ...template.outbounds.find(({ tag }) => tag === 'warp'), tag: 'also' },
    ],
  }));
  const before = await tunnel.stored();
  api.take();
  const keyWhenDeleted: unknown[] = [];
  api.instead.set('DELETE', () => {
    keyWhenDeleted.push(tunnel.outbounds.using(before?.private_key ?? '').length);
    return undefined;
  });
  api.farEnd = { ...api.farEnd, endpoint: '203.0.113.9:1701', v4: '172.16.0.9' };
  tunnel.clock.tick(60_000);
  const changed = await tunnel.act('changeIp');
  t.is(changed.status, 200, changed.text);
  await until(() => api.devices.size === 1, 'the previous device is deleted');
  t.deepEqual(api.take(), ['POST /reg', 'PUT /reg/device-2/account', 'DELETE /reg/device-1']);
  t.deepEqual(keyWhenDeleted, [0], 'the template had the new one by then');
  const { data, config, warning } = JSON.parse(changed.body.obj) as {
    data: Account;
    config: { id: string };
    warning?: string;
  };
  t.like(data, { device_id: 'device-2', license_key: BOUGHT });
  t.deepEqual([config.id, warning], ['device-2', undefined]);
  t.deepEqual(await tunnel.stored(), data);
  for (const tag of ['warp', 'also']) {
    const { settings } = (await tunnel.outbound(tag)) ?? {};
    t.is(settings?.secretKey, data.private_key, tag);
    t.like(settings?.peers[0], { endpoint: '203.0.113.9:1701' });
  }
  t.is(api.devices.get('device-2')?.key, publicKeyOf(data.private_key));
  t.is(await tunnel.setting('edgetunnelLastUpdate'), unix(tunnel.clock.now()));
});

test.serial('a licence that the new device does not get is a warning, and its own stays', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.act('license', { license: BOUGHT });
  api.instead.set('PUT', () => refused(400, 'Too many connected devices.'));
  const changed = await tunnel.act('changeIp');
  t.is(changed.status, 200);
  const { data, warning } = JSON.parse(changed.body.obj) as { data: Account; warning: string };
  t.is(data.license_key, 'q1w2e3r4');
  t.regex(warning, /has no licence: .* answered 400: Too many connected devices/);
  t.true(changed.body.msg.includes(warning));
});

test.serial(
  'when the template refuses, the previous device stays and the new one is removed again',
  async (t) => {
    const api = openService();
    const tunnel = await openTunnelPanel(t);
    await tunnel.act('reg');
    await tunnel.apply();
    const [before, outbound] = [await tunnel.stored(), await tunnel.outbound()];
    api.take();
    tunnel.outbounds.replace = async () => {
      throw templateErrors.INVALID('the core does not take it');
    };
    const changed = await tunnel.act('changeIp');
    t.deepEqual([changed.status, changed.body.code], [422, 'CORE_TEMPLATE_INVALID']);
    await until(() => api.devices.size === 1, 'the new device is deleted');
    t.deepEqual(api.take(), ['POST /reg', 'DELETE /reg/device-2']);
    t.deepEqual([await tunnel.stored(), await tunnel.outbound()], [before, outbound]);
  },
);

test.serial('an error after the template has the new device leaves that one in force', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.apply();
  const { outbounds } = tunnel;
  const replace = outbounds.replace.bind(outbounds);
  outbounds.replace = async (...given) => {
    await replace(...given);
    throw new Error('the database fails');
  };
  t.is((await tunnel.act('changeIp')).status, 500);
  outbounds.replace = replace;
  t.deepEqual([...api.devices.keys()], ['device-1', 'device-2'], 'neither is deleted');
  await tunnel.apply();
  await tunnel.run('forget');
  t.deepEqual([...api.devices.keys()], ['device-2'], 'the next call retires the previous one');
  t.is((await tunnel.stored())?.device_id, 'device-2');
  t.is((await tunnel.outbound())?.settings.secretKey, (await tunnel.stored())?.private_key);
});

test.serial('a reply that names no tunnel changes nothing, and its device is removed again', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.apply();
  const [before, outbound] = [await tunnel.stored(), await tunnel.outbound()];
  api.farEnd = { ...api.farEnd, endpoint: 'nowhere' };
  const changed = await tunnel.act('changeIp');
  t.deepEqual([changed.status, changed.body.code], [502, 'EDGETUNNEL_SERVICE']);
  t.regex(changed.body.msg, /config\.peers\[0\]\.endpoint\.host/);
  await until(() => api.devices.size === 1, 'the new device is deleted');
  t.true(api.devices.has('device-1'));
  t.deepEqual([await tunnel.stored(), await tunnel.outbound()], [before, outbound]);
});

test.serial('a previous device that cannot be deleted is only noted, and tried again', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  api.instead.set('DELETE', () => [500, 'down']);
  t.is((await tunnel.act('changeIp')).status, 200);
  await until(() => tunnel.warnings.length > 0, 'it is noted');
  t.deepEqual([...api.devices.keys()], ['device-1', 'device-2']);
  api.instead.clear();
  await tunnel.run('forget');
  t.deepEqual([...api.devices.keys()], ['device-2']);
  // One that the service does not know any more counts as deleted.
  await tunnel.act('changeIp');
  await until(() => api.devices.size === 1, 'it is deleted');
  api.instead.set('DELETE', () => refused(404, 'Not found'));
  await tunnel.act('del');
  await until(async () => (await tunnel.store.list('retired')).length === 0, 'it is done');
});

test.serial('a device that is never deleted is given up after two days', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  api.instead.set('DELETE', () => [503, '']);
  await tunnel.act('del');
  await until(() => tunnel.warnings.length === 1, 'it is noted');
  for (let run = 0; run < 50; run++) await tunnel.run('forget');
  t.is((await tunnel.store.list('retired')).length, 0);
  t.is(tunnel.warnings.length, 48);
  t.is(tunnel.warnings.at(-1), 'a retired device stays at the tunnel service; giving up');
});

test.serial('ten devices are deleted in one run, those that fail last', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  api.instead.set('DELETE', () => [503, '']);
  for (let device = 1; device <= 13; device++) await tunnel.act('reg');
  await until(
    async () => (await tunnel.store.list('retired')).some(({ failures }) => failures > 0),
    'one failed',
  );
  await tunnel.run('forget');
  const retired = await tunnel.store.list('retired');
  t.is(retired.length, 12);
  const failures = retired.map((device) => device.failures);
  t.deepEqual(
    failures,
    [...failures].sort((a, b) => a - b),
    'those that never failed come first',
  );
  await tunnel.run('forget');
  api.take();
  await tunnel.run('forget');
  t.is(api.take().length, 10);
});

test.serial('the interval rotates when it is due, and a failed rotation keeps the device', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  /** To the next run of the job, with a device that was registered this long before it. */
  const hourLater = async (registeredMs: number) => {
    const edgetunnelLastUpdate = unix(tunnel.clock.now() + HOUR_MS - registeredMs);
    await tunnel.panel.get('/panel/api/setting/update', { body: { edgetunnelLastUpdate } });
    tunnel.clock.tick(HOUR_MS);
    await tunnel.panel.kernel.settled();
  };
  await tunnel.act('interval', { interval: 2 });
  await hourLater(3 * DAY_MS);
  t.deepEqual(api.take(), [], 'without a device');
  await tunnel.act('reg');
  t.deepEqual([await tunnel.setting('edgetunnelUpdateInterval'), api.take()], [2, ['POST /reg']]);
  await hourLater(2 * DAY_MS - 1000);
  t.deepEqual(api.take(), []);
  api.instead.set('POST', () => refused(429, 'Rate limited'));
  await hourLater(2 * DAY_MS);
  t.deepEqual(api.take(), ['POST /reg']);
  t.is((await tunnel.stored())?.device_id, 'device-1');
  t.deepEqual(tunnel.warnings, ['the device of the tunnel service was not replaced; the previous one stays']);
  api.instead.clear();
  await hourLater(2 * DAY_MS);
  await until(async () => (await tunnel.stored())?.device_id === 'device-2', 'it is replaced an hour later');
  await until(() => api.devices.size === 1, 'the previous one is deleted');
  t.is(await tunnel.setting('edgetunnelLastUpdate'), unix(tunnel.clock.now()));
  t.is((await tunnel.act('interval', { interval: 0 })).body.obj, '');
  api.take();
  await hourLater(10 * DAY_MS);
  t.deepEqual(api.take(), []);
});

test.serial('a rotation without a known time begins to count', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  await tunnel.act('reg');
  await tunnel.panel.get('/panel/api/setting/update', {
    body: { edgetunnelLastUpdate: 0, edgetunnelUpdateInterval: 1 },
  });
  api.take();
  await tunnel.run('rotate');
  t.deepEqual(api.take(), []);
  t.is(await tunnel.setting('edgetunnelLastUpdate'), unix(tunnel.clock.now()));
  // Of a clock that was ahead: the next rotation would be years away.
  await tunnel.panel.get('/panel/api/setting/update', {
    body: { edgetunnelLastUpdate: unix(tunnel.clock.now() + 1000 * DAY_MS) },
  });
  await tunnel.run('rotate');
  t.deepEqual(api.take(), []);
  t.is(await tunnel.setting('edgetunnelLastUpdate'), unix(tunnel.clock.now()));
});

test.serial(
  'a panel that is killed in a rotation goes on with the device that the template has',
  async (t) => {
    const api = openService();
    for (const isApplied of [false, true]) {
      const first = await openTunnelPanel(t);
      await first.act('reg');
      await first.act('license', { license: BOUGHT });
      await first.apply();
      const before = await first.stored();
      const { outbounds } = first;
      const replace = outbounds.replace.bind(outbounds);
      let reached = false;
      outbounds.replace = async (...given) => {
        if (isApplied) await replace(...given);
        reached = true;
        return new Promise(() => undefined);
      };
      void first.act('changeIp').catch(() => undefined);
      await until(() => reached, 'the rotation is half done');
      const copy = await mkdtemp(join(tmpdir(), 'weir-test-'));
      await cp(first.panel.dataDirectory, copy, {
        recursive: true,
        filter: (path) => !path.endsWith('.sock'),
      });
      const second = await openTunnelPanel(t, copy);
      const after = await second.stored();
      if (isApplied) t.not(after?.device_id, before?.device_id);
      else t.deepEqual(after, before);
      t.is(after?.license_key, BOUGHT, 'what was bought is not lost');
      t.is((await second.outbound())?.settings.secretKey, after?.private_key);
      await second.run('forget');
      t.true(api.devices.has(after?.device_id ?? ''));
      t.is((await second.store.list('retired')).length, 0);
      t.is((await second.store.list('new')).length, 0);
      t.is(api.devices.size, 1, 'the other one is deleted');
      api.devices.clear();
    }
  },
);

test.serial('two changes at once are refused, and register one device', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  const answers = await Promise.all([tunnel.act('reg'), tunnel.act('reg'), tunnel.act('reg')]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  t.is(answers.find(({ status }) => status === 409)?.body.code, 'EDGETUNNEL_BUSY');
  t.deepEqual([...api.devices.keys()], ['device-1']);
});

test.serial('secrets are sealed on disk, and in no log line', async (t) => {
  const api = openService();
  const tunnel = await openTunnelPanel(t);
  const keys = newKeyPair();
  await tunnel.act('reg', keys);
  api.instead.set('DELETE', () => [500, '']);
  await tunnel.act('changeIp');
  await until(() => tunnel.warnings.length > 0, 'the previous device is retired');
  const after = await tunnel.stored();
  const secrets = [keys.privateKey, 'token-1', after?.private_key ?? '', 'token-2'];
  await tunnel.panel.stop();
  for (const name of await readdir(tunnel.panel.dataDirectory, { recursive: true })) {
    const bytes = await readFile(join(tunnel.panel.dataDirectory, name)).catch(() => Buffer.alloc(0));
    for (const secret of secrets) t.false(bytes.includes(secret), `${name} holds a secret`);
  }
  for (const secret of secrets) t.false(tunnel.panel.log.join('\n').includes(secret));
});
