// A JSON text that somebody types: its document, or the line of the fault.
import { isRecord, type Values } from './schema.js';
import { jsonOf } from './values.js';

export interface ParsedText {
  readonly document?: Values;
  /** of the fault, from 1 on */
  readonly line?: number;
}

export function parseDocument(text: string): ParsedText {
  const document = jsonOf(text)?.value;
  if (isRecord(document)) return { document };
  return { line: document === undefined ? faultLine(text) : 1 };
}

/** Whether the text is wrong already, and not only too short. */
function isWrong(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    const said = error instanceof Error ? error.message : '';
    const position = /position (\d+)/.exec(said)?.[1];
    return position === undefined ? !/end of|unterminated/i.test(said) : Number(position) < text.length;
  }
}

/** Browsers do not always say where a fault is: the first line with which the text is wrong. */
function faultLine(text: string): number {
  const lines = text.split('\n');
  let [low, high] = [1, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isWrong(lines.slice(0, middle).join('\n'))) high = middle;
    else low = middle + 1;
  }
  return low;
}
