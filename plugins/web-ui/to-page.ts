// The paths that people type: they lead a browser to the page, and stay unknown to programs.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Whether a browser navigates; false for programs, and for what a page loads. */
export const asksForPage = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  (headers.accept ?? '').includes('text/html');

export const toPage = {
  async send(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (!asksForPage(request)) return false;
    response.statusCode = 302;
    // Relative, so that it is right below each base path and behind a proxy that changes paths.
    response.setHeader('Location', 'panel/');
    response.setHeader('Cache-Control', 'no-store');
    response.end();
    return true;
  },
};
