// Inbounds become protobuf by the core's own program, users by our table: no credential leaves this process, and the
// size of the user list does not matter here.
import { readFile } from 'node:fs/promises';
import protobuf from 'protobufjs/light.js';
import { CoreRefused, type CoreInbound, type CoreUser } from '../driver.js';
import { encodeUser, kindOf } from './accounts.js';
import { SEND_LIMIT } from './api.js';
import { runCommand } from './command.js';
import { structureOf, type InboundWithUsers } from './config.js';
import type { EngineFolder } from './folder.js';
import { decode, type Messages } from './messages.js';
import { Pace, eachRecord } from './slices.js';

type Envelope = Messages['xray.core.InboundHandlerConfig'];

const CONFIG_INBOUND_FIELD = 1;

/** The inbound without users as AddInbound takes it. Rejects with CoreRefused, the inbound named. */
export async function convertInbound(
  binary: string,
  folder: EngineFolder,
  inbound: CoreInbound,
): Promise<Envelope> {
  const structure = structureOf(inbound);
  const found: Envelope[] = [];
  await folder.withTemporary(['.json', '.pb'], async (source = '', target = '') => {
    // the converter keeps the mode of a file that is there; the result may hold private keys
    await folder.write(target, []);
    await folder.write(source, [JSON.stringify({ inbounds: [structure] })]);
    await runCommand({
      binary,
      directory: folder.path,
      args: ['convert', 'pb', '-outpbfile', target, source],
      timeout: 20_000,
    });
    await eachRecord(await readFile(target), CONFIG_INBOUND_FIELD, (bytes) =>
      found.push(decode('xray.core.InboundHandlerConfig', bytes)),
    );
  });
  const [envelope] = found;
  const expected = kindOf(inbound.protocol)?.inboundType;
  // an envelope without receiver settings makes the core panic, and users of one protocol in the settings of another as well
  if (
    found.length !== 1 ||
    envelope?.tag !== inbound.tag ||
    envelope.receiverSettings === null ||
    envelope.proxySettings === null
  )
    throw new CoreRefused(`inbound ${inbound.tag}: the core's converter made no inbound of it`);
  if (expected !== undefined && envelope.proxySettings.type !== expected)
    throw new CoreRefused(
      `inbound ${inbound.tag}: the core takes ${inbound.protocol} for ${envelope.proxySettings.type}`,
    );
  return envelope;
}

/**
 * Puts users into the envelope as far as one request may grow; the others come back, to be added one by one.
 * Every user is checked before anything of it is sent.
 */
export async function fillInbound(
  envelope: Envelope,
  inbound: InboundWithUsers,
): Promise<{ envelope: Envelope; others: CoreUser[] }> {
  const { proxySettings } = envelope;
  const kind = kindOf(inbound.protocol);
  const key = ((kind?.usersField ?? 0) << 3) | 2;
  const others: CoreUser[] = [];
  const writer = protobuf.Writer.create();
  const pace = new Pace();
  for (const user of inbound.users) {
    if (pace.due()) await pace.rest();
    const bytes = encodeUser(user, inbound);
    if (writer.len + bytes.length + 16 > SEND_LIMIT) others.push(user);
    else writer.uint32(key).bytes(bytes);
  }
  if (kind === undefined || proxySettings === null) return { envelope, others };
  // fields of a message may come in any order, so repeated ones can be appended
  return {
    envelope: {
      ...envelope,
      proxySettings: {
        type: proxySettings.type,
        value: Buffer.concat([proxySettings.value, writer.finish()]),
      },
    },
    others,
  };
}
