// The panel as the bench starts it: the same program, which also says what cannot be seen from outside. At SIGPWR it writes
// a line: when calls that change the core, or its own program, were under way, and how long its event loop was blocked, since the last line. At
// SIGIO it collects its garbage: what a scene takes in memory begins at what is alive.
import childProcess from 'node:child_process';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Channel } from '../../plugins/engine/xray/channel.js';
import { COLLECTED, FIGURES, type Figures, HELD, now } from './figures.js';

const CHANGES =
  /HandlerService\/(?:AlterInbound|AddInbound|RemoveInbound|AddOutbound|RemoveOutbound|ListOutbounds)$|RoutingService/;
/** How often the loop is looked at; what it reports is longer by as much. */
const RESOLUTION_MS = 5;
/** A bulk call makes few of them: calls that overlap are one. */
const MOST_SPANS = 20_000;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let spans: [begin: number, end: number][] = [];
let calls = 0;
let open = 0;
let began = 0;

function begin(): void {
  calls += 1;
  if (open === 0) began = now();
  open += 1;
}
function end(): void {
  open -= 1;
  if (open === 0 && spans.length < MOST_SPANS) spans.push([began, now()]);
}

const { call } = Channel.prototype;
Channel.prototype.call = async function (this: Channel, ...given: Parameters<typeof call>) {
  if (!CHANGES.test(given[0])) return call.apply(this, given);
  begin();
  try {
    return await call.apply(this, given);
  } finally {
    end();
  }
};

// The core's program tests and converts configs.
const { execFile } = childProcess;
childProcess.execFile = ((...given: Parameters<typeof execFile>) => {
  begin();
  return execFile(...given).once('close', end);
}) as typeof execFile;
syncBuiltinESMExports();

/** Of the main thread, in ms. */
const cpu = (): number => Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6;
const LOOK_MS = 10;
let heldMs = 0;
if (process.env[HELD] === 'on') {
  let last = cpu();
  setInterval(() => {
    const used = cpu();
    heldMs = Math.max(heldMs, used - last);
    last = used;
  }, LOOK_MS);
}

process.on('SIGPWR', () => {
  const figures: Figures = { spans, calls, heldMs, blockedMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS) };
  process.stdout.write(`${JSON.stringify({ level: 'info', msg: FIGURES, ...figures })}\n`);
  spans = [];
  calls = 0;
  heldMs = 0;
  delay.reset();
});

process.on('SIGIO', () => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  process.stdout.write(`${JSON.stringify({ level: 'info', msg: COLLECTED })}\n`);
});

await import('../harness/panel-entry.js');
