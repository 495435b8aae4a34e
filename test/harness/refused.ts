// Bad input: a call must be refused in so many words, and must leave everything as it was.
import type { ExecutionContext } from 'ava';
import type { CallOptions, PanelApi } from './api.js';

export interface Refused {
  readonly status: number;
  readonly code: string;
  /** must be among the paths of `issues`, and its last part in the message that goes with it */
  readonly field?: string;
  /** must be in `msg` */
  readonly says?: string;
}
interface Failure {
  readonly success: boolean;
  readonly msg: string;
  readonly code: string;
  readonly requestId: string;
  readonly obj: { readonly issues: readonly { readonly path: string; readonly message: string }[] } | null;
}

/** All that an admin can see, as one text. */
export async function everything(panel: PanelApi): Promise<string> {
  const inbounds = await panel.get<{ id: number }[]>('/panel/api/inbounds/list');
  const whole = await Promise.all(inbounds.map(({ id }) => panel.get(`/panel/api/inbounds/get/${id}`)));
  const clients = await panel.get('/panel/api/clients/list/paged?pageSize=200');
  const settings = await panel.get('/panel/api/setting/all', { method: 'POST' });
  const tokens = await panel.get('/panel/api/setting/apiTokens');
  return JSON.stringify({ inbounds, whole, clients, settings, tokens }, undefined, 1);
}

/** The call fails as described and nothing has changed by it. */
export async function refused(
  t: ExecutionContext,
  panel: PanelApi,
  path: string,
  options: CallOptions,
  { status, code, field, says }: Refused,
): Promise<void> {
  const label = `${path} ${String(options.rawBody ?? JSON.stringify(options.body)).slice(0, 200)}`;
  const before = await everything(panel);
  const answer = await panel.call(path, options);
  const body = JSON.parse(answer.text) as Failure;
  t.is(answer.status, status, `${label}: ${answer.text.slice(0, 500)}`);
  t.is(body.code, code, label);
  t.false(body.success, label);
  t.regex(body.requestId, /^[0-9a-f-]{36}$/, label);
  t.not(body.msg, '', label);
  if (field !== undefined) {
    const issue = body.obj?.issues.find((found) => found.path === field);
    t.truthy(issue, `${label}: no issue about ${field} in ${answer.text.slice(0, 500)}`);
    t.true(
      status !== 400 || issue?.message.includes(field.split('.').at(-1) ?? field),
      `${label}: the message does not name ${field}: ${issue?.message}`,
    );
    t.true(body.msg.includes(issue?.message ?? '?'), `${label}: msg "${body.msg}" does not carry the issue`);
  }
  if (says !== undefined) t.true(body.msg.includes(says), `${label}: "${body.msg}" does not say "${says}"`);
  t.is(await everything(panel), before, `${label} changed something`);
}
