// The thread that reads the body of one list; see BodyReader.
import { parentPort, workerData } from 'node:worker_threads';
import { BodyError, type BodyItem, bodyItems } from './body-items.js';

export interface BodyTask {
  readonly body: Uint8Array;
  readonly most: number;
}
/** Each is handled in one piece by the receiver. */
export type BodyNews =
  | { readonly items: readonly BodyItem[] }
  | { readonly problem: string }
  | { readonly done: true };

/** Items of one message, and their characters. */
const AT_ONCE = 50;

const send = (news: BodyNews): void => parentPort?.postMessage(news);

const { body, most } = workerData as BodyTask;
try {
  let items: BodyItem[] = [];
  for (const item of bodyItems(body, most)) {
    if (items.push(item) < AT_ONCE) continue;
    send({ items });
    items = [];
  }
  send({ items });
  send({ done: true });
} catch (error) {
  send({ problem: error instanceof BodyError ? error.message : 'it could not be read' });
}
