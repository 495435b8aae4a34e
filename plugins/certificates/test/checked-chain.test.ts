import test from 'ava';
import { issue as sign, selfSigned } from '../../../test/harness/self-signed.js';
import { checkChain, readChain } from '../checked-chain.js';

const root = sign({ name: 'root', isAuthority: true });
const leaf = sign({ name: 'leaf', hosts: ['a.example', 'b.example'], issuer: root, until: 30 });
const names = ['a.example', 'b.example'];
const chain = leaf.cert + root.cert;
const now = Date.now();

test('only the certificate that was ordered is taken', (t) => {
  const checked = checkChain(chain, { names, key: leaf.key }, now);
  t.is(checked.chain, chain);
  t.is(checked.issuer, 'root');
  t.regex(checked.serial, /^[0-9a-f]{18}$/);
  t.is(checkChain(leaf.cert, { names: ['a.example'], key: leaf.key }, now).chain, leaf.cert);
  // Text around it has no place in a file that programs read.
  t.is(checkChain(`${chain}\n\n`, { names, key: leaf.key }, now).chain, chain);
  const stranger = sign({ name: 'stranger', isAuthority: true });
  for (const [what, text, ordered, problem] of [
    ['another key', chain, { names, key: selfSigned().key }, /it is for another key/],
    ['another name', chain, { names: [...names, 'c.example'], key: leaf.key }, /it is not for c\.example/],
    ['a part of a name', chain, { names: ['x.a.example'], key: leaf.key }, /it is not for x\.a\.example/],
    ['its common name only', chain, { names: ['leaf'], key: leaf.key }, /it is not for leaf/],
    ['the wrong order', root.cert + leaf.cert, { names, key: leaf.key }, /another key/],
    [
      'a stranger above it',
      leaf.cert + stranger.cert,
      { names, key: leaf.key },
      /certificate 2 of its chain did not sign/,
    ],
    [
      'one of the same name above it',
      leaf.cert + sign({ name: 'root', isAuthority: true }).cert,
      { names, key: leaf.key },
      /did not sign/,
    ],
    ['a private key', chain + leaf.key, { names, key: leaf.key }, /not a chain of certificates/],
    ['a page', '<html>', { names, key: leaf.key }, /not a chain of certificates/],
    ['nothing', '', { names, key: leaf.key }, /not a chain of certificates/],
    ['many', leaf.cert.repeat(11), { names, key: leaf.key }, /its chain has 11 certificates/],
    ['very much', leaf.cert.repeat(1000), { names, key: leaf.key }, /more than 256 KiB/],
    [
      'broken',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      { names, key: leaf.key },
      /certificate 1 of its chain is not valid/,
    ],
  ] as const)
    t.throws(() => checkChain(text, ordered, now), { message: problem }, what);
});

test('a new certificate is valid now; one on the disk may have ended', (t) => {
  const day = 86_400_000;
  const ordered = { names, key: leaf.key };
  t.throws(() => checkChain(chain, ordered, now + 31 * day), { message: /it expired at/ });
  t.throws(() => checkChain(chain, ordered, now - 2 * day), {
    message: /not valid before .*; check the clock/,
  });
  t.is(checkChain(chain, ordered, now - day - 1_800_000).chain, chain, 'clocks differ');
  t.is(readChain(chain, ordered).chain, chain);
});
