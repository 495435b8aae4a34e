// Replaces the program of the core while the panel runs: tested before the running core is touched, and the previous
// program runs again when the new one does not serve.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../kernel/index.js';
import { type CoreDriver, CoreRefused, CoreUnreachable } from '../driver.js';
import type { Plan } from '../config/plan.js';

/** `back`: the new program did not serve, and the previous one starts again. */
export type SwapStep = 'test' | 'stop' | 'start' | 'check' | 'back';

/** What a swap needs of the supervisor. Each call is made inside the supervisor's queue. */
export interface SwappableCore {
  /** with its version; undefined while there is no core */
  readonly previous: { readonly driver: CoreDriver; readonly version: string } | undefined;
  /** whether the core should run now; false after an admin has stopped it */
  readonly isWanted: boolean;
  isRunning(): boolean;
  plan(): Promise<Plan>;
  /** Asks plugins whether the core may be restarted; rejects when one refuses. */
  ask(plan: Plan): Promise<void>;
  /** Stops the running core after a last poll. */
  stop(driver: CoreDriver): Promise<void>;
  start(driver: CoreDriver): Promise<void>;
  /** Makes this the driver from now on; undefined: there is no core. */
  take(core: { readonly driver: CoreDriver; readonly version: string } | undefined): void;
  /** Number of inbounds that the running core rejects. */
  rejected(): number;
  failed(error: unknown): void;
}

/** Some programs die of their config a moment after they have answered. */
const SETTLE_MS = 1500;
const LOOK_EVERY_MS = 50;

/** Rejects with CoreRefused when only the new core rejects the config; what both reject is not the fault of the new one. */
async function requireAccepted(
  next: CoreDriver,
  { base, inbounds }: Plan,
  previous: CoreDriver | undefined,
): Promise<void> {
  try {
    await next.test(base, [...inbounds.values()]);
  } catch (error) {
    if (!(error instanceof CoreRefused)) throw error;
    const acceptedBefore = await previous?.test(base, [...inbounds.values()]).then(
      () => true,
      (before: unknown) => !(before instanceof CoreRefused),
    );
    if (acceptedBefore ?? true) throw error;
    await next.test(base, []);
  }
}

async function prove(core: SwappableCore, next: CoreDriver, rejectedBefore: number): Promise<void> {
  await next.checkApi?.();
  for (const until = Date.now() + SETTLE_MS; Date.now() < until; await sleep(LOOK_EVERY_MS))
    if (!core.isRunning()) throw new CoreUnreachable('it exited right after its start');
  if (core.rejected() > rejectedBefore) throw new CoreRefused('it rejects inbounds that served before');
}

async function goBack(core: SwappableCore, next: CoreDriver): Promise<void> {
  const { previous } = core;
  await core.stop(next).catch(() => undefined);
  core.take(previous);
  if (previous) await core.start(previous.driver);
}

/**
 * Resolves with the version of the new core when it runs and answers; when the core is stopped, after the test. Rejects
 * with the reason otherwise; the previous core then runs again, or is retried as after a crash.
 */
export async function swapCore(
  core: SwappableCore,
  next: CoreDriver,
  onStep: (step: SwapStep) => void | Promise<void>,
): Promise<string> {
  const { previous } = core;
  await onStep('test');
  const version = await next.version();
  const plan = await core.plan();
  await requireAccepted(next, plan, previous?.driver);
  if (!core.isWanted) {
    core.take({ driver: next, version });
    return version;
  }
  const rejectedBefore = core.rejected();
  if (core.isRunning()) await core.ask(plan);
  await onStep('stop');
  if (previous)
    await core.stop(previous.driver).catch((error: unknown) => {
      core.failed(error);
      throw error;
    });
  core.take({ driver: next, version });
  try {
    await onStep('start');
    await core.start(next);
    await onStep('check');
    await prove(core, next, rejectedBefore);
    return version;
  } catch (error) {
    await Promise.resolve(onStep('back')).catch(() => undefined);
    try {
      await goBack(core, next);
    } catch (again) {
      core.failed(again);
      throw new Error(
        `${messageOf(error)}; the previous core does not start either and is retried: ${messageOf(again)}`,
        { cause: error },
      );
    }
    throw error;
  }
}
