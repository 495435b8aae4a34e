// External links as callers send them.
import {
  bool,
  inspect,
  int,
  type Issue,
  list,
  nullable,
  oneOf,
  optional,
  shape,
  type Static,
  text,
  sentenceOf,
} from '../../kernel/index.js';
import type { ExternalLink } from './contract.js';
import { errors } from './errors.js';
import { shareLinkProblem, subscriptionUrlProblem } from './share-link.js';

/** Links of one client. */
const MOST_LINKS = 100;
const LONGEST_VALUE = 8192;

const line = () =>
  optional(
    nullable(
      text()
        .max(255)
        .pattern(/^[^\p{Cc}\p{Cs}]*$/u, 'text of one line without control characters'),
    ),
  );
/** Null is the same as nothing. */
const SentLink = shape({
  kind: optional(nullable(oneOf('', 'link', 'subscription'))).description('link if it is blank'),
  value: optional(nullable(text().max(LONGEST_VALUE))).description(
    'a share link, or the http(s) URL of a subscription; blank ones are left out',
  ),
  remark: line(),
  enable: optional(nullable(bool())).description('true if it is left out'),
  expiryTime: optional(nullable(int().min(0))).description('Unix ms; 0 for never'),
  namePrefix: line(),
});
export const SentLinks = list(SentLink).max(MOST_LINKS);
export const ReplaceLinks = shape({ externalLinks: SentLinks }).example({
  externalLinks: [
    { kind: 'link', value: 'trojan://secret@edge.example.org:443#edge', remark: 'Edge' },
    { kind: 'subscription', value: 'https://example.org/sub/ada', namePrefix: 'B ' },
  ],
});

/** A link before it has a row. */
export type NewLink = Pick<
  ExternalLink,
  'kind' | 'value' | 'remark' | 'enable' | 'expiryTime' | 'namePrefix'
>;

const NAME = 'externalLinks';
const refuse = (issues: readonly Issue[]) => errors.INVALID(sentenceOf(issues), { issues });

/** What a caller sends of a link, without what the panel adds. */
export const sentPart = ({ kind, value, remark, enable, expiryTime, namePrefix }: NewLink): NewLink => ({
  kind,
  value,
  remark,
  enable,
  expiryTime,
  namePrefix,
});

/** The links that are stored: blank ones are left out, the others must be valid. Errors name the index as it was sent. */
export function checkedLinks(sent: Static<typeof SentLinks>): NewLink[] {
  const issues: Issue[] = [];
  const links = sent.flatMap((link, i): NewLink[] => {
    const value = link.value?.trim() ?? '';
    if (value === '') return [];
    const kind = link.kind === 'subscription' ? 'subscription' : 'link';
    const problem = kind === 'link' ? shareLinkProblem(value) : subscriptionUrlProblem(value);
    const what = kind === 'link' ? 'share link' : 'URL of a subscription';
    if (problem !== undefined)
      issues.push({
        path: `${NAME}.${i}.value`,
        message: `${NAME}[${i}].value is not a ${what}: ${problem}`,
      });
    const { remark, enable, expiryTime, namePrefix } = link;
    return [
      {
        kind,
        value,
        remark: remark ?? '',
        enable: enable ?? true,
        expiryTime: expiryTime ?? 0,
        namePrefix: namePrefix ?? '',
      },
    ];
  });
  if (issues.length > 0) throw refuse(issues);
  return links;
}

/** The same for a list that came with a new client. */
export function checkedList(sent: unknown): NewLink[] {
  const found = inspect(shape({ [NAME]: SentLinks }), { [NAME]: sent });
  if ('issues' in found) throw refuse(found.issues);
  return checkedLinks(found.value[NAME] as Static<typeof SentLinks>);
}
