// The cookies of a request.
import cookieParser from 'cookie-parser';
import type { Request, Response } from 'express';

const read = cookieParser();

/** One cookie, from the header of a connection that is no HTTP request any more. */
export const cookieOf = (header: string | undefined, wanted: string): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim().split('='))
    .find(([name]) => name === wanted)?.[1];

export function cookiesOf(request: Request, response: Response): Record<string, string> {
  if (request.headers.cookie === undefined) return {};
  read(request, response, () => undefined);
  // cookie-parser turns `j:` cookies into objects that the caller controls.
  return Object.fromEntries(
    Object.entries(request.cookies as Record<string, unknown>).filter(
      (pair): pair is [string, string] => typeof pair[1] === 'string',
    ),
  );
}
