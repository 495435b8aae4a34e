// Fetches subscriptions at a steady rate, each of another client.
import { Agent, get } from 'node:http';
import { pace, serve, Tally } from './child.js';

export interface FetchesStart {
  readonly url: string;
  readonly subIds: readonly string[];
  readonly perSecond: number;
}

const agent = new Agent({ keepAlive: true });
const tally = new Tally();
let paced: ReturnType<typeof pace> | undefined;

const fetchOne = (url: string): Promise<void> =>
  new Promise((resolve) => {
    const began = performance.now();
    const fail = (why: string) => {
      tally.failed(`fetch: ${why}`);
      resolve();
    };
    const ask = (again: boolean): void => {
      const request = get(url, { agent }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.once('end', () => {
          if (response.statusCode !== 200 || bytes === 0)
            return fail(`${response.statusCode}, ${bytes} bytes`);
          tally.did(performance.now() - began);
          resolve();
        });
      });
      // A server may close a kept connection at the moment at which it is used again.
      request.once('error', (error) => {
        if (request.reusedSocket && again) ask(false);
        else fail(error.message);
      });
    };
    ask(true);
  });

serve<FetchesStart>({
  async start({ url, subIds, perSecond }) {
    paced = pace(perSecond, () => fetchOne(url + subIds[Math.floor(Math.random() * subIds.length)]));
  },
  tell: () => tally.take(),
  finish: async () => paced?.stop(),
});
