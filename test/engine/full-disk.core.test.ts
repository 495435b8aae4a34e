// The disk is full: acknowledged edits hold, earlier files stay whole, and the rest follows when there is room.
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../harness/api.js';
import { testUnless } from '../harness/left-out.js';
import { SmallDisk } from '../harness/small-disk.js';
import { agrees } from './agrees.js';
import { connect, MIB, openPanel, openServer, spawnPanel } from './user.js';

const testWithDisk = testUnless(SmallDisk.obstacle());

const inboundOf = (port: number) => ({ protocol: 'vless', listen: '127.0.0.1', port, remark: 'test' });

testWithDisk(
  'the disk of the core files: clients are edited, inbounds follow, a new panel finds the core',
  async (t) => {
    const disk = SmallDisk.mount(t, 4);
    const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
    t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
    await symlink(disk.path, join(dataDirectory, 'engine'));
    const server = await openServer(t);
    const first = await spawnPanel(t, { dataDirectory });
    const core = await first.corePid();
    const record = () => readFile(join(disk.path, 'core.json'), 'utf8');
    const inbound = await first.addInbound();
    const before = await record();

    disk.fill();
    await first.addClient('ann', [inbound]);
    t.is(await (await connect(t, first, 'ann', server)).download(MIB), MIB);
    const added = await first.call<{ tag: string }>('/panel/api/inbounds/add', {
      body: inboundOf(await freePort()),
    });
    t.true(added.body.success);
    t.regex(added.body.msg, /core does not have it yet: .*core\.json cannot be written: ENOSPC/);
    t.is(await record(), before);
    await first.kill('SIGKILL');

    const second = await openPanel(t, { dataDirectory });
    t.is(await second.corePid(), core, 'the core was adopted');
    t.truthy(second.said('the core did not accept its whole config; it keeps what it runs; retrying'));
    disk.free();
    await second.until(async () => (await record()).includes(added.body.obj.tag), 'the core has the inbound');
    await agrees(t, second);
    disk.fill();
    await second.stop();
    t.is(await second.corePid(), undefined);
  },
);

testWithDisk(
  'the whole data folder: edits are refused by name, no plugin is faulted, and all works again when there is room',
  async (t) => {
    const disk = SmallDisk.mount(t, 8);
    const dataDirectory = join(disk.path, 'data');
    const first = await openPanel(t, { dataDirectory });
    const inbound = await first.addInbound();
    await first.addClient('ann', [inbound]);
    disk.fill();
    for (let i = 0; i < 25; i++) {
      const { status, body } = await first.call('/panel/api/clients/add', {
        body: { client: { email: `bob${i}`, comment: 'x'.repeat(200) }, inboundIds: [inbound] },
      });
      t.deepEqual([status, body.code], [507, 'KERNEL_STORAGE'], body.msg);
    }
    t.is((await first.call('/panel/api/clients/get/ann')).status, 200);
    t.deepEqual(first.faults, []);
    t.is(first.said('rollback failed'), undefined);
    disk.free();
    await first.addClient('carol', [inbound]);
    disk.fill();
    await first.stop();
    t.is(await first.corePid(), undefined);
    disk.free();
    const second = await openPanel(t, { dataDirectory });
    t.is((await second.call('/panel/api/clients/get/carol')).status, 200);
    t.is((await second.call('/panel/api/clients/get/bob3')).status, 404);
    await agrees(t, second);
  },
);
