// Changes to a reply besides its value: its status, headers and cookies.
import type { Response } from 'express';

export interface CookieOptions {
  readonly maxAge?: number;
  readonly httpOnly?: boolean;
}

export interface ReplyTools {
  status(code: number): void;
  header(name: string, value: string): void;
  /** The kernel sets SameSite=Lax, path and Secure; `maxAge` in ms. */
  cookie(name: string, value: string, options: CookieOptions): void;
  clearCookie(name: string): void;
  /** Call it whenever long work has made progress: a connection on which nothing happens is cut after half a minute. */
  progressed(): void;
}

/** A cookie is set and cleared under all of `namesOf` its name. */
export const replyTools = (
  response: Response,
  path: string,
  secure: boolean,
  namesOf: (name: string) => readonly string[],
): ReplyTools => ({
  status: (code) => void response.status(code),
  header: (name, value) => void response.setHeader(name, value),
  cookie: (name, value, { maxAge, httpOnly = true }) => {
    const options = {
      path,
      secure,
      httpOnly,
      sameSite: 'lax',
      ...(maxAge !== undefined && { maxAge }),
    } as const;
    for (const each of namesOf(name)) response.cookie(each, value, options);
  },
  clearCookie: (name) => {
    for (const each of namesOf(name)) response.clearCookie(each, { path, sameSite: 'lax' });
  },
  // The timer of the socket begins again.
  progressed: () => void response.socket?.setTimeout(response.socket.timeout ?? 0),
});
