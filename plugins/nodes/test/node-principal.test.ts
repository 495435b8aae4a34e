// What a token of the kind `node` opens, whatever its path looks like.
import { request } from 'node:http';
import test from 'ava';
import { boot, portOf, tokenOf } from './world.js';

/** Sends the path as it is. */
function status(port: number, token: string, method: string, path: string, body = '{}'): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(method === 'GET' ? undefined : body);
  });
}

test('a node token cannot reach other routes by way of the path', async (t) => {
  const { panel } = await boot(t);
  const token = await tokenOf(panel, 'node');
  const ask = (method: string, path: string) => status(portOf(panel), token, method, path);
  t.is(await ask('GET', '/panel/api/server/status'), 200);
  const api = '/panel/api';
  for (const path of [
    `${api}/clients/bulkDel#/detach`,
    `${api}/clients/bulkDel;/detach`,
    `${api}/clients/bulkDel?/detach`,
    `${api}/inbounds/import#/resetTraffic`,
    `${api}/x/node/#/../../setting/update`,
    `${api}/x/node/%2e%2e/%2e%2e/setting/update`,
    `${api}/x/node/../../setting/update`,
    `/panel//api/setting/update`,
    `${api}/setting/update`,
    `${api}/x/node/centrals/release`,
    `${api}/x/node/centrals/release#`,
    `${api}/x/node/centrals/%72elease`,
    `${api}/x/node/%63entrals/release`,
  ])
    t.true([403, 404].includes(await ask('POST', path)), path);
  for (const path of [
    `${api}/x/node/centrals`,
    `${api}/x/node/centrals/`,
    `${api}/x/node/centrals#x`,
    `${api}/x/node/%63entrals`,
  ])
    t.true([403, 404].includes(await ask('GET', path)), path);
  for (const path of [
    `${api}/setting/all`,
    `${api}/clients/list`,
    `${api}/server/getDb`,
    `${api}/nodes/list`,
  ])
    t.true([403, 404].includes(await ask('GET', path)), path);
});
