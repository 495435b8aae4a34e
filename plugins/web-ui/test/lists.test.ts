// Subscriptions to lists of outbounds: what the form sends, and what a row says.
import test from 'ava';
import { linesOf, named } from '../page/routing/link-lines.js';
import {
  listState,
  NEW_LIST,
  type OutboundList,
  placeOfList,
  secondsOf,
  sentList,
  typedList,
} from '../page/routing/list-words.js';

const LIST = {
  id: 1,
  url: 'https://user:pass@lists.example:8443/a/b?token=secret',
  remark: 'Exits',
  tagPrefix: 'exit-',
  updateInterval: 3601,
  enabled: true,
  allowPrivate: true,
  allowInsecure: false,
  prepend: false,
  lastUpdated: 0,
  lastError: '',
} as OutboundList;

test('an interval is typed in minutes, and none is lost by rounding', (t) => {
  t.is(secondsOf('10'), 600);
  t.is(secondsOf(' 1,5 '), 90);
  t.is(secondsOf('1'), 60);
  t.is(secondsOf('43200'), 30 * 24 * 3600);
  for (const wrong of ['', '0', '0.9', '43200.1', '43201', '-1', '1e3', 'x'])
    t.is(secondsOf(wrong), undefined, wrong);
  for (let seconds = 60; seconds < 4000; seconds++)
    t.is(secondsOf(typedList({ ...LIST, updateInterval: seconds }).minutes), seconds);
});

test('all of a new list is sent, but no blank beginning of tags', (t) => {
  t.deepEqual(sentList({ ...NEW_LIST, url: ' https://lists.example/ ' }), {
    url: 'https://lists.example/',
    remark: '',
    updateInterval: 600,
    allowPrivate: false,
    allowInsecure: false,
    prepend: false,
  });
  t.like(sentList({ ...NEW_LIST, tagPrefix: 'a-' }), { tagPrefix: 'a-' });
  t.is(sentList({ ...NEW_LIST, minutes: '' }), undefined);
});

test('of a list that is there, only what was changed is sent', (t) => {
  const before = typedList(LIST);
  t.deepEqual(sentList(before, before), {});
  t.deepEqual(sentList({ ...before, remark: '', prepend: true, minutes: '1' }, before), {
    remark: '',
    prepend: true,
    updateInterval: 60,
  });
});

test('the address of a list is shown without its secrets', (t) => {
  t.is(placeOfList(LIST.url), 'lists.example:8443/a/b?…');
  t.is(placeOfList('not an address'), '');
});

test('a row says whether a list is used, fetched, or has something to say', (t) => {
  t.is(listState(LIST), 'waiting');
  t.is(listState({ ...LIST, lastUpdated: 5 }), 'good');
  t.is(listState({ ...LIST, lastUpdated: 5, lastError: 'no' }), 'said');
  t.is(listState({ ...LIST, enabled: false, lastError: 'no' }), 'off');
});

test('pasted links are read once each, and get tags that are free', (t) => {
  t.deepEqual(linesOf(' a\r\n\n b \na'), ['a', 'b']);
  const list = [{ tag: 'Far' }, { tag: 'vless' }];
  t.deepEqual(named(list, ' Far ', { protocol: 'vless', x: 1 }), { tag: 'Far-2', protocol: 'vless', x: 1 });
  t.like(named(list, '', { protocol: 'vless' }), { tag: 'vless-2' });
  t.is(String(named(list, 'x'.repeat(500), {})['tag']).length, 128);
});
