// An installed package that updates itself from signed releases, under systemd, while a user downloads.
import { createReadStream } from 'node:fs';
import { readFile, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN } from '../harness/api.js';
import { folderFor } from '../harness/folder-for.js';
import { freePort } from '../harness/free-port.js';
import { testUnless } from '../harness/left-out.js';
import { connect, counted, MIB } from '../engine/user.js';
import { newKey, ReleaseServer, releaseOf, sha256 } from '../../plugins/updates/test/release-server.js';
import { signatureOf } from '../../plugins/updates/signing-key.js';
import { Container, missingForContainers } from './container.js';
import { InstalledPanel, packageIn } from './installed-panel.js';
import { packVariant, type Variant, writeVariant } from './package-variant.js';
import { openPatientServer } from './patient-server.js';

interface Status {
  readonly runId: string;
  readonly state: string;
  readonly step: string;
  readonly reason: string;
}
const UPDATE_MS = 5 * 60_000;

/** An update takes longer than other tests wait. */
async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + UPDATE_MS; !(await condition()); await sleep(100))
    if (Date.now() > deadline) throw new Error(`did not happen: ${what}`);
}

testUnless(await missingForContainers())(
  'the panel updates itself, refuses what is not signed, goes back by itself, and a download goes on',
  async (t) => {
    t.timeout(20 * 60_000);
    const packages = await folderFor(t);
    const base = await packageIn(packages);
    const first = /^weir-(.+)-linux-/.exec(basename(base))?.[1] ?? '';
    const releases = await ReleaseServer.open(t);
    const table = 'CREATE TABLE upgrade_probe (id INTEGER PRIMARY KEY)';
    const pack = async (variant: Variant) => {
      const folder = await writeVariant(base, variant);
      const path = join(dirname(base), await packVariant(folder));
      const bytes = await readFile(path);
      releases.reply(`/${basename(path)}`, (_, response) => {
        response.writeHead(200, { 'content-length': bytes.length });
        createReadStream(path).pipe(response);
      });
      const file = {
        platform: `linux-${process.arch}`,
        url: basename(path),
        size: (await stat(path)).size,
        sha256: sha256(bytes),
      };
      return releaseOf(variant.version, bytes, { files: [file] as never });
    };
    const better = await pack({ version: '90.0.1', migrations: [table] });
    const failing = await pack({
      version: '90.0.2',
      migrations: [table, 'INSERT INTO upgrade_probe SELECT 1 FROM clients UNION ALL SELECT 1 FROM clients'],
      essential: true,
    });
    const throwing = await pack({
      version: '90.0.3',
      migrations: [table, 'ALTER TABLE upgrade_probe ADD COLUMN other TEXT'],
      // Not on a copy, so that the trial finds nothing.
      start: "if (dataDirectory === '/var/lib/weir') throw new Error('it cannot start');",
    });

    const port = await freePort();
    const container = await Container.boot(t, packages, {
      '/etc/weir.env': `WEIR_PANEL_PORT=${port}
WEIR_SUB_PORT=${await freePort()}
WEIR_SUB_HOST=127.0.0.1
WEIR_BASE_PATH=/
WEIR_ADMIN_USERNAME=${ADMIN.username}
WEIR_ADMIN_PASSWORD="${ADMIN.password}"
WEIR_ENGINE_PRIVATE=allow
WEIR_OUTGOING_ALLOW=${releases.allowed}
`,
    });
    const done = async (line: string, code = 0) => {
      const ended = await container.run(line);
      t.log(`${line}\n${ended.said}`);
      t.is(ended.code, code, ended.said);
      return ended.said;
    };
    const current = () => readlink(join(container.root, 'opt/weir/current')).then((path) => basename(path));
    await done(`sh /packages/${basename(base)}/install.sh`);
    await done(
      'systemctl is-enabled weir-update.path weir-update.service && systemctl is-active weir-update.path',
    );
    const panel = new InstalledPanel(port);
    await panel.login();
    await panel.addClient('ann', [await panel.addInbound()]);
    await panel.get('/panel/api/setting/update', {
      body: { updateSource: releases.url, updateKey: releases.key.publicText },
    });
    releases.publish([throwing]);

    const begin = (body: object = {}) =>
      panel.call<{ runId: string }>('/panel/api/server/updatePanel', { body });
    // A setting is not enough to become root.
    const untrusted = await begin();
    t.is(untrusted.status, 409);
    t.regex(untrusted.body.msg, /root trusts no key: write WEIR_UPDATE_KEY/);
    await done(
      `echo 'WEIR_UPDATE_KEY=${releases.key.publicText}' >>/etc/weir.env && systemctl restart weir && sleep 1`,
    );
    await done('until weir health; do sleep 0.2; done');
    await panel.login();

    const coreOf = async () => (await done('grep -lx xray /proc/[0-9]*/comm')).trim();
    const core = await coreOf();
    const server = await openPatientServer(t);
    const user = await connect(t, panel, 'ann', server);
    const bytes = 512 * MIB;
    const transfer = user.start(bytes);
    await counted(panel, 'ann', MIB);

    const status = () => panel.get<Status>('/panel/api/server/getUpdateStatus');
    const ended = async (runId: string): Promise<Status> => {
      let last: Status | undefined;
      await until(async () => {
        // The panel restarts meanwhile, and sessions stay.
        last = await status().catch(() => undefined);
        return last?.runId === runId && last.state !== 'pending';
      }, 'the update is over');
      t.log(last);
      return last as Status;
    };
    const update = async (body: object = {}): Promise<Status> => {
      const answer = await begin(body);
      t.is(answer.status, 200, answer.text);
      t.is((await begin()).status, 409, 'one at a time');
      return ended(answer.body.obj.runId);
    };

    const back = await update();
    t.is(back.state, 'failed');
    t.regex(back.reason, /it cannot start.*is back/s);
    t.is(await current(), first);
    t.is(await coreOf(), core);

    releases.publish([failing]);
    const refused = await update();
    t.is(refused.state, 'failed');
    t.regex(refused.reason, /on a copy of the database: .*0002-probe[\s\S]*nothing was changed/);
    t.is(await current(), first);

    // Somebody else signs, and sends an older index.
    const forger = newKey();
    releases.publish([better], {}, (index) =>
      signatureOf(index, { ...forger, id: releases.key.id }, 'forged'),
    );
    t.regex((await begin()).body.msg, /the signature does not match/);
    releases.publish([better], { number: 1 });
    t.regex((await begin()).body.msg, /it is an older one|is an older one: it has the number 1/);
    // What is changed in the data folder after the panel verified it is found by root.
    await done('systemctl stop weir-update.path');
    releases.publish([better], { number: 50 });
    const changed = (await begin()).body.obj.runId;
    await until(async () => (await status()).step === 'hand over', 'root is asked');
    await done(
      'until test -e /var/lib/weir/updates/request.json; do sleep 0.1; done; echo x >>/var/lib/weir/updates/package.tar.gz && systemctl start weir-update.path weir-update.service',
    );
    t.regex((await ended(changed)).reason, /is not a file, or too large/);
    t.is(await current(), first);

    // Killed with all that it started, right after the switch.
    releases.publish([better], { number: 51 });
    const cut = (await begin()).body.obj.runId;
    await until(async () => (await current()) === '90.0.1', 'the link leads to the new release');
    await done('systemctl kill --signal=KILL weir-update.service');
    const success = await ended(cut);
    t.is(success.state, 'success', success.reason);
    t.is(await current(), '90.0.1');
    t.is(await coreOf(), core, 'the core runs on');
    await done('weir check --deep');
    t.is(
      (await panel.get<{ currentVersion: string }>('/panel/api/server/getPanelUpdateInfo')).currentVersion,
      '90.0.1',
    );

    t.true(transfer.soFar < bytes, 'the download ran all the while');
    server.hurry();
    t.is(await transfer.ended, bytes);
    const total = await counted(panel, 'ann', bytes);
    t.true(total >= bytes && total < bytes + MIB / 2, `counted ${total} of ${bytes}`);
    await done('weir rollback --database');
    t.is(await current(), first);
    await done('systemctl is-active weir-update.path');
    await done('sh /opt/weir/current/uninstall.sh && test ! -e /etc/systemd/system/weir-update.path');
  },
);
