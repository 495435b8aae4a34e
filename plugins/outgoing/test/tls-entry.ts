// One call as a process of its own, because Node reads NODE_EXTRA_CA_CERTS at its start: URL, proxy.
import { fetchOf, nameServer } from './world.js';

const [url = '', proxy = ''] = process.argv.slice(2);
const { resolve } = nameServer({ 'panel.example.com': ['127.0.0.1'], 'other.example.com': ['127.0.0.1'] });
const fetch = fetchOf({
  hosts: ['*.example.com'],
  resolve,
  ...(proxy !== '' && { proxy }),
});
const answer = await fetch(url).then(
  (reply) => reply.text(),
  (error: Error) => error.message,
);
process.stdout.write(answer);
