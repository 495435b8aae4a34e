// Fetches subscriptions one after the other, all the time, and knows the longest wait since it was last asked.
import { Agent, get } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
let began = performance.now();
const lookAt = (waited: number) => (longest = Math.max(longest, waited));

function fetchNext(url: string): void {
  began = performance.now();
  const next = () => {
    lookAt(performance.now() - began);
    began = performance.now();
    setTimeout(fetchNext, 1, url);
  };
  get(url, { agent }, (response) => void response.resume().once('end', next)).once('error', next);
}

process.on('message', (message: { readonly url?: string }) => {
  if (message.url !== undefined) return fetchNext(message.url);
  lookAt(performance.now() - began);
  process.send?.(longest);
  longest = 0;
  began = performance.now();
});
