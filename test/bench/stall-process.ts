// Fetches one URL over and over, all the time, and knows the longest wait since it was last asked.
import { Agent, get } from 'node:http';

type Headers = Readonly<Record<string, string>>;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
let began = performance.now();
const lookAt = (waited: number) => (longest = Math.max(longest, waited));

function fetchNext(url: string, headers: Headers): void {
  began = performance.now();
  const next = () => {
    lookAt(performance.now() - began);
    began = performance.now();
    setTimeout(fetchNext, 1, url, headers);
  };
  get(url, { agent, headers }, (response) => void response.resume().once('end', next)).once('error', next);
}

process.on('message', (message: { readonly url?: string; readonly headers?: Headers }) => {
  if (message.url !== undefined) return fetchNext(message.url, message.headers ?? {});
  lookAt(performance.now() - began);
  process.send?.(longest);
  longest = 0;
  began = performance.now();
});
