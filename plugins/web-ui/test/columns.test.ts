// The columns of the list of clients as a preference.
import test from 'ava';
import { columnsOf, fitting, preferenceOf, templateOf } from '../page/clients/columns.js';

test('a blank preference means the usual columns, and the usual columns are a blank preference', (t) => {
  t.deepEqual(columnsOf(''), ['state', 'usage', 'ends', 'seen']);
  t.is(preferenceOf(['seen', 'ends', 'usage', 'state']), '');
});

test('columns keep the order of the list, and unknown ones are left out', (t) => {
  t.deepEqual(columnsOf('created,bird,state'), ['state', 'created']);
  t.is(preferenceOf(['created', 'comment']), 'comment,created');
});

test('the choice of no column is kept', (t) => {
  t.not(preferenceOf([]), '');
  t.deepEqual(columnsOf(preferenceOf([])), []);
});

test('a page of middle width shows three of them', (t) => {
  const chosen = columnsOf('state,usage,ends,seen,comment');
  t.deepEqual(fitting(chosen, true), ['state', 'usage', 'ends']);
  t.is(fitting(chosen, false).length, 5);
  const widths = (isMedium: boolean) =>
    templateOf(fitting(chosen, isMedium), isMedium).split(/ (?![^(]*\))/).length;
  t.is(widths(true), 5);
  t.is(widths(false), 7);
});
