// From where users are connected, by the core's own statistics: they also name users whom the access log does not (http,
// socks, hysteria over UDP), and count open connections. Loopback addresses are never in them.
import protobuf from 'protobufjs/light.js';
import type { OnlineUser } from '../driver.js';
import type { CoreApi } from './api.js';
import { eachMessage } from './each-message.js';
import { decode } from './messages.js';

const BEGIN = 'user>>>';
const END = '>>>online';
/** Calls at a time: each takes the core a third of a millisecond. */
const AT_ONCE = 8;

/** `pick` chooses among the names of all users who are connected: each costs one call. */
export async function readOnline(
  api: CoreApi,
  pick: (names: readonly string[]) => readonly string[],
): Promise<OnlineUser[]> {
  const names: string[] = [];
  await eachMessage(await api.onlineUsers(), 1, (bytes) => {
    const full = protobuf.util.utf8.read(bytes, 0, bytes.length);
    if (full.startsWith(BEGIN) && full.endsWith(END)) names.push(full.slice(BEGIN.length, -END.length));
  });
  const picked = pick(names);
  const users: OnlineUser[] = [];
  for (let at = 0; at < picked.length; at += AT_ONCE)
    users.push(...(await Promise.all(picked.slice(at, at + AT_ONCE).map((name) => addressesOf(api, name)))));
  return users;
}

async function addressesOf(api: CoreApi, name: string): Promise<OnlineUser> {
  const addresses: string[] = [];
  // An entry of a map is a message of key and value, like a counter of name and value.
  await eachMessage(await api.onlineAddresses(`${BEGIN}${name}${END}`), 2, (bytes) =>
    addresses.push(decode('xray.app.stats.command.Stat', bytes).name),
  );
  return { name, addresses };
}
