// Interprets the core's messages. Errors of the core's own handlers all have code 2, so their text decides; the other
// codes say that the call did not reach a handler.
import { CoreRefused, CoreUnreachable } from '../driver.js';
import type { CallError } from './channel.js';
import { STATUS } from './status.js';

const SEPARATOR = ' > ';
/** `infra/conf: `, `proxy/vless/encoding: `, `main: `: the Go package of the message */
const PACKAGE = /^(?:main|core|common|[a-z0-9_]+(?:\/[a-z0-9_]+)+): /;
/** links of the chain that only say which function was called */
const EMPTY_LINK =
  /^failed to (?:load config files|create server|read config file|decode config|build (?:inbound|outbound|routing)|load (?:inbound|outbound) detour|listen)\b/i;
const CULPRIT = /\b(inbound|outbound) config with tag (\S+)/;

/** Shortens `A > B > C` to the inbound or outbound at fault and the last two informative links. */
export function reasonOf(chain: string): string {
  const links = chain
    .trim()
    .split(SEPARATOR)
    .map((link) => link.replace(PACKAGE, ''));
  const last = links.at(-1) ?? '';
  const telling = links
    .slice(0, -1)
    .filter((link) => !EMPTY_LINK.test(link))
    .slice(-1);
  const culprit = CULPRIT.exec(chain);
  return [...(culprit === null ? [] : [`${culprit[1]} ${culprit[2]}`]), ...telling, last].join(': ');
}

const FATAL =
  /^(?:Failed to start|failed to load config|panic|fatal error|runtime|SIG[A-Z]+): (?<chain>.+)$/gm;

/** Returns the line of a core's or command's output that says why it exited; undefined when there is none. */
export function lastWords(output: string): string | undefined {
  const [first] = output.matchAll(FATAL);
  if (first === undefined) return undefined;
  const chain = first.groups?.['chain'] ?? '';
  return /^(?:panic|fatal|SIG)/.test(first[0])
    ? first[0]
    : reasonOf(chain.replace(/^main: failed to load config files: \[[^\]]*\] > /, ''));
}

const unreachable: ReadonlySet<number> = new Set([
  STATUS.UNAVAILABLE,
  STATUS.DEADLINE_EXCEEDED,
  STATUS.CANCELLED,
  STATUS.INTERNAL,
]);

/** Maps a failed call. `call` names it for the log, e.g. `AddInbound in-443`. */
export function failureOf(error: CallError, call: string): CoreRefused | CoreUnreachable {
  if (unreachable.has(error.code))
    return new CoreUnreachable(`${call}: the core did not answer (${error.details})`, {
      cause: error,
    });
  if (error.code === STATUS.UNIMPLEMENTED)
    return new CoreRefused(
      `${call}: this core does not know the call; is it an Xray of the expected version?`,
      { cause: error },
    );
  const text = error.details;
  if (/handler not found: /.test(text))
    return new CoreRefused(`${call}: the core has no such inbound`, { cause: error });
  if (/proxy is not a UserManager/.test(text))
    return new CoreRefused(`${call}: this protocol has no users that can be changed live`, { cause: error });
  return new CoreRefused(
    `${call}: ${text === '' ? 'the core rejected it without a reason' : reasonOf(text)}`,
    {
      cause: error,
    },
  );
}

const textOf = (error: unknown): string =>
  error instanceof CoreRefused ? ((error.cause as Partial<CallError> | undefined)?.details ?? '') : '';

/** The core does not know the call, or was started without the service. */
export const callUnknown = (error: unknown): boolean =>
  error instanceof CoreRefused &&
  (error.cause as Partial<CallError> | undefined)?.code === STATUS.UNIMPLEMENTED;
export const userExists = (error: unknown): boolean => /User .* already exists\.$/.test(textOf(error));
export const userUnknown = (error: unknown): boolean => /User .* not found\.$/.test(textOf(error));
/** RemoveInbound of a tag that is not there. */
export const tagUnknown = (error: unknown): boolean =>
  textOf(error).endsWith('not enough information for making a decision');

/** Returns the protocol that the core's message calls unknown (infra/conf/loader.go). */
export const unknownProtocol = (error: unknown): string | undefined =>
  error instanceof CoreRefused ? /unknown config id: (\S+)/.exec(error.message)?.[1] : undefined;
