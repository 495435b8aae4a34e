// Goes back to the release before the last upgrade, on request.
import { isSame } from './put-back.js';
import { goBack, type Machine } from './switch-release.js';

const problem = 'rolled back on request';

/** `database`: the database of before the upgrade comes back if migrations ran. Resolves with the exit code of the command. */
export async function rollBack(machine: Machine, database: boolean): Promise<number> {
  const { installation, applied, complain } = machine;
  const current = await installation.current();
  const record = await installation.record('upgraded.json');
  if (record && record.from === current) {
    // A rollback was killed after the link: the database is back already, and has perhaps been written to since.
    await goBack(machine, { ...record, applied: await applied(), problem });
    await installation.forget('upgraded.json');
    return 0;
  }
  if (!record || record.to !== current) {
    const last = await installation.record('upgrade.json');
    complain(
      last?.state === 'under way' && last.to === current
        ? `the upgrade to ${current} was interrupted; \`weir upgrade --release ${current}\` finishes it, or goes back to ${last.from}`
        : `there is no upgrade to ${current} to go back from`,
    );
    return 1;
  }
  if (!(await installation.releases()).includes(record.from)) {
    complain(`the release ${record.from} is not in ${installation.root}/releases any more`);
    return 1;
  }
  if (!isSame(record.applied, await applied()) && !database) {
    complain(
      `migrations ran since ${new Date(record.at).toISOString()}; nothing was changed. With --database the database of that time comes back, and what was changed since is lost`,
    );
    return 1;
  }
  await goBack(machine, { ...record, problem });
  await installation.forget('upgraded.json');
  return 0;
}
