// What protocols add to the selection list, and what becomes of it when a third-party protocol fails.
import test from 'ava';
import type { Inbound, Protocol } from '../contract.js';
import { guardedProtocol } from '../contributed/guarded-protocol.js';
import { optionOf } from '../option.js';
import { vless } from '../protocols/vless.js';
import { FRESH } from '../schema.js';
import { protocolProblem } from '../contributed/shapes.js';

const inbound = { ...FRESH, id: 1, protocol: 'acme', port: 1 } as Inbound;
const acme = (parts: Partial<Protocol>): Protocol => ({ ...vless, name: 'acme', ...parts });
const shownBy = (protocol: Protocol) =>
  optionOf(inbound, { takesFlow: () => false, protocol: () => protocol });
const PLAIN = {
  awgServer: null,
  tuicServer: null,
  mtprotoDomain: '',
  wgDns: '',
  wgMtu: 0,
  wgPublicKey: '',
};

test('an option has the fields of its protocol, and the initial ones of all others', (t) => {
  t.like(shownBy(acme({})), { ...PLAIN, nodeId: null, nodeAddress: '', network: 'tcp', security: 'none' });
  const option = () => ({ wgPublicKey: 'KEY', wgMtu: 1420, awgServer: { subnetCidr: 24 } });
  t.like(shownBy(acme({ option })), { ...PLAIN, ...option() });
});

test('a third-party protocol that answers something else is named, and its inbound is shown', (t) => {
  const faults: string[] = [];
  const guarded = (parts: object) =>
    guardedProtocol({
      value: acme(parts),
      plugin: 'acme',
      fault: (where: string) => void faults.push(where),
    } as never);
  const wrong = [
    { option: () => ({ wgMtu: 'many' }) },
    { option: () => 5 },
    {
      option: () => {
        throw new Error('no');
      },
    },
  ];
  for (const parts of wrong) t.like(shownBy(guarded(parts)), PLAIN);
  t.deepEqual(
    faults,
    wrong.map(() => 'option of the protocol acme'),
  );
  t.false('privateKey' in shownBy(guarded({ option: () => ({ privateKey: 'k' }) })));
  t.throws(() => guarded({ l4: () => ['sctp'] }).l4?.(inbound));
  t.throws(() => guarded({ clientless: () => 5 }).clientless?.({}));
  t.deepEqual(guarded({ l4: () => [], note: () => 'n' }).l4?.(inbound), []);
  t.regex(
    protocolProblem(acme({ option: 5 } as never)) ?? '',
    /option of the protocol acme must be a function/,
  );
});
