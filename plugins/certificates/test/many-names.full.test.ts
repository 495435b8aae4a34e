// Runs a certificate authority. As many names as a certificate can have: the calls stay within the limits of `outgoing`, and
// the panel goes on meanwhile.
import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { testUnless } from '../../../test/harness/left-out.js';
import { OrderingPanel } from './ordering-panel.js';
import { authorityMissing, Pebble } from './pebble.js';

const issuing = testUnless(authorityMissing());

for (const challenge of ['http-01', 'tls-alpn-01'] as const)
  issuing(`issues a certificate for 100 names by ${challenge}`, async (t) => {
    await using pebble = await Pebble.start();
    await using world = await OrderingPanel.boot(pebble);
    const names = Array.from({ length: 100 }, (_, i) => `n${i}.example.com`);
    const { id } = await world.add({ names, challenge });
    let longest = 0;
    const timer = setInterval(() => {
      const began = performance.now();
      void stat('/').then(() => (longest = Math.max(longest, performance.now() - began)));
    }, 20);
    const began = Date.now();
    const said = await world.panel.call(`/panel/api/x/certificates/${id}/issue`, { body: {} });
    clearInterval(timer);
    t.log(`${challenge}: ${Date.now() - began} ms; a file waited ${Math.round(longest)} ms at most`);
    // The keys of 100 proofs are not made at once: files and the database share their threads.
    t.true(longest < 3000, `a file waited ${longest} ms`);
    t.is(said.status, 200, said.text.slice(0, 500));
    const issued = await world.one(id);
    t.is(issued.state, 'valid', issued.lastError);
    const leaf = new X509Certificate(await readFile(issued.certificateFile));
    for (const name of names) t.is(leaf.checkHost(name), name);
  });
