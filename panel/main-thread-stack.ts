// Reads the stack of the main thread from another thread while the main thread is busy. Node's inspector interrupts
// a loop for a few milliseconds, and no port is opened for it.
import { type Debugger, Session } from 'node:inspector';

/** Replies arrive only while this thread has something to do. */
const STIR_MS = 20;
/** Most steps to take until the code is not Node's own. */
const MOST_STEPS = 20;

export interface Paused {
  /** as in the stack of an error */
  readonly stack: string;
  /** Runs this in the main thread, which stays paused. */
  evaluate(expression: string): void;
}

/**
 * Pauses the main thread as soon as it runs JavaScript, calls `look`, and lets it continue. A call that does not return
 * (such as waiting for a child process) cannot be interrupted: `look` is called after it, with the code that made the call.
 */
export function pauseMainThread(look: (paused: Paused) => unknown): void {
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  let steps = 0;
  const stir = setInterval(() => undefined, STIR_MS);
  const end = (): void => {
    clearInterval(stir);
    session.disconnect();
  };
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    // Between two steps of a loop that never yields (`for (;;) await undefined`).
    const isOurs = params.callFrames.some(
      ({ location }) => !urls.get(location.scriptId)?.startsWith('node:'),
    );
    if (!isOurs && steps++ < MOST_STEPS) return session.post('Debugger.stepInto');
    look({
      stack: params.callFrames.map((frame) => lineOf(frame, urls)).join('\n'),
      evaluate: (expression) => session.post('Runtime.evaluate', { expression }),
    });
    session.post('Debugger.resume', end);
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
}

function lineOf({ functionName, location }: Debugger.CallFrame, urls: ReadonlyMap<string, string>): string {
  const place = `${urls.get(location.scriptId) ?? ''}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1}`;
  return functionName === '' ? `    at ${place}` : `    at ${functionName} (${place})`;
}
