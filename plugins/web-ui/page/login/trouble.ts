// Why a login failed, and what to do.
import { PanelFailure, PanelUnreachable } from '../../../../sdk/failure.js';
import type { MessageKey } from '../language/message-key.js';

export interface LoginTrouble {
  readonly text: MessageKey;
  /** blank where the sentence says it all */
  readonly code: string;
  readonly waitMs: number | undefined;
}

/** `hadCode`: the form asked for a code of the second factor. */
export function loginTroubleOf(error: unknown, hadCode: boolean): LoginTrouble {
  if (error instanceof PanelUnreachable)
    return { text: 'trouble.unreachable', code: error.reason, waitMs: undefined };
  if (!(error instanceof PanelFailure))
    return { text: 'trouble.page', code: String(error), waitMs: undefined };
  const { code, status, retryAfterMs: waitMs, requestId } = error;
  if (code === 'ACCESS_WRONG_LOGIN')
    return { text: hadCode ? 'login.wrongWithCode' : 'login.wrong', code: '', waitMs };
  if (status === 429) return { text: 'login.tooMany', code: '', waitMs };
  if (code === 'KERNEL_INVALID') return { text: 'login.invalid', code: '', waitMs };
  const copied = [code || status, requestId].filter(Boolean).join(' ');
  return { text: code === '' ? 'trouble.foreign' : 'trouble.panel', code: copied, waitMs };
}
