import test from 'ava';
import { inboundAt, socketName } from '../contract.js';

test('a socket has one name: without mode and padding', (t) => {
  t.is(socketName('/run/a.sock,0660'), '/run/a.sock');
  t.is(socketName('@@a'), '@a');
  t.is(socketName('127.0.0.1'), undefined);
  t.is(socketName(443), undefined);
});

test('the name of an abstract socket may end like a mode', (t) => {
  t.is(socketName('@a,1'), '@a,1');
  t.is(inboundAt('@a', [{ listen: '@a,1', port: 0 }]), undefined);
});
