// `streamSettings.finalmask`: what the core would accept and then fail on. Source: xtls.github.io, FinalMaskObject.
import { type Issue, list, openObject, shape, word } from '../../../kernel/index.js';
import { advanced, maybe } from '../form.js';
import { objectOf, type Settings, textOf } from './transport.js';

const mask = shape(
  advanced('Mask', {
    type: word().example('salamander').description('name of the mask'),
    settings: maybe(openObject()).description('what the mask takes'),
  }),
).unknown(true);
export const FinalMask = shape(
  advanced('Masks', {
    tcp: maybe(list(mask)).description('disguises of TCP, the first one at the wire'),
    udp: maybe(list(mask)).description('disguises of UDP, the first one at the wire'),
  }),
).unknown(true);

const PATH = 'streamSettings.finalmask.tcp';
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A player of Minecraft, for whom the mask passes. */
function isComplete(profile: unknown): boolean {
  const { username, uuid, texturesValue, texturesSignature } = objectOf(profile);
  return (
    /^[A-Za-z0-9_]{3,16}$/.test(textOf(username)) &&
    UUID.test(textOf(uuid)) &&
    textOf(texturesValue) !== '' &&
    textOf(texturesSignature) !== ''
  );
}

export function maskIssues(stream: Settings): Issue[] {
  const tcp = listOf(objectOf(stream['finalmask'])['tcp']);
  const issues: Issue[] = [];
  if (tcp.length > 0 && stream['security'] === 'reality')
    issues.push({
      path: PATH,
      message: `${PATH}: masks for TCP crash the core together with reality; leave them out`,
    });
  for (const [i, mask] of tcp.entries()) {
    const { type, settings } = objectOf(mask);
    if (type === 'xmc' && !listOf(objectOf(settings)['profiles']).some(isComplete))
      issues.push({
        path: `${PATH}.${i}.settings.profiles`,
        message: `${PATH}.${i}.settings.profiles: a mask xmc needs a profile with username, uuid, texturesValue and texturesSignature`,
      });
  }
  return issues;
}
