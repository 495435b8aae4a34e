// From where users are connected, by the core's own statistics: they also name users whom the access log does not (http,
// socks, hysteria over UDP), and count open connections. Loopback addresses are never in them.
import protobuf from 'protobufjs/light.js';
import type { OnlineUser } from '../driver.js';
import type { CoreApi } from './api.js';
import { eachMessage } from './each-message.js';
import { decode } from './messages.js';
import type { NameMark } from './name-mark.js';

const BEGIN = 'user>>>';
const END = '>>>online';
/** Calls at a time: each takes the core a third of a millisecond. */
const AT_ONCE = 8;

/** `pick` chooses among the names of all users who are connected: each costs one call. */
export async function readOnline(
  api: CoreApi,
  pick: (names: readonly string[]) => readonly string[],
  marks: Pick<NameMark, 'plain'>,
): Promise<OnlineUser[]> {
  /** the core's own names by ours; a login has no mark */
  const names = new Map<string, string>();
  await eachMessage(await api.onlineUsers(), 1, (bytes) => {
    const full = protobuf.util.utf8.read(bytes, 0, bytes.length);
    if (!full.startsWith(BEGIN) || !full.endsWith(END)) return;
    const name = full.slice(BEGIN.length, -END.length);
    names.set(marks.plain(name) ?? name, name);
  });
  const picked = pick([...names.keys()]);
  const users: OnlineUser[] = [];
  for (let at = 0; at < picked.length; at += AT_ONCE)
    users.push(
      ...(await Promise.all(
        picked
          .slice(at, at + AT_ONCE)
          .map(async (name) => ({ name, addresses: await addressesOf(api, names.get(name) ?? name) })),
      )),
    );
  return users;
}

async function addressesOf(api: CoreApi, name: string): Promise<string[]> {
  const addresses: string[] = [];
  // An entry of a map is a message of key and value, like a counter of name and value.
  await eachMessage(await api.onlineAddresses(`${BEGIN}${name}${END}`), 2, (bytes) =>
    addresses.push(decode('xray.app.stats.command.Stat', bytes).name),
  );
  return addresses;
}
