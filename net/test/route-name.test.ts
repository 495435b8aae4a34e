// Names of routes: by which programs call them, so no two may be alike, and none may stand where another has a group.
import test from 'ava';
import { areaOf, RouteNames } from '../route-name.js';
import type { Mounted } from '../../kernel/http/table.js';
import { message } from '../../kernel/http/reply.js';
import { route } from '../../kernel/http/route.js';

const mounted = (plugin: string, name: string | undefined, outside = false): Mounted => ({
  owner: { name: plugin, about: plugin, outside, isOff: false, offReason: '', fault: () => undefined },
  path: `/panel/api/${plugin}`,
  route: route({
    method: 'GET',
    path: `/panel/api/${plugin}`,
    ...(name !== undefined && { name }),
    doc: 'Does it.',
    reply: message(),
    handle: () => undefined,
  }),
});

function nameProblem(route: Mounted, others: readonly Mounted[]): string | undefined {
  const names = new RouteNames();
  for (const other of others) names.take(other);
  return names.take(route);
}

test('accepts a route without a name', (t) => {
  t.is(nameProblem(mounted('shop', undefined), [mounted('shop', 'shop.list')]), undefined);
  t.is(nameProblem(mounted('shop', 'shop.get'), [mounted('shop', 'shop.list')]), undefined);
  t.is(nameProblem(mounted('shop', 'shop.listAll'), [mounted('shop', 'shop.list')]), undefined);
});

test('a name has two or three words', (t) => {
  for (const name of ['list', 'shop.', 'Shop.list', 'shop.list-all', 'a.b.c.d', '', 'shop.1'])
    t.regex(nameProblem(mounted('my-shop', name), []) ?? '', /such as myShop\.list, not /, name);
  t.regex(nameProblem(mounted('shop', 7 as unknown as string), []) ?? '', /not 7/);
});

test('a conflicting name is rejected with the route that has it', (t) => {
  const other = [mounted('stock', 'shop.items.list')];
  for (const name of ['shop.items.list', 'shop.items'])
    t.is(
      nameProblem(mounted('shop', name), other),
      `its name ${name} is taken: stock has shop.items.list (GET /panel/api/stock); choose another`,
    );
  t.regex(nameProblem(mounted('shop', 'shop.items.list'), [mounted('stock', 'shop.items')]) ?? '', /taken/);
});

test('names of a third-party plugin begin with its own', (t) => {
  t.is(areaOf('acme-tally'), 'acmeTally');
  t.is(nameProblem(mounted('acme-tally', 'acmeTally.days', true), []), undefined);
  t.regex(
    nameProblem(mounted('acme-tally', 'clients.tally', true), []) ?? '',
    /clients\.tally must begin with acmeTally\., /,
  );
  t.regex(nameProblem(mounted('acme', 'acmeTally.days', true), []) ?? '', /must begin with acme\./);
});
