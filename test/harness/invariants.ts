// Runs the checks of all plugins in a panel of this process, as `weir check --deep` does.
import { definePlugin, type Plugin } from '../../kernel/index.js';
import { type Checked, InvariantChecks, type InvariantsApi } from '../../plugins/invariants/contract.js';

export interface Invariants {
  /** to boot as a third-party one */
  readonly plugin: Plugin;
  run(): Promise<readonly Checked[]>;
  /** What disagrees, and what could not be checked for another reason than `because`; empty when all is well. */
  broken(because?: RegExp): Promise<string[]>;
}

export function invariants(): Invariants {
  let checks: InvariantsApi | undefined;
  const run = async (): Promise<readonly Checked[]> => {
    if (!checks) throw new Error('the panel has not started');
    return checks.run(new AbortController().signal);
  };
  return {
    plugin: definePlugin({
      name: 'test-invariants',
      version: '1.0.0',
      api: 1,
      about: 'For tests.',
      uses: { checks: InvariantChecks },
      start: (scope) => void (checks = scope.checks),
    }),
    run,
    broken: async (because = /no core runs|checks its own tables/) =>
      (await run()).flatMap(({ name, found, count, skipped }) =>
        count > 0 || (skipped !== '' && !because.test(skipped))
          ? [`${name}: ${count} ${skipped} ${found.join('; ')}`]
          : [],
      ),
  };
}
