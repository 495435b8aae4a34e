// The pages that plugins add, and the calls that their frames ask for.
import { queryOptions } from '@tanstack/react-query';
import { limitedText } from '../api/limited-text.js';
import { panelUrl, session, weir } from '../api/panel.js';
import type { Answered } from './bridge.js';

/** bytes */
const MOST_ANSWER = 4 * 1024 * 1024;

export const pluginPagesQuery = queryOptions({
  queryKey: ['plugins', 'pages'],
  queryFn: ({ signal }) => weir.webUi.pages({ signal }),
  staleTime: 60_000,
});
export type ShownPage = Awaited<ReturnType<typeof weir.webUi.pages>>[number];

/** The title in the language of the reader, or the English one. */
export const titleIn = ({ titles }: Pick<ShownPage, 'titles'>, language: string): string =>
  (titles.find((title) => title.language === language) ?? titles.find((title) => title.language === 'en'))
    ?.text ?? '';

/** Sends a call of a frame, which the bridge has checked, with the session of the admin. */
export async function sendCall(
  method: string,
  path: string,
  body: string | undefined,
  signal: AbortSignal,
): Promise<Answered> {
  const response = await session.fetch(new URL(`panel/api/${path}`, panelUrl), {
    method,
    redirect: 'error',
    signal,
    ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
  });
  const text = await limitedText(response, MOST_ANSWER);
  if (text === undefined) throw new Error('the answer is too long');
  return { status: response.status, body: JSON.parse(text) as unknown };
}
