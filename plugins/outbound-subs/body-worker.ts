// The thread that reads the body of one list; see BodyReader.
import { parentPort, workerData } from 'node:worker_threads';
import { BodyError, type BodyItem, bodyItems, valuesIn } from './body-items.js';

export interface BodyTask {
  readonly body: Uint8Array;
  readonly most: number;
}
/** Each is handled in one piece by the receiver. */
export type BodyNews =
  | { readonly items: readonly BodyItem[] }
  | { readonly problem: string }
  | { readonly done: true };

/** Items of one message, and their values. */
const MOST_ITEMS = 50;
const MOST_VALUES = 2000;

const send = (news: BodyNews): void => parentPort?.postMessage(news);

const { body, most } = workerData as BodyTask;
try {
  let items: BodyItem[] = [];
  let values = 0;
  for (const item of bodyItems(body, most)) {
    values += 'value' in item ? valuesIn(item.value) : 1;
    if (items.push(item) < MOST_ITEMS && values < MOST_VALUES) continue;
    send({ items });
    items = [];
    values = 0;
  }
  send({ items });
  send({ done: true });
} catch (error) {
  send({ problem: error instanceof BodyError ? error.message : 'it could not be read' });
}
