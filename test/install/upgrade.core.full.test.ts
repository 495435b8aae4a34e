// A package on a machine that has only systemd: installed, upgraded, rolled back and removed, while a user downloads.
import { readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ADMIN } from '../harness/api.js';
import { freePort } from '../harness/free-port.js';
import { testUnless } from '../harness/left-out.js';
import { until } from '../harness/until.js';
import { connect, counted, MIB } from '../engine/user.js';
import { openPatientServer } from './patient-server.js';
import { Container, missingForContainers } from './container.js';
import { InstalledPanel, packageIn } from './installed-panel.js';
import { packVariant, writeVariant } from './package-variant.js';
import { folderFor } from '../harness/folder-for.js';

testUnless(await missingForContainers())(
  'a package installs, upgrades and goes back under systemd, and a download goes on and is counted once',
  async (t) => {
    t.timeout(15 * 60_000);
    const packages = await folderFor(t);
    const base = await packageIn(packages);
    const first = /^weir-(.+)-linux-/.exec(basename(base))?.[1] ?? '';
    const table = 'CREATE TABLE upgrade_probe (id INTEGER PRIMARY KEY)';
    const better = await writeVariant(base, { version: '90.0.1', migrations: [table] });
    const wrong = await writeVariant(base, {
      version: '90.0.4',
      migrations: [table, 'SELECT nothing FROM nowhere'],
    });
    const failing = await writeVariant(base, {
      version: '90.0.2',
      // The last one succeeds on an empty database, such as that of a dry run.
      migrations: [
        table,
        'ALTER TABLE upgrade_probe ADD COLUMN name TEXT',
        'INSERT INTO upgrade_probe SELECT 1, 2 FROM clients UNION ALL SELECT 1, 2 FROM clients',
      ],
      essential: true,
    });
    const throwing = await writeVariant(base, {
      version: '90.0.3',
      migrations: [table, 'ALTER TABLE upgrade_probe ADD COLUMN other TEXT'],
      // Not on a copy of the database, so that the dry run finds nothing.
      start: "if (dataDirectory === '/var/lib/weir') throw new Error('it cannot start');",
    });
    const file = await packVariant(better);

    const port = await freePort();
    const container = await Container.boot(t, packages, {
      '/etc/weir.env': `WEIR_PANEL_PORT=${port}
WEIR_SUB_PORT=${await freePort()}
WEIR_SUB_HOST=127.0.0.1
WEIR_BASE_PATH=/
WEIR_ADMIN_USERNAME=${ADMIN.username}
WEIR_ADMIN_PASSWORD="${ADMIN.password}"
WEIR_ENGINE_PRIVATE=allow
`,
    });
    const done = async (line: string, code = 0) => {
      const ended = await container.run(line);
      t.log(`${line}\n${ended.said}`);
      t.is(ended.code, code, ended.said);
      return ended.said;
    };
    const current = () => readlink(join(container.root, 'opt/weir/current')).then((path) => basename(path));
    t.is((await container.run('command -v node npm gcc go')).said, '', 'the machine has none of these');

    // As an installation that was cut off: the same command finishes it.
    await done(`sh /packages/${basename(base)}/install.sh --no-start`);
    await done(`sh /packages/${basename(base)}/install.sh`);
    await done('systemctl is-enabled weir');
    t.is(await current(), first);
    const panel = new InstalledPanel(port);
    await panel.login();
    await panel.addClient('ann', [await panel.addInbound()]);
    const { subId } = await panel.get<{ subId: string }>('/panel/api/clients/get/ann');
    const settings = await panel.get<{ subPath: string; subPort: number }>('/panel/api/setting/all', {
      method: 'POST',
    });
    const fetched = await fetch(`http://127.0.0.1:${settings.subPort}${settings.subPath}${subId}`);
    t.is(fetched.status, 200, 'the subscription');
    const coreOf = async () => (await done('grep -lx xray /proc/[0-9]*/comm')).trim();
    const core = await coreOf();

    const server = await openPatientServer(t);
    const user = await connect(t, panel, 'ann', server);
    const bytes = 512 * MIB;
    const transfer = user.start(bytes);
    await counted(panel, 'ann', MIB);

    await done(`weir upgrade /packages/${file}`);
    t.is(await current(), '90.0.1');
    t.is(await coreOf(), core, 'the core runs on');
    t.true(await user.served(), 'and serves');

    await panel.addClient('bob', [1]);
    t.regex(
      await done(`sh /packages/${basename(wrong)}/install.sh`, 1),
      /nothing was changed: Weir 90\.0\.4/,
    );
    t.regex(
      await done(`sh /packages/${basename(failing)}/install.sh`, 1),
      /on a copy of the database: [\s\S]*migration 0003-probe[\s\S]*nothing was changed/,
    );
    t.is(await current(), '90.0.1');
    t.is(await coreOf(), core);
    const emails = async () =>
      (await panel.get<{ email: string }[]>('/panel/api/clients/list')).map(({ email }) => email).sort();
    t.deepEqual(await emails(), ['ann', 'bob'], 'the change from just before the upgrade is there');
    t.regex(
      await done(`sh /packages/${basename(throwing)}/install.sh`, 1),
      /it cannot start[\s\S]*the database is that of .*before-migration-[\s\S]*Weir 90\.0\.1 is back/,
    );
    t.deepEqual(await emails(), ['ann', 'bob']);
    t.is(await coreOf(), core);
    await done('weir check --deep');

    // The database of the first release has no table of the probe.
    t.regex(await done('weir rollback', 1), /With --database the database of that time comes back/);
    await done('weir rollback --database');
    t.is(await current(), first);
    t.deepEqual(await emails(), ['ann'], 'what was changed since is lost, as the message says');

    t.true(transfer.soFar < bytes, 'the download ran all the while');
    server.hurry();
    t.is(await transfer.ended, bytes);
    const total = await counted(panel, 'ann', bytes);
    // A second that is counted twice, or not at all, is a MiB; the counter has headers as well.
    t.true(total >= bytes && total < bytes + MIB / 2, `counted ${total} of ${bytes}`);

    await done('systemctl restart weir && sleep 1 && until weir health; do sleep 0.2; done');
    t.is(await coreOf(), core, 'a restart of the service leaves the core running');

    await done('systemctl reload weir && weir health');

    // Killed at once after the switch: systemd finishes the restart, and the same command finishes the upgrade.
    const cut = container.start(`sh /packages/${basename(better)}/install.sh`);
    const ended = new Promise((resolve) => cut.on('close', resolve));
    await until(async () => (await current()) === '90.0.1', 'the link leads to the new release');
    await done(
      'for p in /proc/[0-9]*; do if tr "\\0" " " <$p/cmdline | grep -q "weir.mjs [u]pgrade"; then kill -9 ${p#/proc/}; fi; done',
    );
    await ended;
    t.regex(await done(`sh /packages/${basename(better)}/install.sh`), /was interrupted; it goes on/);
    t.is(await coreOf(), core);
    t.deepEqual(await emails(), ['ann']);
    await done('systemctl restart weir && systemctl stop weir && sleep 1');
    t.is((await container.run('grep -lx xray /proc/[0-9]*/comm')).said, '', 'a stop right after a start');
    await done('systemctl start weir && until weir health; do sleep 0.2; done');
    // A panel that hangs cannot stop its core.
    await done('kill -STOP $(systemctl show -P MainPID weir)');
    await done(`sh /opt/weir/current/uninstall.sh`);
    t.is((await container.run('grep -lx xray /proc/[0-9]*/comm')).said, '', 'the core has stopped');
    await done('test ! -e /opt/weir && test -e /var/lib/weir/weir.sqlite');
  },
);
