import {
  command,
  contribute,
  definePlugin,
  Projections,
  provide,
  Refusal,
  singleton,
} from '../../kernel/index.js';
import { AllChecks } from './checks.js';
import { InvariantChecks, Invariants } from './contract.js';
import { memoryMatches } from './memory.js';
import { indexesMatch, referencesLead } from './references.js';

export default definePlugin({
  name: 'invariants',
  version: '0.1.0',
  api: 1,
  about: 'Checks that database, memory and core agree.',
  uses: { projections: Projections },
  services: { checks: singleton(AllChecks) },
  provides: ({ checks }) => [provide(InvariantChecks, checks)],
  contributes: ({ projections, db }) => [
    contribute(Invariants, indexesMatch(db)),
    contribute(Invariants, referencesLead(db)),
    contribute(Invariants, memoryMatches(projections)),
  ],
  commands: ({ checks }) => [
    command({
      name: 'invariants',
      about:
        'Compares database, memory and core, and lists what disagrees. Changes nothing; `weir check --deep` runs it.',
      example: 'weir invariants',
      run: async ({ say, signal }) => {
        const all = await checks.run(signal, ({ plugin, name, fix, found, count, skipped }) => {
          const result = count > 0 ? `${count} disagree` : skipped === '' ? 'ok' : `not checked: ${skipped}`;
          say(`${plugin.padEnd(14)} ${name}: ${result}`);
          for (const sentence of found) say(`  - ${sentence}`);
          if (count > found.length) say(`  - and ${count - found.length} more`);
          if (count > 0) say(`  the way out: ${fix}`);
        });
        const wrong = all.filter(({ count, skipped }) => count > 0 || skipped.startsWith('the check failed'));
        if (wrong.length > 0) throw new Refusal(`${wrong.length} of ${all.length} checks found something`);
      },
    }),
  ],
});
