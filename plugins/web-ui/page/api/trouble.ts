// Why a call failed, as a person needs it: what happened, what to do, and a code to copy.
import { type Issue, PanelFailure, PanelUnreachable } from '../../../../sdk/failure.js';
import type { MessageKey } from '../language/message-key.js';

export interface Trouble {
  /** what happened, and what to do */
  readonly text: MessageKey;
  /** in the words of the panel; blank if it said nothing that helps */
  readonly said: string;
  /** to copy, and to search for: code, status, id of the request */
  readonly code: string;
  /** whether the same call can succeed a moment later */
  readonly isPassing: boolean;
  /** ms to wait, if the panel said it */
  readonly waitMs: number | undefined;
}

const LONGEST_SAID = 400;

/** What is wrong with a field, for a place beside it: the panel begins with its path, which says nothing there. */
export function saidAt(issue: Issue): string;
export function saidAt(issue: Issue | undefined): string | undefined;
export function saidAt(issue: Issue | undefined): string | undefined {
  if (!issue) return undefined;
  const { path, message } = issue;
  const rest = path !== '' && message.startsWith(path) ? message.slice(path.length) : '';
  return /^(?: |: )/.test(rest) ? rest.replace(/^:? /, '') : message;
}

export function troubleOf(error: unknown): Trouble {
  if (error instanceof PanelUnreachable)
    return {
      text: error.mayBeDone ? 'trouble.maybeDone' : 'trouble.unreachable',
      said: '',
      code: error.reason,
      isPassing: true,
      waitMs: undefined,
    };
  if (error instanceof PanelFailure) return troubleOfFailure(error);
  return {
    text: 'trouble.page',
    said: error instanceof Error ? error.message.slice(0, LONGEST_SAID) : String(error),
    code: error instanceof Error ? error.name : 'error',
    isPassing: false,
    waitMs: undefined,
  };
}

function troubleOfFailure(failure: PanelFailure): Trouble {
  const { status, code, requestId, retryAfterMs: waitMs, message, issues } = failure;
  const common = { code: [code || status, requestId].filter(Boolean).join(' '), waitMs };
  // A proxy in front of the panel answered, or something else is at this address.
  if (code === '') return { ...common, text: 'trouble.foreign', said: '', isPassing: true };
  const fields = issues.map((issue) => `${issue.path}: ${saidAt(issue)}`).join('\n');
  const said = (fields || message).slice(0, LONGEST_SAID);
  if (status === 404) return { ...common, text: 'trouble.missing', said, isPassing: false };
  if (status === 429) return { ...common, text: 'trouble.tooMany', said, isPassing: true };
  if (status >= 500) return { ...common, text: 'trouble.panel', said, isPassing: true };
  return { ...common, text: 'trouble.refused', said, isPassing: false };
}

const ABSENT = ['KERNEL_NOT_FOUND', 'KERNEL_PLUGIN_OFF', 'ACCESS_NO_PERMISSION'];
/** Whether there is no such route for this admin: the plugin that serves it does not run, or the role does not allow it. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof PanelFailure && ABSENT.includes(error.code);
