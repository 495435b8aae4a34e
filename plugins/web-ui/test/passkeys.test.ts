// The logic of passkeys in the page.
import test from 'ava';
import { deviceTroubleOf, impossibleHere } from '../page/passkeys/device.js';

test('where there can be no passkeys', (t) => {
  const at = (hostname: string, isSecureContext = true) => impossibleHere({ hostname, isSecureContext });
  t.is(at('192.0.2.1'), 'passkeys.needsName');
  t.is(at('[2001:db8::1]'), 'passkeys.needsName');
  t.is(at('panel.example.com', false), 'passkeys.needsName');
  // Node has no authenticators, as some browsers have none.
  t.is(at('panel.example.com'), 'passkeys.unsupported');
});

test('exceptions of the device have words', (t) => {
  const named = (name: string) => Object.assign(new Error('x'), { name });
  t.is(deviceTroubleOf(named('NotAllowedError')), 'passkeys.cancelled');
  t.is(deviceTroubleOf(named('InvalidStateError')), 'passkeys.taken');
  t.is(deviceTroubleOf(named('TypeError')), undefined);
  t.is(deviceTroubleOf('odd'), undefined);
});
