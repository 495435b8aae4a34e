// The thread that watches the panel's main thread. It writes to standard output by itself, because the main thread cannot.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from './log.js';
import { BEAT, DEBUGGED, type WatchData, type WatchNews } from './loop-watch.js';
import { pauseMainThread, type Paused } from './main-thread-stack.js';
import { PLUGIN_ENDED_PROCESS } from './exit-guard.js';
import { recordPluginExit } from './plugin-exits.js';
import { pluginIn } from './plugin-files.js';

const LOOKS_PER_LIMIT = 6;
/** A process that has not exited by then is killed. */
const FORCE_AFTER_MS = 2_000;
/** A loop is interrupted at once; a pause that comes later is not a loop. */
const PAUSED_WITHIN_MS = 1_000;

const { beats, readable, limits, directory } = workerData as WatchData;
const log = createLog({
  level: 'info',
  readable,
  write: (line) => {
    try {
      writeSync(1, line);
    } catch {
      // A log that cannot be written must not stop the watch.
    }
  },
});
let news: WatchNews = { plugins: [], startedAt: 0 };
parentPort?.on('message', (message: WatchNews) => (news = message));

const STEP_MS = limits.loop / LOOKS_PER_LIMIT;
let seen = beats[BEAT];
/** Steps of this thread since the last beat. The clock would count a time in which the whole process was suspended. */
let still = 0;

const secondsStill = (): number => Math.round((still * STEP_MS) / 1000);
const linesOf = (stack: string): string[] => stack.split('\n').map((line) => line.trim());

/** Whether the line with the stack has been written. */
let noticed = false;

function notice({ stack }: Paused): void {
  const plugin = pluginIn(stack, news.plugins);
  noticed = true;
  log.error(plugin ? 'a plugin blocks the event loop' : 'a long task blocks the event loop', {
    ...(plugin && { plugin: plugin.name }),
    seconds: secondsStill(),
    stack: linesOf(stack),
  });
}

function end({ stack, evaluate }: Paused): void {
  const plugin = pluginIn(stack, news.plugins);
  // A block that no plugin is known to cause may be wanted work.
  if (!plugin) return;
  const seconds = secondsStill();
  log.error('a plugin blocked the event loop for too long; exiting', {
    plugin: plugin.name,
    seconds,
    exitCode: PLUGIN_ENDED_PROCESS,
    stack: linesOf(stack),
  });
  if (Date.now() - still * STEP_MS - news.startedAt < limits.early)
    recordPluginExit(directory, plugin, `it blocked the event loop for ${seconds} s`);
  evaluate(`process[Symbol.for('weir.end')](${PLUGIN_ENDED_PROCESS})`);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), FORCE_AFTER_MS);
}

setInterval(() => {
  const beat = beats[BEAT];
  if (beat !== seen || beats[DEBUGGED] === 1) {
    if (still >= LOOKS_PER_LIMIT) log.warn('the event loop runs again', { waitedSeconds: secondsStill() });
    still = 0;
    noticed = false;
  } else still++;
  seen = beat;
  if (still === LOOKS_PER_LIMIT) pauseMainThread(notice);
  if (still === LOOKS_PER_LIMIT + 1 && !noticed)
    log.error('a call that does not return blocks the event loop', { seconds: secondsStill() });
  if (still === Math.ceil(limits.endless / STEP_MS)) {
    const asked = performance.now();
    // A call that has returned by now needs no exit.
    pauseMainThread((paused) => performance.now() - asked < PAUSED_WITHIN_MS && end(paused));
  }
}, STEP_MS);
