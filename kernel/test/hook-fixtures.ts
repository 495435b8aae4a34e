// One hook of each kind, and a registry whose plugins note their faults.
import { after, choose, draft, event, filter, guard, type Log, num, word } from '../index.js';
import { HookRegistry } from '../hooks/registry.js';
import { FakeClock } from '../../test/harness/fake-clock.js';
import { PluginInstance } from '../plugin/instance.js';
import { bare } from './world.js';

export const beforeSail = guard<{ readonly ship: string }>('fleet/beforeSail');
export const composeCargo = draft<string, { readonly ship: string }>('fleet/composeCargo', word());
export const price = filter<number, { readonly ship: string }>('fleet/price', num());
export const choosePilot = choose<string, string>('fleet/choosePilot', word());
export const afterSail = after<string>('fleet/afterSail');
export const sailed = event<string>('fleet/sailed');
export const fleetHooks = [beforeSail, composeCargo, price, choosePilot, afterSail, sailed];

/** A registry and plugins that tap it, each with its own record of faults. */
export function hookFixtures() {
  const registry = new HookRegistry();
  registry.declare('fleet', fleetHooks);
  const log: { name: string; where?: unknown; message?: string; warned?: string }[] = [];
  const clock = new FakeClock();
  const plugin = (name: string, essential = false): PluginInstance => {
    const noted: Log = {
      debug: () => undefined,
      info: () => undefined,
      child: () => noted,
      warn: (warned) => void log.push({ name, warned }),
      error: (_message, data) =>
        void log.push({
          name,
          ...(data &&
            'where' in data && {
              where: data.where,
              message: ((data as { error?: Error }).error as Error).message,
            }),
        }),
    };
    const instance = new PluginInstance(bare(name, { essential }), noted, clock);
    instance.state = 'running';
    return instance;
  };
  return {
    registry,
    log,
    clock,
    plugin,
    faults: () =>
      log
        .filter(({ where }) => where !== undefined)
        .map(({ name, where, message: text }) => ({ name, where, message: text })),
  };
}
export const crash = () => {
  throw new Error('out of coal');
};
