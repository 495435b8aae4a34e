// The thread that watches the panel's only one. It writes to standard output by itself: the other one cannot.
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { createLog } from './log.js';
import { BEAT, DEBUGGED, type WatchData, type WatchNews } from './loop-watch.js';
import { pauseMainThread, type Paused } from './main-thread-stack.js';
import { PLUGIN_ENDED_PROCESS } from './own-exit.js';
import { notePluginEnd } from './plugin-ends.js';
import { pluginIn } from './plugin-files.js';

const LOOKS_PER_LIMIT = 6;
/** A process that does not end when it is told to is ended by force. */
const FORCE_AFTER_MS = 2_000;
/** A loop is interrupted at once. */
const PAUSED_WITHIN_MS = 1_000;

const { beats, readable, limits, directory } = workerData as WatchData;
const log = createLog({
  level: 'info',
  readable,
  write: (line) => {
    try {
      writeSync(1, line);
    } catch {
      // A log that cannot be written is no reason for anything.
    }
  },
});
let news: WatchNews = { plugins: [], startedAt: 0 };
parentPort?.on('message', (message: WatchNews) => (news = message));

const STEP_MS = limits.loop / LOOKS_PER_LIMIT;
let seen = beats[BEAT];
/** Own steps since the last beat. Not the clock: when the whole process was stopped, nobody was late. */
let still = 0;

const secondsStill = (): number => Math.round((still * STEP_MS) / 1000);
const linesOf = (stack: string): string[] => stack.split('\n').map((line) => line.trim());

/** Whether the line with the stack has been written. */
let noticed = false;

function notice({ stack }: Paused): void {
  const plugin = pluginIn(stack, news.plugins);
  noticed = true;
  log.error(
    plugin ? 'a plugin keeps the whole panel waiting' : 'the whole panel waits for something that takes long',
    { ...(plugin && { plugin: plugin.name }), seconds: secondsStill(), stack: linesOf(stack) },
  );
}

function end({ stack, evaluate }: Paused): void {
  const plugin = pluginIn(stack, news.plugins);
  // What is not known to be a plugin's may be work that is wanted.
  if (!plugin) return;
  const seconds = secondsStill();
  log.error('a plugin kept the whole panel waiting for too long; the process ends', {
    plugin: plugin.name,
    seconds,
    exitCode: PLUGIN_ENDED_PROCESS,
    stack: linesOf(stack),
  });
  if (Date.now() - still * STEP_MS - news.startedAt < limits.early)
    notePluginEnd(directory, plugin, `it kept the whole panel waiting for ${seconds} s`);
  evaluate(`process[Symbol.for('weir.end')](${PLUGIN_ENDED_PROCESS})`);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), FORCE_AFTER_MS);
}

setInterval(() => {
  const beat = beats[BEAT];
  if (beat !== seen || beats[DEBUGGED] === 1) {
    if (still >= LOOKS_PER_LIMIT) log.warn('the panel goes on', { waitedSeconds: secondsStill() });
    still = 0;
    noticed = false;
  } else still++;
  seen = beat;
  if (still === LOOKS_PER_LIMIT) pauseMainThread(notice);
  if (still === LOOKS_PER_LIMIT + 1 && !noticed)
    log.error('the whole panel waits for a call that does not return', { seconds: secondsStill() });
  if (still === Math.ceil(limits.endless / STEP_MS)) {
    const asked = performance.now();
    // A call that did return by itself in the end is over.
    pauseMainThread((paused) => performance.now() - asked < PAUSED_WITHIN_MS && end(paused));
  }
}, STEP_MS);
