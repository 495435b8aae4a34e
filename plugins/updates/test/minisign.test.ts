// The format against files of minisign 0.11: `minisign -G -W`, then -S, with -l for the older kind.
import test from 'ava';
import { readPublicKeys, verifySignature } from '../minisign.js';
import { newSigningKey, readSigningKey, signatureOf } from '../signing-key.js';

const CONTENT = Buffer.from('{"hello":1}\n');
const PUBLIC = `untrusted comment: minisign public key 8D3D92B6CDDF1F9C
RWScH9/NtpI9jRHl6I4/zovfSRwINZxPQ8c1JR5iCQuE7+ZMz0WJ+l41
`;
/** Made for this test. */
const SECRET = `untrusted comment: minisign encrypted secret key
RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAnB/fzbaSPY0Em/33YeXq/HU0CPdwHBzstJFsE4Nxh03GqxV/URcyfxHl6I4/zovfSRwINZxPQ8c1JR5iCQuE7+ZMz0WJ+l41AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
`;
const SIGNATURE = `untrusted comment: signature from minisign secret key
RUScH9/NtpI9jdgqWy1BZMdw0L6DNcpTndhSG2DR5OS2agqQbUVCKcbiWI5A12dR/IrGPwol3u3k01GhRZn082cCutfWb/9CDAo=
trusted comment: a comment
b4fJrBm5bg0gmoVwABT6WrlDiIxPNhB/IaO4kz5co7+lg/UQBODOPjoOmdkTPjXt1rUbLS/daJYI/4HPPpNzBw==
`;
const LEGACY = `untrusted comment: signature from minisign secret key
RWScH9/NtpI9jXkSOvkO/IiG2EKAD7oD3GVb+Rlg4+4SDxvfvBlUVuXh9Xzu78Ra6uV/e3XNQXQfKrAar3pIkF+RlZhqFOv2HAQ=
trusted comment: old kind
O9aNnJA2NyamCxx0h8cl80UGk6QBZPkNcRCMHCSLxM162BGotq4FGZ1ZSWXzfKbAKqRC3hbsraqjVtOAUEzJCw==
`;
const keys = readPublicKeys(PUBLIC);

test('verifies signatures of minisign, of both kinds', (t) => {
  t.deepEqual(verifySignature(CONTENT, SIGNATURE, keys), { key: '8D3D92B6CDDF1F9C', comment: 'a comment' });
  t.deepEqual(verifySignature(CONTENT, LEGACY, keys), { key: '8D3D92B6CDDF1F9C', comment: 'old kind' });
  t.is(verifySignature(CONTENT, SIGNATURE.replaceAll('\n', '\r\n'), keys).comment, 'a comment');
  t.throws(() => verifySignature(Buffer.from('{"hello":2}\n'), SIGNATURE, keys), {
    message: /does not match/,
  });
  t.throws(() => verifySignature(Buffer.from('{"hello":2}\n'), LEGACY, keys), { message: /does not match/ });
});

test('signs as minisign does, with its key', (t) => {
  const key = readSigningKey(SECRET);
  t.is(key.publicText, PUBLIC.split('\n')[1] ?? '');
  // Ed25519 is deterministic.
  t.deepEqual(signatureOf(CONTENT, key, 'a comment').split('\n').slice(1), SIGNATURE.split('\n').slice(1));
});

test('signs with a key in PEM', (t) => {
  const key = readSigningKey(newSigningKey());
  const { comment } = verifySignature(
    CONTENT,
    signatureOf(CONTENT, key, 'mine'),
    readPublicKeys(key.publicText),
  );
  t.is(comment, 'mine');
});

test('says why a key cannot sign', (t) => {
  const locked = Buffer.from(SECRET.split('\n')[1] ?? '', 'base64');
  locked.write('Sc', 2, 'latin1');
  t.throws(() => readSigningKey(`comment\n${locked.toString('base64')}\n`), { message: /has a password/ });
  t.throws(() => readSigningKey('hello'), { message: /neither a private key in PEM nor/ });
  t.throws(() => signatureOf(CONTENT, readSigningKey(SECRET), 'two\nlines'), { message: /one line/ });
});
