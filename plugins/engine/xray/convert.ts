// `xray convert` converts inbounds to protobuf. Our own codecs (account-codecs.ts) convert users that the API can change: their
// credentials do not leave this process, and the size of the user list does not matter.
import { readFile } from 'node:fs/promises';
import protobuf from 'protobufjs/light.js';
import { TimeSlice } from '../../../kernel/index.js';
import {
  CoreRefused,
  type CoreInbound,
  type CoreUser,
  type InboundWithUsers,
  ProtocolRefused,
} from '../driver.js';
import { PLACEHOLDER, type AccountCodecs } from './account-codecs.js';
import { runCommand } from './command.js';
import { inboundText } from './config-text.js';
import type { EngineFolder } from './folder.js';
import { decode, type Messages } from './messages.js';
import { eachMessage } from './each-message.js';

type Envelope = Messages['xray.core.InboundHandlerConfig'];
/** What a call of `xray convert` needs. */
export interface Needs {
  readonly binary: string;
  readonly folder: EngineFolder;
  readonly codecs: AccountCodecs;
}

/** The core's gRPC server rejects messages above 4 MiB; leaves room for envelope and framing. */
const SEND_LIMIT = 3 * 1024 * 1024;
const CONFIG_INBOUND_FIELD = 1;

function* configOf(inbounds: readonly InboundWithUsers[], codecs: AccountCodecs): Generator<string> {
  yield '{"inbounds":[';
  for (const [at, inbound] of inbounds.entries()) {
    if (at > 0) yield ',';
    yield* inboundText(inbound, codecs);
  }
  yield ']}';
}

/** The inbounds, users included, as AddInbound takes them. Rejects with CoreRefused, the inbound named. */
async function convert(
  { binary, folder, codecs }: Needs,
  inbounds: readonly InboundWithUsers[],
): Promise<Envelope[]> {
  const found: Envelope[] = [];
  await folder.withTemporary(['.json', '.pb'], async (source = '', target = '') => {
    // the converter keeps the mode of an existing file; the result may contain private keys
    await folder.write(target, []);
    await folder.write(source, configOf(inbounds, codecs));
    await runCommand({
      binary,
      directory: folder.path,
      args: ['convert', 'pb', '-outpbfile', target, source],
      timeout: 20_000,
    });
    await eachMessage(await readFile(target), CONFIG_INBOUND_FIELD, (bytes) =>
      found.push(decode('xray.core.InboundHandlerConfig', bytes)),
    );
  });
  // an envelope without receiver settings makes the core panic, and users of one protocol in the settings of another as well
  for (const [at, { tag, protocol }] of inbounds.entries()) {
    const envelope = found[at];
    if (envelope?.tag !== tag || envelope.receiverSettings === null || envelope.proxySettings === null)
      throw new CoreRefused(`inbound ${tag}: the core's converter made no inbound of it`);
    const expected = codecs.accounts.of(protocol)?.inboundType;
    if (expected !== undefined && envelope.proxySettings.type !== expected)
      throw new ProtocolRefused(
        `inbound ${tag}: the core takes ${protocol} for ${envelope.proxySettings.type}, its account type says ${expected}`,
      );
  }
  return found;
}

/** Returns the inbound for AddInbound, still without users that the API can change. */
export async function convertInbound(needs: Needs, inbound: InboundWithUsers): Promise<Envelope> {
  const type = needs.codecs.accounts.of(inbound.protocol);
  const [envelope] = await convert(needs, [type?.users === 'api' ? { ...inbound, users: [] } : inbound]);
  return envelope as Envelope;
}

/**
 * Has `xray convert` read an account of this inbound, and looks for it in the result. Rejects with ProtocolRefused
 * when the result differs from the type's declaration.
 */
export async function convertSample(needs: Needs, inbound: CoreInbound, sample: CoreUser): Promise<void> {
  const { codecs } = needs;
  const type = codecs.accounts.of(inbound.protocol);
  if (type === undefined) throw new ProtocolRefused(`no plugin declares the accounts ${inbound.protocol}`);
  const [without, withSample] = await convert(needs, [
    { ...inbound, users: [] },
    { ...inbound, users: [sample] },
  ]);
  const values = [without, withSample].map((envelope) => envelope?.proxySettings?.value ?? Buffer.alloc(0));
  if (type.users === 'config') {
    // The core may not know the key of the list.
    if (values[0]?.length === values[1]?.length)
      throw new ProtocolRefused(
        `the core reads no users from ${type.list ?? 'clients'} in the settings of ${inbound.protocol}`,
      );
    return;
  }
  const read: CoreUser[] = [];
  await eachMessage(values[1] ?? Buffer.alloc(0), type.usersField, (bytes) => {
    try {
      read.push(codecs.decode(bytes, inbound.protocol));
    } catch (cause) {
      throw new ProtocolRefused(
        `the core makes no ${type.message} of an account of ${inbound.protocol} in field ${type.usersField}`,
        { cause },
      );
    }
  });
  const found = read.find(({ name }) => name !== PLACEHOLDER);
  if (found?.name !== sample.name)
    throw new ProtocolRefused(
      `the core has no user in field ${type.usersField} of ${type.inboundType}, where the account type ${inbound.protocol} says`,
    );
  for (const [name, { lowerCase }] of Object.entries(type.fields)) {
    const given = sample.account[name] ?? '';
    const sent = lowerCase ? String(given).toLowerCase() : given;
    if ((found.account[name] ?? '') !== sent)
      throw new ProtocolRefused(`the core has another ${name} in ${type.message} than it was given`);
  }
}

/**
 * Puts users into the envelope up to the limit of one request, and returns the others, to be added one by one. Checks
 * every user before anything is sent.
 */
export async function fillInbound(
  envelope: Envelope,
  inbound: InboundWithUsers,
  codecs: AccountCodecs,
): Promise<{ envelope: Envelope; others: CoreUser[] }> {
  const { proxySettings } = envelope;
  const type = codecs.accounts.of(inbound.protocol);
  if (proxySettings !== null && proxySettings.value.length > SEND_LIMIT)
    throw new CoreRefused(
      `inbound ${inbound.tag}: its config has ${proxySettings.value.length} bytes, and the core takes ${SEND_LIMIT} while it runs; attach fewer clients to it`,
    );
  if (type?.users === 'config') return { envelope, others: [] };
  const key = ((type?.usersField ?? 0) << 3) | 2;
  const others: CoreUser[] = [];
  const writer = protobuf.Writer.create();
  const slice = new TimeSlice();
  for (const user of inbound.users) {
    if (slice.isOver) await slice.next();
    const bytes = codecs.encode(user, inbound);
    if (writer.len + bytes.length + 16 > SEND_LIMIT) others.push(user);
    else writer.uint32(key).bytes(bytes);
  }
  if (type === undefined || proxySettings === null) return { envelope, others };
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
