// Patterns for user agents: regular expressions in the syntax of RE2 (Go), without back references and lookarounds. A
// match takes time in proportion to the text, whatever the pattern is; JavaScript's own engine may take minutes.
import { parsePattern, type Node } from './pattern-syntax.js';

type Step =
  | { readonly op: 'char'; readonly fits: (code: number) => boolean }
  | { readonly op: 'split'; readonly to: readonly [number, number] }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'edge'; readonly edge: 'start' | 'end' | 'word' | 'inside' }
  | { readonly op: 'match' };

/** Steps of one pattern: a match visits each at most once per character. */
const MOST_STEPS = 2000;
/** Characters of an agent that count; longer ones are cut. */
export const LONGEST_AGENT = 256;

export interface Pattern {
  test(text: string): boolean;
  /** what a character of the text costs at most */
  readonly steps: number;
}

/** Throws with a sentence that says what is wrong. */
export function compilePattern(source: string): Pattern {
  const steps: Step[] = [];
  const add = (step: Step): number => {
    if (steps.length >= MOST_STEPS) throw new Error('it is too large; use smaller repetitions');
    return steps.push(step) - 1;
  };
  const write = (node: Node): void => {
    switch (node.kind) {
      case 'char':
        add({ op: 'char', fits: node.fits });
        return;
      case 'edge':
        add({ op: 'edge', edge: node.edge });
        return;
      case 'all':
        for (const part of node.parts) write(part);
        return;
      case 'any': {
        const jumps: { op: 'jump'; to: number }[] = [];
        for (const [i, part] of node.parts.entries()) {
          const isLast = i === node.parts.length - 1;
          const to: [number, number] = [0, 0];
          if (!isLast) to[0] = add({ op: 'split', to }) + 1;
          write(part);
          if (isLast) continue;
          const jump = { op: 'jump' as const, to: 0 };
          jumps.push(jump);
          to[1] = add(jump) + 1;
        }
        for (const jump of jumps) jump.to = steps.length;
        return;
      }
      case 'repeat': {
        for (let i = 0; i < node.least; i++) {
          const before = steps.length;
          write(node.part);
          // Nested repetitions of nothing would add up to hours, and no limit of steps would end them.
          if (steps.length === before) return;
        }
        if (node.most === Infinity) {
          const to: [number, number] = [0, 0];
          const at = add({ op: 'split', to });
          write(node.part);
          add({ op: 'jump', to: at });
          to[0] = at + 1;
          to[1] = steps.length;
          return;
        }
        for (let i = node.least; i < node.most; i++) {
          const to: [number, number] = [0, 0];
          to[0] = add({ op: 'split', to }) + 1;
          write(node.part);
          to[1] = steps.length;
        }
      }
    }
  };
  write(parsePattern(source));
  add({ op: 'match' });
  return { test: (text) => run(steps, text.slice(0, LONGEST_AGENT)), steps: steps.length };
}

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;

/** Follows all ways through the steps at once (Pike). */
function run(steps: readonly Step[], text: string): boolean {
  const seen = new Int32Array(steps.length).fill(-1);
  let now: number[] = [];
  const reach = (from: number, at: number, into: number[]): boolean => {
    const waiting = [from];
    for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
      if (seen[here] === at) continue;
      seen[here] = at;
      const step = steps[here] as Step;
      if (step.op === 'match') return true;
      if (step.op === 'char') into.push(here);
      else if (step.op === 'jump') waiting.push(step.to);
      else if (step.op === 'split') waiting.push(step.to[1], step.to[0]);
      else if (isEdge(step.edge, text, at)) waiting.push(here + 1);
    }
    return false;
  };
  for (let at = 0; at <= text.length; at++) {
    // It may begin anywhere.
    if (reach(0, at, now)) return true;
    if (at === text.length) return false;
    const code = text.charCodeAt(at);
    const next: number[] = [];
    for (const here of now)
      if ((steps[here] as Step & { op: 'char' }).fits(code) && reach(here + 1, at + 1, next)) return true;
    now = next;
  }
  return false;
}

function isEdge(edge: 'start' | 'end' | 'word' | 'inside', text: string, at: number): boolean {
  if (edge === 'start') return at === 0;
  if (edge === 'end') return at === text.length;
  const isBoundary = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
  return isBoundary === (edge === 'word');
}
