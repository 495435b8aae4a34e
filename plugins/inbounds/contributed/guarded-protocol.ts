// Guards the protocols of other plugins: a failure costs only their own inbounds, and is attributed to the plugin.
import Joi from 'joi';
import {
  type Contributed,
  custom,
  frozen,
  inspect,
  jsonRecord,
  kernelErrors,
  mapOf,
  text,
  word,
} from '../../../kernel/index.js';
import type { AccountValue, CoreAccount, JsonObject } from '../../engine/contract.js';
import type { L4, Protocol } from '../contract.js';
import { guardedCredential } from './guarded-credential.js';
import { withFunctions } from '../entry/functions.js';
import { OptionOfProtocol } from '../schema.js';
import { AccountTextShape, AccountValueShape, hasTexts, ProtocolEntryShape } from '../entry/shape.js';

const SETTINGS = jsonRecord<JsonObject>();
const ACCOUNT = mapOf(
  custom<AccountValue>(Joi.alternatives(text(), Joi.number().unsafe(), Joi.boolean())),
).keys({
  protocol: word(),
});

const LONGEST_NAME = 1000;
const L4S = custom<readonly L4[]>(Joi.array().items(Joi.valid('tcp', 'udp')).unique());

const isText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= LONGEST_NAME
    ? undefined
    : `it answered ${typeof value === 'string' ? `${value.length} characters` : typeof value} instead of a text of at most ${LONGEST_NAME}`;
const isTextOrNothing = (value: unknown): string | undefined =>
  value === undefined ? undefined : isText(value);
const fits =
  (schema: Parameters<typeof inspect>[0]) =>
  (value: unknown): string | undefined => {
    const result = inspect(schema, value, { first: true });
    return 'issues' in result ? result.issues[0]?.message : undefined;
  };

export function guardedProtocol({ value: protocol, fault }: Contributed<Protocol>): Protocol {
  const { name } = protocol;
  /** Functions that fail now: each is reported once, as one is called for every account. */
  const failing = new Set<string>();
  const ask = <T>(what: string, problem: (answer: unknown) => string | undefined, work: () => T): T => {
    try {
      const answer = work();
      const found = problem(answer);
      if (found === undefined) {
        failing.delete(what);
        return answer;
      }
      if (answer instanceof Promise) answer.catch(() => undefined);
      throw new Error(found);
    } catch (error) {
      if (!failing.has(what)) fault(`${what} of the protocol ${name}`, error);
      failing.add(what);
      throw kernelErrors.PLUGIN_OFF(`the protocol ${name} failed; the log says why`, { cause: error });
    }
  };
  const isSettings = fits(SETTINGS);
  const isAccount = fits(ACCOUNT);
  const isEntry = fits(ProtocolEntryShape);
  const isAccountText = fits(AccountTextShape);
  const isAccountValue = fits(AccountValueShape);
  const isOption = fits(OptionOfProtocol);
  const isL4 = fits(L4S);
  const accounts = protocol.accounts?.bind(protocol);
  const complete = protocol.complete?.bind(protocol);
  const option = protocol.option?.bind(protocol);
  const l4 = protocol.l4?.bind(protocol);
  const reserve = protocol.reserve?.bind(protocol);
  const coreStream = protocol.coreStream?.bind(protocol);
  const streamProblem = protocol.streamProblem?.bind(protocol);
  const note = protocol.note?.bind(protocol);
  const clientless = protocol.clientless?.bind(protocol);
  return {
    name,
    ...(protocol.title !== undefined && { title: protocol.title }),
    ...(protocol.coreName !== undefined && { coreName: protocol.coreName }),
    settings: protocol.settings,
    ...(complete && {
      complete: (sent, before) => ask('complete', isSettings, () => complete(sent, before)),
    }),
    coreSettings: (settings, stream) =>
      ask('coreSettings', isSettings, () => protocol.coreSettings(settings, stream)),
    ...(protocol.restarts === true && { restarts: true }),
    ...(protocol.runBy && { runBy: protocol.runBy }),
    ...(reserve && {
      reserve: async (settings, context) => {
        let reserved: unknown;
        try {
          reserved = await reserve(settings, context);
        } catch (error) {
          return ask('reserve', isSettings, () => {
            throw error;
          });
        }
        return ask('reserve', isSettings, () => reserved as JsonObject);
      },
    }),
    ...(coreStream && {
      coreStream: (stream, own) => ask('coreStream', isSettings, () => coreStream(stream, own)),
    }),
    ...(streamProblem && {
      streamProblem: (stream) => ask('streamProblem', isTextOrNothing, () => streamProblem(stream)),
    }),
    ...(protocol.socket === true && { socket: true }),
    ...(protocol.stream === false && { stream: false }),
    ...(option && { option: (inbound) => ask('option', isOption, () => option(inbound)) }),
    ...(l4 && { l4: (inbound) => ask('l4', isL4, () => l4(inbound)) }),
    ...(note && { note: (settings) => ask('note', isTextOrNothing, () => note(settings)) }),
    ...(clientless && {
      clientless: (settings) => ask('clientless', isTextOrNothing, () => clientless(settings)),
    }),
    ...(accounts && { accounts: (settings) => ask('accounts', isText, () => accounts(settings)) }),
    ...(protocol.credential && { credential: guardedCredential(protocol.credential, ask) }),
    account: (client, inbound): CoreAccount =>
      ask('account', isAccount, () => protocol.account(client, inbound)),
    entry: (inbound, base) => {
      const entry = ask('entry', isEntry, () => protocol.entry(inbound, frozen(base)));
      const isValue = hasTexts(entry.account.protocol) ? isAccountText : isAccountValue;
      return withFunctions(entry, (value) => (client) => ask('entry', isValue, () => value(client)));
    },
  };
}
